/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndsampletype.h"

#include "gst/base/gstndproperties.h"

#define VALUES                                                            \
  { GST_ND_SAMPLE_UINT8, "8 bit unsigned, 0 to 255", "uint8" },           \
      { GST_ND_SAMPLE_INT16, "16 bit signed, -32768 to 32767", "int16" }, \
      { GST_ND_SAMPLE_UINT16, "16 bit unsigned, 0 to 65535", "uint16" },  \
  {                                                                       \
    GST_ND_SAMPLE_FLOAT32, "32 bit floating point (IEEE 754)", "float32"  \
  }
#define OTHER_VALUES                                                          \
  { GST_ND_SAMPLE_INT8, "8 bit signed, -128 to 127", "int8" },                \
      { GST_ND_SAMPLE_INT32, "32 bit signed, computed in float32", "int32" }, \
      { GST_ND_SAMPLE_UINT32, "32 bit unsigned, computed in float32",         \
        "uint32" },                                                           \
      { GST_ND_SAMPLE_FLOAT16, "16 bit floating point (IEEE 754)",            \
        "float16" },                                                          \
  {                                                                           \
    GST_ND_SAMPLE_FLOAT64, "64 bit floating point (IEEE 754)", "float64"      \
  }

GType
gst_nd_sample_type_get_type (void)
{
  static gsize type;
  static const GEnumValue values[] = { VALUES, OTHER_VALUES,
    { 0, NULL, NULL } };

  return gst_nd_enum_type (&type, "GstNdSampleType", values);
}

GType
gst_nd_output_type_get_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { GST_ND_SAMPLE_SAME, "Type of the input", "same" },
    VALUES,
    OTHER_VALUES,
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdOutputType", values);
}

NdSampleType
gst_nd_sample_type (GstNdSampleType type, NdSampleType same)
{
  switch (type) {
    case GST_ND_SAMPLE_UINT8:
      return ND_UINT8;
    case GST_ND_SAMPLE_INT16:
      return ND_INT16;
    case GST_ND_SAMPLE_UINT16:
      return ND_UINT16;
    case GST_ND_SAMPLE_FLOAT32:
      return ND_FLOAT32;
    case GST_ND_SAMPLE_SAME:
      return same;
    case GST_ND_SAMPLE_INT8:
      return ND_INT8;
    case GST_ND_SAMPLE_INT32:
      return ND_INT32;
    case GST_ND_SAMPLE_UINT32:
      return ND_UINT32;
    case GST_ND_SAMPLE_FLOAT16:
      return ND_FLOAT16;
    case GST_ND_SAMPLE_FLOAT64:
      return ND_FLOAT64;
  }
  g_return_val_if_reached (same);
}
