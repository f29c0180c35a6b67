/* Denoising of samples whose noise depends on their value or place: they become
 * numbers with the same noise everywhere, are denoised by nd_cpu_denoise_new(),
 * and become samples again. What makes the numbers is estimated from the
 * stream. If the estimate changes, the last volumes are computed anew with it,
 * so that all numbers of an output are made alike.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"

#include "analysis/noisefit.h"
#include "analysis/stabilise.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/denoisesamples.h"
#include "cpu/noisespectrum.h"
#include "cpu/sigmamap.h"

#include <math.h>
#include <string.h>

/* Estimates that differ from those in use by less than this fraction change
 * nothing. */
#define HYSTERESIS 0.1

/* One component of the stream. */
typedef struct
{
  NdAlgorithm *inner; /* of numbers; NULL if the component passes unchanged */
  gfloat *volumes;    /* a ring of samples */
  NdNoiseFound estimates[ND_DENOISE_MAX_ESTIMATES];
  NdNoiseFound found; /* in use; certainty 0: none */
  NdStabiliser stabiliser;
  NdSigmaMap *map; /* or NULL; with it there is no stabiliser */
  /* Of ND_NOISE_CORRELATED: of the last volumes, in use. */
  NdNoiseSpectrum *spectra, spectrum;
  gint64 given, done; /* volumes and outputs of the inner one */
} NoiseComponent;

typedef struct
{
  NdAlgorithm parent;
  NdDenoiseSettings settings;
  NdShape shape;
  NdSampleType type;
  gsize samples;
  guint before, after; /* the window of an output */
  NoiseComponent *components;
  gfloat *numbers; /* a volume */
  gint64 pushed, next;
  gboolean ended;
} NdCpuNoise;

static void
noise_free (NdAlgorithm *algorithm)
{
  NdCpuNoise *self = (NdCpuNoise *) algorithm;

  for (gsize c = 0; self->components && c < self->shape.components; c++) {
    nd_algorithm_free (self->components[c].inner);
    nd_sigma_map_free (self->components[c].map);
    g_free (self->components[c].spectra);
    g_free (self->components[c].volumes);
  }
  g_free (self->components);
  g_free (self->numbers);
  g_free (self);
}

/* Lets the inner one go on with the volumes before the next output. */
static void
restart (NdCpuNoise *self, NoiseComponent *component)
{
  component->given = component->done =
      MAX (self->next - (gint64) self->before, 0);
  if (component->inner)
    nd_algorithm_reset (component->inner);
}

static void
noise_reset (NdAlgorithm *algorithm)
{
  NdCpuNoise *self = (NdCpuNoise *) algorithm;

  self->pushed = self->next = 0;
  self->ended = FALSE;
  for (gsize c = 0; c < self->shape.components; c++) {
    self->components[c].found.certainty = 0;
    if (self->components[c].map)
      nd_sigma_map_reset (self->components[c].map);
    restart (self, &self->components[c]);
  }
}

static void
noise_end (NdAlgorithm *algorithm)
{
  ((NdCpuNoise *) algorithm)->ended = TRUE;
}

static gboolean
noise_ready (const NdAlgorithm *algorithm)
{
  const NdCpuNoise *self = (const NdCpuNoise *) algorithm;

  return self->next < self->pushed
      && (self->ended || self->pushed > self->next + self->after);
}

static gfloat *
get_volume (const NdCpuNoise *self, const NoiseComponent *component,
    gint64 position)
{
  return component->volumes
      + position % (self->before + self->after + 1) * self->samples;
}

/* Estimation */

