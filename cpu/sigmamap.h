/* The standard deviation of noise that differs from place to place. It is
 * estimated in cells of 8 x 8 x 8 samples, of frames in cells of 16 x 16, from
 * the medians of |HHH| (analysis/noise.h) in the last volumes, and interpolated
 * between them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _NdSigmaMap NdSigmaMap;

/* A map of volumes of @size. @given has the value of each sample, which are
 * copied, or is NULL: they are estimated. NULL if there is not enough
 * memory. */
NdSigmaMap *nd_sigma_map_new (const gsize size[3], const gdouble *given);
void nd_sigma_map_free (NdSigmaMap *map);
gsize nd_sigma_map_bytes (const gsize size[3]);

/* Forgets what was estimated. */
void nd_sigma_map_reset (NdSigmaMap *map);

/* Measures volume number @position, from 0 on. */
void nd_sigma_map_add (NdSigmaMap *map, const gfloat *volume, gint64 position);

/* Makes the map from the last of @n volumes. TRUE if it is now another one: its
 * cells were 0, or differ by more than @tolerance, the root mean square of the
 * relative difference. */
gboolean nd_sigma_map_update (NdSigmaMap *map, gint64 n, gdouble tolerance);

/* The root mean square of the values; 0 if there is no noise. */
gdouble nd_sigma_map_level (const NdSigmaMap *map);

/* 1 - the relative deviation of the cells from one volume to another, divided
 * by the root of the number of volumes; 1 if the map was given. */
gdouble nd_sigma_map_certainty (const NdSigmaMap *map);

/* The values: a volume. */
const gfloat *nd_sigma_map_values (const NdSigmaMap *map);

G_END_DECLS
