/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/header.h"

#include "core/error.h"
#include "core/printable.h"
#include "formats/headertext.h"
#include "formats/rate.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Each takes more memory than a short line of the header. */
#define FIELDS_MAX 65536

void
nd_header_init (NdHeader *header, const gchar *format)
{
  *header = (NdHeader){ .budget = header->budget,
    .keep = header->keep,
    .local = header->local,
    .format = format };
  if (header->budget.most == 0)
    nd_budget_init (&header->budget, 0);
  header->metadata = nd_metadata_new (&header->budget);
  header->warnings = g_ptr_array_new_with_free_func (g_free);
  header->recording.responses = 1;
  header->recording.rate_d = 1;
  header->recording.volumes = 1;
  header->recording.shape = (NdShape){ 1, { 1, 1, 1 } };
}

void
nd_slices_free (NdSlices *slices)
{
  slices->free (slices);
}

void
nd_header_clear (NdHeader *header)
{
  g_clear_pointer (&header->slices, nd_slices_free);
  g_clear_pointer (&header->metadata, nd_metadata_unref);
  g_clear_pointer (&header->warnings, g_ptr_array_unref);
  for (guint i = 0; header->files && i < header->files->len; i++)
    g_free (g_array_index (header->files, gchar *, i));
  g_clear_pointer (&header->files, nd_list_free);
}

void
nd_header_warn (NdHeader *header, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (header->warnings,
      nd_printable_take (g_strdup_vprintf (format, arguments)));
  va_end (arguments);
}

void
nd_header_add_field (NdHeader *header, const gchar *key, const gchar *value)
{
  if (header->metadata->fields->len < FIELDS_MAX) {
    nd_metadata_add (header->metadata, key, value);
  } else if (!header->many_fields) {
    header->many_fields = TRUE;
    nd_header_warn (header,
        "The header has more than %d keys: those after them are not kept",
        FIELDS_MAX);
  }
}

gsize
nd_header_volume_bytes (const NdHeader *header)
{
  const NdRecording *recording = &header->recording;

  return nd_recording_volume_size (recording) / nd_sample_size (recording->type)
      * nd_stored_size (header->stored.type);
}

guint64
nd_header_bytes (const NdHeader *header)
{
  return nd_header_volume_bytes (header) * header->recording.volumes;
}

gboolean
nd_header_settle (NdHeader *header, const gchar *path, GError **error)
{
  NdRecording *recording = &header->recording;
  const gsize *size = recording->shape.size;
  guint64 bytes;

  recording->type = nd_stored_becomes (&header->stored);
  /* Stored samples have up to 8 bytes, converted ones up to 4. */
  if (nd_recording_volume_size (recording) == 0
      || nd_recording_volume_size (recording) > G_MAXSSIZE / 8
      || !g_uint64_checked_mul (&bytes, nd_header_volume_bytes (header),
          recording->volumes)
      || header->offset > G_MAXINT64 / 4 || header->skip > G_MAXINT64 / 4
      || bytes > G_MAXINT64 - header->offset - header->skip) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The header of \"%s\" "
        "claims %" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
        "x%" G_GUINT64_FORMAT
        " samples: no file holds so many bytes, the header is damaged",
        path, size[0], size[1], size[2], recording->volumes);
    return FALSE;
  }
  if (!nd_stored_is_exact (&header->stored))
    nd_header_warn (header,
        "Samples of \"%s\" are %s and are converted to float32, rounded to "
        "24 bits",
        path, nd_stored_name (header->stored.type));
  return TRUE;
}

void
nd_header_set_times (NdHeader *header, NdList *times, gint64 unit)
{
  g_autoptr (NdList) taken = times;
  NdRecording *recording = &header->recording;
  gint64 *time = (gint64 *) times->data;

  g_return_if_fail (times->len == recording->volumes);

  for (guint i = 1; i < times->len; i++) {
    if (time[i] < time[i - 1]) {
      nd_header_warn (header,
          "Volume %u is earlier than the one before it: times of the file are "
          "not used",
          i);
      return;
    }
  }
  header->metadata->origin = time[0];
  for (guint i = times->len; i-- > 0;)
    time[i] -= time[0];
  nd_list_free (header->metadata->times);
  header->metadata->times = g_steal_pointer (&taken);
  if (times->len < 2)
    return;
  /* Many rates fit times with few digits. The rate of the file has priority,
   * then a rate that fits exactly. */
  unit = MIN (unit, time[times->len - 1] / (times->len - 1) / 10);
  if (!nd_rate_fits (time, times->len, unit, recording->rate_n,
          recording->rate_d)
      && !nd_rate_from_times (time, times->len, 0, &recording->rate_n,
          &recording->rate_d))
    nd_rate_from_times (time, times->len, unit, &recording->rate_n,
        &recording->rate_d);
}

