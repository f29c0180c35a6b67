/* Test volumes. The samples of volume n depend only on the settings and n. In
 * the formulas, x, y, z are the indices of a sample, X, Y, Z the sizes, c is
 * the component and C the number of components.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/beams.h"
#include "core/geometry.h"
#include "core/shape.h"

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  /* see phantom/phantom.h; black is 0, white is 255 (uint8, float32), 32767
   * (int16) or 65535 (uint16); all components are equal */
  ND_PATTERN_HEART,
  /* h = nd_hash (nd_hash_volume (seed, n) + ((z Y + y) X + x) C + c), see
   * phantom/phantom.h: the highest 8 (uint8) or 16 bits (uint16; int16 less
   * 32768), or
   * the highest 24 bits / 2^24 (float32) */
  ND_PATTERN_NOISE,
  /* (c + x + y + z + n) modulo 256 (uint8), 65536 (uint16), 32768 (int16),
   * 2^24 (float32) */
  ND_PATTERN_RAMP,
  /* value at (X/2, Y/2, Z/2) if n modulo period is period/2, otherwise 0 */
  ND_PATTERN_IMPULSE,
  ND_PATTERN_CONSTANT,
  /* Bright tubes, see phantom/pattern.h, that do not move; noise as above,
   * times `noise`, is multiplied. White is as for the heart, and all
   * components are equal. */
  ND_PATTERN_VESSELS,
  /* The velocity of the heart: nd_phantom_velocity_row(). Float types, 4
   * components. */
  ND_PATTERN_HEART_VELOCITY,
  /* See phantom/beams.h: greys, RF of 1 and IQ of 2 components, which are
   * the same in all volumes. White is as for the heart; the full scale of RF
   * and IQ is 1 (floats), or the amplitude that the type holds around 0, of
   * unsigned types around the middle. */
  ND_PATTERN_BEAMS,
  ND_PATTERN_RF,
  ND_PATTERN_IQ
} NdPatternKind;

typedef struct
{
  NdPatternKind kind;
  NdSampleType type;
  NdShape shape;
  gint rate_n, rate_d; /* volumes per second, above 0 */
  guint64 seed;
  gdouble noise;      /* heart, vessels, RF, IQ: 1 is usual, 0 none */
  gdouble heart_rate; /* beats per minute */
  gdouble value;      /* impulse and constant; integers: rounded */
  guint period;       /* impulse: volumes, 1 or more */
} NdPatternSettings;

typedef struct _NdPattern NdPattern;

/* ND_ERROR_SETTINGS if the type cannot represent the value or the pattern, or
 * the pattern has other components, ND_ERROR_MEMORY. */
NdPattern *nd_pattern_new (const NdPatternSettings *settings, GError **error);
void nd_pattern_free (NdPattern *pattern);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdPattern, nd_pattern_free)

/* The geometry of the volumes: nd_phantom_geometry(), or spacing 1 mm and
 * origin 0. */
void nd_pattern_geometry (const NdPatternSettings *settings,
    NdGeometry *geometry);

/* The geometry of the beams as the text of core/beams.h; "" for patterns that
 * have none. */
void nd_pattern_beams (const NdPatternSettings *settings,
    gchar text[ND_BEAMS_TEXT]);

/* Writes all samples of volume @n to @data, aligned for their type. */
void nd_pattern_volume (NdPattern *pattern, guint64 n, gpointer data);

/* Bright tubes with known middle lines, for filters that find lines.
 *
 * Positions go from -1 to 1 along the shortest axis and as far, in the same
 * unit, along the others. Tube i has its middle line at
 *
 *   x = a sin (f z + p), y = b sin (g z + q)
 *
 * and the value 40 + 200 exp (-2 (d / r)^2) at the distance d from it; the
 * greatest value of all tubes counts. */

typedef struct
{
  gdouble a, f, p, b, g, q; /* above */
  gdouble radius;
} NdVessel;

#define ND_VESSELS 5
extern const NdVessel nd_vessels[ND_VESSELS];

/* The row (@y, @z) of a volume of @size, from 0 to 255. Values are multiplied
 * by 1 + 0.4 @noise u with u from -1 to 1, from the random numbers that begin
 * at @key. */
void nd_vessels_row (const gsize size[3], gdouble noise, guint64 key, gsize y,
    gsize z, gfloat *row);

G_END_DECLS
