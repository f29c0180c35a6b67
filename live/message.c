/* Header, extended header and metadata of OpenIGTLink messages; queries.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/message.h"

#include "core/error.h"
#include "live/bytes.h"
#include "live/crc64.h"

#define TYPE_AT 2
#define DEVICE_AT (TYPE_AT + ND_IGTL_TYPE_SIZE)
#define TIMESTAMP_AT (DEVICE_AT + ND_IGTL_DEVICE_SIZE)
#define BODY_SIZE_AT (TIMESTAMP_AT + 8)
#define CRC_AT (BODY_SIZE_AT + 8)

/* The bytes of a metadata header: key size, encoding, value size. */
#define ENTRY_SIZE 8

gchar *
nd_igtl_text (const guint8 *bytes, gsize size)
{
  const guint8 *end = memchr (bytes, 0, size);

  return g_utf8_make_valid ((const gchar *) bytes,
      end ? (gssize) (end - bytes) : (gssize) size);
}

static gchar *
from_latin1 (const guint8 *bytes, gsize size)
{
  GString *text = g_string_sized_new (size);

  for (gsize i = 0; i < size && bytes[i] != 0; i++)
    g_string_append_unichar (text, bytes[i]);
  return g_string_free (text, FALSE);
}

/* NULL if the bytes are no UTF-16. */
static gchar *
from_utf16 (const guint8 *bytes, gsize size, gboolean big_endian)
{
  const gsize n = size / 2;
  g_autofree gunichar2 *units = g_new (gunichar2, n + 1);

  for (gsize i = 0; i < n; i++) {
    const guint16 unit = nd_get_u16 (bytes + 2 * i);

    units[i] = big_endian ? unit : GUINT16_SWAP_LE_BE (unit);
  }
  return size % 2 ? NULL : g_utf16_to_utf8 (units, n, NULL, NULL, NULL);
}

/* iconv would know more sets, but to open it takes so long that a message with
 * many fields would delay other peers. */
gchar *
nd_igtl_text_of (guint charset, const guint8 *bytes, gsize size)
{
  gchar *text = NULL;

  if (charset == ND_IGTL_LATIN1) {
    text = from_latin1 (bytes, size);
  } else if (charset == ND_IGTL_UTF16BE || charset == ND_IGTL_UTF16LE) {
    text = from_utf16 (bytes, size, charset == ND_IGTL_UTF16BE);
  } else if (charset == ND_IGTL_UTF16) {
    const gboolean little = size >= 2 && nd_get_u16 (bytes) == 0xfffe;
    const gsize mark = little || (size >= 2 && nd_get_u16 (bytes) == 0xfeff);

    text = from_utf16 (bytes + 2 * mark, size - 2 * mark, !little);
  }
  return text ? text : nd_igtl_text (bytes, size);
}

static gboolean
parse_type (NdIgtlHeader *header, const guint8 *bytes)
{
  gsize n = 0;

  while (n < ND_IGTL_TYPE_SIZE && bytes[n] != 0) {
    if (!g_ascii_isgraph (bytes[n]))
      return FALSE;
    header->type[n] = bytes[n];
    n++;
  }
  header->type[n] = '\0';
  return n > 0;
}

/* A replacement character takes more bytes than the character that it
 * replaces. */
static void
parse_device (NdIgtlHeader *header, const guint8 *bytes)
{
  g_autofree gchar *device = nd_igtl_text (bytes, ND_IGTL_DEVICE_SIZE);
  gsize length = strlen (device);

  while (length > ND_IGTL_DEVICE_SIZE)
    length = g_utf8_find_prev_char (device, device + length) - device;
  memset (header->device, 0, sizeof (header->device));
  memcpy (header->device, device, length);
}

gboolean
nd_igtl_header_parse (NdIgtlHeader *header, const guint8 *bytes, GError **error)
{
  header->version = nd_get_u16 (bytes);
  if (header->version < 1 || header->version > ND_IGTL_VERSION_MAX) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The header of a message has version %u: OpenIGTLink has versions 1 "
        "to %u, and the peer must speak OpenIGTLink",
        header->version, ND_IGTL_VERSION_MAX);
    return FALSE;
  }
  if (!parse_type (header, bytes + TYPE_AT)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The type of a message is not an ASCII name: the bytes are not an "
        "OpenIGTLink header, and the peer must speak OpenIGTLink");
    return FALSE;
  }
  parse_device (header, bytes + DEVICE_AT);
  header->timestamp = nd_get_u64 (bytes + TIMESTAMP_AT);
  header->body_size = nd_get_u64 (bytes + BODY_SIZE_AT);
  header->crc = nd_get_u64 (bytes + CRC_AT);
  return TRUE;
}

