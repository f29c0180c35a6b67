/* What a probe sees of a body with known contents, in beam space: greys, RF and
 * IQ.
 *
 * The grey at a place is 100 and the sum of a exp (-d^2 / (2 s^2)) over all
 * targets, with d the distance to the target. The amplitude A of RF and IQ is
 * 60 dB below the full scale at grey 0, and the full scale at 255: ndbmode
 * gives the grey again. IQ is A ((1 - k) + k u) with k = noise, up to 1, and u
 * speckle of power 1; RF is its real part times exp (i pi x / 2).
 *
 * A frame is a sector of 72 degrees, a volume 72 by 72 degrees, both 120 mm
 * deep.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/beams.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble place[3]; /* mm */
  gdouble s, a;
} NdBeamTarget;

#define ND_BEAM_TARGETS 7
extern const NdBeamTarget nd_beam_targets[ND_BEAM_TARGETS];

/* The grey, 0 to 255, at a place. */
gdouble nd_beams_grey (const gdouble place[3]);

/* The geometry of volumes of @size samples: depth, lateral, elevation. */
void nd_beams_geometry (const gsize size[3], NdBeams *beams);

/* The greys of the beam (@y, @z) of @space, which has size[0] samples. */
void nd_beams_row (const NdBeamSpace *space, gsize n, gsize y, gsize z,
    gfloat *row);

/* Turns the greys of a beam to IQ, n pairs, in place. @key: the first of the
 * random numbers of the volume, @height: beams of a plane. */
void nd_beams_iq (gsize n, gsize y, gsize z, gsize height, gdouble noise,
    guint64 key, gfloat *row);

G_END_DECLS
