/* The sliding 4D DCT by its definition: block by block, in double precision.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/denoise.h"

#include "analysis/flow.h"

#include <math.h>
#include <string.h>

#define MAX_BLOCK (4 * 4 * 4 * 8)

typedef struct
{
  const NdDenoiseSchedule *schedule;
  const NdReferenceBorders *borders;
  const gsize *size;
  gsize samples;
  gint64 n_volumes;
  const gdouble *sigma;
  gdouble gain;            /* of sigma */
  const gdouble *spectrum; /* factors of sigma, or NULL */

  guint stage;
  const gdouble *in, *pilots;
  gdouble *sums, *weights;

  guint n[4]; /* of a block: x, y, z, t */
  guint length;
  gdouble basis[4][8][8]; /* [axis][coefficient][sample] */
  gdouble window[MAX_BLOCK];
} Reference;

static void
init_block (Reference *r)
{
  static const gdouble kaiser[4] = { 0.43867628098290406, 0.92431387937045783,
    0.92431387937045783, 0.43867628098290406 };

  r->n[0] = r->n[1] = 4;
  r->n[2] = r->size[2] == 1 ? 1 : 4;
  r->n[3] = r->schedule->n_time;
  r->length = r->n[0] * r->n[1] * r->n[2] * r->n[3];
  for (guint a = 0; a < 4; a++) {
    const guint n = r->n[a];

    for (guint k = 0; k < n; k++) {
      for (guint i = 0; i < n; i++)
        r->basis[a][k][i] =
            sqrt ((k ? 2.0 : 1.0) / n) * cos (G_PI * k * (2 * i + 1) / (2 * n));
    }
  }
  for (guint i = 0; i < r->length; i++)
    r->window[i] = kaiser[i % 4] * kaiser[i / 4 % 4]
        * (r->n[2] == 1 ? 1 : kaiser[i / 16 % 4]);
}

/* Multiplies each axis by its basis or, if @inverse, by the transpose. */
static void
denoise_reference_transform (const Reference *r, gdouble *block,
    gboolean inverse)
{
  guint step = 1;

  for (guint a = 0; a < 4; step *= r->n[a++]) {
    const guint n = r->n[a];
    gdouble line[8];

    for (guint i = 0; i < r->length; i++) {
      if (i / step % n != 0)
        continue;
      for (guint k = 0; k < n; k++) {
        line[k] = 0;
        for (guint j = 0; j < n; j++)
          line[k] += (inverse ? r->basis[a][j][k] : r->basis[a][k][j])
              * block[i + j * step];
      }
      for (guint k = 0; k < n; k++)
        block[i + k * step] = line[k];
    }
  }
}

/* The sample of @volumes at @position, inside or beyond the border. */
static gdouble
denoise_reference_get (const Reference *r, const gdouble *volumes,
    const gint64 position[4], gint64 known)
{
  const NdReferenceBorders *b = r->borders;
  gsize at = 0;

  for (gint a = 3; a >= 0; a--) {
    const gint64 n = a == 3 ? known : (gint64) r->size[a];
    const gint64 i = a == 3 ? b->time (position[a], n, b->time_data)
                            : b->space (position[a], n, b->space_data);

    if (i < 0)
      return b->border_value;
    at = a == 3 ? (gsize) i : at * r->size[a] + i;
  }
  return volumes[at];
}

static void
denoise_reference_read_block (const Reference *r, const gdouble *volumes,
    const gint64 origin[4], gint64 known, gdouble *block)
{
  for (guint i = 0; i < r->length; i++) {
    const gint64 position[4] = { origin[0] + i % 4, origin[1] + i / 4 % 4,
      origin[2] + i / 16 % r->n[2], origin[3] + i / 16 / r->n[2] };

    block[i] = denoise_reference_get (r, volumes, position, known);
  }
  denoise_reference_transform (r, block, FALSE);
}

