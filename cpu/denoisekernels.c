/* The sliding 4D DCT in vectors of ND_VECTOR positions. Positions of a plane
 * are neighbours in memory: the next block along x is the next lane of the
 * vector.
 *
 * Each axis is transformed by itself, and sums that blocks share are computed
 * once: the transform along z for a plane of blocks, along y for a row, and
 * along x from shifted vectors. The inverse takes the same steps in reverse:
 * along x the shifted contributions of four positions are added in registers,
 * along y in memory, and along z to the planes of the output.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/denoisekernels.h"

#include "cpu/vectors.h"

#include <string.h>

#define CHUNK ND_DENOISE_CHUNK
#define CHUNK_AHEAD (CHUNK + ND_VECTOR)

typedef gint32 IMemory
    __attribute__ ((vector_size (4 * ND_VECTOR), aligned (4), may_alias));

/* tan (pi / 8), and the ratio of the square norms of an odd and an even basis
 * function. */
#define ODD 0.41421356237309503f
#define RATIO 1.7071067811865475f
/* The Kaiser window of 4 samples with beta = 2. */
#define OUTER 0.43867628f
#define INNER 0.92431388f

/* Lanes k to k + ND_VECTOR - 1 of @a followed by @b. */
#if ND_VECTOR == 16
#define SHIFT(a, b, k)                                                    \
  __builtin_shufflevector (a, b, (k), (k) + 1, (k) + 2, (k) + 3, (k) + 4, \
      (k) + 5, (k) + 6, (k) + 7, (k) + 8, (k) + 9, (k) + 10, (k) + 11,    \
      (k) + 12, (k) + 13, (k) + 14, (k) + 15)
#elif ND_VECTOR == 8
#define SHIFT(a, b, k)                                                    \
  __builtin_shufflevector (a, b, (k), (k) + 1, (k) + 2, (k) + 3, (k) + 4, \
      (k) + 5, (k) + 6, (k) + 7)
#else
#define SHIFT(a, b, k) \
  __builtin_shufflevector (a, b, (k), (k) + 1, (k) + 2, (k) + 3)
#endif

/* 1 / a with a precision of at least 12 bits. This suffices for factors of
 * coefficients that are comparable to the noise. */
INLINE V
reciprocal (V a)
{
#if ND_VECTOR == 16
  return (V) _mm512_rcp14_ps ((__m512) a);
#elif ND_VECTOR == 8
  return (V) _mm256_rcp_ps ((__m256) a);
#elif defined(__SSE2__)
  return (V) _mm_rcp_ps ((__m128) a);
#else
  return 1 / a;
#endif
}

/* Keeps the lanes of *@value that are above @level or NaN, sets the others to
 * 0, and adds @one to the count of lanes that are kept. */
INLINE void
threshold (V *value, V level, V one, V *count)
{
#if ND_VECTOR == 16
  __mmask16 kept = _mm512_cmp_ps_mask (_mm512_abs_ps ((__m512) *value),
      (__m512) level, _CMP_NLE_UQ);

  *value = (V) _mm512_maskz_mov_ps (kept, (__m512) *value);
  *count = (V) _mm512_mask_add_ps ((__m512) *count, kept, (__m512) *count,
      (__m512) one);
#else
  V magnitude = (V) ((I) *value & 0x7fffffff);
  I kept = ~(magnitude <= level);

  *value = (V) ((I) *value & kept);
  *count += (V) ((I) one & kept);
#endif
}

INLINE void
forward4 (V a, V b, V c, V d, V *out)
{
  V s0 = a + d, s1 = b + c, d0 = a - d, d1 = b - c;

  out[0] = s0 + s1;
  out[1] = d1 * ODD + d0;
  out[2] = s0 - s1;
  out[3] = d0 * ODD - d1;
}

/* The adjoint of forward4(), times the square norms and the window. */
INLINE void
inverse4 (const V *in, V *out)
{
  V e0 = (in[0] + in[2]) * OUTER, e1 = (in[0] - in[2]) * INNER;
  V u0 = in[3] * ODD + in[1], u1 = in[1] * ODD - in[3];

  out[0] = u0 * (OUTER * RATIO) + e0;
  out[3] = u0 * -(OUTER * RATIO) + e0;
  out[1] = u1 * (INNER * RATIO) + e1;
  out[2] = u1 * -(INNER * RATIO) + e1;
}

