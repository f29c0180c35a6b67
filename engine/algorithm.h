/* Algorithms that are not filters. For every volume of a stream an algorithm
 * computes one output, after a bounded number of later volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/job.h"

G_BEGIN_DECLS

typedef struct _NdAlgorithm NdAlgorithm;

/* Functions of a back end. Volumes and outputs alternate: push() one, then
 * respond() while ready(). */
typedef struct
{
  const gchar *backend;

  /* Adds one volume, which the caller may change afterwards. */
  gboolean (*push) (NdAlgorithm *self, const NdSamples *volume, GError **error);

  /* Whether the next output can be made now. */
  gboolean (*ready) (const NdAlgorithm *self);

  /* Makes the next output; skips it if @out is NULL. */
  gboolean (*respond) (NdAlgorithm *self, const NdSamples *out, GError **error);

  /* Ends the stretch: ready() is now TRUE for all volumes that have no output
   * yet. */
  void (*end) (NdAlgorithm *self);

  /* Begins a new stretch, and forgets all volumes. */
  void (*reset) (NdAlgorithm *self);
  void (*free) (NdAlgorithm *self);
} NdAlgorithmClass;

struct _NdAlgorithm
{
  const NdAlgorithmClass *klass;
};

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

G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdAlgorithm, nd_algorithm_free)

G_END_DECLS
