/* The messages of one volume: those of its fields, and the IMAGE.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstndcaps.h"
#include "gst/igtl/gstndigtlunit.h"

G_BEGIN_DECLS

typedef struct
{
  guint16 version;
  const gchar *device;
  guint64 time;        /* ns since 1970 */
  guint32 *message_id; /* of the last message */
} GstNdIgtlLetterhead;

/* TRUE if an IMAGE can hold volumes of this format; otherwise FALSE with
 * ND_ERROR_FORMAT. */
gboolean gst_nd_igtl_check_format (const GstNdVolumeInfo *info, GError **error);

/* Fills in @unit, of gst_nd_igtl_unit_new_volume(). Removes the fields that
 * become messages of their own from @fields (NdIgtlField); the others become
 * metadata of the IMAGE, if the version has any. */
void gst_nd_igtl_build_messages (GstNdIgtlUnit *unit,
    const GstNdIgtlLetterhead *head, const GstNdVolumeInfo *info,
    GArray *fields);

G_END_DECLS
