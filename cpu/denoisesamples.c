/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/denoisesamples.h"

#include "analysis/denoise.h"
#include "analysis/noise.h"
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
denoise_samples_look_up (const NdClipping *clipping, gfloat above_low)
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
      row[i] = low + denoise_samples_look_up (clipping, row[i] - low);
    else if (row[i] > high - clipping->span)
      row[i] = high - denoise_samples_look_up (clipping, high - row[i]);
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
denoise_samples_read_row (NdSampleType type, const guint8 *from, gsize step,
    gfloat *out, gsize n)
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
denoise_samples_write_row (NdSampleType type, const gfloat *in, guint8 *to,
    gsize step, gsize n)
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
denoise_samples_row_start (const SamplesJob *job, gsize y, gsize z)
{
  return job->volume->data + job->c * nd_sample_size (job->type)
      + y * job->volume->row + z * job->volume->slice;
}

static void
denoise_samples_read_plane (gsize z, guint worker, gpointer data)
{
  const SamplesJob *job = data;
  const gsize *size = job->shape->size;

  for (gsize y = 0; y < size[1]; y++)
    denoise_samples_read_row (job->type, denoise_samples_row_start (job, y, z),
        job->volume->sample, job->floats + (z * size[1] + y) * size[0],
        size[0]);
}

/* Samples of a row that are computed together: a stranger decides how long a
 * row is. */
#define PART 1024

static void
write_unclipped (const SamplesJob *job, const gfloat *in, guint8 *to, gsize n)
{
  gfloat part[PART];

  for (gsize x = 0; x < n; x += PART) {
    const gsize m = MIN (PART, n - x);

    memcpy (part, in + x, m * sizeof (gfloat));
    unclip (job->clipping, part, m);
    denoise_samples_write_row (job->type, part, to + x * job->volume->sample,
        job->volume->sample, m);
  }
}

static void
denoise_samples_write_plane (gsize z, guint worker, gpointer data)
{
  const SamplesJob *job = data;
  const gsize *size = job->shape->size;

  for (gsize y = 0; y < size[1]; y++) {
    const gfloat *in = job->floats + (z * size[1] + y) * size[0];
    guint8 *to = denoise_samples_row_start (job, y, z);

    if (job->clipping && job->clipping->is_active)
      write_unclipped (job, in, to, size[0]);
    else
      denoise_samples_write_row (job->type, in, to, job->volume->sample,
          size[0]);
  }
}

void
nd_samples_read (const NdSamples *volume, const NdShape *shape,
    NdSampleType type, gsize c, gfloat *out)
{
  SamplesJob job = { volume, shape, type, c, out, NULL };

  nd_parallel_for (shape->size[2], denoise_samples_read_plane, &job);
}

void
nd_samples_write (const NdSamples *volume, const NdShape *shape,
    NdSampleType type, gsize c, const gfloat *in, const NdClipping *clipping)
{
  SamplesJob job = { volume, shape, type, c, (gfloat *) in, clipping };

  nd_parallel_for (shape->size[2], denoise_samples_write_plane, &job);
}

/* Computes the differences over z and y of one row, and the sums. An axis of
 * one sample has no difference. */
static void
fold_rows (const gfloat *const rows[4], gboolean has_y, gboolean has_z,
    gfloat *difference, gfloat *sum, gsize n)
{
  const gfloat *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const gfloat y = has_y ? 1 : 0, z = has_z ? 1 : 0;

  for (gsize i = 0; i < n; i++) {
    difference[i] = (a[i] - y * b[i]) - z * (c[i] - y * d[i]);
    sum[i] = (a[i] + b[i]) + (c[i] + d[i]);
  }
}

static void
count_row (NdNoiseHistogram *parts, const gfloat *difference, const gfloat *sum,
    gboolean has_x, gsize n, gfloat low, gfloat scale)
{
  for (gsize i = 0; i < n; i++) {
    const gfloat d = has_x ? difference[i] - difference[i + 1] : difference[i];
    const gfloat mean = (sum[i] + sum[has_x ? i + 1 : i]) / 8;
    guint32 bits, part = 0;

    memcpy (&bits, &d, sizeof (bits));
    bits &= 0x7fffffff;
    /* NaN or infinite */
    if (bits >= 0x7f800000)
      continue;
    if (scale > 0)
      part = MIN ((guint32) ((mean - low) * scale), ND_NOISE_PARTS - 1);
    parts[part].bins[bits >> ND_NOISE_SHIFT]++;
    parts[part].n++;
    parts[part].sum += mean;
  }
}

static void
collect (const gfloat *volume, const gsize size[3], gfloat low, gfloat high,
    NdNoiseHistogram *parts)
{
  const gsize plane = size[0] * size[1];
  const gboolean has_x = size[0] > 1, has_y = size[1] > 1, has_z = size[2] > 1;
  const gsize n_x = size[0] - has_x, n_y = size[1] - has_y;
  const gsize n_z = size[2] - has_z;
  const gsize every = nd_noise_every (n_x * n_y * n_z);
  const gfloat scale = isfinite (low) ? ND_NOISE_PARTS / (high - low) : 0;

  for (gsize row = 0; row < n_y * n_z; row += every) {
    const gsize y = row % n_y, z = row / n_y;
    const gfloat *a = volume + z * plane + y * size[0];
    const gfloat *b = has_y ? a + size[0] : a;
    const gsize step = has_z ? plane : 0;

    for (gsize x = 0; x < n_x; x += PART) {
      const gfloat *const rows[4] = { a + x, b + x, a + step + x,
        b + step + x };
      const gsize n = MIN (PART, n_x - x);
      gfloat difference[PART + 1], sum[PART + 1];

      fold_rows (rows, has_y, has_z, difference, sum, n + has_x);
      count_row (parts, difference, sum, has_x, n, low, scale);
    }
  }
}

