/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/filepicture.h"

#include "core/convert.h"
#include "core/error.h"
#include "tools/filecompare.h"
#include "tools/pngfile.h"
#include "view/picture.h"

#include <math.h>

#define GAP 4 /* black pixels between pictures */

/* Pictures of equal size, one beside the other. */
typedef struct
{
  NdPictureMode mode;
  gint width, height; /* of one */
  gsize row;          /* bytes */
  guint n, channels;
  guint8 *pixels;
} Canvas;

static gboolean
canvas_init (Canvas *canvas, const NdShape *shape, guint n, GError **error)
{
  gsize bytes;

  canvas->n = n;
  canvas->mode = shape->size[2] > 1 ? ND_PICTURE_ORTHOGONAL : ND_PICTURE_SLICE;
  canvas->channels = nd_picture_channels (shape);
  if (!nd_picture_size (canvas->mode, ND_AXIS_Z, shape->size, &canvas->width,
          &canvas->height)
      || canvas->width > (G_MAXINT - GAP) / (gint) (n * canvas->channels)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The volume is too large for a picture: use smaller volumes");
    return FALSE;
  }
  canvas->row = ((gsize) (canvas->width + GAP) * n - GAP) * canvas->channels;
  if (g_size_checked_mul (&bytes, canvas->row, canvas->height))
    canvas->pixels = g_try_malloc0 (bytes);
  if (canvas->pixels)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
      "No memory for a picture of %d rows of %" G_GSIZE_FORMAT
      " bytes: use smaller volumes",
      canvas->height, canvas->row);
  return FALSE;
}

/* Draws @volume as picture @i of @canvas. If *@high is not above *@low, they
 * are set to the range of the picture. */
static gboolean
file_picture_draw (Canvas *canvas, guint i, gconstpointer volume,
    NdSampleType type, const NdShape *shape, gdouble *low, gdouble *high,
    GError **error)
{
  const NdSampleType computed = nd_sample_computed (type, ND_PRECISION_SINGLE);
  g_autoptr (NdPicture) picture =
      nd_picture_new (canvas->mode, ND_AXIS_Z, computed, shape, NULL, -1, NULL);
  const gsize n =
      shape->components * shape->size[0] * shape->size[1] * shape->size[2];
  g_autofree gpointer converted = NULL;

  if (computed != type) {
    converted = g_try_malloc (n * nd_sample_size (computed));
    if (converted)
      nd_convert_to_computed (type, ND_PRECISION_SINGLE, volume, n, converted);
    else
      g_clear_pointer (&picture, nd_picture_free);
    volume = converted;
  }
  if (!picture) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory for a picture: use smaller volumes");
    return FALSE;
  }
  nd_picture_take (picture, volume, 0.5, NULL);
  if (!(*high > *low))
    nd_picture_range (picture, volume, low, high, NULL);
  if (!(*high > *low))
    *high = *low + 1;
  nd_picture_write (picture, *low, *high - *low,
      canvas->pixels + (gsize) i * (canvas->width + GAP) * canvas->channels,
      canvas->row, NULL);
  return TRUE;
}

static gboolean
file_picture_save (const Canvas *canvas, const gchar *path, GError **error)
{
  png_image image = { .version = PNG_IMAGE_VERSION,
    .width = canvas->row / canvas->channels,
    .height = canvas->height,
    .format = canvas->channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY };

  return nd_png_save (&image, canvas->pixels, path, error);
}

static gpointer
file_picture_read_volume (NdReader *reader, gint64 number, GError **error)
{
  const NdRecording *recording = nd_reader_recording (reader);
  g_autofree gpointer volume = NULL;

  if (number < 0 || (guint64) number >= recording->volumes) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "There is no volume %" G_GINT64_FORMAT
        ": the recording has 0 to %" G_GUINT64_FORMAT,
        number, recording->volumes - 1);
    return NULL;
  }
  volume = g_try_malloc (nd_recording_volume_size (recording));
  if (!volume) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory for a volume of %" G_GSIZE_FORMAT
        " bytes: use smaller volumes",
        nd_recording_volume_size (recording));
    return NULL;
  }
  if (!nd_reader_seek (reader, number, error)
      || !nd_reader_read (reader, volume, error))
    return NULL;
  return g_steal_pointer (&volume);
}

gboolean
nd_recording_draw (NdReader *reader, gint64 number, const gchar *path,
    GError **error)
{
  const NdRecording *recording = nd_reader_recording (reader);
  g_autofree gpointer volume = file_picture_read_volume (reader, number, error);
  Canvas canvas = { 0 };
  gdouble low = 0, high = 0;
  gboolean ok;

  ok = volume && canvas_init (&canvas, &recording->shape, 1, error)
      && file_picture_draw (&canvas, 0, volume, recording->type,
          &recording->shape, &low, &high, error)
      && file_picture_save (&canvas, path, error);
  g_free (canvas.pixels);
  return ok;
}

/* The samples of b - a, and their largest magnitude. */
static gfloat *
subtract (gconstpointer a, const NdRecording *of_a, gconstpointer b,
    const NdRecording *of_b, gdouble *most)
{
  const gsize n = nd_recording_volume_size (of_a) / nd_sample_size (of_a->type);
  gfloat *difference = g_try_new (gfloat, n);

  *most = 0;
  for (gsize i = 0; difference && i < n; i++) {
    difference[i] = (gfloat) (nd_sample_value (b, i, of_b->type)
        - nd_sample_value (a, i, of_a->type));
    if (isfinite (difference[i]))
      *most = MAX (*most, fabs (difference[i]));
  }
  return difference;
}

gboolean
nd_recordings_draw (NdReader *a, NdReader *b, gint64 number, const gchar *path,
    GError **error)
{
  const NdRecording *of_a = nd_reader_recording (a);
  const NdRecording *of_b = nd_reader_recording (b);
  g_autofree gpointer volume_a = file_picture_read_volume (a, number, error);
  g_autofree gpointer volume_b =
      volume_a ? file_picture_read_volume (b, number, error) : NULL;
  g_autofree gfloat *difference = NULL;
  Canvas canvas = { 0 };
  gdouble low = 0, high = 0, most, least;
  gboolean ok;

  if (!volume_b)
    return FALSE;
  difference = subtract (volume_a, of_a, volume_b, of_b, &most);
  if (!difference) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory for the difference of two volumes: use smaller volumes");
    return FALSE;
  }
  most = most > 0 ? most : 1;
  least = -most;
  ok = canvas_init (&canvas, &of_a->shape, 3, error)
      && file_picture_draw (&canvas, 0, volume_a, of_a->type, &of_a->shape,
          &low, &high, error)
      && file_picture_draw (&canvas, 1, volume_b, of_b->type, &of_b->shape,
          &low, &high, error)
      && file_picture_draw (&canvas, 2, difference, ND_FLOAT32, &of_a->shape,
          &least, &most, error)
      && file_picture_save (&canvas, path, error);
  g_free (canvas.pixels);
  return ok;
}
