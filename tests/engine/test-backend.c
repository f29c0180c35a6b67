/* Opening modules of back ends: missing ones, those of another build, and
 * their errors.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "engine/backend.h"

#include <gmodule.h>
#include <string.h>

static void
expect_missing (const gchar *reason)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (nd_backend_find ("cuda", -1, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_INIT);
  g_assert_nonnull (strstr (error->message, reason));
  g_assert_nonnull (strstr (error->message, "backend=cpu"));
}

/* The error says that the module is missing, or why it cannot be opened. */
static void
test_missing (void)
{
  g_autofree gchar *path =
      g_build_filename (g_get_tmp_dir (), "no-module.so", NULL);
  g_autoptr (GError) error = NULL;

  expect_missing (
      "not built (with nvcc: meson compile -C build) or not installed");
  g_assert_false (nd_backend_open (path, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_INIT);
  expect_missing (error->message);
}

static gboolean
open_module (const gchar *name, GError **error)
{
  g_autofree gchar *path = g_test_build_filename (G_TEST_BUILT, name, NULL);

  g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
  return nd_backend_open (path, error);
}

static void
test_other_build (void)
{
  static const gchar *const names[] = { "otherversion.so", "othersize.so" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_false (open_module (names[i], &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_INIT);
    g_assert_nonnull (strstr (error->message, names[i]));
    g_assert_nonnull (strstr (error->message, "another build of ndconv"));
    expect_missing (error->message);
    g_assert_null (nd_backend_find ("module", -1, NULL));
  }
}

static gchar *logged;

static void
keep_log (NdLevel level, const gchar *category, const gchar *file,
    const gchar *function, gint line, const gchar *message)
{
  g_free (logged);
  logged = g_strdup (message);
}

/* A module of this build is used, and its log follows that of the program. */
static void
test_same_build (void)
{
  g_autofree gchar *path =
      g_test_build_filename (G_TEST_BUILT, "same.so", NULL);
  g_autoptr (GError) error = NULL;
  GModule *module = g_module_open (path, G_MODULE_BIND_LOCAL);
  NdBackendModule get;

  nd_log_set_handler (keep_log, ND_LEVEL_INFO);
  g_assert_true (open_module ("same.so", &error));
  g_assert_no_error (error);
  g_assert_nonnull (strstr (logged, "same.so"));
  g_assert_nonnull (nd_backend_find ("module", -1, NULL));
  g_assert_true (g_module_symbol (module, ND_BACKEND_MODULE,
      (gpointer *) &get));
  get ();
  g_assert_cmpstr (logged, ==, "logged in the module");
  g_clear_pointer (&logged, g_free);
  nd_log_set_handler (NULL, ND_LEVEL_NONE);
  get ();
  g_assert_null (logged);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backend/missing", test_missing);
  g_test_add_func ("/backend/other-build", test_other_build);
  g_test_add_func ("/backend/same-build", test_same_build);
  return g_test_run ();
}
