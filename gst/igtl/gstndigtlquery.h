/* Sends queries of OpenIGTLink and their answers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/igtl/gstndigtlhub.h"

G_BEGIN_DECLS

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

G_END_DECLS
