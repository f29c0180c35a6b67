/* Small messages as fields of a volume in a recording, and back.
 *
 *   TRANSFORM D   DTransform = 16 numbers, row by row; DTransformStatus = OK
 *   POSITION D    DPosition = x y z qx qy qz w
 *   TDATA D       DTrackingData = TOOL:type ..., and of each tool TOOLTransform
 *   QTDATA D      DQuaternionTrackingData = TOOL:type ..., and TOOLPosition
 *   STATUS D      DStatus = code subcode NAME message
 *   STRING D      DString = text
 *   SENSOR D      DSensor = status unit value ...
 *
 * D is the device name. TOOL and NAME in a value are escaped as in URIs.
 * Transforms have the keys that PLUS writes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "live/message.h"

G_BEGIN_DECLS

/* The key of the matrix of an IMAGE whose matrix is not that of the caps: 16
 * numbers, row by row, from the index of a sample to mm in RAS. */
#define ND_IGTL_MATRIX_KEY "VolumeToRasTransform"

/* TRUE if messages of @type become fields. */
gboolean nd_igtl_has_fields (const gchar *type);

/* Adds the fields of one message. If its content is not valid, adds none and
 * sets ND_ERROR_FORMAT. */
gboolean nd_igtl_to_fields (const NdIgtlHeader *header, const guint8 *content,
    gsize size, NdIgtlFieldFunc func, gpointer user_data, GError **error);

/* @device and @content are valid during the call only. */
typedef void (*NdIgtlMessageFunc) (const gchar *type, const gchar *device,
    const GByteArray *content, gpointer user_data);

/* Calls a function for each message that the fields of one volume become.
 * @used[i] tells whether field i became a message or part of one, or is
 * ND_IGTL_MATRIX_KEY; all others are metadata. A transform whose status is not
 * OK is not sent. */
void nd_igtl_from_fields (const NdIgtlField *fields, guint n, gboolean *used,
    NdIgtlMessageFunc func, gpointer user_data);

/* Convert between 16 numbers, row by row, as text, and 12 numbers, column by
 * column. FALSE if @text is anything else or has numbers that are not
 * finite. */
gboolean nd_igtl_matrix_from_text (gfloat matrix[12], const gchar *text);
gchar *nd_igtl_matrix_to_text (const gfloat matrix[12]);

G_END_DECLS
