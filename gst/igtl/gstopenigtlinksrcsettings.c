/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstopenigtlinksrcsettings.h"

#include "gst/igtl/gstndigtlhub.h"
#include "live/message.h"

static ND_DEFINE_ENUM (policy_enum, "GstOpenIGTLinkSrcPolicy",
    { GST_OPENIGTLINK_SRC_POLICY_NEWEST,
        "A new volume replaces a waiting one, so that the delay stays short",
        "newest" },
    { GST_OPENIGTLINK_SRC_POLICY_EVERY,
        "Peers wait until downstream takes their volumes, so "
        "that none is lost",
        "every" });

static ND_DEFINE_ENUM (timestamps_enum, "GstOpenIGTLinkSrcTimestamps",
    { GST_OPENIGTLINK_SRC_TIMESTAMPS_SENDER,
        "Times of the sender, converted to the clock of the pipeline by a "
        "running estimate",
        "sender" },
    { GST_OPENIGTLINK_SRC_TIMESTAMPS_ARRIVAL,
        "Time at which the last byte arrived", "arrival" });

const NdSetting gst_openigtlink_src_rows[] = {
  /* Since: 0.9 */
  { "mode", "Mode", "Whether to connect or to listen",
      ND_FIELD_ENUM (GstOpenIGTLinkSrcSettings, mode, GstNdIgtlMode,
          gst_nd_igtl_mode_enum, GST_ND_IGTL_CLIENT),
      ND_READY },
  { "host", "Host",
      "Name or address of the server; with mode=server, the address of this "
      "computer to listen at (0.0.0.0: all addresses)",
      ND_FIELD_STRING (GstOpenIGTLinkSrcSettings, host, "localhost"),
      ND_READY },
  { "port", "Port",
      "TCP port; with mode=server, 0 chooses a free port, which stats shows",
      ND_FIELD_UINT (GstOpenIGTLinkSrcSettings, port, 0, 65535, ND_IGTL_PORT),
      ND_READY },
  { "device-name", "Device name",
      "Device name of the images to receive; empty: the first device that "
      "sends an image",
      ND_FIELD_STRING (GstOpenIGTLinkSrcSettings, device_name, ""), ND_READY },
  { "policy", "Policy", "What happens if downstream is slower than the peer",
      ND_FIELD_ENUM (GstOpenIGTLinkSrcSettings, policy, GstOpenIGTLinkSrcPolicy,
          policy_enum, GST_OPENIGTLINK_SRC_POLICY_NEWEST),
      ND_READY },
  { "max-message-size", "Maximum message size",
      "Largest size of a message or volume, in bytes; larger ones are refused",
      ND_FIELD_INT64 (GstOpenIGTLinkSrcSettings, max_message_size, 1024,
          G_MAXINT64, 1 << 30),
      ND_READY },
  { "reconnect", "Reconnect",
      "With mode=client, seconds to the next attempt after a connection "
      "ended or failed; each failure doubles the time, up to reconnect-max. "
      "-1: the stream ends",
      ND_FIELD_INT (GstOpenIGTLinkSrcSettings, reconnect, -1, 86400, 1),
      ND_READY },
  { "timestamps", "Timestamps", "Source of the timestamps",
      ND_FIELD_ENUM (GstOpenIGTLinkSrcSettings, timestamps,
          GstOpenIGTLinkSrcTimestamps, timestamps_enum,
          GST_OPENIGTLINK_SRC_TIMESTAMPS_SENDER),
      ND_READY },
  { "check-crc", "Check CRC", "Refuse messages whose checksum is wrong",
      ND_FIELD_BOOLEAN (GstOpenIGTLinkSrcSettings, check_crc, TRUE), ND_READY },
  { "message-timeout", "Message timeout",
      "Seconds that one message of a peer may take to arrive; then its "
      "connection is closed. 0: any time",
      ND_FIELD_UINT (GstOpenIGTLinkSrcSettings, message_timeout, 0, 86400,
          GST_ND_IGTL_MESSAGE_TIMEOUT),
      ND_READY },
  /* Since: 0.9 */
  { "reconnect-max", "Longest time to reconnect",
      "With mode=client, the most seconds between two attempts to connect, if "
      "reconnect is not longer",
      ND_FIELD_DOUBLE (GstOpenIGTLinkSrcSettings, reconnect_max, 0.1, 86400,
          GST_ND_IGTL_RECONNECT_MAX),
      ND_READY },
};
const guint gst_openigtlink_src_n_rows =
    G_N_ELEMENTS (gst_openigtlink_src_rows);
