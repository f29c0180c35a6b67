/* Contents of TRANSFORM, POSITION, TDATA and QTDATA messages.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "live/message.h"

G_BEGIN_DECLS

/* The position of an object, in mm. Numbers are finite. */
typedef struct
{
  gchar name[ND_IGTL_DEVICE_SIZE + 1]; /* of TDATA and QTDATA; valid UTF-8 */
  guint8 type;       /* of TDATA: 1 tracker, 2 6D, 3 3D, 4 5D instrument */
  gfloat matrix[12]; /* of TRANSFORM and TDATA: columns x, y, z, position */
  gfloat pose[7]; /* of POSITION and QTDATA: x, y, z, quaternion (qx qy qz w) */
} NdIgtlTool;

/* TRUE if @type is one of the four. */
gboolean nd_igtl_is_tracking (const gchar *type);

/* Reads the content of a message of @type as an array of NdIgtlTool. TRANSFORM
 * and POSITION have one element. A POSITION without orientation gets the
 * quaternion 0 0 0 1. ND_ERROR_FORMAT if @size is wrong for the type or if a
 * number is not finite. */
GArray *nd_igtl_tracking_parse (const gchar *type, const guint8 *content,
    gsize size, GError **error);

/* Appends the content of a message of @type. */
void nd_igtl_tracking_build (const gchar *type, const NdIgtlTool *tools,
    guint n, GByteArray *out);

G_END_DECLS