/* The cubes of a row of cubes; an axis of one sample has no difference. */
static gsize
collect_row (const gfloat *volume, const gsize size[3], gsize y, gsize z,
    NdNoiseCube *cubes)
{
  const gsize plane = size[0] * size[1];
  const gboolean has[3] = { size[0] > 1, size[1] > 1, size[2] > 1 };
  const gsize dx = has[0], dy = has[1] ? size[0] : 0, dz = has[2] ? plane : 0;
  const gfloat fx = has[0], fy = has[1], fz = has[2];
  const gfloat scale = 1 / sqrtf ((1 + has[0]) * (1 + has[1]) * (1 + has[2]));
  const gsize n = size[0] - has[0];

  for (gsize x = 0; x < n; x++) {
    const gfloat *v = volume + z * plane + y * size[0] + x;
    gfloat difference[4], sum = 0;

    for (guint i = 0; i < 4; i++) {
      const gfloat *w = v + (i & 1) * dy + (i >> 1) * dz;

      difference[i] = w[0] - fx * w[dx];
      sum += w[0] + w[dx];
    }
    cubes[x].difference = scale
        * fabsf ((difference[0] - fy * difference[1])
            - fz * (difference[2] - fy * difference[3]));
    cubes[x].mean = sum / 8;
  }
  return n;
}

/* Some rows of cubes, spread over the volume. */
static NdNoiseFound
estimate (const NdCpuNoise *self, const gfloat *volume)
{
  const gsize *size = self->shape.size;
  const gsize n_y = MAX (size[1], 2) - 1, n_z = MAX (size[2], 2) - 1;
  const gsize rows = n_y * n_z;
  const gsize every = 1 + rows * size[0] / ND_FIT_CUBES;
  const gsize room = (rows / every + 1) * size[0];
  g_autofree NdNoiseCube *cubes = g_try_new (NdNoiseCube, room);
  NdNoisePart parts[ND_FIT_PARTS];
  gsize n = 0;

  for (gsize row = 0; cubes && row < rows; row += every)
    n += collect_row (volume, size, row % n_y, row / n_y, cubes + n);
  if (!cubes)
    return (NdNoiseFound){ 0 };
  return nd_noise_fit (self->settings.noise, parts,
      nd_noise_parts (cubes, n, parts), nd_sample_high (self->type));
}

/* What settings give. FALSE if it is estimated. */
static gboolean
get_given (const NdDenoiseSettings *settings, NdNoiseFound *found)
{
  *found = (NdNoiseFound){
    .noise = settings->noise,
    .gain = settings->gain,
    .constant = settings->read_noise * settings->read_noise
        - settings->gain * settings->offset,
    .sigma = settings->sigma,
    .certainty = 1,
  };
  return settings->noise == ND_NOISE_RICIAN ? settings->sigma > 0
                                            : settings->gain > 0;
}

static gboolean
differs (const NdNoiseFound *a, const NdNoiseFound *b)
{
  const gdouble off = MAX (fabs (a->gain - b->gain) - HYSTERESIS * a->gain,
      fabs (a->sigma - b->sigma) - HYSTERESIS * a->sigma);

  return off > 0 || (a->certainty > 0) != (b->certainty > 0);
}

static void
update_map (NdCpuNoise *self, NoiseComponent *component)
{
  NdSigmaMap *map = component->map;
  const gboolean is_new = nd_sigma_map_update (map, self->pushed, HYSTERESIS)
      || component->found.certainty == 0;

  component->found = (NdNoiseFound){
    .noise = ND_NOISE_ADDITIVE,
    .sigma = nd_sigma_map_level (map),
    .certainty = nd_sigma_map_certainty (map),
  };
  if (is_new)
    restart (self, component);
}

