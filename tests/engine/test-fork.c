/* A back end with devices in children of fork(): refused with a sentence if the
 * parent used it, and otherwise not.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "cpu/cpu.h"
#include "engine/plan.h"
#include "filters/text.h"
#include "tests/engine/slabdouble.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The plan for a box, whose back end is @name or, if it is NULL, any. */
static NdPlan *
make_plan (const gchar *name, GError **error)
{
  const gsize size[ND_AXES] = { 3, 1, 1, 1 };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdFilter *box = nd_filter_new ("box", size);
  g_autoptr (NdBank) bank = NULL;
  NdJob job = {
    .shape = { 1, { 4, 3, 2 } }, .in_type = ND_FLOAT32, .out_type = ND_FLOAT32
  };
  const NdRingOptions options = { FALSE, FALSE };

  for (guint i = 0; i < 3; i++)
    box->coefficients[i] = 1.0 / 3;
  g_ptr_array_add (filters, box);
  job.bank = bank = nd_bank_new (filters);
  return nd_plan_new (&job, &options, name, -1, ND_METHOD_DIRECT, 0, error);
}

/* What is wrong in the child, as its exit status; 0: nothing. */
static int
use_all (gboolean refused)
{
  g_autoptr (GError) error = NULL;
  const NdBackend *found = nd_backend_find ("double", -1, &error);
  NdPlan *plan;

  if (refused ? found || !g_error_matches (error, ND_ERROR, ND_ERROR_INIT)
              || !strstr (error->message, "spawn or forkserver")
              : !found)
    return 1;
  if (nd_backend_check_fork (NULL) == refused)
    return 2;
  g_clear_error (&error);
  plan = make_plan (NULL, &error);
  if (!plan || strcmp (plan->backend->name, refused ? "cpu" : "double") != 0)
    return 3;
  /* Streams say why they run on the CPU. */
  if (!strstr (plan->reason, "forked") != !refused)
    return 4;
  nd_plan_free (plan);
  plan = make_plan ("double", NULL);
  if ((plan == NULL) != refused)
    return 5;
  g_clear_pointer (&plan, nd_plan_free);
  return 0;
}

static void
expect_child (gboolean refused)
{
  const pid_t child = fork ();
  int status;

  if (child == 0)
    _exit (use_all (refused));
  g_assert_cmpint (child, >, 0);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
}

/* The parent has not used it, or there was no device. */
static void
test_unused (void)
{
  expect_child (FALSE);
  slab_double.devices = -1;
  g_assert_null (nd_backend_find ("double", -1, NULL));
  slab_double.devices = 1;
  expect_child (FALSE);
}

static void
test_used (void)
{
  g_assert_nonnull (nd_backend_find ("double", -1, NULL));
  expect_child (TRUE);
  g_assert_cmpint (use_all (FALSE), ==, 0);
  expect_child (TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  slab_double = (SlabDouble){
    .fail_at = -1, .devices = 1, .fails = -1, .memory_fails_on = -1
  };
  slab_double_register ();
  nd_backend_register (&nd_cpu_backend);
  g_test_add_func ("/fork/unused", test_unused);
  g_test_add_func ("/fork/used", test_used);
  return g_test_run ();
}
