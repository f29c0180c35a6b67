/* Base class of ndconv2d, ndconv3d and ndconv4dtemporal. A subclass adds the
 * axes, the pad templates and the documentation.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvsettings.h"
#include "gst/conv/gstndtensors.h"

G_BEGIN_DECLS

/* G_DECLARE_DERIVABLE_TYPE allows no fields. */
#define GST_TYPE_ND_CONV (gst_nd_conv_get_type ())
#define GST_ND_CONV(obj) \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_ND_CONV, GstNdConv))
#define GST_ND_CONV_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_ND_CONV, GstNdConvClass))
#define GST_ND_CONV_GET_CLASS(obj) \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_ND_CONV, GstNdConvClass))

typedef struct
{
  GstNdTemporal parent;

  /* Used by the streaming thread only. */
  GstNdTensors tensors;

  /* Samples since start() that do not fit in their type. Back ends count them;
   * atomic. */
  gsize saturated;

  /* Whether nd_bank_find_warning() was told since start(); atomic. */
  gint warned_spacing;

  /* Protected by the object lock. */
  guint64 samples;            /* of all outputs */
  gboolean counts_saturation; /* of integer outputs; not every back end can */
  gboolean warned_saturation; /* since start() */
} GstNdConv;

typedef struct
{
  GstNdTemporalClass parent_class;

  /* The axes to filter along in a stream of frames or of volumes. */
  NdAxes (*axes) (const GstNdConvSettings *settings, gboolean frames);
} GstNdConvClass;

GType gst_nd_conv_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNdConv, gst_object_unref)

/* Adds both pad templates, with the same caps: volumes, and with @video also
 * frames. */
void gst_nd_conv_class_set_caps (GstNdConvClass *klass, gboolean video);

/* gstndconvcaps.c */

/* The caps on the other pad that are possible with @caps on the pad of
 * @direction, for @bank. With @device, device memory is possible too.
 * @template: of the other pad. */
GstCaps *gst_nd_conv_transform_caps (GstPadDirection direction,
    const GstCaps *caps, const GstNdConvSettings *settings,
    const NdBankInfo *bank, gboolean device, const GstCaps *template);

/* The samples along x, y and z that @s, of either pad, has; FALSE if they are
 * not fixed. */
gboolean gst_nd_conv_get_shape (const GstStructure *s, NdShape *shape);

G_END_DECLS
