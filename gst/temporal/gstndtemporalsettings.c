/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporal.h"

#include "engine/border.h"
#include "engine/devices.h"

GType
gst_nd_border_get_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_BORDER_CONSTANT, "border-value everywhere: v v | a b c d | v v",
        "constant" },
    { ND_BORDER_NEAREST, "the sample at the edge: a a | a b c d | d d",
        "nearest" },
    { ND_BORDER_REFLECT, "mirrored about the edge: b a | a b c d | d c",
        "reflect" },
    { ND_BORDER_MIRROR,
        "mirrored about the sample at the edge: c b | a b c d | c b",
        "mirror" },
    { ND_BORDER_WRAP, "the opposite end: c d | a b c d | a b", "wrap" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdBorder", values);
}

GType
gst_nd_gap_get_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { GST_ND_GAP_LEAVE_OUT,
        "Nothing; the window spans the volumes that "
        "arrived",
        "leave-out" },
    { GST_ND_GAP_HOLD, "The volume before it", "hold" },
    { GST_ND_GAP_RESTART, "Nothing; each missing volume ends the stretch",
        "restart" },
    { 0, NULL, NULL }
  };

  return gst_nd_enum_type (&type, "GstNdGap", values);
}

GType
gst_nd_stamp_get_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { GST_ND_STAMP_ANCHOR, "The time of the volume that the output belongs to",
        "anchor" },
    { GST_ND_STAMP_CONTENT,
        "The time of the contents, which is earlier by the lag of a causal "
        "filter; the latency grows by the same time",
        "content" },
    { 0, NULL, NULL }
  };

  return gst_nd_enum_type (&type, "GstNdStamp", values);
}

GstNdTemporalSettings *
gst_nd_temporal_settings_new (const GstNdTemporalClass *klass)
{
  GstNdTemporalSettings *settings = g_malloc0 (klass->settings_size);

  settings->klass = klass;
  gst_nd_properties_init (klass->rows, klass->n_rows, settings);
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
  gst_nd_properties_clear (settings->klass->rows, settings->klass->n_rows,
      settings);
  g_free (settings);
}

void
gst_nd_temporal_settings_copy (GstNdTemporalSettings *to,
    const GstNdTemporalSettings *from)
{
  const GstNdTemporalClass *klass = to->klass;

  gst_nd_properties_copy (klass->rows, klass->n_rows, to, from);
  memcpy ((guint8 *) to + klass->derived,
      (const guint8 *) from + klass->derived,
      klass->settings_size - klass->derived);
}

static gboolean
is_of_play (const GstNdProperty *row)
{
  return !(row->flags & GST_PARAM_MUTABLE_READY);
}

static gboolean
is_of_stream (const GstNdProperty *row)
{
  return row->of_stream;
}

static gboolean
is_controlled (const GstNdProperty *row)
{
  return row->of_stream && row->flags & GST_PARAM_CONTROLLABLE;
}

static void
copy_rows (GstNdTemporalSettings *to, const GstNdTemporalSettings *from,
    gboolean (*is_wanted) (const GstNdProperty *row))
{
  const GstNdTemporalClass *klass = to->klass;

  for (guint i = 0; i < klass->n_rows; i++) {
    if (is_wanted (&klass->rows[i]))
      gst_nd_properties_copy (&klass->rows[i], 1, to, from);
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
    if (!klass->rows[i].of_stream
        && !gst_nd_property_is_equal (&klass->rows[i], a, b))
      return FALSE;
  }
  return TRUE;
}

const gchar *
gst_nd_temporal_settings_backend (const GstNdTemporalSettings *settings)
{
  switch (settings->backend) {
    case GST_ND_BACKEND_CPU:
      return "cpu";
    case GST_ND_BACKEND_CUDA:
      return "cuda";
    default:
      return NULL;
  }
}

gint
gst_nd_temporal_settings_device (const GstNdTemporalSettings *settings)
{
  return nd_devices_first (settings->devices, settings->device_id);
}
