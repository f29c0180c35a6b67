/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiff.h"

#include <string.h>

gboolean
nd_tiff_detect (const guint8 *bytes, gsize n)
{
  static const gchar magic[][5] = { "II*\0", "MM\0*", "II+\0", "MM\0+" };

  for (guint i = 0; i < G_N_ELEMENTS (magic); i++) {
    if (n >= 8 && memcmp (bytes, magic[i], 4) == 0)
      return TRUE;
  }
  return FALSE;
}
