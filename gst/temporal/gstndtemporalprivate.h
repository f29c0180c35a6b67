/* The state of the base class of temporal elements, shared by its files. Each
 * file may call those below it:
 *
 *   gstndtemporal.c         the element: caps, states
 *   gstndtemporalproperties.c  its properties, presets, statistics
 *   gstndtemporalevents.c   events and queries
 *   gstndtemporalchange.c   settings that change while playing
 *   gstndtemporalstream.c   volumes, stretches, drains
 *   gstndtemporaloutput.c   outputs of the window, and their buffer pools
 *   gstndtemporalpending.c  outputs whose work is not complete
 *   gstndtemporalbuilder.c  processors: that in use, and a thread for the next
 *   gstndtemporallatency.c  the answer to LATENCY queries, and outputs whose
 *                           deadline has passed
 *   gstndtemporalsettings.c copies and comparisons of settings
 *   ndorder.c               the order of outputs and events, and volumes that
 *                           an overloaded element leaves out
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/temporal/gstndtemporal.h"

#include "gst/base/gstnddevice.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndformat.h"
#include "gst/base/gstndmemory.h"
#include "gst/base/gstndseek.h"
#include "gst/base/gstndthread.h"
#include "gst/base/gstndtiming.h"
#include "gst/temporal/ndorder.h"

GST_DEBUG_CATEGORY_EXTERN (gst_nd_temporal_debug);

G_BEGIN_DECLS

typedef struct
{
  guint64 n;
  gdouble min, sum, max;
} GstNdTemporalRange;

/* Times are seconds per output. The CPU only computes. */
typedef struct
{
  guint64 in, out, late;
  guint64 skipped;        /* left out because the element is overloaded */
  guint64 outside;        /* outputs that lie outside the segment */
  guint64 lost;           /* outputs that downstream did not take */
  guint64 flushed;        /* volumes without output because of a flush */
  guint64 stretches;      /* begun */
  guint64 gaps;           /* places in a stretch without one or more volumes */
  guint64 missing;        /* volumes that did not come there */
  guint64 held;           /* positions filled with the volume before them */
  guint64 released;       /* outputs that did not wait for later volumes */
  GstNdTemporalRange all; /* sum of the next three */
  GstNdTemporalRange upload, compute, download;
  GstNdTemporalRange wait;  /* the rest of the time from input to output */
  GstNdTemporalRange ahead; /* to begin an output, between two inputs */
} GstNdTemporalStats;

/* Of gstndtemporallatency.c. The object lock protects the first five; the
 * others are those of the streaming thread. */
typedef struct
{
  GstClockTime answer;     /* of this element; NONE before caps */
  GstClockTime needed;     /* without the limit max-latency */
  GstClockTime told;       /* in the last LATENCY message; NONE: none */
  gint64 told_at;          /* monotonic time of that message */
  gdouble compute_peak;    /* seconds; of the slower ones of the outputs */
  gboolean counts_compute; /* the answer includes the computing time */
  gboolean missed;         /* an output was late since the last volume */
  gboolean warned_rate;    /* since start() */
} GstNdTemporalLatency;

/* Of gstndtemporalstream.c: the time of the streaming thread. */
typedef struct
{
  gint64 begun;      /* monotonic time when the last input came */
  gint64 arrived;    /* the same, with new settings in use */
  GstClockTime busy; /* the last input kept a live stream waiting so long */
  gdouble ahead;     /* seconds between two inputs since the last output */
  gdouble push;      /* seconds in push since the last output */
  gdouble last_push; /* of the last volume */
} GstNdTemporalSpent;

/* See gstndtemporalpending.h. */
typedef struct
{
  GMutex lock;
  GCond changed;
  GQueue outputs;     /* GstNdPendingOutput; the thread completes the head */
  GstNdThread thread; /* started for the first output that needs it */
  gboolean stopping;
  gboolean dropping;
  guint waiting;     /* threads that wait for outputs to leave */
  GstFlowReturn ret; /* of the first push that failed */
} GstNdPendingOutputs;

/* See gstndtemporallatency.h. */
typedef struct
{
  GMutex lock;
  GCond changed;
  GstClockTime patience; /* after a volume; NONE: nothing waits */
  GstClockTime deadline; /* time of the clock; NONE: the thread sleeps */
  GstClockID id;         /* that the thread waits for, or NULL */
  gboolean playing;
  gboolean stopping;
  GstNdThread thread; /* started for the first output that waits */
} GstNdTemporalRelease;

/* See gstndtemporalbuilder.h. */
typedef struct
{
  GMutex lock;
  GCond changed;
  GstNdTemporalBuild *wanted;  /* until somebody takes it */
  GstNdTemporalBuild *running; /* the wanted one, or a cancelled one */
  GSList *disposed;            /* processors to free */
  gboolean flushing;
  gboolean stopping;
  GstNdThread thread;
} GstNdTemporalBuilder;

