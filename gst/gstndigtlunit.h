/* What one peer gets at once: OpenIGTLink messages, the last of which may be an
 * IMAGE whose samples stay in their buffer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

#include "live/message.h"

G_BEGIN_DECLS

typedef struct _GstNdIgtlUnit GstNdIgtlUnit;

/* @head holds whole messages; takes it. */
GstNdIgtlUnit *gst_nd_igtl_unit_new (GByteArray *head);

/* A message of this envelope without samples. */
GstNdIgtlUnit *gst_nd_igtl_unit_new_message (const NdIgtlEnvelope *envelope,
    const GByteArray *content);

/* For an IMAGE whose samples are the first @size bytes of @buffer; takes it.
 * NULL if @buffer cannot be mapped or has fewer bytes. */
GstNdIgtlUnit *gst_nd_igtl_unit_new_volume (GstBuffer *buffer, gsize size);

/* Fills in a unit of gst_nd_igtl_unit_new_volume(): messages before the IMAGE,
 * and the IMAGE; the checksum is made here. */
void gst_nd_igtl_unit_build (GstNdIgtlUnit *unit, GByteArray *messages,
    const NdIgtlEnvelope *envelope, const GByteArray *content,
    const NdIgtlField *fields, guint n_fields);

GstNdIgtlUnit *gst_nd_igtl_unit_ref (GstNdIgtlUnit *unit);
void gst_nd_igtl_unit_unref (GstNdIgtlUnit *unit);

gboolean gst_nd_igtl_unit_is_volume (const GstNdIgtlUnit *unit);
gsize gst_nd_igtl_unit_size (const GstNdIgtlUnit *unit);

/* The pieces from byte @at on; returns how many, 3 at most. */
guint gst_nd_igtl_unit_get_vectors (const GstNdIgtlUnit *unit, gsize at,
    gconstpointer *data, gsize *sizes);

G_END_DECLS
