/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlmode.h"

#include "gst/base/gstndproperties.h"

GType
gst_nd_igtl_mode_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_ND_IGTL_CLIENT, "Connect to a server at host and port", "client" },
    { GST_ND_IGTL_SERVER, "Listen for clients at host and port", "server" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdIgtlMode", values);
}
