/* The cache of measured times: a build finds its own times only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/buildid.h"
#include "engine/autotune.h"
#include "tests/folder.h"

#include <string.h>

#define DEVICE "Device 1, 8 GiB"

static gchar *
cache_path (void)
{
  return file_path ("below/measured.ini");
}

static gchar *
read_cache (void)
{
  g_autofree gchar *path = cache_path ();
  gchar *text;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return text;
}

static void
write_cache (const gchar *text)
{
  g_autofree gchar *path = cache_path ();

  put_file (path, text, strlen (text));
}

static void
use_new_cache (void)
{
  g_autofree gchar *path = NULL;

  make_folder ();
  path = cache_path ();
  g_setenv ("NDCONV_CACHE", path, TRUE);
}

static void
remove_cache (void)
{
  g_autofree gchar *path = cache_path ();
  g_autofree gchar *below = file_path ("below");

  g_remove (path);
  g_rmdir (below);
  remove_folder ();
}

static void
test_keeps (void)
{
  const gdouble numbers[] = { 0.1, 2e-9, 3e300 };
  gdouble found[] = { 0, 0, 0 };

  use_new_cache ();
  g_assert_false (nd_cache_get (DEVICE, "key", found, 3));
  nd_cache_set (DEVICE, "key", numbers, 3);
  g_assert_true (nd_cache_get (DEVICE, "key", found, 3));
  g_assert_cmpmem (found, sizeof found, numbers, sizeof numbers);
  g_assert_false (nd_cache_get (DEVICE, "key", found, 2));
  g_assert_false (nd_cache_get (DEVICE, "other", found, 3));
  g_assert_false (nd_cache_get ("other", "key", found, 3));
  remove_cache ();
}

/* A file written by another build, then a file with entries of both builds. */
static void
test_other_build (void)
{
  const gdouble theirs = 1, ours = 2;
  g_autofree gchar *text = NULL, *renamed = NULL, *both = NULL;
  g_auto (GStrv) halves = NULL;
  gdouble found = 0;

  use_new_cache ();
  nd_cache_set (DEVICE, "key", &theirs, 1);
  text = read_cache ();
  halves = g_strsplit (text, nd_build_id (), -1);
  g_assert_cmpuint (g_strv_length (halves), ==, 2);
  renamed = g_strjoinv ("0123456789abcdef", halves);
  write_cache (renamed);
  g_assert_false (nd_cache_get (DEVICE, "key", &found, 1));
  nd_cache_set (DEVICE, "key", &ours, 1);
  g_assert_true (nd_cache_get (DEVICE, "key", &found, 1));
  g_assert_cmpfloat (found, ==, ours);
  both = read_cache ();
  g_assert_nonnull (strstr (both, "0123456789abcdef"));
  remove_cache ();
}

static void
test_forgets_the_oldest (void)
{
  g_autoptr (GString) old = g_string_new (NULL);
  g_autofree gchar *text = NULL;
  const gdouble number = 1;

  use_new_cache ();
  nd_cache_set (DEVICE, "key", &number, 1);
  for (guint i = 0; i < 1000; i++)
    g_string_append_printf (old, "[build %03u, device]\nkey=1\n", i);
  write_cache (old->str);
  nd_cache_set (DEVICE, "key", &number, 1);
  text = read_cache ();
  g_assert_null (strstr (text, "[build 000,"));
  g_assert_nonnull (strstr (text, "[build 999,"));
  g_assert_nonnull (strstr (text, nd_build_id ()));
  g_assert_cmpuint (strlen (text), <, 4096);
  remove_cache ();
}

/* An invalid key file is replaced; an empty name stores nothing. */
static void
test_ignores_bad_files (void)
{
  gdouble number = 1;

  use_new_cache ();
  nd_cache_set (DEVICE, "key", &number, 1);
  write_cache ("no key file\n\x01");
  g_assert_false (nd_cache_get (DEVICE, "key", &number, 1));
  nd_cache_set (DEVICE, "key", &number, 1);
  g_assert_true (nd_cache_get (DEVICE, "key", &number, 1));
  g_setenv ("NDCONV_CACHE", "", TRUE);
  nd_cache_set (DEVICE, "key", &number, 1);
  g_assert_false (nd_cache_get (DEVICE, "key", &number, 1));
  remove_cache ();
}

static void
test_build_id (void)
{
  const gchar *id = nd_build_id ();

  g_assert_cmpuint (strlen (id), ==, 16);
  g_assert_cmpuint (strspn (id, "0123456789abcdef"), ==, 16);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cache/keeps", test_keeps);
  g_test_add_func ("/cache/other-build", test_other_build);
  g_test_add_func ("/cache/forgets-the-oldest", test_forgets_the_oldest);
  g_test_add_func ("/cache/ignores-bad-files", test_ignores_bad_files);
  g_test_add_func ("/cache/build-id", test_build_id);
  return g_test_run ();
}
