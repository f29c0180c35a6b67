/* The state of the base class of algorithms, shared by its files.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/gstndalgorithm.h"
#include "gst/gstndseek.h"
#include "gst/gstndtiming.h"

GST_DEBUG_CATEGORY_EXTERN (gst_nd_algorithm_debug);

G_BEGIN_DECLS

typedef struct
{
  /* Protected by the object lock. */
  gboolean settings_changed;
  gboolean negotiated;  /* settings are activated by the streaming thread */
  GstClockTime latency; /* NONE before caps */
  GstClockTime earliest_time; /* from QoS; NONE: no output is late */
  guint64 in, out_count, late, clipped;
  gdouble seconds_min, seconds_sum, seconds_max;
  GstNdSeek seek;

  /* Used by the streaming thread only. */
  GstNdFormat input, output;
  NdAlgorithm *algorithms[ND_MAX_PLANES];
  guint n_algorithms; /* 0 before caps and after an error */
  guint n_threads;    /* of the algorithms */
  GstBufferPool *pool;
  guint before, after;
  gint failed;      /* an error was posted; atomic */
  gboolean discont; /* the next output has DISCONT */
  gboolean reverse;
  GQueue anchors;        /* in stream order: buffers without memory for volumes
                          * without output, and events between them */
  gint64 pushed, pulled; /* volumes of the stretch */
  gint64 last_sample;    /* the last volume without GAP */
  GstNdTiming timing;
  gdouble push_seconds;
} GstNdAlgorithmPrivate;

GstNdAlgorithmPrivate *gst_nd_algorithm_private (GstNdAlgorithm *self);
GstBaseTransformClass *gst_nd_algorithm_parent (void);

/* Frees the algorithms in use. */
void gst_nd_algorithm_clear (GstNdAlgorithm *self);

/* Posts @error unless an error was posted since start(). */
GstFlowReturn gst_nd_algorithm_fail (GstNdAlgorithm *self, const GError *error);

/* The latency in use, from the caps' rate or, without one, from the measured
 * interval; posts LATENCY if it changes. */
void gst_nd_algorithm_update_latency (GstNdAlgorithm *self);

/* gstndalgorithmevents.c: events and queries. */
gboolean gst_nd_algorithm_sink_event (GstBaseTransform *trans, GstEvent *event);
gboolean gst_nd_algorithm_src_event (GstBaseTransform *trans, GstEvent *event);
gboolean gst_nd_algorithm_query (GstBaseTransform *trans,
    GstPadDirection direction, GstQuery *query);

/* gstndalgorithmstream.c: volumes enter, outputs leave. */
GstFlowReturn gst_nd_algorithm_take_volume (GstNdAlgorithm *self,
    GstBuffer *buffer);
gboolean gst_nd_algorithm_take_event (GstNdAlgorithm *self, GstEvent *event);

/* Makes the outputs that are missing, then forgets the stretch. */
GstFlowReturn gst_nd_algorithm_end_stretch (GstNdAlgorithm *self,
    const gchar *reason);

/* Forgets the stretch and pushes nothing. */
void gst_nd_algorithm_reset (GstNdAlgorithm *self);

G_END_DECLS
