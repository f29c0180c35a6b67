/* The inner loops of the methods (cpu/simd.h). Vectors of 16 bytes are those
 * of SSE2 on x86-64, and of NEON on ARM64.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/kernels.h"

#include "cpu/simd.h"

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
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_CHECKED 1
#else
#define IS_CHECKED 0
#endif
#if defined(__AVX512F__) && !IS_CHECKED
#define COLUMNS_FOR UNROLLED_FOR
#else
#define COLUMNS_FOR for
#endif
#define ROWS ND_BLOCK_ROWS
/* Sums of this many vectors of ROWS rows fit in the registers. */
#ifndef BLOCK_VECTORS
#define BLOCK_VECTORS (ND_VECTOR_BYTES == 64 ? 4 : 3)
#endif

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

/* The first and the last row of a block to which a row of input is added. The
 * code of each case is unrolled. */
#define CASES_OF_ROWS(CASE, CASE_OF_ALL) \
  CASE (0, 0)                            \
  CASE (0, 1)                            \
  CASE (0, 2)                            \
  CASE_OF_ALL (0, 3)                     \
  CASE (1, 1)                            \
  CASE (1, 2)                            \
  CASE (1, 3)                            \
  CASE (2, 2)                            \
  CASE (2, 3)                            \
  CASE (3, 3)

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
    break;
      CASES_OF_ROWS (CASE, CASE)
#undef CASE
    }
  }
}

/* 3x3 without branches. */
INLINE void
small_plane (Vector acc[ROWS][ND_BLOCK_MAX_VECTORS], guint nv,
    const NdPlane *plane, const NdReal *in, gsize row)
{
  UNROLLED_FOR (gint y = 0; y < 3 + ROWS - 1; y++)
    dense_row (acc, nv, y < 3 ? 0 : y - 2, y < ROWS ? y : ROWS - 1,
        in + y * row, plane->weights + 3 * y, 3);
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
    gsize begun_row, NdReal *out, gsize out_row)
{
  gboolean has_total = begun && planes[-1].ends_sum;
  Vector acc[ROWS][ND_BLOCK_MAX_VECTORS];

  UNROLLED_FOR (gint r = 0; r < ROWS; r++) {
    UNROLLED_FOR (guint i = 0; i < nv; i++)
      acc[r][i] = begun && !has_total
          ? load (begun + r * begun_row + i * ND_VECTOR)
          : (Vector){ 0 };
  }
  for (gint r = 0; (has_total || n_planes == 0) && r < ROWS; r++) {
    for (guint i = 0; i < nv; i++)
      *(Unaligned *) (out + r * out_row + i * ND_VECTOR) =
          begun ? load (begun + r * begun_row + i * ND_VECTOR) : (Vector){ 0 };
  }
  for (guint p = 0; p < n_planes; p++) {
    const NdPlane *plane = planes + p;
    const NdReal *in = volumes[plane->slot] + origin + plane->offset;

    /* AVX-512 is faster with the loop. */
    if (ND_VECTOR_BYTES < 64 && !IS_CHECKED && plane->nx == 3 && plane->ny == 3)
      small_plane (acc, nv, plane, in, row);
    else if (plane->nx)
      dense_plane (acc, nv, plane, in, row);
    else
      sparse_plane (acc, nv, plane, in, row);
    if (!plane->ends_sum && p + 1 < n_planes)
      continue;
    UNROLLED_FOR (gint r = 0; r < ROWS; r++) {
      UNROLLED_FOR (guint i = 0; i < nv; i++) {
        NdReal *total = out + r * out_row + i * ND_VECTOR;

        if (has_total)
          acc[r][i] += load (total);
        *(Unaligned *) total = acc[r][i];
        acc[r][i] = (Vector){ 0 };
      }
    }
    has_total = TRUE;
  }
}

/* One function for all blocks would take compilers long. */
#define DEFINE_BLOCK(n)                                                      \
  static __attribute__ ((noinline)) void block_##n (const NdPlane *planes,   \
      guint n_planes, const NdReal *const *volumes, gsize origin, gsize row, \
      const NdReal *begun, gsize begun_row, NdReal *out, gsize out_row)      \
  {                                                                          \
    block (n, planes, n_planes, volumes, origin, row, begun, begun_row, out, \
        out_row);                                                            \
  }
DEFINE_BLOCK (1)
DEFINE_BLOCK (2)
DEFINE_BLOCK (3)
#if ND_VECTOR_BYTES == 64
DEFINE_BLOCK (4)
#else
#define block_4 block_3
#endif

static void
sum_piece (const NdPlane *planes, guint n_planes, const NdReal *const *volumes,
    gsize origin, gsize row, const NdReal *begun, gsize begun_row, NdReal *out,
    gsize out_row, gsize n)
{
  gsize left = (n + ND_VECTOR - 1) / ND_VECTOR;

  while (left > 0) {
    const gsize nv = MIN (left, BLOCK_VECTORS);

#define BLOCK(n)                                                            \
  block_##n (planes, n_planes, volumes, origin, row, begun, begun_row, out, \
      out_row)
    if (nv == 4)
      BLOCK (4);
    else if (nv == 3)
      BLOCK (3);
    else if (nv == 2)
      BLOCK (2);
    else
      BLOCK (1);
#undef BLOCK
    left -= nv;
    origin += nv * ND_VECTOR;
    out += nv * ND_VECTOR;
    begun += begun ? nv * ND_VECTOR : 0;
  }
}

