/* The properties of all temporal elements.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include "core/threads.h"
#include "engine/settings.h"
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

/* The first member of the settings of an element. */
typedef struct
{
  const struct _GstNdTemporalClass *klass; /* of the element */
  NdDeviceSettings device;
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

/* The device of memory and contexts, the first one of several; -1: any. */
gint gst_nd_temporal_settings_device (const GstNdTemporalSettings *settings);

/* The fields of `stats` that all elements have, after those of their
 * processor. */
#define GST_ND_TEMPORAL_STATS                                                 \
  "bytes of memory (uint64); lag, the number of volumes by which outputs "    \
  "show an earlier state than that of their anchors (double); counts "        \
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

/* The properties that all temporal elements have, for GstNdTemporalSettings. */
extern const NdSetting gst_nd_temporal_rows[];
extern const guint gst_nd_temporal_n_rows;

G_END_DECLS
