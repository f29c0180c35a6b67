/* The outputs of a random job: their places in memory and their comparison.
 * checkmethods.c lists the bounds.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tests/methods/randomcase.h"

#define GUARD 256
#define OUTPUTS 5 /* that a module computes in a row */
#define KINDS 3   /* of these outputs */

/* If there are several outputs, output i has this kind: kind 1 is of another
 * volume, and kind 2 has another scale. */
extern const guint output_kinds[OUTPUTS];

guint output_volume (const Case *c, guint i);
NdScale output_scale (const Case *c, guint i);

/* The offset of output @i, if each has @bytes. */
gsize output_at (guint i, gsize bytes);

/* The first output in memory, at NULL: samples after its rows and its slices
 * must not change. */
NdSamples outputs_place (const Case *c, const NdJob *job);
gsize outputs_bytes (const NdSamples *place, const NdJob *job);

/* Memory for all of them, with a guard band before, between and after. */
guint8 *outputs_new (const Case *c, const NdJob *job);

/* Checks guard bands and samples after rows and slices. Returns the outputs
 * without these samples, with @bytes each, and frees @memory. */
guint8 *outputs_pack (const Case *c, const NdJob *job, guint8 *memory,
    gsize *bytes);

/* Whether the outputs of @method are those of the reference, @want, which has
 * one of each kind, within the bounds. @largest: max (|w| conv |x|). */
gboolean outputs_compare (const Case *c, NdMethod method, const guint8 *got,
    const guint8 *want, gsize bytes, gdouble largest);

/* Whether all samples of all outputs are equal; NaN equals NaN. */
gboolean outputs_are_equal (const Case *c, const guint8 *got,
    const guint8 *want, gsize bytes);