/* Vectors of one output row, and of ND_BLOCK_ROWS, whose sums are in registers.
 */
#define ROW_VECTORS 8
#define LINE_VECTORS BLOCK_VECTORS

INLINE void
rows_block (guint nv, const NdTaps *taps, const NdReal *const *rows, gsize x,
    NdReal *out)
{
  Vector acc[ROW_VECTORS];

  UNROLLED_FOR (guint i = 0; i < nv; i++)
    acc[i] = (Vector){ 0 };
  for (guint t = 0; t < taps->n; t++) {
    const NdReal *in = rows[t] + x;
    NdReal weight = taps->weights[t];

    UNROLLED_FOR (guint i = 0; i < nv; i++)
      acc[i] += weight * load (in + i * ND_VECTOR);
  }
  UNROLLED_FOR (guint i = 0; i < nv; i++)
    *(Unaligned *) (out + x + i * ND_VECTOR) = acc[i];
}

static void
sum_rows (const NdTaps *taps, const NdReal *const *rows, gsize n, NdReal *out)
{
  gsize x = 0;

  for (; x + (ROW_VECTORS - 1) * ND_VECTOR < n; x += ROW_VECTORS * ND_VECTOR)
    rows_block (ROW_VECTORS, taps, rows, x, out);
  for (; x + ND_VECTOR < n; x += 2 * ND_VECTOR)
    rows_block (2, taps, rows, x, out);
  if (x < n)
    rows_block (1, taps, rows, x, out);
}

INLINE void
dense_lines (Vector acc[ROWS][ND_BLOCK_MAX_VECTORS], guint nv,
    const NdTaps *taps, const NdReal *const *lines, gsize x)
{
  const NdReal *w = taps->weights;
  gint n = taps->n, y = 0;

  for (; y < n + ROWS - 1; y++) {
    gint first = y < n ? 0 : y - n + 1;
    gint last = y < ROWS ? y : ROWS - 1;

    switch (first * ROWS + last) {
#define CASE(f, l)                                     \
  case f *ROWS + l:                                    \
    dense_row (acc, nv, f, l, lines[y] + x, w + y, 1); \
    break;
#define NO_CASE(f, l)
      CASES_OF_ROWS (CASE, NO_CASE)
#undef NO_CASE
#undef CASE
      case 3:
        for (; y < n; y++)
          dense_row (acc, nv, 0, 3, lines[y] + x, w + y, 1);
        y--;
        break;
    }
  }
}

INLINE void
lines_block (guint nv, const NdTaps *taps, const NdReal *const *lines, gsize x,
    NdReal *const out[ROWS])
{
  Vector acc[ROWS][ND_BLOCK_MAX_VECTORS];

  UNROLLED_FOR (gint r = 0; r < ROWS; r++) {
    UNROLLED_FOR (guint i = 0; i < nv; i++)
      acc[r][i] = (Vector){ 0 };
  }
  if (taps->offsets) {
    for (guint t = 0; t < taps->n; t++) {
      UNROLLED_FOR (gint r = 0; r < ROWS; r++) {
        UNROLLED_FOR (guint i = 0; i < nv; i++)
          acc[r][i] += taps->weights[t]
              * load (lines[taps->offsets[t] + r] + x + i * ND_VECTOR);
      }
    }
  } else {
    dense_lines (acc, nv, taps, lines, x);
  }
  UNROLLED_FOR (gint r = 0; r < ROWS; r++) {
    UNROLLED_FOR (guint i = 0; i < nv; i++)
      *(Unaligned *) (out[r] + x + i * ND_VECTOR) = acc[r][i];
  }
}

static void
sum_lines (const NdTaps *taps, const NdReal *const *lines, gsize n,
    NdReal *const out[ROWS])
{
  gsize x = 0;

  for (; x + (LINE_VECTORS - 1) * ND_VECTOR < n; x += LINE_VECTORS * ND_VECTOR)
    lines_block (LINE_VECTORS, taps, lines, x, out);
  for (; x < n; x += ND_VECTOR)
    lines_block (1, taps, lines, x, out);
}

#include "cpu/samples_tmpl.h"

#ifdef __SSE2__
#define BASE_NAME "sse2"
#else
#define BASE_NAME "generic"
#endif

extern const NdKernels ND_TARGET_TABLE (nd_kernels);
const NdKernels ND_TARGET_TABLE (nd_kernels) = {
  .name = ND_BY_TARGET (BASE_NAME, "avx2", "avx512"),
  .vector = ND_VECTOR,
  .dense_rate = RATE (ND_BY_TARGET (16.5e9, 33e9, 52e9)),
  .sparse_rate = RATE (ND_BY_TARGET (8e9, 18e9, 20e9)),
  .sum_piece = sum_piece,
  .sum_rows = sum_rows,
  .sum_lines = sum_lines,
  .load = load_samples,
  .store = store,
};
