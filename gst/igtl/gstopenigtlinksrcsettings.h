/* The properties of openigtlinksrc.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstndproperties.h"
#include "gst/igtl/gstndigtlmode.h"

G_BEGIN_DECLS

/* The numbers of these enums are public, as values of properties, and never
 * change. */
typedef enum
{
  GST_OPENIGTLINK_SRC_POLICY_NEWEST = 0,
  GST_OPENIGTLINK_SRC_POLICY_EVERY = 1
} GstOpenIGTLinkSrcPolicy;

typedef enum
{
  GST_OPENIGTLINK_SRC_TIMESTAMPS_SENDER = 0,
  GST_OPENIGTLINK_SRC_TIMESTAMPS_ARRIVAL = 1
} GstOpenIGTLinkSrcTimestamps;

typedef struct
{
  GstNdIgtlMode mode;
  gchar *host;
  guint port;
  gchar *device_name;
  GstOpenIGTLinkSrcPolicy policy;
  gint64 max_message_size;
  gint reconnect;
  gdouble reconnect_max;
  GstOpenIGTLinkSrcTimestamps timestamps;
  gboolean check_crc;
  guint message_timeout;
} GstOpenIGTLinkSrcSettings;

extern const NdSetting gst_openigtlink_src_rows[];
extern const guint gst_openigtlink_src_n_rows;

G_END_DECLS
