/* Base class of the elements that make one volume of each volume and of its
 * neighbours in time: caps, timestamps, the ends of stretches, latency, QoS and
 * changes while playing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/algorithm.h"
#include "gst/gstndformat.h"
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_ND_ALGORITHM (gst_nd_algorithm_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstNdAlgorithm, gst_nd_algorithm, GST, ND_ALGORITHM,
    GstBaseTransform)

typedef enum
{
  GST_ND_CHANGE_NONE,   /* done */
  GST_ND_CHANGE_STREAM, /* another algorithm: the stretch ends */
  GST_ND_CHANGE_CAPS    /* also another output */
} GstNdChange;

struct _GstNdAlgorithmClass
{
  GstBaseTransformClass parent_class;

  /* Checks the properties before caps are known. */
  gboolean (*check_settings) (GstNdAlgorithm *self, GError **error);

  /* Whether this is an input at all; ND_ERROR_FORMAT. */
  gboolean (*check_input) (GstNdAlgorithm *self, const GstNdFormat *in,
      GError **error);

  /* Transforms one structure of caps to that of the other pad, and adds it to
   * @to. */
  void (*transform_structure) (GstNdAlgorithm *self, GstPadDirection direction,
      const GstStructure *from, GstCaps *to);

  /* The properties of now are in use from now on. With the object lock. */
  void (*activate) (GstNdAlgorithm *self);

  /* The properties are again those in use. With the object lock. */
  void (*revert) (GstNdAlgorithm *self);

  /* The algorithm of @plane, with the active settings. */
  NdAlgorithm *(*build) (GstNdAlgorithm *self, const GstNdFormat *in,
      const GstNdFormat *out, guint plane, GError **error);

  /* The property n-threads. */
  guint (*get_threads) (GstNdAlgorithm *self);

  /* Volumes that an output reads before its anchor, and that it waits for. */
  void (*get_window) (GstNdAlgorithm *self, guint *before, guint *after);

  /* More volumes before the anchor that an output depends on, because values
   * are estimated from them. May be NULL: none. */
  guint (*get_memory) (GstNdAlgorithm *self);

  /* Properties changed since activate(). @algorithms, one for each plane, take
   * the changes that they can take. With the object lock. */
  GstNdChange (*change) (GstNdAlgorithm *self, NdAlgorithm **algorithms,
      guint n);

  /* Before respond(): @algorithms are those of the planes. May be NULL. */
  void (*update_stats) (GstNdAlgorithm *self, NdAlgorithm **algorithms,
      guint n);

  /* Adds to `stats`; with the object lock. */
  void (*add_stats) (GstNdAlgorithm *self, GstStructure *stats);
};

/* To be called for each property that was set, with the object lock. */
void gst_nd_algorithm_settings_changed (GstNdAlgorithm *self);

/* The value of the property `stats`. */
GstStructure *gst_nd_algorithm_stats (GstNdAlgorithm *self);

G_END_DECLS
