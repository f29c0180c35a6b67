/* Byte order and types of samples.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/imagesamples.h"

#include <string.h>

NdSampleType
nd_igtl_sample_type (NdIgtlScalar scalar)
{
  NdSampleType type = ND_UINT8;

  nd_sample_from_name (nd_igtl_scalar_name (scalar), &type);
  return type;
}

gboolean
nd_igtl_scalar_type (NdSampleType type, NdIgtlScalar *scalar)
{
  return nd_igtl_scalar_from_name (nd_sample_name (type), scalar);
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

void
nd_igtl_samples_to_native (gpointer samples, NdIgtlScalar scalar,
    gboolean big_endian, gsize n)
{
  if (big_endian != (G_BYTE_ORDER == G_BIG_ENDIAN))
    nd_igtl_samples_swap (samples, nd_igtl_scalar_size (scalar), n);
}