/* Differences of volumes are worth more than the first volume alone. */
static void
update_spectrum (NdCpuNoise *self, NoiseComponent *component)
{
  const guint n = MIN (self->pushed, ND_DENOISE_MAX_ESTIMATES);
  const guint first = self->pushed > 1 && n == self->pushed ? 1 : 0;
  const gboolean is_flat = self->shape.size[2] == 1;
  NdNoiseSpectrum spectra[ND_DENOISE_MAX_ESTIMATES], spectrum;
  gdouble spread = 0;
  guint good = 0;

  for (guint t = first; t < n; t++) {
    if (component->spectra[t].sigma[0][0] > 0)
      spectra[good++] = component->spectra[t];
  }
  if (good == 0) {
    component->found = (NdNoiseFound){ .noise = ND_NOISE_CORRELATED };
    return;
  }
  nd_noise_spectrum_combine (spectra, good, &spectrum);
  for (guint t = 0; t < good; t++)
    spread += pow (nd_noise_spectrum_difference (&spectra[t], &spectrum), 2);
  if (component->found.certainty == 0
      || nd_noise_spectrum_difference (&spectrum, &component->spectrum)
          > HYSTERESIS) {
    component->spectrum = spectrum;
    nd_cpu_denoise_set_spectrum (component->inner, &spectrum);
    restart (self, component);
  }
  component->found = (NdNoiseFound){
    .noise = ND_NOISE_CORRELATED,
    .sigma = nd_noise_spectrum_sigma (&component->spectrum, is_flat),
    .certainty = CLAMP (1 - sqrt (spread) / good, .01, 1),
  };
}

static void
measure_spectrum (NdCpuNoise *self, NoiseComponent *component)
{
  NdNoiseSpectrum *spectrum =
      &component->spectra[self->pushed % ND_DENOISE_MAX_ESTIMATES];
  const gfloat *before =
      self->pushed > 0 ? get_volume (self, component, self->pushed - 1) : NULL;

  if (!nd_noise_spectrum_measure (get_volume (self, component, self->pushed),
          before, self->shape.size, spectrum))
    spectrum->sigma[0][0] = 0;
}

static void
update (NdCpuNoise *self, NoiseComponent *component)
{
  const guint n = MIN (self->pushed, ND_DENOISE_MAX_ESTIMATES);
  NdNoiseFound found;

  if (get_given (&self->settings, &found)) {
    const NdNoiseFound *now = &component->found;

    if (found.gain == now->gain && found.constant == now->constant
        && found.sigma == now->sigma && found.certainty == now->certainty)
      return;
  } else {
    found = nd_noise_median_fit (self->settings.noise, component->estimates, n);
    if (!differs (&component->found, &found)) {
      component->found.certainty = found.certainty;
      return;
    }
  }
  component->found = found;
  nd_stabiliser_init (&component->stabiliser, self->settings.noise, found.gain,
      found.constant, found.sigma);
  restart (self, component);
}

/* The stream */

static gboolean
noise_push (NdAlgorithm *algorithm, const NdSamples *volume, GError **error)
{
  NdCpuNoise *self = (NdCpuNoise *) algorithm;

  g_return_val_if_fail (!noise_ready (algorithm), FALSE);
  for (gsize c = 0; c < self->shape.components; c++) {
    NoiseComponent *component = &self->components[c];
    gfloat *in = get_volume (self, component, self->pushed);

    nd_samples_read (volume, &self->shape, self->type, c, in);
    if (component->map)
      nd_sigma_map_add (component->map, in, self->pushed);
    else if (component->spectra)
      measure_spectrum (self, component);
    else if (component->inner)
      component->estimates[self->pushed % ND_DENOISE_MAX_ESTIMATES] =
          estimate (self, in);
  }
  self->pushed++;
  return TRUE;
}

typedef struct
{
  const NoiseComponent *component;
  gfloat *samples;
  gsize n;
  gboolean back;
} StepJob;

static void
step_plane (gsize z, guint worker, gpointer data)
{
  const StepJob *job = data;
  const gsize n = job->n;
  gfloat *samples = job->samples + z * n;
  const gfloat *sigma;

  if (!job->component->map) {
    (job->back ? nd_unstabilise : nd_stabilise) (&job->component->stabiliser,
        samples, n);
    return;
  }
  sigma = nd_sigma_map_values (job->component->map) + z * n;
  if (job->back) {
    for (gsize i = 0; i < n; i++)
      samples[i] *= sigma[i];
  } else {
    for (gsize i = 0; i < n; i++)
      samples[i] /= sigma[i];
  }
}

