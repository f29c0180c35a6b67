/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "registercase.h"

#include <math.h>

static gdouble
normal (GRand *rand)
{
  gdouble sum = -6;

  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (rand);
  return sum;
}

static gboolean
is_frame (const RegisterCase *c)
{
  return c->size[2] == 1;
}

/* A random rotation; in frames around z. */
static NdAffine
rotate (const RegisterCase *c, gdouble angle, GRand *rand)
{
  gdouble q[4], length = 0;
  NdAffine map;

  for (guint i = 0; i < 3; i++) {
    q[i] = is_frame (c) && i < 2 ? 0 : normal (rand);
    length += q[i] * q[i];
  }
  for (guint i = 0; i < 3; i++)
    q[i] *= sin (angle / 2) / sqrt (length);
  q[3] = cos (angle / 2);
  for (guint i = 0; i < 3; i++) {
    const guint j = (i + 1) % 3, k = (i + 2) % 3;

    map.m[i][i] = 1 - 2 * (q[j] * q[j] + q[k] * q[k]);
    map.m[i][j] = 2 * (q[i] * q[j] - q[k] * q[3]);
    map.m[i][k] = 2 * (q[i] * q[k] + q[j] * q[3]);
    map.m[i][3] = 0;
  }
  return map;
}

void
register_case_init (RegisterCase *c, const gsize size[3],
    const gdouble spacing[3], GRand *rand)
{
  gdouble half[3];

  for (guint a = 0; a < 3; a++) {
    c->size[a] = size[a];
    c->spacing[a] = spacing[a];
    half[a] = size[a] * spacing[a] / 2;
  }
  for (guint e = 0; e < REGISTER_CASE_ELLIPSOIDS; e++) {
    NdAffine map =
        rotate (c, e < 2 ? 0 : g_rand_double_range (rand, 0, 3), rand);
    NdAffine scale = nd_affine_identity ();

    for (guint a = 0; a < 3; a++) {
      const gdouble radius = e == 0 ? .75
          : e == 1                  ? .68
                                    : g_rand_double_range (rand, .06, .2);

      map.m[a][3] = e < 2 ? 0 : half[a] * g_rand_double_range (rand, -.45, .45);
      if (is_frame (c) && a == 2)
        map.m[a][3] = 0;
      scale.m[a][a] = half[a] * radius;
    }
    map = nd_affine_compose (&map, &scale);
    nd_affine_invert (&map, &c->ellipsoids[e]);
    c->grey[e] = e == 0 ? 120
        : e == 1        ? 60
                        : g_rand_double_range (rand, -50, 50);
  }
}

NdAffine
register_case_motion (const RegisterCase *c, gdouble mm, gdouble degrees,
    GRand *rand)
{
  NdAffine map = rotate (c,
      g_rand_double_range (rand, -degrees, degrees) * G_PI / 180, rand);

  for (guint a = 0; a < (is_frame (c) ? 2 : 3); a++)
    map.m[a][3] = g_rand_double_range (rand, -mm, mm);
  return map;
}

static gdouble
grey (const RegisterCase *c, const gdouble at[3])
{
  gdouble sum = 0;

  for (guint e = 0; e < REGISTER_CASE_ELLIPSOIDS; e++) {
    const NdAffine *map = &c->ellipsoids[e];
    gdouble square = 0, slope = 0, gradient[3] = { 0, 0, 0 }, depth;

    for (guint i = 0; i < 3; i++) {
      const gdouble x = map->m[i][0] * at[0] + map->m[i][1] * at[1]
          + map->m[i][2] * at[2] + map->m[i][3];

      square += x * x;
      for (guint a = 0; a < 3; a++)
        gradient[a] += map->m[i][a] * x * c->spacing[a];
    }
    for (guint a = 0; a < 3; a++)
      slope += gradient[a] * gradient[a];
    /* Samples inside of the edge. */
    depth = slope > 0 ? (1 - sqrt (square)) * sqrt (square / slope) : 4;
    if (depth > -4)
      sum += depth > 4 ? c->grey[e] : c->grey[e] / (1 + exp (-2 * depth));
  }
  return sum;
}

gfloat *
register_case_volume (const RegisterCase *c, const NdAffine *motion,
    const RegisterCaseChange *change, GRand *rand, gsize room)
{
  const gsize *size = c->size;
  gfloat *out = g_new0 (gfloat, size[0] * size[1] * size[2] + room);
  NdAffine back;
  gsize i = 0;

  g_assert_true (nd_affine_invert (motion, &back));
  for (gsize z = 0; z < size[2]; z++) {
    for (gsize y = 0; y < size[1]; y++) {
      for (gsize x = 0; x < size[0]; x++) {
        const gdouble index[3] = { x, y, z };
        gdouble at[3], from[3], value, factor = 1;

        for (guint a = 0; a < 3; a++)
          at[a] = (index[a] - (size[a] - 1) / 2.) * c->spacing[a];
        for (guint a = 0; a < 3; a++)
          from[a] = back.m[a][0] * at[0] + back.m[a][1] * at[1]
              + back.m[a][2] * at[2] + back.m[a][3];
        value = grey (c, from);
        if (change) {
          /* Half a period of a cosine, along a diagonal. */
          for (guint a = 0; a < 2; a++)
            factor +=
                change->bias / 2 * cos (G_PI * (index[a] + .5) / size[a] + a);
          value = value * change->gain * factor + change->noise * normal (rand);
        }
        out[i++] = value;
      }
    }
  }
  return out;
}

gdouble
register_case_error (const RegisterCase *c, const NdAffine *a,
    const NdAffine *b)
{
  gdouble sum = 0;
  guint n = 0;

  for (gint z = -4; z <= 4; z++) {
    for (gint y = -4; y <= 4; y++) {
      for (gint x = -4; x <= 4; x++) {
        const gint k[3] = { x, y, is_frame (c) ? 0 : z };
        gdouble at[3], square = 0;

        if (k[0] * k[0] + k[1] * k[1] + k[2] * k[2] > 16)
          continue;
        for (guint i = 0; i < 3; i++)
          at[i] = k[i] / 4. * .375 * c->size[i] * c->spacing[i];
        for (guint i = 0; i < 3; i++) {
          gdouble difference = a->m[i][3] - b->m[i][3];

          for (guint j = 0; j < 3; j++)
            difference += (a->m[i][j] - b->m[i][j]) * at[j];
          square += difference * difference;
        }
        sum += sqrt (square);
        n++;
      }
    }
  }
  return sum / n;
}

GRand *
register_case_rand (guint32 seed)
{
  const gchar *text = g_getenv ("ND_SEED");

  if (text)
    seed = g_ascii_strtoull (text, NULL, 10);
  g_test_message ("ND_SEED=%u", seed);
  return g_rand_new_with_seed (seed);
}
