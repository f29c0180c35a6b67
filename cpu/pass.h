/* The factor of a separable filter along one axis.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/kernels.h"

G_BEGIN_DECLS

typedef struct
{
  NdTaps taps;
  NdReal *weights;
  gsize *offsets;
  gint low; /* of the sample at offset 0 of the taps */
} NdPass;

/* @low: of the sample that the last of the @size numbers of @factor multiplies.
 * @finite: all samples are finite; see nd_stencil_init(). */
void nd_pass_init (NdPass *pass, const gdouble *factor, gsize size, gint low,
    gboolean finite);
void nd_pass_clear (NdPass *pass);

G_END_DECLS
