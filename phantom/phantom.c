/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "phantom/phantom.h"

#include "core/error.h"
#include "phantom/hash.h"

#include <math.h>
#include <string.h>

/* The cube and the pyramid in it, in mm from the origin of the beams. */
#define FIELD 160.0
#define TOP 10.0
#define DEPTH 136.0
#define FACE 4.0
#define SLOPE 0.7265 /* tangent of half the opening angle */

/* Left ventricle: centre, half axes of the cavity at end diastole, direction
 * of the long axis from apex to base, and the plane of the mitral valve. */
#define LV_X 12.0
#define LV_Y 62.0
#define LV_SHORT 21.0
#define LV_LONG 42.0
#define LV_SIN 0.139
#define LV_COS 0.990
#define LV_BASE 26.0
#define WALL 1.40 /* radius of the outside of the wall; the inside is 1 */

#define EJECTION 0.60 /* fraction of the cavity's volume */
#define APEX_FIX 5.5  /* mm; compensates the motion of the apex */

#define RANGE_DB 60.0

/* The largest size of the stored volume of scatterers at end diastole. */
#define REFERENCE_MAX 192

/* Motion depends only on time and rho^2, so that each volume has a table of
 * it. */
#define MOTION_STEPS 8192
#define MOTION_RANGE 64.0

#define NOISE_PERIOD 8192

typedef struct
{
  gfloat scale; /* of the distance from the centre */
  gfloat shift; /* mm along the long axis */
} Motion;

/* A ring of leaflets, hinged at radius around (s, l) in the plane z = 0. */
typedef struct
{
  gdouble s, l, radius;
} Valve;

static const Valve valves[] = {
  { 0.0, LV_BASE, 16.0 },         /* mitral */
  { -36.0, LV_BASE - 3.0, 14.0 }, /* tricuspid */
};

struct _NdPhantom
{
  gsize size[3];
  gdouble spacing[3];
  guint64 seed;
  gdouble noise;

  /* received power at end diastole */
  gsize ref_size[3];
  gfloat *reference;
  gfloat *noise_powers; /* exponentially distributed, mean 1 */

  guint64 n;
  Motion motion[MOTION_STEPS];
  gdouble opening; /* of the valves, 0 to 1 */
};

typedef struct
{
  gdouble phase, value;
} Knot;

/* Volume curve: contraction, relaxation, early filling, rest, atrial kick. */
static const Knot contraction[] = { { 0.0, 0.0 }, { 0.04, 0.0 }, { 0.34, 1.0 },
  { 0.42, 1.0 }, { 0.62, 0.28 }, { 0.80, 0.22 }, { 0.97, 0.0 }, { 1.0, 0.0 } };

static const Knot opening[] = { { 0.0, 0.0 }, { 0.42, 0.0 }, { 0.48, 1.0 },
  { 0.62, 0.4 }, { 0.80, 0.35 }, { 0.87, 0.85 }, { 0.97, 0.0 }, { 1.0, 0.0 } };

static gdouble
curve (const Knot *knots, gdouble phase)
{
  gdouble f;

  while (phase >= knots[1].phase)
    knots++;
  f = (phase - knots[0].phase) / (knots[1].phase - knots[0].phase);
  f = f * f * (3 - 2 * f);
  return knots[0].value + f * (knots[1].value - knots[0].value);
}

static gdouble
from_db (gdouble db)
{
  return pow (10, db / 20);
}

static gdouble
square (gdouble x)
{
  return x * x;
}

static gdouble
ellipsoid (gdouble s, gdouble l, gdouble z, gdouble a, gdouble b, gdouble c)
{
  return sqrt (square (s / a) + square (l / b) + square (z / c));
}

/* The echo amplitude in dB at end diastole of the point (s, l, z), in mm in the
 * coordinates of the left ventricle. @facing is the cosine of the angle between
 * the beam and the normal of the wall. */
