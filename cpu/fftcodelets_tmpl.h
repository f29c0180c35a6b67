/* Transforms of 32 and 64 points of vectors, for cpu/fftkernels.c.
 *
 * A transform of A * B points is decimated in time and takes two steps: B
 * transforms of A points, and A transforms of B points with twiddle factors. A
 * and B are 4 or 8, so that each of them stays in registers. All indices and
 * twiddle factors are constants when these functions are inlined.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/real.h"

#define ND_VECTOR (ND_VECTOR_BYTES / ND_REAL_BYTES)

typedef NdReal Vector __attribute__ ((vector_size (ND_VECTOR_BYTES)));
typedef NdReal Unaligned __attribute__ ((vector_size (ND_VECTOR_BYTES),
    aligned (ND_REAL_BYTES), may_alias));

typedef struct
{
  Vector re, im;
} __attribute__ ((may_alias)) Complex;

#define INLINE static inline __attribute__ ((always_inline))
#define NOINLINE static __attribute__ ((noinline))
#define UNROLLED_FOR _Pragma ("GCC unroll 16") for

/* (a, b) becomes (a + w b, a - w b) with w = exp (-2 pi i k / m), or its
 * conjugate for the @inverse. The larger one of the two parts of w is a common
 * factor, so that six multiply-adds suffice (Linzer and Feig, New scaled DFT
 * algorithms for fused multiply-add architectures, ICASSP 1991). */
INLINE void
butterfly (Complex *a, Complex *b, guint k, guint m, gboolean inverse)
{
  const gdouble c = __builtin_cos (2 * G_PI * k / m);
  const gdouble s = __builtin_sin (2 * G_PI * k / m) * (inverse ? 1 : -1);
  const Complex x = *a, y = *b;
  NdReal factor;
  Complex p;

  if (k == 0 || 4 * k == m) {
    if (k == 0)
      p = y;
    else if (inverse)
      p = (Complex){ -y.im, y.re };
    else
      p = (Complex){ y.im, -y.re };
    *a = (Complex){ x.re + p.re, x.im + p.im };
    *b = (Complex){ x.re - p.re, x.im - p.im };
    return;
  }
  if (__builtin_fabs (c) >= __builtin_fabs (s)) {
    const NdReal t = s / c;

    p = (Complex){ y.re - t * y.im, y.im + t * y.re };
    factor = c;
  } else {
    const NdReal t = c / s;

    p = (Complex){ t * y.re - y.im, t * y.im + y.re };
    factor = s;
  }
  *a = (Complex){ x.re + factor * p.re, x.im + factor * p.im };
  *b = (Complex){ x.re - factor * p.re, x.im - factor * p.im };
}

/* The last steps of a transform of @n * @m points, n = 4 or 8: c[j], in bit
 * reversed order, is number @k of the transform of @m points of every n-th
 * sample from sample j. Afterwards c[j] is number k + m j. */
INLINE void
combine (Complex *c, guint n, guint k, guint m, gboolean inverse)
{
  UNROLLED_FOR (guint i = 0; i < n; i += 2)
    butterfly (c + i, c + i + 1, k, 2 * m, inverse);
  UNROLLED_FOR (guint i = 0; i < n; i += 4) {
    butterfly (c + i, c + i + 2, k, 4 * m, inverse);
    butterfly (c + i + 1, c + i + 3, k + m, 4 * m, inverse);
  }
  if (n == 4)
    return;
  butterfly (c, c + 4, k, 8 * m, inverse);
  butterfly (c + 1, c + 5, k + m, 8 * m, inverse);
  butterfly (c + 2, c + 6, k + 2 * m, 8 * m, inverse);
  butterfly (c + 3, c + 7, k + 3 * m, 8 * m, inverse);
}

/* The bits of j < n in reverse order. */
INLINE guint
reversed (guint j, guint n)
{
  return n == 4 ? (j & 1) << 1 | j >> 1 : (j & 1) << 2 | (j & 2) | j >> 2;
}

/* Calls CALL (0) to CALL (n - 1), n = 4 or 8, so that each is inlined with a
 * constant. */
#define EACH(n, CALL) \
  G_STMT_START        \
  {                   \
    CALL (0);         \
    CALL (1);         \
    CALL (2);         \
    CALL (3);         \
    if ((n) == 8) {   \
      CALL (4);       \
      CALL (5);       \
      CALL (6);       \
      CALL (7);       \
    }                 \
  }                   \
  G_STMT_END

/* The first step of A * B points: @t receives number k of the transform of
 * every B-th sample from sample i at t[i * A + k]. */
INLINE void
first_step (guint A, guint B, const Complex *in, gsize stride, Complex *t,
    gboolean inverse)
{
  for (guint i = 0; i < B; i++) {
    Complex c[8];

    UNROLLED_FOR (guint j = 0; j < A; j++)
      c[j] = in[(reversed (j, A) * B + i) * stride];
    combine (c, A, 0, 1, inverse);
    UNROLLED_FOR (guint j = 0; j < A; j++)
      t[i * A + j] = c[j];
  }
}

