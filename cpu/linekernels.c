/* The transforms of lines (cpu/simd.h).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/ffttranspose_tmpl.h"
#include "cpu/linefft.h"
#include "cpu/simd.h"

INLINE Complex
add (Complex a, Complex b)
{
  return (Complex){ a.re + b.re, a.im + b.im };
}

INLINE Complex
subtract (Complex a, Complex b)
{
  return (Complex){ a.re - b.re, a.im - b.im };
}

INLINE Complex
scaled (Complex a, NdReal factor)
{
  return (Complex){ a.re * factor, a.im * factor };
}

/* -i a, or i a of the inverse. */
INLINE Complex
turned (Complex a, gboolean inverse)
{
  return inverse ? (Complex){ -a.im, a.re } : (Complex){ a.im, -a.re };
}

INLINE Complex
twiddled (Complex a, const NdReal *w)
{
  return (Complex){ a.re * w[0] - a.im * w[1], a.re * w[1] + a.im * w[0] };
}

/* Transforms @radix numbers in place. */
INLINE void
butterflies (Complex *c, guint radix, gboolean inverse)
{
  if (radix == 2) {
    const Complex a = c[0];

    c[0] = add (a, c[1]);
    c[1] = subtract (a, c[1]);
  } else if (radix == 3) {
    const NdReal half_root = 0.86602540378443864676; /* sqrt (3) / 2 */
    const Complex sum = add (c[1], c[2]);
    const Complex middle = subtract (c[0], scaled (sum, 0.5));
    const Complex side =
        turned (scaled (subtract (c[1], c[2]), half_root), inverse);

    c[0] = add (c[0], sum);
    c[1] = add (middle, side);
    c[2] = subtract (middle, side);
  } else if (radix == 4) {
    const Complex even = add (c[0], c[2]), odd = add (c[1], c[3]);
    const Complex other = subtract (c[0], c[2]);
    const Complex side = turned (subtract (c[1], c[3]), inverse);

    c[0] = add (even, odd);
    c[1] = add (other, side);
    c[2] = subtract (even, odd);
    c[3] = subtract (other, side);
  } else {
    /* cos and sin of 2 pi / 5 and 4 pi / 5 */
    const NdReal c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
    const NdReal s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
    const Complex outer = add (c[1], c[4]), inner = add (c[2], c[3]);
    const Complex over = subtract (c[1], c[4]), under = subtract (c[2], c[3]);
    const Complex p = add (c[0], add (scaled (outer, c1), scaled (inner, c2)));
    const Complex q = add (c[0], add (scaled (outer, c2), scaled (inner, c1)));
    const Complex u =
        turned (add (scaled (over, s1), scaled (under, s2)), inverse);
    const Complex v =
        turned (subtract (scaled (over, s2), scaled (under, s1)), inverse);

    c[0] = add (c[0], add (outer, inner));
    c[1] = add (p, u);
    c[2] = add (q, v);
    c[3] = subtract (q, v);
    c[4] = subtract (p, u);
  }
}

/* The numbers of the last step, whose twiddle factors are 1. */
INLINE void
first_numbers (const Complex *in, gsize stride, Complex *out, guint radix,
    gboolean inverse)
{
  Complex c[5];

  UNROLLED_FOR (guint i = 0; i < radix; i++)
    c[i] = in[i * stride];
  butterflies (c, radix, inverse);
  UNROLLED_FOR (guint i = 0; i < radix; i++)
    out[i] = c[i];
}

INLINE void
join_numbers (const NdLineStep *step, Complex *out, guint radix,
    gboolean inverse)
{
  const gsize m = step->m;
  const NdReal *w = step->twiddles;

  for (gsize k = 0; k < m; k++, w += 2 * (radix - 1)) {
    Complex c[5];

    c[0] = out[k];
    UNROLLED_FOR (guint i = 1; i < radix; i++)
      c[i] = twiddled (out[k + i * m], w + 2 * (i - 1));
    butterflies (c, radix, inverse);
    UNROLLED_FOR (guint i = 0; i < radix; i++)
      out[k + i * m] = c[i];
  }
}

