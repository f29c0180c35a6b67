/* A stream of OpenIGTLink messages: received in pieces, and each message made
 * into fields and messages again. Whatever the pieces are, the messages are the
 * same.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/fuzz/openigtlink.h"

#include <string.h>

#include "core/error.h"
#include "live/bytes.h"
#include "live/crc64.h"
#include "live/fields.h"
#include "live/image.h"
#include "live/receiver.h"
#include "tests/fuzz/fuzz.h"
#include "tests/live/messages.h"

#define MAX_SIZE (1 << 20)

typedef struct
{
  NdReceiver *receiver;
  NdIgtlSubvolumes *subvolumes;
  GArray *fields; /* NdIgtlField */
  guint8 *samples;
  guint64 sum;
} Session;

const gchar *const fuzz_name = "openigtlink";

static void
add_to_sum (Session *session, gconstpointer bytes, gsize n)
{
  session->sum = nd_crc64 (session->sum, bytes, n);
}

static void
check_error (const GError *error)
{
  if (!error || error->domain != ND_ERROR || strlen (error->message) < 10)
    g_error ("refused without words");
}

static void
collect (const gchar *key, const gchar *value, gpointer user_data)
{
  const NdIgtlField field = { g_strdup (key), g_strdup (value) };

  if (!g_utf8_validate (key, -1, NULL) || !g_utf8_validate (value, -1, NULL))
    g_error ("a field is no text");
  g_array_append_val (user_data, field);
}

static void
take_content (const gchar *type, const gchar *device, const GByteArray *content,
    gpointer user_data)
{
  if (!nd_igtl_has_fields (type))
    g_error ("a message of a type that has no fields");
}

static void
send_fields (Session *session)
{
  GArray *fields = session->fields;
  g_autofree gboolean *used = g_new (gboolean, fields->len + 1);
  NdIgtlField *all = (NdIgtlField *) fields->data;

  nd_igtl_from_fields (all, fields->len, used, take_content, NULL);
  for (guint i = 0; i < fields->len; i++) {
    add_to_sum (session, all[i].key, strlen (all[i].key));
    add_to_sum (session, all[i].value, strlen (all[i].value));
    g_free ((gpointer) all[i].key);
    g_free ((gpointer) all[i].value);
  }
  g_array_set_size (fields, 0);
}

/* Subvolumes go to their places, as samples of a volume. */
static void
take_image (Session *session)
{
  const NdIgtlImage *image = nd_receiver_image (session->receiver);
  const gsize scalar = nd_igtl_scalar_size (image->scalar);
  const gsize n = nd_igtl_image_subvolume_size (image) / scalar;
  g_autofree guint8 *volume = g_malloc (nd_igtl_image_volume_size (image));
  gdouble spacing[3], origin[3], directions[9];

  nd_igtl_samples_to_native (session->samples, image->scalar, image->big_endian,
      n);
  nd_igtl_subvolumes_copy (image, scalar * image->components, volume,
      session->samples);
  if (nd_igtl_subvolumes_add (session->subvolumes, image, 0)
      == ND_IGTL_SUBVOLUME_ANEW)
    nd_igtl_subvolumes_reset (session->subvolumes);
  nd_igtl_image_get_geometry (image, spacing, origin, directions);
  add_to_sum (session, session->samples, n * scalar);
}

static void
take_message (Session *session)
{
  const NdIgtlHeader *header = nd_receiver_header (session->receiver);
  g_autoptr (GError) error = NULL;
  const guint8 *content;
  gsize size;

  content = nd_receiver_content (session->receiver, &size);
  add_to_sum (session, header->type, strlen (header->type));
  add_to_sum (session, content, size);
  if (strcmp (header->type, "IMAGE") == 0)
    take_image (session);
  else if (nd_igtl_has_fields (header->type)
      && !nd_igtl_to_fields (header, content, size, collect, session->fields,
          &error))
    check_error (error);
  g_clear_error (&error);
  if (!nd_receiver_metadata (session->receiver, collect, session->fields,
          &error))
    check_error (error);
  send_fields (session);
}

