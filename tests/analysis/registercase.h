/* Volumes of a head whose motion is known: soft ellipsoids, which are computed
 * at the moved positions, so that nothing is interpolated.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/register.h"

#define REGISTER_CASE_ELLIPSOIDS 40

typedef struct
{
  gsize size[3];
  gdouble spacing[3]; /* mm */
  /* From mm from the centre of the volume: */
  NdAffine ellipsoids[REGISTER_CASE_ELLIPSOIDS];
  gdouble grey[REGISTER_CASE_ELLIPSOIDS];
} RegisterCase;

/* Volumes of @size samples with @spacing; a frame has size[2] = 1. */
void register_case_init (RegisterCase *c, const gsize size[3],
    const gdouble spacing[3], GRand *rand);

/* A random motion: translations up to @mm along each axis, rotations up to
 * @degrees around a random axis. In frames it stays in the plane. */
NdAffine register_case_motion (const RegisterCase *c, gdouble mm,
    gdouble degrees, GRand *rand);

typedef struct
{
  gdouble noise, gain, bias; /* @bias: of the gain, from end to end */
} RegisterCaseChange;

/* The volume in which position x of the head is at @motion (x). @change may be
 * NULL. It has @room more floats. Greys are 0 to about 255. */
gfloat *register_case_volume (const RegisterCase *c, const NdAffine *motion,
    const RegisterCaseChange *change, GRand *rand, gsize room);

/* The mean distance between the two motions, in mm, over the head. */
gdouble register_case_error (const RegisterCase *c, const NdAffine *a,
    const NdAffine *b);

/* The seed is printed; ND_SEED sets another. */
GRand *register_case_rand (guint32 seed);
