/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"
#include "gst/base/gstndbackends.h"
#include "gst/base/gstndlog.h"
#include "gst/gstndelements.h"
#include <gst/gst.h>

static gboolean
plugin_init (GstPlugin *plugin)
{
  g_autoptr (GError) error = NULL;
  gboolean ok = FALSE;

  gst_nd_log_init ();
  if (!nd_cpu_backend.available (-1, &error)) {
    g_warning ("%s", error->message);
    return FALSE;
  }
  gst_nd_backends_init (plugin);
  ok |= GST_ELEMENT_REGISTER (ndconv2d, plugin);
  ok |= GST_ELEMENT_REGISTER (ndconv3d, plugin);
  ok |= GST_ELEMENT_REGISTER (ndconv4dtemporal, plugin);
  ok |= GST_ELEMENT_REGISTER (nddenoise, plugin);
  ok |= GST_ELEMENT_REGISTER (ndregister, plugin);
  ok |= GST_ELEMENT_REGISTER (ndstructure, plugin);
  ok |= GST_ELEMENT_REGISTER (ndtestsrc, plugin);
  ok |= GST_ELEMENT_REGISTER (ndstack, plugin);
  ok |= GST_ELEMENT_REGISTER (ndview, plugin);
  ok |= GST_ELEMENT_REGISTER (openigtlinksrc, plugin);
  ok |= GST_ELEMENT_REGISTER (openigtlinksink, plugin);
  ok |= GST_ELEMENT_REGISTER (nddemux, plugin);
  ok |= GST_ELEMENT_REGISTER (ndfilesrc, plugin);
  ok |= GST_ELEMENT_REGISTER (ndfilesink, plugin);
  ok |= gst_nd_type_find_register (plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, ndconv,
    "Non-separable 2D, 3D and 4D filters for streams of images and volumes",
    plugin_init, PACKAGE_VERSION, "LGPL", "ndconv", PACKAGE_ORIGIN)
