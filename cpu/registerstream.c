/* The reference of a stream, and volumes that are moved to it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"

#include "core/error.h"
#include "core/memory.h"
#include "cpu/denoisesamples.h"
#include "cpu/registerkernels.h"
#include "cpu/registerphase.h"
#include "cpu/registerwarp.h"

#include <math.h>
#include <string.h>

#define MAX_PLANES 4

/* The distances of samples that are possible, mm. */
#define MIN_SPACING 1e-6
#define MAX_SPACING 1e6

/* Volumes that a running mean follows: each counts 1/RUNNING. */
#define RUNNING 16

typedef struct
{
  NdAlgorithm parent;
  NdRegisterOptions options;
  NdRegisterPlan plan;
  guint n_planes;
  NdShape shapes[MAX_PLANES];
  NdSampleType type;
  gdouble spacing[3];

  gfloat *planes[MAX_PLANES]; /* the last volume: component after component */
  gfloat *mean;               /* of the components, if they are measured */
  gfloat *moved;              /* one component */
  NdRegisterPyramid *pyramid;
  NdRegisterReference *reference;
  NdRegisterPhase *phase; /* NULL: method=intensity */
  gfloat *volume;         /* that is the reference */
  gdouble offset;         /* the mean of its samples */
  guint64 count;          /* volumes in it; 0: there is none */

  guint64 pushed;    /* volumes since the first, or since another reference was
                      * asked for */
  gboolean is_ready; /* the last volume has no output yet */
  gdouble expected;  /* see nd_register_follow() */
  NdAffine base;     /* of the reference, if it changes from volume to volume */
  NdRegistration last;
  gsize bytes;
} NdCpuRegister;

static gsize
count_samples (const NdShape *shape)
{
  return shape->size[0] * shape->size[1] * shape->size[2];
}

static void
nd_cpu_register_free (NdAlgorithm *algorithm)
{
  NdCpuRegister *self = (NdCpuRegister *) algorithm;

  for (guint p = 0; p < self->n_planes; p++)
    g_free (self->planes[p]);
  g_free (self->mean);
  g_free (self->moved);
  g_free (self->volume);
  nd_register_pyramid_free (self->pyramid);
  nd_register_reference_free (self->reference);
  nd_register_phase_free (self->phase);
  g_free (self);
}

static void
forget_motion (NdCpuRegister *self)
{
  self->last = (NdRegistration){ .motion = nd_affine_identity () };
  self->base = self->last.motion;
  self->expected = 0;
}

static void
forget_reference (NdCpuRegister *self)
{
  self->count = self->pushed = 0;
  forget_motion (self);
}

/* The reference stays: a stream that was interrupted shows the same object. */
static void
nd_cpu_register_reset (NdAlgorithm *algorithm)
{
  ((NdCpuRegister *) algorithm)->is_ready = FALSE;
}

static void
nd_cpu_register_end (NdAlgorithm *algorithm)
{
}

static gboolean
nd_cpu_register_ready (const NdAlgorithm *algorithm)
{
  return ((const NdCpuRegister *) algorithm)->is_ready;
}

/* The samples that are measured. */
static const gfloat *
measured_samples (NdCpuRegister *self)
{
  const gsize n = count_samples (&self->shapes[0]);
  const gsize components = self->shapes[0].components;
  const gint channel = self->options.channel;

  if (channel >= 0)
    return self->planes[0] + MIN ((gsize) channel, components - 1) * n;
  if (components == 1)
    return self->planes[0];
  memcpy (self->mean, self->planes[0], n * sizeof (gfloat));
  for (gsize c = 1; c < components; c++) {
    const gfloat *from = self->planes[0] + c * n;

    for (gsize i = 0; i < n; i++)
      self->mean[i] += from[i];
  }
  for (gsize i = 0; i < n; i++)
    self->mean[i] /= components;
  return self->mean;
}

/* Makes the volume in @self->volume the reference. FALSE if no sample of it can
 * be measured. */