static gdouble
echogenicity (gdouble s, gdouble l, gdouble z, gdouble facing)
{
  const gdouble blood = -52, muscle = -17, pericardium = -2, fat = -29;
  gdouble lv = ellipsoid (s, l, z, LV_SHORT, LV_LONG, LV_SHORT);
  gdouble rv = ellipsoid (s + 39, l, z, 22, 37, 27);
  gdouble la = ellipsoid (s - 1, l - LV_BASE - 23, z, 20, 21, 21);
  gdouble ra = ellipsoid (s + 36, l - LV_BASE - 18, z, 18, 20, 20);
  gdouble axis = sqrt (square (s) + square (z));

  if (l < LV_BASE) {
    if (lv < 1)
      return blood;
    if (lv < WALL)
      return muscle + 7 * (facing - 0.7);
    if (rv < 1)
      return blood;
    if (lv < WALL + 0.08)
      return pericardium + 12 * (facing - 1);
    if (rv < 1.18)
      return muscle - 2;
    if (rv < 1.26)
      return pericardium + 12 * (facing - 1) - 4;
    return fat;
  }
  /* the mitral opening, which the leaflets close */
  if (la < 1 || (l < LV_BASE + 6 && axis < 14))
    return blood;
  /* annulus and central fibrous body */
  if (l < LV_BASE + 4 && lv < WALL)
    return -9;
  if (ra < 1 || (rv < 1 && l < LV_BASE + 4))
    return blood;
  if (la < 1.14)
    return -14 + 5 * (facing - 0.7);
  if (ra < 1.15)
    return -16;
  if (la < 1.24)
    return -8;
  return fat + 3;
}

/* Beams: u = x / y, v = z / y, and the distance r. */
typedef struct
{
  gsize n[3]; /* r, u, v */
  gdouble first[3], step[3];
} Beams;

static void
beam_axis (Beams *beams, guint axis, gdouble first, gdouble last,
    gdouble resolution)
{
  beams->step[axis] = resolution / 2.5;
  beams->first[axis] = first;
  beams->n[axis] = (gsize) ceil ((last - first) / beams->step[axis]) + 2;
}

/* The echo amplitude of one point of a beam, linear. */
static gdouble
amplitude (gdouble r, gdouble u, gdouble v)
{
  gdouble y = r / sqrt (1 + u * u + v * v);
  gdouble dx = u * y - LV_X, dy = y - LV_Y, z = v * y;
  gdouble s = dx * LV_COS - dy * LV_SIN;
  gdouble l = dx * LV_SIN + dy * LV_COS;
  /* normal of the ellipsoid through this point */
  gdouble ns = s / square (LV_SHORT), nl = l / square (LV_LONG);
  gdouble nz = z / square (LV_SHORT);
  gdouble nx = ns * LV_COS + nl * LV_SIN, ny = nl * LV_COS - ns * LV_SIN;
  gdouble facing = fabs (nx * u + ny + nz * v) * y
      / (r * sqrt (nx * nx + ny * ny + nz * nz) + 1e-9);
  gdouble db = echogenicity (s, l, z, facing);

  /* Attenuation that the time gain does not compensate, and weaker beams at the
   * sides. */
  db -=
      7 * square (r / DEPTH) + 7 * pow (u / SLOPE, 4) + 7 * pow (v / SLOPE, 4);
  /* Fat is layered. */
  db += 2.5 * sin (0.23 * s + 0.31 * l) * sin (0.19 * z + 0.11 * l);
  /* reverberation near the probe */
  return from_db (db) + from_db (-3 - 1.9 * (r - FACE))
      + from_db (-26 - 0.5 * r);
}

/* Convolves an array along one axis with a Gaussian of unit energy, 2.5 samples
 * wide at half height. Samples beyond the edges are 0. */
