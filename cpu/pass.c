/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/pass.h"

#include "cpu/stencil.h"

/* The taps are flipped and have no zeros at their ends. Zeros between them stay
 * only if samples are finite, because 0 * Inf is NaN. */
void
nd_pass_init (NdPass *pass, const gdouble *factor, gsize size, gint low,
    gboolean finite)
{
  gsize first = 0, end = size, n = 0;
  gboolean dense;

  while (end > 0 && factor[size - end] == 0)
    end--;
  while (first < end && factor[size - 1 - first] == 0)
    first++;
  for (gsize i = first; i < end; i++)
    n += factor[size - 1 - i] != 0;
  dense = n == end - first || (finite && n >= ND_DENSE_SHARE * (end - first));
  pass->low = low + (gint) first;
  pass->weights = g_new (NdReal, end - first);
  pass->offsets = dense ? NULL : g_new (gsize, n);
  pass->taps.span = end - first;
  pass->taps.weights = pass->weights;
  pass->taps.offsets = pass->offsets;
  for (gsize i = first; i < end; i++) {
    const gdouble w = factor[size - 1 - i];

    if (!dense && w == 0)
      continue;
    if (!dense)
      pass->offsets[pass->taps.n] = i - first;
    pass->weights[pass->taps.n++] = w;
  }
}

void
nd_pass_clear (NdPass *pass)
{
  g_clear_pointer (&pass->weights, g_free);
  g_clear_pointer (&pass->offsets, g_free);
}