/* Shrinks the coefficients of the block at @origin, and adds the block to
 * volumes @from to @to. */
static void
denoise_reference_add_block (Reference *r, const gint64 origin[4], gint64 known,
    gdouble sigma, gint64 from, gint64 to)
{
  gdouble block[MAX_BLOCK], pilot[MAX_BLOCK], power = 0;

  denoise_reference_read_block (r, r->in, origin, known, block);
  if (r->stage == 2)
    denoise_reference_read_block (r, r->pilots, origin, known, pilot);
  for (guint i = 0; i < r->length; i++) {
    const gdouble factor = r->spectrum ? r->spectrum[i % (16 * r->n[2])] : 1;
    const gdouble noise = factor * sigma;
    gdouble g;

    if (i == 0)
      g = 1;
    else if (r->stage == 1)
      g = fabs (block[i]) <= ND_DENOISE_THRESHOLD * noise ? 0 : 1;
    else
      g = pilot[i] * pilot[i]
          / (pilot[i] * pilot[i] + ND_DENOISE_WIENER * noise * noise);
    block[i] *= g;
    power += g * g * factor * factor;
  }
  denoise_reference_transform (r, block, TRUE);
  for (guint i = 0; i < r->length; i++) {
    const gint64 x = origin[0] + i % 4, y = origin[1] + i / 4 % 4;
    const gint64 z = origin[2] + i / 16 % r->n[2];
    const gint64 t = origin[3] + i / 16 / r->n[2];
    gsize at;

    if (x < 0 || x >= (gint64) r->size[0] || y < 0 || y >= (gint64) r->size[1]
        || z < 0 || z >= (gint64) r->size[2] || t < MAX (from, 0) || t > to)
      continue;
    at = t * r->samples + (z * r->size[1] + y) * r->size[0] + x;
    r->sums[at] += block[i] * r->window[i] / power;
    r->weights[at] += r->window[i] / power;
  }
}

/* Adds all blocks that begin with volume @first. */
static void
add_blocks (Reference *r, gint64 first, gint64 known, gdouble sigma,
    gint64 from, gint64 to)
{
  const gint64 margin[3] = { 3, 3, r->n[2] - 1 };
  gint64 origin[4] = { 0, 0, 0, first };

  for (origin[2] = -margin[2]; origin[2] < (gint64) r->size[2]; origin[2]++) {
    for (origin[1] = -margin[1]; origin[1] < (gint64) r->size[1]; origin[1]++) {
      for (origin[0] = -margin[0]; origin[0] < (gint64) r->size[0]; origin[0]++)
        denoise_reference_add_block (r, origin, known, sigma, from, to);
    }
  }
}

/* The level of the noise at @step. */
static gdouble
step_sigma (const Reference *r, gint64 step)
{
  const gint64 arrived = MAX (step, (gint64) r->schedule->latency);

  return r->gain * nd_denoise_time_gain (r->schedule, r->n_volumes, TRUE)
      * r->sigma[MIN (arrived, r->n_volumes - 1)];
}

static void
run_step (Reference *r, gint64 step)
{
  const NdDenoiseSchedule *s = r->schedule;
  const gint64 delay = r->stage == 1 ? 0 : s->pilot_latency;
  const gint64 latency = s->latency;
  const gint64 known = MIN (MAX (step, latency) + 1 - delay, r->n_volumes);
  const gint64 last = step - delay;
  const gint64 from = r->stage == 1 ? step - s->pilot_latency : step - latency;

  add_blocks (r, last - s->n_time + 1, known, step_sigma (r, step), from,
      MIN (last, known - 1));
}