/* Intermediate results of a plane. */
typedef struct
{
  gfloat *data, *pilot;        /* coefficients along z; those over time are the
                                * inner index */
  gfloat *sum;                 /* sums along y */
  gfloat *weights, *weights_x; /* of positions, and their sums along x */
} Scratch;

static gsize
scratch_floats (const NdDenoisePlane *p)
{
  return (3 * 4 * p->n_time + 2) * p->length + 2 * CHUNK;
}

INLINE Scratch
divide_scratch (const NdDenoisePlane *p)
{
  const gsize area = 4 * p->n_time * p->length;

  return (Scratch){
    .data = p->scratch,
    .pilot = p->scratch + area,
    .sum = p->scratch + 2 * area,
    .weights = p->scratch + 3 * area + CHUNK,
    .weights_x = p->scratch + 3 * area + 2 * CHUNK + p->length,
  };
}

/* The transform along z of positions @from to @to. */
INLINE void
forward_z (const NdDenoisePlane *p, const gfloat *const *in, gfloat *out,
    gsize from, gsize to, guint n_time)
{
  for (guint t = 0; t < n_time; t++) {
    const gfloat *a = in[0] + t * p->stride, *b = in[1] + t * p->stride;
    const gfloat *c = in[2] + t * p->stride, *d = in[3] + t * p->stride;

    for (gsize i = from; i < to; i += ND_VECTOR) {
      V o[4];

      forward4 (load (a + i), load (b + i), load (c + i), load (d + i), o);
      for (guint k = 0; k < 4; k++)
        store (out + (k * n_time + t) * p->length + i, o[k]);
    }
  }
}

/* The transform along y of a chunk: @out[(z * 4 + y) * n_time + t]. */
INLINE void
forward_y (const NdDenoisePlane *p, const gfloat *in, gsize in_stride,
    gsize from, guint n_time, gfloat (*out)[CHUNK_AHEAD])
{
  const guint n = p->n_z * n_time;

  for (guint c = 0; c < n; c++) {
    const gfloat *s = in + c * in_stride + from;
    gfloat (*to)[CHUNK_AHEAD] = out + c / n_time * 4 * n_time + c % n_time;

    for (guint x = 0; x < CHUNK_AHEAD; x += ND_VECTOR) {
      V o[4];

      forward4 (load (s + x), load (s + p->row + x), load (s + 2 * p->row + x),
          load (s + 3 * p->row + x), o);
      for (guint k = 0; k < 4; k++)
        store (to[k * n_time] + x, o[k]);
    }
  }
}

INLINE void
forward_x (const gfloat *in, V *out)
{
  V a = load (in), b = load (in + ND_VECTOR);

  forward4 (a, SHIFT (a, b, 1), SHIFT (a, b, 2), SHIFT (a, b, 3), out);
}

/* Shrinks the coefficients of one vector of positions: n_z * 4 along z and y,
 * and for each of them @n_time over time and 4 along x. Returns the sum of the
 * squares of their factors, times the powers of coloured noise. */