#define EACH_RADIX(CALL) \
  switch (step->radix) { \
    case 2:              \
      CALL (2);          \
      break;             \
    case 3:              \
      CALL (3);          \
      break;             \
    case 4:              \
      CALL (4);          \
      break;             \
    default:             \
      CALL (5);          \
      break;             \
  }

#define FIRST(radix) first_numbers (in, stride, out, radix, inverse)
#define JOIN(radix) join_numbers (step, out, radix, inverse)
#define DEFINE_STEPS(name, is_inverse)                                \
  static void name (const NdLineFft *fft, guint s, const Complex *in, \
      gsize stride, Complex *out)                                     \
  {                                                                   \
    const gboolean inverse = is_inverse;                              \
    const NdLineStep *step = &fft->steps[s];                          \
                                                                      \
    if (step->m == 1) {                                               \
      EACH_RADIX (FIRST)                                              \
      return;                                                         \
    }                                                                 \
    for (guint i = 0; i < step->radix; i++)                           \
      name (fft, s + 1, in + i * stride, stride * step->radix,        \
          out + i * step->m);                                         \
    EACH_RADIX (JOIN)                                                 \
  }
DEFINE_STEPS (steps_forward, FALSE)
DEFINE_STEPS (steps_inverse, TRUE)

static void
line_run (const NdLineFft *fft, const NdReal *in, NdReal *out)
{
  if (fft->n_steps == 0)
    *(Complex *) out = *(const Complex *) in;
  else if (fft->inverse)
    steps_inverse (fft, 0, (const Complex *) in, 1, (Complex *) out);
  else
    steps_forward (fft, 0, (const Complex *) in, 1, (Complex *) out);
}

/* The spectra of the even and of the odd numbers are (z[k] + conj z[n - k]) / 2
 * and -i (z[k] - conj z[n - k]) / 2. */
static void
line_forward (const NdLineFft *fft, const NdReal *in, NdReal *to,
    NdReal *scratch)
{
  const gsize n = fft->n;
  const Complex *z = (const Complex *) scratch;
  Complex *out = (Complex *) to;

  line_run (fft, in, scratch);
  out[0] = (Complex){ z[0].re + z[0].im, { 0 } };
  out[n] = (Complex){ z[0].re - z[0].im, { 0 } };
  for (gsize k = 1; k < n; k++) {
    const Complex a = z[k], b = { z[n - k].re, -z[n - k].im };
    const Complex odd =
        twiddled (turned (subtract (a, b), FALSE), fft->separate + 2 * k);

    out[k] = scaled (add (add (a, b), odd), 0.5);
  }
}

static void
line_inverse (const NdLineFft *fft, const NdReal *from, NdReal *out,
    NdReal *scratch)
{
  const gsize n = fft->n;
  const Complex *in = (const Complex *) from;
  Complex *z = (Complex *) scratch;

  z[0] = (Complex){ in[0].re + in[n].re, in[0].re - in[n].re };
  for (gsize k = 1; k < n; k++) {
    const Complex a = in[k], b = { in[n - k].re, -in[n - k].im };
    const Complex odd =
        twiddled (turned (subtract (a, b), TRUE), fft->separate + 2 * k);

    z[k] = add (add (a, b), odd);
  }
  line_run (fft, scratch, out);
}

static void
to_lanes (const NdReal *rows, gsize row, gsize n, NdReal *columns)
{
  for (gsize x = 0; x < n; x += ND_VECTOR) {
    Vector a[ND_VECTOR], b[ND_VECTOR];

    UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i++)
      a[i] = *(const Unaligned *) (rows + i * row + x);
    transpose_vectors (a, b);
    UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i++)
      *(Unaligned *) (columns + (x + i) * ND_VECTOR) = b[i];
  }
}

static void
from_lanes (const NdReal *columns, gsize n, NdReal *rows, gsize row)
{
  for (gsize x = 0; x < n; x += ND_VECTOR) {
    Vector a[ND_VECTOR], b[ND_VECTOR];

    UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i++)
      a[i] = *(const Unaligned *) (columns + (x + i) * ND_VECTOR);
    transpose_vectors (a, b);
    UNROLLED_FOR (guint i = 0; i < ND_VECTOR; i++)
      *(Unaligned *) (rows + i * row + x) = b[i];
  }
}

