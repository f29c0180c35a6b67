/* The source of the kernels. Each file that includes it is compiled for one
 * instruction set, and defines ND_KERNELS (the name of the table),
 * ND_KERNELS_NAME, ND_VECTOR_BYTES (of a register) and the measured rates of
 * single precision.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/kernels.h"

#include <string.h>

#define ND_VECTOR (ND_VECTOR_BYTES / ND_REAL_BYTES)
#define RATE(single) (single * 4 / ND_REAL_BYTES)

typedef NdReal Vector __attribute__ ((vector_size (ND_VECTOR_BYTES)));
typedef NdReal Unaligned __attribute__ ((vector_size (ND_VECTOR_BYTES),
    aligned (ND_REAL_BYTES), may_alias));

#define INLINE static inline __attribute__ ((always_inline))
#define UNROLLED_FOR _Pragma ("GCC unroll 16") for
/* With AVX-512 the unrolled loop over columns is up to 1.5 times as fast. With
 * AVX2, which has half as many registers, it takes up to 1.14 times as many
 * instructions. Unrolling it with the checks of a sanitizer takes GCC
 * minutes. */
#if defined(__AVX512F__) && !defined(__SANITIZE_ADDRESS__) \
    && !defined(__SANITIZE_THREAD__)
#define COLUMNS_FOR UNROLLED_FOR
#else
#define COLUMNS_FOR for
#endif
#define ROWS ND_BLOCK_ROWS

INLINE Vector
load (const NdReal *p)
{
  return *(const Unaligned *) p;
}

/* Adds the products of one row of input to the rows @first to @last of the
 * block, so that each sample is loaded once for all of them. @w is the row of
 * weights for row 0 of the block; row r uses the row of weights that is r rows
 * before @w. */
INLINE void
dense_row (Vector acc[ROWS][ND_BLOCK_MAX_VECTORS], guint nv, gint first,
    gint last, const NdReal *in, const NdReal *w, gint nx)
{
  COLUMNS_FOR (gint x = 0; x < nx; x++)
  {
    Vector v[ND_BLOCK_MAX_VECTORS];

    UNROLLED_FOR (guint i = 0; i < nv; i++)
      v[i] = load (in + x + i * ND_VECTOR);
    UNROLLED_FOR (gint r = first; r <= last; r++) {
      NdReal weight = w[x - r * nx];

      UNROLLED_FOR (guint i = 0; i < nv; i++)
        acc[r][i] += weight * v[i];
    }
  }
}

INLINE void
dense_plane (Vector acc[ROWS][ND_BLOCK_MAX_VECTORS], guint nv,
    const NdPlane *plane, const NdReal *in, gsize row)
{
  gint nx = plane->nx, ny = plane->ny;
  const NdReal *w = plane->weights;

  for (gint y = 0; y < ny + ROWS - 1; y++, in += row, w += nx) {
    gint first = y < ny ? 0 : y - ny + 1;
    gint last = y < ROWS ? y : ROWS - 1;

    switch (first * ROWS + last) {
#define CASE(f, l)                        \
  case f *ROWS + l:                       \
    dense_row (acc, nv, f, l, in, w, nx); \
    break
      CASE (0, 0);
      CASE (0, 1);
      CASE (0, 2);
      CASE (0, 3);
      CASE (1, 1);
      CASE (1, 2);
      CASE (1, 3);
      CASE (2, 2);
      CASE (2, 3);
      CASE (3, 3);
#undef CASE
    }
  }
}

INLINE void
sparse_plane (Vector acc[ROWS][ND_BLOCK_MAX_VECTORS], guint nv,
    const NdPlane *plane, const NdReal *in, gsize row)
{
  for (guint t = 0; t < plane->n_taps; t++) {
    const NdReal *p = in + plane->offsets[t];
    NdReal weight = plane->weights[t];

    UNROLLED_FOR (gint r = 0; r < ROWS; r++) {
      UNROLLED_FOR (guint i = 0; i < nv; i++)
        acc[r][i] += weight * load (p + r * row + i * ND_VECTOR);
    }
  }
}

INLINE void
block (guint nv, const NdPlane *planes, guint n_planes,
    const NdReal *const *volumes, gsize origin, gsize row, const NdReal *begun,
    NdReal *out)
{
  Vector acc[ROWS][ND_BLOCK_MAX_VECTORS];

  UNROLLED_FOR (gint r = 0; r < ROWS; r++) {
    UNROLLED_FOR (guint i = 0; i < nv; i++) {
      acc[r][i] = (Vector){ 0 };
      *(Unaligned *) (out + (r * nv + i) * ND_VECTOR) = acc[r][i];
    }
  }
  if (begun) {
    if (planes[-1].ends_sum)
      memcpy (out, begun, ROWS * nv * sizeof (Vector));
    else
      UNROLLED_FOR (gint r = 0; r < ROWS; r++) {
        UNROLLED_FOR (guint i = 0; i < nv; i++)
          acc[r][i] = load (begun + (r * nv + i) * ND_VECTOR);
      }
  }
  for (guint p = 0; p < n_planes; p++) {
    const NdPlane *plane = planes + p;
    const NdReal *in = volumes[plane->slot] + origin + plane->offset;

    if (plane->nx)
      dense_plane (acc, nv, plane, in, row);
    else
      sparse_plane (acc, nv, plane, in, row);
    if (!plane->ends_sum && p + 1 < n_planes)
      continue;
    UNROLLED_FOR (gint r = 0; r < ROWS; r++) {
      UNROLLED_FOR (guint i = 0; i < nv; i++) {
        *(Unaligned *) (out + (r * nv + i) * ND_VECTOR) += acc[r][i];
        acc[r][i] = (Vector){ 0 };
      }
    }
  }
}

