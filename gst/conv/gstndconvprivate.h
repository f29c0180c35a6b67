/* The state of the base class of the filters, shared by its files. Each file
 * may call those below it:
 *
 *   gstndconv.c         the element: caps, states
 *   gstndconvproperties.c  its properties
 *   gstndconvevents.c   events and queries
 *   gstndconvchange.c   settings that change while playing
 *   gstndconvstream.c   volumes, stretches, drains
 *   gstndconvoutput.c   outputs of the window
 *   gstndconvpending.c  outputs whose work is not complete
 *   gstndconvmemory.c   buffer pools
 *   gstndconvplan.c     the convolver in use
 *   gstndconvbuilder.c  the thread that makes the next one
 *   gstndconvbuild.c    a convolver from settings and a format
 *   gstndconvstats.c    counts and times
 *   gstndconvlatency.c  the answer to LATENCY queries
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconv.h"

#include "gst/base/gstnddevice.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndformat.h"
#include "gst/base/gstndseek.h"
#include "gst/base/gstndthread.h"
#include "gst/base/gstndtiming.h"
#include "gst/conv/gstndtensors.h"

GST_DEBUG_CATEGORY_EXTERN (gst_nd_conv_debug);

G_BEGIN_DECLS

typedef struct
{
  guint64 n;
  gdouble min, sum, max;
} GstNdConvRange;

/* Times are seconds per output. The CPU only computes. */
typedef struct
{
  guint64 in, out, late;
  guint64 outside;    /* outputs that lie outside the segment */
  guint64 samples;    /* of all outputs */
  guint64 lost;       /* outputs that downstream did not take */
  guint64 flushed;    /* volumes without output because of a flush */
  guint64 stretches;  /* begun */
  guint64 gaps;       /* places in a stretch without one or more volumes */
  guint64 missing;    /* volumes that did not come there */
  guint64 held;       /* positions filled with the volume before them */
  GstNdConvRange all; /* sum of the next three */
  GstNdConvRange upload, compute, download;
  GstNdConvRange wait;  /* the rest of the time from input to output */
  GstNdConvRange ahead; /* to begin an output, between two inputs */
} GstNdConvStats;

/* See gstndconvpending.h. */
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

typedef struct _GstNdConvBuild GstNdConvBuild;

/* See gstndconvbuilder.h. */
typedef struct
{
  GMutex lock;
  GCond changed;
  GstNdConvBuild *wanted;  /* until somebody takes it */
  GstNdConvBuild *running; /* the wanted one, or a cancelled one */
  GSList *disposed;        /* convolvers to free */
  gboolean flushing;
  gboolean stopping;
  GstNdThread thread;
} GstNdConvBuilder;

struct _GstNdConvPrivate
{
  /* Protected by the object lock. */
  GstNdConvSettings settings; /* values of the properties */
  GstNdConvSettings active;   /* settings in use; the caps depend on them */
  NdBankInfo bank;            /* of active.filter; 1, real if unreadable */
  GstNdConvSettings proven;   /* of the last convolver, if has_proven */
  gboolean has_proven;
  gboolean negotiated;        /* active belongs to the streaming thread, which
                               * updates it at the next volume */
  gboolean settings_changed;  /* settings were set since active was made */
  guint settings_held;        /* changes wait until it is 0 */
  gboolean started;           /* backend and devices stay those of active */
  GstClockTime latency;       /* of this element; NONE before caps */
  gdouble compute_peak;       /* seconds; of the slower ones of the outputs */
  GstClockTime earliest_time; /* from QoS; NONE: no output is late */
  gboolean spans_time;        /* outputs need more than one volume */
  gboolean counts_saturation; /* of integer outputs; not every back end can */
  gboolean warned_saturation, warned_rate; /* since start() */
  GstNdConvStats stats;
  GstStructure *plan_stats; /* about the convolver in use */
  GstNdSeek seek;

  GstNdDevice device;

  /* Used by the streaming thread only. */
  GstNdTensors tensors;
  GstNdFormat in, out;
  NdConvolver *convolver; /* NULL before caps and after an error */
  GstNdConvBuild *next;   /* for the next set_caps() */
  gboolean interrupted;   /* set_caps() did not wait for the convolver */
  GstNdConvBuilder builder;
  NdScale scale[ND_MAX_PLANES];
  gsize saturated; /* samples since start(); back ends count, atomic */
  gboolean reverse;
  gint failed;         /* gst_nd_was_posted(); atomic */
  GThread *submitting; /* in submit_input_buffer() of the base class; atomic */
  gboolean discont;    /* the next output has DISCONT */
  gboolean live;       /* the streaming thread completes each output itself */
  GQueue anchors;      /* in stream order: buffers without memory for volumes
                     * that have no output yet, and events between them */
  GQueue inputs; /* GstNdMap of volumes that enqueued work may still read */
  GstNdTiming timing; /* of the inputs */
  GstNdRestarts restarts;
  gdouble lag;             /* volumes from an anchor back to its content */
  gboolean counts_compute; /* the latency includes the computing time */
  gint64 arrived;          /* monotonic time of the last input */
  gdouble push_seconds;    /* spent in push since the last output */
  gint64 last_sample;      /* position of the last volume without GAP */
  GstNdPendingOutputs pending;
};

/* GstBaseTransform, to chain up to. */
static inline GstBaseTransformClass *
gst_nd_conv_parent (void)
{
  return GST_BASE_TRANSFORM_CLASS (g_type_class_peek (GST_TYPE_BASE_TRANSFORM));
}

/* Posts @error unless an error was posted since start(). Returns
 * GST_FLOW_ERROR. */
#define gst_nd_conv_fail(self, error) \
  gst_nd_conv_fail_full (self, error, __FILE__, GST_FUNCTION, __LINE__)

static inline GstFlowReturn
gst_nd_conv_fail_full (GstNdConv *self, const GError *error, const gchar *file,
    const gchar *function, gint line)
{
  if (gst_nd_posting_begin (&self->priv->failed)) {
    gst_nd_element_error_once_full (GST_ELEMENT (self), error, file, function,
        line);
    gst_nd_posting_end (&self->priv->failed);
  }
  return GST_FLOW_ERROR;
}

G_END_DECLS
