/* fork() in the midst of loops: children have threads of their own, never hang,
 * and change nothing of the parent's threads.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/fork.h"
#include "core/threads.h"
#include "tests/sanitizers.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 64
#define FORKS 1000
#define LOOPERS 3
#define HANGS 60 /* seconds after which a child counts as hanging */

static gint foreign; /* affinities of other processes' threads that were set */

/* In place of the C library's. */
int
sched_setaffinity (pid_t thread, size_t size, const cpu_set_t *set)
{
  g_autofree gchar *path = g_strdup_printf ("/proc/self/task/%d", thread);

  if (thread != 0 && access (path, F_OK) != 0)
    g_atomic_int_inc (&foreign);
  return syscall (SYS_sched_setaffinity, thread, size, set);
}

static void
task (gsize index, guint worker, gpointer data)
{
  g_atomic_int_inc (&((gint *) data)[index]);
}

static gboolean
run_loop (guint n_threads)
{
  const guint before = nd_threads_enter (nd_threads_start (n_threads));
  gint seen[N] = { 0 };
  gboolean ok = TRUE;

  nd_parallel_for (N, task, seen);
  nd_threads_leave (before);
  for (guint i = 0; i < N; i++)
    ok = ok && seen[i] == 1;
  return ok;
}

static guint
count_threads (void)
{
  GDir *dir = g_dir_open ("/proc/self/task", 0, NULL);
  guint n = 0;

  while (dir && g_dir_read_name (dir))
    n++;
  g_dir_close (dir);
  return n;
}

/* What is wrong in the child, as its exit status; 0: nothing. */
static int
check_child (guint forks)
{
  if (nd_fork_count () != forks + 1)
    return 1;
  if (!run_loop (3))
    return 2;
  /* Those of sanitizers may come on top. */
  if (count_threads () < 3)
    return 3;
  if (!run_loop (2) || !run_loop (4))
    return 4;
  return g_atomic_int_get (&foreign) > 0 ? 5 : 0;
}

static void
fork_once (void)
{
  const guint forks = nd_fork_count ();
  const pid_t child = fork ();
  int status;

  if (child == 0) {
    alarm (HANGS);
    _exit (check_child (forks));
  }
  g_assert_cmpint (child, >, 0);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
  g_assert_cmpuint (nd_fork_count (), ==, forks);
}

static gpointer
run_loops (gpointer data)
{
  const gint *stop = data;

  while (!g_atomic_int_get (stop)) {
    g_assert_true (run_loop (3));
    g_usleep (50);
  }
  return NULL;
}

static void
test_midst (void)
{
  GThread *loopers[LOOPERS];
  gint stop = FALSE;

  for (guint i = 0; i < LOOPERS; i++)
    loopers[i] = g_thread_new ("loops", run_loops, &stop);
  for (guint i = 0; i < FORKS; i++)
    fork_once ();
  g_atomic_int_set (&stop, TRUE);
  for (guint i = 0; i < LOOPERS; i++)
    g_thread_join (loopers[i]);
  g_assert_true (run_loop (3));
}

static void
wait_for_worker (gsize index, guint worker, gpointer data)
{
  gint *joined = data;
  const gint64 until = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;

  if (worker > 0)
    g_atomic_int_set (joined, TRUE);
  while (!g_atomic_int_get (joined) && g_get_monotonic_time () < until)
    ;
}

static void
set_all (const cpu_set_t *set)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir)))
    g_assert_cmpint (sched_setaffinity (atoi (name), sizeof (*set), set), ==,
        0);
}

/* Idle workers of the parent have waited for the CPU of the caller, and would
 * be moved by its next loop. */
static void
test_affinity (void)
{
  cpu_set_t all, one;
  gint joined = FALSE;

  g_assert_cmpint (sched_getaffinity (0, sizeof (all), &all), ==, 0);
  CPU_ZERO (&one);
  CPU_SET (sched_getcpu (), &one);
  g_assert_true (run_loop (3));
  set_all (&one);
  nd_parallel_for (N, wait_for_worker, &joined);
  g_assert_true (joined);
  set_all (&all);
  for (guint i = 0; i < 20; i++) {
    g_usleep (5000); /* until they are idle */
    fork_once ();
  }
}

/* A child of a child. */
static void
test_twice (void)
{
  const pid_t child = fork ();
  int status;

  if (child == 0) {
    alarm (HANGS);
    if (!run_loop (3))
      _exit (9);
    fork_once ();
    _exit (run_loop (3) ? 0 : 9);
  }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
}

static void
test_check (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (nd_fork_check (nd_fork_count (), "It", &error));
  g_assert_no_error (error);
  g_assert_false (nd_fork_check (nd_fork_count () + 1, "It", &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_FAILED);
  g_assert_true (g_str_has_prefix (error->message, "It belongs to"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("NDCONV_THREADS", "3", TRUE);
  g_test_add_func ("/fork/check", test_check);
  g_test_add_func ("/fork/affinity", test_affinity);
  g_test_add_func ("/fork/twice", test_twice);
  g_test_add_func ("/fork/midst", test_midst);
  return g_test_run ();
}
