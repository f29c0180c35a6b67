/* Medians of uint8 in large boxes: a histogram of each column, and their sum
 * over a window (S. Perreault, P. Hebert, "Median Filtering in Constant Time",
 * IEEE Trans. Image Process. 16(9), 2007). Counts are cumulative: of samples up
 * to the end of each coarse bin, and of those of a coarse bin up to each of its
 * 16 values. A sample changes two vectors, and a comparison finds a bin
 * without branches. Included by cpu/rankkernels.c only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

#define BINS 16

typedef guint16 Counts __attribute__ ((vector_size (2 * BINS)));
typedef guint16 CountsMemory
    __attribute__ ((vector_size (2 * BINS), aligned (2), may_alias));

/* 1 from bin i on. */
static const guint16 from_bin[BINS][BINS] = {
#define ROW(i)                                                              \
  { i <= 0, i <= 1, i <= 2, i <= 3, i <= 4, i <= 5, i <= 6, i <= 7, i <= 8, \
    i <= 9, i <= 10, i <= 11, i <= 12, i <= 13, i <= 14, i <= 15 }
  ROW (0), ROW (1), ROW (2), ROW (3), ROW (4), ROW (5), ROW (6), ROW (7),
  ROW (8), ROW (9), ROW (10), ROW (11), ROW (12), ROW (13), ROW (14), ROW (15)
#undef ROW
};

/* The number of counts that are at most @rank; both are below 2^15. */
static inline guint
count_up_to (Counts counts, gint16 rank)
{
#if defined(__AVX2__)
  const __m256i above =
      _mm256_cmpgt_epi16 ((__m256i) counts, _mm256_set1_epi16 (rank));

  return BINS - __builtin_popcount (_mm256_movemask_epi8 (above)) / 2;
#else
  guint n = 0;

  for (guint i = 0; i < BINS; i++)
    n += counts[i] <= rank;
  return n;
#endif
}

/* Adds the samples of @row to @columns, or takes them out. */
static void
count_columns (guint16 *columns, const guint8 *row, gsize n, gboolean adds)
{
  for (gsize x = 0; x < n; x++) {
    guint16 *column = columns + x * ND_RANK_COLUMN;
    const guint bin = row[x] / BINS;
    CountsMemory *coarse = (CountsMemory *) column;
    CountsMemory *fine = (CountsMemory *) (column + (1 + bin) * BINS);
    const Counts of_bin = *(const CountsMemory *) from_bin[bin];
    const Counts of_value = *(const CountsMemory *) from_bin[row[x] % BINS];

    *coarse = adds ? *coarse + of_bin : *coarse - of_bin;
    *fine = adds ? *fine + of_value : *fine - of_value;
  }
}

static inline Counts
counts_at (const guint16 *columns, gsize x, guint which)
{
  return *(const CountsMemory *) (columns + x * ND_RANK_COLUMN + which * BINS);
}

/* Brings the counts of one coarse bin from position @from to @x. */
static inline Counts
move_window (const guint16 *columns, gsize width, guint which, Counts counts,
    gssize from, gsize x)
{
  if (from < 0 || 2 * (x - from) > width) {
    counts = (Counts){};
    for (gsize i = 0; i < width; i++)
      counts += counts_at (columns, x + i, which);
    return counts;
  }
  for (gsize i = from; i < x; i++)
    counts +=
        counts_at (columns, i + width, which) - counts_at (columns, i, which);
  return counts;
}

static void
sort_columns (const guint16 *columns, gsize width, gsize rank, gsize n,
    guint8 *out)
{
  Counts coarse = {}, fine[BINS];
  gssize at[BINS]; /* the positions of the fine counts; -1: none */

  for (guint i = 0; i < BINS; i++)
    at[i] = -1;
  for (gsize x = 0; x < n; x++) {
    guint bin, below;

    coarse = move_window (columns, width, 0, coarse, (gssize) x - 1, x);
    bin = count_up_to (coarse, rank);
    below = bin > 0 ? coarse[bin - 1] : 0;
    fine[bin] = move_window (columns, width, 1 + bin, fine[bin], at[bin], x);
    at[bin] = x;
    out[x] = bin * BINS + count_up_to (fine[bin], rank - below);
  }
}
