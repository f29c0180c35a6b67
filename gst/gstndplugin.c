/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/gst.h>
#include "gstndelements.h"

static gboolean
plugin_init (GstPlugin * plugin)
{
  gboolean ok = FALSE;

  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, ndconv,
    "Non-separable 2D, 3D and 4D filters for streams of images and volumes",
    plugin_init, PACKAGE_VERSION, "LGPL", "ndconv", PACKAGE_ORIGIN)
