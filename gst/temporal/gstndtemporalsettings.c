/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporal.h"

#include "engine/devices.h"

static ND_DEFINE_ENUM (gap_enum, "GstNdGap",
    { GST_ND_GAP_LEAVE_OUT,
        "Nothing; the window spans the volumes that "
        "arrived",
        "leave-out" },
    { GST_ND_GAP_HOLD, "The volume before it", "hold" },
    { GST_ND_GAP_RESTART, "Nothing; each missing volume ends the stretch",
        "restart" });

static ND_DEFINE_ENUM (stamp_enum, "GstNdStamp",
    { GST_ND_STAMP_ANCHOR, "The time of the volume that the output belongs to",
        "anchor" },
    { GST_ND_STAMP_CONTENT,
        "The time of the contents, which is earlier by the lag of a causal "
        "filter; the latency grows by the same time",
        "content" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (GstNdTemporalSettings, __VA_ARGS__)

const NdSetting gst_nd_temporal_rows[] = {
  /* Since: 0.9 */
  { "gap", "Gap",
      "Replacement of volumes that are missing from a stretch, "
      "which is a run of volumes without a break in time",
      FIELD (ENUM, timing.gap, GstNdGap, gap_enum, GST_ND_GAP_LEAVE_OUT),
      ND_OF_STREAM },
  { "gap-limit", "Gap limit",
      "Longest time between two volumes of a stretch, in measured "
      "intervals; a longer gap ends the stretch and empties the window. "
      "0: no gap ends a stretch",
      FIELD (DOUBLE, timing.limit, 0, G_MAXDOUBLE, 5), ND_OF_STREAM },
  { "gap-jitter", "Gap jitter",
      "Measured intervals by which a volume may come late before another "
      "volume counts as missing",
      FIELD (DOUBLE, timing.jitter, 0, G_MAXDOUBLE, 0.5), ND_OF_STREAM },
  { "gap-discont", "Gap at DISCONT",
      "Whether the flag DISCONT of a buffer begins a new stretch. It "
      "does not if the timestamps show that volumes are missing before "
      "the buffer, which explains the flag",
      FIELD (BOOLEAN, timing.discont, TRUE), ND_OF_STREAM },
  { "compute-latency", "Compute latency",
      "Whether the answer to LATENCY queries includes the measured "
      "computing time",
      FIELD (ENUM, compute_latency, GstNdComputeLatency,
          gst_nd_compute_latency_enum, GST_ND_COMPUTE_LATENCY_AUTO),
      ND_OF_STREAM },
  { "max-latency", "Longest latency",
      "Longest answer to LATENCY queries in a live stream, in nanoseconds, and "
      "at least the time that the later volumes of the window take; 0: no "
      "limit. Outputs that take longer are late",
      FIELD (INT64, max_latency, 0, G_MAXINT64, 5 * GST_SECOND), ND_OF_STREAM },
  { "release-after", "Release after",
      "Nanoseconds without a volume after which outputs are made without the "
      "later volumes that they wait for, at least the time that these take; 0: "
      "never; -1: 3.5 s in live streams, otherwise never. The next volume "
      "begins a stretch",
      FIELD (INT64, release_after, -1, G_MAXINT64, -1), ND_OF_STREAM },
  { "strides", "Strides",
      "Bytes from row to row, and from slice to slice, of input volumes whose "
      "rows or slices are padded: \"row\" or \"row:slice\". Volumes without "
      "padding are accepted too",
      FIELD (STRING, strides, ""), ND_OF_STREAM },

  { "stamp", "Stamp",
      "Timestamp of an output. stats has the lag, in volumes; no output "
      "has a timestamp before the start of the segment",
      FIELD (ENUM, stamp, GstNdStamp, stamp_enum, GST_ND_STAMP_ANCHOR),
      ND_OF_STREAM },
};
const guint gst_nd_temporal_n_rows = G_N_ELEMENTS (gst_nd_temporal_rows);

GstNdTemporalSettings *
gst_nd_temporal_settings_new (const GstNdTemporalClass *klass)
{
  GstNdTemporalSettings *settings = g_malloc0 (klass->settings_size);

  settings->klass = klass;
  nd_settings_init (klass->rows, klass->n_rows, settings);
  return settings;
}

GstNdTemporalSettings *
gst_nd_temporal_settings_dup (const GstNdTemporalSettings *settings)
{
  GstNdTemporalSettings *copy = gst_nd_temporal_settings_new (settings->klass);

  gst_nd_temporal_settings_copy (copy, settings);
  return copy;
}

void
gst_nd_temporal_settings_free (GstNdTemporalSettings *settings)
{
  nd_settings_clear (settings->klass->rows, settings->klass->n_rows, settings);
  g_free (settings);
}

void
gst_nd_temporal_settings_copy (GstNdTemporalSettings *to,
    const GstNdTemporalSettings *from)
{
  const GstNdTemporalClass *klass = to->klass;

  nd_settings_assign (klass->rows, klass->n_rows, to, from);
  memcpy ((guint8 *) to + klass->derived,
      (const guint8 *) from + klass->derived,
      klass->settings_size - klass->derived);
}

static gboolean
is_of_play (const NdSetting *row)
{
  return !(row->flags & ND_READY);
}

static gboolean
is_of_stream (const NdSetting *row)
{
  return row->flags & ND_OF_STREAM;
}

static gboolean
is_controlled (const NdSetting *row)
{
  return row->flags & ND_OF_STREAM && row->flags & ND_CONTROLLED;
}

static void
copy_rows (GstNdTemporalSettings *to, const GstNdTemporalSettings *from,
    gboolean (*is_wanted) (const NdSetting *row))
{
  const GstNdTemporalClass *klass = to->klass;

  for (guint i = 0; i < klass->n_rows; i++) {
    if (is_wanted (&klass->rows[i]))
      nd_settings_assign (&klass->rows[i], 1, to, from);
  }
}

void
gst_nd_temporal_settings_copy_of_play (GstNdTemporalSettings *to,
    const GstNdTemporalSettings *from)
{
  copy_rows (to, from, is_of_play);
}

void
gst_nd_temporal_settings_copy_of_stream (GstNdTemporalSettings *to,
    const GstNdTemporalSettings *from)
{
  copy_rows (to, from, is_of_stream);
}

void
gst_nd_temporal_settings_copy_controlled (GstNdTemporalSettings *to,
    const GstNdTemporalSettings *from)
{
  copy_rows (to, from, is_controlled);
}

gboolean
gst_nd_temporal_settings_have_same_processor (const GstNdTemporalSettings *a,
    const GstNdTemporalSettings *b)
{
  const GstNdTemporalClass *klass = a->klass;

  for (guint i = 0; i < klass->n_rows; i++) {
    if (!(klass->rows[i].flags & ND_OF_STREAM)
        && !nd_setting_is_equal (&klass->rows[i], a, b))
      return FALSE;
  }
  return TRUE;
}

gint
gst_nd_temporal_settings_device (const GstNdTemporalSettings *settings)
{
  return nd_devices_first (settings->device.devices,
      settings->device.device_id);
}
