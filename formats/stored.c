/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/stored.h"

#include "core/convert.h"

#include <string.h>

static const struct
{
  const gchar *name;
  guint8 size;
  gboolean exact; /* in the type that it becomes */
  NdSampleType becomes;
} types[ND_STORED_TYPES] = {
  [ND_STORED_INT8] = { "int8", 1, TRUE, ND_INT8 },
  [ND_STORED_UINT8] = { "uint8", 1, TRUE, ND_UINT8 },
  [ND_STORED_INT16] = { "int16", 2, TRUE, ND_INT16 },
  [ND_STORED_UINT16] = { "uint16", 2, TRUE, ND_UINT16 },
  [ND_STORED_INT32] = { "int32", 4, TRUE, ND_INT32 },
  [ND_STORED_UINT32] = { "uint32", 4, TRUE, ND_UINT32 },
  [ND_STORED_INT64] = { "int64", 8, FALSE, ND_FLOAT32 },
  [ND_STORED_UINT64] = { "uint64", 8, FALSE, ND_FLOAT32 },
  [ND_STORED_FLOAT32] = { "float32", 4, TRUE, ND_FLOAT32 },
  [ND_STORED_FLOAT64] = { "float64", 8, TRUE, ND_FLOAT64 },
  [ND_STORED_FLOAT16] = { "float16", 2, TRUE, ND_FLOAT16 },
  [ND_STORED_BIASED16] = { "int16", 2, TRUE, ND_INT16 },
};

gsize
nd_stored_size (NdStoredType type)
{
  return types[type].size;
}

const gchar *
nd_stored_name (NdStoredType type)
{
  return types[type].name;
}

NdSampleType
nd_stored_becomes (const NdStored *stored)
{
  return stored->scaled ? ND_FLOAT32 : types[stored->type].becomes;
}

gboolean
nd_stored_is_exact (const NdStored *stored)
{
  const gboolean rounded = stored->scaled
      && (stored->type == ND_STORED_INT32 || stored->type == ND_STORED_UINT32
          || stored->type == ND_STORED_FLOAT64);

  return types[stored->type].exact && !rounded;
}

gboolean
nd_stored_is_plain (const NdStored *stored)
{
  return !stored->swapped && !stored->scaled
      && nd_stored_of (types[stored->type].becomes) == stored->type;
}

NdStoredType
nd_stored_of (NdSampleType type)
{
  static const NdStoredType stored[ND_STREAM_TYPES] = {
    [ND_UINT8] = ND_STORED_UINT8,
    [ND_INT16] = ND_STORED_INT16,
    [ND_UINT16] = ND_STORED_UINT16,
    [ND_FLOAT32] = ND_STORED_FLOAT32,
    [ND_INT8] = ND_STORED_INT8,
    [ND_INT32] = ND_STORED_INT32,
    [ND_UINT32] = ND_STORED_UINT32,
    [ND_FLOAT16] = ND_STORED_FLOAT16,
    [ND_FLOAT64] = ND_STORED_FLOAT64,
  };

  return stored[type];
}

/* Samples may be unaligned. Bits are swapped as an unsigned type, and copied to
 * their own type, because swapping is undefined for signed types. */
#define CONVERT(From, To, Bits, SWAP)                                         \
  for (gsize i = 0; i < n; i++) {                                             \
    Bits bits;                                                                \
    From sample;                                                              \
    To result;                                                                \
                                                                              \
    memcpy (&bits, (const guint8 *) from + i * sizeof (Bits), sizeof (Bits)); \
    if (swapped)                                                              \
      bits = SWAP (bits);                                                     \
    memcpy (&sample, &bits, sizeof (sample));                                 \
    if (scaled)                                                               \
      result = (To) (slope * (gdouble) sample + intercept);                   \
    else                                                                      \
      result = (To) sample;                                                   \
    memcpy ((guint8 *) to + i * sizeof (To), &result, sizeof (To));           \
  }

#define KEEP(From, Bits, SWAP)         \
  if (scaled)                          \
    CONVERT (From, gfloat, Bits, SWAP) \
  else                                 \
    CONVERT (From, From, Bits, SWAP)

#define SAME(bits) (bits)

static void
remove_bias (gboolean swapped, gpointer to, gconstpointer from, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    guint16 bits;

    memcpy (&bits, (const guint8 *) from + 2 * i, 2);
    bits = (swapped ? GUINT16_SWAP_LE_BE (bits) : bits) ^ 0x8000;
    memcpy ((guint8 *) to + 2 * i, &bits, 2);
  }
}

static void
scale_halves (const NdStored *stored, gpointer to, gconstpointer from, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    guint16 half;
    gfloat value;

    memcpy (&half, (const guint8 *) from + 2 * i, 2);
    value =
        nd_half_to_float (stored->swapped ? GUINT16_SWAP_LE_BE (half) : half);
    value = stored->slope * value + stored->intercept;
    memcpy ((guint8 *) to + 4 * i, &value, 4);
  }
}

void
nd_stored_convert (const NdStored *stored, gpointer to, gconstpointer from,
    gsize n)
{
  /* Local copies, because @to may alias @stored for the compiler, which would
   * then reload these for every sample. */
  const gboolean swapped = stored->swapped, scaled = stored->scaled;
  const gdouble slope = stored->slope, intercept = stored->intercept;

  switch (stored->type) {
    case ND_STORED_INT8:
      KEEP (gint8, guint8, SAME);
      break;
    case ND_STORED_UINT8:
      KEEP (guint8, guint8, SAME);
      break;
    case ND_STORED_INT16:
      KEEP (gint16, guint16, GUINT16_SWAP_LE_BE);
      break;
    case ND_STORED_UINT16:
      KEEP (guint16, guint16, GUINT16_SWAP_LE_BE);
      break;
    case ND_STORED_INT32:
      KEEP (gint32, guint32, GUINT32_SWAP_LE_BE);
      break;
    case ND_STORED_UINT32:
      KEEP (guint32, guint32, GUINT32_SWAP_LE_BE);
      break;
    case ND_STORED_INT64:
      CONVERT (gint64, gfloat, guint64, GUINT64_SWAP_LE_BE);
      break;
    case ND_STORED_UINT64:
      CONVERT (guint64, gfloat, guint64, GUINT64_SWAP_LE_BE);
      break;
    case ND_STORED_FLOAT32:
      CONVERT (gfloat, gfloat, guint32, GUINT32_SWAP_LE_BE);
      break;
    case ND_STORED_FLOAT64:
      KEEP (gdouble, guint64, GUINT64_SWAP_LE_BE);
      break;
    case ND_STORED_FLOAT16:
      if (scaled)
        scale_halves (stored, to, from, n);
      else
        CONVERT (guint16, guint16, guint16, GUINT16_SWAP_LE_BE);
      break;
    case ND_STORED_BIASED16:
      remove_bias (swapped, to, from, n);
      break;
    case ND_STORED_TYPES:
      g_return_if_reached ();
  }
}

/* The compiler makes one load and store of a copy whose size it knows. */
#define PICK(WIDTH)                                           \
  case WIDTH:                                                 \
    for (gsize i = 0; i < n; i++)                             \
      memcpy (bytes + i * WIDTH, source + i * stride, WIDTH); \
    break

void
nd_stored_pick (gpointer to, gconstpointer from, gsize stride, gsize n,
    gsize width)
{
  const guint8 *source = from;
  guint8 *bytes = to;

  switch (width) {
    PICK (1);
    PICK (2);
    PICK (4);
    PICK (8);
    default:
      for (gsize i = 0; i < n; i++)
        memcpy (bytes + i * width, source + i * stride, width);
  }
}