INLINE V
shrink (const NdDenoisePlane *p, gfloat (*data)[CHUNK_AHEAD],
    gfloat (*pilot)[CHUNK_AHEAD], guint x, guint n_time, gboolean wiener,
    gboolean one, gboolean coloured, V *out)
{
  V count[2] = { all (0), all (0) };

  for (guint c = 0; c < 4 * p->n_z; c++) {
    const guint odd = (c >> 2 & 1) + (c & 1);
    const V level[2] = { all (p->level[odd]), all (p->level[odd + 1]) };
    V *u = out + c * (one ? 4 : n_time * 4);

#pragma GCC unroll 8
    for (guint t = 0; t < n_time; t++) {
      V o[4], q[4];

      forward_x (data[c * n_time + t] + x, o);
      if (wiener)
        forward_x (pilot[c * n_time + t] + x, q);
#pragma GCC unroll 4
      for (guint k = 0; k < 4; k++) {
        /* The mean is kept as it is. */
        const gboolean mean = k == 0 && t == 0 && c == 0;
        const V v = coloured ? all (p->levels[4 * c + k]) : level[k & 1];
        const V power = coloured ? all (p->powers[4 * c + k]) : all (1);

        if (wiener) {
          V g = 1 - v * reciprocal (q[k] * q[k] + v);

          if (mean)
            g = all (1);
          count[k & 1] += coloured ? g * g * power : g * g;
          o[k] *= g;
        } else {
          threshold (&o[k], mean ? all (-1) : v, power, &count[k & 1]);
        }
        if (!one)
          u[t * 4 + k] = o[k];
        else if (t == 0)
          u[k] = o[k] * p->slice[0];
        else
          u[k] += o[k] * p->slice[t];
      }
    }
  }
  return count[0] + count[1];
}

/* Adds the contributions of four positions along x. @before[c] keeps the last
 * contributions of the vector before. */
INLINE void
inverse_x (const V *in, V weight, V (*before)[3], gfloat (*out)[CHUNK], guint x,
    guint n)
{
  for (guint c = 0; c < n; c++) {
    V o[4];

    inverse4 (in + 4 * c, o);
    for (guint k = 0; k < 4; k++)
      o[k] *= weight;
    store (out[c] + x,
        (o[0] + SHIFT (before[c][0], o[1], ND_VECTOR - 1))
            + (SHIFT (before[c][1], o[2], ND_VECTOR - 2)
                + SHIFT (before[c][2], o[3], ND_VECTOR - 3)));
    before[c][0] = o[1];
    before[c][1] = o[2];
    before[c][2] = o[3];
  }
}

/* Adds a chunk to the sums along y, and begins the sums of the next three
 * rows. */
INLINE void
inverse_y (const NdDenoisePlane *p, gfloat (*in)[CHUNK], gfloat *sum,
    gsize from, guint n_time)
{
  for (guint c = 0; c < p->n_z * n_time; c++) {
    gfloat (*s)[CHUNK] = in + c / n_time * 4 * n_time + c % n_time;
    gfloat *to = sum + c * p->length + from;

    for (guint x = 0; x < CHUNK; x += ND_VECTOR) {
      V i[4], o[4];

      for (guint k = 0; k < 4; k++)
        i[k] = load (s[k * n_time] + x);
      inverse4 (i, o);
      for (guint k = 0; k < 3; k++)
        store (to + k * p->row + x, load (to + k * p->row + x) + o[k]);
      store (to + 3 * p->row + x, o[3]);
    }
  }
}

/* Adds the sums along y of positions @from to @to to the planes of the
 * output. */
INLINE void
inverse_z (const NdDenoisePlane *p, const gfloat *sum, gsize from, gsize to,
    guint n_time)
{
  const gsize step = n_time * p->length;

  for (guint t = 0; t < n_time; t++) {
    for (gsize i = from; i < to; i += ND_VECTOR) {
      const gfloat *s = sum + t * p->length + i;
      const gsize at = t * p->sum_stride + i;
      V in[4], o[4];

      if (p->n_z == 1) {
        store (p->sum[0] + at, load (s));
        continue;
      }
      for (guint k = 0; k < 4; k++)
        in[k] = load (s + k * step);
      inverse4 (in, o);
      for (guint k = 0; k < 3; k++)
        store (p->sum[k] + at, load (p->sum[k] + at) + o[k]);
      store (p->sum[3] + at, o[3]);
    }
  }
}

