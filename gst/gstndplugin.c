/* The plugin ndconv: filters and algorithms, and what makes and shapes their
 * streams.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/filterfile.h"
#include "gst/base/gstndbackends.h"
#include "gst/gstndelements.h"
#include <gst/gst.h>

/* Filters in the files of recordings need the plugin ndfile, which may be
 * absent. */
static void
search_recordings (void)
{
  g_autoptr (GstPlugin) plugin = gst_plugin_load_by_name ("ndfile");

  if (!plugin)
    GST_INFO ("the plugin ndfile was not found");
}

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = FALSE;

  if (!gst_nd_backends_init (plugin))
    return FALSE;
  nd_filter_set_search (search_recordings);
  ok |= GST_ELEMENT_REGISTER (ndbmode, plugin);
  ok |= GST_ELEMENT_REGISTER (ndconv2d, plugin);
  ok |= GST_ELEMENT_REGISTER (ndconv3d, plugin);
  ok |= GST_ELEMENT_REGISTER (ndconv4dtemporal, plugin);
  ok |= GST_ELEMENT_REGISTER (nddeconvolve, plugin);
  ok |= GST_ELEMENT_REGISTER (nddenoise, plugin);
  ok |= GST_ELEMENT_REGISTER (ndrank, plugin);
  ok |= GST_ELEMENT_REGISTER (ndregister, plugin);
  ok |= GST_ELEMENT_REGISTER (ndstructure, plugin);
  ok |= GST_ELEMENT_REGISTER (ndtestsrc, plugin);
  ok |= GST_ELEMENT_REGISTER (ndscanconvert, plugin);
  ok |= GST_ELEMENT_REGISTER (ndstack, plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, ndconv,
    "Non-separable 2D, 3D and 4D filters for streams of images and volumes",
    plugin_init, PACKAGE_VERSION, "LGPL", "ndconv", PACKAGE_ORIGIN)
