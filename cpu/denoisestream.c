/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"

#include "analysis/noise.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/adaptivefilter.h"
#include "cpu/denoisesamples.h"
#include "cpu/denoisescale.h"
#include "cpu/flowmotion.h"
#include "cpu/specklefilter.h"

#include <math.h>
#include <string.h>

/* One component of the stream. */
typedef struct
{
  gboolean is_kept;
  NdDenoiseScale *fine, *coarse;
  gfloat *difference; /* a coarse volume */
  NdFlow *motion;     /* or NULL */
  /* Scales of the moved volumes: fine and coarse, or NULL. */
  NdDenoiseScale *moved[2];
  /* One of them, or none; with them there are no scales. */
  NdAdaptiveFilter *adaptive;
  NdSpeckleFilter *speckle;
  gdouble estimates[ND_DENOISE_MAX_ESTIMATES];
  gdouble sigma; /* of the last output */
  NdClipping clipping;
} Component;

typedef struct
{
  NdAlgorithm parent;
  NdDenoiseSettings settings;
  NdDenoiseSchedule schedule;
  NdDenoiseBorders borders;
  NdShape shape;
  NdSampleType type;
  gsize coarse[3];
  gdouble coarse_gain; /* of the noise; 0 without a coarse scale */
  gsize bytes;

  Component *components;
  gint64 pushed;       /* volumes that were pushed */
  gint64 next;         /* of the next output */
  gint64 done1, done2; /* steps that the two stages have computed */
  gboolean ended;
} NdCpuDenoise;

static gsize
denoise_count_samples (const NdCpuDenoise *self)
{
  return self->shape.size[0] * self->shape.size[1] * self->shape.size[2];
}

static void
nd_cpu_denoise_free (NdAlgorithm *algorithm)
{
  NdCpuDenoise *self = (NdCpuDenoise *) algorithm;

  for (gsize c = 0; self->components && c < self->shape.components; c++) {
    Component *component = &self->components[c];

    nd_denoise_scale_free (component->fine);
    nd_denoise_scale_free (component->coarse);
    for (guint i = 0; i < 2; i++)
      nd_denoise_scale_free (component->moved[i]);
    nd_flow_free (component->motion);
    nd_adaptive_filter_free (component->adaptive);
    nd_speckle_filter_free (component->speckle);
    g_free (component->difference);
    nd_clipping_clear (&component->clipping);
  }
  g_free (self->components);
  g_free (self);
}

static void
nd_cpu_denoise_reset (NdAlgorithm *algorithm)
{
  NdCpuDenoise *self = (NdCpuDenoise *) algorithm;

  self->pushed = self->next = 0;
  self->done1 = 0;
  self->done2 = self->schedule.motion ? 0 : self->schedule.pilot_latency;
  self->ended = FALSE;
  for (gsize c = 0; c < self->shape.components; c++) {
    Component *component = &self->components[c];

    nd_clipping_reset (&component->clipping);
    if (component->fine)
      nd_denoise_scale_reset (component->fine);
    if (component->coarse)
      nd_denoise_scale_reset (component->coarse);
  }
}

static void
nd_cpu_denoise_end (NdAlgorithm *algorithm)
{
  ((NdCpuDenoise *) algorithm)->ended = TRUE;
}

static gboolean
nd_cpu_denoise_ready (const NdAlgorithm *algorithm)
{
  const NdCpuDenoise *self = (const NdCpuDenoise *) algorithm;

  return self->next < self->pushed
      && (self->ended || self->pushed > self->next + self->schedule.latency);
}

/* The place of volume @position of the stream. */
static gfloat *
input (const NdCpuDenoise *self, const Component *component, gint64 position)
{
  if (component->speckle)
    return nd_speckle_filter_input (component->speckle, position);
  return component->adaptive
      ? nd_adaptive_filter_input (component->adaptive, position)
      : nd_denoise_scale_input (component->fine, position);
}