static void
blur (gfloat *data, const gsize n[3], guint axis, gfloat *line)
{
  static const gfloat taps[4] = { 0.7294f, 0.4675f, 0.1232f, 0.0133f };
  gsize stride = axis == 0 ? 1 : axis == 1 ? n[0] : n[0] * n[1];
  gsize count = n[axis], lines = n[0] * n[1] * n[2] / count;

  memset (line, 0, (count + 6) * sizeof (gfloat));
  for (gsize i = 0; i < lines; i++) {
    gfloat *p = data + i / stride * stride * count + i % stride;

    for (gsize k = 0; k < count; k++)
      line[k + 3] = p[k * stride];
    for (gsize k = 0; k < count; k++)
      p[k * stride] = taps[0] * line[k + 3]
          + taps[1] * (line[k + 2] + line[k + 4])
          + taps[2] * (line[k + 1] + line[k + 5])
          + taps[3] * (line[k] + line[k + 6]);
  }
}

/* A scatterer of random phase. A sum of four uniform numbers approximates a
 * Gaussian well enough, because the point spread sums hundreds of them. */
static void
scatter (guint64 key, gfloat *re, gfloat *im)
{
  const gfloat scale = sqrtf (1.5f) / 65536; /* E(re^2 + im^2) = 1 */
  guint64 a = nd_hash (key), b = nd_hash (key + 1);

  *re = *im = 0;
  for (guint k = 0; k < 64; k += 16) {
    *re += (gfloat) ((a >> k) & 0xffff) - 32767.5f;
    *im += (gfloat) ((b >> k) & 0xffff) - 32767.5f;
  }
  *re *= scale;
  *im *= scale;
}

/* The received power along all beams. */
static gfloat *
receive (const Beams *beams, guint64 seed)
{
  gsize total = beams->n[0] * beams->n[1] * beams->n[2], i = 0;
  gfloat *re = g_new (gfloat, total);
  g_autofree gfloat *im = g_new (gfloat, total);
  g_autofree gfloat *line =
      g_new (gfloat, MAX (MAX (beams->n[0], beams->n[1]), beams->n[2]) + 6);
  guint64 key = nd_hash (seed);

  for (gsize v = 0; v < beams->n[2]; v++) {
    for (gsize u = 0; u < beams->n[1]; u++) {
      for (gsize r = 0; r < beams->n[0]; r++, i++) {
        gfloat a = amplitude (beams->first[0] + r * beams->step[0],
            beams->first[1] + u * beams->step[1],
            beams->first[2] + v * beams->step[2]);

        scatter (key + 2 * i, &re[i], &im[i]);
        re[i] *= a;
        im[i] *= a;
      }
    }
  }
  for (guint axis = 0; axis < 3; axis++) {
    blur (re, beams->n, axis, line);
    blur (im, beams->n, axis, line);
  }
  for (i = 0; i < total; i++)
    re[i] = re[i] * re[i] + im[i] * im[i];
  return re;
}

/* Linear interpolation between the eight neighbours; @c is clamped. */
static inline gfloat
interpolate (const gfloat *data, const gsize n[3], const gfloat c[3])
{
  gsize plane = n[0] * n[1], at[3];
  gfloat f[3], a, b;
  const gfloat *p;
  gsize up[3] = { n[0] > 1, n[1] > 1 ? n[0] : 0, n[2] > 1 ? plane : 0 };

  for (guint i = 0; i < 3; i++) {
    gfloat last = (gfloat) (n[i] > 1 ? n[i] - 2 : 0);
    gfloat x = c[i] > 0 ? c[i] : 0;

    gfloat whole = (gfloat) (gint) (x < last ? x : last);

    at[i] = (gsize) (gint) whole;
    f[i] = x - whole;
    f[i] = f[i] < 1 ? f[i] : 1;
  }
  p = data + at[0] + at[1] * n[0] + at[2] * plane;
  a = p[0] + f[0] * (p[up[0]] - p[0]);
  b = p[up[1]] + f[0] * (p[up[1] + up[0]] - p[up[1]]);
  a += f[1] * (b - a);
  p += up[2];
  b = p[0] + f[0] * (p[up[0]] - p[0]);
  b += f[1] * (p[up[1]] + f[0] * (p[up[1] + up[0]] - p[up[1]]) - b);
  return a + f[2] * (b - a);
}

