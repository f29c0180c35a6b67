/* Local structure and velocity of a stream of tensors, on the CPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/algorithm.h"

G_BEGIN_DECLS

/* NdAlgorithmFuncs.structure_new(). */
NdAlgorithm *nd_cpu_structure_new (const NdStructureSettings *settings,
    const NdShape *shape, gint device_id, GError **error);

G_END_DECLS