/* Computes one stage of all volumes into @out. */
static void
run_stage (Reference *r, guint stage, const gdouble *pilots, gdouble *out)
{
  const gsize total = r->samples * r->n_volumes;
  g_autofree gdouble *weights = g_new0 (gdouble, total);
  const gint64 first = stage == 1 ? 0 : r->schedule->pilot_latency;
  const gint64 latency =
      stage == 1 ? r->schedule->pilot_latency : r->schedule->latency;

  r->stage = stage;
  r->pilots = pilots;
  r->sums = out;
  r->weights = weights;
  memset (out, 0, total * sizeof (gdouble));
  for (gint64 step = first; step < r->n_volumes + latency; step++)
    run_step (r, step);
  for (gsize i = 0; i < total; i++)
    out[i] /= weights[i];
}

static gsize
half (gsize n)
{
  return (n + 1) / 2;
}

static void
denoise_reference_coarsen (const gdouble *in, const gsize size[3], gdouble *out)
{
  for (gsize z = 0; z < half (size[2]); z++) {
    for (gsize y = 0; y < half (size[1]); y++) {
      for (gsize x = 0; x < half (size[0]); x++) {
        gdouble sum = 0;

        for (guint i = 0; i < 8; i++) {
          const gsize fx = MIN (2 * x + (i & 1), size[0] - 1);
          const gsize fy = MIN (2 * y + (i >> 1 & 1), size[1] - 1);
          const gsize fz = MIN (2 * z + (i >> 2), size[2] - 1);

          sum += in[(fz * size[1] + fy) * size[0] + fx];
        }
        *out++ = sum / 8;
      }
    }
  }
}

static gdouble
denoise_reference_interpolate (const gdouble *coarse, const gsize size[3],
    const gsize at[3])
{
  gdouble sum = 0;

  for (guint i = 0; i < 8; i++) {
    gsize index = 0;
    gdouble weight = 1;

    for (gint a = 2; a >= 0; a--) {
      const gint64 n = half (size[a]), near = at[a] / 2;
      const gint64 far = CLAMP (near + (at[a] % 2 ? 1 : -1), 0, n - 1);
      const gboolean is_far = i >> a & 1;

      index = index * n + (is_far ? far : near);
      weight *= is_far ? .25 : .75;
    }
    sum += weight * coarse[index];
  }
  return sum;
}

static void
fuse (gdouble *fine, const gsize size[3], const gdouble *coarse)
{
  const gsize n = half (size[0]) * half (size[1]) * half (size[2]);
  g_autofree gdouble *difference = g_new (gdouble, n);

  denoise_reference_coarsen (fine, size, difference);
  for (gsize i = 0; i < n; i++)
    difference[i] = coarse[i] - difference[i];
  for (gsize z = 0; z < size[2]; z++) {
    for (gsize y = 0; y < size[1]; y++) {
      for (gsize x = 0; x < size[0]; x++)
        *fine++ += denoise_reference_interpolate (difference, size,
            (gsize[]){ x, y, z });
    }
  }
}

static void
init_reference (Reference *r, const NdDenoiseSchedule *schedule,
    const NdReferenceBorders *borders, const gsize *size, gsize n_volumes,
    const gdouble *in, const gdouble *sigma)
{
  *r = (Reference){
    .schedule = schedule,
    .borders = borders,
    .size = size,
    .samples = size[0] * size[1] * size[2],
    .n_volumes = n_volumes,
    .in = in,
    .sigma = sigma,
    .gain = 1,
    .spectrum = borders->spectrum ? borders->spectrum->sigma[0] : NULL,
  };
  for (guint a = 0; a < 3 && !r->spectrum; a++) {
    if (a < 2 || size[2] > 1)
      r->gain *= nd_denoise_axis_gain (size[a], 4);
  }
  init_block (r);
}

gboolean
nd_denoise_has_coarse_scale (const gsize size[3])
{
  for (guint a = 0; a < 3; a++) {
    if (size[a] > 1 && size[a] < ND_DENOISE_MIN_COARSE)
      return FALSE;
  }
  return size[0] > 1 || size[1] > 1 || size[2] > 1;
}