/* Interpolates the power of the beams on the grid of samples. */
static void
scan_convert (NdPhantom *self)
{
  gdouble step[3], sx = self->spacing[0], sy = self->spacing[1];
  Beams beams;
  g_autofree gfloat *power = NULL;
  gsize i = 0;

  /* not finer than the samples */
  gdouble across = MAX (0.04, 1.5 * MIN (sx, FIELD / 24) / 70);
  beam_axis (&beams, 0, FACE - 3, DEPTH + 14,
      MAX (1.3, 1.5 * MIN (sy, FIELD / 24)));
  beam_axis (&beams, 1, -1.25 * SLOPE, 1.25 * SLOPE, across);
  beam_axis (&beams, 2, -1.25 * SLOPE, 1.25 * SLOPE, across);
  power = receive (&beams, self->seed);

  for (guint a = 0; a < 3; a++)
    step[a] = FIELD / self->ref_size[a];
  for (gsize k = 0; k < self->ref_size[2]; k++) {
    gdouble z = (k + 0.5) * step[2] - FIELD / 2;
    for (gsize j = 0; j < self->ref_size[1]; j++) {
      gdouble y = (j + 0.5) * step[1] - TOP;
      for (gsize h = 0; h < self->ref_size[0]; h++, i++) {
        gdouble x = (h + 0.5) * step[0] - FIELD / 2;
        gfloat c[3];

        self->reference[i] = 0;
        if (y <= 0)
          continue;
        c[0] = (sqrt (x * x + y * y + z * z) - beams.first[0]) / beams.step[0];
        c[1] = (x / y - beams.first[1]) / beams.step[1];
        c[2] = (z / y - beams.first[2]) / beams.step[2];
        self->reference[i] = interpolate (power, beams.n, c);
      }
    }
  }
}

/* The power of the noise of the receiver along x, as coarse as speckle. */
static void
make_noise (NdPhantom *self, gsize count)
{
  const gsize n[3] = { count, 1, 1 };
  guint64 key = nd_hash (~self->seed);
  g_autofree gfloat *im = g_new (gfloat, count);
  g_autofree gfloat *line = g_new (gfloat, count + 6);
  gfloat *re = self->noise_powers;

  for (gsize i = 0; i < count; i++)
    scatter (key + 2 * i, &re[i], &im[i]);
  blur (re, n, 0, line);
  blur (im, n, 0, line);
  for (gsize i = 0; i < count; i++)
    re[i] = re[i] * re[i] + im[i] * im[i];
}

NdPhantom *
nd_phantom_new (const gsize size[3], guint64 seed, gdouble noise,
    GError **error)
{
  NdPhantom *self = g_new0 (NdPhantom, 1);
  gsize total = 1, noises = NOISE_PERIOD + size[0];

  self->seed = seed;
  self->noise = noise;
  for (guint a = 0; a < 3; a++) {
    self->size[a] = size[a];
    self->spacing[a] = FIELD / size[a];
    self->ref_size[a] = MIN (size[a], REFERENCE_MAX);
    total *= self->ref_size[a];
  }
  self->reference = g_try_new (gfloat, total);
  self->noise_powers = g_try_new (gfloat, noises);
  if (!self->reference || !self->noise_powers) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory for %" G_GSIZE_FORMAT
        " bytes of the heart phantom: use a smaller volume-size",
        (total + noises) * sizeof (gfloat));
    nd_phantom_free (self);
    return NULL;
  }
  make_noise (self, noises);
  scan_convert (self);
  nd_phantom_set_time (self, 0, 0);
  return self;
}

