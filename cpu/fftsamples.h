/* The input and the filters of method `fft`, and how its errors stay as small
 * as float32 allows.
 *
 * Rounding errors grow with the values that are transformed: a constant near
 * the mean, the level, is subtracted from the samples, and its response, which
 * is known, is added to the output. A single sample that is not finite would
 * make the whole spectrum NaN: such samples are replaced by the level, and
 * their responses are added to the outputs that read them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/list.h"
#include "cpu/fftkernels.h"
#include "cpu/pad.h"
#include "engine/job.h"

G_BEGIN_DECLS

/* One component of a volume in the ring. */
typedef struct
{
  NdReal level; /* subtracted from the samples */

  /* Samples left out, of each padded row that ever had some: [z][y]. NULL for
   * integers. */
  NdList **non_finite;
  gint *planes; /* whether padded plane z has some */
  gint has_non_finite;
} NdFftSlot;

typedef struct
{
  NdJob job;
  NdReach reach;
  NdPad pad;
  guint n_slots;

  /* Volumes of coefficients at time offset reach.low[T] + t, and their sums:
   * [filter][t]. NULL if the coefficients at that time are all zero or the
   * filter does not extend that far. */
  const gdouble **coefficients;
  gdouble *sums;
  guint n_spectra; /* volumes that are not NULL */

  NdFftSlot *slots; /* [slot][component] */
  NdList **rows;    /* NdFftSlot.non_finite of all slots */
  gint *planes;     /* NdFftSlot.planes of all slots */
  NdReal *row;      /* a padded row, of the thread that pushes */
  gint no_memory;   /* for samples left out, since the last begin */
} NdFftSamples;

/* NdFftSamples.n_spectra of the job. */
guint nd_fft_count_spectra (const NdJob *job, const NdReach *reach);

/* ND_ERROR_MEMORY if there is not enough memory. @samples may be zeroed and
 * cleared without this call. */
gboolean nd_fft_samples_init (NdFftSamples *samples, const NdJob *job,
    const NdRingOptions *options, GError **error);
void nd_fft_samples_clear (NdFftSamples *samples);
gsize nd_fft_samples_bytes (const NdFftSamples *samples);

/* Writes row (y, z) of the coefficients of @filter at time @t as samples to
 * transform, circularly in @size, times @scale. The coefficient that reads
 * offset d is at index low - d, so that output i is at index i. */
void nd_fft_filter_row (const NdFftSamples *samples, guint filter, guint t,
    const gsize size[3], gdouble scale, gsize y, gsize z, NdReal *row);

/* Begins the next volume of a slot, and finds its level. */
NdFftSlot *nd_fft_samples_begin (NdFftSamples *samples, guint slot,
    const NdSamples *volume, gsize component);

/* Writes padded row (y, z), pad.size[0] floats, without the level and without
 * samples that are not finite, which it lists. Several threads may call it, for
 * different rows. */
void nd_fft_samples_row (NdFftSamples *samples, NdFftSlot *slot,
    const NdSamples *volume, gsize component, gsize y, gsize z, NdReal *row);

/* After all rows. FALSE with ND_ERROR_MEMORY if samples that are not finite
 * were too many for the memory. */
gboolean nd_fft_samples_end (NdFftSamples *samples, GError **error);

/* The slots that an output reads: index in @slots, see respond() of the back
 * end. */
guint nd_fft_slot (const NdFftSamples *samples, const gint *slots, guint t);

/* Returns the number to add to all outputs of @filter. Sets whether its window
 * has samples that are not finite. */
NdReal nd_fft_level (const NdFftSamples *samples, const gint *slots,
    gsize component, guint filter, gboolean *non_finite);

/* Adds the responses of @filter to such samples to outputs (x, y, z) to
 * (x + n - 1, y, z). */
void nd_fft_add_non_finite (const NdFftSamples *samples, const gint *slots,
    gsize component, guint filter, NdReal *row, gsize n, gsize x, gsize y,
    gsize z);

/* How method `fft` cuts a padded volume into blocks. */

typedef struct
{
  const NdFftBlock *block;
  gsize kept[3];  /* outputs of a block */
  gsize count[3]; /* blocks */
  gsize blocks;   /* of a volume */
  gsize pairs;
} NdFftGrid;

/* Chooses volumes or planes. Returns the estimated seconds per volume, or
 * INFINITY if the filters are too large for blocks. */
gdouble nd_fft_grid_choose (NdFftGrid *grid, const NdJob *job);

/* The first output of block @i. If the number of blocks is odd, the last pair
 * is the last block twice. */
void nd_fft_grid_origin (const NdFftGrid *grid, gsize i, gsize origin[3]);

G_END_DECLS