static void
gather (const NdReal *from, gsize stride, gsize n, NdReal *to)
{
  for (gsize i = 0; i < n; i++)
    ((Complex *) to)[i] = ((const Complex *) from)[i * stride];
}

static void
scatter (const NdReal *from, gsize n, NdReal *to, gsize stride)
{
  for (gsize i = 0; i < n; i++)
    ((Complex *) to)[i * stride] = ((const Complex *) from)[i];
}

static void
turn (const NdReal *in, gsize in_stride, NdReal *out, gsize out_stride)
{
  transpose ((const Complex *) in, in_stride, (Complex *) out, out_stride);
}

static void
add_products (NdReal *sum, const NdReal *a, const NdReal *b, gsize n)
{
  for (gsize i = 0; i < n; i++)
    multiply_add ((Complex *) sum + i, (const Complex *) a + i,
        (const Complex *) b + i);
}

static void
multiply_lanes (NdReal *to, const NdReal *by, gboolean conjugate, gsize n)
{
  Complex *a = (Complex *) to;
  const Complex *b = (const Complex *) by;

  for (gsize i = 0; i < n; i++) {
    const Complex c = { b[i].re, conjugate ? -b[i].im : b[i].im };

    a[i] = multiply (a + i, &c);
  }
}

static void
multiply_all (NdReal *to, const NdReal *from, const NdReal *w, gsize n)
{
  for (gsize i = 0; i < n; i++)
    ((Complex *) to)[i] = twiddled (((const Complex *) from)[i], w + 2 * i);
}

/* Sums of boxes without differences, so that errors do not grow and a number
 * that is not finite stays where it is (van Herk and Gil-Werman's way to find
 * maxima): the sum of outputs i is that of the lines from i to the end of the
 * first k ones, and that of the lines after these. Lines are weighted first:
 * sums of large numbers would be infinite. */
INLINE void
box_columns (const NdBoxSum *b, guint nv, gsize x, Vector *ends)
{
  Vector sum[4];

  UNROLLED_FOR (guint v = 0; v < nv; v++)
    sum[v] = (Vector){ 0 };
  for (gsize j = b->k; j-- > 0;) {
    const NdReal *line = (b->lines ? b->lines[j] : b->base + j * b->stride) + x;

    UNROLLED_FOR (guint v = 0; v < nv; v++) {
      sum[v] += *(const Unaligned *) (line + v * ND_VECTOR) * b->weight;
      ends[j * nv + v] = sum[v];
    }
  }
  UNROLLED_FOR (guint v = 0; v < nv; v++)
    sum[v] = (Vector){ 0 };
  for (gsize j = 0; j < b->n; j++) {
    NdReal *out = (b->outs ? b->outs[j] : b->out + j * b->stride) + x;
    const gsize next = b->k + j - 1;
    const NdReal *line =
        (b->lines ? b->lines[next] : b->base + next * b->stride) + x;

    UNROLLED_FOR (guint v = 0; v < nv; v++) {
      if (j > 0)
        sum[v] += *(const Unaligned *) (line + v * ND_VECTOR) * b->weight;
      *(Unaligned *) (out + v * ND_VECTOR) = ends[j * nv + v] + sum[v];
    }
  }
}

static void
sum_box (const NdBoxSum *b, NdReal *scratch)
{
  gsize x = 0;

  for (; x + 3 * ND_VECTOR < b->width; x += 4 * ND_VECTOR)
    box_columns (b, 4, x, (Vector *) scratch);
  for (; x < b->width; x += ND_VECTOR)
    box_columns (b, 1, x, (Vector *) scratch);
}

extern const NdLineKernels ND_TARGET_TABLE (nd_line_kernels);
const NdLineKernels ND_TARGET_TABLE (nd_line_kernels) = {
  .lanes = ND_VECTOR,
  .slowness = ND_BY_TARGET (2.6, 1.4, 1.0),
  .run = line_run,
  .forward = line_forward,
  .inverse = line_inverse,
  .to_lanes = to_lanes,
  .from_lanes = from_lanes,
  .gather = gather,
  .scatter = scatter,
  .turn = turn,
  .multiply_add = add_products,
  .multiply = multiply_lanes,
  .multiply_all = multiply_all,
  .sum_box = sum_box,
};