static gboolean
set_reference (NdCpuRegister *self)
{
  self->offset = nd_register_mean (&self->plan, self->volume);
  nd_register_pyramid_set (self->pyramid, self->volume, self->offset);
  nd_register_reference_set (self->reference, self->pyramid, self->offset);
  if (self->phase)
    nd_register_phase_set_reference (self->phase, self->volume, self->offset);
  return self->reference->weight > 0;
}

static void
try_reference (NdCpuRegister *self, const gfloat *samples)
{
  memcpy (self->volume, samples,
      count_samples (&self->shapes[0]) * sizeof (gfloat));
  forget_motion (self);
  self->count = set_reference (self) ? 1 : 0;
  self->last = (NdRegistration){ .motion = nd_affine_identity (),
    .measured = self->count > 0,
    .converged = self->count > 0,
    .overlap = self->count > 0 };
}

/* Adds the last volume, moved, to the mean that is or will be the reference. */
static void
add_to_mean (NdCpuRegister *self, const gfloat *samples)
{
  const gsize n = count_samples (&self->shapes[0]);
  const NdAffine map = nd_register_indices (&self->plan, &self->last.motion);
  const gfloat share = 1.f / (self->count + 1);

  nd_cpu_warp (self->shapes[0].size, samples, &map, ND_INTERPOLATION_CUBIC,
      ND_BORDER_CONSTANT, NAN, self->shapes[0].size, self->moved);
  for (gsize i = 0; i < n; i++) {
    if (isfinite (self->moved[i]) && isfinite (self->volume[i]))
      self->volume[i] += share * (self->moved[i] - self->volume[i]);
  }
}

/* What follows from the motion of the last volume. */
static void
advance_reference (NdCpuRegister *self, const gfloat *samples)
{
  const NdRegisterOptions *options = &self->options;
  gboolean sets = FALSE;

  if (options->reference.kind == ND_REFERENCE_MEAN
      && self->count < options->reference.number) {
    add_to_mean (self, samples);
    sets = ++self->count == options->reference.number;
  } else if (options->reference.kind == ND_REFERENCE_RUNNING) {
    add_to_mean (self, samples);
    self->count = MIN (self->count + 1, RUNNING - 1);
    sets = TRUE;
  } else if (options->reference.kind == ND_REFERENCE_PREVIOUS) {
    memcpy (self->volume, samples,
        count_samples (&self->shapes[0]) * sizeof (gfloat));
    self->base = self->last.motion;
    sets = TRUE;
  }
  /* Without a sample that counts, the next volume is the reference. */
  if (sets && !set_reference (self))
    self->count = 0;
}

static void
measure (NdCpuRegister *self, const gfloat *samples)
{
  const gboolean composes =
      self->options.reference.kind == ND_REFERENCE_PREVIOUS;
  const NdAffine start = composes ? nd_affine_identity () : self->last.motion;
  const NdAffine before = self->last.motion;
  const NdRegisterMeter meter = { nd_register_reference_measure,
    self->reference, self->reference->weight,
    self->phase ? nd_register_phase_measure : NULL, self->phase };

  nd_register_pyramid_set (self->pyramid, samples, self->offset);
  self->reference->volume = self->pyramid;
  if (self->phase)
    nd_register_phase_set_volume (self->phase, samples);
  nd_register_follow (&self->plan, &meter, &start, &self->expected,
      &self->last);
  if (!self->last.measured) {
    /* The next volume may be near to the last one that was measured. */
    self->last.motion = before;
    return;
  }
  if (composes)
    self->last.motion = nd_affine_compose (&self->last.motion, &self->base);
  if (!nd_affine_is_possible (&self->last.motion)) {
    forget_reference (self);
    return;
  }
  advance_reference (self, samples);
}

