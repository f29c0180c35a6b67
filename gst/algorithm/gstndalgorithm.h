/* Base class of the elements that make one volume of each volume and of its
 * neighbours in time: caps, timestamps, the ends of stretches, latency, QoS and
 * changes while playing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"
#include "gst/base/gstndformat.h"
#include "gst/conv/gstndconvsettings.h"
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_ND_ALGORITHM (gst_nd_algorithm_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstNdAlgorithm, gst_nd_algorithm, GST, ND_ALGORITHM,
    GstBaseTransform)

typedef enum
{
  GST_ND_CHANGE_NONE,   /* nothing is left to do */
  GST_ND_CHANGE_STREAM, /* the stretch ends: another algorithm is needed */
  GST_ND_CHANGE_CAPS    /* the same, and the output caps change */
} GstNdChange;

/* The properties backend, device-id and n-threads. */
typedef struct
{
  GstNdBackendKind backend;
  gint device_id;
  guint n_threads;
} GstNdResources;

struct _GstNdAlgorithmClass
{
  GstBaseTransformClass parent_class;

  /* Checks the properties before caps are known. */
  gboolean (*check_settings) (GstNdAlgorithm *self, GError **error);

  /* Whether the algorithm can read this input; ND_ERROR_FORMAT if not. */
  gboolean (*check_input) (GstNdAlgorithm *self, const GstNdFormat *in,
      GError **error);

  /* Transforms one structure of caps to that of the other pad, and adds it to
   * @to. */
  void (*transform_structure) (GstNdAlgorithm *self, GstPadDirection direction,
      const GstStructure *from, GstCaps *to);

  /* Puts the current properties in use. Called with the object lock held. */
  void (*activate) (GstNdAlgorithm *self);

  /* Sets the properties back to those in use. Called with the object lock
   * held. */
  void (*revert) (GstNdAlgorithm *self);

  /* Lets transform_structure() use the properties instead of those in use, and
   * ends that. Called with the object lock held. May be NULL if no property
   * changes the output caps. */
  void (*preview) (GstNdAlgorithm *self, gboolean begin);

  /* Makes the algorithm of @plane, with the active settings. */
  NdAlgorithm *(*build) (GstNdAlgorithm *self, const NdAlgorithmFuncs *funcs,
      gint device_id, const GstNdFormat *in, const GstNdFormat *out,
      guint plane, GError **error);

  GstNdResources (*get_resources) (GstNdAlgorithm *self);

  /* Volumes that an output reads before its anchor, and that it waits for. */
  void (*get_window) (GstNdAlgorithm *self, guint *before, guint *after);

  /* The number of volumes before the window from which an output takes
   * estimates, for example of the noise. May be NULL: none. */
  guint (*get_memory) (GstNdAlgorithm *self);

  /* Called with the object lock held after properties changed. Changes
   * @algorithms, one for each plane, as far as they can change, and returns
   * the change that remains to be made. */
  GstNdChange (*change) (GstNdAlgorithm *self, NdAlgorithm **algorithms,
      guint n);

  /* Called after respond() with the algorithms of the planes. May be NULL. */
  void (*update_stats) (GstNdAlgorithm *self, NdAlgorithm **algorithms,
      guint n);

  /* Adds fields to `stats`. Called with the object lock held. */
  void (*add_stats) (GstNdAlgorithm *self, GstStructure *stats);
};

/* To be called for each property that was set, with the object lock. */
void gst_nd_algorithm_settings_changed (GstNdAlgorithm *self);

/* The value of the property `stats`. */
GstStructure *gst_nd_algorithm_stats (GstNdAlgorithm *self);

G_END_DECLS
