/* Coefficients from a file: location, and for raw float32 samples (little
 * endian, x fastest) size. Without size the content decides: .npy, or whatever
 * formats/ reads (NIfTI).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "nddesigns.h"

#include <string.h>

#include "engine/nderror.h"
#include "formats/ndrecording.h"
#include "ndnpy.h"

static NdFilter *
load_raw (const gchar * location, GMappedFile * file,
    const NdParameters * parameters, const NdAxes * axes, GError ** error)
{
  g_autoptr (NdFilter) filter = NULL;
  const gchar *data = g_mapped_file_get_contents (file);
  gsize length = g_mapped_file_get_length (file);
  gsize size[ND_AXES], count;

  if (!nd_parameters_get_size (parameters, axes, 0, size, error))
    return NULL;
  filter = nd_design_new_filter ("file", size, error);
  if (filter == NULL)
    return NULL;

  count = nd_filter_count (filter);
  if (length != count * sizeof (gfloat)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" has %" G_GSIZE_FORMAT " bytes, but size %" G_GSIZE_FORMAT ":%"
        G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT " of float32 "
        "asks for %" G_GSIZE_FORMAT "; leave size out where the file is .npy "
        "or NIfTI.", location, length, size[0], size[1], size[2], size[3],
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

static gdouble
convert (gconstpointer samples, gsize i, NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return ((const guint8 *) samples)[i];
    case ND_INT16:
      return ((const gint16 *) samples)[i];
    case ND_UINT16:
      return ((const guint16 *) samples)[i];
    case ND_FLOAT32:
      return ((const gfloat *) samples)[i];
    default:
      g_return_val_if_reached (0);
  }
}

/* Volumes of a recording are the filter along t. */
static NdFilter *
load_recording (const gchar * location, GError ** error)
{
  g_autoptr (NdReader) reader = NULL;
  g_autoptr (NdFilter) filter = NULL;
  g_autofree gpointer volume = NULL;
  g_autoptr (GError) reason = NULL;
  const NdRecording *recording;
  gsize size[ND_AXES], samples;

  reader = nd_reader_open (location, NULL, &reason);
  if (reader == NULL) {
    if (g_error_matches (reason, ND_ERROR, ND_ERROR_SETTINGS))
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "\"%s\" is neither .npy nor NIfTI; for raw float32 samples give "
          "size too.", location);
    else
      g_propagate_error (error, g_steal_pointer (&reason));
    return NULL;
  }
  recording = nd_reader_recording (reader);
  if (recording->shape.components != 1 || recording->responses > 1) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" has %" G_GSIZE_FORMAT " components and %d responses per "
        "volume, where a filter has one number per coefficient.", location,
        recording->shape.components, recording->responses);
    return NULL;
  }

  memcpy (size, recording->shape.size, sizeof (recording->shape.size));
  size[ND_AXIS_T] = (gsize) MIN (recording->volumes, G_MAXSIZE);
  filter = nd_design_new_filter ("file", size, error);
  if (filter == NULL)
    return NULL;
  samples = size[0] * size[1] * size[2];
  volume = g_malloc (nd_recording_volume_size (recording));
  for (gsize t = 0; t < size[ND_AXIS_T]; t++) {
    if (!nd_reader_read (reader, volume, error))
      return NULL;
    for (gsize i = 0; i < samples; i++)
      filter->coefficients[t * samples + i] =
          convert (volume, i, recording->type);
  }
  return g_steal_pointer (&filter);
}

static NdFilter *
load (const gchar * location, const NdParameters * parameters,
    const NdAxes * axes, GError ** error)
{
  g_autoptr (GMappedFile) file = NULL;
  g_autoptr (GError) reason = NULL;
  const guint8 *data;
  gsize length;

  if (!g_file_test (location, G_FILE_TEST_EXISTS)) {
    g_set_error (error, ND_ERROR, ND_ERROR_NOT_FOUND,
        "There is no file \"%s\"; location must name one that exists.",
        location);
    return NULL;
  }
  /* Opening a pipe would wait for its other end. */
  if (!g_file_test (location, G_FILE_TEST_IS_REGULAR)) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
        "\"%s\" is not a regular file; location must name one.", location);
    return NULL;
  }
  file = g_mapped_file_new (location, FALSE, &reason);
  if (file == NULL) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
        "\"%s\" cannot be opened for reading: %s.", location, reason->message);
    return NULL;
  }
  data = (const guint8 *) g_mapped_file_get_contents (file);
  length = g_mapped_file_get_length (file);

  if (nd_parameters_has (parameters, "size"))
    return load_raw (location, file, parameters, axes, error);
  if (nd_npy_is (data, length))
    return nd_npy_load (location, data, length, axes, error);
  return load_recording (location, error);
}

NdFilter *
nd_design_file (const NdParameters * parameters, const NdAxes * axes,
    GError ** error)
{
  const gchar *location = nd_parameters_get_text (parameters, "location");
  NdFilter *filter;

  if (location == NULL || *location == '\0') {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "location is missing; give the path of a .npy, NIfTI or raw float32 "
        "file, as in file,location=kernel.npy.");
    return NULL;
  }
  filter = load (location, parameters, axes, error);
  if (filter != NULL) {
    g_free (filter->name);
    filter->name = g_strdup_printf ("file \"%s\"", location);
  }
  return filter;
}
