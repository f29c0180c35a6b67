/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/shape.h"

#include <string.h>

static const struct
{
  const gchar *name;
  gsize size;
  NdSampleType computed[ND_PRECISION_END];
} samples[ND_STREAM_TYPES] = {
  [ND_UINT8] = { "uint8", 1, { ND_UINT8, ND_UINT8 } },
  [ND_INT16] = { "int16", 2, { ND_INT16, ND_INT16 } },
  [ND_UINT16] = { "uint16", 2, { ND_UINT16, ND_UINT16 } },
  [ND_FLOAT32] = { "float32", 4, { ND_FLOAT32, ND_FLOAT32 } },
  [ND_INT8] = { "int8", 1, { ND_INT16, ND_INT16 } },
  [ND_INT32] = { "int32", 4, { ND_FLOAT32, ND_FLOAT64 } },
  [ND_UINT32] = { "uint32", 4, { ND_FLOAT32, ND_FLOAT64 } },
  [ND_FLOAT16] = { "float16", 2, { ND_FLOAT32, ND_FLOAT32 } },
  [ND_FLOAT64] = { "float64", 8, { ND_FLOAT32, ND_FLOAT64 } },
};

gsize
nd_sample_size (NdSampleType type)
{
  return samples[type].size;
}

const gchar *
nd_sample_name (NdSampleType type)
{
  return samples[type].name;
}

const gchar *
nd_precision_name (NdPrecision precision)
{
  return precision == ND_PRECISION_SINGLE ? "single" : "double";
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
  for (guint i = 0; i < ND_STREAM_TYPES; i++) {
    if (samples[i].name && g_ascii_strcasecmp (name, samples[i].name) == 0) {
      *type = i;
      return TRUE;
    }
  }
  return FALSE;
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