/* One scale of ND_QUALITY_BEST or motion: the sums of stage 1, the pilots of a
 * step, and the sums of stage 2, which without motion only the present result
 * uses. */
typedef struct
{
  Reference r;
  gdouble *sums, *weights, *pilots, *results, *result_sums, *result_weights;
} Scale;

static void
init_scale (Scale *scale, const Reference *r)
{
  const gsize total = r->samples * r->n_volumes;

  scale->r = *r;
  scale->sums = g_new0 (gdouble, total);
  scale->weights = g_new0 (gdouble, total);
  scale->pilots = g_new0 (gdouble, total);
  scale->results = g_new0 (gdouble, total);
  scale->result_sums = g_new0 (gdouble, total);
  scale->result_weights = g_new0 (gdouble, total);
}

static void
clear_scale (Scale *scale)
{
  g_free (scale->sums);
  g_free (scale->weights);
  g_free (scale->pilots);
  g_free (scale->results);
  g_free (scale->result_sums);
  g_free (scale->result_weights);
}

/* Adds the blocks that begin with volume @first if they count. */
static void
add_if_counts (Reference *r, gint64 first, gint64 known, gdouble sigma,
    gint64 from, gint64 to)
{
  if (nd_denoise_block_counts (r->schedule, first, known))
    add_blocks (r, first, known, sigma, from, to);
}

static void
run_best_stage1 (Scale *scale, gint64 step, gint64 known)
{
  Reference *r = &scale->r;

  r->stage = 1;
  r->sums = scale->sums;
  r->weights = scale->weights;
  add_if_counts (r, step - r->schedule->n_time + 1, known, step_sigma (r, step),
      0, known - 1);
  for (gsize i = 0; i < MIN (step + 1, known) * r->samples; i++)
    scale->pilots[i] = scale->sums[i] / scale->weights[i];
}

/* Returns the result of volume step - latency. */
static gdouble *
run_best_stage2 (Scale *scale, gint64 step, gint64 known)
{
  Reference *r = &scale->r;
  const NdDenoiseSchedule *s = r->schedule;
  const gint64 result = step - s->latency;
  const gsize from = result * r->samples;

  r->stage = 2;
  r->pilots = scale->pilots;
  r->sums = scale->results;
  r->weights = scale->result_weights;
  for (guint i = 0; i < s->n_blocks; i++)
    add_if_counts (r, result - s->n_time + 1 + i, known, step_sigma (r, step),
        result, result);
  for (gsize i = from; i < from + r->samples; i++)
    scale->results[i] /= scale->result_weights[i];
  return scale->results + from;
}

/* Adds the block that ends with volume @step to the results of its volumes. */
static void
run_motion_stage2 (Scale *scale, gint64 step, gint64 known, gdouble sigma)
{
  Reference *r = &scale->r;
  const gsize n = known * r->samples;

  r->stage = 2;
  r->pilots = scale->pilots;
  r->sums = scale->result_sums;
  r->weights = scale->result_weights;
  add_if_counts (r, step - r->schedule->n_time + 1, known, sigma, 0, known - 1);
  for (gsize i = 0; i < n; i++)
    scale->results[i] = r->sums[i] / r->weights[i];
}

/* Moves volume u + @offset of the scale; @flow is that of the offset before. */
static void
denoise_reference_move_volume (const Scale *scale, gint64 u, gint offset,
    gdouble sigma, gdouble *flow, gdouble *const moved[2])
{
  const gsize samples = scale->r.samples;
  const gsize from = (u + offset) * samples;
  const gdouble *const in[2] = { scale->r.in + from, scale->results + from };

  if (offset != 0)
    nd_flow_reference (scale->r.size, scale->results + u * samples, in[1],
        sigma, offset, flow);
  for (guint i = 0; i < 2; i++) {
    if (offset != 0)
      nd_flow_reference_move (scale->r.size, flow, in[i], moved[i]);
    else
      memcpy (moved[i], in[i], samples * sizeof (gdouble));
  }
}

