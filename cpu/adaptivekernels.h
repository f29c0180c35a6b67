/* Inner loops of adaptive filtering, compiled once for each instruction set.
 * Rows are floats, one after another.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_MEDIAN_MAX 81

/* NdAdaptiveRemap in single precision, with derived factors. */
typedef struct
{
  guint axes;
  gfloat scale; /* of the eigenvalues */
  gfloat floor, min_value;
  gfloat m_beta, m_power, m_root; /* m_power = beta + alpha, m_root = 1 / j */
  gfloat m_sigma;                 /* to the power of beta */
  gfloat keep;                    /* ND_ADAPTIVE_KEEP m_sigma, likewise */
  gfloat mu_alpha, mu_beta, mu_root;
} NdAdaptiveControl;

typedef struct
{
  /* The sum of @n_in rows times @weights. */
  void (*sum) (guint n_in, const gfloat *const *in, const gfloat *weights,
      gfloat *out, gsize n);

  /* T = scale^2 (H H^T + gradient b b^T). @h and @out have the components of a
   * tensor over @axes, @b has @axes rows. */
  void (*tensor) (guint axes, const gfloat *const *h, const gfloat *const *b,
      gfloat scale, gfloat gradient, gfloat *const *out, gsize n);

  /* Adds low - above and the inner product of the control tensor of @tensor
   * and H to @out. (above - low - trace H) / axes is added to the diagonal of
   * H before. */
  void (*control) (const NdAdaptiveControl *control,
      const gfloat *const *tensor, const gfloat *const *h, const gfloat *above,
      const gfloat *low, gfloat *out, gsize n);

  /* The medians of @n_in rows, an odd number up to ND_MEDIAN_MAX. NaN counts as
   * larger than numbers, or smaller if its sign is set. */
  void (*median) (guint n_in, const gfloat *const *in, gfloat *out, gsize n);
} NdAdaptiveKernels;

/* The kernels for the instruction set that nd_kernels() chooses. */
const NdAdaptiveKernels *nd_adaptive_kernels (void);

G_END_DECLS
