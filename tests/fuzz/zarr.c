/* OME-Zarr. A file of this target is a folder: for each of its files the line
 * "NAME SIZE", and its bytes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarr.h"
#include "formats/zarrmetadata.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include "core/error.h"

#include <ftw.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Larger volumes are not read. */
#define VOLUME_MAX (256 * 1024)

const gchar *const fuzz_name = "zarr";

static int
remove_entry (const char *path, const struct stat *info, int kind,
    struct FTW *ftw)
{
  return remove (path);
}

static void
remove_all (const gchar *path)
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

static guint32
read_folder (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader =
      nd_zarr_detect (path) ? nd_reader_open (path, NULL, &error) : NULL;
  const NdRecording *recording;
  gsize size;

  if (!reader) {
    if (error)
      fuzz_check_error (error);
    return 0;
  }
  recording = nd_reader_recording (reader);
  size = nd_recording_volume_size (recording);
  if (size == 0 || recording->volumes == 0)
    g_error ("the parser accepted an invalid header");
  return size > VOLUME_MAX ? 0 : fuzz_read (reader);
}

guint32
fuzz_input (const guint8 *bytes, gsize n)
{
  NdZarrArray array;
  g_auto (NdZarrImage) image = { NULL };
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-fuzz-XXXXXX", NULL);
  guint32 sum;

  for (guint version = 2; version <= 3; version++) {
    nd_zarr_array_parse (&array, (const gchar *) bytes, n, version, NULL);
    nd_zarr_image_clear (&image);
    nd_zarr_image_parse (&image, (const gchar *) bytes, n, version, NULL);
  }
  put_folder (folder, bytes, n);
  sum = read_folder (folder);
  remove_all (folder);
  return sum;
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

static void
append_written (GPtrArray *seeds, const gchar *name, gboolean compress)
{
  const NdRecording recording = { .type = ND_INT16,
    .shape = { 2, { 5, 4, 3 } },
    .rate_n = 20,
    .rate_d = 1,
    .responses = 1,
    .geometry = {
        TRUE, { 1, 2, 3 }, { 4, 5, 6 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } } };
  const gsize size = nd_recording_volume_size (&recording);
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-seeds-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  g_autofree guint8 *volume = g_malloc0 (size);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdWriter) writer = nd_writer_open (path, compress, &error);
  GByteArray *seed = g_byte_array_new ();

  g_assert_no_error (error);
  g_assert_true (nd_writer_begin (writer, &recording, &error));
  for (guint v = 0; v < 2; v++) {
    volume[v] = 7;
    g_assert_true (nd_writer_write (writer, volume, -1, &error));
  }
  g_assert_true (nd_writer_finish (writer, &error));
  append_files (seed, path, path);
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (seed));
  remove_all (folder);
}

void
fuzz_seeds (GPtrArray *seeds)
{
  append_written (seeds, "a.zarr", FALSE);
  append_written (seeds, "a.zarr", TRUE);
  append_written (seeds, "a.v2.zarr", FALSE);
  append_written (seeds, "a.v2.zarr", TRUE);
}
