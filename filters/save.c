/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/save.h"

#include "core/error.h"
#include "core/part.h"
#include "filters/parameters.h"
#include "formats/recording.h"

#include <string.h>

/* Version 1.0. Padding of the header makes the offset of the samples a multiple
 * of 64. */
#define NPY_BEGIN "\x93NUMPY\x01\x00"
#define NPY_FIXED 10
#define NPY_ALIGN 64

static const gchar *const endings[] = { ".nii", ".nii.gz", ".nrrd", ".nhdr",
  ".mha", ".mhd" };

static GString *
npy_header (const NdFilter *filter, const NdAxes *axes, gboolean is_complex)
{
  GString *file = g_string_new_len (NPY_BEGIN, 8);
  g_autoptr (GString) text = g_string_new (NULL);
  guint16 length;

  g_string_append_printf (text,
      "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
      G_BYTE_ORDER == G_LITTLE_ENDIAN ? '<' : '>', is_complex ? "c16" : "f8");
  for (guint i = axes->n; i-- > 0;)
    g_string_append_printf (text, "%" G_GSIZE_FORMAT ",%s",
        filter->size[axes->axis[i]], i > 0 ? " " : "");
  g_string_append (text, "), }");
  while ((NPY_FIXED + text->len + 1) % NPY_ALIGN != 0)
    g_string_append_c (text, ' ');
  g_string_append_c (text, '\n');
  length = GUINT16_TO_LE (text->len);
  g_string_append_len (file, (const gchar *) &length, 2);
  g_string_append_len (file, text->str, text->len);
  return file;
}

static gboolean
save_npy (const NdFilter *real, const NdFilter *imaginary, const NdAxes *axes,
    const gchar *path, GError **error)
{
  g_autoptr (GString) file = npy_header (real, axes, imaginary != NULL);
  gsize count = nd_filter_count (real);
  gint reason;

  for (gsize i = 0; i < count; i++) {
    g_string_append_len (file, (const gchar *) &real->coefficients[i],
        sizeof (gdouble));
    if (imaginary)
      g_string_append_len (file, (const gchar *) &imaginary->coefficients[i],
          sizeof (gdouble));
  }
  reason = nd_file_replace (path, file->str, file->len);
  if (reason)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
        "\"%s\" cannot be written: %s", path, g_strerror (reason));
  return reason == 0;
}

static gboolean
save_recording (const NdFilter *real, const NdFilter *imaginary,
    const gchar *path, GError **error)
{
  gsize components = imaginary ? 2 : 1,
        volume = nd_filter_count (real) / real->size[ND_AXIS_T];
  NdRecording recording = { .type = ND_FLOAT32,
    .rate_d = 1,
    .responses = 1,
    .shape.components = components,
    .volumes = real->size[ND_AXIS_T] };
  g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, error);
  g_autofree gfloat *samples = g_new (gfloat, volume * components);

  memcpy (recording.shape.size, real->size, sizeof (recording.shape.size));
  if (!writer || !nd_writer_begin (writer, &recording, error))
    return FALSE;
  for (gsize t = 0; t < real->size[ND_AXIS_T]; t++) {
    for (gsize i = 0; i < volume; i++) {
      samples[i * components] = real->coefficients[t * volume + i];
      if (imaginary)
        samples[i * components + 1] = imaginary->coefficients[t * volume + i];
    }
    if (!nd_writer_write (writer, samples, -1, error))
      return FALSE;
  }
  return nd_writer_finish (writer, error);
}

gboolean
nd_filter_save (const NdFilter *real, const NdFilter *imaginary,
    const NdAxes *axes, const gchar *path, GError **error)
{
  if (g_str_has_suffix (path, ".npy"))
    return save_npy (real, imaginary, axes, path, error);
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    if (g_str_has_suffix (path, endings[i]))
      return save_recording (real, imaginary, path, error);
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "\"%s\" has an unknown extension; filters are saved as .npy, .nii, "
      ".nii.gz, .nrrd, .nhdr, .mha or .mhd",
      path);
  return FALSE;
}