/* The sums of the windows of all blocks, times their weights. */
INLINE void
sum_weights (const NdDenoisePlane *p, const Scratch *scratch)
{
  const gsize end = p->n + 3 * p->row;
  const gfloat *w = scratch->weights;
  gfloat *x = scratch->weights_x;

  for (gsize i = 0; i < end; i += ND_VECTOR)
    store (x + i,
        (load (w + i) + load (w + i - 3)) * OUTER
            + (load (w + i - 1) + load (w + i - 2)) * INNER);
  for (gsize i = 0; i < end; i += ND_VECTOR) {
    V sum;

    if (i >= 3 * p->row) {
      sum = (load (x + i) + load (x + i - 3 * p->row)) * OUTER
          + (load (x + i - p->row) + load (x + i - 2 * p->row)) * INNER;
    } else {
      gfloat lanes[ND_VECTOR];

      for (guint l = 0; l < ND_VECTOR; l++) {
        gfloat a[4];

        for (guint k = 0; k < 4; k++)
          a[k] = i + l >= k * p->row ? x[i + l - k * p->row] : 0;
        lanes[l] = (a[0] + a[3]) * OUTER + (a[1] + a[2]) * INNER;
      }
      sum = load (lanes);
    }
    if (p->n_z == 1) {
      store (p->weights[0] + i, sum);
      continue;
    }
    for (guint k = 0; k < 3; k++)
      store (p->weights[k] + i,
          load (p->weights[k] + i) + sum * (k == 0 ? OUTER : INNER));
    store (p->weights[3] + i, sum * OUTER);
  }
}

INLINE void
plane (const NdDenoisePlane *p, guint n_time, gboolean wiener, gboolean one,
    gboolean coloured)
{
  const Scratch scratch = divide_scratch (p);
  const guint n_sums = one ? 1 : n_time;
  const guint n = 4 * p->n_z * n_sums;
  const gsize end = p->n + 3 * p->row;
  gfloat data[16 * ND_DENOISE_MAX_TIME][CHUNK_AHEAD];
  gfloat pilot[16 * ND_DENOISE_MAX_TIME][CHUNK_AHEAD];
  gfloat along_x[16 * ND_DENOISE_MAX_TIME][CHUNK];
  V before[16 * ND_DENOISE_MAX_TIME][3];
  V coefficients[64 * ND_DENOISE_MAX_TIME];
  gsize ahead = 0;

  memset (before, 0, n * sizeof (before[0]));
  for (guint c = 0; c < p->n_z * n_sums; c++)
    memset (scratch.sum + c * p->length, 0, 3 * p->row * sizeof (gfloat));
  memset (scratch.weights - CHUNK, 0, CHUNK * sizeof (gfloat));
  memset (scratch.weights + p->n, 0, (p->length - p->n) * sizeof (gfloat));

  for (gsize from = 0; from < p->n; from += CHUNK) {
    const gfloat *in = p->data[0], *in_pilot = p->pilot[0];
    gsize in_stride = p->stride;

    if (p->n_z > 1) {
      const gsize until = from + CHUNK_AHEAD + 3 * p->row;

      forward_z (p, p->data, scratch.data, ahead, until, n_time);
      if (wiener)
        forward_z (p, p->pilot, scratch.pilot, ahead, until, n_time);
      ahead += (until - ahead + ND_VECTOR - 1) / ND_VECTOR * ND_VECTOR;
      in = scratch.data;
      in_pilot = scratch.pilot;
      in_stride = p->length;
    }
    forward_y (p, in, in_stride, from, n_time, data);
    if (wiener)
      forward_y (p, in_pilot, in_stride, from, n_time, pilot);
    for (guint x = 0; x < CHUNK; x += ND_VECTOR) {
      V power = shrink (p, data, pilot, x, n_time, wiener, one, coloured,
          coefficients);
      V weight = 1 / power;

      /* Positions whose block would extend into the next row have no block;
       * their coefficients may be NaN. */
      if (memchr (p->partial + (from + x) / 4, TRUE, ND_VECTOR / 4)) {
        const I mask = *(const IMemory *) (p->mask + from + x);

        weight = (V) ((I) weight & mask);
        for (guint i = 0; i < 4 * n; i++)
          coefficients[i] = (V) ((I) coefficients[i] & mask);
      }
      store (scratch.weights + from + x, weight);
      inverse_x (coefficients, weight, before, along_x, x, n);
    }
    inverse_y (p, along_x, scratch.sum, from, n_sums);
    inverse_z (p, scratch.sum, from, from + CHUNK, n_sums);
  }
  inverse_z (p, scratch.sum, p->n, end, n_sums);
  sum_weights (p, &scratch);
}

