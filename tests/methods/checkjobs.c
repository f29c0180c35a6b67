/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/methods/checkjobs.h"

#include "core/threads.h"
#include "cpu/cpu.h"

#include <fcntl.h>
#include <string.h>

const NdBackend *check_backend = &nd_cpu_backend;
gboolean check_has_module;

static gint opt_seed = -1;
static gint opt_jobs = 60;
static gint opt_only = -1;
static gchar *opt_module;

gint
check_begin (int *argc, char ***argv, const GOptionEntry *more)
{
  const GOptionEntry options[] = { { "seed", 0, 0, G_OPTION_ARG_INT, &opt_seed,
                                       "seed of the random jobs", "N" },
    { "jobs", 0, 0, G_OPTION_ARG_INT, &opt_jobs, "number of jobs", "N" },
    { "module", 0, 0, G_OPTION_ARG_FILENAME, &opt_module,
        "module of the back end", "FILE" },
    { "only", 0, 0, G_OPTION_ARG_INT, &opt_only, "run only this job", "JOB" },
    { NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  /* Set for slow tools, such as the sanitizers. */
  const char *const divisor = g_getenv ("ND_JOBS_DIVISOR");

  g_option_context_add_main_entries (context, options, NULL);
  if (more)
    g_option_context_add_main_entries (context, more, NULL);
  if (!g_option_context_parse (context, argc, argv, NULL))
    return 2;
  if (divisor)
    opt_jobs = MAX (1, opt_jobs / MAX (1, atoi (divisor)));
  if (opt_seed < 0)
    opt_seed = g_random_int_range (0, G_MAXINT);
  check_has_module = opt_module != NULL;
  nd_backend_register (&nd_cpu_backend);
  if (opt_module) {
    g_autoptr (GError) error = NULL;

    check_backend = nd_backend_open (opt_module, &error)
        ? nd_backend_find ("cuda", -1, &error)
        : NULL;
    if (!check_backend) {
      g_print ("1..0 # SKIP %s\n", error->message);
      /* An unusable device is a failure. */
      return open ("/dev/nvidiactl", O_RDONLY) >= 0 ? 1 : 77;
    }
  }
  nd_threads_start (0);
  return -1;
}

gint
check_run (gboolean (*check) (gint job, GRand *r))
{
  gint failed = 0;

  g_print ("1..%d\n# seed %d; one job: --seed %d --only JOB\n", opt_jobs,
      opt_seed, opt_seed);
  for (gint i = 0; i < opt_jobs; i++) {
    const guint32 seeds[2] = { opt_seed, i };
    g_autoptr (GRand) r = g_rand_new_with_seed_array (seeds, 2);
    gboolean ok;

    if (opt_only >= 0 && i != opt_only)
      continue;
    ok = check (i, r);
    failed += !ok;
    g_print ("%sok %d\n", ok ? "" : "not ", i + 1);
  }
  return failed ? 1 : 0;
}

guint8 *
check_memory_new (gsize bytes, gboolean on_device)
{
  g_autoptr (GError) error = NULL;
  guint8 *memory;

  if (!on_device || !check_backend->memory)
    return g_malloc0 (bytes);
  memory = check_backend->memory->alloc (-1, bytes, &error);
  g_assert_no_error (error);
  return memory;
}

void
check_memory_free (guint8 *memory, gboolean on_device)
{
  if (!on_device || !check_backend->memory)
    g_free (memory);
  else
    check_backend->memory->free (memory);
}

void
check_copy (gpointer to, gconstpointer from, gsize bytes, gboolean on_device)
{
  if (!on_device || !check_backend->memory)
    memcpy (to, from, bytes);
  else
    g_assert_true (check_backend->memory->copy (to, from, bytes, NULL));
}

gdouble
check_random_normal (GRand *r)
{
  gdouble sum = -6;

  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (r);
  return sum;
}
