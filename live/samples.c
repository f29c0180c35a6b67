/* Byte order and types of samples.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/samples.h"

#include <string.h>

NdSampleType
nd_igtl_sample_type (NdIgtlScalar scalar)
{
  NdSampleType type;

  return nd_sample_from_name (nd_igtl_scalar_name (scalar), &type)
          && type != ND_FLOAT64
      ? type
      : ND_FLOAT32;
}

gboolean
nd_igtl_scalar_type (NdSampleType type, NdIgtlScalar *scalar)
{
  return nd_igtl_scalar_from_name (nd_sample_name (type), scalar);
}

static gboolean
has_same_type (NdIgtlScalar scalar)
{
  NdIgtlScalar same;

  return nd_igtl_scalar_type (nd_igtl_sample_type (scalar), &same)
      && same == scalar;
}

static gboolean
has_same_order (NdIgtlScalar scalar, gboolean big_endian)
{
  return nd_igtl_scalar_size (scalar) == 1
      || big_endian == (G_BYTE_ORDER == G_BIG_ENDIAN);
}

gboolean
nd_igtl_samples_are_native (NdIgtlScalar scalar, gboolean big_endian)
{
  return has_same_type (scalar) && has_same_order (scalar, big_endian);
}

#define SWAP(name, type, swap)                                     \
  static void name (guint8 *bytes, gsize n)                        \
  {                                                                \
    for (gsize i = 0; i < n; i++) {                                \
      type value;                                                  \
                                                                   \
      memcpy (&value, bytes + i * sizeof (value), sizeof (value)); \
      value = swap (value);                                        \
      memcpy (bytes + i * sizeof (value), &value, sizeof (value)); \
    }                                                              \
  }
SWAP (swap16, guint16, GUINT16_SWAP_LE_BE)
SWAP (swap32, guint32, GUINT32_SWAP_LE_BE)
SWAP (swap64, guint64, GUINT64_SWAP_LE_BE)

void
nd_igtl_samples_swap (gpointer samples, gsize size, gsize n)
{
  if (size == 2)
    swap16 (samples, n);
  else if (size == 4)
    swap32 (samples, n);
  else if (size == 8)
    swap64 (samples, n);
}

/* Converts in pieces that stay in the cache. */
#define PIECE 1024

static void
from_float64 (guint8 *to, const guint8 *from, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    gdouble value;
    gfloat converted;

    memcpy (&value, from + i * sizeof (value), sizeof (value));
    converted = (gfloat) value;
    memcpy (to + i * sizeof (converted), &converted, sizeof (converted));
  }
}

void
nd_igtl_samples_convert (gpointer to, gconstpointer from, NdIgtlScalar scalar,
    gboolean big_endian, gsize n)
{
  const gsize size = nd_igtl_scalar_size (scalar);
  const gboolean swap = !has_same_order (scalar, big_endian);
  guint64 piece[PIECE];

  if (has_same_type (scalar)) {
    if (to != from)
      memcpy (to, from, n * size);
    if (swap)
      nd_igtl_samples_swap (to, size, n);
    return;
  }
  for (gsize done = 0, count; done < n; done += count) {
    count = MIN (n - done, PIECE);
    memcpy (piece, (const guint8 *) from + done * size, count * size);
    if (swap)
      nd_igtl_samples_swap (piece, size, count);
    from_float64 ((guint8 *) to + done * sizeof (gfloat),
        (const guint8 *) piece, count);
  }
}
