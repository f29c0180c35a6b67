/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/denoisefuse.h"

#include "analysis/denoise.h"
#include "core/threads.h"

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
neighbours (gsize fine, gsize n, gsize *near, gsize *far)
{
  *near = fine / 2;
  if (fine % 2 == 1)
    *far = MIN (*near + 1, n - 1);
  else
    *far = *near > 0 ? *near - 1 : 0;
}

/* out += interpolation of in. */
static void
refine_plane (gsize z, guint worker, gpointer data)
{
  const FuseJob *job = data;
  const gsize *size = job->size, *coarse = job->coarse;
  const gsize n = coarse[0];
  g_autofree gfloat *padded = g_new (gfloat, n + 2);
  gfloat *row = padded + 1;
  gsize z0, z1;

  neighbours (z, coarse[2], &z0, &z1);
  for (gsize y = 0; y < size[1]; y++) {
    gfloat *out = job->out + (z * size[1] + y) * size[0];
    const gfloat *a, *b, *c, *d;
    gsize y0, y1;

    neighbours (y, coarse[1], &y0, &y1);
    a = job->in + (z0 * coarse[1] + y0) * n;
    b = job->in + (z0 * coarse[1] + y1) * n;
    c = job->in + (z1 * coarse[1] + y0) * n;
    d = job->in + (z1 * coarse[1] + y1) * n;
    for (gsize x = 0; x < n; x++)
      row[x] = .5625f * a[x] + .1875f * (b[x] + c[x]) + .0625f * d[x];
    row[-1] = row[0];
    row[n] = row[n - 1];
    for (gsize x = 0; x < size[0] / 2; x++) {
      out[2 * x] += .75f * row[x] + .25f * row[(gssize) x - 1];
      out[2 * x + 1] += .75f * row[x] + .25f * row[x + 1];
    }
    if (size[0] % 2 == 1)
      out[size[0] - 1] += .75f * row[n - 1] + .25f * row[(gssize) n - 2];
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
  nd_parallel_for (size[2], refine_plane, &job);
}