static gboolean
nd_cpu_denoise_push (NdAlgorithm *algorithm, const NdSamples *volume,
    GError **error)
{
  NdCpuDenoise *self = (NdCpuDenoise *) algorithm;

  g_return_val_if_fail (!nd_cpu_denoise_ready (algorithm), FALSE);
  for (gsize c = 0; c < self->shape.components; c++) {
    Component *component = &self->components[c];
    gfloat *in = input (self, component, self->pushed);

    nd_samples_read (volume, &self->shape, self->type, c, in);
    if (component->is_kept)
      continue;
    if (component->adaptive)
      nd_adaptive_filter_push (component->adaptive, self->pushed);
    if (component->coarse)
      nd_cpu_coarsen (in, self->shape.size,
          nd_denoise_scale_input (component->coarse, self->pushed));
    if (self->settings.sigma == 0) {
      const gdouble sigma = nd_cpu_noise_sigma (in, self->shape.size,
          nd_sample_low (self->type), nd_sample_high (self->type));

      if (sigma < 0) {
        nd_memory_set_error (error, ND_NOISE_BINS * sizeof (guint32));
        return FALSE;
      }
      component->estimates[self->pushed % ND_DENOISE_MAX_ESTIMATES] = sigma;
    }
  }
  self->pushed++;
  return TRUE;
}

