/* Streams of messages in pieces of any size, good ones and others.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/receiver.h"

#include <string.h>

#include "core/error.h"
#include "tests/fuzz/memory.h"
#include "tests/live/messages.h"

#define MAX_SIZE (1024 * 1024)

static void
collect (const gchar *key, const gchar *value, gpointer user_data)
{
  g_string_append_printf (user_data, " %s=%s", key, value);
}

/* The events of the receiver as text, one line for each. */
static void
describe (GString *text, NdReceiver *receiver, NdReceived event,
    const guint8 *samples, const GError *error)
{
  const NdIgtlHeader *header = nd_receiver_header (receiver);
  gsize size;

  switch (event) {
    case ND_RECEIVED_MESSAGE:
      g_string_append_printf (text, "%s", header->type);
      if (strcmp (header->type, "IMAGE") == 0) {
        const NdIgtlImage *image = nd_receiver_image (receiver);
        const gsize n = nd_igtl_image_subvolume_size (image);
        gsize right = 0;

        while (right < n && samples[right] == right)
          right++;
        g_string_append_printf (text, " %u of %u", (guint) right, (guint) n);
      } else {
        nd_receiver_content (receiver, &size);
        g_string_append_printf (text, " %" G_GSIZE_FORMAT, size);
      }
      nd_receiver_metadata (receiver, collect, text, NULL);
      break;
    case ND_RECEIVED_SKIPPED:
      g_string_append_printf (text, "skipped %s", header->type);
      break;
    case ND_RECEIVED_REFUSED:
      g_assert_nonnull (error);
      g_assert_cmpuint (strlen (error->message), >, 20);
      g_string_append_printf (text, "refused %s",
          error->code == ND_ERROR_READ         ? "crc"
              : error->code == ND_ERROR_MEMORY ? "memory"
                                               : "format");
      break;
    default:
      g_assert_cmpint (event, ==, ND_RECEIVED_LOST);
      g_assert_nonnull (error);
      g_string_append (text, "lost");
  }
  g_string_append_c (text, '\n');
}

static gchar *
receive (const GByteArray *stream, gsize piece, gboolean wanted)
{
  g_autoptr (NdReceiver) receiver = nd_receiver_new (MAX_SIZE, TRUE);
  g_autofree guint8 *samples = NULL;
  GString *text = g_string_new (NULL);

  for (gsize at = 0; at < stream->len;) {
    const gsize most = piece ? piece : (gsize) g_test_rand_int_range (1, 200);
    gsize n;
    guint8 *space = nd_receiver_space (receiver, &n);
    g_autoptr (GError) error = NULL;
    NdReceived event;

    g_assert_cmpuint (n, >, 0);
    n = MIN (n, stream->len - at);
    n = MIN (n, most);
    memcpy (space, stream->data + at, n);
    at += n;
    for (; (event = nd_receiver_take (receiver, n, &error)); n = 0) {
      if (event == ND_RECEIVED_IMAGE) {
        const gsize size =
            nd_igtl_image_subvolume_size (nd_receiver_image (receiver));

        g_assert_cmpuint (size, <=, MAX_SIZE);
        g_free (samples);
        samples = g_malloc (size);
        nd_receiver_set_samples (receiver, wanted ? samples : NULL);
        continue;
      }
      describe (text, receiver, event, samples, error);
      g_clear_error (&error);
    }
  }
  return g_string_free (text, FALSE);
}

static void
append (GByteArray *stream, GByteArray *message)
{
  g_byte_array_append (stream, message->data, message->len);
  g_byte_array_unref (message);
}

/* Messages of every version, with what may stand between them. */
static GByteArray *
make_stream (void)
{
  const NdIgtlField fields[] = { { "a", "1" }, { "b", "2" } };
  const NdIgtlImage image = make_image (5, 4, 3, 1, ND_IGTL_UINT8);
  GByteArray *stream = g_byte_array_new ();
  g_autoptr (GByteArray) transform = g_byte_array_new ();
  guint8 samples[60];

  for (guint i = 0; i < sizeof (samples); i++)
    samples[i] = i;
  g_byte_array_set_size (transform, 48);
  memset (transform->data, 0, 48);
  for (guint version = 1; version <= 3; version++) {
    append (stream, make_image_message (version, &image, samples, fields, 2));
    append (stream,
        make_message (version, "TRANSFORM", "T", transform, NULL, 0, fields,
            1));
    append (stream,
        make_message (version, "GET_CAPABIL", "", NULL, NULL, 0, NULL, 0));
    append (stream,
        make_message (version, "POLYDATA", "", transform, NULL, 0, NULL, 0));
    append (stream,
        make_message (version, "IMAGE", "", NULL, NULL, 0, NULL, 0));
  }
  return stream;
}

static void
test_pieces (void)
{
  static const gsize pieces[] = { 1, 2, 3, 7, 57, 58, 59, 130, 1000000, 0, 0 };
  g_autoptr (GByteArray) stream = make_stream ();

  for (guint i = 0; i < G_N_ELEMENTS (pieces); i++) {
    g_autofree gchar *text = receive (stream, pieces[i], TRUE);

    g_assert_cmpstr (text, ==,
        "IMAGE 60 of 60\nTRANSFORM 48\nGET_CAPABIL 0\nskipped POLYDATA\n"
        "skipped IMAGE\n"
        "IMAGE 60 of 60 a=1 b=2\nTRANSFORM 48 a=1\nGET_CAPABIL 0\n"
        "skipped POLYDATA\nskipped IMAGE\n"
        "IMAGE 60 of 60 a=1 b=2\nTRANSFORM 48 a=1\nGET_CAPABIL 0\n"
        "skipped POLYDATA\nskipped IMAGE\n");
  }
}