gdouble
nd_cpu_noise_sigma (const gfloat *volume, const gsize size[3], gfloat low,
    gfloat high)
{
  const guint n = isfinite (low) ? ND_NOISE_PARTS : 1;
  g_autofree guint32 *bins = g_try_new0 (guint32, n * ND_NOISE_BINS);
  NdNoiseHistogram parts[ND_NOISE_PARTS] = { { 0 } };

  if (!bins)
    return -1;
  for (guint i = 0; i < n; i++) {
    parts[i].bins = bins + i * ND_NOISE_BINS;
    parts[i].first = 1;
    parts[i].n_bins = ND_NOISE_BINS;
  }
  if (size[0] > 1 || size[1] > 1 || size[2] > 1)
    collect (volume, size, low, high, parts);
  return nd_noise_sigma (parts, n, size, low, high);
}

typedef struct
{
  const gfloat *in, *minuend;
  gfloat *out;
  const gsize *size; /* fine */
  gsize coarse[3];
} FuseJob;

gboolean
nd_cpu_coarse_size (const gsize size[3], gsize coarse[3])
{
  for (guint a = 0; a < 3; a++)
    coarse[a] = (size[a] + 1) / 2;
  return nd_denoise_has_coarse_scale (size);
}

/* out = means of in, or minuend - means. */
static void
coarsen_plane (gsize z, guint worker, gpointer data)
{
  const FuseJob *job = data;
  const gsize *size = job->size, *coarse = job->coarse;
  const gsize pairs = size[0] / 2;

  for (gsize y = 0; y < coarse[1]; y++) {
    const gsize at = (z * coarse[1] + y) * coarse[0];
    const gfloat *rows[4];

    for (guint i = 0; i < 4; i++) {
      const gsize fine_y = MIN (2 * y + (i & 1), size[1] - 1);
      const gsize fine_z = MIN (2 * z + (i >> 1), size[2] - 1);

      rows[i] = job->in + (fine_z * size[1] + fine_y) * size[0];
    }
    for (gsize x = 0; x < coarse[0]; x++) {
      const gsize a = 2 * x, b = x < pairs ? a + 1 : a;
      const gfloat mean = .125f
          * ((rows[0][a] + rows[0][b]) + (rows[1][a] + rows[1][b])
              + (rows[2][a] + rows[2][b]) + (rows[3][a] + rows[3][b]));

      job->out[at + x] = job->minuend ? job->minuend[at + x] - mean : mean;
    }
  }
}

/* The two coarse indices that @fine lies between, the nearer one first. */
static void
denoise_samples_neighbours (gsize fine, gsize n, gsize *near, gsize *far)
{
  *near = fine / 2;
  if (fine % 2 == 1)
    *far = MIN (*near + 1, n - 1);
  else
    *far = *near > 0 ? *near - 1 : 0;
}

/* out += interpolation of in. */
static void
denoise_samples_refine_plane (gsize z, guint worker, gpointer data)
{
  const FuseJob *job = data;
  const gsize *size = job->size, *coarse = job->coarse;
  const gsize n = coarse[0];
  gsize z0, z1;

  denoise_samples_neighbours (z, coarse[2], &z0, &z1);
  for (gsize y = 0; y < size[1]; y++) {
    gfloat *out = job->out + (z * size[1] + y) * size[0];
    const gfloat *a, *b, *c, *d;
    gsize y0, y1;

    denoise_samples_neighbours (y, coarse[1], &y0, &y1);
    a = job->in + (z0 * coarse[1] + y0) * n;
    b = job->in + (z0 * coarse[1] + y1) * n;
    c = job->in + (z1 * coarse[1] + y0) * n;
    d = job->in + (z1 * coarse[1] + y1) * n;
    for (gsize first = 0; first < n; first += PART) {
      const gsize m = MIN (PART, n - first);
      gfloat padded[PART + 2], *row = padded + 1;

      for (gsize i = 0; i < m + 2; i++) {
        const gsize x = CLAMP ((gssize) (first + i) - 1, 0, (gssize) n - 1);

        padded[i] = .5625f * a[x] + .1875f * (b[x] + c[x]) + .0625f * d[x];
      }
      for (gsize x = 0; x < m; x++) {
        const gsize to = 2 * (first + x);

        out[to] += .75f * row[x] + .25f * row[(gssize) x - 1];
        if (to + 1 < size[0])
          out[to + 1] += .75f * row[x] + .25f * row[x + 1];
      }
    }
  }
}

void
nd_cpu_coarsen (const gfloat *fine, const gsize size[3], gfloat *coarse)
{
  FuseJob job = { .in = fine, .out = coarse, .size = size };

  nd_cpu_coarse_size (size, job.coarse);
  nd_parallel_for (job.coarse[2], coarsen_plane, &job);
}

void
nd_cpu_fuse (gfloat *fine, const gsize size[3], const gfloat *coarse,
    gfloat *difference)
{
  FuseJob job = {
    .in = fine,
    .minuend = coarse,
    .out = difference,
    .size = size,
  };

  nd_cpu_coarse_size (size, job.coarse);
  nd_parallel_for (job.coarse[2], coarsen_plane, &job);
  job.in = difference;
  job.out = fine;
  nd_parallel_for (size[2], denoise_samples_refine_plane, &job);
}
