/* A state machine that turns bytes into messages.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/receiver.h"

#include <string.h>

#include "core/error.h"
#include "live/crc64.h"
#include "live/fields.h"

#define SCRATCH_SIZE (16 * 1024)
#define GROWTH (64 * 1024)

/* Nobody sends a message with a larger body, and skipping it would take
 * forever. */
#define BODY_MAX (G_GUINT64_CONSTANT (1) << 40)

typedef enum
{
  STATE_HEADER,
  STATE_EXTENDED,
  STATE_EXTRA, /* of an extended header that is longer than known */
  STATE_IMAGE, /* the header of an IMAGE */
  STATE_SAMPLES,
  STATE_CONTENT,
  STATE_METADATA,
  STATE_SKIP, /* the rest of a message */
  STATE_LOST
} State;

/* Bytes whose number a peer decides: memory may be short of them. */
typedef struct
{
  guint8 *data;
  gsize size, allocated;
} Growing;

struct _NdReceiver
{
  guint64 max_size;
  gboolean check_crc;

  State state;
  guint64 size, at; /* bytes of this state, and those that have arrived */
  gboolean event;   /* the last call returned an event: begin the next state */
  NdReceived skipped;
  guint64 crc;
  guint64 left; /* bytes of the body after this state */

  NdIgtlHeader header;
  NdIgtlExtended extended;
  NdIgtlImage image;
  guint8 *samples;
  Growing content, metadata;
  GError *refusal; /* returned when the rest of the message has been skipped */
  guint8 scratch[SCRATCH_SIZE];
};

NdReceiver *
nd_receiver_new (guint64 max_size, gboolean check_crc)
{
  NdReceiver *receiver = g_new0 (NdReceiver, 1);

  receiver->max_size = max_size;
  receiver->check_crc = check_crc;
  receiver->size = ND_IGTL_HEADER_SIZE;
  return receiver;
}

void
nd_receiver_free (NdReceiver *receiver)
{
  g_free (receiver->content.data);
  g_free (receiver->metadata.data);
  g_clear_error (&receiver->refusal);
  g_free (receiver);
}

/* Memory grows with the bytes that have arrived, not with the size that a
 * header claims. NULL if there is none. */
static guint8 *
grow (Growing *bytes, guint64 at, guint64 total, gsize *size)
{
  const gsize wanted = MIN (total - at, GROWTH), needed = at + wanted;

  if (needed > bytes->allocated) {
    const gsize allocated = MIN (MAX (needed, 2 * bytes->allocated), total);
    guint8 *data = g_try_realloc (bytes->data, allocated);

    if (!data)
      return NULL;
    bytes->data = data;
    bytes->allocated = allocated;
  }
  bytes->size = MAX (bytes->size, needed);
  *size = wanted;
  return bytes->data + at;
}

static void
enter (NdReceiver *receiver, State state, guint64 size)
{
  receiver->state = state;
  receiver->size = size;
  receiver->at = 0;
  receiver->left -= state == STATE_HEADER ? 0 : size;
}

static void
skip (NdReceiver *receiver, NdReceived result)
{
  receiver->skipped = result;
  enter (receiver, STATE_SKIP, receiver->left);
}

static void
refuse (NdReceiver *receiver, GError *error)
{
  receiver->refusal = error;
  skip (receiver, ND_RECEIVED_REFUSED);
}

guint8 *
nd_receiver_space (NdReceiver *receiver, gsize *size)
{
  const guint64 rest = receiver->size - receiver->at;
  guint8 *space;

  switch (receiver->state) {
    case STATE_SAMPLES:
      *size = rest;
      return receiver->samples + receiver->at;
    case STATE_CONTENT:
    case STATE_METADATA:
      space = grow (receiver->state == STATE_CONTENT ? &receiver->content
                                                     : &receiver->metadata,
          receiver->at, receiver->size, size);
      if (space)
        return space;
      receiver->left += rest;
      refuse (receiver,
          g_error_new (ND_ERROR, ND_ERROR_MEMORY,
              "Not enough memory for a message of type %s with "
              "%" G_GUINT64_FORMAT " bytes: it is skipped",
              receiver->header.type, receiver->header.body_size));
      return nd_receiver_space (receiver, size);
    case STATE_HEADER:
    case STATE_EXTENDED:
    case STATE_IMAGE:
      *size = rest;
      return receiver->scratch + receiver->at;
    case STATE_EXTRA:
    case STATE_SKIP:
      *size = MIN (rest, SCRATCH_SIZE);
      return receiver->scratch;
    case STATE_LOST:
      *size = SCRATCH_SIZE;
      return receiver->scratch;
  }
  g_return_val_if_reached (NULL);
}

