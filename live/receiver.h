/* Takes the bytes of a stream of OpenIGTLink messages, in pieces of any size,
 * and gives messages. Samples of an IMAGE go where the caller wants them
 * without a copy. The checksum is made of each piece as it comes.
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
  ND_RECEIVED_SKIPPED, /* a message of a type that is not known, or an IMAGE
                        * whose samples were not wanted */
  ND_RECEIVED_REFUSED, /* a message that is not valid; the next one may be */
  ND_RECEIVED_LOST     /* nothing more can be read of this stream */
} NdReceived;

typedef struct _NdReceiver NdReceiver;

/* Messages above @max_size bytes are refused, and their bytes are thrown away
 * as they come. The receiver itself needs as much memory as a message other
 * than IMAGE, which is limited to 16 MiB, and 16 KiB. */
NdReceiver *nd_receiver_new (guint64 max_size, gboolean check_crc);
void nd_receiver_free (NdReceiver *receiver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdReceiver, nd_receiver_free)

/* Where to put the next bytes, and how many at most: 1 or more, and never more
 * than the message has. */
guint8 *nd_receiver_space (NdReceiver *receiver, gsize *size);

/* @n bytes were put there. Call it with 0 again until it returns
 * ND_RECEIVED_NOTHING. ND_RECEIVED_REFUSED and _LOST set @error, code
 * ND_ERROR_FORMAT, or ND_ERROR_READ if the checksum is wrong. */
NdReceived nd_receiver_take (NdReceiver *receiver, gsize n, GError **error);

/* After ND_RECEIVED_IMAGE: memory for nd_igtl_image_part_size() bytes that
 * lives until the message has come; NULL: the samples are not wanted. */
void nd_receiver_set_samples (NdReceiver *receiver, guint8 *samples);

/* Of the message that is being received or has just come. */
const NdIgtlHeader *nd_receiver_header (const NdReceiver *receiver);
guint32 nd_receiver_message_id (const NdReceiver *receiver);
const NdIgtlImage *nd_receiver_image (const NdReceiver *receiver);
const guint8 *nd_receiver_content (const NdReceiver *receiver, gsize *size);

/* Metadata of the message that has just come; an error as of
 * nd_igtl_metadata_parse(). */
gboolean nd_receiver_metadata (const NdReceiver *receiver, NdIgtlFieldFunc func,
    gpointer user_data, GError **error);

/* TRUE if a message has begun and not ended. */
gboolean nd_receiver_in_message (const NdReceiver *receiver);

G_END_DECLS
