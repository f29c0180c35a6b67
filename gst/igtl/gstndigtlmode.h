/* The property `mode` of the OpenIGTLink elements.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/schema.h"

G_BEGIN_DECLS

/* The numbers are public, as values of properties, and never change. */
typedef enum
{
  GST_ND_IGTL_CLIENT = 0,
  GST_ND_IGTL_SERVER = 1
} GstNdIgtlMode;

extern const NdEnum gst_nd_igtl_mode_enum;

G_END_DECLS
