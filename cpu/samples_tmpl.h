/* The part of the kernels that converts samples to numbers and responses to
 * samples; included by cpu/kernels.c.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Integers as wide as a number, and 32 bit integers for a vector. */
typedef __typeof__ ((Vector){ 0 } == (Vector){ 0 }) Mask;
typedef gint32 Ints
    __attribute__ ((vector_size (4 * ND_VECTOR), aligned (4), may_alias));

/* The instructions return the second number if one of them is NaN. Compilers do
 * not find them in comparisons of vectors. */
#ifdef ND_DOUBLE
#define SUFFIX(name) name##_pd
#else
#define SUFFIX(name) name##_ps
#endif
#if ND_VECTOR_BYTES == 64
#define LARGER(a, b) (Vector) SUFFIX (_mm512_max) (a, b)
#define SMALLER(a, b) (Vector) SUFFIX (_mm512_min) (a, b)
#elif ND_VECTOR_BYTES == 32
#define LARGER(a, b) (Vector) SUFFIX (_mm256_max) (a, b)
#define SMALLER(a, b) (Vector) SUFFIX (_mm256_min) (a, b)
#elif defined(__SSE2__)
#define LARGER(a, b) (Vector) SUFFIX (_mm_max) (a, b)
#define SMALLER(a, b) (Vector) SUFFIX (_mm_min) (a, b)
#else
#define CHOOSE(mask, a, b) \
  (Vector) (((mask) & (Mask) (a)) | (~(mask) & (Mask) (b)))
#define LARGER(a, b) CHOOSE ((a) > (b), a, b)
#define SMALLER(a, b) CHOOSE ((a) < (b), a, b)
#endif

/* Adding and subtracting 1.5 * 2^52, or 2^23 for a float, rounds half to even
 * in IEEE 754's default rounding mode. Unlike rint() it is vectorized for every
 * instruction set. */
#define ROUND_DOUBLE 6755399441055744.0
#ifdef ND_DOUBLE
#define ROUND_REAL ROUND_DOUBLE
#else
#define ROUND_REAL 12582912.0f
#endif

#define LOAD_ROW(type)                   \
  G_STMT_START                           \
  {                                      \
    const type *in = (const type *) src; \
    if (step == 1) {                     \
      for (gsize i = 0; i < n; i++)      \
        out[i] = in[i];                  \
    } else {                             \
      for (gsize i = 0; i < n; i++)      \
        out[i] = in[i * step];           \
    }                                    \
  }                                      \
  G_STMT_END

static void
load_samples (const guint8 *restrict src, gsize step, gsize n,
    NdSampleType sample_type, NdReal *restrict out)
{
#ifdef ND_DOUBLE
  if (sample_type == ND_FLOAT64) {
    LOAD_ROW (gdouble);
    return;
  }
#endif
  switch (sample_type) {
    case ND_UINT8:
      LOAD_ROW (guint8);
      break;
    case ND_INT16:
      LOAD_ROW (gint16);
      break;
    case ND_UINT16:
      LOAD_ROW (guint16);
      break;
    case ND_FLOAT32:
    ND_CASE_NOT_COMPUTED:
      LOAD_ROW (gfloat);
      break;
  }
}

#define STORE_PIECE 64

/* The last bits of @piece are the rounded numbers. */
INLINE void
round_piece (const NdReal *numbers, NdReal low, NdReal high, gint32 *piece)
{
  UNROLLED_FOR (gsize i = 0; i < STORE_PIECE; i += ND_VECTOR) {
    Vector v = load (numbers + i);

    if (low != 0)
      v = (Vector) ((Mask) v & (v == v));
    v = LARGER (v, (Vector){ 0 } + low);
    v = SMALLER (v, (Vector){ 0 } + high) + ROUND_REAL;
#ifdef ND_DOUBLE
    *(Ints *) (piece + i) = __builtin_convertvector (v - ROUND_REAL, Ints);
#else
    *(Ints *) (piece + i) = (Ints) v;
#endif
  }
}

/* Integers pass through a piece of 32 bit integers, because compilers do not
 * vectorize a conversion from floating point numbers to bytes in one step. */
