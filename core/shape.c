/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/shape.h"

#include <string.h>

#define SAMPLES                                                             \
  { ND_UINT8, "8 bit unsigned, 0 to 255", "uint8" },                        \
      { ND_INT16, "16 bit signed, -32768 to 32767", "int16" },              \
      { ND_UINT16, "16 bit unsigned, 0 to 65535", "uint16" },               \
      { ND_FLOAT32, "32 bit floating point (IEEE 754)", "float32" },        \
      { ND_INT8, "8 bit signed, -128 to 127", "int8" },                     \
      { ND_INT32, "32 bit signed, computed in double precision", "int32" }, \
      { ND_UINT32, "32 bit unsigned, computed in double precision",         \
        "uint32" },                                                         \
      { ND_FLOAT16, "16 bit floating point (IEEE 754)", "float16" },        \
  {                                                                         \
    ND_FLOAT64, "64 bit floating point (IEEE 754)", "float64"               \
  }

ND_DEFINE_ENUM (nd_sample_enum, "GstNdSampleType", SAMPLES);
ND_DEFINE_ENUM (nd_output_type_enum, "GstNdOutputType",
    { ND_SAMPLE_SAME, "Type of the input", "same" }, SAMPLES);
ND_DEFINE_ENUM (nd_precision_enum, "GstNdPrecision",
    { ND_PRECISION_SINGLE, "Samples, coefficients and sums in float32",
        "single" },
    { ND_PRECISION_DOUBLE,
        "Samples, coefficients and sums in float64, by every method but "
        "tensor; relative L2 error of at most 1e-14, of method=fft 1e-13",
        "double" });

static const struct
{
  gsize size;
  NdSampleType computed[ND_PRECISION_END];
} samples[ND_STREAM_TYPES] = {
  [ND_UINT8] = { 1, { ND_UINT8, ND_UINT8 } },
  [ND_INT16] = { 2, { ND_INT16, ND_INT16 } },
  [ND_UINT16] = { 2, { ND_UINT16, ND_UINT16 } },
  [ND_FLOAT32] = { 4, { ND_FLOAT32, ND_FLOAT32 } },
  [ND_INT8] = { 1, { ND_INT16, ND_INT16 } },
  [ND_INT32] = { 4, { ND_FLOAT32, ND_FLOAT64 } },
  [ND_UINT32] = { 4, { ND_FLOAT32, ND_FLOAT64 } },
  [ND_FLOAT16] = { 2, { ND_FLOAT32, ND_FLOAT32 } },
  [ND_FLOAT64] = { 8, { ND_FLOAT32, ND_FLOAT64 } },
};

gsize
nd_sample_size (NdSampleType type)
{
  return samples[type].size;
}

const gchar *
nd_sample_name (NdSampleType type)
{
  return nd_enum_name (&nd_sample_enum, type);
}

const gchar *
nd_precision_name (NdPrecision precision)
{
  return nd_enum_name (&nd_precision_enum, precision);
}

gboolean
nd_sample_is_float (NdSampleType type)
{
  return type == ND_FLOAT32 || type == ND_FLOAT16 || type == ND_FLOAT64;
}

NdSampleType
nd_sample_computed (NdSampleType type, NdPrecision precision)
{
  return samples[type].computed[precision];
}

NdPrecision
nd_sample_precision (NdSampleType type, NdPrecision wanted)
{
  return type == ND_INT32 || type == ND_UINT32 ? ND_PRECISION_DOUBLE : wanted;
}

gboolean
nd_sample_from_name (const gchar *name, NdSampleType *type)
{
  gint number;

  if (!nd_enum_from_name (&nd_sample_enum, name, &number))
    return FALSE;
  *type = number;
  return TRUE;
}

gboolean
nd_shape_samples (const NdShape *shape, gsize *n)
{
  gsize total = shape->components;

  if (total == 0)
    return FALSE;
  for (guint i = 0; i < 3; i++) {
    if (shape->size[i] == 0
        || !g_size_checked_mul (&total, total, shape->size[i]))
      return FALSE;
  }
  if (total > G_MAXSSIZE / sizeof (gdouble))
    return FALSE;
  *n = total;
  return TRUE;
}

guint
nd_parse_sizes (const gchar *text, gsize *values, guint max)
{
  guint n = 0;

  for (;;) {
    gchar *end;
    guint64 value;

    if (n == max || !g_ascii_isdigit (*text))
      return 0;
    value = g_ascii_strtoull (text, &end, 10);
    if (value == 0 || value > G_MAXSSIZE)
      return 0;
    values[n++] = value;
    if (*end == '\0')
      return n;
    if (*end != ':')
      return 0;
    text = end + 1;
  }
}
