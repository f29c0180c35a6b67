/* One pool of threads for the process. They are POSIX threads, because thread
 * sanitizers do not understand GLib's without an instrumented GLib.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/threads.h"

#include "core/error.h"
#include "core/fork.h"
#include "core/log.h"
#include "core/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The tasks of a job are in ranges, one for each thread. A thread begins with
 * the range of its number, so that it finds its own data of the loop before in
 * its cache, and then helps with the others. */
typedef struct
{
  atomic_size_t next; /* the index to run next */
  gsize end;
} __attribute__ ((aligned (64))) Range; /* a cache line for each */

typedef struct _Job Job;
struct _Job
{
  Job *next_job;
  NdTask task;
  gpointer data;
  const gint *cancelled; /* or NULL */
  guint n_threads;
  Range *ranges; /* n_threads */
  guint joined;  /* threads that have worked on it, also if done */
  guint working; /* threads that work on it now */
  int cpu;       /* of the caller, when it began */
};

/* A thread of the pool. */
typedef struct
{
  pid_t id;
  gboolean idle;
  int avoided;       /* the CPU that it must not run on; -1: none */
  cpu_set_t allowed; /* the CPUs that it may otherwise run on */
  cpu_set_t given;   /* the same without @avoided */
} Worker;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_cond = PTHREAD_COND_INITIALIZER;
static pthread_cond_t done_cond = PTHREAD_COND_INITIALIZER;
static Job *jobs;
static guint n_started = 1;            /* threads of the pool, and the caller */
static atomic_uint n_default;          /* 0 until the pool is started */
static Worker workers[ND_MAX_THREADS]; /* from 1 to n_started - 1 */
static gboolean stacked; /* a worker has waited for the CPU of a caller */
/* The number of nd_threads_enter() of the calling thread; 0: the default. Not
 * _Thread_local, because thread sanitizers report how the loader allocates such
 * variables of a plugin. */
static GPrivate n_entered;
static GPrivate watched; /* the flag of nd_threads_watch() */

const gint *
nd_threads_watch (const gint *cancelled)
{
  const gint *before = g_private_get (&watched);

  g_private_set (&watched, (gpointer) cancelled);
  return before;
}

gboolean
nd_threads_cancelled (void)
{
  return nd_is_cancelled (g_private_get (&watched));
}

/* @thread is the number of the calling thread. */
static void
threads_run (Job *job, guint worker, guint thread)
{
  for (guint k = 0; k < job->n_threads; k++) {
    Range *range = &job->ranges[(thread + k) % job->n_threads];
    gsize i;

    while (!nd_is_cancelled (job->cancelled)
        && atomic_load (&range->next) < range->end
        && (i = atomic_fetch_add (&range->next, 1)) < range->end)
      job->task (i, worker, job->data);
  }
}

static gboolean
has_tasks (Job *job)
{
  for (guint k = 0; k < job->n_threads; k++) {
    if (atomic_load (&job->ranges[k].next) < job->ranges[k].end)
      return TRUE;
  }
  return FALSE;
}

static Job *
find_open_job (void)
{
  for (Job *job = jobs; job; job = job->next_job) {
    if (job->joined < job->n_threads && has_tasks (job))
      return job;
  }
  return NULL;
}

/* Lets an idle worker run on other CPUs than @cpu. */
static void
avoid (Worker *worker, int cpu)
{
  cpu_set_t now;

  if (worker->avoided == cpu
      || sched_getaffinity (worker->id, sizeof (now), &now) != 0)
    return;
  /* Somebody else may have changed it. */
  if (worker->avoided < 0 || !CPU_EQUAL (&now, &worker->given))
    worker->allowed = now;
  worker->given = worker->allowed;
  CPU_CLR (cpu, &worker->given);
  worker->avoided = -1;
  if (CPU_COUNT (&worker->given) > 0
      && sched_setaffinity (worker->id, sizeof (now), &worker->given) == 0)
    worker->avoided = cpu;
}

/* Wakes @n workers, or all if there are fewer. To wake many that find nothing
 * to do would take longer than a short task.
 *
 * A kernel may wake a thread on the CPU of the thread that wakes it although
 * another CPU is idle, which was observed in a virtual machine. The worker then
 * waits until the caller has used its time slice of about 3 ms. So if that has
 * been seen, workers avoid the CPU of the caller.
 *
 * Call with the lock held. */
static void
wake_workers (gsize n, int cpu)
{
  for (guint i = 1; stacked && cpu >= 0 && i < n_started; i++) {
    if (workers[i].idle)
      avoid (&workers[i], cpu);
  }
  if (n >= n_started - 1) {
    pthread_cond_broadcast (&work_cond);
  } else {
    for (gsize i = 0; i < n; i++)
      pthread_cond_signal (&work_cond);
  }
}

