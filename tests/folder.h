/* A temporary folder for the files of a test, which is removed afterwards, and
 * a simulated full disk.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>

static gchar *folder;

static inline void
make_folder (void)
{
  folder = g_dir_make_tmp ("ndconv-test-XXXXXX", NULL);
  g_assert_nonnull (folder);
}

static inline void
remove_folder (void)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir))) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);

    g_remove (path);
  }
  g_dir_close (dir);
  g_rmdir (folder);
  g_clear_pointer (&folder, g_free);
}

static inline gchar *
file_path (const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

static inline gboolean
file_exists (const gchar *path)
{
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static inline void
put_file (const gchar *path, gconstpointer bytes, gsize n)
{
  g_assert_true (g_file_set_contents (path, bytes, n, NULL));
}

/* Limits files to @size bytes to simulate a full disk: EFBIG instead of ENOSPC.
 * 0 removes the limit. */
static inline void
limit_files (gsize size)
{
  struct rlimit limit;

  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &limit), ==, 0);
  limit.rlim_cur = size > 0 ? size : limit.rlim_max;
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
}