static gint
denoise_compare (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gdouble
noise_level (const NdCpuDenoise *self, const Component *component)
{
  const guint n = MIN (self->pushed, ND_DENOISE_MAX_ESTIMATES);
  gdouble sorted[ND_DENOISE_MAX_ESTIMATES];

  if (self->settings.sigma > 0)
    return self->settings.sigma;
  memcpy (sorted, component->estimates, n * sizeof (gdouble));
  qsort (sorted, n, sizeof (gdouble), denoise_compare);
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static void
run_stage1 (NdCpuDenoise *self, Component *component, gint64 step, gint64 known,
    gfloat sigma)
{
  const NdDenoiseSchedule *schedule = &self->schedule;
  const gint64 last =
      schedule->n_blocks ? step : step - schedule->pilot_latency;
  const gint64 first = schedule->n_blocks ? step - schedule->n_time + 1 : last;

  if (schedule->n_blocks && !nd_denoise_block_counts (schedule, first, known))
    return;
  nd_denoise_scale_stage1 (component->fine, step, known, sigma);
  if (!component->coarse)
    return;
  nd_denoise_scale_stage1 (component->coarse, step, known,
      sigma * self->coarse_gain);
  for (gint64 pilot = MAX (first, 0); pilot <= MIN (last, known - 1); pilot++)
    nd_cpu_fuse (nd_denoise_scale_pilot (component->fine, pilot),
        self->shape.size, nd_denoise_scale_pilot (component->coarse, pilot),
        component->difference);
}

/* With motion, fuses the results of the block of @step. */
static void
fuse_results (NdCpuDenoise *self, Component *component, gint64 step,
    gint64 known)
{
  const gint64 first = step - self->schedule.n_time + 1;

  for (gint64 i = MAX (first, 0); i <= MIN (step, known - 1); i++)
    nd_cpu_fuse (nd_denoise_scale_result (component->fine, i), self->shape.size,
        nd_denoise_scale_result (component->coarse, i), component->difference);
}

static gfloat *
run_stage2 (NdCpuDenoise *self, Component *component, gint64 step, gint64 known,
    gfloat sigma)
{
  const gfloat *coarse;
  gfloat *fine;

  if (self->schedule.motion
      && !nd_denoise_block_counts (&self->schedule,
          step - self->schedule.n_time + 1, known))
    return NULL;
  fine = nd_denoise_scale_stage2 (component->fine, step, known, sigma);
  if (!component->coarse)
    return fine;
  coarse = nd_denoise_scale_stage2 (component->coarse, step, known,
      sigma * self->coarse_gain);
  if (self->schedule.motion)
    fuse_results (self, component, step, known);
  else if (fine)
    nd_cpu_fuse (fine, self->shape.size, coarse, component->difference);
  return fine;
}

/* The volume with noise and the result of stage 2 at @position of a scale of
 * moved volumes. */
static void
get_moved (const NdDenoiseScale *scale, gint64 position, gfloat *moved[2])
{
  moved[0] = nd_denoise_scale_input (scale, position);
  moved[1] = nd_denoise_scale_pilot (scale, position);
}

/* Moves volume next + @offset, which the stream has. */
static void
denoise_move_volume (NdCpuDenoise *self, Component *component, gint offset,
    gint64 position)
{
  const gfloat *const in[2] = { nd_denoise_scale_input (component->fine,
                                    self->next + offset),
    nd_denoise_scale_result (component->fine, self->next + offset) };
  gfloat *to[2];

  get_moved (component->moved[0], position, to);
  if (offset != 0) {
    nd_flow_move (component->motion, offset, in, to);
    return;
  }
  for (guint i = 0; i < 2; i++)
    memcpy (to[i], in[i], denoise_count_samples (self) * sizeof (gfloat));
}

/* The result of volume @position of a scale with @n moved volumes. */
static gfloat *
denoise_run_moved (const NdCpuDenoise *self, NdDenoiseScale *scale,
    gint64 position, gint64 n, gfloat sigma)
{
  /* The volumes are others than before. */
  nd_denoise_scale_reset (scale);
  return nd_denoise_scale_stage2 (scale, position + self->schedule.n_blocks - 1,
      n, sigma);
}

/* Stage 3: the blocks of volumes that are moved to the next output. It leaves
 * nothing for later outputs. */
static gfloat *
denoise_run_stage3 (NdCpuDenoise *self, Component *component, gint64 known,
    gfloat sigma)
{
  const gint64 first = MAX (self->next - self->schedule.n_time + 1, 0);
  const gint64 position = self->next - first;
  const gint64 n = MIN (position + self->schedule.n_blocks, known - first);
  gfloat *result;

  nd_flow_set_target (component->motion,
      nd_denoise_scale_result (component->fine, self->next), sigma);
  for (gint64 i = position; i < n; i++)
    denoise_move_volume (self, component, i - position, i);
  for (gint64 i = position - 1; i >= 0; i--)
    denoise_move_volume (self, component, i - position, i);
  result = denoise_run_moved (self, component->moved[0], position, n, sigma);
  if (!component->moved[1])
    return result;
  for (gint64 i = 0; i < n; i++) {
    gfloat *fine[2], *coarse[2];

    get_moved (component->moved[0], i, fine);
    get_moved (component->moved[1], i, coarse);
    for (guint k = 0; k < 2; k++)
      nd_cpu_coarsen (fine[k], self->shape.size, coarse[k]);
  }
  nd_cpu_fuse (result, self->shape.size,
      denoise_run_moved (self, component->moved[1], position, n,
          sigma * self->coarse_gain),
      component->difference);
  return result;
}

/* Runs all steps that the next output needs; at the start of the stream there
 * are several. Returns the denoised volume. */
static gfloat *
run_steps (NdCpuDenoise *self, Component *component, gboolean is_needed)
{
  const NdDenoiseSchedule *schedule = &self->schedule;
  const gint64 last = self->next + schedule->latency;
  const gint64 known = MIN (last + 1, self->pushed);
  const gint64 known_pilots = schedule->n_blocks
      ? known
      : MIN (last + 1 - schedule->pilot_latency, self->pushed);
  const gfloat sigma =
      nd_denoise_time_gain (schedule, self->pushed, self->ended)
      * MAX (component->sigma * self->settings.strength, ND_DENOISE_MIN_SIGMA);
  gfloat *result = NULL;

  for (gint64 step = self->done1; step <= last; step++) {
    if (step - schedule->pilot_latency < self->pushed)
      run_stage1 (self, component, step, known, sigma);
  }
  for (gint64 step = self->done2; step <= last; step++)
    result = run_stage2 (self, component, step, known_pilots, sigma);
  if (self->schedule.motion && is_needed)
    result = denoise_run_stage3 (self, component, known, sigma);
  return result;
}

static gfloat *
denoise_run_filter (NdCpuDenoise *self, Component *component, gdouble sigma)
{
  const gint64 known =
      MIN (self->next + self->schedule.latency + 1, self->pushed);

  sigma = MAX (sigma, ND_DENOISE_MIN_SIGMA);
  return component->speckle
      ? nd_speckle_filter_run (component->speckle, self->next, known, sigma)
      : nd_adaptive_filter_run (component->adaptive, self->next, known, sigma);
}

static gboolean
nd_cpu_denoise_respond (NdAlgorithm *algorithm, const NdSamples *out,
    GError **error)
{
  NdCpuDenoise *self = (NdCpuDenoise *) algorithm;
  const NdDenoiseSchedule *schedule = &self->schedule;

  g_return_val_if_fail (nd_cpu_denoise_ready (algorithm), FALSE);
  for (gsize c = 0; c < self->shape.components; c++) {
    Component *component = &self->components[c];
    const gfloat *in = input (self, component, self->next);
    const gfloat *result = in;
    gdouble sigma;

    if (!component->is_kept) {
      component->sigma = noise_level (self, component);
      sigma =
          self->settings.strength * (component->speckle ? 1 : component->sigma);
      /* Steps run for noise-free volumes too, because later outputs may need
       * the sums over their blocks. */
      if (component->fine)
        result =
            run_steps (self, component, out && sigma > ND_DENOISE_MIN_SIGMA);
      else if (out)
        result = denoise_run_filter (self, component, sigma);
      if (!(sigma > ND_DENOISE_MIN_SIGMA))
        result = in;
      else if (out && !component->speckle)
        nd_samples_count_clipped (&component->clipping, in, result,
            self->shape.size, component->sigma, nd_sample_low (self->type),
            nd_sample_high (self->type));
    }
    if (out)
      nd_samples_write (out, &self->shape, self->type, c, result,
          result == in || component->speckle ? NULL : &component->clipping);
  }
  self->done1 = self->done2 = self->next + schedule->latency + 1;
  self->next++;
  return TRUE;
}

static void
nd_cpu_denoise_set_strength (NdAlgorithm *algorithm,
    const NdDenoiseSettings *settings)
{
  NdCpuDenoise *self = (NdCpuDenoise *) algorithm;

  /* Volumes that were pushed while sigma was set have no estimate. */
  if (self->settings.sigma > 0 && settings->sigma == 0) {
    for (gsize c = 0; c < self->shape.components; c++) {
      for (guint i = 0; i < ND_DENOISE_MAX_ESTIMATES; i++)
        self->components[c].estimates[i] = self->settings.sigma;
    }
  }
  self->settings.sigma = settings->sigma;
  self->settings.strength = settings->strength;
}

static gdouble
nd_cpu_denoise_sigma (const NdAlgorithm *algorithm)
{
  const NdCpuDenoise *self = (const NdCpuDenoise *) algorithm;
  gdouble sigma = 0;

  for (gsize c = 0; c < self->shape.components; c++)
    sigma = MAX (sigma, self->components[c].sigma);
  return sigma;
}

static gsize
nd_cpu_denoise_bytes (const NdAlgorithm *algorithm)
{
  return ((const NdCpuDenoise *) algorithm)->bytes;
}

void
nd_cpu_denoise_set_spectrum (NdAlgorithm *algorithm,
    const NdNoiseSpectrum *spectrum)
{
  NdCpuDenoise *self = (NdCpuDenoise *) algorithm;

  for (gsize c = 0; c < self->shape.components; c++) {
    Component *component = &self->components[c];
    NdDenoiseScale *const scales[2][2] = {
      { component->fine, component->moved[0] },
      { component->coarse, component->moved[1] },
    };

    for (guint i = 0; i < 2; i++) {
      gfloat noise[ND_SHRINK_COEFFICIENTS];

      for (guint k = 0; k < ND_SHRINK_COEFFICIENTS; k++)
        noise[k] = spectrum->sigma[i][k] / (i == 1 ? self->coarse_gain : 1);
      for (guint k = 0; k < 2; k++) {
        if (scales[i][k])
          nd_denoise_scale_set_noise (scales[i][k], noise);
      }
    }
  }
}

static const NdAlgorithmClass denoise_class = {
  .backend = "cpu",
  .push = nd_cpu_denoise_push,
  .ready = nd_cpu_denoise_ready,
  .respond = nd_cpu_denoise_respond,
  .end = nd_cpu_denoise_end,
  .reset = nd_cpu_denoise_reset,
  .free = nd_cpu_denoise_free,
  .bytes = nd_cpu_denoise_bytes,
  .set_strength = nd_cpu_denoise_set_strength,
  .sigma = nd_cpu_denoise_sigma,
};

/* A scale for stage 3: the blocks of one output. NULL if there is not enough
 * memory. */
static NdDenoiseScale *
new_moved (const NdCpuDenoise *self, const gsize size[3])
{
  const guint latency = self->schedule.n_blocks - 1;
  const NdDenoiseSchedule schedule = {
    .n_time = self->schedule.n_time,
    .pilot_latency = latency,
    .latency = latency,
    .n_blocks = self->schedule.n_blocks,
  };
  NdDenoiseScale *scale =
      nd_denoise_scale_new (nd_denoise_kernels (), size, &schedule);

  if (scale)
    nd_denoise_scale_set_borders (scale, &self->borders);
  return scale;
}

static gboolean
init_motion (NdCpuDenoise *self, Component *component)
{
  component->motion = nd_flow_new (self->shape.size);
  component->moved[0] = new_moved (self, self->shape.size);
  if (!component->motion || !component->moved[0])
    return FALSE;
  if (self->coarse_gain == 0)
    return TRUE;
  component->moved[1] = new_moved (self, self->coarse);
  return component->moved[1] != NULL;
}

static gboolean
init_component (NdCpuDenoise *self, Component *component,
    const NdDenoiseBorders *borders, gboolean kept)
{
  const NdDenoiseKernels *kernels = nd_denoise_kernels ();
  const gsize *coarse = self->coarse;

  component->is_kept = kept;
  if (self->settings.noise == ND_NOISE_SPECKLE) {
    component->speckle =
        nd_speckle_filter_new (&self->settings, borders, self->shape.size);
    return component->speckle != NULL;
  }
  if (self->schedule.n_time == 0) {
    component->adaptive =
        nd_adaptive_filter_new (&self->settings, borders, self->shape.size);
    return component->adaptive != NULL;
  }
  component->fine =
      nd_denoise_scale_new (kernels, self->shape.size, &self->schedule);
  if (!component->fine)
    return FALSE;
  nd_denoise_scale_set_borders (component->fine, borders);
  if (!kept && self->schedule.motion && !init_motion (self, component))
    return FALSE;
  if (kept || self->coarse_gain == 0)
    return TRUE;
  component->coarse = nd_denoise_scale_new (kernels, coarse, &self->schedule);
  component->difference = g_try_new (gfloat, coarse[0] * coarse[1] * coarse[2]);
  if (!component->coarse || !component->difference)
    return FALSE;
  nd_denoise_scale_set_borders (component->coarse, borders);
  return TRUE;
}

static gsize
count_bytes (const NdDenoiseSettings *settings, const gsize size[3])
{
  const NdDenoiseSchedule schedule = nd_denoise_schedule (settings);
  gsize bytes;

  if (settings->noise == ND_NOISE_SPECKLE)
    return nd_speckle_filter_bytes (settings, size);
  if (schedule.n_time == 0)
    return nd_adaptive_filter_bytes (settings, size);
  bytes = nd_denoise_scale_bytes (size, &schedule);
  /* Stage 3 has scales of its own. */
  return schedule.motion ? 2 * bytes + nd_flow_bytes (size) : bytes;
}

NdAlgorithm *
nd_cpu_denoise_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const NdShape *shape, NdSampleType type,
    guint64 kept, gint device_id, GError **error)
{
  NdCpuDenoise *self = g_new0 (NdCpuDenoise, 1);

  self->parent.klass = &denoise_class;
  self->settings = *settings;
  self->schedule = nd_denoise_schedule (settings);
  self->borders = *borders;
  self->shape = *shape;
  self->type = type;
  self->bytes =
      nd_size_mul (shape->components, count_bytes (settings, shape->size), 1);
  if (self->schedule.n_time > 0
      && nd_cpu_coarse_size (shape->size, self->coarse)) {
    self->coarse_gain = 1;
    for (guint a = 0; a < 3; a++)
      self->coarse_gain *= shape->size[a] > 1 ? G_SQRT2 / 2 : 1;
  }
  /* Caps may have many components. */
  if (nd_memory_check (self->bytes, error))
    self->components =
        nd_memory_new (shape->components, sizeof (Component), error);
  if (!self->components) {
    nd_cpu_denoise_free (&self->parent);
    return NULL;
  }
  for (gsize c = 0; c < shape->components; c++) {
    if (!init_component (self, &self->components[c], borders,
            c < 64 && kept >> c & 1)) {
      g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
          "Not enough memory to denoise volumes of %" G_GSIZE_FORMAT
          " x %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT ", which takes about "
          "%" G_GSIZE_FORMAT " bytes: use smaller volumes",
          shape->size[0], shape->size[1], shape->size[2], self->bytes);
      nd_cpu_denoise_free (&self->parent);
      return NULL;
    }
  }
  nd_cpu_denoise_reset (&self->parent);
  return &self->parent;
}
