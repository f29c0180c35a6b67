/* Algorithms that are not filters. For every volume of a stream an algorithm
 * computes one output, after a bounded number of later volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/bmode.h"
#include "analysis/deconvolve.h"
#include "analysis/denoise.h"
#include "analysis/rank.h"
#include "analysis/register.h"
#include "analysis/scan.h"
#include "analysis/structure.h"
#include "engine/job.h"

G_BEGIN_DECLS

typedef struct _NdAlgorithm NdAlgorithm;

/* Registration of a stream. */
typedef struct
{
  NdRegisterSettings settings;
  NdReference reference;
  gint channel;    /* the component that is measured; -1: the mean of all */
  gboolean passes; /* outputs are the volumes as they are */
  NdInterpolation interpolation;
  NdBorder border;
  gfloat border_value;
} NdRegisterOptions;

/* Order statistics of a stream. */
typedef struct
{
  NdRankOperation operation;
  gdouble percentile;
  const NdFootprint *footprint; /* read by rank_new() only */
  NdBorder border, time_border;
  gdouble border_value;
} NdRankOptions;

/* Deconvolution of volumes. */
typedef struct
{
  NdDeconvolveSettings settings;
  NdBorder border;
  gdouble border_value;
} NdDeconvolveOptions;

/* Functions of a back end. Volumes and outputs alternate: push() one, then
 * respond() while ready(). When they return, push() has read the volume, and
 * respond() has written the output; after an error too, the memory is not used
 * any more. If one of them fails, both fail until reset(). */
typedef struct
{
  const gchar *backend;

  /* Adds one volume, in memory of the host or of the back end's device. The
   * caller may change it afterwards. */
  gboolean (*push) (NdAlgorithm *self, const NdSamples *volume, GError **error);

  /* Whether the next output can be made now. */
  gboolean (*ready) (const NdAlgorithm *self);

  /* Makes the next output, in memory of the host or of the back end's device;
   * skips it if @out is NULL. */
  gboolean (*respond) (NdAlgorithm *self, const NdSamples *out, GError **error);

  /* Ends the stretch: ready() is now TRUE for all volumes that have no output
   * yet. */
  void (*end) (NdAlgorithm *self);

  /* Begins a new stretch, and forgets all volumes. */
  void (*reset) (NdAlgorithm *self);
  void (*free) (NdAlgorithm *self);

  /* The bytes of memory that it holds. */
  gsize (*bytes) (const NdAlgorithm *self);

  /* Registration only, otherwise NULL. Uses @options from the next volume on.
   * The reference stays, unless they ask for another one. */
  void (*set_register) (NdAlgorithm *self, const NdRegisterOptions *options);

  /* Registration only, otherwise NULL. What was found for the last volume that
   * was pushed. */
  const NdRegistration *(*registration) (const NdAlgorithm *self);

  /* Denoising only, otherwise NULL. Uses sigma and strength of @settings from
   * the next output on. */
  void (*set_strength) (NdAlgorithm *self, const NdDenoiseSettings *settings);

  /* Denoising only, otherwise NULL. The standard deviation of the noise, given
   * or estimated, that the last output was computed with, without the strength:
   * the largest of all components. */
  gdouble (*sigma) (const NdAlgorithm *self);

  /* Denoising only, otherwise NULL; NULL too if nothing but sigma is known. The
   * noise that the last output was computed with, of the component with the
   * least certainty. */
  NdNoiseFound (*found) (const NdAlgorithm *self);

  /* Deconvolution only, otherwise NULL. Uses @settings from the next output
   * on. */
  void (*set_deconvolve) (NdAlgorithm *self,
      const NdDeconvolveSettings *settings);

  /* Deconvolution only, otherwise NULL. What was computed for the last output:
   * the largest numbers of all components. */
  const NdDeconvolution *(*deconvolution) (const NdAlgorithm *self);
} NdAlgorithmClass;

struct _NdAlgorithm
{
  const NdAlgorithmClass *klass;
};

typedef struct
{
  NdBorder border, time_border;
  gfloat border_value;
} NdDenoiseBorders;

/* An optional part of a back end. ND_ERROR_SETTINGS if it does not support the
 * settings, ND_ERROR_MEMORY if the memory does not suffice. @device_id
 * is -1 for any device. */