static gboolean
nd_cpu_register_push (NdAlgorithm *algorithm, const NdSamples *volume,
    GError **error)
{
  NdCpuRegister *self = (NdCpuRegister *) algorithm;
  const gfloat *samples;

  g_return_val_if_fail (!self->is_ready, FALSE);
  for (guint p = 0; p < self->n_planes; p++) {
    const NdShape *shape = &self->shapes[p];

    for (gsize c = 0; c < shape->components; c++)
      nd_samples_read (&volume[p], shape, self->type, c,
          self->planes[p] + c * count_samples (shape));
  }
  samples = measured_samples (self);
  if (self->count > 0)
    measure (self, samples);
  else if (self->options.reference.kind == ND_REFERENCE_NUMBER
      && self->pushed < self->options.reference.number) {
    forget_motion (self);
    self->last.waits = TRUE;
  } else
    try_reference (self, samples);
  self->pushed++;
  self->is_ready = TRUE;
  return TRUE;
}

/* The map for plane @p, whose samples cover the space of those of plane 0. */
static NdAffine
plane_map (const NdCpuRegister *self, guint p)
{
  const NdAffine map = nd_register_indices (&self->plan, &self->last.motion);
  gdouble factor[3], origin[3];
  NdAffine to_first, back, moved;

  for (guint a = 0; a < 3; a++) {
    factor[a] = (gdouble) self->shapes[0].size[a] / self->shapes[p].size[a];
    origin[a] = (factor[a] - 1) / 2;
  }
  to_first = nd_affine_of_samples (factor, origin);
  nd_affine_invert (&to_first, &back);
  moved = nd_affine_compose (&map, &to_first);
  return nd_affine_compose (&back, &moved);
}

static gboolean
nd_cpu_register_respond (NdAlgorithm *algorithm, const NdSamples *out,
    GError **error)
{
  NdCpuRegister *self = (NdCpuRegister *) algorithm;
  const NdRegisterOptions *options = &self->options;
  const NdAffine none = nd_affine_identity ();
  const gboolean moves = !options->passes && self->last.measured
      && memcmp (&none, &self->last.motion, sizeof (none)) != 0;

  g_return_val_if_fail (self->is_ready, FALSE);
  self->is_ready = FALSE;
  if (!out)
    return TRUE;
  for (guint p = 0; p < self->n_planes; p++) {
    const NdShape *shape = &self->shapes[p];
    const NdAffine map = plane_map (self, p);

    for (gsize c = 0; c < shape->components; c++) {
      const gfloat *from = self->planes[p] + c * count_samples (shape);

      if (moves)
        nd_cpu_warp (shape->size, from, &map, options->interpolation,
            options->border, options->border_value, shape->size, self->moved);
      nd_samples_write (&out[p], shape, self->type, c,
          moves ? self->moved : from, NULL);
    }
  }
  return TRUE;
}

static gsize
nd_cpu_register_bytes (const NdAlgorithm *algorithm)
{
  return ((const NdCpuRegister *) algorithm)->bytes;
}

static const NdRegistration *
nd_cpu_register_registration (const NdAlgorithm *algorithm)
{
  return &((const NdCpuRegister *) algorithm)->last;
}

static void
plan (NdCpuRegister *self)
{
  nd_register_plan_init (&self->plan, &self->options.settings,
      self->shapes[0].size, self->spacing);
}

static void
nd_cpu_register_set_register (NdAlgorithm *algorithm,
    const NdRegisterOptions *options)
{
  NdCpuRegister *self = (NdCpuRegister *) algorithm;
  const NdRegisterOptions before = self->options;

  self->options = *options;
  plan (self);
  if (before.settings.model != options->settings.model)
    forget_motion (self);
  if (before.reference.kind != options->reference.kind
      || before.reference.number != options->reference.number
      || before.channel != options->channel)
    forget_reference (self);
  else if (self->count > 0
      && (before.settings.levels != options->settings.levels
          || before.settings.nonzero != options->settings.nonzero)
      && !set_reference (self))
    forget_reference (self);
}

static const NdAlgorithmClass register_class = {
  .backend = "cpu",
  .push = nd_cpu_register_push,
  .ready = nd_cpu_register_ready,
  .respond = nd_cpu_register_respond,
  .end = nd_cpu_register_end,
  .reset = nd_cpu_register_reset,
  .free = nd_cpu_register_free,
  .bytes = nd_cpu_register_bytes,
  .set_register = nd_cpu_register_set_register,
  .registration = nd_cpu_register_registration,
};