/* The result of @n moved volumes for the one at @position. */
static void
denoise_reference_run_moved (const Reference *like, gdouble *const moved[2],
    gint64 position, gint64 n, gdouble sigma, gdouble *out)
{
  g_autofree gdouble *sums = g_new0 (gdouble, n * like->samples);
  g_autofree gdouble *weights = g_new0 (gdouble, n * like->samples);
  const gsize from = position * like->samples;
  Reference r = *like;

  r.stage = 2;
  r.in = moved[0];
  r.pilots = moved[1];
  r.sums = sums;
  r.weights = weights;
  for (guint i = 0; i < r.schedule->n_blocks; i++)
    add_if_counts (&r, position - r.schedule->n_time + 1 + i, n, sigma,
        position, position);
  for (gsize i = 0; i < r.samples; i++)
    out[i] = sums[from + i] / weights[from + i];
}

/* Stage 3 of volume u. */
static void
denoise_reference_run_stage3 (const Scale *fine, const Scale *coarse, gint64 u,
    gint64 known, gdouble sigma, gdouble *out)
{
  const Reference *r = &fine->r;
  const gint64 first = MAX (u - (gint64) r->schedule->n_time + 1, 0);
  const gint64 before = u - first;
  const gint64 n = MIN (before + r->schedule->n_blocks, known - first);
  const gsize samples = r->samples;
  g_autofree gdouble *flow = g_new0 (gdouble, 3 * samples);
  g_autofree gdouble *in = g_new (gdouble, n * samples);
  g_autofree gdouble *results = g_new (gdouble, n * samples);
  gdouble *const moved[2] = { in, results };

  for (gint64 i = 0; i < n; i++) {
    const gint64 after = n - 1 - before;
    const gint offset = i <= after ? i : after - i;
    gdouble *const to[2] = { in + (before + offset) * samples,
      results + (before + offset) * samples };

    denoise_reference_move_volume (fine, u, offset, sigma, flow, to);
  }
  denoise_reference_run_moved (r, moved, before, n, sigma * r->gain, out);
  if (coarse) {
    const gsize half_samples = coarse->r.samples;
    g_autofree gdouble *half_in = g_new (gdouble, n * half_samples);
    g_autofree gdouble *half_results = g_new (gdouble, n * half_samples);
    g_autofree gdouble *half_out = g_new (gdouble, half_samples);

    for (gint64 i = 0; i < n; i++) {
      denoise_reference_coarsen (in + i * samples, r->size,
          half_in + i * half_samples);
      denoise_reference_coarsen (results + i * samples, r->size,
          half_results + i * half_samples);
    }
    denoise_reference_run_moved (&coarse->r,
        (gdouble *[]){ half_in, half_results }, before, n,
        sigma * coarse->r.gain, half_out);
    fuse (out, r->size, half_out);
  }
}

/* With motion: stages 2 and 3. At the first output stage 2 takes all steps
 * before it at once. */
static void
run_motion (Scale *fine, Scale *coarse, gint64 step, gint64 known, gdouble *out)
{
  const NdDenoiseSchedule *s = fine->r.schedule;
  const gint64 result = step - s->latency;
  const gsize samples = fine->r.samples;
  const gdouble sigma = step_sigma (&fine->r, step) / fine->r.gain;

  for (gint64 i = result > 0 ? step : 0; i <= step; i++) {
    run_motion_stage2 (fine, i, known, sigma * fine->r.gain);
    if (coarse)
      run_motion_stage2 (coarse, i, known, sigma * coarse->r.gain);
  }
  for (gint64 i = 0; coarse && i < MIN (step + 1, known); i++)
    fuse (fine->results + i * samples, fine->r.size,
        coarse->results + i * coarse->r.samples);
  denoise_reference_run_stage3 (fine, coarse, result, known, sigma,
      out + result * samples);
}

