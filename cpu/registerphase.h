/* The phase of quadrature filters in the reference and in a volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/registersums.h"

G_BEGIN_DECLS

typedef struct _NdRegisterPhase NdRegisterPhase;

/* NULL if there is not enough memory. @plan and @pyramid, whose scratch it uses
 * for filters, must outlive it. Later calls run on no more threads than this
 * one. */
NdRegisterPhase *nd_register_phase_new (const NdRegisterPlan *plan,
    const NdRegisterPyramid *pyramid);
void nd_register_phase_free (NdRegisterPhase *phase); /* NULL is allowed */

/* The bytes of its volumes, without making it. */
gsize nd_register_phase_bytes (const NdRegisterPlan *plan);

/* Makes @samples, minus @offset, the reference. */
void nd_register_phase_set_reference (NdRegisterPhase *phase,
    const gfloat *samples, gdouble offset);

/* Makes @samples, minus the offset of the reference, the volume that is
 * measured. */
void nd_register_phase_set_volume (NdRegisterPhase *phase,
    const gfloat *samples);

/* An NdRegisterMeasure for the finest level. The result does not depend on the
 * number of threads. */
void nd_register_phase_measure (gpointer phase, guint level,
    const NdAffine *map, NdRegisterSums *sums);

G_END_DECLS
