/* What the parts of the base class share: gstndconv.c, the element;
 * gstndconvmemory.c, memory for volumes; gstndconvevents.c, events and queries;
 * gstndconvplan.c, the convolver; gstndconvstream.c, what volumes do to the
 * window.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "gstndconv.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 n;
  gdouble min, sum, max;
} GstNdConvRange;

/* Seconds per output; where there is no device, all is compute. */
typedef struct
{
  guint64 in, out, late, clipped;
  GstNdConvRange all;           /* of the next three */
  GstNdConvRange upload, compute, download;
  GstNdConvRange wait;          /* neither of these, from arrival to output */
} GstNdConvStats;

/* See gstndconvflight.h. */
typedef struct
{
  GMutex lock;
  GCond changed;
  GQueue loads;                 /* GstNdLoad; the head is being let out */
  GThread *thread;              /* from the first one on */
  gboolean stopping;
  gboolean dropping;
  GstFlowReturn ret;            /* of the first push that failed */
} GstNdConvFlight;

typedef struct
{
  /* Under the object lock. */
  GstNdConvSettings settings;   /* as the properties say */
  GstNdConvSettings active;     /* those in use; caps are for these */
  NdResponses bank;             /* of active.filter; 1, real, if unreadable */
  gboolean negotiated;          /* from then on active is the streaming
                                 * thread's, and follows at the next volume */
  gboolean settings_changed;    /* settings, since active was made */
  GstClockTime latency;         /* our own; NONE before caps */
  GstClockTime earliest_time;   /* QoS; NONE: never late */
  GstNdConvStats stats;
  GstStructure *plan_stats;     /* of the convolver in use */

  /* See gstndcuda.h; from start() to NULL it stays. */
  GRecMutex context_lock;
  GstObject *context;

  /* Of the streaming thread. */
  GstNdFormat in, out;
  NdConvolver *convolver;       /* NULL before caps, and after an error */
  NdScale scale[ND_MAX_PLANES];
  gboolean reverse;
  gint failed;                  /* an error was posted; atomic */
  gboolean discont;             /* to mark on the next output */
  gboolean live;                /* outputs are waited for at once */
  GQueue anchors;               /* memory-less buffers, of volumes that have no
                                 * output yet, and events between them */
  GQueue inputs;                /* GstNdMap of volumes that may be read still */
  GstClockTime expected;        /* timestamp of the next input */
  gint64 arrived;               /* monotonic time of the last input */
  gdouble push_seconds;         /* computing since the last output, where the
                                 * back end does not enqueue it */
  gint64 last_sample;           /* position of the last one that is no GAP */
  GstNdConvFlight flight;
} GstNdConvPrivate;

GstNdConvPrivate *gst_nd_conv_private (GstNdConv * self);
GstBaseTransformClass *gst_nd_conv_parent (void);

/* Functions of the class. */
gboolean gst_nd_conv_decide_allocation (GstBaseTransform * trans,
    GstQuery * query);
gboolean gst_nd_conv_propose_allocation (GstBaseTransform * trans,
    GstQuery * decide_query, GstQuery * query);
gboolean gst_nd_conv_sink_event (GstBaseTransform * trans, GstEvent * event);
gboolean gst_nd_conv_src_event (GstBaseTransform * trans, GstEvent * event);
gboolean gst_nd_conv_query (GstBaseTransform * trans,
    GstPadDirection direction, GstQuery * query);

/* Under the object lock: @settings are those in use from now on. Where a filter
 * cannot be read, what is negotiated comes to nothing anyway: start() or
 * set_caps() says so. */
void gst_nd_conv_activate (GstNdConv * self,
    const GstNdConvSettings * settings);

/* Whether a bank may filter @format as @settings say; ND_ERROR_FORMAT. */
gboolean gst_nd_conv_check_input (const GstNdConvSettings * settings,
    const NdResponses * bank, const GstNdFormat * format, GError ** error);

/* A convolver for @settings and the input in use. */
NdConvolver *gst_nd_conv_build (GstNdConv * self,
    const GstNdConvSettings * settings, NdSampleType out_type,
    GError ** error);

/* Takes a convolver that was built for the active settings. */
void gst_nd_conv_use (GstNdConv * self, NdConvolver * convolver);

/* Gain and offset of the active settings, for each plane. */
void gst_nd_conv_set_scales (GstNdConv * self);

/* The back end with a device, where the settings allow it and it can be had. */
const NdBackend *gst_nd_conv_device (const GstNdConvSettings * settings);

/* The same, where the convolver in use is on it. */
const NdBackend *gst_nd_conv_device_in_use (GstNdConv * self);

/* Posts LATENCY where our own changed (19). */
void gst_nd_conv_set_latency (GstNdConv * self);

/* Reports @error, once: what follows fails in silence. */
GstFlowReturn gst_nd_conv_fail (GstNdConv * self, const GError * error);

/* Takes the settings that were made since the last volume (30). */
GstFlowReturn gst_nd_conv_apply_settings (GstNdConv * self);

/* Puts one volume into the window, and pushes the outputs that it completes. */
GstFlowReturn gst_nd_conv_take_volume (GstNdConv * self, GstBuffer * buffer);

/* Sends @event, taken, when the outputs of all volumes before it are. */
gboolean gst_nd_conv_take_event (GstNdConv * self, GstEvent * event);

/* Pushes what remains, with the time border beyond the end, and forgets the
 * stream; what follows does not go on from it (8). */
GstFlowReturn gst_nd_conv_end_stretch (GstNdConv * self);

/* Forgets the stream, and pushes nothing (13). */
void gst_nd_conv_reset (GstNdConv * self);

G_END_DECLS