void
nd_phantom_free (NdPhantom *self)
{
  g_free (self->reference);
  g_free (self->noise_powers);
  g_free (self);
}

static gsize
motion_step (gdouble rho2)
{
  gdouble step = rho2 * (MOTION_STEPS / MOTION_RANGE);

  return step < MOTION_STEPS - 1 ? (gsize) step : MOTION_STEPS - 1;
}

void
nd_phantom_set_time (NdPhantom *self, guint64 n, gdouble phase)
{
  gdouble c = EJECTION * curve (contraction, phase - floor (phase));
  gdouble inside = cbrt (1 - c);

  self->n = n;
  self->opening = curve (opening, phase - floor (phase));
  for (gsize i = 0; i < MOTION_STEPS; i++) {
    gdouble rho2 = (i + 0.5) * (MOTION_RANGE / MOTION_STEPS);
    gdouble rho = sqrt (rho2);

    /* The cavity shrinks as a whole, because blood has no structure. */
    self->motion[i].scale =
        rho < inside ? 1 / inside : cbrt (1 + c / (rho2 * rho));
    self->motion[i].shift = APEX_FIX * c / EJECTION / (1 + square (rho2 / 4));
  }
}

/* Adds the power of the leaflets to the samples @first to @last of a row. */
static void
add_valves (const NdPhantom *self, gdouble y, gdouble z, gsize first,
    gsize last, gfloat *row)
{
  gdouble angle = (10 + 68 * self->opening) * G_PI / 180;
  gdouble along = sin (angle), inward = cos (angle);
  gdouble width = MAX (0.7, 0.4 * MAX (self->spacing[0], self->spacing[1]));

  for (guint v = 0; v < G_N_ELEMENTS (valves); v++) {
    const Valve *valve = &valves[v];
    gdouble rho2 = square (valve->s / LV_SHORT) + square (valve->l / LV_LONG);
    const Motion *m = &self->motion[motion_step (rho2)];
    gdouble s0 = valve->s / m->scale, l0 = valve->l / m->scale - m->shift;
    gdouble cx = LV_X + s0 * LV_COS + l0 * LV_SIN;
    gdouble cy = LV_Y + l0 * LV_COS - s0 * LV_SIN;
    gdouble reach = valve->radius + 4 * width;

    if (fabs (z) > reach || fabs (y - cy) > reach)
      continue;
    for (gsize i = first; i <= last; i++) {
      gdouble dx = (i + 0.5) * self->spacing[0] - FIELD / 2 - cx, dy = y - cy;
      gdouble s = dx * LV_COS - dy * LV_SIN;
      gdouble inner = valve->radius - sqrt (s * s + z * z);
      gdouble up = -(dx * LV_SIN + dy * LV_COS);
      /* the nearest point of a leaflet that begins at the hinge */
      gdouble t = CLAMP (inner * inward + up * along, 0, valve->radius);
      gdouble d2 = square (inner - t * inward) + square (up - t * along);

      if (d2 < square (3.5 * width))
        row[i] += 0.02 * exp (-d2 / (2 * width * width));
    }
  }
}

/* log2 of a positive number, accurate to 0.01, exact at powers of two. */
static inline gfloat
fast_log2 (gfloat x)
{
  union
  {
    gfloat f;
    gint32 i;
  } u = { x };
  gfloat exponent = (gfloat) ((u.i >> 23) - 127);

  u.i = (u.i & 0x7fffff) | 0x3f800000;
  u.f -= 1;
  return exponent + u.f * (1.33333333f - 0.33333333f * u.f);
}

/* Adds noise to the samples @first to @last of a row of powers, and converts
 * them to greys: the logarithm over RANGE_DB. */
