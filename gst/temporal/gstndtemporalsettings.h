/* The properties of all temporal elements.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include "core/threads.h"
#include "gst/base/gstndbackends.h"
#include "gst/base/gstndlatency.h"
#include "gst/base/gstndproperties.h"
#include "gst/base/gstndtiming.h"

G_BEGIN_DECLS

/* The time that an output is stamped with. Numbers of enums are public and
 * never change. A new value gets the next free number. */
typedef enum
{
  GST_ND_STAMP_ANCHOR = 0,
  GST_ND_STAMP_CONTENT = 1 /* of its contents: earlier by the lag */
} GstNdStamp;

/* The first member of the settings of an element. devices and precision have a
 * row in the filters only. */
typedef struct
{
  const struct _GstNdTemporalClass *klass; /* of the element */
  GstNdBackendKind backend;
  gint device_id;
  gchar *devices;
  NdPrecision precision;
  guint n_threads;
  GstNdTimingRule timing;
  GstNdComputeLatency compute_latency;
  gint64 max_latency, release_after;
  gchar *strides;
  GstNdStamp stamp;
} GstNdTemporalSettings;

/* With the default values. */
GstNdTemporalSettings *
gst_nd_temporal_settings_new (const struct _GstNdTemporalClass *klass);
GstNdTemporalSettings *
gst_nd_temporal_settings_dup (const GstNdTemporalSettings *settings);
void gst_nd_temporal_settings_free (GstNdTemporalSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNdTemporalSettings,
    gst_nd_temporal_settings_free)
void gst_nd_temporal_settings_copy (GstNdTemporalSettings *to,
    const GstNdTemporalSettings *from);

/* Copies all but the properties that take effect in start(). */
void gst_nd_temporal_settings_copy_of_play (GstNdTemporalSettings *to,
    const GstNdTemporalSettings *from);

/* Copies the settings that no processor depends on. */
void gst_nd_temporal_settings_copy_of_stream (GstNdTemporalSettings *to,
    const GstNdTemporalSettings *from);

/* Copies those of them that GstController can change. */
void gst_nd_temporal_settings_copy_controlled (GstNdTemporalSettings *to,
    const GstNdTemporalSettings *from);

/* Whether one processor can be used for both. */
gboolean
gst_nd_temporal_settings_have_same_processor (const GstNdTemporalSettings *a,
    const GstNdTemporalSettings *b);

/* "cpu", "cuda", or NULL for auto. */
const gchar *
gst_nd_temporal_settings_backend (const GstNdTemporalSettings *settings);

/* The device of memory and contexts, the first one of several; -1: any. */
gint gst_nd_temporal_settings_device (const GstNdTemporalSettings *settings);

/* Enumerations as GObject types. */
GType gst_nd_border_get_type (void);
GType gst_nd_gap_get_type (void);
GType gst_nd_stamp_get_type (void);

/* The fields of `stats` that all elements have, after those of their
 * processor. */
#define GST_ND_TEMPORAL_STATS                                                 \
  "bytes of memory (uint64); lag, the number of volumes by which outputs "    \
  "show an earlier state than that of their anchors (double). Counts "        \
  "(uint64): volumes-in; volumes-out; volumes-late, outputs that were not "   \
  "computed because they would be late; volumes-skipped, volumes of live "    \
  "streams that were left out at equal distances because the element cannot " \
  "compute as many as arrive; volumes-outside-segment, outputs that were "    \
  "not pushed because they lie outside the segment that was asked for "       \
  "(volumes-clipped is its old name); volumes-lost, volumes whose outputs "   \
  "downstream did not take; volumes-flushed, volumes that a flush or a "      \
  "state change discarded; stretches, runs of volumes without a break in "    \
  "time; gaps, places in stretches at which volumes are missing; "            \
  "volumes-missing, the volumes that are missing there; volumes-held, "       \
  "positions of missing volumes that were filled with the volume before "     \
  "them (gap=hold); volumes-released, outputs that were made without the "    \
  "later volumes of their window because none came. Seconds per volume "      \
  "(double), each with -min, -mean and -max: seconds of work, and its parts " \
  "on a device, upload-seconds, compute-seconds and download-seconds; "       \
  "wait-seconds, the rest of the time from the arrival of the last volume "   \
  "that an output needs to the output; ahead-seconds, work on an output "     \
  "before that volume arrives, which the work above does not contain (live "  \
  "streams only)"

/* The rows of a table for @Struct, whose member `base` is a
 * GstNdTemporalSettings. */
