/* What a temporal element does with its volumes: for each one that is pushed, a
 * processor makes one output, after a bounded number of later volumes. Volumes
 * and outputs have one NdSamples for each plane.
 *
 * All functions but free() are called by the streaming thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"
#include "engine/fence.h"

G_BEGIN_DECLS

typedef struct _GstNdProcessor GstNdProcessor;

typedef struct
{
  void (*free) (GstNdProcessor *self);

  /* Adds one volume. If record() makes fences, its memory must stay valid until
   * the next one. */
  gboolean (*push) (GstNdProcessor *self, const NdSamples *volume,
      GError **error);

  /* Whether the next output can be made now. */
  gboolean (*ready) (GstNdProcessor *self);

  /* Makes the next output; skips it if @out is NULL. After an error only
   * reset() is possible. */
  gboolean (*respond) (GstNdProcessor *self, const NdSamples *out,
      GError **error);

  /* Ends the stretch: ready() is TRUE for all volumes without an output. */
  void (*end) (GstNdProcessor *self);

  /* Forgets all volumes. The next one begins a stretch. */
  void (*reset) (GstNdProcessor *self);

  /* Bytes of memory that it holds. */
  gsize (*bytes) (GstNdProcessor *self);

  /* The rest may be NULL. */

  /* Pushes the last volume again. FALSE without an error: it is not kept, and
   * nothing is pushed. NULL: the element keeps it; record must be NULL too. */
  gboolean (*repeat) (GstNdProcessor *self, GError **error);

  /* Volumes now arrive from the last to the first, or not. Forgets all
   * volumes. */
  void (*set_reverse) (GstNdProcessor *self, gboolean reverse);

  /* Work from now on starts after @fence. NULL: the element waits for it. */
  gboolean (*wait) (GstNdProcessor *self, NdFence *fence, GError **error);

  /* A fence after all work since the last one, or NULL if it is done. NULL: it
   * always is. */
  gboolean (*record) (GstNdProcessor *self, NdFence **fence, GError **error);

  /* Blocks until all work is done. */
  gboolean (*synchronize) (GstNdProcessor *self, GError **error);

  /* Begins the next output before its last volume arrives. FALSE if nothing was
   * done. */
  gboolean (*begin) (GstNdProcessor *self);

  /* Lets @self go on with the volumes of @old, which has the same class; FALSE
   * if they do not suffice. Then the caller calls replay() until it returns
   * FALSE, and makes outputs between the calls. @old must stay valid until
   * synchronize(). */
  gboolean (*proceed) (GstNdProcessor *self, GstNdProcessor *old);
  gboolean (*replay) (GstNdProcessor *self, GstNdProcessor *old,
      GError **error);
} GstNdProcessorClass;

/* The fields change in set_reverse() only, or when the element gives it new
 * settings. */
struct _GstNdProcessor
{
  const GstNdProcessorClass *klass;
  const NdBackend *backend;
  guint before, after; /* volumes that an output reads around its anchor */
  guint delay;         /* later volumes that it waits for */
  guint back, ahead;   /* volumes on both sides that it depends on, in the order
                        * of arrival, for accurate seeks */
  guint turns;         /* volumes that are computed at the same time */
  gdouble lag;         /* volumes from an anchor back to its content */
  gdouble estimate;    /* seconds per volume, or 0 */
};

static inline void
gst_nd_processor_free (GstNdProcessor *self)
{
  self->klass->free (self);
}

static inline gboolean
gst_nd_processor_synchronize (GstNdProcessor *self, GError **error)
{
  return !self->klass->synchronize || self->klass->synchronize (self, error);
}

static inline gboolean
gst_nd_processor_record (GstNdProcessor *self, NdFence **fence, GError **error)
{
  *fence = NULL;
  return !self->klass->record || self->klass->record (self, fence, error);
}

static inline gboolean
gst_nd_processor_wait (GstNdProcessor *self, NdFence *fence, GError **error)
{
  return self->klass->wait ? self->klass->wait (self, fence, error)
                           : nd_fence_synchronize (fence, NULL, error);
}

static inline void
gst_nd_processor_set_reverse (GstNdProcessor *self, gboolean reverse)
{
  if (self->klass->set_reverse)
    self->klass->set_reverse (self, reverse);
}

/* The back end if it has a device, otherwise NULL. */
static inline const NdBackend *
gst_nd_processor_device (const GstNdProcessor *self)
{
  return self && self->backend->memory ? self->backend : NULL;
}

G_END_DECLS