static void
compress_row (const NdPhantom *self, gsize j, gsize k, gsize first, gsize last,
    gfloat *row)
{
  gdouble y = (j + 0.5) * self->spacing[1] - TOP;
  /* The time gain raises the noise with depth. */
  gfloat level = self->noise * self->noise
      * square (from_db (-64 + 24 * square (y / DEPTH)));
  guint64 at =
      nd_hash (nd_hash_volume (self->seed, self->n) + k * self->size[1] + j);
  const gfloat *noise = self->noise_powers + at % NOISE_PERIOD;
  const gfloat per_octave = (gfloat) (255 * 10 * 0.30102999566 / RANGE_DB);

  for (gsize i = first; i <= last; i++) {
    gfloat grey =
        255 + per_octave * fast_log2 (row[i] + level * noise[i] + 1e-20f);

    row[i] = grey > 0 ? grey < 255 ? grey : 255 : 0;
  }
}

void
nd_phantom_row (const NdPhantom *self, gsize j, gsize k, gfloat *row)
{
  gdouble y = (j + 0.5) * self->spacing[1] - TOP;
  gdouble z = (k + 0.5) * self->spacing[2] - FIELD / 2;
  gdouble half2 = DEPTH * DEPTH - y * y - z * z;
  gdouble half = half2 > 0 ? MIN (y * SLOPE, sqrt (half2)) : 0;
  gdouble sx = self->spacing[0];
  gfloat to_ref[3], from_ref[3];
  gsize first, last;
  gdouble lo, hi;

  memset (row, 0, self->size[0] * sizeof (gfloat));
  if (y < FACE || fabs (z) > y * SLOPE || half <= 0)
    return;
  /* samples with their centres in the pyramid */
  lo = ceil ((FIELD / 2 - half) / sx - 0.5);
  hi = floor ((FIELD / 2 + half) / sx - 0.5);
  if (lo > hi)
    return;
  first = MAX (lo, 0);
  last = MIN (hi, self->size[0] - 1);

  for (guint a = 0; a < 3; a++)
    to_ref[a] = self->ref_size[a] / FIELD;
  from_ref[0] = (LV_X + FIELD / 2) * to_ref[0] - 0.5;
  from_ref[1] = (LV_Y + TOP) * to_ref[1] - 0.5;
  from_ref[2] = (FIELD / 2) * to_ref[2] - 0.5;

  for (gsize i = first; i <= last; i++) {
    gfloat dx = (gfloat) ((i + 0.5) * sx - FIELD / 2 - LV_X);
    gfloat dy = (gfloat) (y - LV_Y), dz = (gfloat) z;
    gfloat s = dx * (gfloat) LV_COS - dy * (gfloat) LV_SIN;
    gfloat l = dx * (gfloat) LV_SIN + dy * (gfloat) LV_COS;
    gfloat rho2 = (s * s + dz * dz) * (gfloat) (1 / (LV_SHORT * LV_SHORT))
        + l * l * (gfloat) (1 / (LV_LONG * LV_LONG));
    const Motion *m = &self->motion[motion_step (rho2)];
    gfloat c[3] = { from_ref[0]
          + to_ref[0] * (dx * m->scale + m->shift * (gfloat) LV_SIN),
      from_ref[1] + to_ref[1] * (dy * m->scale + m->shift * (gfloat) LV_COS),
      from_ref[2] + to_ref[2] * dz * m->scale };

    row[i] = interpolate (self->reference, self->ref_size, c);
  }
  add_valves (self, y, z, first, last, row);
  compress_row (self, j, k, first, last, row);
}

void
nd_phantom_geometry (const gsize size[3], NdGeometry *geometry)
{
  memset (geometry, 0, sizeof (NdGeometry));
  geometry->known = TRUE;
  for (guint a = 0; a < 3; a++) {
    gdouble spacing = FIELD / size[a];

    /* A single plane is as thick as its samples are wide. */
    geometry->spacing[a] = size[a] > 1 ? spacing : FIELD / size[0];
    geometry->origin[a] = spacing / 2 - (a == 1 ? TOP : FIELD / 2);
    geometry->directions[4 * a] = 1;
  }
}
