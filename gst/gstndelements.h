/* The elements, by the plugins that register them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* ndconv: gst/gstndplugin.c */
GST_ELEMENT_REGISTER_DECLARE (ndbmode);
GST_ELEMENT_REGISTER_DECLARE (ndconv2d);
GST_ELEMENT_REGISTER_DECLARE (ndconv3d);
GST_ELEMENT_REGISTER_DECLARE (ndconv4dtemporal);
GST_ELEMENT_REGISTER_DECLARE (nddeconvolve);
GST_ELEMENT_REGISTER_DECLARE (nddenoise);
GST_ELEMENT_REGISTER_DECLARE (ndrank);
GST_ELEMENT_REGISTER_DECLARE (ndregister);
GST_ELEMENT_REGISTER_DECLARE (ndstructure);
GST_ELEMENT_REGISTER_DECLARE (ndtestsrc);
GST_ELEMENT_REGISTER_DECLARE (ndscanconvert);
GST_ELEMENT_REGISTER_DECLARE (ndstack);

/* ndfile: gst/files/gstndfile.c */
GST_ELEMENT_REGISTER_DECLARE (nddemux);
GST_ELEMENT_REGISTER_DECLARE (ndfilesrc);
GST_ELEMENT_REGISTER_DECLARE (ndfilesink);

/* ndview: gst/view/gstndview.c */
GST_ELEMENT_REGISTER_DECLARE (ndview);

/* openigtlink: gst/igtl/gstopenigtlink.c */
GST_ELEMENT_REGISTER_DECLARE (openigtlinksrc);
GST_ELEMENT_REGISTER_DECLARE (openigtlinksink);

G_END_DECLS
