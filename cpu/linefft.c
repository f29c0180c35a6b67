/* Decimation in time by 4, 2, 3 and 5. A transform of n = p * m numbers is p
 * transforms of every p-th number, and m butterflies of p numbers.
 *
 * A transform of n real numbers is one of n / 2 complex numbers, the even ones
 * real and the odd ones imaginary, and a step that separates their spectra.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/linefft.h"

#include <math.h>

#define MAX_STEPS 64

/* The butterflies of a transform of @radix * @m numbers. */
typedef struct
{
  guint radix;
  gsize m;
  NdNumber *twiddles; /* [k][radix - 1] for number k of m */
} Step;

struct _NdDoubleFft
{
  gboolean inverse;
  guint n_steps;
  Step steps[MAX_STEPS]; /* the last butterflies first */

  /* For transforms of real numbers. */
  gsize half;         /* n / 2; 0: complex numbers */
  NdNumber *separate; /* half */
  NdNumber *scratch;  /* half */
};

/* exp (-2 pi i k / n), or its conjugate. */
static NdNumber
root (gsize k, gsize n, gboolean inverse)
{
  const gdouble angle = 2 * G_PI * ((gdouble) (k % n) / n);

  return (NdNumber){ cos (angle), inverse ? sin (angle) : -sin (angle) };
}

static inline NdNumber
line_fft_add (NdNumber a, NdNumber b)
{
  return (NdNumber){ a.re + b.re, a.im + b.im };
}

static inline NdNumber
line_fft_subtract (NdNumber a, NdNumber b)
{
  return (NdNumber){ a.re - b.re, a.im - b.im };
}

