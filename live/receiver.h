/* Turns the bytes of a stream, in pieces of any size, into OpenIGTLink
 * messages. The samples of an IMAGE are received in memory of the caller,
 * without a copy. The checksum is computed piece by piece.
 *
 *   for (;;) {
 *     space = nd_receiver_space (receiver, &size);
 *     n = recv (fd, space, size, 0);
 *     while ((event = nd_receiver_take (receiver, n, &error)), n = 0, event)
 *       ...
 *   }
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "live/image.h"
#include "live/message.h"

G_BEGIN_DECLS

typedef enum
{
  ND_RECEIVED_NOTHING, /* more bytes are needed */
  ND_RECEIVED_IMAGE,   /* the header of an IMAGE: nd_receiver_set_samples() */
  ND_RECEIVED_MESSAGE, /* a whole message */
  ND_RECEIVED_SKIPPED, /* a message of an unknown type, or an IMAGE whose
                        * samples are not needed */
  ND_RECEIVED_REFUSED, /* a message that is not valid; the next one may be */
  ND_RECEIVED_LOST     /* nothing more can be read of this stream */
} NdReceived;

typedef struct _NdReceiver NdReceiver;

/* Messages above @max_size bytes are refused, and their bytes are discarded as
 * they arrive. So are subvolumes that need more together with their volume. The
 * receiver needs 16 KiB, and memory for one message that is not an IMAGE, which
 * may have up to ND_IGTL_SMALL_MAX; without this memory it is refused. */
NdReceiver *nd_receiver_new (guint64 max_size, gboolean check_crc);
void nd_receiver_free (NdReceiver *receiver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdReceiver, nd_receiver_free)

/* Returns the memory for the next bytes. @size: the most bytes, at least 1 and
 * never more than the message has. */
guint8 *nd_receiver_space (NdReceiver *receiver, gsize *size);

/* Takes the @n bytes that were written to that memory. Call it again with 0
 * until it returns ND_RECEIVED_NOTHING. ND_RECEIVED_REFUSED and _LOST set
 * @error, code ND_ERROR_FORMAT, or ND_ERROR_READ if the checksum is wrong. */
NdReceived nd_receiver_take (NdReceiver *receiver, gsize n, GError **error);

/* After ND_RECEIVED_IMAGE: sets the memory for nd_igtl_image_subvolume_size()
 * bytes, which must stay valid until the message is complete. NULL if the
 * samples are not needed. */
void nd_receiver_set_samples (NdReceiver *receiver, guint8 *samples);

/* The header of the message that is being received or has just arrived. */
const NdIgtlHeader *nd_receiver_header (const NdReceiver *receiver);
guint32 nd_receiver_message_id (const NdReceiver *receiver);
const NdIgtlImage *nd_receiver_image (const NdReceiver *receiver);
const guint8 *nd_receiver_content (const NdReceiver *receiver, gsize *size);

/* Reads the metadata of the message that has just arrived. Errors are those of
 * nd_igtl_metadata_parse(). */
gboolean nd_receiver_metadata (const NdReceiver *receiver, NdIgtlFieldFunc func,
    gpointer user_data, GError **error);

/* TRUE if bytes of a message have arrived and others are still missing. */
gboolean nd_receiver_in_message (const NdReceiver *receiver);

G_END_DECLS