/* The same for rows of two real blocks. If @ahead, it fetches the floats that
 * the next call for these rows reads. */
INLINE void
first_step_rows (guint A, guint B, const NdReal *a, const NdReal *b, gsize row,
    gboolean ahead, Complex *t)
{
  for (guint i = 0; i < B; i++) {
    Complex c[8];

    UNROLLED_FOR (guint j = 0; j < A; j++) {
      const gsize at = (reversed (j, A) * B + i) * row;

      c[j].re = *(const Unaligned *) (a + at);
      c[j].im = *(const Unaligned *) (b + at);
      if (ahead) {
        __builtin_prefetch (a + at + 32);
        __builtin_prefetch (b + at + 32);
      }
    }
    combine (c, A, 0, 1, FALSE);
    UNROLLED_FOR (guint j = 0; j < A; j++)
      t[i * A + j] = c[j];
  }
}

/* Transform @k of the second step: numbers k + A j of the transform. */
INLINE void
second_step (guint A, guint B, const Complex *t, guint k, Complex *c,
    gboolean inverse)
{
  UNROLLED_FOR (guint j = 0; j < B; j++)
    c[j] = t[reversed (j, B) * A + k];
  combine (c, B, k, A, inverse);
}

INLINE void
second_step_to (guint A, guint B, const Complex *t, guint k, Complex *out,
    gsize stride, gboolean inverse)
{
  Complex c[8];

  second_step (A, B, t, k, c, inverse);
  UNROLLED_FOR (guint j = 0; j < B; j++)
    out[(k + A * j) * stride] = c[j];
}

INLINE void
second_step_to_rows (guint A, guint B, const Complex *t, guint k, gsize height,
    NdReal level, NdReal *a, NdReal *b)
{
  Complex c[8];

  second_step (A, B, t, k, c, TRUE);
  UNROLLED_FOR (guint j = 0; j < B; j++) {
    const gsize y = k + A * j;

    if (y < height) {
      *(Vector *) (a + y * A * B) = c[j].re + level;
      *(Vector *) (b + y * A * B) = c[j].im + level;
    }
  }
}

/* The second step forward, in the order of a spectrum: number k + A j is at
 * k B + j. */
INLINE void
second_step_to_spectrum (guint A, guint B, const Complex *t, guint k,
    Complex *spectrum)
{
  Complex c[8];

  second_step (A, B, t, k, c, FALSE);
  UNROLLED_FOR (guint j = 0; j < B; j++)
    spectrum[k * B + j] = c[j];
}

/* Numbers k + A j of a spectrum are the input of transform @k of the first step
 * of the inverse. Each transform of that step has B points. */
INLINE void
first_step_back (guint A, guint B, const Complex *numbers, guint k, Complex *t)
{
  Complex c[8];

  UNROLLED_FOR (guint j = 0; j < B; j++)
    c[j] = numbers[reversed (j, B)];
  combine (c, B, 0, 1, TRUE);
  UNROLLED_FOR (guint j = 0; j < B; j++)
    t[k * B + j] = c[j];
}

/* c += a * b */
INLINE void
multiply_add (Complex *c, const Complex *a, const Complex *b)
{
  c->re += a->re * b->re;
  c->re -= a->im * b->im;
  c->im += a->re * b->im;
  c->im += a->im * b->re;
}

INLINE Complex
multiply (const Complex *a, const Complex *b)
{
  return (Complex){ a->re * b->re - a->im * b->im,
    a->re * b->im + a->im * b->re };
}

/* Transform @k of the second step forward, its product with @filter, and
 * transform @k of the first step back, without memory between. */
INLINE void
multiply_transform (guint A, guint B, const Complex *t, guint k,
    const Complex *filter, Complex *back)
{
  Complex c[8];

  second_step (A, B, t, k, c, FALSE);
  UNROLLED_FOR (guint j = 0; j < B; j++)
    c[j] = multiply (c + j, filter + k * B + j);
  first_step_back (A, B, c, k, back);
}

/* Numbers to are in registers at a time when products are summed. */
#define SUMMED 4

/* The sum of products for transform @k, from number @first of each filter and
 * number @from of each spectrum on, and the first step back. */
INLINE void
sum_transform (guint A, guint B, const NdReal *const *spectra,
    const NdReal *const *filters, guint n, gsize from, gsize first, guint k,
    Complex *back)
{
  Complex c[8];

  UNROLLED_FOR (guint half = 0; half < B; half += SUMMED) {
    const gsize at = k * B + half;
    Complex sum[SUMMED] = { { { 0 }, { 0 } } };

    for (guint i = 0; i < n; i++) {
      const Complex *x = (const Complex *) spectra[i] + from + at;
      const Complex *w = (const Complex *) filters[i] + first + at;

      UNROLLED_FOR (guint j = 0; j < SUMMED; j++)
        multiply_add (sum + j, x + j, w + j);
    }
    UNROLLED_FOR (guint j = 0; j < SUMMED; j++)
      c[half + j] = sum[j];
  }
  first_step_back (A, B, c, k, back);
}