#define STORE_SOME(type, real, value, low, high, round)                       \
  G_STMT_START                                                                \
  {                                                                           \
    const gsize count = MIN (n - at, STORE_PIECE);                            \
    const NdReal *const r = response + at;                                    \
    gint32 piece[STORE_PIECE], beyond = 0;                                    \
                                                                              \
    if (sizeof (real) == sizeof (NdReal) && is_plain && count == STORE_PIECE) \
      round_piece (r, low, high, piece);                                      \
    else                                                                      \
      for (gsize i = 0; i < count; i++) {                                     \
        const real x = value;                                                 \
        real v = x == x ? x : 0;                                              \
                                                                              \
        v = v > (real) low ? v : (real) low;                                  \
        v = v < (real) high ? v : (real) high;                                \
        piece[i] = (gint32) (v + round - round);                              \
      }                                                                       \
    if (scale->saturated) {                                                   \
      for (gsize i = 0; i < count; i++) {                                     \
        const real x = value;                                                 \
                                                                              \
        beyond += x < (real) (low - 0.5) || x >= (real) (high + 0.5);         \
      }                                                                       \
      saturated += beyond;                                                    \
    }                                                                         \
    if (stride != sizeof (type)) {                                            \
      for (gsize i = 0; i < count; i++)                                       \
        *(type *) (out + (at + i) * stride) = (type) piece[i];                \
    } else if (count == STORE_PIECE) {                                        \
      for (gsize i = 0; i < STORE_PIECE; i++)                                 \
        ((type *) out)[at + i] = (type) piece[i];                             \
    } else {                                                                  \
      for (gsize i = 0; i < count; i++)                                       \
        ((type *) out)[at + i] = (type) piece[i];                             \
    }                                                                         \
  }                                                                           \
  G_STMT_END

#define STORE_ROW(type, real, value, low, high, round)  \
  G_STMT_START                                          \
  {                                                     \
    for (gsize at = 0; at < n; at += STORE_PIECE)       \
      STORE_SOME (type, real, value, low, high, round); \
  }                                                     \
  G_STMT_END

/* Without gain and offset the values are rounded as they are; otherwise they
 * are computed and rounded as doubles. */
#define STORE_ROWS(type, low, high)                                            \
  G_STMT_START                                                                 \
  {                                                                            \
    if (is_plain)                                                              \
      STORE_ROW (type, NdReal, r[i], low, high, ROUND_REAL);                   \
    else                                                                       \
      STORE_ROW (type, gdouble, gain *r[i] + offset, low, high, ROUND_DOUBLE); \
  }                                                                            \
  G_STMT_END

#define STORE_REALS(type)                                                     \
  G_STMT_START                                                                \
  {                                                                           \
    if (is_plain && stride == sizeof (type)) {                                \
      for (gsize i = 0; i < n; i++)                                           \
        ((type *) out)[i] = response[i] + (NdReal) 0; /* -0 becomes 0, too */ \
    } else {                                                                  \
      for (gsize i = 0; i < n; i++)                                           \
        *(type *) (out + i * stride) = gain * response[i] + offset;           \
    }                                                                         \
  }                                                                           \
  G_STMT_END

static void
store (const NdReal *restrict response, gsize n, const NdScale *scale,
    NdSampleType sample_type, guint8 *restrict out, gsize stride)
{
  const gdouble gain = scale->gain, offset = scale->offset;
  const gboolean is_plain = gain == 1 && offset == 0;
  gsize saturated = 0;

#ifdef ND_DOUBLE
  if (sample_type == ND_FLOAT64) {
    STORE_REALS (gdouble);
    return;
  }
#endif
  switch (sample_type) {
    case ND_UINT8:
      STORE_ROWS (guint8, 0.0, 255.0);
      break;
    case ND_INT16:
      STORE_ROWS (gint16, -32768.0, 32767.0);
      break;
    case ND_UINT16:
      STORE_ROWS (guint16, 0.0, 65535.0);
      break;
    case ND_FLOAT32:
    ND_CASE_NOT_COMPUTED:
      STORE_REALS (gfloat);
      break;
  }
  if (saturated > 0)
    __atomic_fetch_add (scale->saturated, saturated, __ATOMIC_RELAXED);
}
