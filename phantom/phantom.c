/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "phantom/phantom.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"

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
  gdouble ejected, ejecting; /* c, and its derivative by the phase */
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

/* The derivative of curve(). */
static gdouble
curve_slope (const Knot *knots, gdouble phase)
{
  gdouble f, width;

  while (phase >= knots[1].phase)
    knots++;
  width = knots[1].phase - knots[0].phase;
  f = (phase - knots[0].phase) / width;
  return 6 * f * (1 - f) / width * (knots[1].value - knots[0].value);
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

/* A point of a beam, in mm in the coordinates of the left ventricle, and the
 * slopes of the beam. */
typedef struct
{
  gdouble u, v, r, y, s, l, z;
} Point;

/* The cosine of the angle between the beam and the normal of the ellipsoid
 * through the point. */
static gdouble
facing (const Point *p)
{
  gdouble ns = p->s / square (LV_SHORT), nl = p->l / square (LV_LONG);
  gdouble nz = p->z / square (LV_SHORT);
  gdouble nx = ns * LV_COS + nl * LV_SIN, ny = nl * LV_COS - ns * LV_SIN;

  return fabs (nx * p->u + ny + nz * p->v) * p->y
      / (p->r * sqrt (nx * nx + ny * ny + nz * nz) + 1e-9);
}

/* The echo amplitude of the point in dB at end diastole. */
static gdouble
echogenicity (const Point *p)
{
  const gdouble blood = -52, muscle = -17, pericardium = -2, fat = -29;
  gdouble s = p->s, l = p->l, z = p->z;
  gdouble lv = ellipsoid (s, l, z, LV_SHORT, LV_LONG, LV_SHORT);
  gdouble rv, la, ra;

  if (l < LV_BASE) {
    if (lv < 1)
      return blood;
    if (lv < WALL)
      return muscle + 7 * (facing (p) - 0.7);
    rv = ellipsoid (s + 39, l, z, 22, 37, 27);
    if (rv < 1)
      return blood;
    if (lv < WALL + 0.08)
      return pericardium + 12 * (facing (p) - 1);
    if (rv < 1.18)
      return muscle - 2;
    if (rv < 1.26)
      return pericardium + 12 * (facing (p) - 1) - 4;
    return fat;
  }
  la = ellipsoid (s - 1, l - LV_BASE - 23, z, 20, 21, 21);
  /* the mitral opening, which the leaflets close */
  if (la < 1 || (l < LV_BASE + 6 && sqrt (square (s) + square (z)) < 14))
    return blood;
  /* annulus and central fibrous body */
  if (l < LV_BASE + 4 && lv < WALL)
    return -9;
  ra = ellipsoid (s + 36, l - LV_BASE - 18, z, 18, 20, 20);
  if (ra < 1 || (l < LV_BASE + 4 && ellipsoid (s + 39, l, z, 22, 37, 27) < 1))
    return blood;
  if (la < 1.14)
    return -14 + 5 * (facing (p) - 0.7);
  if (ra < 1.15)
    return -16;
  if (la < 1.24)
    return -8;
  return fat + 3;
}

/* Beams: u = x / y, v = z / y, and the distance r. The other numbers are terms
 * of amplitude() that depend on one coordinate. */
typedef struct
{
  gsize n[3]; /* r, u, v */
  gdouble first[3], step[3];
  gdouble *attenuation[3]; /* dB */
  gdouble *reverberation[2];
} Beams;

static void
beam_axis (Beams *beams, guint axis, gdouble first, gdouble last,
    gdouble resolution)
{
  beams->step[axis] = resolution / 2.5;
  beams->first[axis] = first;
  beams->n[axis] = (gsize) ceil ((last - first) / beams->step[axis]) + 2;
}

static gdouble
beam_at (const Beams *beams, guint axis, gsize i)
{
  return beams->first[axis] + i * beams->step[axis];
}

static gboolean
find_terms (Beams *beams, GError **error)
{
  for (guint axis = 0; axis < 3; axis++) {
    beams->attenuation[axis] =
        nd_memory_new (beams->n[axis], sizeof (gdouble), error);
    if (!beams->attenuation[axis])
      return FALSE;
  }
  for (guint i = 0; i < 2; i++) {
    beams->reverberation[i] =
        nd_memory_new (beams->n[0], sizeof (gdouble), error);
    if (!beams->reverberation[i])
      return FALSE;
  }
  /* Attenuation that the time gain does not compensate, and weaker beams at the
   * sides. */
  for (gsize i = 0; i < beams->n[0]; i++) {
    gdouble r = beam_at (beams, 0, i);

    beams->attenuation[0][i] = 7 * square (r / DEPTH);
    /* near the probe, and farther */
    beams->reverberation[0][i] = from_db (-3 - 1.9 * (r - FACE));
    beams->reverberation[1][i] = from_db (-26 - 0.5 * r);
  }
  for (guint axis = 1; axis < 3; axis++) {
    for (gsize i = 0; i < beams->n[axis]; i++)
      beams->attenuation[axis][i] =
          7 * pow (beam_at (beams, axis, i) / SLOPE, 4);
  }
  return TRUE;
}

static void
free_terms (Beams *beams)
{
  for (guint axis = 0; axis < 3; axis++)
    g_free (beams->attenuation[axis]);
  for (guint i = 0; i < 2; i++)
    g_free (beams->reverberation[i]);
}

/* The echo amplitudes of the points of beam (@iu, @iv), linear. */
static void
amplitudes (const Beams *beams, gsize iu, gsize iv, gfloat *out)
{
  gdouble u = beam_at (beams, 1, iu), v = beam_at (beams, 2, iv);
  gdouble length = sqrt (1 + u * u + v * v);

  for (gsize i = 0; i < beams->n[0]; i++) {
    gdouble r = beam_at (beams, 0, i), y = r / length;
    gdouble dx = u * y - LV_X, dy = y - LV_Y;
    const Point p = { u, v, r, y, dx * LV_COS - dy * LV_SIN,
      dx * LV_SIN + dy * LV_COS, v * y };
    gdouble db = echogenicity (&p);

    db -= beams->attenuation[0][i] + beams->attenuation[1][iu]
        + beams->attenuation[2][iv];
    /* Fat is layered. */
    db += 2.5 * sin (0.23 * p.s + 0.31 * p.l) * sin (0.19 * p.z + 0.11 * p.l);
    out[i] =
        from_db (db) + beams->reverberation[0][i] + beams->reverberation[1][i];
  }
}

/* Half of a Gaussian of unit energy, 2.5 samples wide at half height. */
static const gfloat taps[4] = { 0.7294f, 0.4675f, 0.1232f, 0.0133f };

/* Convolves each of @n lines of @count adjacent samples with the Gaussian.
 * Samples beyond the ends are 0. @scratch: count + 6. */
static void
blur_along (gfloat *data, gsize count, gsize n, gfloat *scratch)
{
  memset (scratch, 0, (count + 6) * sizeof (gfloat));
  for (gsize i = 0; i < n; i++, data += count) {
    const gfloat *line = scratch + 3;

    memcpy (scratch + 3, data, count * sizeof (gfloat));
    for (gsize k = 0; k < count; k++, line++)
      data[k] = taps[0] * line[0] + taps[1] * (line[-1] + line[1])
          + taps[2] * (line[-2] + line[2]) + taps[3] * (line[-3] + line[3]);
  }
}

/* The same across @n lines, which are @stride apart. @scratch:
 * (n + 6) * count. */
static void
blur_across (gfloat *data, gsize count, gsize n, gsize stride, gfloat *scratch)
{
  const gsize bytes = count * sizeof (gfloat);

  memset (scratch, 0, 3 * bytes);
  memset (scratch + (n + 3) * count, 0, 3 * bytes);
  for (gsize i = 0; i < n; i++)
    memcpy (scratch + (i + 3) * count, data + i * stride, bytes);
  for (gsize i = 0; i < n; i++, data += stride) {
    const gfloat *a = scratch + i * count, *b = a + count, *c = b + count;
    const gfloat *d = c + count, *e = d + count, *f = e + count, *g = f + count;

    for (gsize k = 0; k < count; k++)
      data[k] = taps[0] * d[k] + taps[1] * (c[k] + e[k])
          + taps[2] * (b[k] + f[k]) + taps[3] * (a[k] + g[k]);
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

typedef struct
{
  const Beams *beams;
  guint64 key;
  gfloat *re, *im;
  gfloat *scratch; /* of a slice or a plane, one a thread */
  gsize scratch_floats;
} Echoes;

/* The echoes of the beams of one v, blurred along r and u. */
static void
receive_slice (gsize v, guint worker, gpointer data)
{
  const Echoes *e = data;
  const gsize *n = e->beams->n;
  gsize i = v * n[1] * n[0];
  gfloat *re = e->re + i, *im = e->im + i;
  gfloat *scratch = e->scratch + worker * e->scratch_floats;

  for (gsize u = 0; u < n[1]; u++) {
    amplitudes (e->beams, u, v, scratch);
    for (gsize r = 0; r < n[0]; r++, i++) {
      scatter (e->key + 2 * i, &e->re[i], &e->im[i]);
      e->re[i] *= scratch[r];
      e->im[i] *= scratch[r];
    }
  }
  blur_along (re, n[0], n[1], scratch);
  blur_along (im, n[0], n[1], scratch);
  blur_across (re, n[0], n[1], n[0], scratch);
  blur_across (im, n[0], n[1], n[0], scratch);
}

/* Blurs the echoes of the beams of one u along v. Stores their power in re. */
static void
receive_plane (gsize u, guint worker, gpointer data)
{
  const Echoes *e = data;
  const gsize *n = e->beams->n, stride = n[0] * n[1];
  gfloat *re = e->re + u * n[0], *im = e->im + u * n[0];
  gfloat *scratch = e->scratch + worker * e->scratch_floats;

  blur_across (re, n[0], n[2], stride, scratch);
  blur_across (im, n[0], n[2], stride, scratch);
  for (gsize v = 0; v < n[2]; v++, re += stride, im += stride) {
    for (gsize r = 0; r < n[0]; r++)
      re[r] = re[r] * re[r] + im[r] * im[r];
  }
}

/* The received power along all beams; NULL without memory. */
static gfloat *
receive (const Beams *beams, guint64 seed, GError **error)
{
  const gsize *n = beams->n, total = n[0] * n[1] * n[2];
  const gsize floats = (MAX (n[1], n[2]) + 6) * n[0] + 6;
  g_autofree gfloat *re = nd_memory_new (total, sizeof (gfloat), error);
  g_autofree gfloat *im = NULL, *scratch = NULL;
  Echoes echoes;

  if (!re || !(im = nd_memory_new (total, sizeof (gfloat), error))
      || !(scratch =
               nd_memory_new (nd_threads () * floats, sizeof (gfloat), error)))
    return NULL;
  echoes = (Echoes){ beams, nd_hash (seed), re, im, scratch, floats };
  nd_parallel_for (n[2], receive_slice, &echoes);
  nd_parallel_for (n[1], receive_plane, &echoes);
  return g_steal_pointer (&re);
}

/* Linear interpolation between the eight neighbours; @c is clamped. */
static inline gfloat
phantom_interpolate (const gfloat *data, const gsize n[3], const gfloat c[3])
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

typedef struct
{
  NdPhantom *phantom;
  const Beams *beams;
  const gfloat *power; /* of the beams */
} Scan;

/* Interpolates the power of the beams at the samples of one z. */
static void
scan_slice (gsize k, guint worker, gpointer data)
{
  const Scan *scan = data;
  const Beams *beams = scan->beams;
  const gsize *size = scan->phantom->ref_size;
  gfloat *out = scan->phantom->reference + k * size[1] * size[0];
  gfloat at_r[REFERENCE_MAX], at_u[REFERENCE_MAX], at_v;
  gdouble step[3], z;

  for (guint a = 0; a < 3; a++)
    step[a] = FIELD / size[a];
  z = (k + 0.5) * step[2] - FIELD / 2;
  for (gsize j = 0; j < size[1]; j++, out += size[0]) {
    gdouble y = (j + 0.5) * step[1] - TOP;

    if (y <= 0) {
      memset (out, 0, size[0] * sizeof (gfloat));
      continue;
    }
    for (gsize h = 0; h < size[0]; h++) {
      gdouble x = (h + 0.5) * step[0] - FIELD / 2;

      at_r[h] =
          (sqrt (x * x + y * y + z * z) - beams->first[0]) / beams->step[0];
      at_u[h] = (x / y - beams->first[1]) / beams->step[1];
    }
    at_v = (z / y - beams->first[2]) / beams->step[2];
    for (gsize h = 0; h < size[0]; h++) {
      const gfloat c[3] = { at_r[h], at_u[h], at_v };

      out[h] = phantom_interpolate (scan->power, beams->n, c);
    }
  }
}

/* Computes the power of the beams, and from it the reference. */
static gboolean
scan_convert (NdPhantom *self, GError **error)
{
  gdouble sx = self->spacing[0], sy = self->spacing[1];
  Beams beams = { 0 };
  g_autofree gfloat *power = NULL;
  Scan scan = { self, &beams };

  /* not finer than the samples */
  gdouble across = MAX (0.04, 1.5 * MIN (sx, FIELD / 24) / 70);
  beam_axis (&beams, 0, FACE - 3, DEPTH + 14,
      MAX (1.3, 1.5 * MIN (sy, FIELD / 24)));
  beam_axis (&beams, 1, -1.25 * SLOPE, 1.25 * SLOPE, across);
  beam_axis (&beams, 2, -1.25 * SLOPE, 1.25 * SLOPE, across);
  if (find_terms (&beams, error))
    scan.power = power = receive (&beams, self->seed, error);
  if (power)
    nd_parallel_for (self->ref_size[2], scan_slice, &scan);
  free_terms (&beams);
  return power != NULL;
}

/* The power of the noise of the receiver along x, as coarse as speckle. */
static gboolean
make_noise (NdPhantom *self, gsize count, GError **error)
{
  guint64 key = nd_hash (~self->seed);
  g_autofree gfloat *im = nd_memory_new (count, sizeof (gfloat), error);
  g_autofree gfloat *line = NULL;
  gfloat *re = self->noise_powers;

  if (!im || !(line = nd_memory_new (count + 6, sizeof (gfloat), error)))
    return FALSE;
  for (gsize i = 0; i < count; i++)
    scatter (key + 2 * i, &re[i], &im[i]);
  blur_along (re, count, 1, line);
  blur_along (im, count, 1, line);
  for (gsize i = 0; i < count; i++)
    re[i] = re[i] * re[i] + im[i] * im[i];
  return TRUE;
}

NdPhantom *
nd_phantom_new (const gsize size[3], guint64 seed, gdouble noise,
    GError **error)
{
  NdPhantom *self = nd_memory_new (1, sizeof (NdPhantom), error);
  gsize total = 1, noises = NOISE_PERIOD + size[0];

  if (!self)
    return NULL;
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
  if (!make_noise (self, noises, error) || !scan_convert (self, error)) {
    nd_phantom_free (self);
    return NULL;
  }
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
  self->ejected = c;
  self->ejecting = EJECTION * curve_slope (contraction, phase - floor (phase));
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

/* The samples of the row (@y, @z), in mm, with their centres in the pyramid.
 * FALSE if there are none. */
static gboolean
phantom_find_samples (const NdPhantom *self, gdouble y, gdouble z, gsize *first,
    gsize *last)
{
  gdouble half2 = DEPTH * DEPTH - y * y - z * z;
  gdouble half = half2 > 0 ? MIN (y * SLOPE, sqrt (half2)) : 0;
  gdouble sx = self->spacing[0], lo, hi;

  if (y < FACE || fabs (z) > y * SLOPE || half <= 0)
    return FALSE;
  lo = ceil ((FIELD / 2 - half) / sx - 0.5);
  hi = floor ((FIELD / 2 + half) / sx - 0.5);
  *first = MAX (lo, 0);
  *last = MIN (hi, self->size[0] - 1);
  return lo <= hi;
}

void
nd_phantom_row (const NdPhantom *self, gsize j, gsize k, gfloat *row)
{
  gdouble y = (j + 0.5) * self->spacing[1] - TOP;
  gdouble z = (k + 0.5) * self->spacing[2] - FIELD / 2;
  gdouble sx = self->spacing[0];
  gfloat to_ref[3], from_ref[3];
  gsize first, last;

  memset (row, 0, self->size[0] * sizeof (gfloat));
  if (!phantom_find_samples (self, y, z, &first, &last))
    return;
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

    row[i] = phantom_interpolate (self->reference, self->ref_size, c);
  }
  add_valves (self, y, z, first, last, row);
  compress_row (self, j, k, first, last, row);
}

/* The velocity of the point @p in mm per beat. A point at p was at
 * F (p) = m p + h e at end diastole, e along the long axis, where m and h
 * depend on rho^2. F stays the same along the way of a point:
 * dp/dt = -F'^-1 dF/dt. */
static void
find_velocity (const NdPhantom *self, const gdouble p[3], gdouble velocity[3])
{
  const gdouble c = self->ejected, dc = self->ejecting;
  const gdouble s = p[0] * LV_COS - p[1] * LV_SIN;
  const gdouble l = p[0] * LV_SIN + p[1] * LV_COS;
  const gdouble at[3] = { s, l, p[2] };
  const gdouble slope[3] = { 2 * s / square (LV_SHORT),
    2 * l / square (LV_LONG), 2 * p[2] / square (LV_SHORT) };
  const gdouble rho2 = (s * slope[0] + l * slope[1] + p[2] * slope[2]) / 2;
  const gdouble rho3 = rho2 * sqrt (rho2);
  const gboolean is_blood = rho3 < 1 - c;
  const gdouble m = is_blood ? 1 / cbrt (1 - c) : cbrt (1 + c / rho3);
  const gdouble m_slope = is_blood ? 0 : -c / (2 * m * m * rho3 * rho2);
  const gdouble m_time =
      is_blood ? dc * m / (3 * (1 - c)) : dc / (3 * m * m * rho3);
  const gdouble far = 1 + square (rho2 / 4);
  const gdouble h_slope = -APEX_FIX / EJECTION * c * rho2 / (8 * far * far);
  const gdouble h_time = APEX_FIX / EJECTION * dc / far;
  gdouble w[3], time[3], v[3], gw = m, gt = 0;

  for (guint a = 0; a < 3; a++) {
    w[a] = at[a] * m_slope + (a == 1 ? h_slope : 0);
    time[a] = at[a] * m_time + (a == 1 ? h_time : 0);
    gw += slope[a] * w[a];
    gt += slope[a] * time[a];
  }
  /* F' = m 1 + w slope^T: Sherman and Morrison's inverse. */
  for (guint a = 0; a < 3; a++)
    v[a] = -(time[a] - w[a] * gt / gw) / m;
  velocity[0] = v[0] * LV_COS + v[1] * LV_SIN;
  velocity[1] = v[1] * LV_COS - v[0] * LV_SIN;
  velocity[2] = v[2];
}

void
nd_phantom_velocity_row (const NdPhantom *self, gdouble beats, gsize j, gsize k,
    gfloat *row)
{
  gdouble y = (j + 0.5) * self->spacing[1] - TOP;
  gdouble z = (k + 0.5) * self->spacing[2] - FIELD / 2;
  gsize first, last;

  memset (row, 0, 4 * self->size[0] * sizeof (gfloat));
  if (!phantom_find_samples (self, y, z, &first, &last))
    return;
  for (gsize i = first; i <= last; i++) {
    const gdouble p[3] = { (i + 0.5) * self->spacing[0] - FIELD / 2 - LV_X,
      y - LV_Y, z };
    gdouble velocity[3];

    find_velocity (self, p, velocity);
    for (guint a = 0; a < 3; a++)
      row[4 * i + a] = velocity[a] * beats / self->spacing[a];
    row[4 * i + 3] = 1;
  }
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
