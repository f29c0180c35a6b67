/* A unit is sent to a peer as a whole: OpenIGTLink messages, the last of which
 * may be an IMAGE whose samples stay in their buffer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

#include "live/message.h"

G_BEGIN_DECLS

typedef struct _GstNdIgtlUnit GstNdIgtlUnit;

/* Makes a unit of @head, which holds whole messages. Takes @head. */
GstNdIgtlUnit *gst_nd_igtl_unit_new (GByteArray *head);

/* Makes a unit of one message without samples. */
GstNdIgtlUnit *gst_nd_igtl_unit_new_message (const NdIgtlEnvelope *envelope,
    const GByteArray *content);

/* Makes a unit for an IMAGE whose samples are the first @size bytes of @buffer.
 * Takes @buffer. NULL if @buffer cannot be mapped or has fewer bytes. */
GstNdIgtlUnit *gst_nd_igtl_unit_new_volume (GstBuffer *buffer, gsize size);

/* Fills in a unit of gst_nd_igtl_unit_new_volume(): messages before the IMAGE,
 * and the IMAGE; computes the checksum. */
void gst_nd_igtl_unit_build (GstNdIgtlUnit *unit, GByteArray *messages,
    const NdIgtlEnvelope *envelope, const GByteArray *content,
    const NdIgtlField *fields, guint n_fields);

/* Any thread. */
GstNdIgtlUnit *gst_nd_igtl_unit_ref (GstNdIgtlUnit *unit);
void gst_nd_igtl_unit_unref (GstNdIgtlUnit *unit);

/* TRUE if it carries samples. */
gboolean gst_nd_igtl_unit_is_volume (const GstNdIgtlUnit *unit);
/* When it was made, monotonic, us. */
gint64 gst_nd_igtl_unit_time (const GstNdIgtlUnit *unit);

/* Bytes of the message with its header. */
gsize gst_nd_igtl_unit_size (const GstNdIgtlUnit *unit);

/* Gets the pieces from byte @at on. Returns their number, at most 3. */
guint gst_nd_igtl_unit_get_vectors (const GstNdIgtlUnit *unit, gsize at,
    gconstpointer *data, gsize *sizes);

G_END_DECLS
