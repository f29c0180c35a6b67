/* Transposes of tiles of ND_VECTOR x ND_VECTOR numbers, for
 * cpu/fftkernels.c.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/fftcodelets_tmpl.h"

#ifdef ND_DOUBLE

/* Step n of the transpose exchanges blocks of n x n numbers: FIRST takes those
 * at the left of both vectors, SECOND those at the right. */
#if ND_VECTOR == 2
#define FIRST_1 0, 2
#define SECOND_1 1, 3
#elif ND_VECTOR == 4
#define FIRST_1 0, 4, 2, 6
#define SECOND_1 1, 5, 3, 7
#define FIRST_2 0, 1, 4, 5
#define SECOND_2 2, 3, 6, 7
#else
#define FIRST_1 0, 8, 2, 10, 4, 12, 6, 14
#define SECOND_1 1, 9, 3, 11, 5, 13, 7, 15
#define FIRST_2 0, 1, 8, 9, 4, 5, 12, 13
#define SECOND_2 2, 3, 10, 11, 6, 7, 14, 15
#define FIRST_4 0, 1, 2, 3, 8, 9, 10, 11
#define SECOND_4 4, 5, 6, 7, 12, 13, 14, 15
#endif

#define SHUFFLE(a, b, ...) __builtin_shufflevector (a, b, __VA_ARGS__)
#define STEP(n)                                    \
  UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i++) { \
    if ((i & n) == 0) {                            \
      const Vector a = out[i], b = out[i + n];     \
                                                   \
      out[i] = SHUFFLE (a, b, FIRST_##n);          \
      out[i + n] = SHUFFLE (a, b, SECOND_##n);     \
    }                                              \
  }

INLINE void
transpose_vectors (const Vector in[ND_VECTOR], Vector out[ND_VECTOR])
{
  UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i++)
    out[i] = in[i];
  STEP (1)
#if ND_VECTOR >= 4
  STEP (2)
#endif
#if ND_VECTOR >= 8
  STEP (4)
#endif
}

#else

/* Within each 128 bit lane: floats i, j of @a and k, l of @b. LANES takes
 * whole lanes, of the two vectors in sequence. */
#define AT(i, lane) (((i) / 4) * ND_VECTOR + 4 * (lane) + (i) % 4)
#define QUAD(i, j, k, l, n) AT (i, n), AT (j, n), AT (k, n), AT (l, n)
#define LANE(i) 4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3
#if ND_VECTOR == 4
#define SHUFFLE(a, b, i, j, k, l) \
  __builtin_shufflevector (a, b, QUAD (i, j, k, l, 0))
#elif ND_VECTOR == 8
#define SHUFFLE(a, b, i, j, k, l) \
  __builtin_shufflevector (a, b, QUAD (i, j, k, l, 0), QUAD (i, j, k, l, 1))
#define LANES(a, b, i, j) __builtin_shufflevector (a, b, LANE (i), LANE (j))
#else
#define SHUFFLE(a, b, i, j, k, l)                                            \
  __builtin_shufflevector (a, b, QUAD (i, j, k, l, 0), QUAD (i, j, k, l, 1), \
      QUAD (i, j, k, l, 2), QUAD (i, j, k, l, 3))
#define LANES(a, b, i, j, k, l) \
  __builtin_shufflevector (a, b, LANE (i), LANE (j), LANE (k), LANE (l))
#endif

/* Transposes 4 x 4 floats within each lane. */
INLINE void
transpose_lanes (const Vector a[4], Vector out[4])
{
  const Vector p = SHUFFLE (a[0], a[1], 0, 4, 1, 5);
  const Vector q = SHUFFLE (a[0], a[1], 2, 6, 3, 7);
  const Vector r = SHUFFLE (a[2], a[3], 0, 4, 1, 5);
  const Vector s = SHUFFLE (a[2], a[3], 2, 6, 3, 7);

  out[0] = SHUFFLE (p, r, 0, 1, 4, 5);
  out[1] = SHUFFLE (p, r, 2, 3, 6, 7);
  out[2] = SHUFFLE (q, s, 0, 1, 4, 5);
  out[3] = SHUFFLE (q, s, 2, 3, 6, 7);
}

INLINE void
transpose_vectors (const Vector in[ND_VECTOR], Vector out[ND_VECTOR])
{
#if ND_VECTOR == 4
  transpose_lanes (in, out);
#elif ND_VECTOR == 8
  UNROLLED_FOR (guint h = 0; h < 2; h++) {
    Vector a[4];

    UNROLLED_FOR (guint i = 0; i < 4; i++)
      a[i] = h == 0 ? LANES (in[i], in[i + 4], 0, 2)
                    : LANES (in[i], in[i + 4], 1, 3);
    transpose_lanes (a, out + 4 * h);
  }
#else
  Vector a[ND_VECTOR];

  UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i += 4)
    transpose_lanes (in + i, a + i);
  UNROLLED_FOR (guint i = 0; i < 4; i++) {
    const Vector p = LANES (a[i], a[i + 4], 0, 1, 4, 5);
    const Vector q = LANES (a[i], a[i + 4], 2, 3, 6, 7);
    const Vector r = LANES (a[i + 8], a[i + 12], 0, 1, 4, 5);
    const Vector s = LANES (a[i + 8], a[i + 12], 2, 3, 6, 7);

    out[i] = LANES (p, r, 0, 2, 4, 6);
    out[i + 4] = LANES (p, r, 1, 3, 5, 7);
    out[i + 8] = LANES (q, s, 0, 2, 4, 6);
    out[i + 12] = LANES (q, s, 1, 3, 5, 7);
  }
#endif
}

#endif

/* Transposes a tile: vectors @in, @in_stride apart, to @out. */
INLINE void
transpose (const Complex *in, gsize in_stride, Complex *out, gsize out_stride)
{
  Vector a[ND_VECTOR], b[ND_VECTOR];

  UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i++)
    a[i] = in[i * in_stride].re;
  transpose_vectors (a, b);
  UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i++)
    out[i * out_stride].re = b[i];
  UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i++)
    a[i] = in[i * in_stride].im;
  transpose_vectors (a, b);
  UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i++)
    out[i * out_stride].im = b[i];
}
