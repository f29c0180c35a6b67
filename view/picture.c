/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "view/picture.h"

#include "core/convert.h"
#include "core/error.h"

#include <math.h>
#include <stdlib.h>

/* Percentiles and thresholds are those of at most this many samples. */
#define RANGE_SAMPLES 16384

struct _NdPicture
{
  NdPictureJob job;

  /* The renderer of the device; NULL if the CPU draws. */
  const NdRendererFuncs *funcs;
  NdRenderer *renderer;

  gfloat *values; /* of all pixels */
  gfloat *row;    /* one row of the volume */

  gdouble percentiles[2]; /* of the range: low and high, 0 to 100 */
};

NdAxis
nd_picture_width_axis (NdAxis axis)
{
  return axis == ND_AXIS_X ? ND_AXIS_Z : ND_AXIS_X;
}

NdAxis
nd_picture_height_axis (NdAxis axis)
{
  return axis == ND_AXIS_Y ? ND_AXIS_Z : ND_AXIS_Y;
}

gboolean
nd_picture_size (NdPictureMode mode, NdAxis axis, const gsize size[3],
    gint *width, gint *height)
{
  gsize w = size[nd_picture_width_axis (axis)];
  gsize h = size[nd_picture_height_axis (axis)];

  if (mode == ND_PICTURE_ORTHOGONAL
      && (!g_size_checked_add (&w, size[ND_AXIS_X], size[ND_AXIS_Z])
          || !g_size_checked_add (&h, size[ND_AXIS_Y], size[ND_AXIS_Z])))
    return FALSE;
  /* Some functions of GstVideo count the bytes of a picture in an int. */
  if (w > G_MAXINT / 4 || h > G_MAXINT / 4 || w > G_MAXINT / 4 / h)
    return FALSE;
  *width = w;
  *height = h;
  return TRUE;
}

guint
nd_picture_channels (const NdShape *shape)
{
  return shape->components == 3 ? 3 : 1;
}

NdPicture *
nd_picture_new (NdPictureMode mode, NdAxis axis, NdSampleType type,
    const NdShape *shape, const NdBackend *device, gint device_id,
    GError **error)
{
  g_autoptr (NdPicture) self = g_new0 (NdPicture, 1);
  NdPictureJob *job = &self->job;
  gint width, height;

  g_return_val_if_fail (nd_picture_size (mode, axis, shape->size, &width,
                            &height),
      NULL);
  *job = (NdPictureJob){ mode, axis, type, *shape, width, height,
    nd_picture_channels (shape) };
  nd_picture_set_percentiles (self, 0.5, 99.5);
  if (device) {
    self->funcs = device->renderer;
    self->renderer = self->funcs->create (job, device_id, error);
    return self->renderer ? g_steal_pointer (&self) : NULL;
  }
  self->values = g_try_new (gfloat, job->width * job->height * job->channels);
  self->row = g_try_new (gfloat, shape->size[0] * job->channels);
  if (self->values && self->row)
    return g_steal_pointer (&self);
  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
      "No memory for a picture of %d x %d pixels: use smaller volumes", width,
      height);
  return NULL;
}

void
nd_picture_free (NdPicture *self)
{
  if (self->renderer)
    self->funcs->destroy (self->renderer);
  g_free (self->values);
  g_free (self->row);
  g_free (self);
}

/* Number @i of the volume. */
static inline gfloat
number (gconstpointer data, NdSampleType type, gsize i)
{
  switch (type) {
    case ND_UINT8:
      return ((const guint8 *) data)[i];
    case ND_INT16:
      return ((const gint16 *) data)[i];
    case ND_UINT16:
      return ((const guint16 *) data)[i];
    case ND_INT8:
      return ((const gint8 *) data)[i];
    case ND_INT32:
      return ((const gint32 *) data)[i];
    case ND_UINT32:
      return ((const guint32 *) data)[i];
    case ND_FLOAT16:
      return nd_half_to_float (((const guint16 *) data)[i]);
    case ND_FLOAT64:
      return ((const gdouble *) data)[i];
    case ND_FLOAT32:
    case ND_SAMPLE_SAME:
      break;
  }
  return ((const gfloat *) data)[i];
}

