/* Inner loops of order statistics, compiled once for each instruction set.
 *
 * Samples are sorted as keys, integers in the same order: uint8 is its own key,
 * int16 and uint16 have int16, float32 and float64 int32 and int64. The key of
 * NaN is the largest one, and that of -0 comes before that of 0.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/rankprogram.h"

G_BEGIN_DECLS

typedef enum
{
  ND_KEY_UINT8,
  ND_KEY_INT16,
  ND_KEY_INT32,
  ND_KEY_INT64
} NdKey;

#define ND_KEY_END 4

/* Rows of inputs have memory for this many bytes more, and scratch memory is
 * aligned to it: whole vectors are read and written. */
#define ND_RANK_ROOM 64

/* The keys of samples that nd_sample_computed() gives, and their bytes. */
NdKey nd_rank_key (NdSampleType type);
gsize nd_rank_key_size (NdKey key);

typedef struct
{
  /* Runs @program for @n samples; @inputs are its rows from the first sample
   * on. Rows of @scratch are @pitch bytes apart, which are n + program->extra
   * keys and ND_RANK_ROOM. Returns the row of the output, in @scratch or an
   * input. */
  gconstpointer (*run) (const NdRankProgram *program,
      gconstpointer const *inputs, gsize n, guint8 *scratch, gsize pitch);

  /* out[i] = the key at @rank of rows[r][i], 0 <= r < n_rows, found bit by bit:
   * for keys of 32 and 64 bits, otherwise NULL. Writes whole vectors. */
  void (*select) (gconstpointer const *rows, gsize n_rows, gsize rank, gsize n,
      gpointer out);
} NdRankKernel;

/* Counts of a column of uint8, of 2 bytes each: 16 of coarse bins, and 16 of
 * the values of each coarse bin. */
#define ND_RANK_COLUMN (17 * 16)

/* The most samples of a window of columns. */
#define ND_RANK_MAX_COUNT 32767

typedef struct
{
  NdRankKernel keys[ND_KEY_END];

  /* Add @n samples to the counts of as many columns, or take them out; and
   * write the sample at @rank of each window of @width columns. */
  void (*count_columns) (guint16 *columns, const guint8 *row, gsize n,
      gboolean adds);
  void (*sort_columns) (const guint16 *columns, gsize width, gsize rank,
      gsize n, guint8 *out);

  /* Convert @n samples that are @step bytes apart to keys and back. */
  void (*load) (const guint8 *in, gsize step, gsize n, NdSampleType type,
      gpointer out);
  void (*store) (gconstpointer keys, gsize n, NdSampleType type, guint8 *out,
      gsize step);
} NdRankKernels;

/* The kernels for the instruction set that nd_kernels() chooses. */
const NdRankKernels *nd_rank_kernels (void);

G_END_DECLS
