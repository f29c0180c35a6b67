/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/specklenoise.h"

#include "core/threads.h"
#include "cpu/denoisekernels.h"

#include <math.h>
#include <string.h>

#define COEFFICIENTS ND_SHRINK_COEFFICIENTS

typedef struct
{
  const gfloat *volume;
  const gsize *size;
  const NdDenoiseBorders *borders;
  gfloat least;
  gsize blocks[3], step, n_blocks;
  gfloat *magnitudes; /* those of all blocks for each coefficient */
  gdouble noise[COEFFICIENTS];
} Job;

static guint
count_coefficients (const gsize size[3])
{
  return size[2] > 1 ? COEFFICIENTS : COEFFICIENTS / 4;
}

gsize
nd_speckle_noise_bytes (const gsize size[3])
{
  gsize blocks[3], step;

  nd_shrink_grid (size, blocks, &step);
  return blocks[0] * blocks[1] * blocks[2] * count_coefficients (size)
      * sizeof (gfloat);
}

/* Reads the block at sample (x, y, z). FALSE unless all samples are finite and
 * above the least one. */
static gboolean
read_block (const Job *job, gsize x, gsize y, gsize z, guint n, gfloat *block)
{
  const NdBorder border = job->borders->border;
  const gsize *size = job->size;

  for (guint i = 0; i < n; i++) {
    const gint64 from_x = nd_border_index (border, x + i % 4, size[0]);
    const gint64 from_y = nd_border_index (border, y + i / 4 % 4, size[1]);
    const gint64 from_z = nd_border_index (border, z + i / 16, size[2]);

    block[i] = MIN (from_x, MIN (from_y, from_z)) < 0
        ? job->borders->border_value
        : job->volume[(from_z * size[1] + from_y) * size[0] + from_x];
    if (!(block[i] > job->least && isfinite (block[i])))
      return FALSE;
  }
  return TRUE;
}

/* The orthonormal DCT of 4 samples that are @step apart. */
static void
transform_line (gfloat *line, guint step)
{
  const gfloat a = line[0], b = line[step], c = line[2 * step];
  const gfloat d = line[3 * step];
  const gfloat large = ND_DCT_ODD, small = 0.27059805007309851f;

  line[0] = .5f * ((a + d) + (b + c));
  line[step] = large * (a - d) + small * (b - c);
  line[2 * step] = .5f * ((a + d) - (b + c));
  line[3 * step] = small * (a - d) - large * (b - c);
}

static void
measure_plane (gsize z, guint worker, gpointer data)
{
  Job *job = data;
  const guint n = count_coefficients (job->size);
  gsize at = z * job->blocks[0] * job->blocks[1];

  for (gsize y = 0; y < job->blocks[1]; y++) {
    for (gsize x = 0; x < job->blocks[0]; x++, at++) {
      gfloat block[COEFFICIENTS];

      if (!read_block (job, x * job->step, y * job->step, z * job->step, n,
              block)) {
        job->magnitudes[at] = NAN;
        continue;
      }
      for (guint step = 1; step < n; step *= 4) {
        for (guint i = 0; i < n; i++) {
          if (i / step % 4 == 0)
            transform_line (block + i, step);
        }
      }
      for (guint k = 0; k < n; k++)
        job->magnitudes[k * job->n_blocks + at] = fabsf (block[k]);
    }
  }
}

/* The value of @rank of @n; the values are put into another order. */
static gfloat
select_rank (gfloat *values, gsize n, gsize rank)
{
  gsize from = 0, to = n - 1;

  while (from < to) {
    const gfloat pivot = values[from + (to - from) / 2];
    gsize i = from, k = to;

    for (;;) {
      while (values[i] < pivot)
        i++;
      while (values[k] > pivot)
        k--;
      if (i >= k)
        break;
      gfloat other = values[i];

      values[i++] = values[k];
      values[k--] = other;
    }
    if (rank <= k)
      to = k;
    else
      from = k + 1;
  }
  return values[rank];
}

static void
measure_coefficient (gsize k, guint worker, gpointer data)
{
  Job *job = data;
  gfloat *values = job->magnitudes + k * job->n_blocks;
  gsize n = 0;

  for (gsize i = 0; i < job->n_blocks; i++) {
    if (isfinite (values[i]))
      values[n++] = values[i];
  }
  job->noise[k] = n > 0 ? select_rank (values, n, ND_SHRINK_QUANTILE * n)
          / ND_SHRINK_NORMAL_QUANTILE
                        : 0;
}

gboolean
nd_speckle_noise (const gfloat *volume, const gsize size[3],
    const NdDenoiseBorders *borders, gfloat *memory,
    gfloat noise[ND_SHRINK_COEFFICIENTS])
{
  const guint n = count_coefficients (size);
  Job job = {
    .volume = volume,
    .size = size,
    .borders = borders,
    .least = INFINITY,
    .magnitudes = memory,
  };

  nd_shrink_grid (size, job.blocks, &job.step);
  job.n_blocks = job.blocks[0] * job.blocks[1] * job.blocks[2];
  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++)
    job.least =
        volume[i] < job.least && isfinite (volume[i]) ? volume[i] : job.least;
  nd_parallel_for (job.blocks[2], measure_plane, &job);
  /* Blocks outside of the sector have a magnitude of the mean only. */
  for (gsize i = 0; i < job.n_blocks; i++) {
    for (guint k = 1; k < n && isnan (memory[i]); k++)
      memory[k * job.n_blocks + i] = NAN;
  }
  nd_parallel_for (n, measure_coefficient, &job);
  if (!nd_shrink_complete (job.noise))
    return FALSE;
  for (guint k = 0; k < COEFFICIENTS; k++)
    noise[k] = job.noise[k];
  return TRUE;
}