#define GST_ND_TEMPORAL_ROWS(Struct)                                           \
  /* Since: 0.1 */                                                             \
  { "backend", "Back end", "Device to compute on",                             \
    GST_ND_ENUM (Struct, base.backend, GstNdBackendKind,                       \
        gst_nd_backend_get_type, GST_ND_BACKEND_AUTO),                         \
    GST_ND_READY },                                                            \
      { "device-id", "Device ID",                                              \
        "GPU to compute on, counted from 0; -1: the GPU of the neighbouring "  \
        "elements, or the first one",                                          \
        GST_ND_INT (Struct, base.device_id, -1, G_MAXINT, -1),                 \
        GST_ND_READY }, /* Since: 0.9 */                                       \
      { "gap", "Gap",                                                          \
        "Replacement of volumes that are missing from a stretch, "             \
        "which is a run of volumes without a break in time",                   \
        GST_ND_ENUM (Struct, base.timing.gap, GstNdGap, gst_nd_gap_get_type,   \
            GST_ND_GAP_LEAVE_OUT),                                             \
        GST_ND_PLAYING, TRUE },                                                \
      { "gap-limit", "Gap limit",                                              \
        "Longest time between two volumes of a stretch, in measured "          \
        "intervals; a longer gap ends the stretch and empties the window. "    \
        "0: no gap ends a stretch",                                            \
        GST_ND_DOUBLE (Struct, base.timing.limit, 0, G_MAXDOUBLE, 5),          \
        GST_ND_PLAYING, TRUE },                                                \
      { "gap-jitter", "Gap jitter",                                            \
        "Measured intervals by which a volume may come late before another "   \
        "volume counts as missing",                                            \
        GST_ND_DOUBLE (Struct, base.timing.jitter, 0, G_MAXDOUBLE, 0.5),       \
        GST_ND_PLAYING, TRUE },                                                \
      { "gap-discont", "Gap at DISCONT",                                       \
        "Whether the flag DISCONT of a buffer begins a new stretch. It "       \
        "does not if the timestamps show that volumes are missing before "     \
        "the buffer, which explains the flag",                                 \
        GST_ND_BOOLEAN (Struct, base.timing.discont, TRUE), GST_ND_PLAYING,    \
        TRUE },                                                                \
      { "compute-latency", "Compute latency",                                  \
        "Whether the answer to LATENCY queries includes the measured "         \
        "computing time",                                                      \
        GST_ND_ENUM (Struct, base.compute_latency, GstNdComputeLatency,        \
            gst_nd_compute_latency_get_type, GST_ND_COMPUTE_LATENCY_AUTO),     \
        GST_ND_PLAYING, TRUE },                                                \
      { "max-latency", "Longest latency",                                      \
        "Longest answer to LATENCY queries in a live stream, in nanoseconds; " \
        "0: no limit. The time that later volumes of the window take at the "  \
        "pace of the input is answered in any case. Outputs that take longer " \
        "are late",                                                            \
        GST_ND_INT64 (Struct, base.max_latency, 0, G_MAXINT64,                 \
            5 * GST_SECOND),                                                   \
        GST_ND_PLAYING, TRUE },                                                \
      { "release-after", "Release after",                                      \
        "Nanoseconds without a volume after which outputs that wait for "      \
        "later volumes are made without them, as at the end of the stream; "   \
        "at least the time that these volumes take. 0: never; -1: 3.5 s in "   \
        "live streams, otherwise never. The next volume begins a stretch",     \
        GST_ND_INT64 (Struct, base.release_after, -1, G_MAXINT64, -1),         \
        GST_ND_PLAYING, TRUE },                                                \
      { "strides", "Strides",                                                  \
        "Bytes from row to row, and from slice to slice, of input volumes "    \
        "whose rows or slices are padded: \"row\" or \"row:slice\". Volumes "  \
        "without padding are accepted too. Frames have a GstVideoMeta "        \
        "instead",                                                             \
        GST_ND_STRING (Struct, base.strides, ""), GST_ND_PLAYING, TRUE },      \
      { "n-threads", "Threads",                                                \
        "Threads that compute on the CPU; 0: the cores that the process "      \
        "may use, or the environment variable NDCONV_THREADS",                 \
        GST_ND_UINT (Struct, base.n_threads, 0, ND_MAX_THREADS, 0),            \
        GST_ND_PLAYING },                                                      \
  {                                                                            \
    "stamp", "Stamp",                                                          \
        "Timestamp of an output. stats has the lag, in volumes; no output "    \
        "has a timestamp before the start of the segment",                     \
        GST_ND_ENUM (Struct, base.stamp, GstNdStamp, gst_nd_stamp_get_type,    \
            GST_ND_STAMP_ANCHOR),                                              \
        GST_ND_PLAYING, TRUE                                                   \
  }

G_END_DECLS