gchar *
nd_header_beside (const gchar *path, const gchar *name, GError **error)
{
  g_autofree gchar *folder = g_path_get_dirname (path);
  g_autofree gchar *home = g_canonicalize_filename (folder, NULL);
  g_autofree gchar *full = g_canonicalize_filename (name, home);
  g_autofree gchar *its_folder = g_path_get_dirname (full);
  g_autofree gchar *base = g_path_get_basename (full);
  g_autofree gchar *quoted = nd_text_quote (name);

  if (*name == '\0' || strcmp (its_folder, home) != 0
      || strcmp (full, home) == 0 || g_str_has_suffix (name, "/")) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The header of \"%s\" names the file %s: only files in the same folder "
        "are read, put it there and name it without a folder",
        path, quoted);
    return NULL;
  }
  return g_build_filename (folder, base, NULL);
}

gchar *
nd_header_numbered (const gchar *path, const gchar *pattern, gint64 number,
    GError **error)
{
  const gchar *percent = strchr (pattern, '%'), *p = percent;
  g_autofree gchar *name = NULL;
  gboolean zeros;
  gint width = 0;

  if (!p)
    return NULL;
  p++;
  zeros = *p == '0';
  while (g_ascii_isdigit (*p) && width < 100)
    width = 10 * width + (*p++ - '0');
  if (width > 20 || !*p || !strchr ("diu", *p) || strchr (p, '%'))
    return NULL;
  name = g_strdup_printf (zeros ? "%.*s%0*" G_GINT64_FORMAT "%s"
                                : "%.*s%*" G_GINT64_FORMAT "%s",
      (gint) (percent - pattern), pattern, width, number, p + 1);
  return nd_header_beside (path, name, error);
}

static gboolean
add_path (NdHeader *header, const gchar *path, gchar *file, GError **error)
{
  if (!header->files)
    header->files = nd_list_new (&header->budget, sizeof (gchar *));
  if (!nd_list_add (header->files, file)) {
    g_free (file);
    return nd_budget_refuse (&header->budget, path, error);
  }
  /* A link is refused when it is opened; its target is not tested here. */
  if (g_file_test (file, G_FILE_TEST_IS_SYMLINK)
      || g_file_test (file, G_FILE_TEST_EXISTS))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_NOT_FOUND,
      "The header of \"%s\" names the file \"%s\", which does not exist: put "
      "it into the same folder",
      path, file);
  return FALSE;
}

gboolean
nd_header_check_files (const gchar *path, guint64 n, GError **error)
{
  if (n <= ND_FILES_MAX)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The header of \"%s\" names more than %d files: join their samples in "
      "fewer ones",
      path, ND_FILES_MAX);
  return FALSE;
}

gboolean
nd_header_add_file (NdHeader *header, const gchar *path, const gchar *name,
    GError **error)
{
  gchar *file = nd_header_beside (path, name, error);

  return file && add_path (header, path, file, error);
}

gboolean
nd_header_add_numbered (NdHeader *header, const gchar *path,
    const gchar *pattern, gint64 first, gint64 step, guint64 count,
    GError **error)
{
  if (!nd_header_check_files (path, count, error))
    return FALSE;
  for (guint64 i = 0; i < count; i++) {
    g_autoptr (GError) reason = NULL;
    gchar *file =
        nd_header_numbered (path, pattern, first + (gint64) i * step, &reason);

    if (!file) {
      g_autofree gchar *quoted = nd_text_quote (pattern);

      if (reason)
        g_propagate_error (error, g_steal_pointer (&reason));
      else
        g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
            "The header of \"%s\" names files by %s: it must hold one %%d "
            "(%%03d ...) for their number",
            path, quoted);
      return FALSE;
    }
    if (!add_path (header, path, file, error))
      return FALSE;
  }
  return TRUE;
}