struct _GstNdTemporalPrivate
{
  /* Protected by the object lock. */
  GstNdTemporalSettings *settings; /* values of the properties */
  GstNdTemporalSettings *active; /* settings in use; the caps depend on them */
  GstNdTemporalSettings *proven; /* of the last processor, or NULL */
  gboolean negotiated;       /* active belongs to the streaming thread, which
                               * updates it at the next volume */
  gboolean settings_changed; /* settings were set since active was made */
  guint settings_held;       /* changes wait until it is 0 */
  gboolean started;          /* backend and devices stay those of active */
  GstNdTemporalLatency latency;
  NdThin thin;                /* only the streaming thread changes distance */
  GstClockTime earliest_time; /* from QoS; NONE: no output is late */
  GstNdTemporalStats stats;
  GstStructure *described; /* the processor in use, for stats */
  GstNdSeek seek;

  GstNdDevice device;

  /* Used by the streaming thread only. */
  GstNdFormat in, out;
  GstNdProcessor *processor; /* NULL before caps and after an error */
  GstNdTemporalBuild *next;  /* for the next set_caps() */
  gboolean interrupted;      /* set_caps() did not wait for the processor */
  GstNdTemporalBuilder builder;
  gboolean reverse;
  gint failed;         /* gst_nd_was_posted(); atomic */
  GThread *submitting; /* in submit_input_buffer() of the base class; atomic */
  gboolean live;       /* the streaming thread completes each output itself */
  NdOrder order;       /* of anchors, which are buffers without memory, and
                        * events; under_way is protected by pending.lock */
  GQueue inputs; /* GstNdMap of volumes that enqueued work may still read */
  GstNdTiming timing; /* of the inputs */
  GstNdRestarts restarts;
  gboolean left_out; /* the last input */
  GstNdTemporalSpent spent;
  GstNdMap *kept; /* last volume, if gap=hold and only the element can
                            * repeat it */
  GstNdPendingOutputs pending;
  GstNdTemporalRelease release;
};

/* GstBaseTransform, to chain up to. */
static inline GstBaseTransformClass *
gst_nd_temporal_parent (void)
{
  return GST_BASE_TRANSFORM_CLASS (g_type_class_peek (GST_TYPE_BASE_TRANSFORM));
}

/* gstndtemporalevents.c: virtual functions of GstBaseTransform. */
gboolean gst_nd_temporal_sink_event (GstBaseTransform *trans, GstEvent *event);
gboolean gst_nd_temporal_src_event (GstBaseTransform *trans, GstEvent *event);
gboolean gst_nd_temporal_query (GstBaseTransform *trans,
    GstPadDirection direction, GstQuery *query);

/* gstndtemporaloutput.c: the same. */
gboolean gst_nd_temporal_decide_allocation (GstBaseTransform *trans,
    GstQuery *query);
gboolean gst_nd_temporal_propose_allocation (GstBaseTransform *trans,
    GstQuery *decide_query, GstQuery *query);

/* gstndtemporalproperties.c: presets are files in presets/. All properties of a
 * preset change at once. */
void gst_nd_temporal_preset_init (gpointer preset_interface, gpointer unused);

/* Logs the @settings that do not have their default value. */
void gst_nd_temporal_log_settings (GstNdTemporal *self,
    const GstNdTemporalSettings *settings);

/* The value of the property `stats`, and a message with
 * it, which gst-launch-1.0 -m prints. */
GstStructure *gst_nd_temporal_stats (GstNdTemporal *self);
void gst_nd_temporal_post_stats (GstNdTemporal *self);
void gst_nd_temporal_range_add (GstNdTemporalRange *range, gdouble value);

/* gstndtemporaloutput.c */

/* Says which outputs lie outside the segment, and which are late according to
 * QoS. */
extern const NdOrderClock gst_nd_temporal_clock;

/* Makes all outputs that the window is ready for. */
GstFlowReturn gst_nd_temporal_push_ready (GstNdTemporal *self);

/* Gives back the inputs when the work so far is complete, in a pending output
 * without a buffer. */
GstFlowReturn gst_nd_temporal_send_inputs (GstNdTemporal *self);

/* Waits for the work so far, and gives back the inputs at once. */
void gst_nd_temporal_release_inputs (GstNdTemporal *self);

/* gstndtemporallatency.c: takes the caps or the processor that are in use from
 * now on, or the measured interval of the inputs and the computing time of the
 * outputs. Posts LATENCY if the answer changes (docs/checklist.md, 19);
 * update_latency() uses gst_nd_latency_differs_now(). */
void gst_nd_temporal_set_latency (GstNdTemporal *self);
void gst_nd_temporal_update_latency (GstNdTemporal *self);

/* The time in which the stream brings the next input, and that between two
 * volumes of the window; 0 if unknown. */
GstClockTime gst_nd_temporal_interval (GstNdTemporal *self);
GstClockTime gst_nd_temporal_distance (GstNdTemporal *self);

/* The time from the content of an output to its anchor, if outputs are stamped
 * with the time of their content; otherwise 0. */
GstClockTimeDiff gst_nd_temporal_content_lag (GstNdTemporal *self);

G_END_DECLS
