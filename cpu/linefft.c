/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/linefft.h"

#include "core/memory.h"

#include <math.h>

/* exp (-2 pi i k / n), or its conjugate. */
static void
make_root (gsize k, gsize n, gboolean inverse, NdReal *root)
{
  const gdouble angle = 2 * G_PI * ((gdouble) (k % n) / n);

  root[0] = cos (angle);
  root[1] = inverse ? sin (angle) : -sin (angle);
}

NdLineFft *
nd_line_fft_new (gsize n, gboolean inverse, GError **error)
{
  /* The last step, which reads lines with a stride, has the best radix. */
  static const guint radixes[] = { 2, 5, 3, 4 };
  NdLineFft *fft = g_new0 (NdLineFft, 1);

  fft->n = n;
  fft->inverse = inverse;
  while (n > 1) {
    NdLineStep *step = &fft->steps[fft->n_steps++];

    for (guint i = 0; i < G_N_ELEMENTS (radixes) && step->radix == 0; i++)
      if (n % radixes[i] == 0 && (radixes[i] != 2 || n % 4 != 0 || n == 2))
        step->radix = radixes[i];
    g_return_val_if_fail (step->radix != 0, fft);
    step->m = n / step->radix;
    step->twiddles =
        nd_memory_new (2 * step->m * (step->radix - 1), sizeof (NdReal), error);
    if (!step->twiddles) {
      nd_line_fft_free (fft);
      return NULL;
    }
    for (gsize k = 0; k < step->m; k++)
      for (guint i = 1; i < step->radix; i++)
        make_root (i * k, n, inverse,
            step->twiddles + 2 * (k * (step->radix - 1) + i - 1));
    n = step->m;
  }
  return fft;
}

NdLineFft *
nd_line_fft_new_real (gsize n, gboolean inverse, GError **error)
{
  NdLineFft *fft = nd_line_fft_new (n / 2, inverse, error);

  if (!fft)
    return NULL;
  fft->separate = nd_memory_new (n, sizeof (NdReal), error);
  if (!fft->separate) {
    nd_line_fft_free (fft);
    return NULL;
  }
  for (gsize k = 0; k < n / 2; k++)
    make_root (k, n, inverse, fft->separate + 2 * k);
  return fft;
}

void
nd_line_fft_free (NdLineFft *fft)
{
  for (guint s = 0; fft && s < fft->n_steps; s++)
    g_free (fft->steps[s].twiddles);
  if (fft)
    g_free (fft->separate);
  g_free (fft);
}
