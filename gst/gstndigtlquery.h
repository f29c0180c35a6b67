/* Queries of OpenIGTLink: GET_, STT_, STP_, RTS_ and CAPABILITY.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/gstndigtlhub.h"

G_BEGIN_DECLS

typedef enum
{
  GST_ND_IGTL_NO_QUERY,
  GST_ND_IGTL_GET,
  GST_ND_IGTL_START,
  GST_ND_IGTL_STOP,
  GST_ND_IGTL_ANSWER /* RTS_ */
} GstNdIgtlQuery;

/* Parses the query @type. @about: the type that it is about, which may be cut
 * ("TRANSFOR"). */
GstNdIgtlQuery gst_nd_igtl_query_parse (const gchar *type, const gchar **about);

/* A message without content: a query, or the answer to a GET_ for data that are
 * not available. */
void gst_nd_igtl_send_empty (GstNdIgtlPeer *peer, guint16 version,
    const gchar *type, const gchar *device);

/* The RTS_ answer to STT_ or STP_ about @about: whether it was done. */
void gst_nd_igtl_send_done (GstNdIgtlPeer *peer, guint16 version,
    const gchar *about, const gchar *device, gboolean done);

/* The answer to GET_CAPABIL: @types ends with NULL. */
void gst_nd_igtl_send_capability (GstNdIgtlPeer *peer, guint16 version,
    const gchar *device, const gchar *const *types);

/* The answer to GET_STATUS: OK. */
void gst_nd_igtl_send_status (GstNdIgtlPeer *peer, guint16 version,
    const gchar *device);

/* TRUE if the content of a CAPABILITY names @type. */
gboolean gst_nd_igtl_capability_has (const guint8 *content, gsize size,
    const gchar *type);

G_END_DECLS