static void
run_step (const NdCpuNoise *self, const NoiseComponent *component,
    gboolean back)
{
  StepJob job = { component, self->numbers,
    self->shape.size[0] * self->shape.size[1], back };

  if (component->spectra)
    return;
  nd_parallel_for (self->shape.size[2], step_plane, &job);
}

/* Leaves the next output in self->numbers, unless it is not needed. */
static gboolean
run_inner (NdCpuNoise *self, NoiseComponent *component, gboolean is_needed,
    GError **error)
{
  const gint64 known = MIN (self->next + self->after + 1, self->pushed);
  const NdShape shape = { 1,
    { self->shape.size[0], self->shape.size[1], self->shape.size[2] } };
  const NdSamples numbers =
      nd_samples_dense (self->numbers, &shape, ND_FLOAT32);

  while (component->done <= self->next) {
    const gboolean is_last = component->done == self->next;

    if (nd_algorithm_ready (component->inner)) {
      if (!nd_algorithm_respond (component->inner,
              is_last && is_needed ? &numbers : NULL, error))
        return FALSE;
      component->done++;
      continue;
    }
    if (component->given == known) {
      nd_algorithm_end (component->inner);
      continue;
    }
    memcpy (self->numbers, get_volume (self, component, component->given),
        self->samples * sizeof (gfloat));
    run_step (self, component, FALSE);
    if (!nd_algorithm_push (component->inner, &numbers, error))
      return FALSE;
    component->given++;
  }
  if (is_needed)
    run_step (self, component, TRUE);
  return TRUE;
}

static gboolean
noise_respond (NdAlgorithm *algorithm, const NdSamples *out, GError **error)
{
  NdCpuNoise *self = (NdCpuNoise *) algorithm;

  g_return_val_if_fail (noise_ready (algorithm), FALSE);
  for (gsize c = 0; c < self->shape.components; c++) {
    NoiseComponent *component = &self->components[c];
    const gfloat *result = get_volume (self, component, self->next);

    if (component->inner) {
      if (component->map)
        update_map (self, component);
      else if (component->spectra)
        update_spectrum (self, component);
      else
        update (self, component);
      if (component->found.certainty > 0 && self->settings.strength > 0) {
        if (!run_inner (self, component, out != NULL, error))
          return FALSE;
        result = self->numbers;
      } else {
        /* The next one that is denoised needs those before it. */
        component->found.certainty = 0;
      }
    }
    if (out)
      nd_samples_write (out, &self->shape, self->type, c, result, NULL);
  }
  self->next++;
  return TRUE;
}

static NdDenoiseSettings
inner_settings (const NdDenoiseSettings *settings)
{
  NdDenoiseSettings inner = *settings;

  if (inner.noise != ND_NOISE_CORRELATED)
    inner.noise = ND_NOISE_ADDITIVE;
  inner.has_map = FALSE;
  inner.sigma = 1;
  return inner;
}

static void
noise_set_strength (NdAlgorithm *algorithm, const NdDenoiseSettings *settings)
{
  NdCpuNoise *self = (NdCpuNoise *) algorithm;
  NdDenoiseSettings inner = inner_settings (settings);

  self->settings.sigma = settings->sigma;
  self->settings.strength = settings->strength;
  for (gsize c = 0; c < self->shape.components; c++) {
    if (self->components[c].inner)
      nd_algorithm_set_strength (self->components[c].inner, &inner);
  }
}

static NdNoiseFound
noise_found (const NdAlgorithm *algorithm)
{
  const NdCpuNoise *self = (const NdCpuNoise *) algorithm;
  NdNoiseFound found = { .noise = self->settings.noise, .certainty = 2 };

  for (gsize c = 0; c < self->shape.components; c++) {
    if (self->components[c].inner
        && self->components[c].found.certainty < found.certainty)
      found = self->components[c].found;
  }
  return found;
}