static inline NdNumber
line_fft_multiply (NdNumber a, NdNumber b)
{
  return (NdNumber){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static inline NdNumber
scale (NdNumber a, gdouble factor)
{
  return (NdNumber){ a.re * factor, a.im * factor };
}

/* -i a, or i a of the inverse. */
static inline NdNumber
line_fft_turn (NdNumber a, gboolean inverse)
{
  return inverse ? (NdNumber){ -a.im, a.re } : (NdNumber){ a.im, -a.re };
}

static inline void
butterfly_2 (const Step *step, NdNumber *out)
{
  const gsize m = step->m;

  for (gsize k = 0; k < m; k++) {
    const NdNumber a = out[k],
                   b = line_fft_multiply (out[k + m], step->twiddles[k]);

    out[k] = line_fft_add (a, b);
    out[k + m] = line_fft_subtract (a, b);
  }
}

static inline void
butterfly_3 (const Step *step, NdNumber *out, gboolean inverse)
{
  const gdouble half_root = 0.86602540378443864676; /* sqrt (3) / 2 */
  const gsize m = step->m;
  const NdNumber *w = step->twiddles;

  for (gsize k = 0; k < m; k++, w += 2) {
    const NdNumber a = out[k], b = line_fft_multiply (out[k + m], w[0]);
    const NdNumber c = line_fft_multiply (out[k + 2 * m], w[1]);
    const NdNumber sum = line_fft_add (b, c);
    const NdNumber middle = line_fft_subtract (a, scale (sum, 0.5));
    const NdNumber side =
        line_fft_turn (scale (line_fft_subtract (b, c), half_root), inverse);

    out[k] = line_fft_add (a, sum);
    out[k + m] = line_fft_add (middle, side);
    out[k + 2 * m] = line_fft_subtract (middle, side);
  }
}

static inline void
butterfly_4 (const Step *step, NdNumber *out, gboolean inverse)
{
  const gsize m = step->m;
  const NdNumber *w = step->twiddles;

  for (gsize k = 0; k < m; k++, w += 3) {
    const NdNumber a = out[k], b = line_fft_multiply (out[k + m], w[0]);
    const NdNumber c = line_fft_multiply (out[k + 2 * m], w[1]);
    const NdNumber d = line_fft_multiply (out[k + 3 * m], w[2]);
    const NdNumber even = line_fft_add (a, c), odd = line_fft_add (b, d);
    const NdNumber other = line_fft_subtract (a, c);
    const NdNumber side = line_fft_turn (line_fft_subtract (b, d), inverse);

    out[k] = line_fft_add (even, odd);
    out[k + m] = line_fft_add (other, side);
    out[k + 2 * m] = line_fft_subtract (even, odd);
    out[k + 3 * m] = line_fft_subtract (other, side);
  }
}

static inline void
butterfly_5 (const Step *step, NdNumber *out, gboolean inverse)
{
  /* cos and sin of 2 pi / 5 and 4 pi / 5 */
  const gdouble c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
  const gdouble s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
  const gsize m = step->m;
  const NdNumber *w = step->twiddles;

  for (gsize k = 0; k < m; k++, w += 4) {
    const NdNumber a = out[k], b = line_fft_multiply (out[k + m], w[0]);
    const NdNumber c = line_fft_multiply (out[k + 2 * m], w[1]);
    const NdNumber d = line_fft_multiply (out[k + 3 * m], w[2]);
    const NdNumber e = line_fft_multiply (out[k + 4 * m], w[3]);
    const NdNumber outer = line_fft_add (b, e), inner = line_fft_add (c, d);
    const NdNumber from_outer = line_fft_subtract (b, e),
                   from_inner = line_fft_subtract (c, d);
    const NdNumber p =
        line_fft_add (a, line_fft_add (scale (outer, c1), scale (inner, c2)));
    const NdNumber q =
        line_fft_add (a, line_fft_add (scale (outer, c2), scale (inner, c1)));
    const NdNumber u = line_fft_turn (line_fft_add (scale (from_outer, s1),
                                          scale (from_inner, s2)),
        inverse);
    const NdNumber v = line_fft_turn (line_fft_subtract (scale (from_outer, s2),
                                          scale (from_inner, s1)),
        inverse);

    out[k] = line_fft_add (a, line_fft_add (outer, inner));
    out[k + m] = line_fft_add (p, u);
    out[k + 2 * m] = line_fft_add (q, v);
    out[k + 3 * m] = line_fft_subtract (q, v);
    out[k + 4 * m] = line_fft_subtract (p, u);
  }
}

static void
line_fft_transform (const NdDoubleFft *fft, guint s, const NdNumber *in,
    gsize stride, NdNumber *out)
{
  const Step *step = &fft->steps[s];

  if (s == fft->n_steps) {
    *out = *in;
    return;
  }
  for (guint i = 0; i < step->radix; i++)
    line_fft_transform (fft, s + 1, in + i * stride, stride * step->radix,
        out + i * step->m);
  switch (step->radix) {
    case 2:
      butterfly_2 (step, out);
      break;
    case 3:
      butterfly_3 (step, out, fft->inverse);
      break;
    case 4:
      butterfly_4 (step, out, fft->inverse);
      break;
    default:
      butterfly_5 (step, out, fft->inverse);
      break;
  }
}

NdDoubleFft *
nd_double_fft_new (gsize n, gboolean inverse)
{
  static const guint radixes[] = { 4, 2, 3, 5 };
  NdDoubleFft *fft = g_new0 (NdDoubleFft, 1);

  fft->inverse = inverse;
  while (n > 1) {
    Step *step = &fft->steps[fft->n_steps++];

    for (guint i = 0; i < G_N_ELEMENTS (radixes) && step->radix == 0; i++)
      step->radix = n % radixes[i] == 0 ? radixes[i] : 0;
    g_return_val_if_fail (step->radix != 0, fft);
    step->m = n / step->radix;
    step->twiddles = g_new (NdNumber, step->m * (step->radix - 1));
    for (gsize k = 0; k < step->m; k++)
      for (guint i = 1; i < step->radix; i++)
        step->twiddles[k * (step->radix - 1) + i - 1] =
            root (i * k, n, inverse);
    n = step->m;
  }
  return fft;
}

NdDoubleFft *
nd_double_fft_new_real (gsize n, gboolean inverse)
{
  NdDoubleFft *fft = nd_double_fft_new (n / 2, inverse);

  fft->half = n / 2;
  fft->scratch = g_new (NdNumber, fft->half);
  fft->separate = g_new (NdNumber, fft->half);
  for (gsize k = 0; k < fft->half; k++)
    fft->separate[k] = root (k, n, inverse);
  return fft;
}

void
nd_double_fft_free (NdDoubleFft *fft)
{
  for (guint s = 0; s < fft->n_steps; s++)
    g_free (fft->steps[s].twiddles);
  g_free (fft->separate);
  g_free (fft->scratch);
  g_free (fft);
}

void
nd_double_fft_run (const NdDoubleFft *fft, const NdNumber *in, NdNumber *out)
{
  line_fft_transform (fft, 0, in, 1, out);
}

/* The spectra of the even and of the odd numbers are (z[k] + conj z[h - k]) / 2
 * and -i (z[k] - conj z[h - k]) / 2. */
void
nd_double_fft_forward (const NdDoubleFft *fft, const gdouble *in, NdNumber *out)
{
  const gsize half = fft->half;
  const NdNumber *z = fft->scratch;

  line_fft_transform (fft, 0, (const NdNumber *) in, 1, fft->scratch);
  out[0] = (NdNumber){ z[0].re + z[0].im, 0 };
  out[half] = (NdNumber){ z[0].re - z[0].im, 0 };
  for (gsize k = 1; k < half; k++) {
    const NdNumber a = z[k], b = { z[half - k].re, -z[half - k].im };
    const NdNumber odd =
        line_fft_multiply (line_fft_turn (line_fft_subtract (a, b), FALSE),
            fft->separate[k]);

    out[k] = scale (line_fft_add (line_fft_add (a, b), odd), 0.5);
  }
}

void
nd_double_fft_inverse (const NdDoubleFft *fft, const NdNumber *in, gdouble *out)
{
  const gsize half = fft->half;
  NdNumber *z = fft->scratch;

  z[0] = (NdNumber){ in[0].re + in[half].re, in[0].re - in[half].re };
  for (gsize k = 1; k < half; k++) {
    const NdNumber a = in[k], b = { in[half - k].re, -in[half - k].im };
    const NdNumber odd =
        line_fft_multiply (line_fft_turn (line_fft_subtract (a, b), TRUE),
            fft->separate[k]);

    z[k] = line_fft_add (line_fft_add (a, b), odd);
  }
  line_fft_transform (fft, 0, z, 1, (NdNumber *) out);
}