gboolean
nd_igtl_extended_parse (NdIgtlExtended *extended, const guint8 *bytes,
    guint64 body_size, GError **error)
{
  guint64 total;

  extended->size = nd_get_u16 (bytes);
  extended->metadata_header_size = nd_get_u16 (bytes + 2);
  extended->metadata_size = nd_get_u32 (bytes + 4);
  extended->message_id = nd_get_u32 (bytes + 8);
  total = (guint64) extended->size + extended->metadata_header_size
      + extended->metadata_size;
  if (extended->size >= ND_IGTL_EXTENDED_SIZE && total <= body_size)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The extended header of a message says %u bytes for itself, and for "
      "metadata %" G_GUINT64_FORMAT ": it must be %u bytes or more, and both "
      "must fit into the %" G_GUINT64_FORMAT " bytes of the message",
      extended->size, total - extended->size, ND_IGTL_EXTENDED_SIZE, body_size);
  return FALSE;
}

gboolean
nd_igtl_metadata_parse (const guint8 *bytes, gsize size, NdIgtlFieldFunc func,
    gpointer user_data, GError **error)
{
  const guint n = size >= 2 ? nd_get_u16 (bytes) : 0;
  gsize at = 2 + (gsize) n * ENTRY_SIZE;

  if (size == 0)
    return TRUE;
  for (guint i = 0; i < n; i++) {
    const guint8 *entry = bytes + 2 + (gsize) i * ENTRY_SIZE;
    g_autofree gchar *key = NULL, *value = NULL;
    gsize key_size, value_size;

    if (at > size)
      break;
    key_size = nd_get_u16 (entry);
    value_size = nd_get_u32 (entry + 4);
    if (key_size > size - at || value_size > size - at - key_size) {
      at = G_MAXSIZE;
      break;
    }
    key = nd_igtl_text (bytes + at, key_size);
    value = nd_igtl_text_of (nd_get_u16 (entry + 2), bytes + at + key_size,
        value_size);
    at += key_size + value_size;
    func (key, value, user_data);
  }
  if (size >= 2 && at <= size)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The metadata of a message say %u fields that need more than their "
      "%" G_GSIZE_FORMAT " bytes: sizes of keys and values must fit",
      n, size);
  return FALSE;
}

guint16
nd_igtl_metadata_build (GByteArray *out, const NdIgtlField *fields, guint n)
{
  const guint max = (G_MAXUINT16 - 2) / ENTRY_SIZE;
  const guint begin = out->len;
  guint16 count = 0;

  nd_put_u16 (out, 0);
  for (guint i = 0; i < n && count < max; i++) {
    const gsize key_size = strlen (fields[i].key);
    const gsize value_size = strlen (fields[i].value);

    if (key_size > G_MAXUINT16 || value_size > G_MAXUINT32)
      continue;
    nd_put_u16 (out, key_size);
    nd_put_u16 (out,
        g_str_is_ascii (fields[i].value) ? ND_IGTL_ASCII : ND_IGTL_UTF8);
    nd_put_u32 (out, value_size);
    count++;
  }
  for (guint i = 0, written = 0; i < n && written < count; i++) {
    const gsize key_size = strlen (fields[i].key);
    const gsize value_size = strlen (fields[i].value);

    if (key_size > G_MAXUINT16 || value_size > G_MAXUINT32)
      continue;
    g_byte_array_append (out, (const guint8 *) fields[i].key, key_size);
    g_byte_array_append (out, (const guint8 *) fields[i].value, value_size);
    written++;
  }
  out->data[begin] = count >> 8;
  out->data[begin + 1] = count & 0xff;
  return 2 + count * ENTRY_SIZE;
}

static void
set_u64 (guint8 *to, guint64 value)
{
  value = GUINT64_TO_BE (value);
  memcpy (to, &value, sizeof (value));
}

