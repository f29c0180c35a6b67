/* The transforms of blocks (cpu/simd.h). The lanes of a vector are neighbours
 * along x, while y is transformed. Tiles of ND_VECTOR x ND_VECTOR samples are
 * then transposed, so that the lanes are neighbours along y, while x and z are
 * transformed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/fftkernels.h"
#include "cpu/ffttranspose_tmpl.h"
#include "cpu/simd.h"

/* The transforms of N = A * B points. Strides are in complex vectors. */
#define DEFINE_LINES(N, A, B)                                          \
  NOINLINE void rows_##N (const NdReal *a, const NdReal *b, gsize row, \
      Complex *out, gsize stride)                                      \
  {                                                                    \
    Complex t[N];                                                      \
                                                                       \
    first_step_rows (A, B, a, b, row, N == 64, t);                     \
    EACH (A, ROWS_TRANSFORM_##N);                                      \
  }                                                                    \
                                                                       \
  NOINLINE void rows_back_##N (const Complex *in, gsize in_stride,     \
      gsize height, NdReal level, NdReal *a, NdReal *b)                \
  {                                                                    \
    Complex t[N];                                                      \
                                                                       \
    first_step (B, A, in, in_stride, t, TRUE);                         \
    EACH (B, ROWS_BACK_TRANSFORM_##N);                                 \
  }                                                                    \
                                                                       \
  NOINLINE void line_spectrum_##N (const Complex *in, gsize in_stride, \
      Complex *spectrum)                                               \
  {                                                                    \
    Complex t[N];                                                      \
                                                                       \
    first_step (A, B, in, in_stride, t, FALSE);                        \
    EACH (A, SPECTRUM_TRANSFORM_##N);                                  \
  }                                                                    \
                                                                       \
  NOINLINE void line_convolve_##N (Complex *out, gsize stride,         \
      const Complex *filter)                                           \
  {                                                                    \
    Complex u[N], t[N];                                                \
                                                                       \
    first_step (A, B, out, stride, u, FALSE);                          \
    EACH (A, MULTIPLY_TRANSFORM_##N);                                  \
    EACH (B, BACK_TRANSFORM_##N);                                      \
  }                                                                    \
                                                                       \
  NOINLINE void line_sum_##N (const NdReal *const *spectra,            \
      const NdReal *const *filters, guint n, gsize from, gsize first,  \
      Complex *out, gsize stride)                                      \
  {                                                                    \
    Complex t[N];                                                      \
                                                                       \
    EACH (A, SUM_TRANSFORM_##N);                                       \
    EACH (B, BACK_TRANSFORM_##N);                                      \
  }

/* The transforms along an axis that is neither the first nor the last one. */
#define DEFINE_MIDDLE_LINES(N, A, B)                                        \
  NOINLINE void line_##N (const Complex *in, gsize in_stride, Complex *out, \
      gsize stride)                                                         \
  {                                                                         \
    Complex t[N];                                                           \
                                                                            \
    first_step (A, B, in, in_stride, t, FALSE);                             \
    EACH (A, ROWS_TRANSFORM_##N);                                           \
  }                                                                         \
                                                                            \
  NOINLINE void line_back_##N (const Complex *in, gsize in_stride,          \
      Complex *out, gsize stride)                                           \
  {                                                                         \
    Complex t[N];                                                           \
                                                                            \
    first_step (B, A, in, in_stride, t, TRUE);                              \
    EACH (B, BACK_TRANSFORM_##N);                                           \
  }

#define ROWS_TRANSFORM_32(k) second_step_to (4, 8, t, k, out, stride, FALSE)
#define BACK_TRANSFORM_32(k) second_step_to (8, 4, t, k, out, stride, TRUE)
#define ROWS_BACK_TRANSFORM_32(k) \
  second_step_to_rows (8, 4, t, k, height, level, a, b)
#define SPECTRUM_TRANSFORM_32(k) second_step_to_spectrum (4, 8, t, k, spectrum)
#define MULTIPLY_TRANSFORM_32(k) multiply_transform (4, 8, u, k, filter, t)
#define SUM_TRANSFORM_32(k) \
  sum_transform (4, 8, spectra, filters, n, from, first, k, t)
DEFINE_LINES (32, 4, 8)
DEFINE_MIDDLE_LINES (32, 4, 8)

#define ROWS_TRANSFORM_64(k) second_step_to (8, 8, t, k, out, stride, FALSE)
#define BACK_TRANSFORM_64(k) second_step_to (8, 8, t, k, out, stride, TRUE)
#define ROWS_BACK_TRANSFORM_64(k) \
  second_step_to_rows (8, 8, t, k, height, level, a, b)
#define SPECTRUM_TRANSFORM_64(k) second_step_to_spectrum (8, 8, t, k, spectrum)
#define MULTIPLY_TRANSFORM_64(k) multiply_transform (8, 8, u, k, filter, t)
#define SUM_TRANSFORM_64(k) \
  sum_transform (8, 8, spectra, filters, n, from, first, k, t)
DEFINE_LINES (64, 8, 8)

/* Transforms blocks of N points an axis. The last axis runs along lines of N
 * vectors, LINE apart: along z of a volume, along x of a plane. Odd distances
 * keep the lines of a block apart in a cache whose sets repeat every 4 KiB. */
#define TILES(N) (N / ND_VECTOR)
#define PITCH(N) (TILES (N) + (N == 64))
#define VOLUME_PLANE (32 * TILES (32) + 1)

typedef struct
{
  Complex rows[32 * PITCH (32)];
  Complex line[32];
  Complex block[32 * VOLUME_PLANE];
} VolumeWork;

typedef struct
{
  Complex rows[64 * PITCH (64)];
  Complex block[TILES (64) * (64 + 1)];
} PlaneWork;

/* Prefetches @n rows of both blocks. The rows of a plane are far apart, so that
 * the hardware does not prefetch them. A few are prefetched at a time, between
 * the arithmetic.
 */
INLINE void
prefetch (const NdReal *a, const NdReal *b, gsize row, gsize n)
{
  for (gsize y = 0; y < n; y++) {
    for (gsize x = 0; x < 48; x += 16) {
      __builtin_prefetch (a + y * row + x);
      __builtin_prefetch (b + y * row + x);
    }
  }
}

static void
volume_forward (const NdReal *a, const NdReal *b, gsize row, gsize slice,
    NdReal *memory)
{
  const gsize share = 32 / (2 * TILES (32));
  VolumeWork *w = (VolumeWork *) memory;

  for (gsize z = 0; z < 32; z++, a += slice, b += slice) {
    Complex *out = w->block + z * VOLUME_PLANE;
    gsize next = z + 1 < 32 ? slice : 0;

    for (gsize x = 0; x < TILES (32); x++, next += share * row) {
      prefetch (a + next, b + next, row, share);
      rows_32 (a + x * ND_VECTOR, b + x * ND_VECTOR, row, w->rows + x,
          PITCH (32));
    }
    for (gsize y = 0; y < TILES (32); y++, next += share * row) {
      prefetch (a + next, b + next, row, share);
      for (gsize x = 0; x < TILES (32); x++)
        transpose (w->rows + y * ND_VECTOR * PITCH (32) + x, PITCH (32),
            w->line + x * ND_VECTOR, 1);
      line_32 (w->line, 1, out + y, TILES (32));
    }
  }
}

static void
volume_inverse (NdReal *memory, gsize z, gsize width, gsize height,
    NdReal level, NdReal *a, NdReal *b)
{
  VolumeWork *w = (VolumeWork *) memory;
  const Complex *in = w->block + z * VOLUME_PLANE;
  const gsize tiles = (width + ND_VECTOR - 1) / ND_VECTOR;

  for (gsize y = 0; y < TILES (32); y++) {
    line_back_32 (in + y, TILES (32), w->line, 1);
    for (gsize x = 0; x < tiles; x++)
      transpose (w->line + x * ND_VECTOR, 1,
          w->rows + y * ND_VECTOR * PITCH (32) + x, PITCH (32));
  }
  for (gsize x = 0; x < tiles; x++)
    rows_back_32 (w->rows + x, PITCH (32), height, level, a + x * ND_VECTOR,
        b + x * ND_VECTOR);
}

static void
plane_forward (const NdReal *a, const NdReal *b, gsize row, gsize slice,
    NdReal *memory)
{
  PlaneWork *w = (PlaneWork *) memory;

  for (gsize x = 0; x < TILES (64); x++)
    rows_64 (a + x * ND_VECTOR, b + x * ND_VECTOR, row, w->rows + x,
        PITCH (64));
  for (gsize y = 0; y < TILES (64); y++)
    for (gsize x = 0; x < TILES (64); x++)
      transpose (w->rows + y * ND_VECTOR * PITCH (64) + x, PITCH (64),
          w->block + y * (64 + 1) + x * ND_VECTOR, 1);
}

static void
plane_inverse (NdReal *memory, gsize z, gsize width, gsize height, NdReal level,
    NdReal *a, NdReal *b)
{
  PlaneWork *w = (PlaneWork *) memory;
  const gsize tiles = (width + ND_VECTOR - 1) / ND_VECTOR;

  for (gsize y = 0; y < TILES (64); y++)
    for (gsize x = 0; x < tiles; x++)
      transpose (w->block + y * (64 + 1) + x * ND_VECTOR, 1,
          w->rows + y * ND_VECTOR * PITCH (64) + x, PITCH (64));
  for (gsize x = 0; x < tiles; x++)
    rows_back_64 (w->rows + x, PITCH (64), height, level, a + x * ND_VECTOR,
        b + x * ND_VECTOR);
}

#define DEFINE_BLOCK(name, Work, N, COUNT, LINE, STRIDE)                  \
  static void name##_spectrum (const NdReal *memory, NdReal *spectrum)    \
  {                                                                       \
    const Work *w = (const Work *) memory;                                \
                                                                          \
    for (gsize i = 0; i < COUNT; i++)                                     \
      line_spectrum_##N (w->block + i * LINE, STRIDE,                     \
          (Complex *) spectrum + i * N);                                  \
  }                                                                       \
                                                                          \
  static void name##_convolve (NdReal *memory, const NdReal *filter)      \
  {                                                                       \
    Work *w = (Work *) memory;                                            \
                                                                          \
    for (gsize i = 0; i < COUNT; i++)                                     \
      line_convolve_##N (w->block + i * LINE, STRIDE,                     \
          (const Complex *) filter + i * N);                              \
  }                                                                       \
                                                                          \
  static void name##_sum (const NdReal *const *spectra,                   \
      const NdReal *const *filters, guint n, NdReal *memory, guint pairs, \
      gsize next)                                                         \
  {                                                                       \
    const gsize step = next * sizeof (NdReal) / sizeof (Complex);         \
    Work *w = (Work *) memory;                                            \
                                                                          \
    for (gsize i = 0; i < COUNT; i++)                                     \
      for (gsize p = 0; p < pairs; p++)                                   \
        line_sum_##N (spectra, filters, n, p *step + i * N, i * N,        \
            w[p].block + i * LINE, STRIDE);                               \
  }