static void
test_unwanted (void)
{
  g_autoptr (GByteArray) stream = make_stream ();
  g_autofree gchar *text = receive (stream, 0, FALSE);

  g_assert_true (g_str_has_prefix (text, "skipped IMAGE\nTRANSFORM 48\n"));
}

/* A message whose bit @bit of the body is wrong, and a good one after it. */
static void
test_damaged (void)
{
  const NdIgtlField field = { "key", "value" };
  const NdIgtlImage image = make_image (3, 3, 3, 1, ND_IGTL_UINT8);
  const guint8 samples[27] = { 1, 2, 3 };

  for (guint version = 1; version <= 2; version++) {
    g_autoptr (GByteArray) message =
        make_image_message (version, &image, samples, &field, 1);

    for (gsize bit = 8 * ND_IGTL_HEADER_SIZE; bit < 8 * message->len; bit++) {
      g_autoptr (GByteArray) stream = g_byte_array_new ();
      g_autofree gchar *text = NULL;

      g_byte_array_append (stream, message->data, message->len);
      stream->data[bit / 8] ^= 1 << bit % 8;
      g_byte_array_append (stream, message->data, message->len);
      text = receive (stream, 0, TRUE);
      g_assert_true (g_str_has_prefix (text, "refused "));
      g_assert_nonnull (strstr (text, "\nIMAGE "));
    }
  }
}

static void
set_body_size (GByteArray *message, guint64 size)
{
  size = GUINT64_TO_BE (size);
  memcpy (message->data + 42, &size, sizeof (size));
}

static void
check_size (const gchar *type, guint64 size, const gchar *right)
{
  g_autoptr (GByteArray) message =
      make_message (2, type, "D", NULL, NULL, 0, NULL, 0);
  g_autofree gchar *text = NULL;

  set_body_size (message, size);
  g_byte_array_set_size (message, ND_IGTL_HEADER_SIZE);
  g_byte_array_set_size (message, ND_IGTL_HEADER_SIZE + MIN (size, 3000000));
  memset (message->data + ND_IGTL_HEADER_SIZE, 0,
      message->len - ND_IGTL_HEADER_SIZE);
  text = receive (message, 1000, TRUE);
  g_assert_cmpstr (text, ==, right);
}

static void
test_sizes (void)
{
  check_size ("IMAGE", G_MAXUINT64, "lost\n");
  check_size ("IMAGE", (guint64) G_MININT64, "lost\n");
  check_size ("STATUS", G_GUINT64_CONSTANT (1) << 41, "lost\n");
  check_size ("IMAGE", G_GUINT64_CONSTANT (1) << 40, "");
  check_size ("STATUS", 11, "refused format\n");
  check_size ("IMAGE", 12, "refused format\n");
  check_size ("IMAGE", 2000000, "refused format\n");
  check_size ("STRING", 2000000, "refused format\n");
  check_size ("STATUS", 0, "refused format\n");
}

/* Bytes that are random, and messages with random bytes in them. */
static void
test_anything (void)
{
  g_autoptr (GByteArray) stream = make_stream ();

  for (guint round = 0; round < 3000; round++) {
    g_autoptr (GByteArray) wrong = g_byte_array_new ();
    g_autofree gchar *text = NULL;

    g_byte_array_append (wrong, stream->data, stream->len);
    for (guint i = g_test_rand_int_range (1, 20); i > 0; i--)
      wrong->data[g_test_rand_int_range (0, round % 2 ? 58 : wrong->len)] =
          g_test_rand_int_range (0, 256);
    text = receive (wrong, 0, round % 3 > 0);
  }
}

static void
test_in_message (void)
{
  g_autoptr (NdReceiver) receiver = nd_receiver_new (MAX_SIZE, TRUE);
  gsize n;

  g_assert_false (nd_receiver_in_message (receiver));
  *nd_receiver_space (receiver, &n) = 0;
  nd_receiver_take (receiver, 1, NULL);
  g_assert_true (nd_receiver_in_message (receiver));
}

/* A message without memory for it is skipped, and the next one arrives. */
static void
test_no_memory (void)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  guint n = 1;

  g_byte_array_set_size (content, 200000);
  memset (content->data, 'c', content->len);
  append (stream, make_message (2, "STRING", "D", content, NULL, 0, NULL, 0));
  append (stream, make_message (2, "GET_STATUS", "", NULL, NULL, 0, NULL, 0));
  for (;; n++) {
    g_autofree gchar *text = NULL;

    memory_begin ();
    memory_fail (n, 32 * 1024);
    text = receive (stream, 0, TRUE);
    if (!memory_has_failed ())
      break;
    g_assert_true (g_str_has_suffix (text, "GET_STATUS 0\n"));
    g_assert_true (g_str_has_prefix (text, "refused memory\n")
        || g_str_has_prefix (text, "STRING 200000\n"));
    g_assert_cmpint (memory_now (), <=, 8192);
  }
  memory_fail (0, 0);
  g_test_message ("%u allocations failed", n - 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/receiver/pieces", test_pieces);
  g_test_add_func ("/receiver/unwanted", test_unwanted);
  g_test_add_func ("/receiver/damaged", test_damaged);
  g_test_add_func ("/receiver/sizes", test_sizes);
  g_test_add_func ("/receiver/anything", test_anything);
  g_test_add_func ("/receiver/in-message", test_in_message);
  g_test_add_func ("/receiver/no-memory", test_no_memory);
  return g_test_run ();
}
