/* Base class of ndconv2d, ndconv3d and ndconv4dtemporal. A subclass adds the
 * axes, the pad templates and the documentation.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvsettings.h"
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* G_DECLARE_DERIVABLE_TYPE allows no fields, and the files of the base class
 * share priv. */
#define GST_TYPE_ND_CONV (gst_nd_conv_get_type ())
#define GST_ND_CONV(obj) \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_ND_CONV, GstNdConv))
#define GST_ND_CONV_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_ND_CONV, GstNdConvClass))
#define GST_ND_CONV_GET_CLASS(obj) \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_ND_CONV, GstNdConvClass))

typedef struct _GstNdConvPrivate GstNdConvPrivate;

typedef struct
{
  GstBaseTransform parent;
  GstNdConvPrivate *priv;
} GstNdConv;

typedef struct
{
  GstBaseTransformClass parent_class;

  /* The axes to filter along in a stream of frames or of volumes. */
  NdAxes (*axes) (const GstNdConvSettings *settings, gboolean frames);
} GstNdConvClass;

GType gst_nd_conv_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNdConv, gst_object_unref)

/* Adds both pad templates, with the same caps: volumes, and with @video also
 * frames. */
void gst_nd_conv_class_set_caps (GstNdConvClass *klass, gboolean video);

/* Adds the property `axes`. */
void gst_nd_conv_class_install_axes (GstNdConvClass *klass);

G_END_DECLS