/* @coarse_reference is NULL without a coarse scale. */
static void
run_best (const Reference *fine_reference, const Reference *coarse_reference,
    gdouble *out)
{
  const NdDenoiseSchedule *s = fine_reference->schedule;
  const gsize *size = fine_reference->size;
  const gsize samples = fine_reference->samples;
  const gint64 n = fine_reference->n_volumes;
  Scale fine = { 0 }, coarse = { 0 };

  init_scale (&fine, fine_reference);
  if (coarse_reference)
    init_scale (&coarse, coarse_reference);
  for (gint64 step = 0; step < n + s->latency; step++) {
    const gint64 known = MIN (MAX (step, (gint64) s->latency) + 1, n);
    const gint64 result = step - s->latency;

    run_best_stage1 (&fine, step, known);
    if (coarse_reference) {
      run_best_stage1 (&coarse, step, known);
      for (gint64 i = 0; i < MIN (step + 1, known); i++)
        fuse (fine.pilots + i * samples, size,
            coarse.pilots + i * coarse.r.samples);
    }
    if (result < 0)
      continue;
    if (s->motion) {
      run_motion (&fine, coarse_reference ? &coarse : NULL, step, known, out);
      continue;
    }
    memcpy (out + result * samples, run_best_stage2 (&fine, step, known),
        samples * sizeof (gdouble));
    if (coarse_reference)
      fuse (out + result * samples, size,
          run_best_stage2 (&coarse, step, known));
  }
  clear_scale (&fine);
  clear_scale (&coarse);
}

void
nd_denoise_reference (const NdDenoiseSchedule *schedule,
    const NdReferenceBorders *borders, const gsize size[3], gsize n_volumes,
    const gdouble *in, const gdouble *sigma, gdouble *out)
{
  const gsize samples = size[0] * size[1] * size[2];
  const gsize half_size[3] = { half (size[0]), half (size[1]), half (size[2]) };
  const gsize coarse = half_size[0] * half_size[1] * half_size[2];
  g_autofree gdouble *pilots = g_new (gdouble, samples * n_volumes);
  g_autofree gdouble *coarse_in = NULL, *coarse_pilots = NULL;
  g_autofree gdouble *coarse_out = NULL;
  Reference fine, r;

  init_reference (&fine, schedule, borders, size, n_volumes, in, sigma);
  if (!nd_denoise_has_coarse_scale (size)) {
    if (schedule->n_blocks) {
      run_best (&fine, NULL, out);
      return;
    }
    run_stage (&fine, 1, NULL, pilots);
    run_stage (&fine, 2, pilots, out);
    return;
  }
  coarse_in = g_new (gdouble, coarse * n_volumes);
  coarse_pilots = g_new (gdouble, coarse * n_volumes);
  coarse_out = g_new (gdouble, coarse * n_volumes);
  for (gsize n = 0; n < n_volumes; n++)
    denoise_reference_coarsen (in + n * samples, size, coarse_in + n * coarse);
  init_reference (&r, schedule, borders, half_size, n_volumes, coarse_in,
      sigma);
  if (borders->spectrum)
    r.spectrum = borders->spectrum->sigma[1];
  for (guint a = 0; a < 3 && !r.spectrum; a++)
    r.gain *= size[a] > 1 ? G_SQRT2 / 2 : 1;
  if (schedule->n_blocks) {
    run_best (&fine, &r, out);
    return;
  }
  run_stage (&fine, 1, NULL, pilots);
  run_stage (&r, 1, NULL, coarse_pilots);
  run_stage (&r, 2, coarse_pilots, coarse_out);
  for (gsize n = 0; n < n_volumes; n++)
    fuse (pilots + n * samples, size, coarse_pilots + n * coarse);
  run_stage (&fine, 2, pilots, out);
  for (gsize n = 0; n < n_volumes; n++)
    fuse (out + n * samples, size, coarse_out + n * coarse);
}