static gboolean
is_known (const gchar *type)
{
  static const gchar *const queries[] = { "GET_", "STT_", "STP_", "RTS_" };

  for (guint i = 0; i < G_N_ELEMENTS (queries); i++) {
    if (g_str_has_prefix (type, queries[i]))
      return TRUE;
  }
  return nd_igtl_has_fields (type) || strcmp (type, "CAPABILITY") == 0;
}

static guint64
metadata_bytes (const NdReceiver *receiver)
{
  return receiver->header.version >= 2
      ? (guint64) receiver->extended.metadata_header_size
          + receiver->extended.metadata_size
      : 0;
}

static void
refuse_size (NdReceiver *receiver, guint64 size, guint64 max)
{
  refuse (receiver,
      g_error_new (ND_ERROR, ND_ERROR_FORMAT,
          "A message of type %s and device \"%s\" needs %" G_GUINT64_FORMAT
          " bytes: the limit is %" G_GUINT64_FORMAT "%s",
          receiver->header.type, receiver->header.device, size, max,
          max == receiver->max_size
              ? "; larger messages need a larger max-message-size"
              : " for what is not samples"));
}

/* Begins the part of a message after the header and the extended header. */
static void
begin_content (NdReceiver *receiver)
{
  const guint64 metadata = metadata_bytes (receiver);
  const guint64 content = receiver->left - metadata;
  const guint64 small_max = MIN (receiver->max_size, ND_IGTL_SMALL_MAX);

  if (strcmp (receiver->header.type, "IMAGE") == 0) {
    if (metadata > small_max)
      refuse_size (receiver, metadata, small_max);
    else if (content == 0) /* the answer to GET_IMAGE if none is available */
      skip (receiver, ND_RECEIVED_SKIPPED);
    else if (content < ND_IGTL_IMAGE_SIZE)
      refuse (receiver,
          g_error_new (ND_ERROR, ND_ERROR_FORMAT,
              "An IMAGE has %" G_GUINT64_FORMAT
              " bytes: its header alone has %u",
              content, ND_IGTL_IMAGE_SIZE));
    else
      enter (receiver, STATE_IMAGE, ND_IGTL_IMAGE_SIZE);
  } else if (!is_known (receiver->header.type)) {
    skip (receiver, ND_RECEIVED_SKIPPED);
  } else if (receiver->left > small_max) {
    refuse_size (receiver, receiver->left, small_max);
  } else {
    enter (receiver, STATE_CONTENT, content);
  }
}

/* Large messages do not keep their memory beside that of the next one. */
static void
clear (Growing *bytes)
{
  if (bytes->allocated > GROWTH) {
    g_free (bytes->data);
    *bytes = (Growing){ 0 };
  }
  bytes->size = 0;
}

/* FALSE if the stream is lost. */
static gboolean
take_header (NdReceiver *receiver, GError **error)
{
  NdIgtlHeader *header = &receiver->header;

  receiver->crc = 0;
  receiver->extended = (NdIgtlExtended){ 0 };
  clear (&receiver->content);
  clear (&receiver->metadata);
  if (!nd_igtl_header_parse (header, receiver->scratch, error))
    return FALSE;
  if (header->body_size > BODY_MAX) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "A message of type %s says that it has %" G_GUINT64_FORMAT
        " bytes: no message has so many, and the peer must speak OpenIGTLink",
        header->type, header->body_size);
    return FALSE;
  }
  receiver->left = header->body_size;
  if (header->body_size > receiver->max_size)
    refuse_size (receiver, header->body_size, receiver->max_size);
  else if (header->version < 2)
    begin_content (receiver);
  else if (header->body_size < ND_IGTL_EXTENDED_SIZE)
    refuse (receiver,
        g_error_new (ND_ERROR, ND_ERROR_FORMAT,
            "A message of version %u has %" G_GUINT64_FORMAT
            " bytes: its extended header alone has %u",
            header->version, header->body_size, ND_IGTL_EXTENDED_SIZE));
  else
    enter (receiver, STATE_EXTENDED, ND_IGTL_EXTENDED_SIZE);
  return TRUE;
}

static void
take_extended (NdReceiver *receiver)
{
  GError *error = NULL;

  if (!nd_igtl_extended_parse (&receiver->extended, receiver->scratch,
          receiver->header.body_size, &error))
    refuse (receiver, error);
  else
    enter (receiver, STATE_EXTRA,
        receiver->extended.size - ND_IGTL_EXTENDED_SIZE);
}