#define DEFINE_PLANE(name, wiener, one)      \
  static void name (const NdDenoisePlane *p) \
  {                                          \
    if (one && p->n_time == 1)               \
      plane (p, 1, wiener, one, TRUE);       \
    else if (p->is_coloured)                 \
      plane (p, 4, wiener, one, TRUE);       \
    else if (p->n_time == 8)                 \
      plane (p, 8, wiener, one, FALSE);      \
    else                                     \
      plane (p, 4, wiener, one, FALSE);      \
  }

DEFINE_PLANE (threshold_one, FALSE, TRUE)
DEFINE_PLANE (threshold_all, FALSE, FALSE)
DEFINE_PLANE (wiener_one, TRUE, TRUE)
DEFINE_PLANE (wiener_all, TRUE, FALSE)

/* Factors of the orthonormal DCT. 4 samples: 1/2, C4 and S4. 8 samples: the
 * even coefficients are those of the sums of opposite samples times HALF; the
 * odd ones come from the differences, with factors sqrt (1/4) cos ((2 i + 1) k
 * pi / 16). */
#define C4 0.65328148243818826f
#define S4 0.27059805007309851f
#define HALF 0.70710678118654752f
static const gfloat odd8[4][4] = {
  { 0.49039264020161522f, 0.41573480615127262f, 0.27778511650980114f,
      0.09754516100806412f },
  { 0.41573480615127262f, -0.09754516100806412f, -0.49039264020161522f,
      -0.27778511650980114f },
  { 0.27778511650980114f, -0.49039264020161522f, 0.09754516100806412f,
      0.41573480615127262f },
  { 0.09754516100806412f, -0.27778511650980114f, 0.41573480615127262f,
      -0.49039264020161522f },
};

INLINE void
time_forward4 (const gfloat *in, gfloat gain, gfloat *out)
{
  const gfloat s0 = in[0] + in[3], s1 = in[1] + in[2];
  const gfloat d0 = in[0] - in[3], d1 = in[1] - in[2];

  out[0] = (s0 + s1) * (.5f * gain);
  out[1] = d0 * (C4 * gain) + d1 * (S4 * gain);
  out[2] = (s0 - s1) * (.5f * gain);
  out[3] = d0 * (S4 * gain) - d1 * (C4 * gain);
}

INLINE void
time_inverse4 (const gfloat *in, gfloat gain, gfloat *out)
{
  const gfloat e0 = (in[0] + in[2]) * (.5f * gain);
  const gfloat e1 = (in[0] - in[2]) * (.5f * gain);
  const gfloat u0 = in[1] * (C4 * gain) + in[3] * (S4 * gain);
  const gfloat u1 = in[1] * (S4 * gain) - in[3] * (C4 * gain);

  out[0] = e0 + u0;
  out[1] = e1 + u1;
  out[2] = e1 - u1;
  out[3] = e0 - u0;
}

INLINE void
time_forward8 (const gfloat *in, gfloat *out)
{
  gfloat s[4], d[4], even[4];

  for (guint i = 0; i < 4; i++) {
    s[i] = in[i] + in[7 - i];
    d[i] = in[i] - in[7 - i];
  }
  time_forward4 (s, HALF, even);
  for (guint k = 0; k < 4; k++) {
    out[2 * k] = even[k];
    out[2 * k + 1] = (odd8[k][0] * d[0] + odd8[k][1] * d[1])
        + (odd8[k][2] * d[2] + odd8[k][3] * d[3]);
  }
}

INLINE void
time_inverse8 (const gfloat *in, gfloat gain, gfloat *out)
{
  const gfloat even[4] = { in[0], in[2], in[4], in[6] };
  gfloat e[4];

  time_inverse4 (even, HALF * gain, e);
  for (guint i = 0; i < 4; i++) {
    gfloat o = ((odd8[0][i] * in[1] + odd8[1][i] * in[3])
                   + (odd8[2][i] * in[5] + odd8[3][i] * in[7]))
        * gain;

    out[i] = e[i] + o;
    out[7 - i] = e[i] - o;
  }
}

#define ROWS 64