static void *
worker_main (void *data)
{
  Worker *self = data;

  pthread_mutex_lock (&lock);
  self->id = gettid ();
  for (;;) {
    Job *job = find_open_job ();
    guint worker;

    if (!job) {
      self->idle = TRUE;
      pthread_cond_wait (&work_cond, &lock);
      self->idle = FALSE;
      continue;
    }
    if (sched_getcpu () == job->cpu)
      stacked = TRUE;
    worker = job->joined++;
    job->working++;
    pthread_mutex_unlock (&lock);
    nd_threads_watch (job->cancelled);
    threads_run (job, worker, self - workers);
    nd_threads_watch (NULL);
    pthread_mutex_lock (&lock);
    if (--job->working == 0)
      pthread_cond_broadcast (&done_cond);
  }
  return NULL;
}

/* Call with the lock held. */
static void
start_threads (guint n)
{
  while (n_started < n) {
    pthread_t thread;

    workers[n_started].avoided = -1;
    if (pthread_create (&thread, NULL, worker_main, &workers[n_started]) != 0) {
      ND_WARNING ("only %u of %u threads could be started", n_started, n);
      return;
    }
    pthread_detach (thread);
    n_started++;
  }
}

static void
hold_pool (void)
{
  pthread_mutex_lock (&lock);
}

static void
release_pool (void)
{
  pthread_mutex_unlock (&lock);
}

/* The workers are threads of the parent: the first loop starts others. */
static void
forget_pool (void)
{
  jobs = NULL;
  n_started = 1;
  n_default = 0;
  memset (workers, 0, sizeof (workers));
  stacked = FALSE;
  work_cond = (pthread_cond_t) PTHREAD_COND_INITIALIZER;
  done_cond = (pthread_cond_t) PTHREAD_COND_INITIALIZER;
  pthread_mutex_unlock (&lock);
}

ND_AT_FORK (0, hold_pool, release_pool, forget_pool)

/* Call with the lock held. */
static void
start_default (void)
{
  const gchar *wanted = g_getenv ("NDCONV_THREADS");
  const guint n = CLAMP (wanted ? atoi (wanted) : (gint) nd_usable_cores (), 1,
      ND_MAX_THREADS);

  start_threads (n);
  n_default = MIN (n, n_started);
}

guint
nd_threads_start (guint n)
{
  if (n == 0 && n_default > 0)
    return n_default;
  pthread_mutex_lock (&lock);
  if (n_default == 0)
    start_default ();
  n = n > 0 ? n : n_default;
  start_threads (MIN (n, ND_MAX_THREADS));
  n = MIN (n, n_started);
  pthread_mutex_unlock (&lock);
  return n;
}

guint
nd_threads (void)
{
  const guint n = GPOINTER_TO_UINT (g_private_get (&n_entered));

  return n > 0 ? n : nd_threads_start (0);
}

guint
nd_threads_enter (guint n)
{
  const guint before = GPOINTER_TO_UINT (g_private_get (&n_entered));

  g_private_set (&n_entered, GUINT_TO_POINTER (n));
  return before;
}

void
nd_threads_leave (guint before)
{
  g_private_set (&n_entered, GUINT_TO_POINTER (before));
}

void
nd_parallel_for (gsize n, NdTask task, gpointer data)
{
  const guint n_threads = MIN (nd_threads (), n);
  Range ranges[ND_MAX_THREADS];
  Job job = { .task = task,
    .data = data,
    .cancelled = g_private_get (&watched),
    .n_threads = n_threads,
    .ranges = ranges,
    .joined = 1,
    .cpu = sched_getcpu () };
  Job **link;

  if (n_threads <= 1) {
    for (gsize i = 0; i < n && !nd_is_cancelled (job.cancelled); i++)
      task (i, 0, data);
    return;
  }
  for (guint k = 0; k < n_threads; k++) {
    atomic_init (&ranges[k].next, n / n_threads * k + MIN (k, n % n_threads));
    ranges[k].end = n / n_threads * (k + 1) + MIN (k + 1, n % n_threads);
  }
  pthread_mutex_lock (&lock);
  job.next_job = jobs;
  jobs = &job;
  start_threads (n_threads); /* in a child that was forked */
  wake_workers (n_threads - 1, job.cpu);
  pthread_mutex_unlock (&lock);

  threads_run (&job, 0, 0);

  pthread_mutex_lock (&lock);
  for (link = &jobs; *link != &job; link = &(*link)->next_job)
    ;
  *link = job.next_job;
  while (job.working > 0)
    pthread_cond_wait (&done_cond, &lock);
  pthread_mutex_unlock (&lock);
}
