/* Sends queries and answers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlquery.h"

#include "live/bytes.h"
#include "live/query.h"

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

  nd_igtl_capability_build (types, content);
  send (peer, version, "CAPABILITY", device, content);
}

void
gst_nd_igtl_send_status (GstNdIgtlPeer *peer, guint16 version,
    const gchar *device)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  nd_igtl_status_build (content);
  send (peer, version, "STATUS", device, content);
}
