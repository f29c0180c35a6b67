/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvstats.h"

void
gst_nd_conv_range_add (GstNdConvRange *range, gdouble value)
{
  range->min = range->n == 0 ? value : MIN (range->min, value);
  range->max = MAX (range->max, value);
  range->sum += value;
  range->n++;
}

static void
set_range (GstStructure *s, const gchar *name, const GstNdConvRange *range)
{
  g_autofree gchar *min = g_strconcat (name, "-min", NULL);
  g_autofree gchar *mean = g_strconcat (name, "-mean", NULL);
  g_autofree gchar *max = g_strconcat (name, "-max", NULL);

  gst_structure_set (s, min, G_TYPE_DOUBLE, range->min, mean, G_TYPE_DOUBLE,
      range->n ? range->sum / range->n : 0, max, G_TYPE_DOUBLE, range->max,
      NULL);
}

GstStructure *
gst_nd_conv_stats (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  GstStructure *s;

  GST_OBJECT_LOCK (self);
  s = priv->plan_stats ? gst_structure_copy (priv->plan_stats)
                       : gst_structure_new_empty ("ndconv-stats");
  gst_structure_set (s, "volumes-in", G_TYPE_UINT64, priv->stats.in,
      "volumes-out", G_TYPE_UINT64, priv->stats.out, "volumes-late",
      G_TYPE_UINT64, priv->stats.late, "volumes-outside-segment", G_TYPE_UINT64,
      priv->stats.outside, "volumes-clipped", G_TYPE_UINT64,
      priv->stats.outside, "stretches", G_TYPE_UINT64, priv->stats.stretches,
      "gaps", G_TYPE_UINT64, priv->stats.gaps, "volumes-missing", G_TYPE_UINT64,
      priv->stats.missing, "volumes-held", G_TYPE_UINT64, priv->stats.held,
      "volumes-lost", G_TYPE_UINT64, priv->stats.lost, "volumes-flushed",
      G_TYPE_UINT64, priv->stats.flushed, NULL);
  if (priv->counts_saturation)
    gst_structure_set (s, "samples-saturated", G_TYPE_UINT64,
        (guint64) __atomic_load_n (&priv->saturated, __ATOMIC_RELAXED), NULL);
  set_range (s, "seconds", &priv->stats.all);
  set_range (s, "upload-seconds", &priv->stats.upload);
  set_range (s, "compute-seconds", &priv->stats.compute);
  set_range (s, "download-seconds", &priv->stats.download);
  set_range (s, "wait-seconds", &priv->stats.wait);
  set_range (s, "ahead-seconds", &priv->stats.ahead);
  GST_OBJECT_UNLOCK (self);
  return s;
}

void
gst_nd_conv_post_stats (GstNdConv *self)
{
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), gst_nd_conv_stats (self)));
}
