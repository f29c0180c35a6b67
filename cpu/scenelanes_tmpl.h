/* Vectors of the kernels of scenes: ND_VECTOR rays go through a volume side by
 * side, one in each lane.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/vectors.h"

#include <string.h>

typedef gdouble D __attribute__ ((vector_size (8 * ND_VECTOR)));

/* @a in the lanes of @mask that are -1, @b in those that are 0. */
INLINE V
choose (I mask, V a, V b)
{
  return (V) ((mask & (I) a) | (~mask & (I) b));
}

INLINE I
choose_int (I mask, I a, I b)
{
  return (mask & a) | (~mask & b);
}

/* @b if either is NaN. */
INLINE V
least (V a, V b)
{
#if ND_VECTOR == 16
  return (V) _mm512_min_ps ((__m512) a, (__m512) b);
#elif ND_VECTOR == 8
  return (V) _mm256_min_ps ((__m256) a, (__m256) b);
#else
  return choose (a < b, a, b);
#endif
}

INLINE V
most (V a, V b)
{
#if ND_VECTOR == 16
  return (V) _mm512_max_ps ((__m512) a, (__m512) b);
#elif ND_VECTOR == 8
  return (V) _mm256_max_ps ((__m256) a, (__m256) b);
#else
  return choose (a > b, a, b);
#endif
}

/* @v from 0 to @end; NaN becomes 0. */
INLINE V
limited (V v, gfloat end)
{
  return least (most (v, all (0)), all (end));
}

INLINE I
limited_int (I v, gint first, gint last)
{
#if ND_VECTOR == 16
  return (I) _mm512_min_epi32 (_mm512_max_epi32 ((__m512i) v,
                                   _mm512_set1_epi32 (first)),
      _mm512_set1_epi32 (last));
#elif ND_VECTOR == 8
  return (I) _mm256_min_epi32 (_mm256_max_epi32 ((__m256i) v,
                                   _mm256_set1_epi32 (first)),
      _mm256_set1_epi32 (last));
#else
  v = choose_int (v > first, v, (I){} + first);
  return choose_int (v < last, v, (I){} + last);
#endif
}

INLINE V
root (V v)
{
#if ND_VECTOR == 16
  return (V) _mm512_sqrt_ps ((__m512) v);
#elif ND_VECTOR == 8
  return (V) _mm256_sqrt_ps ((__m256) v);
#elif defined(__SSE2__)
  return (V) _mm_sqrt_ps ((__m128) v);
#else
  for (guint l = 0; l < ND_VECTOR; l++)
    v[l] = sqrtf (v[l]);
  return v;
#endif
}

INLINE V
magnitude (V v)
{
  return (V) ((I) v & 0x7fffffff);
}

/* The least integer that is not below @v, which fits in an integer. */
INLINE I
ceiling (V v)
{
  const I i = __builtin_convertvector (v, I);

  return i - (__builtin_convertvector (i, V) < v);
}

/* Whether a lane of @mask is -1. */
INLINE gboolean
any (I mask)
{
#if ND_VECTOR == 16
  return _mm512_test_epi32_mask ((__m512i) mask, (__m512i) mask) != 0;
#elif ND_VECTOR == 8
  return !_mm256_testz_si256 ((__m256i) mask, (__m256i) mask);
#elif defined(__SSE2__)
  return _mm_movemask_ps ((__m128) mask) != 0;
#else
  gint32 sum = 0;

  for (guint l = 0; l < ND_VECTOR; l++)
    sum |= mask[l];
  return sum != 0;
#endif
}

/* The 32 bits at @from + @index @scale bytes, in each lane. */
#if ND_VECTOR == 16
#define GATHER(from, index, scale) \
  ((I) _mm512_i32gather_epi32 ((__m512i) (index), from, scale))
#elif ND_VECTOR == 8
#define GATHER(from, index, scale) \
  ((I) _mm256_i32gather_epi32 ((const int *) (from), (__m256i) (index), scale))
#else
#define GATHER(from, index, scale) gather (from, index, scale)

INLINE I
gather (gconstpointer from, I index, gsize scale)
{
  I values;

  for (guint l = 0; l < ND_VECTOR; l++) {
    gint32 value;

    memcpy (&value, (const guint8 *) from + index[l] * (gssize) scale, 4);
    values[l] = value;
  }
  return values;
}
#endif

#define GATHER_FLOATS(from, index) ((V) GATHER (from, index, 4))

#if ND_VECTOR == 16
/* Four lanes of gather_rows(). */
INLINE __m128i
gather_four (const guint8 *const at[4], gssize offset)
{
  gint32 v[4];

  for (guint l = 0; l < 4; l++)
    memcpy (&v[l], at[l] + offset, 4);
  return _mm_setr_epi32 (v[0], v[1], v[2], v[3]);
}
#endif

/* The 32 bits at @from + @index + @offset, for each of four offsets. With
 * AVX-512 this is quicker than four gathers, because the indices leave the
 * vector once. */
INLINE void
gather_rows (const guint8 *from, I index, const gssize offset[4], I rows[4])
{
#if ND_VECTOR == 16
  __m128i part[4][4];
  gint32 lane[16];

  memcpy (lane, &index, sizeof lane);
#pragma GCC unroll 4
  for (guint q = 0; q < 4; q++) {
    const guint8 *at[4];

    /* Otherwise compilers take the numbers out of the vector one by one, and
     * all at once, for which there are too few registers. */
    __asm__ ("" : "+m"(lane));
    for (guint l = 0; l < 4; l++)
      at[l] = from + lane[4 * q + l];
    for (guint r = 0; r < 4; r++)
      part[r][q] = gather_four (at, offset[r]);
  }
#pragma GCC unroll 4
  for (guint r = 0; r < 4; r++) {
    const __m256i low =
        _mm256_inserti128_si256 (_mm256_castsi128_si256 (part[r][0]),
            part[r][1], 1);
    const __m256i high =
        _mm256_inserti128_si256 (_mm256_castsi128_si256 (part[r][2]),
            part[r][3], 1);

    rows[r] = (I) _mm512_inserti64x4 (_mm512_castsi256_si512 (low), high, 1);
  }
#else
  for (guint r = 0; r < 4; r++)
    rows[r] = GATHER (from + offset[r], index, 1);
#endif
}
