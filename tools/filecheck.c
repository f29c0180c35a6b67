/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/memory.h"
#include "core/printable.h"
#include "formats/dicom.h"
#include "formats/zarr.h"
#include "tools/fileconvert.h"

#include <string.h>

/* Folders in each other. */
#define DEPTH_MAX 64

typedef struct
{
  guint64 max_memory;
  NdTruncated truncated;
  guint sound, failed, others;
  guint64 volumes, bytes;
} Check;

/* Most texts have the path. */
static void
file_check_say (const gchar *what, const gchar *path, const gchar *text)
{
  g_autofree gchar *file = nd_printable (path);
  g_autofree gchar *message = nd_message_text (text);

  if (strstr (message, file))
    g_print ("%-11s %s\n", what, message);
  else
    g_print ("%-11s %s: %s\n", what, file, message);
}

static gboolean
read_all (Check *check, NdReader *reader, GError **error)
{
  const NdRecording *recording = nd_reader_recording (reader);
  const gsize size = nd_recording_volume_size (recording);
  g_autofree guint8 *volume = g_try_malloc (size);

  if (!volume) {
    nd_memory_set_error (error, size);
    return FALSE;
  }
  for (guint64 v = 0; v < recording->volumes; v++) {
    if (!nd_reader_read (reader, volume, error))
      return FALSE;
  }
  check->volumes += recording->volumes;
  check->bytes += recording->volumes * size;
  return TRUE;
}

static void
check_recording (Check *check, const gchar *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader = nd_reader_open_within (path, NULL,
      check->max_memory, check->truncated, &error);

  /* Samples of other files, texts, pictures ... */
  if (!reader && g_error_matches (error, ND_ERROR, ND_ERROR_SETTINGS)
      && !nd_recording_is_named (path)) {
    check->others++;
    return;
  }
  if (!reader || !read_all (check, reader, &error)) {
    file_check_say ("not read", path, error->message);
    check->failed++;
    return;
  }
  for (const gchar *const *text = nd_reader_warnings (reader); *text; text++)
    file_check_say ("warning", path, *text);
  check->sound++;
}

/* One picture of DICOM, as each file of a series has. */
static gboolean
is_slice (const Check *check, const gchar *path)
{
  g_autoptr (NdInput) input = nd_input_open (path, FALSE, NULL);
  g_autoptr (NdReader) reader = NULL;
  const NdRecording *recording;
  guint8 begin[132];

  if (!input || nd_input_read (input, begin, sizeof (begin)) != sizeof (begin)
      || !nd_dicom_detect (begin, sizeof (begin)))
    return FALSE;
  reader = nd_reader_open_within (path, NULL, check->max_memory,
      check->truncated, NULL);
  recording = reader ? nd_reader_recording (reader) : NULL;
  return recording && recording->volumes == 1 && recording->shape.size[2] == 1;
}

/* Checks a series of DICOM in the folder @path, and removes its files from
 * @names. */
static void
check_series (Check *check, const gchar *path, GPtrArray *names)
{
  g_autoptr (GPtrArray) others = g_ptr_array_new ();
  const guint all = names->len;

  for (guint i = 0; i < all; i++) {
    const gchar *name = names->pdata[i];

    if (g_file_test (name, G_FILE_TEST_IS_DIR) || !is_slice (check, name))
      g_ptr_array_add (others, names->pdata[i]);
  }
  if (all - others->len < 2)
    return;
  check_recording (check, path);
  for (guint i = 0; i < others->len; i++)
    others->pdata[i] = g_strdup (others->pdata[i]);
  g_ptr_array_set_size (names, 0);
  for (guint i = 0; i < others->len; i++)
    g_ptr_array_add (names, others->pdata[i]);
}

static gint
file_check_compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *) a, *(const gchar *const *) b);
}

/* Whether a header beside @path has its samples there, and counts for both. */
static gboolean
has_header (const gchar *path)
{
  static const struct
  {
    const gchar *samples, *header;
  } pairs[] = { { ".img", ".hdr" }, { ".img.gz", ".hdr" },
    { ".img.gz", ".hdr.gz" }, { ".raw", ".nhdr" }, { ".raw.gz", ".nhdr" },
    { ".raw", ".mhd" }, { ".zraw", ".mhd" } };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    if (g_str_has_suffix (path, pairs[i].samples)) {
      const gint n = strlen (path) - strlen (pairs[i].samples);
      g_autofree gchar *header =
          g_strdup_printf ("%.*s%s", n, path, pairs[i].header);

      if (g_file_test (header, G_FILE_TEST_IS_REGULAR))
        return TRUE;
    }
  }
  return FALSE;
}

static void
file_check_check_path (Check *check, const gchar *path, guint depth)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) names = NULL;
  const gchar *name;
  GDir *dir;

  if (!g_file_test (path, G_FILE_TEST_IS_DIR) || nd_zarr_detect (path)) {
    check_recording (check, path);
    return;
  }
  dir = g_dir_open (path, 0, &error);
  if (!dir || depth == 0) {
    file_check_say ("not read", path, dir ? "it is too deep" : error->message);
    check->failed++;
    g_clear_pointer (&dir, g_dir_close);
    return;
  }
  names = g_ptr_array_new_with_free_func (g_free);
  while ((name = g_dir_read_name (dir)))
    g_ptr_array_add (names, g_build_filename (path, name, NULL));
  g_dir_close (dir);
  g_ptr_array_sort (names, file_check_compare_names);
  check_series (check, path, names);
  for (guint i = 0; i < names->len; i++) {
    name = names->pdata[i];
    if (has_header (name))
      continue;
    /* A link to a folder may lead back. */
    if (!g_file_test (name, G_FILE_TEST_IS_SYMLINK)
        || !g_file_test (name, G_FILE_TEST_IS_DIR))
      file_check_check_path (check, name, depth - 1);
  }
}

gboolean
nd_folder_check (const gchar *path, guint64 max_memory, NdTruncated truncated)
{
  Check check = { .max_memory = max_memory, .truncated = truncated };

  file_check_check_path (&check, path, DEPTH_MAX);
  g_print ("total       %u recordings were read, %" G_GUINT64_FORMAT
           " volumes, %" G_GUINT64_FORMAT
           " bytes; %u cannot be read; %u other files\n",
      check.sound, check.volumes, check.bytes, check.failed, check.others);
  return check.failed == 0;
}