static gdouble
noise_sigma (const NdAlgorithm *algorithm)
{
  const NdNoiseFound found = noise_found (algorithm);

  return found.noise == ND_NOISE_POISSON ? sqrt (MAX (found.constant, 0))
                                         : found.sigma;
}

static gsize
noise_bytes (const NdAlgorithm *algorithm)
{
  const NdCpuNoise *self = (const NdCpuNoise *) algorithm;
  gsize bytes = self->samples * sizeof (gfloat);

  for (gsize c = 0; c < self->shape.components; c++) {
    bytes += (self->before + self->after + 1) * self->samples * sizeof (gfloat);
    if (self->components[c].inner)
      bytes += nd_algorithm_bytes (self->components[c].inner);
    if (self->components[c].map)
      bytes += nd_sigma_map_bytes (self->shape.size);
  }
  return bytes;
}

static const NdAlgorithmClass noise_class = {
  .backend = "cpu",
  .push = noise_push,
  .ready = noise_ready,
  .respond = noise_respond,
  .end = noise_end,
  .reset = noise_reset,
  .free = noise_free,
  .bytes = noise_bytes,
  .set_strength = noise_set_strength,
  .sigma = noise_sigma,
  .found = noise_found,
};

static gboolean
init_noise_component (NdCpuNoise *self, NoiseComponent *component,
    const NdDenoiseBorders *borders, gboolean is_kept, GError **error)
{
  const NdDenoiseSettings inner = inner_settings (&self->settings);
  const NdShape shape = { 1,
    { self->shape.size[0], self->shape.size[1], self->shape.size[2] } };
  const gsize bytes = nd_size_mul (self->before + self->after + 1,
      self->samples, sizeof (gfloat));

  /* Those of the other components count, too. */
  if (!nd_memory_check (nd_size_mul (bytes, self->shape.components, 1), error))
    return FALSE;
  component->volumes = nd_memory_new (bytes, 1, error);
  if (!component->volumes)
    return FALSE;
  if (is_kept)
    return TRUE;
  if (self->settings.has_map) {
    component->map = nd_sigma_map_new (self->shape.size, self->settings.map);
    if (!component->map) {
      nd_memory_set_error (error, nd_sigma_map_bytes (self->shape.size));
      return FALSE;
    }
  }
  if (self->settings.noise == ND_NOISE_CORRELATED)
    component->spectra = nd_memory_new (ND_DENOISE_MAX_ESTIMATES,
        sizeof (NdNoiseSpectrum), error);
  if (self->settings.noise == ND_NOISE_CORRELATED && !component->spectra)
    return FALSE;
  component->inner =
      nd_cpu_denoise_new (&inner, borders, &shape, ND_FLOAT32, 0, -1, error);
  return component->inner != NULL;
}

NdAlgorithm *
nd_cpu_noise_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const NdShape *shape, NdSampleType type,
    guint64 kept, gint device_id, GError **error)
{
  NdCpuNoise *self;

  if (!nd_denoise_has_step (settings))
    return nd_cpu_denoise_new (settings, borders, shape, type, kept, device_id,
        error);
  self = g_new0 (NdCpuNoise, 1);
  self->parent.klass = &noise_class;
  self->settings = *settings;
  self->shape = *shape;
  self->type = type;
  self->samples = nd_size_mul (shape->size[0], shape->size[1], shape->size[2]);
  nd_denoise_window (settings, &self->before, &self->after);
  self->components =
      nd_memory_new (shape->components, sizeof (NoiseComponent), error);
  if (self->components)
    self->numbers = nd_memory_new (self->samples, sizeof (gfloat), error);
  if (!self->numbers) {
    noise_free (&self->parent);
    return NULL;
  }
  for (gsize c = 0; c < shape->components; c++) {
    if (!init_noise_component (self, &self->components[c], borders,
            c < 64 && kept >> c & 1, error)) {
      noise_free (&self->parent);
      return NULL;
    }
  }
  noise_reset (&self->parent);
  return &self->parent;
}
