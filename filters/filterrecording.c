/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/filterrecording.h"

#include "core/convert.h"
#include "core/error.h"
#include "core/memory.h"
#include "filters/designs.h"
#include "filters/filterfile.h"
#include "formats/recording.h"

#include <string.h>

static NdReader *
filter_recording_open (const gchar *location, GError **error)
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
filter_recording_load (const gchar *location, GError **error)
{
  g_autoptr (NdReader) reader = filter_recording_open (location, error);
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

static gboolean
filter_recording_save (const NdFilter *real, const NdFilter *imaginary,
    const gchar *path, GError **error)
{
  gsize components = imaginary ? 2 : 1,
        volume = nd_filter_count (real) / real->size[ND_AXIS_T];
  NdRecording recording = { .type = ND_FLOAT32,
    .rate_d = 1,
    .responses = 1,
    .shape.components = components,
    .volumes = real->size[ND_AXIS_T] };
  g_autofree gfloat *samples =
      nd_memory_new (volume * components, sizeof (gfloat), error);
  g_autoptr (NdWriter) writer =
      samples ? nd_writer_open (path, FALSE, error) : NULL;

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

static gboolean
filter_recording_is_complex (const gchar *location, gboolean *is_complex,
    GError **error)
{
  g_autoptr (NdReader) reader = filter_recording_open (location, error);

  if (reader)
    *is_complex = nd_reader_recording (reader)->shape.components == 2;
  return reader != NULL;
}

void
nd_filter_use_recordings (void)
{
  static const NdFilterRecordings recordings = { filter_recording_load,
    filter_recording_is_complex, filter_recording_save };

  nd_filter_set_recordings (&recordings);
}
