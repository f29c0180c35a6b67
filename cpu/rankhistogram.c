/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/rankhistogram.h"

typedef struct
{
  guint32 *fine, *coarse; /* counts */
  guint shift;            /* bits of a bin that count in the coarse one */
  guint32 below;          /* samples before coarse bin `at` */
  guint at;
} Histogram;

/* Bins of uint8 are counted 16 together, those of int16 256. */
static guint
histogram_bits (NdKey key)
{
  return key == ND_KEY_UINT8 ? 8 : 16;
}

gsize
nd_rank_histogram_bytes (NdKey key)
{
  const guint bits = histogram_bits (key);

  if (key != ND_KEY_UINT8 && key != ND_KEY_INT16)
    return 0;
  return (((gsize) 1 << bits) + ((gsize) 1 << bits / 2)) * sizeof (guint32);
}

static inline guint
histogram_bin (NdKey key, gconstpointer row, gsize x)
{
  return key == ND_KEY_UINT8 ? ((const guint8 *) row)[x]
                             : (guint) (((const gint16 *) row)[x] - G_MININT16);
}

static inline void
count (Histogram *self, guint bin, guint32 by)
{
  self->fine[bin] += by;
  self->coarse[bin >> self->shift] += by;
  if (bin >> self->shift < self->at)
    self->below += by;
}

/* Adds the samples of all runs at @x, or takes them out. */
static inline void
count_all (Histogram *self, NdKey key, const NdFootprint *footprint,
    gconstpointer const *rows, gsize x, guint32 by)
{
  for (gsize r = 0; r < footprint->n_runs; r++) {
    const NdRankRun *run = &footprint->runs[r];

    for (gint i = run->first; i <= run->last; i++)
      count (self, histogram_bin (key, rows[r], x + i - footprint->low[0]), by);
  }
}

static inline guint
find_bin (Histogram *self, guint32 rank)
{
  guint bin;
  guint32 below;

  while (self->below > rank)
    self->below -= self->coarse[--self->at];
  while (self->below + self->coarse[self->at] <= rank)
    self->below += self->coarse[self->at++];
  below = self->below;
  for (bin = self->at << self->shift; below + self->fine[bin] <= rank; bin++)
    below += self->fine[bin];
  return bin;
}

static inline void
run_row (NdKey key, const NdFootprint *footprint, gconstpointer const *rows,
    gsize rank, gsize n, guint32 *memory, gpointer out)
{
  const guint bits = histogram_bits (key);
  Histogram self = {
    .fine = memory, .coarse = memory + ((gsize) 1 << bits), .shift = bits / 2
  };

  count_all (&self, key, footprint, rows, 0, 1);
  for (gsize x = 0; x < n; x++) {
    for (gsize r = 0; x > 0 && r < footprint->n_runs; r++) {
      const NdRankRun *run = &footprint->runs[r];
      const gsize first = x + run->first - footprint->low[0];

      count (&self, histogram_bin (key, rows[r], first - 1), -1);
      count (&self,
          histogram_bin (key, rows[r], first + (run->last - run->first)), 1);
    }
    if (key == ND_KEY_UINT8)
      ((guint8 *) out)[x] = find_bin (&self, rank);
    else
      ((gint16 *) out)[x] = (gint) find_bin (&self, rank) + G_MININT16;
  }
  count_all (&self, key, footprint, rows, n - 1, -1);
}

void
nd_rank_histogram_row (NdKey key, const NdFootprint *footprint,
    gconstpointer const *rows, gsize rank, gsize n, guint32 *histogram,
    gpointer out)
{
  if (key == ND_KEY_UINT8)
    run_row (ND_KEY_UINT8, footprint, rows, rank, n, histogram, out);
  else
    run_row (ND_KEY_INT16, footprint, rows, rank, n, histogram, out);
}
