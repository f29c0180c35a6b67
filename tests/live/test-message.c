/* Header, extended header and metadata.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/message.h"

#include <string.h>

#include "core/error.h"
#include "live/crc64.h"
#include "tests/live/messages.h"

/* Byte by byte as the specification has it. */
static void
test_bytes (void)
{
  static const guint8 header[] = { 0, 1, 'S', 'T', 'A', 'T', 'U', 'S', 0, 0, 0,
    0, 0, 0, 'P', 'r', 'o', 'b', 'e', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0x49, 0x96, 0x02, 0xd2, 0x1f, 0x9a, 0xdd, 0x37, 0, 0, 0, 0, 0, 0, 0, 3 };
  g_autoptr (GByteArray) content = g_byte_array_new ();
  g_autoptr (GByteArray) message = NULL;
  NdIgtlHeader read;

  g_byte_array_append (content, (const guint8 *) "abc", 3);
  message = make_message (1, "STATUS", "Probe", content, NULL, 0, NULL, 0);
  g_assert_cmpuint (message->len, ==, ND_IGTL_HEADER_SIZE + 3);
  g_assert_cmpmem (message->data, sizeof (header), header, sizeof (header));
  g_assert_true (nd_igtl_header_parse (&read, message->data, NULL));
  g_assert_cmpuint (read.version, ==, 1);
  g_assert_cmpstr (read.type, ==, "STATUS");
  g_assert_cmpstr (read.device, ==, "Probe");
  g_assert_cmpuint (read.body_size, ==, 3);
  g_assert_cmphex (read.crc, ==, nd_crc64 (0, "abc", 3));
}

static void
test_time (void)
{
  g_assert_cmpuint (nd_igtl_time_to_ns (0), ==, 0);
  g_assert_cmpuint (nd_igtl_time_to_ns (G_GUINT64_CONSTANT (0x180000000)), ==,
      1500000000);
  for (guint i = 0; i < 100000; i++) {
    const guint64 ns = (guint64) g_test_rand_int_range (0, G_MAXINT32)
            * G_GUINT64_CONSTANT (1000000000)
        + g_test_rand_int_range (0, 1000000000);

    g_assert_cmpuint (nd_igtl_time_to_ns (nd_igtl_time_from_ns (ns)), ==, ns);
  }
  nd_igtl_time_to_ns (G_MAXUINT64);
}

static void
check_refused (const guint8 *bytes, const gchar *words)
{
  g_autoptr (GError) error = NULL;
  NdIgtlHeader header;

  g_assert_false (nd_igtl_header_parse (&header, bytes, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, words));
}

static void
test_refused (void)
{
  g_autoptr (GByteArray) message =
      make_message (1, "IMAGE", "x", NULL, NULL, 0, NULL, 0);

  message->data[1] = 0;
  check_refused (message->data, "version 0");
  message->data[1] = 4;
  check_refused (message->data, "version 4");
  message->data[1] = 1;
  message->data[3] = ' ';
  check_refused (message->data, "ASCII");
  message->data[2] = 0;
  check_refused (message->data, "ASCII");
}

/* Names that no 0 ends, and that are no text. */
static void
test_names (void)
{
  g_autoptr (GByteArray) message = make_message (1, "ABCDEFGHIJKLMN",
      "0123456789012345678901234", NULL, NULL, 0, NULL, 0);
  NdIgtlHeader header;

  g_assert_true (nd_igtl_header_parse (&header, message->data, NULL));
  g_assert_cmpstr (header.type, ==, "ABCDEFGHIJKL");
  g_assert_cmpstr (header.device, ==, "01234567890123456789");
  memset (message->data + 14, 0xff, ND_IGTL_DEVICE_SIZE);
  g_assert_true (nd_igtl_header_parse (&header, message->data, NULL));
  g_assert_true (g_utf8_validate (header.device, -1, NULL));
  g_assert_cmpuint (strlen (header.device), <=, ND_IGTL_DEVICE_SIZE);
}

static void
collect (const gchar *key, const gchar *value, gpointer user_data)
{
  g_string_append_printf (user_data, "%s=%s;", key, value);
}

