/* The parts of the program checkanalysis.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Compares structure and velocity with those of the CPU. */
gboolean check_structure (gint job, GRand *r);

/* Compares the measures of single tensors with those that are known, also on
 * the CPU. */
gboolean check_tensors (gint job, GRand *r);

/* Prints the times of all algorithms, or only of ndstructure, and only of
 * volumes of @size samples along each axis if that is not negative. */
void bench_analysis (gint size, gboolean only_structure);

G_END_DECLS
