/* The messages of one volume: those of its fields, and the IMAGE.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/metadata.h"
#include "gst/base/gstndcaps.h"
#include "gst/igtl/gstndigtlhub.h"
#include "gst/igtl/gstndigtlunit.h"
#include <gst/gst.h>

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

/* Sends queries of OpenIGTLink and their answers.
 */

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

/* The fields of volumes, which come in events before the volumes that they
 * belong to.
 */

typedef struct
{
  NdMetadata *recording; /* of a source that knows all volumes in advance */
  GQueue live;           /* NdMetadata, one volume each, in order of times */
} GstNdIgtlFields;

/* Frees what is kept. */
void gst_nd_igtl_fields_clear (GstNdIgtlFields *fields);

/* Forgets the fields of volumes that will not arrive because of a flush. */
void gst_nd_igtl_fields_flush (GstNdIgtlFields *fields);

/* Takes @metadata: of one volume if @live, otherwise of a recording. */
void gst_nd_igtl_fields_take (GstNdIgtlFields *fields, NdMetadata *metadata,
    gboolean live);

/* The fields (NdIgtlField) of the volume with this timestamp, whose texts
 * belong to @owner, which the caller unrefs, and to @fields. Counts in
 * @left_out those that ND_IGTL_SMALL_MAX leaves no room for. */
GArray *gst_nd_igtl_fields_find (GstNdIgtlFields *fields, GstClockTime time,
    NdMetadata **owner, guint *left_out);

G_END_DECLS
