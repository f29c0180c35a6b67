/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstopenigtlinksrcsettings.h"

#include "gst/igtl/gstndigtlhub.h"
#include "live/message.h"

static GType
policy_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_OPENIGTLINK_SRC_POLICY_NEWEST,
        "A new volume replaces a waiting one, so that the delay stays short",
        "newest" },
    { GST_OPENIGTLINK_SRC_POLICY_EVERY,
        "Peers wait until downstream takes their volumes, so "
        "that none is lost",
        "every" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstOpenIGTLinkSrcPolicy", values);
}

static GType
timestamps_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_OPENIGTLINK_SRC_TIMESTAMPS_SENDER,
        "Times of the sender, converted to the clock of the pipeline by a "
        "running estimate",
        "sender" },
    { GST_OPENIGTLINK_SRC_TIMESTAMPS_ARRIVAL,
        "Time at which the last byte arrived", "arrival" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstOpenIGTLinkSrcTimestamps", values);
}

const GstNdProperty gst_openigtlink_src_rows[] = {
  /* Since: 0.9 */
  { "mode", "Mode", "Whether to connect or to listen",
      GST_ND_ENUM (GstOpenIGTLinkSrcSettings, mode, GstNdIgtlMode,
          gst_nd_igtl_mode_get_type, GST_ND_IGTL_CLIENT),
      GST_ND_READY },
  { "host", "Host",
      "Name or address of the server; with mode=server, the address of this "
      "computer to listen at (0.0.0.0: all addresses)",
      GST_ND_STRING (GstOpenIGTLinkSrcSettings, host, "localhost"),
      GST_ND_READY },
  { "port", "Port",
      "TCP port; with mode=server, 0 chooses a free port, which stats shows",
      GST_ND_UINT (GstOpenIGTLinkSrcSettings, port, 0, 65535, ND_IGTL_PORT),
      GST_ND_READY },
  { "device-name", "Device name",
      "Device name of the images to receive; empty: the first device that "
      "sends an image",
      GST_ND_STRING (GstOpenIGTLinkSrcSettings, device_name, ""),
      GST_ND_READY },
  { "policy", "Policy", "What happens if downstream is slower than the peer",
      GST_ND_ENUM (GstOpenIGTLinkSrcSettings, policy, GstOpenIGTLinkSrcPolicy,
          policy_get_type, GST_OPENIGTLINK_SRC_POLICY_NEWEST),
      GST_ND_READY },
  { "max-message-size", "Maximum message size",
      "Largest size of a message or volume, in bytes; larger ones are refused",
      GST_ND_INT64 (GstOpenIGTLinkSrcSettings, max_message_size, 1024,
          G_MAXINT64, 1 << 30),
      GST_ND_READY },
  { "reconnect", "Reconnect",
      "With mode=client, seconds to the next attempt after a connection "
      "ended or failed; each failure doubles the time, up to reconnect-max. "
      "-1: the stream ends",
      GST_ND_INT (GstOpenIGTLinkSrcSettings, reconnect, -1, 86400, 1),
      GST_ND_READY },
  { "timestamps", "Timestamps", "Source of the timestamps",
      GST_ND_ENUM (GstOpenIGTLinkSrcSettings, timestamps,
          GstOpenIGTLinkSrcTimestamps, timestamps_get_type,
          GST_OPENIGTLINK_SRC_TIMESTAMPS_SENDER),
      GST_ND_READY },
  { "check-crc", "Check CRC", "Refuse messages whose checksum is wrong",
      GST_ND_BOOLEAN (GstOpenIGTLinkSrcSettings, check_crc, TRUE),
      GST_ND_READY },
  { "message-timeout", "Message timeout",
      "Seconds that one message of a peer may take to arrive; then its "
      "connection is closed. 0: any time",
      GST_ND_UINT (GstOpenIGTLinkSrcSettings, message_timeout, 0, 86400,
          GST_ND_IGTL_MESSAGE_TIMEOUT),
      GST_ND_READY },
  /* Since: 0.9 */
  { "reconnect-max", "Longest time to reconnect",
      "With mode=client, the most seconds between two attempts to connect, if "
      "reconnect is not longer",
      GST_ND_DOUBLE (GstOpenIGTLinkSrcSettings, reconnect_max, 0.1, 86400,
          GST_ND_IGTL_RECONNECT_MAX),
      GST_ND_READY },
};
const guint gst_openigtlink_src_n_rows =
    G_N_ELEMENTS (gst_openigtlink_src_rows);
