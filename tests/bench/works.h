/* The works that ndbench measures.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/convert.h"
#include "core/shape.h"

typedef struct
{
  const gchar *work;
  gsize size[3];         /* samples of a volume */
  gsize filter[ND_AXES]; /* taps */
  NdSampleType type;
  enum
  {
    ON_CPU,
    ON_GPU,
    ON_BOTH,
    ON_SEVERAL /* with --devices */
  } where;
  gboolean separable;    /* Gaussians, otherwise random coefficients */
  guint n_filters;       /* 0: one */
  const gchar *response; /* of pairs of the filters, or tensor of monomials;
                          * NULL: each response */
  guint outputs;         /* buffers that responses are stored in; 0: one */
} Work;

extern const Work works[];
extern const guint n_works;
