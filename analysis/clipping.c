/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/clipping.h"

#include "analysis/denoise.h"

#include <math.h>

/* The weight of the counts of earlier volumes. */
#define MEMORY 0.8

gfloat
nd_sample_low (NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
    case ND_UINT16:
      return 0;
    case ND_INT16:
      return G_MININT16;
    case ND_FLOAT32:
    ND_CASE_NOT_COMPUTED:
      break;
  }
  return -INFINITY;
}

gfloat
nd_sample_high (NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return G_MAXUINT8;
    case ND_UINT16:
      return G_MAXUINT16;
    case ND_INT16:
      return G_MAXINT16;
    case ND_FLOAT32:
    ND_CASE_NOT_COMPUTED:
      break;
  }
  return INFINITY;
}

void
nd_clipping_reset (NdClipping *clipping)
{
  clipping->seen = clipping->expected = 0;
  clipping->is_active = FALSE;
}

void
nd_clipping_clear (NdClipping *clipping)
{
  g_clear_pointer (&clipping->table, g_free);
}

static void
fill_table (NdClipping *clipping, gdouble sigma, gfloat low, gfloat high)
{
  if (clipping->sigma == sigma && clipping->table)
    return;
  if (!clipping->table)
    clipping->table = g_new (gfloat, ND_CLIPPING_TABLE + 1);
  clipping->sigma = sigma;
  clipping->low = low;
  clipping->high = high;
  clipping->span = MIN ((high - low) / 2, 6 * sigma);
  nd_unclip_table (sigma, low, high, clipping->span, ND_CLIPPING_TABLE,
      clipping->table);
}

void
nd_clipping_add (NdClipping *clipping, gdouble seen, gdouble expected,
    gdouble sigma, gfloat low, gfloat high)
{
  clipping->seen = MEMORY * clipping->seen + seen;
  clipping->expected = MEMORY * clipping->expected + expected;
  clipping->is_active = clipping->seen > clipping->expected / 2;
  if (clipping->is_active)
    fill_table (clipping, sigma, low, high);
}
