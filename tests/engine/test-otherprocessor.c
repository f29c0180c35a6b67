/* A build with -Dkernels=host on a processor that lacks its instructions: the
 * back end says so, and runs none of them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <string.h>

#include "core/error.h"
#include "cpu/cpu.h"
#include "engine/backend.h"

/* This processor has no instructions beyond the first ones. */
#define __builtin_cpu_supports(name) FALSE
#include "cpu/dispatch.c"

static void
test_other_processor (void)
{
  g_autoptr (GError) error = NULL;

  nd_backend_register (&nd_cpu_backend);
  g_assert_null (nd_kernels_all ()[0]);
  g_assert_null (nd_backend_find ("cpu", -1, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_INIT);
  g_assert_nonnull (strstr (error->message, "-Dkernels=all"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/other-processor", test_other_processor);
  return g_test_run ();
}