/* The value of channel @channel of sample @i. */
static inline gfloat
shown (gconstpointer data, NdSampleType type, gsize components, gsize i,
    guint channel)
{
  if (components == 2)
    return hypotf (number (data, type, 2 * i), number (data, type, 2 * i + 1));
  return number (data, type, components * i + channel);
}

#define READ(name)                                                     \
  do {                                                                 \
    for (gsize i = first; i < first + n; i++)                          \
      for (guint c = 0; c < self->job.channels; c++)                   \
        *row++ = shown (data, name, self->job.shape.components, i, c); \
  } while (0)

/* One loop per type, which the compiler can vectorize. */
static void
picture_read_row (const NdPicture *self, gconstpointer data, gsize first,
    gsize n)
{
  gfloat *row = self->row;

  switch (self->job.type) {
    case ND_UINT8:
      READ (ND_UINT8);
      break;
    case ND_INT16:
      READ (ND_INT16);
      break;
    case ND_UINT16:
      READ (ND_UINT16);
      break;
    case ND_INT8:
      READ (ND_INT8);
      break;
    case ND_INT32:
      READ (ND_INT32);
      break;
    case ND_UINT32:
      READ (ND_UINT32);
      break;
    case ND_FLOAT16:
      READ (ND_FLOAT16);
      break;
    case ND_FLOAT64:
      READ (ND_FLOAT64);
      break;
    case ND_FLOAT32:
    case ND_SAMPLE_SAME:
      READ (ND_FLOAT32);
      break;
  }
}

/* Draws the maximum along @across, of indices @from to @to - 1, with its upper
 * left corner at pixel (@left, @top). */
static void
picture_project (NdPicture *self, gconstpointer data, NdAxis across, gsize from,
    gsize to, gsize left, gsize top)
{
  const gsize *size = self->job.shape.size;
  gsize begin[3] = { 0, 0, 0 }, end[3] = { size[0], size[1], size[2] };
  gsize step[3] = { 0, 0, 0 };
  guint channels = self->job.channels;
  gfloat *values = self->values + (top * self->job.width + left) * channels;

  begin[across] = from;
  end[across] = to;
  step[nd_picture_width_axis (across)] = channels;
  step[nd_picture_height_axis (across)] = self->job.width * channels;
  for (gsize z = begin[2]; z < end[2]; z++) {
    for (gsize y = begin[1]; y < end[1]; y++) {
      gfloat *out = values + z * step[2] + y * step[1];
      const gfloat *row = self->row;

      picture_read_row (self, data, (z * size[1] + y) * size[0] + begin[0],
          end[0] - begin[0]);
      for (gsize x = begin[0]; x < end[0]; x++, out += step[0], row += channels)
        for (guint c = 0; c < channels; c++)
          out[c] = row[c] > out[c] || isnan (out[c]) ? row[c] : out[c];
    }
  }
}

static void
picture_take (NdPicture *self, gconstpointer data, const gsize at[3])
{
  const NdAxis axis = self->job.axis;
  const gsize *size = self->job.shape.size;
  gsize pixels = self->job.width * self->job.height * self->job.channels;

  for (gsize i = 0; i < pixels; i++)
    self->values[i] = NAN;
  switch (self->job.mode) {
    case ND_PICTURE_SLICE:
      picture_project (self, data, axis, at[axis], at[axis] + 1, 0, 0);
      break;
    case ND_PICTURE_ORTHOGONAL:
      picture_project (self, data, ND_AXIS_Z, at[2], at[2] + 1, 0, 0);
      picture_project (self, data, ND_AXIS_X, at[0], at[0] + 1, size[0], 0);
      picture_project (self, data, ND_AXIS_Y, at[1], at[1] + 1, 0, size[1]);
      break;
    case ND_PICTURE_PROJECTION:
      picture_project (self, data, axis, 0, size[axis], 0, 0);
      break;
  }
}

gboolean
nd_picture_take (NdPicture *self, gconstpointer data, gdouble position,
    GError **error)
{
  const gsize *size = self->job.shape.size;
  gsize at[3];

  for (guint a = 0; a < 3; a++)
    at[a] = MIN ((gsize) (position * size[a]), size[a] - 1);
  if (self->funcs)
    return self->funcs->take (self->renderer, data, at, error);
  picture_take (self, data, at);
  return TRUE;
}

static int
compare_floats (const void *a, const void *b)
{
  gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return (x > y) - (x < y);
}