static void
test_metadata (void)
{
  const NdIgtlField fields[] = { { "a", "1" }, { "", "" },
    { "Grüße", "naïve text" } };
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_cmpuint (nd_igtl_metadata_build (bytes, fields, 3), ==, 2 + 3 * 8);
  g_assert_true (nd_igtl_metadata_parse (bytes->data, bytes->len, collect, text,
      NULL));
  g_assert_cmpstr (text->str, ==, "a=1;=;Grüße=naïve text;");
  g_assert_true (nd_igtl_metadata_parse (NULL, 0, collect, text, NULL));
  /* Cut anywhere, the rest is refused and nothing beyond it is read. */
  for (gsize n = 1; n < bytes->len; n++) {
    g_autofree guint8 *cut = g_memdup2 (bytes->data, n);
    g_autoptr (GError) error = NULL;

    g_assert_false (nd_igtl_metadata_parse (cut, n, collect, text, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
  }
}

/* Texts in the sets that headers name, and in others than they name. */
static void
test_charsets (void)
{
  static const struct
  {
    guint charset;
    const gchar *bytes;
    gsize size;
    const gchar *text;
  } texts[] = {
    { ND_IGTL_ASCII, "Gr\xc3\xbc\xc3\x9f", 6, "Grüß" },
    { ND_IGTL_ASCII, "Gr\xfc", 3, "Gr\xef\xbf\xbd" },
    { ND_IGTL_LATIN1, "Gr\xfc\xdf", 4, "Grüß" },
    { ND_IGTL_LATIN1, "a\0b", 3, "a" },
    { ND_IGTL_UTF16BE, "\0G\0\xfc\xd8\x3d\xde\x00", 8, "Gü😀" },
    { ND_IGTL_UTF16LE, "G\0\xfc\0", 4, "Gü" },
    { ND_IGTL_UTF16, "\xff\xfeG\0\xfc\0", 6, "Gü" },
    { ND_IGTL_UTF16, "\xfe\xff\0G\0\xfc", 6, "Gü" },
    { ND_IGTL_UTF16, "\0G\0\xfc", 4, "Gü" },
    { ND_IGTL_UTF16, "", 0, "" },
    { ND_IGTL_UTF16BE, "abc", 3, "abc" },
    { ND_IGTL_UTF16BE, "\xd8\x3d", 2, "\xef\xbf\xbd=" },
    { 17, "abc", 3, "abc" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree guint8 *bytes = g_memdup2 (texts[i].bytes, texts[i].size);
    g_autofree gchar *text =
        nd_igtl_text_of (texts[i].charset, bytes, texts[i].size);

    g_assert_cmpstr (text, ==, texts[i].text);
  }
}

/* The set of a value of metadata. */
static void
test_metadata_charset (void)
{
  static const guint8 bytes[] = { 0, 1, 0, 1, 0, 4, 0, 0, 0, 1, 'k', 0xe9 };
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_true (nd_igtl_metadata_parse (bytes, sizeof (bytes), collect, text,
      NULL));
  g_assert_cmpstr (text->str, ==, "k=é;");
}

static void
test_extended (void)
{
  const NdIgtlField field = { "key", "value" };
  g_autoptr (GByteArray) message =
      make_message (2, "STATUS", "x", NULL, NULL, 0, &field, 1);
  const guint8 *body = message->data + ND_IGTL_HEADER_SIZE;
  const gsize size = message->len - ND_IGTL_HEADER_SIZE;
  NdIgtlExtended extended;

  g_assert_true (nd_igtl_extended_parse (&extended, body, size, NULL));
  g_assert_cmpuint (extended.size, ==, 12);
  g_assert_cmpuint (extended.metadata_header_size, ==, 10);
  g_assert_cmpuint (extended.metadata_size, ==, 8);
  g_assert_cmpuint (extended.message_id, ==, 7);
  g_assert_false (nd_igtl_extended_parse (&extended, body, size - 1, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/message/bytes", test_bytes);
  g_test_add_func ("/message/time", test_time);
  g_test_add_func ("/message/refused", test_refused);
  g_test_add_func ("/message/names", test_names);
  g_test_add_func ("/message/metadata", test_metadata);
  g_test_add_func ("/message/charsets", test_charsets);
  g_test_add_func ("/message/metadata-charset", test_metadata_charset);
  g_test_add_func ("/message/extended", test_extended);
  return g_test_run ();
}
