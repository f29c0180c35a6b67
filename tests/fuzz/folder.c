/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/fuzz/folder.h"

#include "tests/fuzz/fuzz.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>

/* Larger volumes are not read. */
#define VOLUME_MAX (256 * 1024)

static int
remove_entry (const char *path, const struct stat *info, int kind,
    struct FTW *ftw)
{
  return remove (path);
}

void
fuzz_folder_remove (const gchar *path)
{
  nftw (path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Names of hostile files stay in the folder. */
static gboolean
is_harmless (const gchar *name)
{
  return *name && *name != '/' && !strstr (name, "..") && !strstr (name, "//")
      && strlen (name) < 100;
}

static void
put_folder (const gchar *folder, const guint8 *bytes, gsize n)
{
  while (n > 0) {
    const guint8 *end = memchr (bytes, '\n', n);
    g_autofree gchar *line =
        end ? g_strndup ((const gchar *) bytes, end - bytes) : NULL;
    gchar *space = line ? strrchr (line, ' ') : NULL;
    g_autofree gchar *path = NULL, *parent = NULL;
    gsize size;

    if (!space)
      return;
    n -= end + 1 - bytes;
    bytes = end + 1;
    size = MIN (g_ascii_strtoull (space, NULL, 10), n);
    *space = '\0';
    if (is_harmless (line)) {
      path = g_build_filename (folder, line, NULL);
      parent = g_path_get_dirname (path);
      if (g_mkdir_with_parents (parent, 0777) == 0)
        g_file_set_contents (path, (const gchar *) bytes, size, NULL);
    }
    bytes += size;
    n -= size;
  }
}

gchar *
fuzz_folder_make (const guint8 *bytes, gsize n)
{
  gchar *folder = g_dir_make_tmp ("ndconv-fuzz-XXXXXX", NULL);

  put_folder (folder, bytes, n);
  return folder;
}

guint32
fuzz_folder_read (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  const NdRecording *recording;
  gsize size;

  if (!reader) {
    fuzz_check_error (error);
    return 0;
  }
  recording = nd_reader_recording (reader);
  size = nd_recording_volume_size (recording);
  if (size == 0 || recording->volumes == 0)
    g_error ("the parser accepted an invalid header");
  return size > VOLUME_MAX ? 0 : fuzz_read (reader);
}

/* Appends the files of @path below @root. */
static void
append_files (GByteArray *seed, const gchar *root, const gchar *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *inner = g_build_filename (path, name, NULL);

    append_files (seed, root, inner);
  }
  if (!dir) {
    g_autofree gchar *bytes = NULL, *line = NULL;
    gsize n;

    g_assert_true (g_file_get_contents (path, &bytes, &n, NULL));
    line = g_strdup_printf ("%s %" G_GSIZE_FORMAT "\n",
        path + strlen (root) + 1, n);
    g_byte_array_append (seed, (const guint8 *) line, strlen (line));
    g_byte_array_append (seed, (const guint8 *) bytes, n);
  }
}

GBytes *
fuzz_folder_pack (const gchar *path)
{
  GByteArray *packed = g_byte_array_new ();

  append_files (packed, path, path);
  return g_byte_array_free_to_bytes (packed);
}
