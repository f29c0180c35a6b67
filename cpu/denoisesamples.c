/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/denoisesamples.h"

#include "core/threads.h"

#include <math.h>
#include <string.h>

/* Clipping */

void
nd_samples_count_clipped (NdClipping *clipping, const gfloat *in,
    const gfloat *out, const gsize size[3], gdouble sigma, gfloat low,
    gfloat high)
{
  const gsize rows = size[1] * size[2];
  gdouble seen = 0, expected = 0;

  if (!isfinite (low))
    return;
  for (gsize row = 0; row < rows; row += ND_CLIPPING_EVERY) {
    const gfloat *x = in + row * size[0], *m = out + row * size[0];

    for (gsize i = 0; i < size[0]; i++) {
      /* If the mean before clipping was at the end of the range, half of the
       * samples are clipped and the mean after clipping is 0.4 sigma away. If
       * it was one sigma away, a sixth is clipped and the mean is 1.1 sigma
       * away. */
      const gdouble low_side = (m[i] - low) / sigma;
      const gdouble high_side = (high - m[i]) / sigma;

      if (low_side < 1) {
        seen += x[i] <= low;
        expected += .68 - .47 * MAX (low_side, .4);
      } else if (high_side < 1) {
        seen += x[i] >= high;
        expected += .68 - .47 * MAX (high_side, .4);
      }
    }
  }
  nd_clipping_add (clipping, seen, expected, sigma, low, high);
}

static gfloat
look_up (const NdClipping *clipping, gfloat above_low)
{
  const gfloat at = above_low * (ND_CLIPPING_TABLE / clipping->span);
  const guint i = MIN ((guint) MAX (at, 0), ND_CLIPPING_TABLE - 1);

  return clipping->table[i]
      + (at - i) * (clipping->table[i + 1] - clipping->table[i]);
}

static void
unclip (const NdClipping *clipping, gfloat *row, gsize n)
{
  const gfloat low = clipping->low, high = clipping->high;

  for (gsize i = 0; i < n; i++) {
    if (row[i] < low + clipping->span)
      row[i] = low + look_up (clipping, row[i] - low);
    else if (row[i] > high - clipping->span)
      row[i] = high - look_up (clipping, high - row[i]);
  }
}

/* Types */

typedef struct
{
  const NdSamples *volume;
  const NdShape *shape;
  NdSampleType type;
  gsize c;
  gfloat *floats;
  const NdClipping *clipping;
} SamplesJob;

#define READ(type)              \
  for (gsize i = 0; i < n; i++) \
  out[i] = *(const type *) (from + i * step)

static void
read_row (NdSampleType type, const guint8 *from, gsize step, gfloat *out,
    gsize n)
{
  switch (type) {
    case ND_UINT8:
      READ (guint8);
      break;
    case ND_INT16:
      READ (gint16);
      break;
    case ND_UINT16:
      READ (guint16);
      break;
    case ND_FLOAT32:
      READ (gfloat);
      break;
    ND_CASE_NOT_COMPUTED:
      g_return_if_reached ();
  }
}

/* Rounds half to even. For values up to 2^22. */
static inline gfloat
round_float (gfloat value)
{
  const gfloat magic = 12582912;

  return (value + magic) - magic;
}

#define WRITE(type, low, high)                                       \
  for (gsize i = 0; i < n; i++) {                                    \
    gfloat value = in[i] == in[i] ? in[i] : 0;                       \
                                                                     \
    value = value < (low) ? (low) : value > (high) ? (high) : value; \
    *(type *) (to + i * step) = (gint32) round_float (value);        \
  }

static void
write_row (NdSampleType type, const gfloat *in, guint8 *to, gsize step, gsize n)
{
  switch (type) {
    case ND_UINT8:
      WRITE (guint8, 0, G_MAXUINT8);
      break;
    case ND_INT16:
      WRITE (gint16, G_MININT16, G_MAXINT16);
      break;
    case ND_UINT16:
      WRITE (guint16, 0, G_MAXUINT16);
      break;
    case ND_FLOAT32:
      for (gsize i = 0; i < n; i++)
        *(gfloat *) (to + i * step) = in[i];
      break;
    ND_CASE_NOT_COMPUTED:
      g_return_if_reached ();
  }
}

static guint8 *
row_start (const SamplesJob *job, gsize y, gsize z)
{
  return job->volume->data + job->c * nd_sample_size (job->type)
      + y * job->volume->row + z * job->volume->slice;
}

static void
read_plane (gsize z, guint worker, gpointer data)
{
  const SamplesJob *job = data;
  const gsize *size = job->shape->size;

  for (gsize y = 0; y < size[1]; y++)
    read_row (job->type, row_start (job, y, z), job->volume->sample,
        job->floats + (z * size[1] + y) * size[0], size[0]);
}

static void
write_plane (gsize z, guint worker, gpointer data)
{
  const SamplesJob *job = data;
  const gsize *size = job->shape->size;
  g_autofree gfloat *row = g_new (gfloat, size[0]);

  for (gsize y = 0; y < size[1]; y++) {
    const gfloat *in = job->floats + (z * size[1] + y) * size[0];

    if (job->clipping && job->clipping->is_active) {
      memcpy (row, in, size[0] * sizeof (gfloat));
      unclip (job->clipping, row, size[0]);
      in = row;
    }
    write_row (job->type, in, row_start (job, y, z), job->volume->sample,
        size[0]);
  }
}

void
nd_samples_read (const NdSamples *volume, const NdShape *shape,
    NdSampleType type, gsize c, gfloat *out)
{
  SamplesJob job = { volume, shape, type, c, out, NULL };

  nd_parallel_for (shape->size[2], read_plane, &job);
}

void
nd_samples_write (const NdSamples *volume, const NdShape *shape,
    NdSampleType type, gsize c, const gfloat *in, const NdClipping *clipping)
{
  SamplesJob job = { volume, shape, type, c, (gfloat *) in, clipping };

  nd_parallel_for (shape->size[2], write_plane, &job);
}
