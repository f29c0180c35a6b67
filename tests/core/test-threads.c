/* Parallel loops: each index once, no more threads than were asked for, and
 * worker numbers that are apart.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/threads.h"

#define N 2000
#define DEFAULT 3

typedef struct
{
  guint n_threads;
  gint seen[N];
  gint busy[ND_MAX_THREADS]; /* tasks that run now, by worker */
} Loop;

static void
task (gsize index, guint worker, gpointer data)
{
  Loop *loop = data;

  g_assert_cmpuint (worker, <, loop->n_threads);
  g_assert_cmpint (g_atomic_int_add (&loop->busy[worker], 1), ==, 0);
  g_atomic_int_inc (&loop->seen[index]);
  g_thread_yield ();
  g_assert_cmpint (g_atomic_int_add (&loop->busy[worker], -1), ==, 1);
}

static void
run_loop (guint n_threads)
{
  g_autofree Loop *loop = g_new0 (Loop, 1);

  loop->n_threads = n_threads;
  nd_parallel_for (N, task, loop);
  for (guint i = 0; i < N; i++)
    g_assert_cmpint (loop->seen[i], ==, 1);
}

static void
test_default (void)
{
  g_assert_cmpuint (nd_threads (), ==, DEFAULT);
  g_assert_cmpuint (nd_threads_start (0), ==, DEFAULT);
  run_loop (DEFAULT);
}

static void
test_number (void)
{
  static const guint numbers[] = { 1, 2, 9, 4, 64, ND_MAX_THREADS };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    const guint n = nd_threads_start (numbers[i]);
    const guint before = nd_threads_enter (n);

    g_assert_cmpuint (n, ==, numbers[i]);
    g_assert_cmpuint (nd_threads (), ==, n);
    run_loop (n);
    nd_threads_leave (before);
    g_assert_cmpuint (nd_threads (), ==, DEFAULT);
  }
  g_assert_cmpuint (nd_threads_start (ND_MAX_THREADS + 9), ==, ND_MAX_THREADS);
}

/* Inside of each other, as elements that push to each other. */
static void
test_nested (void)
{
  const guint outer = nd_threads_enter (nd_threads_start (5));
  const guint inner = nd_threads_enter (nd_threads_start (2));

  run_loop (2);
  nd_threads_leave (inner);
  run_loop (5);
  nd_threads_leave (outer);
  run_loop (DEFAULT);
}

static gpointer
loop_thread (gpointer data)
{
  const guint n = nd_threads_start (GPOINTER_TO_UINT (data));
  const guint before = nd_threads_enter (n);

  for (guint i = 0; i < 20; i++)
    run_loop (n);
  nd_threads_leave (before);
  return NULL;
}

static void
test_at_once (void)
{
  GThread *threads[6];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("loop", loop_thread, GUINT_TO_POINTER (i));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("NDCONV_THREADS", G_STRINGIFY (DEFAULT), TRUE);
  g_test_add_func ("/threads/default", test_default);
  g_test_add_func ("/threads/number", test_number);
  g_test_add_func ("/threads/nested", test_nested);
  g_test_add_func ("/threads/at-once", test_at_once);
  return g_test_run ();
}
