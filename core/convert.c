/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/convert.h"

#include <math.h>
#include <string.h>

static guint32
float_bits (gfloat value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof (bits));
  return bits;
}

static gfloat
bits_float (guint32 bits)
{
  gfloat value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

gfloat
nd_half_to_float (guint16 half)
{
  const guint32 sign = (guint32) (half & 0x8000) << 16;
  const guint32 exponent = half >> 10 & 31;
  const guint32 mantissa = half & 0x3ff;

  if (exponent == 0)
    return bits_float (sign | float_bits (mantissa * 0x1p-24f));
  if (exponent == 31)
    return bits_float (sign | 0x7f800000 | mantissa << 13);
  return bits_float (sign | (exponent + 112) << 23 | mantissa << 13);
}

guint16
nd_float_to_half (gfloat value)
{
  const guint32 bits = float_bits (value);
  const guint16 sign = bits >> 16 & 0x8000;
  const guint32 magnitude = bits & 0x7fffffff;

  if (magnitude > 0x7f800000)
    return sign | 0x7e00;
  /* Half way between the largest half and the next power of two. */
  if (magnitude >= float_bits (65520))
    return sign | 0x7c00;
  /* A subnormal half: the sum has the same last bit, so that adding rounds
   * it. */
  if (magnitude < float_bits (0x1p-14f))
    return sign
        | (float_bits (bits_float (magnitude) + 0.5f) - float_bits (0.5f));
  return sign | (magnitude + 0xfff + (magnitude >> 13 & 1) - (112 << 23)) >> 13;
}

/* The double holds every limit exactly. */
static gdouble
round_between (gdouble value, gdouble low, gdouble high, gsize *beyond)
{
  const gdouble rounded = isnan (value) ? 0 : rint (value);

  *beyond += rounded < low || rounded > high;
  return CLAMP (rounded, low, high);
}

#define TO(Stream, Computed)    \
  for (gsize i = 0; i < n; i++) \
  ((Computed *) to)[i] = (Computed) ((const Stream *) from)[i]

#define FROM(Stream, Computed, low, high)                                    \
  for (gsize i = 0; i < n; i++)                                              \
  ((Stream *) to)[i] = (Stream) round_between (((const Computed *) from)[i], \
      low, high, &beyond)

gdouble
nd_sample_value (gconstpointer samples, gsize i, NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return ((const guint8 *) samples)[i];
    case ND_INT8:
      return ((const gint8 *) samples)[i];
    case ND_UINT16:
      return ((const guint16 *) samples)[i];
    case ND_INT16:
      return ((const gint16 *) samples)[i];
    case ND_UINT32:
      return ((const guint32 *) samples)[i];
    case ND_INT32:
      return ((const gint32 *) samples)[i];
    case ND_FLOAT16:
      return nd_half_to_float (((const guint16 *) samples)[i]);
    case ND_FLOAT32:
      return ((const gfloat *) samples)[i];
    case ND_FLOAT64:
      return ((const gdouble *) samples)[i];
    case ND_SAMPLE_SAME:
      break;
  }
  g_return_val_if_reached (0);
}

/* The same for types that are computed as float64 in double precision. */
#define TO_REAL(Stream)                     \
  G_STMT_START                              \
  {                                         \
    if (precision == ND_PRECISION_DOUBLE) { \
      TO (Stream, gdouble);                 \
    } else {                                \
      TO (Stream, gfloat);                  \
    }                                       \
  }                                         \
  G_STMT_END

#define FROM_REAL(Stream, low, high)        \
  G_STMT_START                              \
  {                                         \
    if (precision == ND_PRECISION_DOUBLE) { \
      FROM (Stream, gdouble, low, high);    \
    } else {                                \
      FROM (Stream, gfloat, low, high);     \
    }                                       \
  }                                         \
  G_STMT_END

void
nd_convert_to_computed (NdSampleType type, NdPrecision precision,
    gconstpointer from, gsize n, gpointer to)
{
  switch (type) {
    case ND_INT8:
      TO (gint8, gint16);
      break;
    case ND_INT32:
      TO_REAL (gint32);
      break;
    case ND_UINT32:
      TO_REAL (guint32);
      break;
    case ND_FLOAT16:
      for (gsize i = 0; i < n; i++)
        ((gfloat *) to)[i] = nd_half_to_float (((const guint16 *) from)[i]);
      break;
    case ND_FLOAT64:
      TO_REAL (gdouble);
      break;
    case ND_UINT8:
    case ND_INT16:
    case ND_UINT16:
    case ND_FLOAT32:
    case ND_SAMPLE_SAME:
      memcpy (to, from, n * nd_sample_size (type));
      break;
  }
}

gsize
nd_convert_from_computed (NdSampleType type, NdPrecision precision,
    gconstpointer from, gsize n, gpointer to)
{
  gsize beyond = 0;

  switch (type) {
    case ND_INT8:
      FROM (gint8, gint16, G_MININT8, G_MAXINT8);
      break;
    case ND_INT32:
      FROM_REAL (gint32, G_MININT32, G_MAXINT32);
      break;
    case ND_UINT32:
      FROM_REAL (guint32, 0, G_MAXUINT32);
      break;
    case ND_FLOAT16:
      for (gsize i = 0; i < n; i++)
        ((guint16 *) to)[i] = nd_float_to_half (((const gfloat *) from)[i]);
      break;
    case ND_FLOAT64:
      if (precision == ND_PRECISION_DOUBLE) {
        memcpy (to, from, n * sizeof (gdouble));
      } else {
        TO (gfloat, gdouble);
      }
      break;
    case ND_UINT8:
    case ND_INT16:
    case ND_UINT16:
    case ND_FLOAT32:
    case ND_SAMPLE_SAME:
      memcpy (to, from, n * nd_sample_size (type));
      break;
  }
  return beyond;
}
