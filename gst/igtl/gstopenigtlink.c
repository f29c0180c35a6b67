/* The plugin openigtlink.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndbackends.h"
#include "gst/gstndelements.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = FALSE;

  if (!gst_nd_backends_init (plugin))
    return FALSE;
  ok |= GST_ELEMENT_REGISTER (openigtlinksrc, plugin);
  ok |= GST_ELEMENT_REGISTER (openigtlinksink, plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, openigtlink,
    "Volumes, images and transforms over OpenIGTLink", plugin_init,
    PACKAGE_VERSION, "LGPL", "ndconv", PACKAGE_ORIGIN)
