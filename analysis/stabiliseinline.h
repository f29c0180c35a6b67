/* The functions of analysis/stabilise.h of one sample, for the host and,
 * compiled by nvcc, for a device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/stabilise.h"
#include "core/inline.h"

#include <math.h>

/* sqrt (3 / 2) */
#define ND_ANSCOMBE_ROOT 1.2247448713915889f

/* A comparison that is false for NaN lets it pass. */
ND_INLINE gfloat
nd_inline_anscombe (gfloat x, gfloat gain, gfloat constant)
{
  const gfloat inside = gain * x + .375f * gain * gain + constant;

  return inside < 0 ? 0 : 2 / gain * sqrtf (inside);
}

/* Means below that of no counts are of no counts. */
ND_INLINE gfloat
nd_inline_unanscombe (gfloat d, gfloat gain, gfloat constant)
{
  const gfloat u = 1 / (d < ND_ANSCOMBE_ROOT ? ND_ANSCOMBE_ROOT : d);
  const gfloat square = d < ND_ANSCOMBE_ROOT ? 1.5f : d * d;
  const gfloat tail = u
      * (.25f * ND_ANSCOMBE_ROOT - u * (1.375f - u * .625f * ND_ANSCOMBE_ROOT));

  return gain * (.25f * square + tail - .125f) - constant / gain;
}

/* @at is a fraction of the table. */
ND_INLINE gfloat
nd_inline_rice_look_up (const gfloat *table, gfloat at)
{
  const gfloat where = at * ND_RICE_STEPS;
  const guint i = where < ND_RICE_STEPS - 1 ? (guint) where : ND_RICE_STEPS - 1;

  return table[i] + (where - i) * (table[i + 1] - table[i]);
}

/* A magnitude is not negative. */
ND_INLINE gfloat
nd_inline_rice (const NdRiceTables *rice, gfloat x, gfloat sigma)
{
  const gfloat u = x < 0 ? 0 : x / sigma;

  if (u < (gfloat) ND_RICE_END)
    return nd_inline_rice_look_up (rice->forward, u / (gfloat) ND_RICE_END);
  return u - .25f / u;
}

ND_INLINE gfloat
nd_inline_unrice (const NdRiceTables *rice, gfloat u, gfloat sigma)
{
  if (u <= rice->least)
    return 0;
  if (u < rice->most)
    return sigma
        * sqrtf (nd_inline_rice_look_up (rice->squares,
            (u - rice->least) / (rice->most - rice->least)));
  return sigma * .5f * (u + sqrtf (u * u - 1));
}