/* TRUE if the caller has to choose the memory for the samples. */
static gboolean
take_image (NdReceiver *receiver)
{
  const guint64 samples = receiver->left - metadata_bytes (receiver);
  GError *error = NULL;
  guint64 needed;

  if (!nd_igtl_image_parse (&receiver->image, receiver->scratch, samples,
          &error)) {
    refuse (receiver, error);
    return FALSE;
  }
  /* A subvolume needs memory beside that of its volume. */
  needed = nd_igtl_image_volume_size (&receiver->image);
  if (!nd_igtl_image_is_whole (&receiver->image))
    needed += samples;
  if (needed > receiver->max_size) {
    refuse_size (receiver, needed, receiver->max_size);
    return FALSE;
  }
  receiver->samples = NULL;
  return TRUE;
}

void
nd_receiver_set_samples (NdReceiver *receiver, guint8 *samples)
{
  g_return_if_fail (receiver->state == STATE_IMAGE && receiver->event);

  receiver->samples = samples;
}

static NdReceived
finish (NdReceiver *receiver, GError **error)
{
  if (!receiver->check_crc || receiver->crc == receiver->header.crc)
    return ND_RECEIVED_MESSAGE;
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "The checksum of a message of type %s and device \"%s\" is wrong: its "
      "sender or the network damaged it (check-crc=false uses it nonetheless)",
      receiver->header.type, receiver->header.device);
  return ND_RECEIVED_REFUSED;
}

/* Called when the bytes of a state are complete. */
static NdReceived
advance (NdReceiver *receiver, GError **error)
{
  switch (receiver->state) {
    case STATE_HEADER:
      if (take_header (receiver, error))
        return ND_RECEIVED_NOTHING;
      receiver->state = STATE_LOST;
      return ND_RECEIVED_LOST;
    case STATE_EXTENDED:
      take_extended (receiver);
      return ND_RECEIVED_NOTHING;
    case STATE_EXTRA:
      begin_content (receiver);
      return ND_RECEIVED_NOTHING;
    case STATE_IMAGE:
      return take_image (receiver) ? ND_RECEIVED_IMAGE : ND_RECEIVED_NOTHING;
    case STATE_SAMPLES:
    case STATE_CONTENT:
      enter (receiver, STATE_METADATA, receiver->left);
      return ND_RECEIVED_NOTHING;
    case STATE_METADATA:
      return finish (receiver, error);
    case STATE_SKIP:
    case STATE_LOST:
      if (receiver->refusal)
        g_propagate_error (error, g_steal_pointer (&receiver->refusal));
      return receiver->skipped;
  }
  g_return_val_if_reached (ND_RECEIVED_LOST);
}

/* Called after an event was returned. */
static void
begin_next (NdReceiver *receiver)
{
  receiver->event = FALSE;
  if (receiver->state != STATE_IMAGE)
    enter (receiver, STATE_HEADER, ND_IGTL_HEADER_SIZE);
  else if (!receiver->samples)
    skip (receiver, ND_RECEIVED_SKIPPED);
  else
    enter (receiver, STATE_SAMPLES,
        nd_igtl_image_subvolume_size (&receiver->image));
}

static void
add_to_crc (NdReceiver *receiver, gsize n)
{
  gsize size;

  if (receiver->check_crc && receiver->state != STATE_HEADER
      && receiver->state != STATE_SKIP)
    receiver->crc =
        nd_crc64 (receiver->crc, nd_receiver_space (receiver, &size), n);
}

NdReceived
nd_receiver_take (NdReceiver *receiver, gsize n, GError **error)
{
  if (receiver->state == STATE_LOST)
    return ND_RECEIVED_NOTHING;
  if (receiver->event)
    begin_next (receiver);
  if (n > 0)
    add_to_crc (receiver, n);
  receiver->at += n;
  while (receiver->at == receiver->size) {
    const NdReceived result = advance (receiver, error);

    if (result != ND_RECEIVED_NOTHING) {
      receiver->event = receiver->state != STATE_LOST;
      return result;
    }
  }
  return ND_RECEIVED_NOTHING;
}

const NdIgtlHeader *
nd_receiver_header (const NdReceiver *receiver)
{
  return &receiver->header;
}

guint32
nd_receiver_message_id (const NdReceiver *receiver)
{
  return receiver->extended.message_id;
}

const NdIgtlImage *
nd_receiver_image (const NdReceiver *receiver)
{
  return &receiver->image;
}

const guint8 *
nd_receiver_content (const NdReceiver *receiver, gsize *size)
{
  *size = receiver->content.size;
  return receiver->content.data;
}

gboolean
nd_receiver_metadata (const NdReceiver *receiver, NdIgtlFieldFunc func,
    gpointer user_data, GError **error)
{
  return nd_igtl_metadata_parse (receiver->metadata.data,
      receiver->metadata.size, func, user_data, error);
}

gboolean
nd_receiver_in_message (const NdReceiver *receiver)
{
  return !receiver->event && receiver->state != STATE_LOST
      && (receiver->state != STATE_HEADER || receiver->at > 0);
}
