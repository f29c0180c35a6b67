/* Design file: coefficients from the file location. With size, the file has raw
 * float32 samples (little endian, x fastest). Without size, the content
 * decides: .npy, or a format that formats/ reads (NIfTI, NRRD, MetaImage).
 * Complex samples make a complex filter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/budget.h"
#include "core/convert.h"
#include "core/error.h"
#include "core/memory.h"
#include "filters/npy.h"
#include "formats/npyheader.h"
#include "formats/recording.h"

#include <string.h>

/* More than the header of .npy may have. */
#define HEADER_BYTES (128 * 1024)

/* The bytes of a file. */
typedef struct
{
  NdBudget budget;
  NdInput *input;
  guint8 *data;
  gsize length;
} File;

static void
file_clear (File *file)
{
  g_clear_pointer (&file->input, nd_input_close);
  nd_budget_free (&file->budget, file->data, file->length);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (File, file_clear);

static gboolean
open_file (File *file, const gchar *location, GError **error)
{
  nd_budget_init (&file->budget, 0);
  file->input = nd_input_open (location, TRUE, error);
  return file->input != NULL;
}

/* Reads the file, or its first @most bytes. Another program may change it
 * meanwhile. */
static gboolean
read_file (File *file, const gchar *location, guint64 most, GError **error)
{
  const guint64 length = MIN (nd_input_size (file->input), most);

  file->data = nd_budget_alloc (&file->budget, length);
  if (!file->data)
    return nd_budget_refuse (&file->budget, location, error);
  file->length = length;
  nd_input_begin (file->input, 0, FALSE);
  if (nd_input_read (file->input, file->data, length) == (gssize) length)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" cannot be read: %s",
      location,
      nd_input_reason (file->input) ? nd_input_reason (file->input)
                                    : "it has become shorter");
  return FALSE;
}

static NdFilter *
load_raw (const gchar *location, File *file, const NdParameters *parameters,
    const NdAxes *axes, GError **error)
{
  g_autoptr (NdFilter) filter = NULL;
  const gsize length = nd_input_size (file->input);
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
  if (!read_file (file, location, length, error))
    return NULL;
  for (gsize i = 0; i < count; i++) {
    union
    {
      guint32 bits;
      gfloat value;
    } sample;

    memcpy (&sample.bits, file->data + 4 * i, 4);
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
  gsize size[ND_AXES], bytes, samples, components;
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
  bytes = nd_recording_volume_size (recording);
  volume = g_try_malloc (bytes);
  if (!volume) {
    nd_memory_set_error (error, bytes);
    return NULL;
  }
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

static NdBank *
load (const gchar *location, const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  g_auto (File) file = { 0 };
  guint8 begin[8];
  gssize n;

  if (!open_file (&file, location, error))
    return NULL;
  if (nd_parameters_has (parameters, "size")) {
    g_autoptr (GPtrArray) filters = g_ptr_array_new ();
    NdFilter *filter = load_raw (location, &file, parameters, axes, error);

    if (!filter)
      return NULL;
    g_ptr_array_add (filters, filter);
    return nd_bank_new (filters);
  }
  nd_input_begin (file.input, 0, FALSE);
  n = nd_input_read (file.input, begin, sizeof (begin));
  if (n <= 0 || !nd_npy_detect (begin, n))
    return load_recording (location, error);
  return read_file (&file, location, G_MAXUINT64, error)
      ? nd_npy_load (location, file.data, file.length, axes, error)
      : NULL;
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
  g_auto (File) file = { 0 };

  info->is_complex = FALSE;
  if (!location || !open_file (&file, location, error))
    return FALSE;
  if (nd_parameters_has (parameters, "size"))
    return TRUE;
  if (!read_file (&file, location, HEADER_BYTES, error))
    return FALSE;
  if (nd_npy_detect (file.data, file.length)) {
    info->is_complex = nd_npy_is_complex (file.data, file.length);
  } else {
    g_autoptr (NdReader) reader = open_recording (location, error);

    if (!reader)
      return FALSE;
    info->is_complex = nd_reader_recording (reader)->shape.components == 2;
  }
  return TRUE;
}
