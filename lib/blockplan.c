/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/memory.h"
#include "engine/window.h"
#include "lib/private.h"

static gboolean
round_up (const gsize size[ND_AXES], const gsize block[ND_AXES],
    const gsize *chunk, gsize rounded[ND_AXES], GError **error)
{
  for (guint a = 0; a < ND_AXES; a++) {
    const gsize step = chunk ? chunk[a] : 1;

    if (size[a] == 0 || size[a] > G_MAXINT64 / 2 || block[a] == 0
        || step == 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "Along %c the array has %" G_GSIZE_FORMAT " samples, a block "
          "%" G_GSIZE_FORMAT ", a chunk %" G_GSIZE_FORMAT
          "; each must be 1 or more, and an array has at most 2^62 samples "
          "along an axis",
          "xyzt"[a], size[a], block[a], step);
      return FALSE;
    }
    rounded[a] = MIN (block[a], size[a]);
    if (rounded[a] % step > 0)
      rounded[a] += step - rounded[a] % step;
    rounded[a] = MIN (rounded[a], size[a]);
  }
  return TRUE;
}

NdBlock *
nd_plan_blocks (const NdFilters *filters, const NdSettings *settings,
    const gsize size[4], const gsize block[4], const gsize *chunk, gsize *n,
    GError **error)
{
  const NdSettings *s = nd_settings_or_default (settings);
  gint low[ND_AXES], high[ND_AXES];
  gsize rounded[ND_AXES];
  NdBlock *blocks;

  *n = 0;
  if (!round_up (size, block, chunk, rounded, error))
    return NULL;
  nd_bank_reach (filters->bank, low, high);
  *n = nd_blocks_count (size, rounded);
  blocks = g_try_malloc_n (*n, sizeof (NdBlock));
  if (!blocks) {
    nd_memory_set_error (error, nd_size_mul (*n, sizeof (NdBlock), 1));
    *n = 0;
    return NULL;
  }
  for (gsize i = 0; i < *n; i++) {
    NdBox out, in;

    nd_blocks_get (i, size, rounded, low, high, s->conv.border,
        s->conv.time_border, &out, &in);
    for (guint a = 0; a < ND_AXES; a++) {
      blocks[i].out_start[a] = out.start[a];
      blocks[i].out_size[a] = out.size[a];
      blocks[i].in_start[a] = in.start[a];
      blocks[i].in_size[a] = in.size[a];
    }
  }
  return blocks;
}

gboolean
nd_border_get_indices (const gchar *border, gsize size, gssize first, gsize n,
    gssize *indices, GError **error)
{
  g_autoptr (NdSettings) settings = nd_settings_new ();

  if (!nd_settings_set (settings, "border", border, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    indices[i] =
        nd_border_index (settings->conv.border, first + (gssize) i, size);
  return TRUE;
}
