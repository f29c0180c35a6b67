/* Design file: coefficients from the file location. With size, the file has raw
 * float32 samples (little endian, x fastest). Without size, the content
 * decides: .npy, or a format that formats/ reads (NIfTI, NRRD, MetaImage).
 * Complex samples make a complex filter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/convert.h"
#include "core/error.h"
#include "filters/npy.h"
#include "formats/npyheader.h"
#include "formats/recording.h"

#include <string.h>

static NdFilter *
load_raw (const gchar *location, GMappedFile *file,
    const NdParameters *parameters, const NdAxes *axes, GError **error)
{
  g_autoptr (NdFilter) filter = NULL;
  const gchar *data = g_mapped_file_get_contents (file);
  gsize length = g_mapped_file_get_length (file);
  gsize size[ND_AXES], count;

  if (!nd_parameters_get_size (parameters, axes, 0, size, error))
    return NULL;
  filter = nd_design_new_filter ("file", size, error);
  if (!filter)
    return NULL;

  count = nd_filter_count (filter);
  if (length != count * sizeof (gfloat)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" has %" G_GSIZE_FORMAT " bytes, but size %" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        " of float32 "
        "needs %" G_GSIZE_FORMAT "; leave size out if the file is .npy or "
        "NIfTI",
        location, length, size[0], size[1], size[2], size[3],
        count * sizeof (gfloat));
    return NULL;
  }
  for (gsize i = 0; i < count; i++) {
    union
    {
      guint32 bits;
      gfloat value;
    } sample;

    memcpy (&sample.bits, data + 4 * i, 4);
    sample.bits = GUINT32_FROM_LE (sample.bits);
    filter->coefficients[i] = sample.value;
  }
  return g_steal_pointer (&filter);
}

static NdReader *
open_recording (const gchar *location, GError **error)
{
  g_autoptr (GError) reason = NULL;
  NdReader *reader = nd_reader_open (location, NULL, &reason);

  if (reader)
    return reader;
  if (g_error_matches (reason, ND_ERROR, ND_ERROR_SETTINGS))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is neither .npy nor NIfTI, NRRD or MetaImage; for raw float32 "
        "samples give size too",
        location);
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  return NULL;
}

/* The volumes of the recording are the samples of the filter along t. */
static NdBank *
load_recording (const gchar *location, GError **error)
{
  g_autoptr (NdReader) reader = open_recording (location, error);
  g_autoptr (GPtrArray) filters =
      g_ptr_array_new_with_free_func ((GDestroyNotify) nd_filter_free);
  g_autofree gpointer volume = NULL;
  const NdRecording *recording;
  gsize size[ND_AXES], samples, components;
  NdBank *bank;

  if (!reader)
    return NULL;
  recording = nd_reader_recording (reader);
  components = recording->shape.components;
  if (components > 2 || recording->responses > 1) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" has %" G_GSIZE_FORMAT " components and %d responses per "
        "volume; it must have one volume of one real or complex number per "
        "coefficient",
        location, components, recording->responses);
    return NULL;
  }

  memcpy (size, recording->shape.size, sizeof (recording->shape.size));
  size[ND_AXIS_T] = (gsize) MIN (recording->volumes, G_MAXSIZE);
  for (gsize c = 0; c < components; c++) {
    NdFilter *filter = nd_design_new_filter ("file", size, error);

    if (!filter)
      return NULL;
    g_ptr_array_add (filters, filter);
  }
  samples = size[0] * size[1] * size[2];
  volume = g_malloc (nd_recording_volume_size (recording));
  for (gsize t = 0; t < size[ND_AXIS_T]; t++) {
    if (!nd_reader_read (reader, volume, error))
      return NULL;
    for (gsize i = 0; i < samples * components; i++) {
      NdFilter *filter = filters->pdata[i % components];

      filter->coefficients[t * samples + i / components] =
          nd_sample_value (volume, i, recording->type);
    }
  }
  bank = nd_bank_new (filters);
  bank->is_complex = components == 2;
  return bank;
}

static GMappedFile *
map_file (const gchar *location, GError **error)
{
  g_autoptr (GError) reason = NULL;
  GMappedFile *file;

  if (!g_file_test (location, G_FILE_TEST_EXISTS)) {
    g_set_error (error, ND_ERROR, ND_ERROR_NOT_FOUND,
        "There is no file \"%s\"; location must name one that exists",
        location);
    return NULL;
  }
  /* Opening a named pipe would block until somebody writes to it. */
  if (!g_file_test (location, G_FILE_TEST_IS_REGULAR)) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
        "\"%s\" is not a regular file; location must name one", location);
    return NULL;
  }
  file = g_mapped_file_new (location, FALSE, &reason);
  if (!file)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
        "\"%s\" cannot be opened for reading: %s", location, reason->message);
  return file;
}

static NdBank *
load (const gchar *location, const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  g_autoptr (GMappedFile) file = map_file (location, error);
  const guint8 *data;
  gsize length;

  if (!file)
    return NULL;
  data = (const guint8 *) g_mapped_file_get_contents (file);
  length = g_mapped_file_get_length (file);
  if (nd_parameters_has (parameters, "size")) {
    g_autoptr (GPtrArray) filters = g_ptr_array_new ();
    NdFilter *filter = load_raw (location, file, parameters, axes, error);

    if (!filter)
      return NULL;
    g_ptr_array_add (filters, filter);
    return nd_bank_new (filters);
  }
  if (nd_npy_detect (data, length))
    return nd_npy_load (location, data, length, axes, error);
  return load_recording (location, error);
}

static const gchar *
get_location (const NdParameters *parameters, GError **error)
{
  const gchar *location = nd_parameters_get_text (parameters, "location");

  if (location && *location != '\0')
    return location;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "location is missing; give the path of a .npy, NIfTI or raw float32 "
      "file, as in file,location=kernel.npy");
  return NULL;
}

NdBank *
nd_design_file (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  const gchar *location = get_location (parameters, error);
  NdBank *bank = location ? load (location, parameters, axes, error) : NULL;

  for (guint i = 0; bank && i < bank->n_filters; i++) {
    g_free (bank->filters[i]->name);
    bank->filters[i]->name = g_strdup_printf ("file \"%s\"", location);
  }
  return bank;
}

gboolean
nd_info_file (const NdParameters *parameters, const NdAxes *axes,
    NdBankInfo *info, GError **error)
{
  const gchar *location = get_location (parameters, error);
  g_autoptr (GMappedFile) file = location ? map_file (location, error) : NULL;
  const guint8 *data;
  gsize length;

  info->is_complex = FALSE;
  if (!file)
    return FALSE;
  data = (const guint8 *) g_mapped_file_get_contents (file);
  length = g_mapped_file_get_length (file);
  if (nd_parameters_has (parameters, "size"))
    return TRUE;
  if (nd_npy_detect (data, length)) {
    info->is_complex = nd_npy_is_complex (data, length);
  } else {
    g_autoptr (NdReader) reader = open_recording (location, error);

    if (!reader)
      return FALSE;
    info->is_complex = nd_reader_recording (reader)->shape.components == 2;
  }
  return TRUE;
}