/* Plans with all levels, which can change later, and sets the bytes and the
 * samples of the largest plane. FALSE if they are too many. */
static gboolean
plan_memory (NdCpuRegister *self, gsize *largest)
{
  NdRegisterSettings settings = self->options.settings;

  *largest = 0;
  for (guint p = 0; p < self->n_planes; p++) {
    const gsize n = count_samples (&self->shapes[p]);
    const gsize bytes =
        nd_size_mul (n, self->shapes[p].components, sizeof (gfloat));

    if (n > ND_WARP_MAX_SAMPLES
        || bytes > G_MAXSSIZE / (2 * MAX_PLANES)
                - ND_REGISTER_ROOM * sizeof (gfloat))
      return FALSE;
    *largest = MAX (*largest, n + ND_REGISTER_ROOM);
    self->bytes += bytes + ND_REGISTER_ROOM * sizeof (gfloat);
  }
  settings.levels = ND_REGISTER_MAX_LEVELS;
  nd_register_plan_init (&self->plan, &settings, self->shapes[0].size,
      self->spacing);
  self->bytes += 3 * *largest * sizeof (gfloat)
      + nd_register_pyramid_bytes (&self->plan)
      + nd_register_reference_bytes (&self->plan);
  if (settings.method != ND_REGISTER_INTENSITY)
    self->bytes += nd_register_phase_bytes (&self->plan);
  return nd_memory_check (self->bytes, NULL);
}

static gboolean
allocate (NdCpuRegister *self)
{
  gsize largest;

  if (!plan_memory (self, &largest))
    return FALSE;
  for (guint p = 0; p < self->n_planes; p++) {
    self->planes[p] = g_try_new0 (gfloat,
        count_samples (&self->shapes[p]) * self->shapes[p].components
            + ND_REGISTER_ROOM);
    if (!self->planes[p])
      return FALSE;
  }
  self->mean = g_try_new0 (gfloat, largest);
  self->moved = g_try_new0 (gfloat, largest);
  self->volume = g_try_new0 (gfloat, largest);
  self->pyramid = nd_register_pyramid_new (&self->plan);
  self->reference = nd_register_reference_new (&self->plan);
  if (!self->mean || !self->moved || !self->volume || !self->pyramid
      || !self->reference)
    return FALSE;
  if (self->options.settings.method == ND_REGISTER_INTENSITY)
    return TRUE;
  self->phase = nd_register_phase_new (&self->plan, self->pyramid);
  return self->phase != NULL;
}

NdAlgorithm *
nd_cpu_register_new (const NdRegisterOptions *options, const NdShape *shapes,
    guint n_planes, NdSampleType type, const gdouble spacing[3], gint device_id,
    GError **error)
{
  NdCpuRegister *self;

  g_return_val_if_fail (n_planes <= MAX_PLANES, NULL);
  for (guint a = 0; a < 3; a++) {
    if (!(spacing[a] >= MIN_SPACING && spacing[a] <= MAX_SPACING)) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "The samples are %g mm apart along axis %u, but registration needs "
          "distances from %g to %g mm: correct the spacing",
          spacing[a], a, MIN_SPACING, MAX_SPACING);
      return NULL;
    }
  }
  self = g_new0 (NdCpuRegister, 1);
  self->parent.klass = &register_class;
  self->options = *options;
  self->n_planes = n_planes;
  memcpy (self->shapes, shapes, n_planes * sizeof (NdShape));
  memcpy (self->spacing, spacing, sizeof (self->spacing));
  self->type = type;
  if (!allocate (self)) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory to register volumes of %" G_GSIZE_FORMAT
        " x %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
        ", or they have 2^31 samples or more: use smaller volumes",
        shapes[0].size[0], shapes[0].size[1], shapes[0].size[2]);
    nd_cpu_register_free (&self->parent);
    return NULL;
  }
  plan (self);
  forget_reference (self);
  return &self->parent;
}
