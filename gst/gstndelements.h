/* The elements and type finders that gstndplugin.c registers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (ndconv2d);
GST_ELEMENT_REGISTER_DECLARE (ndconv3d);
GST_ELEMENT_REGISTER_DECLARE (ndconv4dtemporal);
GST_ELEMENT_REGISTER_DECLARE (nddenoise);
GST_ELEMENT_REGISTER_DECLARE (ndregister);
GST_ELEMENT_REGISTER_DECLARE (ndstructure);
GST_ELEMENT_REGISTER_DECLARE (ndtestsrc);
GST_ELEMENT_REGISTER_DECLARE (nddemux);
GST_ELEMENT_REGISTER_DECLARE (ndfilesrc);
GST_ELEMENT_REGISTER_DECLARE (ndfilesink);
GST_ELEMENT_REGISTER_DECLARE (ndstack);
GST_ELEMENT_REGISTER_DECLARE (ndview);
GST_ELEMENT_REGISTER_DECLARE (openigtlinksrc);
GST_ELEMENT_REGISTER_DECLARE (openigtlinksink);

/* Type finders for the formats of ndfilesrc. */
gboolean gst_nd_type_find_register (GstPlugin *plugin);

G_END_DECLS