/* The shown values of every @step-th sample; see NdRendererFuncs. */
static gboolean
picture_take_samples (NdPicture *self, gconstpointer data, gsize step,
    gfloat *samples, gsize n, GError **error)
{
  const NdPictureJob *job = &self->job;

  if (self->funcs)
    return self->funcs->sample (self->renderer, data, step, samples, n, error);
  for (gsize k = 0; k < n; k++)
    samples[k] = shown (data, job->type, job->shape.components, k * step,
        k % job->channels);
  return TRUE;
}

static gboolean
find_extremes (NdPicture *self, gconstpointer data, gdouble *low, gdouble *high,
    GError **error)
{
  const NdPictureJob *job = &self->job;
  const gsize *size = job->shape.size;

  if (self->funcs)
    return self->funcs->extremes (self->renderer, data, low, high, error);
  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++) {
    for (guint c = 0; c < job->channels; c++) {
      gfloat v = shown (data, job->type, job->shape.components, i, c);

      if (isfinite (v)) {
        *low = MIN (*low, v);
        *high = MAX (*high, v);
      }
    }
  }
  return TRUE;
}

void
nd_picture_set_percentiles (NdPicture *self, gdouble low, gdouble high)
{
  self->percentiles[0] = MIN (low, high);
  self->percentiles[1] = MAX (low, high);
}

/* Finite values of samples of @data in the order of size. */
static gboolean
sort_samples (NdPicture *self, gconstpointer data, gfloat **sorted, gsize *n,
    GError **error)
{
  const gsize *size = self->job.shape.size;
  gsize all = size[0] * size[1] * size[2];
  /* Odd, so that samples of all columns are taken if sizes are powers of
   * two. */
  gsize step = (all / RANGE_SAMPLES) | 1, samples = (all - 1) / step + 1;
  g_autofree gfloat *found = g_new (gfloat, samples);

  if (!picture_take_samples (self, data, step, found, samples, error))
    return FALSE;
  *n = 0;
  for (gsize i = 0; i < samples; i++) {
    if (isfinite (found[i]))
      found[(*n)++] = found[i];
  }
  qsort (found, *n, sizeof (gfloat), compare_floats);
  *sorted = g_steal_pointer (&found);
  return TRUE;
}

gboolean
nd_picture_range (NdPicture *self, gconstpointer data, gdouble *low,
    gdouble *high, GError **error)
{
  g_autofree gfloat *found = NULL;
  gsize n;

  *low = 1;
  *high = 0;
  if (!sort_samples (self, data, &found, &n, error))
    return FALSE;
  if (n == 0)
    return TRUE;
  *low = found[(gsize) (self->percentiles[0] / 100 * (n - 1))];
  *high = found[(gsize) (self->percentiles[1] / 100 * (n - 1))];
  /* In a nearly constant volume, only the outliers are worth showing. */
  return *low < *high || find_extremes (self, data, low, high, error);
}

gboolean
nd_picture_threshold (NdPicture *self, gconstpointer data, gdouble *level,
    GError **error)
{
  g_autofree gfloat *found = NULL;
  gdouble total = 0, dark = 0, best = -1;
  gsize n;

  *level = 0;
  if (!sort_samples (self, data, &found, &n, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    total += found[i];
  for (gsize i = 1; i < n; i++) {
    gdouble means, between;

    dark += found[i - 1];
    means = dark / i - (total - dark) / (n - i);
    between = means * means * i * (n - i);
    if (found[i - 1] < found[i] && between > best) {
      best = between;
      *level = (found[i - 1] + (gdouble) found[i]) / 2;
    }
  }
  return TRUE;
}

gboolean
nd_picture_write (NdPicture *self, gdouble low, gdouble window, guint8 *pixels,
    gssize stride, GError **error)
{
  gsize n = self->job.width * self->job.channels;
  const gfloat *values = self->values;

  if (self->funcs)
    return self->funcs->write (self->renderer, low, window, pixels, stride,
        error);
  for (gsize y = 0; y < self->job.height; y++, values += n, pixels += stride) {
    for (gsize i = 0; i < n; i++) {
      gdouble grey = rint ((values[i] - low) / window * 255);

      /* NaN is not above 0. */
      pixels[i] = grey > 0 ? grey < 255 ? (guint8) grey : 255 : 0;
    }
  }
  return TRUE;
}
