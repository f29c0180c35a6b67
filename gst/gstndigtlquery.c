/* Queries and their answers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/gstndigtlquery.h"

#include "live/bytes.h"

#define STATUS_OK 1
#define STATUS_NAME_SIZE 20

GstNdIgtlQuery
gst_nd_igtl_query_parse (const gchar *type, const gchar **about)
{
  static const gchar *const prefixes[] = {
    [GST_ND_IGTL_GET] = "GET_",
    [GST_ND_IGTL_START] = "STT_",
    [GST_ND_IGTL_STOP] = "STP_",
    [GST_ND_IGTL_ANSWER] = "RTS_",
  };

  for (guint i = 1; i < G_N_ELEMENTS (prefixes); i++) {
    if (g_str_has_prefix (type, prefixes[i])) {
      *about = type + strlen (prefixes[i]);
      return i;
    }
  }
  *about = type;
  return GST_ND_IGTL_NO_QUERY;
}

static void
send (GstNdIgtlPeer *peer, guint16 version, const gchar *type,
    const gchar *device, const GByteArray *content)
{
  const NdIgtlEnvelope envelope = { version, type, device,
    nd_igtl_time_from_ns (g_get_real_time () * GST_USECOND), 0 };

  gst_nd_igtl_peer_reply (peer,
      gst_nd_igtl_unit_new_message (&envelope, content));
}

void
gst_nd_igtl_send_empty (GstNdIgtlPeer *peer, guint16 version, const gchar *type,
    const gchar *device)
{
  send (peer, version, type, device, NULL);
}

void
gst_nd_igtl_send_done (GstNdIgtlPeer *peer, guint16 version, const gchar *about,
    const gchar *device, gboolean done)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();
  g_autofree gchar *type = g_strconcat ("RTS_", about, NULL);

  nd_put_u8 (content, done ? 0 : 1);
  send (peer, version, type, device, content);
}

void
gst_nd_igtl_send_capability (GstNdIgtlPeer *peer, guint16 version,
    const gchar *device, const gchar *const *types)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  for (; *types; types++)
    nd_put_text (content, *types, ND_IGTL_TYPE_SIZE);
  send (peer, version, "CAPABILITY", device, content);
}

void
gst_nd_igtl_send_status (GstNdIgtlPeer *peer, guint16 version,
    const gchar *device)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  nd_put_u16 (content, STATUS_OK);
  nd_put_u64 (content, 0);
  nd_put_text (content, "OK", STATUS_NAME_SIZE);
  nd_put_u8 (content, 0);
  send (peer, version, "STATUS", device, content);
}

gboolean
gst_nd_igtl_capability_has (const guint8 *content, gsize size,
    const gchar *type)
{
  for (; size >= ND_IGTL_TYPE_SIZE;
       content += ND_IGTL_TYPE_SIZE, size -= ND_IGTL_TYPE_SIZE) {
    g_autofree gchar *name = nd_igtl_text (content, ND_IGTL_TYPE_SIZE);

    if (strcmp (name, type) == 0)
      return TRUE;
  }
  return FALSE;
}
