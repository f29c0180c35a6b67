/* Base class of ndconv2d, ndconv3d and ndconv4dtemporal: everything but the
 * axes and the documentation.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/base/gstbasetransform.h>
#include "gstndconvsettings.h"
#include "gstndformat.h"

G_BEGIN_DECLS

#define GST_TYPE_ND_CONV (gst_nd_conv_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstNdConv, gst_nd_conv, GST, ND_CONV,
    GstBaseTransform)

struct _GstNdConvClass
{
  GstBaseTransformClass parent_class;

  /* The axes to filter along, for a stream of frames or of volumes. */
  NdAxes (*axes) (const GstNdConvSettings * settings, gboolean is_video);
};

/* Adds both pad templates, the same caps for sink and source: volumes, and with
 * @video frames. */
void gst_nd_conv_class_set_caps (GstNdConvClass * klass, gboolean video);

/* Adds the property `axes`. */
void gst_nd_conv_class_install_axes (GstNdConvClass * klass);

G_END_DECLS
