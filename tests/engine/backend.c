/* Back ends that are not there. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "engine/ndbackend.h"
#include "engine/nderror.h"

static void
expect_missing (const gchar * reason)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (nd_backend_find ("cuda", -1, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_INIT);
  g_assert_nonnull (strstr (error->message, reason));
  g_assert_nonnull (strstr (error->message, "backend=cpu"));
}

/* The error names what is missing: the module, or what that would not open
 * for. */
static void
test_module (void)
{
  g_autofree gchar *path = g_build_filename (g_get_tmp_dir (), "no-module.so",
      NULL);
  g_autoptr (GError) error = NULL;

  expect_missing
      ("not built (with nvcc: meson compile -C build) or not installed");
  g_assert_false (nd_backend_open (path, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_INIT);
  expect_missing (error->message);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backend/module", test_module);
  return g_test_run ();
}