DEFINE_BLOCK (volume, VolumeWork, 32, 32 * TILES (32), 1, VOLUME_PLANE)
DEFINE_BLOCK (plane, PlaneWork, 64, TILES (64), (64 + 1), 1)

/* Times are those of single precision. */
extern const NdFftKernels ND_TARGET_TABLE (nd_fft_kernels);
const NdFftKernels ND_TARGET_TABLE (nd_fft_kernels) = {
  .volume = { .size = { 32, 32, 32 },
      .numbers = 2 * 32 * 32 * 32,
      .work = sizeof (VolumeWork) / sizeof (NdReal),
      .forward_time = ND_BY_TARGET (46e-6, 27e-6, 26e-6),
      .convolve_time = ND_BY_TARGET (42e-6, 21e-6, 18e-6),
      .spectrum_time = ND_BY_TARGET (20e-6, 10e-6, 10e-6),
      .sum_time = ND_BY_TARGET (25e-6, 14e-6, 12e-6),
      .product_time = ND_BY_TARGET (18e-6, 12e-6, 12e-6),
      .inverse_time = ND_BY_TARGET (36e-6, 20e-6, 18e-6),
      .forward = volume_forward,
      .spectrum = volume_spectrum,
      .convolve = volume_convolve,
      .sum = volume_sum,
      .inverse = volume_inverse },
  .plane = { .size = { 64, 64, 1 },
      .numbers = 2 * 64 * 64,
      .work = sizeof (PlaneWork) / sizeof (NdReal),
      .forward_time = ND_BY_TARGET (5.5e-6, 3.5e-6, 3e-6),
      .convolve_time = ND_BY_TARGET (8e-6, 3.8e-6, 3e-6),
      .spectrum_time = ND_BY_TARGET (3.5e-6, 2e-6, 1.8e-6),
      .sum_time = ND_BY_TARGET (4e-6, 2.6e-6, 2e-6),
      .product_time = ND_BY_TARGET (1.2e-6, 0.8e-6, 0.6e-6),
      .inverse_time = ND_BY_TARGET (5e-6, 3e-6, 2.4e-6),
      .forward = plane_forward,
      .spectrum = plane_spectrum,
      .convolve = plane_convolve,
      .sum = plane_sum,
      .inverse = plane_inverse },
};
