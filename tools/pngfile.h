/* Files of pictures.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>
#include <png.h>

G_BEGIN_DECLS

/* Writes @pixels, of which @image has size and format, to the PNG file @path:
 * see nd_file_write(). ND_ERROR_OPEN_WRITE, _MEMORY. */
gboolean nd_png_save (png_image *image, const guint8 *pixels, const gchar *path,
    GError **error);

G_END_DECLS
