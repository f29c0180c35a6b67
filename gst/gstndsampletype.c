/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstndsampletype.h"

GType
gst_nd_sample_type_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {ND_UINT8, "8 bit, 0 to 255", "uint8"},
    {ND_INT16, "16 bit signed, -32768 to 32767", "int16"},
    {ND_UINT16, "16 bit, 0 to 65535", "uint16"},
    {ND_FLOAT32, "32 bit floating point (IEEE 754)", "float32"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstNdSampleType", values));
  return type;
}