static void
take (Session *session, gsize n)
{
  for (;; n = 0) {
    g_autoptr (GError) error = NULL;
    const NdReceived event = nd_receiver_take (session->receiver, n, &error);

    if (event != ND_RECEIVED_NOTHING)
      add_to_sum (session, &event, sizeof (event));
    switch (event) {
      case ND_RECEIVED_NOTHING:
        return;
      case ND_RECEIVED_IMAGE:
        g_free (session->samples);
        session->samples = g_malloc (nd_igtl_image_subvolume_size (
            nd_receiver_image (session->receiver)));
        nd_receiver_set_samples (session->receiver, session->samples);
        break;
      case ND_RECEIVED_MESSAGE:
        take_message (session);
        break;
      case ND_RECEIVED_REFUSED:
      case ND_RECEIVED_LOST:
        check_error (error);
        break;
      default:
        break;
    }
  }
}

/* Receives pieces of random sizes; NULL: as large as they can be. */
static guint32
receive (const guint8 *bytes, gsize n, gboolean check_crc, GRand *random)
{
  Session session = { .receiver = nd_receiver_new (MAX_SIZE, check_crc),
    .subvolumes = nd_igtl_subvolumes_new (),
    .fields = g_array_new (FALSE, FALSE, sizeof (NdIgtlField)) };

  while (n > 0) {
    gsize size;
    guint8 *space = nd_receiver_space (session.receiver, &size);

    size = MIN (size, n);
    if (random) {
      /* Of all magnitudes. */
      const gsize most =
          g_rand_int_range (random, 1, 2 << g_rand_int_range (random, 0, 12));

      size = MIN (size, most);
    }
    memcpy (space, bytes, size);
    bytes += size;
    n -= size;
    take (&session, size);
  }
  nd_receiver_free (session.receiver);
  nd_igtl_subvolumes_free (session.subvolumes);
  g_array_unref (session.fields);
  g_free (session.samples);
  return session.sum;
}

/* The last byte of the input says how it is cut into pieces, and whether
 * checksums count: with them hardly anything but the header would be read. */
guint32
fuzz_input (const guint8 *bytes, gsize n)
{
  const guint8 last = n > 0 ? bytes[n - 1] : 0;
  g_autoptr (GRand) random = g_rand_new_with_seed (last);
  const guint32 whole = receive (bytes, n, last & 1, NULL);

  if (receive (bytes, n, last & 1, random) != whole)
    g_error ("the pieces of a stream change its messages");
  return whole;
}

static void
append (GByteArray *stream, GByteArray *message)
{
  g_byte_array_append (stream, message->data, message->len);
  g_byte_array_unref (message);
}

void
fuzz_openigtlink_seed (guint version, GByteArray *stream)
{
  static const struct
  {
    const gchar *type;
    guint size;
  } small[] = { { "TRANSFORM", 48 }, { "POSITION", 28 }, { "TDATA", 140 },
    { "QTDATA", 100 }, { "STATUS", 40 }, { "STRING", 4 }, { "SENSOR", 10 },
    { "GET_CAPABIL", 0 }, { "CAPABILITY", 24 }, { "OTHER", 9 } };
  const NdIgtlField fields[] = { { "key", "value" }, { "b", "" } };
  NdIgtlImage image = make_image (3, 4, 5, 1, ND_IGTL_INT16);
  guint8 samples[3 * 4 * 5 * 2] = { 1, 2, 3 };

  append (stream, make_image_message (version, &image, samples, fields, 2));
  image.subvolume[2] = 2;
  append (stream, make_image_message (version, &image, samples, fields, 1));
  for (guint i = 0; i < G_N_ELEMENTS (small); i++) {
    g_autoptr (GByteArray) content = g_byte_array_new ();

    g_byte_array_set_size (content, small[i].size);
    if (small[i].size > 0)
      memset (content->data, 0, small[i].size);
    append (stream,
        make_message (version, small[i].type, "Device", content, NULL, 0,
            fields, i % 3));
  }
  nd_put_u8 (stream, 50 * version);
}

void
fuzz_seeds (GPtrArray *seeds)
{
  for (guint version = 1; version <= 3; version++) {
    GByteArray *stream = g_byte_array_new ();

    fuzz_openigtlink_seed (version, stream);
    g_ptr_array_add (seeds, g_byte_array_free_to_bytes (stream));
  }
}