#define DEFINE_BLOCK(n)                                            \
  static void block_##n (const NdPlane *planes, guint n_planes,    \
      const NdReal *const *volumes, gsize origin, gsize row,       \
      const NdReal *begun, NdReal *out)                            \
  {                                                                \
    block (n, planes, n_planes, volumes, origin, row, begun, out); \
  }
DEFINE_BLOCK (1)
DEFINE_BLOCK (2)
DEFINE_BLOCK (3)
DEFINE_BLOCK (4)

static void
multiply_add (NdReal *restrict sum, const NdReal *restrict a,
    const NdReal *restrict b, gsize n)
{
  for (gsize i = 0; i < 2 * n; i += 2) {
    NdReal re = a[i] * b[i] - a[i + 1] * b[i + 1];
    NdReal im = a[i] * b[i + 1] + a[i + 1] * b[i];

    sum[i] += re;
    sum[i + 1] += im;
  }
}

/* Adding and subtracting 1.5 * 2^52, or 2^23 for a float, rounds half to even
 * in IEEE 754's default rounding mode. Unlike rint() it is vectorized for every
 * instruction set. */
#define ROUND_DOUBLE 6755399441055744.0
#ifdef ND_DOUBLE
#define ROUND_REAL ROUND_DOUBLE
#else
#define ROUND_REAL 12582912.0f
#endif

#define STORE_PIECE 64

/* Integers pass through a piece of 32 bit integers, because compilers do not
 * vectorize a conversion from floating point numbers to bytes in one step. */
#define STORE_ROW(type, real, value, low, high, round)                  \
  G_STMT_START                                                          \
  {                                                                     \
    for (gsize at = 0; at < n; at += STORE_PIECE) {                     \
      const gsize count = MIN (n - at, STORE_PIECE);                    \
      const NdReal *const r = response + at;                            \
      gint32 piece[STORE_PIECE], beyond = 0;                            \
                                                                        \
      for (gsize i = 0; i < count; i++) {                               \
        const real x = value;                                           \
        real v = x == x ? x : 0;                                        \
                                                                        \
        v = v > (real) low ? v : (real) low;                            \
        v = v < (real) high ? v : (real) high;                          \
        piece[i] = (gint32) (v + round - round);                        \
      }                                                                 \
      if (scale->saturated) {                                           \
        for (gsize i = 0; i < count; i++) {                             \
          const real x = value;                                         \
                                                                        \
          beyond += x < (real) (low - 0.5) || x >= (real) (high + 0.5); \
        }                                                               \
        saturated += beyond;                                            \
      }                                                                 \
      if (stride == sizeof (type)) {                                    \
        for (gsize i = 0; i < count; i++)                               \
          ((type *) out)[at + i] = (type) piece[i];                     \
      } else {                                                          \
        for (gsize i = 0; i < count; i++)                               \
          *(type *) (out + (at + i) * stride) = (type) piece[i];        \
      }                                                                 \
    }                                                                   \
  }                                                                     \
  G_STMT_END

/* Without gain and offset the values are rounded as they are; otherwise they
 * are computed and rounded as doubles. */
#define STORE_ROWS(type, low, high)                                            \
  G_STMT_START                                                                 \
  {                                                                            \
    if (gain == 1 && offset == 0)                                              \
      STORE_ROW (type, NdReal, r[i], low, high, ROUND_REAL);                   \
    else                                                                       \
      STORE_ROW (type, gdouble, gain *r[i] + offset, low, high, ROUND_DOUBLE); \
  }                                                                            \
  G_STMT_END

#define STORE_REALS(type)                                                     \
  G_STMT_START                                                                \
  {                                                                           \
    if (gain == 1 && offset == 0 && stride == sizeof (type)) {                \
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

const NdKernels ND_KERNELS = {
  .name = ND_KERNELS_NAME,
  .vector = ND_VECTOR,
  .dense_rate = RATE (ND_DENSE_RATE),
  .sparse_rate = RATE (ND_SPARSE_RATE),
  .spectrum_rate = RATE (ND_SPECTRUM_RATE),
  .block = { NULL, block_1, block_2, block_3, block_4 },
  .multiply_add = multiply_add,
  .store = store,
};