typedef struct
{
  /* Denoises a stream of volumes of @shape, each component by itself.
   * Components whose bit is set in @kept pass unchanged. Outputs have the type
   * of the input. */
  NdAlgorithm *(*denoise_new) (const NdDenoiseSettings *settings,
      const NdDenoiseBorders *borders, const NdShape *shape, NdSampleType type,
      guint64 kept, gint device_id, GError **error);

  /* Measures of local structure. @shape has 3, 6 or 10 components: tensors of
   * float32. The output is float32. */
  NdAlgorithm *(*structure_new) (const NdStructureSettings *settings,
      const NdShape *shape, gint device_id, GError **error);

  /* Moves volumes to a reference. A volume has @n_planes planes of @shapes,
   * which cover the same space; the first one is measured. push() and respond()
   * take as many NdSamples. Samples of the first plane are @spacing mm apart.
   * Outputs have the type of the input. Unlike other algorithms, it keeps the
   * reference in reset(). NULL if the back end cannot do it. */
  NdAlgorithm *(*register_new) (const NdRegisterOptions *options,
      const NdShape *shapes, guint n_planes, NdSampleType type,
      const gdouble spacing[3], gint device_id, GError **error);

  /* Converts volumes of @type, one by one, as @scan says, which need not
   * outlive the call. NULL if the back end cannot do it. */
  NdAlgorithm *(*scan_new) (const NdScan *scan, NdSampleType type,
      gint device_id, GError **error);

  /* The same for lines of RF or IQ. Outputs have @out_type. */
  NdAlgorithm *(*bmode_new) (const NdBmode *bmode, NdSampleType type,
      NdSampleType out_type, gint device_id, GError **error);

  /* Median, percentile and morphology of a stream of volumes of @shape, each
   * component by itself. Components whose bit is set in @kept pass unchanged.
   * Outputs have the type of the input; differences are saturated. NULL if the
   * back end cannot do it. */
  NdAlgorithm *(*rank_new) (const NdRankOptions *options, const NdShape *shape,
      NdSampleType type, guint64 kept, gint device_id, GError **error);

  /* Deconvolves volumes of @shape, each component by itself, by @psf, which is
   * copied. Components whose bit is set in @kept pass unchanged. Outputs have
   * the type of the input. Errors also of nd_deconvolve_psf(). NULL if the
   * back end cannot do it. */
  NdAlgorithm *(*deconvolve_new) (const NdDeconvolveOptions *options,
      const NdBank *psf, const NdShape *shape, NdSampleType type, guint64 kept,
      gint device_id, GError **error);
} NdAlgorithmFuncs;

/* The functions of @self, for one thread at a time. NULL can be freed. */
static inline gboolean
nd_algorithm_push (NdAlgorithm *self, const NdSamples *volume, GError **error)
{
  return self->klass->push (self, volume, error);
}

static inline gboolean
nd_algorithm_ready (const NdAlgorithm *self)
{
  return self->klass->ready (self);
}

static inline gboolean
nd_algorithm_respond (NdAlgorithm *self, const NdSamples *out, GError **error)
{
  return self->klass->respond (self, out, error);
}

static inline void
nd_algorithm_end (NdAlgorithm *self)
{
  self->klass->end (self);
}

static inline void
nd_algorithm_reset (NdAlgorithm *self)
{
  self->klass->reset (self);
}

static inline void
nd_algorithm_free (NdAlgorithm *self)
{
  if (self)
    self->klass->free (self);
}

static inline gsize
nd_algorithm_bytes (const NdAlgorithm *self)
{
  return self->klass->bytes (self);
}

static inline void
nd_algorithm_set_strength (NdAlgorithm *self, const NdDenoiseSettings *settings)
{
  self->klass->set_strength (self, settings);
}

static inline void
nd_algorithm_set_register (NdAlgorithm *self, const NdRegisterOptions *options)
{
  self->klass->set_register (self, options);
}

static inline const NdRegistration *
nd_algorithm_registration (const NdAlgorithm *self)
{
  return self->klass->registration (self);
}

static inline gdouble
nd_algorithm_sigma (const NdAlgorithm *self)
{
  return self->klass->sigma (self);
}

static inline NdNoiseFound
nd_algorithm_found (const NdAlgorithm *self)
{
  const NdNoiseFound none = { ND_NOISE_ADDITIVE, 0, 0, 0, 0 };

  return self->klass->found ? self->klass->found (self) : none;
}

static inline void
nd_algorithm_set_deconvolve (NdAlgorithm *self,
    const NdDeconvolveSettings *settings)
{
  self->klass->set_deconvolve (self, settings);
}

static inline const NdDeconvolution *
nd_algorithm_deconvolution (const NdAlgorithm *self)
{
  return self->klass->deconvolution (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdAlgorithm, nd_algorithm_free)

G_END_DECLS
