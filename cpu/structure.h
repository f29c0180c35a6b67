/* Local structure and velocity of a stream of tensors, on the CPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/structure.h"
#include "engine/algorithm.h"

G_BEGIN_DECLS

#define ND_MAX_STRUCTURES 6

typedef struct
{
  NdStructure structures[ND_MAX_STRUCTURES]; /* in the order of the output */
  guint n_structures;
  NdMotion model;
  gdouble sigma;    /* of the window, samples and volumes; 0: no window */
  gdouble speed[3]; /* factors of the velocity along x, y and z */
} NdStructureSettings;

/* The components of the output for a tensor over @axes. */
guint nd_structure_output_components (const NdStructureSettings *settings,
    guint axes);

/* The number of volumes before, and after, its anchor that an output reads. */
guint nd_structure_reach (const NdStructureSettings *settings);

/* @shape has 3, 6 or 10 components: tensors of float32. The output is float32.
 * ND_ERROR_MEMORY if the window does not fit in memory. */
NdAlgorithm *nd_cpu_structure_new (const NdStructureSettings *settings,
    const NdShape *shape, GError **error);

gsize nd_cpu_structure_bytes (const NdAlgorithm *self);

G_END_DECLS
