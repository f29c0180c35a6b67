/* The state of the base class of algorithms, shared by its files.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/algorithm/gstndalgorithm.h"
#include "gst/base/gstnddevice.h"
#include "gst/base/gstndseek.h"
#include "gst/base/gstndtiming.h"

GST_DEBUG_CATEGORY_EXTERN (gst_nd_algorithm_debug);

G_BEGIN_DECLS

typedef struct
{
  /* Protected by the object lock. */
  gchar *strides;                      /* the property */
  GstNdComputeLatency compute_latency; /* the property */
  gboolean settings_changed;
  gboolean started;         /* from start() to stop() */
  GstNdResources resources; /* that the device was started for */
  gboolean negotiated;      /* settings are activated by the streaming thread */
  GstClockTime latency;     /* NONE before caps */
  GstClockTime earliest_time; /* from QoS; NONE: no output is late */
  guint64 in, out_count, late, clipped;
  guint64 stretches;
  guint64 gaps, missing; /* places in stretches, and volumes missing there */
  guint64 lost;          /* outputs that downstream did not take */
  guint64 flushed;       /* volumes without output because of a flush */
  gdouble seconds_min, seconds_sum, seconds_max;
  gdouble compute_peak;      /* seconds; of the slower ones of the outputs */
  const gchar *backend_name; /* of the algorithms */
  GstNdSeek seek;

  GstNdDevice device;

  /* Used by the streaming thread only. */
  GstNdFormat input, output;
  NdAlgorithm *algorithms[ND_MAX_PLANES];
  guint n_algorithms;       /* 0 before caps and after an error */
  guint n_threads;          /* of the algorithms */
  const NdBackend *backend; /* of the algorithms */
  GstCaps *output_caps;
  GstBufferPool *pool;
  guint before, after;
  gint failed;      /* gst_nd_was_posted(); atomic */
  gboolean discont; /* the next output has DISCONT */
  gboolean reverse;
  GQueue anchors;        /* in stream order: buffers without memory for volumes
                          * without output, and events between them */
  gint64 pushed, pulled; /* volumes of the stretch */
  gint64 last_sample;    /* the last volume without GAP */
  GstNdTiming timing;
  GstNdRestarts restarts;
  gdouble push_seconds;      /* of the volumes since the last output */
  gdouble last_push_seconds; /* of the last one */
  gboolean live;
  gboolean counts_compute; /* the latency includes the computing time */
} GstNdAlgorithmPrivate;

GstNdAlgorithmPrivate *gst_nd_algorithm_private (GstNdAlgorithm *self);
GstBaseTransformClass *gst_nd_algorithm_parent (void);

/* Frees the algorithms in use. */
void gst_nd_algorithm_clear (GstNdAlgorithm *self);
void gst_nd_algorithm_clear_pool (GstNdAlgorithm *self);

/* gstndalgorithmdevice.c: the choice of the back end, and memory. */

/* Makes the algorithms of all planes and the pool for outputs: on the device if
 * the properties allow it and the device can do it, otherwise on the CPU. */
gboolean gst_nd_algorithm_make (GstNdAlgorithm *self, GError **error);

/* Logs @text and the properties of the element. */
void gst_nd_algorithm_log_settings (GstNdAlgorithm *self, const gchar *text);

/* The pool alone. */
gboolean gst_nd_algorithm_make_pool (GstNdAlgorithm *self, GError **error);

/* Starts the device unless backend=cpu. FALSE if backend=cuda and there is
 * none. */
gboolean gst_nd_algorithm_start_device (GstNdAlgorithm *self, GError **error);

/* Whether buffers may be in memory of a device. */
gboolean gst_nd_algorithm_may_use_device (GstNdAlgorithm *self);

/* The back end of the algorithms, or NULL if that is the CPU. */
const NdBackend *gst_nd_algorithm_device_in_use (GstNdAlgorithm *self);

void gst_nd_algorithm_set_context (GstElement *element, GstContext *context);
GstStateChangeReturn gst_nd_algorithm_change_state (GstElement *element,
    GstStateChange transition);
gboolean gst_nd_algorithm_decide_allocation (GstBaseTransform *trans,
    GstQuery *query);
gboolean gst_nd_algorithm_propose_allocation (GstBaseTransform *trans,
    GstQuery *decide_query, GstQuery *query);

/* Posts @error unless an error was posted since start(). */
GstFlowReturn gst_nd_algorithm_fail (GstNdAlgorithm *self, const GError *error);

/* The latency in use, from the interval of the caps or the measured one, and
 * from the computing time; posts LATENCY if it changes. @exactly: also by less
 * than a tenth, and at once. */
void gst_nd_algorithm_update_latency (GstNdAlgorithm *self, gboolean exactly);

/* gstndalgorithmevents.c: events and queries. */
gboolean gst_nd_algorithm_sink_event (GstBaseTransform *trans, GstEvent *event);
gboolean gst_nd_algorithm_src_event (GstBaseTransform *trans, GstEvent *event);
gboolean gst_nd_algorithm_query (GstBaseTransform *trans,
    GstPadDirection direction, GstQuery *query);

/* gstndalgorithmstream.c: volumes enter, outputs leave. */
GstFlowReturn gst_nd_algorithm_take_volume (GstNdAlgorithm *self,
    GstBuffer *buffer);
gboolean gst_nd_algorithm_take_event (GstNdAlgorithm *self, GstEvent *event);

/* The same for a GAP event (docs/checklist.md, 14). */
gboolean gst_nd_algorithm_take_gap (GstNdAlgorithm *self, GstEvent *event);

/* Makes the outputs that are missing, then forgets the stretch. */
GstFlowReturn gst_nd_algorithm_end_stretch (GstNdAlgorithm *self,
    const gchar *reason);

/* The same for a break that the stream makes. Warns once if stretches are so
 * short that the element hardly works (docs/checklist.md, 15). */
GstFlowReturn gst_nd_algorithm_break_stretch (GstNdAlgorithm *self,
    const gchar *reason);

/* Forgets the stretch because of @reason and pushes nothing. Counts the volumes
 * that have no output. */
void gst_nd_algorithm_reset (GstNdAlgorithm *self, GstFlowReturn reason);

G_END_DECLS
