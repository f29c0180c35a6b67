/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlmode.h"

ND_DEFINE_ENUM (gst_nd_igtl_mode_enum, "GstNdIgtlMode",
    { GST_ND_IGTL_CLIENT, "Connect to a server at host and port", "client" },
    { GST_ND_IGTL_SERVER, "Listen for clients at host and port", "server" });