static void
time_forward (guint n_time, const gfloat *const *in, gfloat *const *out,
    gsize n)
{
  if (n_time == 8) {
    for (gsize i = 0; i < n; i++) {
      gfloat a[8], b[8];

      for (guint t = 0; t < 8; t++)
        a[t] = in[t][i];
      time_forward8 (a, b);
      for (guint t = 0; t < 8; t++)
        out[t][i] = b[t];
    }
    return;
  }
  if (n_time == 1) {
    memcpy (out[0], in[0], n * sizeof (gfloat));
    return;
  }

  const gfloat *a = in[0], *b = in[1], *c = in[2], *d = in[3];
  gfloat *restrict o0 = out[0], *restrict o1 = out[1];
  gfloat *restrict o2 = out[2], *restrict o3 = out[3];

  for (gsize i = 0; i < n; i++) {
    const gfloat x[4] = { a[i], b[i], c[i], d[i] };
    gfloat o[4];

    time_forward4 (x, 1, o);
    o0[i] = o[0];
    o1[i] = o[1];
    o2[i] = o[2];
    o3[i] = o[3];
  }
}

/* Works on parts that stay in the first cache. */
static void
time_inverse (guint n_time, const gfloat *const *in, const gfloat *in_weights,
    gfloat gain, gfloat *const *sums, gfloat *const *weights, gsize n)
{
  for (gsize from = 0; from < n; from += ROWS) {
    const gsize m = MIN (ROWS, n - from);
    gfloat volumes[ND_DENOISE_MAX_TIME][ROWS];

    if (n_time == 8) {
      for (gsize i = 0; i < m; i++) {
        gfloat a[8], b[8];

        for (guint t = 0; t < 8; t++)
          a[t] = in[t][from + i];
        time_inverse8 (a, gain, b);
        for (guint t = 0; t < 8; t++)
          volumes[t][i] = b[t];
      }
    } else {
      const gfloat *a = in[0] + from, *b = in[1] + from;
      const gfloat *c = in[2] + from, *d = in[3] + from;

      for (gsize i = 0; i < m; i++) {
        const gfloat x[4] = { a[i], b[i], c[i], d[i] };
        gfloat o[4];

        time_inverse4 (x, gain, o);
        for (guint t = 0; t < 4; t++)
          volumes[t][i] = o[t];
      }
    }
    for (guint t = 0; t < n_time; t++) {
      const gfloat *w = in_weights + from;
      gfloat *restrict sum, *restrict weight;

      if (!sums[t])
        continue;
      sum = sums[t] + from;
      weight = weights[t] + from;
      if (t == n_time - 1) {
        memcpy (sum, volumes[t], m * sizeof (gfloat));
        memcpy (weight, w, m * sizeof (gfloat));
        continue;
      }
      for (gsize i = 0; i < m; i++) {
        sum[i] += volumes[t][i];
        weight[i] += w[i];
      }
    }
  }
}

static void
refine (const gfloat *sum, const gfloat *in_weight, gfloat *restrict mean,
    gfloat *restrict weight, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    weight[i] += in_weight[i];
    mean[i] += (sum[i] / in_weight[i] - mean[i]) * (in_weight[i] / weight[i]);
  }
}

static void
add (const gfloat *a, const gfloat *b, gfloat *restrict to, gsize n)
{
  if (!b) {
    memcpy (to, a, n * sizeof (gfloat));
    return;
  }
  for (gsize i = 0; i < n; i++)
    to[i] = a[i] + b[i];
}

static void
divide (const gfloat *sum, const gfloat *weight, gfloat gain,
    gfloat *restrict out, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = gain * sum[i] / weight[i];
}

extern const NdDenoiseKernels ND_TARGET_TABLE (nd_denoise_kernels);
const NdDenoiseKernels ND_TARGET_TABLE (nd_denoise_kernels) = {
  .scratch_floats = scratch_floats,
  .threshold_one = threshold_one,
  .threshold_all = threshold_all,
  .wiener_one = wiener_one,
  .wiener_all = wiener_all,
  .time_forward = time_forward,
  .time_inverse = time_inverse,
  .refine = refine,
  .add = add,
  .divide = divide,
};