void
nd_igtl_build (const NdIgtlEnvelope *envelope, const GByteArray *content,
    gconstpointer samples, gsize samples_size, const NdIgtlField *fields,
    guint n_fields, GByteArray *head, GByteArray *tail)
{
  const gboolean extended = envelope->version >= 2;
  const guint begin = head->len;
  const guint tail_begin = tail ? tail->len : 0;
  guint16 metadata_header_size = 0;
  gsize metadata_size = 0, body_begin, body_size;
  guint64 crc;

  if (extended && tail) {
    metadata_header_size = nd_igtl_metadata_build (tail, fields, n_fields);
    metadata_size = tail->len - tail_begin - metadata_header_size;
  }
  nd_put_u16 (head, envelope->version);
  nd_put_text (head, envelope->type, ND_IGTL_TYPE_SIZE);
  nd_put_text (head, envelope->device, ND_IGTL_DEVICE_SIZE);
  nd_put_u64 (head, envelope->timestamp);
  nd_put_u64 (head, 0);
  nd_put_u64 (head, 0);
  body_begin = head->len;
  if (extended) {
    nd_put_u16 (head, ND_IGTL_EXTENDED_SIZE);
    nd_put_u16 (head, metadata_header_size);
    nd_put_u32 (head, metadata_size);
    nd_put_u32 (head, envelope->message_id);
  }
  if (content)
    g_byte_array_append (head, content->data, content->len);
  body_size = head->len - body_begin + samples_size + metadata_header_size
      + metadata_size;
  crc = nd_crc64 (0, head->data + body_begin, head->len - body_begin);
  if (samples)
    crc = nd_crc64 (crc, samples, samples_size);
  if (tail && tail->len > tail_begin)
    crc = nd_crc64 (crc, tail->data + tail_begin, tail->len - tail_begin);
  set_u64 (head->data + begin + BODY_SIZE_AT, body_size);
  set_u64 (head->data + begin + CRC_AT, crc);
}

guint64
nd_igtl_time_to_ns (guint64 timestamp)
{
  const guint64 second = G_GUINT64_CONSTANT (1000000000);
  const guint64 half = G_GUINT64_CONSTANT (1) << 31;
  const guint64 fraction = timestamp & G_MAXUINT32;

  return (timestamp >> 32) * second + ((fraction * second + half) >> 32);
}

guint64
nd_igtl_time_from_ns (guint64 ns)
{
  const guint64 second = G_GUINT64_CONSTANT (1000000000);
  const guint64 fraction = ((ns % second << 32) + second / 2) / second;

  return (ns / second << 32) + fraction;
}

#define STATUS_OK 1
#define STATUS_NAME_SIZE 20

NdIgtlQuery
nd_igtl_query_parse (const gchar *type, const gchar **about)
{
  static const gchar *const prefixes[] = {
    [ND_IGTL_GET] = "GET_",
    [ND_IGTL_START] = "STT_",
    [ND_IGTL_STOP] = "STP_",
    [ND_IGTL_ANSWER] = "RTS_",
  };

  for (guint i = 1; i < G_N_ELEMENTS (prefixes); i++) {
    if (g_str_has_prefix (type, prefixes[i])) {
      *about = type + strlen (prefixes[i]);
      return i;
    }
  }
  *about = type;
  return ND_IGTL_NO_QUERY;
}

void
nd_igtl_capability_build (const gchar *const *types, GByteArray *out)
{
  for (; *types; types++)
    nd_put_text (out, *types, ND_IGTL_TYPE_SIZE);
}

gboolean
nd_igtl_capability_has (const guint8 *content, gsize size, const gchar *type)
{
  for (; size >= ND_IGTL_TYPE_SIZE;
       content += ND_IGTL_TYPE_SIZE, size -= ND_IGTL_TYPE_SIZE) {
    g_autofree gchar *name = nd_igtl_text (content, ND_IGTL_TYPE_SIZE);

    if (strcmp (name, type) == 0)
      return TRUE;
  }
  return FALSE;
}

void
nd_igtl_status_build (GByteArray *out)
{
  nd_put_u16 (out, STATUS_OK);
  nd_put_u64 (out, 0);
  nd_put_text (out, "OK", STATUS_NAME_SIZE);
  nd_put_u8 (out, 0);
}
