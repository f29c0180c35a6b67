/* Parallel loops: each index once, no more threads than were asked for, and
 * worker numbers that are apart.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/threads.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

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

typedef struct
{
  gint cancelled, done;
} Cancelled;

static void
cancel_task (gsize index, guint worker, gpointer data)
{
  Cancelled *loop = data;

  if (g_atomic_int_add (&loop->done, 1) == 9)
    g_atomic_int_set (&loop->cancelled, 1);
  if (g_atomic_int_get (&loop->cancelled))
    g_assert_true (nd_threads_cancelled ());
}

/* Each thread may have begun one task more when it is cancelled. */
static void
test_cancel (void)
{
  static const guint numbers[] = { 1, 2, 9 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    const guint n = nd_threads_start (numbers[i]);
    const guint before = nd_threads_enter (n);
    Cancelled loop = { 0 };

    g_assert_null (nd_threads_watch (&loop.cancelled));
    g_assert_false (nd_threads_cancelled ());
    nd_parallel_for (N, cancel_task, &loop);
    g_assert_cmpint (loop.done, >=, 10);
    g_assert_cmpint (loop.done, <=, 10 + n);
    g_assert_true (nd_threads_cancelled ());
    nd_parallel_for (N, cancel_task, &loop);
    g_assert_cmpint (loop.done, <=, 10 + n);
    g_assert_true (nd_threads_watch (NULL) == &loop.cancelled);
    g_assert_false (nd_threads_cancelled ());
    run_loop (n);
    nd_threads_leave (before);
  }
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

/* The other threads of this process. */
static guint
list_threads (pid_t *threads, guint max)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  const gchar *name;
  guint n = 0;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) && n < max) {
    if (atoi (name) != gettid ())
      threads[n++] = atoi (name);
  }
  return n;
}

static void
set_cpus (const pid_t *threads, guint n, const cpu_set_t *cpus)
{
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (sched_setaffinity (threads[i], sizeof (*cpus), cpus), ==,
        0);
}

static void
wait_for_worker (gsize index, guint worker, gpointer data)
{
  gint *joined = data;
  const gint64 until = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;

  if (worker > 0)
    g_atomic_int_set (joined, TRUE);
  while (!g_atomic_int_get (joined) && g_get_monotonic_time () < until)
    g_thread_yield ();
}

/* A worker that had to wait for the CPU of the caller avoids it afterwards, and
 * keeps to the CPUs that others allow it. */
static void
test_stacked (void)
{
  static pid_t threads[2 * ND_MAX_THREADS];
  const guint n = list_threads (threads, G_N_ELEMENTS (threads));
  cpu_set_t all, one, now;
  gint joined = FALSE;
  guint moved = 0;

  g_assert_cmpint (sched_getaffinity (0, sizeof (all), &all), ==, 0);
  if (CPU_COUNT (&all) < 2) {
    g_test_skip ("one CPU");
    return;
  }
  CPU_ZERO (&one);
  CPU_SET (sched_getcpu (), &one);
  g_assert_cmpint (sched_setaffinity (0, sizeof (one), &one), ==, 0);
  set_cpus (threads, n, &one);
  nd_parallel_for (N, wait_for_worker, &joined);
  g_assert_true (joined);

  set_cpus (threads, n, &all);
  for (guint turn = 0; turn < 1000 && moved < DEFAULT - 1; turn++) {
    g_usleep (10000); /* until the workers are idle */
    run_loop (DEFAULT);
    moved = 0;
    for (guint i = 0; i < n; i++) {
      g_assert_cmpint (sched_getaffinity (threads[i], sizeof (now), &now), ==,
          0);
      moved += !CPU_ISSET (sched_getcpu (), &now);
      CPU_OR (&now, &now, &one);
      g_assert_true (CPU_EQUAL (&now, &all));
    }
  }
  g_assert_cmpuint (moved, >=, DEFAULT - 1);

  /* There is no other CPU to go to. */
  set_cpus (threads, n, &one);
  run_loop (DEFAULT);
  g_assert_cmpint (sched_setaffinity (0, sizeof (all), &all), ==, 0);
  run_loop (DEFAULT);
  set_cpus (threads, n, &all);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("NDCONV_THREADS", G_STRINGIFY (DEFAULT), TRUE);
  g_test_add_func ("/threads/default", test_default);
  g_test_add_func ("/threads/stacked", test_stacked);
  g_test_add_func ("/threads/number", test_number);
  g_test_add_func ("/threads/nested", test_nested);
  g_test_add_func ("/threads/cancel", test_cancel);
  g_test_add_func ("/threads/at-once", test_at_once);
  return g_test_run ();
}
