/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/rankkernels.h"

#include "cpu/simd.h"

#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Minimum and maximum by masks, where no instruction is named. */
#define LOWER_OF(a, b) (((a) & ((a) < (b))) | ((b) & ~((a) < (b))))
#define UPPER_OF(a, b) (((b) & ((a) < (b))) | ((a) & ~((a) < (b))))

#if ND_VECTOR_BYTES == 64
#define CALL(name, a, b) ((VECTOR) _mm512_##name ((__m512i) (a), (__m512i) (b)))
#elif ND_VECTOR_BYTES == 32
#define CALL(name, a, b) ((VECTOR) _mm256_##name ((__m256i) (a), (__m256i) (b)))
#elif defined(__SSE2__)
#define CALL(name, a, b) ((VECTOR) _mm_##name ((__m128i) (a), (__m128i) (b)))
#endif

#define KEY guint8
#define KEY_BITS 8
#define LANES ND_VECTOR_BYTES
#define VECTOR Vector8
#define MEMORY Memory8
#define NAME(name) name##_uint8
#ifdef __SSE2__
#define LOWER(a, b) CALL (min_epu8, a, b)
#define UPPER(a, b) CALL (max_epu8, a, b)
#else
#define LOWER(a, b) LOWER_OF (a, b)
#define UPPER(a, b) UPPER_OF (a, b)
#endif
#include "cpu/rankkernels_tmpl.h"
#undef KEY
#undef KEY_BITS
#undef LANES
#undef VECTOR
#undef MEMORY
#undef NAME
#undef LOWER
#undef UPPER

#define KEY gint16
#define KEY_BITS 16
#define LANES (ND_VECTOR_BYTES / 2)
#define VECTOR Vector16
#define MEMORY Memory16
#define NAME(name) name##_int16
#ifdef __SSE2__
#define LOWER(a, b) CALL (min_epi16, a, b)
#define UPPER(a, b) CALL (max_epi16, a, b)
#else
#define LOWER(a, b) LOWER_OF (a, b)
#define UPPER(a, b) UPPER_OF (a, b)
#endif
#include "cpu/rankkernels_tmpl.h"
#undef KEY
#undef KEY_BITS
#undef LANES
#undef VECTOR
#undef MEMORY
#undef NAME
#undef LOWER
#undef UPPER

#define KEY gint32
#define KEY_BITS 32
#define KEY_MIN G_MININT32
#define LANES (ND_VECTOR_BYTES / 4)
#define VECTOR Vector32
#define MEMORY Memory32
#define UNSIGNED Unsigned32
#define UNSIGNED_KEY guint32
#define NAME(name) name##_int32
typedef guint32 Unsigned32 __attribute__ ((vector_size (ND_VECTOR_BYTES)));
#if ND_VECTOR_BYTES >= 32
#define LOWER(a, b) CALL (min_epi32, a, b)
#define UPPER(a, b) CALL (max_epi32, a, b)
#else
#define LOWER(a, b) LOWER_OF (a, b)
#define UPPER(a, b) UPPER_OF (a, b)
#endif
#include "cpu/rankkernels_tmpl.h"
#undef KEY
#undef KEY_BITS
#undef KEY_MIN
#undef LANES
#undef VECTOR
#undef MEMORY
#undef UNSIGNED
#undef UNSIGNED_KEY
#undef NAME
#undef LOWER
#undef UPPER

#define KEY gint64
#define KEY_BITS 64
#define KEY_MIN G_MININT64
#define LANES (ND_VECTOR_BYTES / 8)
#define VECTOR Vector64
#define MEMORY Memory64
#define UNSIGNED Unsigned64
#define UNSIGNED_KEY guint64
#define NAME(name) name##_int64
typedef guint64 Unsigned64 __attribute__ ((vector_size (ND_VECTOR_BYTES)));
#if ND_VECTOR_BYTES == 64
#define LOWER(a, b) CALL (min_epi64, a, b)
#define UPPER(a, b) CALL (max_epi64, a, b)
#else
#define LOWER(a, b) LOWER_OF (a, b)
#define UPPER(a, b) UPPER_OF (a, b)
#endif
#include "cpu/rankkernels_tmpl.h"

#include "cpu/rankcolumns_tmpl.h"

/* Samples and keys */

static gint32
key_of_float (gint32 bits)
{
  if ((bits & G_MAXINT32) > 0x7f800000)
    return G_MAXINT32;
  return bits ^ (bits >> 31 & G_MAXINT32);
}

static gint64
key_of_double (gint64 bits)
{
  if ((bits & G_MAXINT64) > G_GINT64_CONSTANT (0x7ff0000000000000))
    return G_MAXINT64;
  return bits ^ (bits >> 63 & G_MAXINT64);
}

#define LOAD(type, Key, expression)                 \
  for (gsize i = 0; i < n; i++) {                   \
    type value;                                     \
                                                    \
    memcpy (&value, in + i * step, sizeof (value)); \
    ((Key *) out)[i] = expression;                  \
  }

static void
load (const guint8 *in, gsize step, gsize n, NdSampleType type, gpointer out)
{
  switch (type) {
    case ND_UINT8:
      if (step == 1)
        memcpy (out, in, n);
      else
        LOAD (guint8, guint8, value)
      break;
    case ND_INT16:
      LOAD (gint16, gint16, value)
      break;
    case ND_UINT16:
      LOAD (guint16, gint16, value ^ 0x8000)
      break;
    case ND_FLOAT32:
      LOAD (gint32, gint32, key_of_float (value))
      break;
    default:
      LOAD (gint64, gint64, key_of_double (value))
  }
}

#define STORE(type, Key, expression)                 \
  for (gsize i = 0; i < n; i++) {                    \
    const Key key = ((const Key *) keys)[i];         \
    const type value = expression;                   \
                                                     \
    memcpy (out + i * step, &value, sizeof (value)); \
  }

static void
store (gconstpointer keys, gsize n, NdSampleType type, guint8 *out, gsize step)
{
  switch (type) {
    case ND_UINT8:
      if (step == 1)
        memcpy (out, keys, n);
      else
        STORE (guint8, guint8, key)
      break;
    case ND_INT16:
      STORE (gint16, gint16, key)
      break;
    case ND_UINT16:
      STORE (guint16, gint16, key ^ 0x8000)
      break;
    case ND_FLOAT32:
      STORE (gint32, gint32, key ^ (key >> 31 & G_MAXINT32))
      break;
    default:
      STORE (gint64, gint64, key ^ (key >> 63 & G_MAXINT64))
  }
}

extern const NdRankKernels ND_TARGET_TABLE (nd_rank_kernels);
const NdRankKernels ND_TARGET_TABLE (nd_rank_kernels) = {
  .keys = {
    [ND_KEY_UINT8] = { run_uint8, NULL },
    [ND_KEY_INT16] = { run_int16, NULL },
    [ND_KEY_INT32] = { run_int32, select_int32 },
    [ND_KEY_INT64] = { run_int64, select_int64 },
  },
  .count_columns = count_columns,
  .sort_columns = sort_columns,
  .load = load,
  .store = store,
};
