/* What the two halves of the base class share: gstndconv.c, the element, and
 * gstndconvstream.c, what volumes do to the window.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "gstndconv.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 in, out, late, clipped;
  gdouble min, sum, max;        /* seconds of computing, per output */
} GstNdConvStats;

typedef struct
{
  /* Under the object lock. */
  GstNdConvSettings settings;   /* as the properties say */
  GstNdConvSettings active;     /* those in use; caps are for these */
  guint n_filters;              /* of active.filter; 1 where unreadable */
  gboolean negotiated;          /* from then on active is the streaming
                                 * thread's, and follows at the next volume */
  gboolean settings_changed;    /* settings, since active was made */
  GstClockTime latency;         /* our own; NONE before caps */
  GstClockTime earliest_time;   /* QoS; NONE: never late */
  GstNdConvStats stats;
  GstStructure *plan_stats;     /* of the convolver in use */

  /* Of the streaming thread. */
  GstNdFormat in, out;
  NdConvolver *convolver;       /* NULL before caps, and after an error */
  NdScale scale[ND_MAX_PLANES];
  gboolean reverse;
  gboolean failed;              /* an error was posted */
  gboolean discont;             /* to mark on the next output */
  GQueue anchors;               /* memory-less buffers, of volumes that have no
                                 * output yet */
  GstClockTime expected;        /* timestamp of the next input */
  gdouble push_seconds;         /* computing since the last output */
  gint64 last_sample;           /* position of the last one that is no GAP */
} GstNdConvPrivate;

GstNdConvPrivate *gst_nd_conv_private (GstNdConv * self);

/* Under the object lock: @settings are those in use from now on. Where a filter
 * cannot be read, what is negotiated comes to nothing anyway: start() or
 * set_caps() says so. */
void gst_nd_conv_activate (GstNdConv * self,
    const GstNdConvSettings * settings);

/* A convolver for @settings and the input in use. */
NdConvolver *gst_nd_conv_build (GstNdConv * self,
    const GstNdConvSettings * settings, NdSampleType out_type,
    GError ** error);

/* Takes a convolver that was built for the active settings. */
void gst_nd_conv_use (GstNdConv * self, NdConvolver * convolver);

/* Posts LATENCY where our own changed (19). */
void gst_nd_conv_set_latency (GstNdConv * self);

/* Reports @error, once: what follows fails in silence. */
GstFlowReturn gst_nd_conv_fail (GstNdConv * self, const GError * error);

/* Takes the settings that were made since the last volume (30). */
GstFlowReturn gst_nd_conv_apply_settings (GstNdConv * self);

/* Puts one volume into the window, and pushes the outputs that it completes. */
GstFlowReturn gst_nd_conv_take_volume (GstNdConv * self, GstBuffer * buffer);

/* Pushes what remains, with the time border beyond the end, and forgets the
 * stream; what follows does not go on from it (8). */
GstFlowReturn gst_nd_conv_end_stretch (GstNdConv * self);

/* Forgets the stream, and pushes nothing (13). */
void gst_nd_conv_reset (GstNdConv * self);

G_END_DECLS
