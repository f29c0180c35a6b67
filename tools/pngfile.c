/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/pngfile.h"

#include "core/error.h"
#include "core/part.h"

gboolean
nd_png_save (png_image *image, const guint8 *pixels, const gchar *path,
    GError **error)
{
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX (*image);
  g_autofree guint8 *bytes = g_try_malloc (size);
  gint reason;

  if (!bytes) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory for the picture \"%s\": use smaller volumes", path);
    return FALSE;
  }
  if (!png_image_write_to_memory (image, bytes, &size, 0, pixels, 0, NULL)) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
        "The picture \"%s\" cannot be written: %s", path, image->message);
    return FALSE;
  }
  reason = nd_file_write (path, bytes, size);
  if (reason)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
        "The picture \"%s\" cannot be written: %s", path, g_strerror (reason));
  return reason == 0;
}
