/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/analysis/denoisecase.h"

#include "cpu/cpu.h"

gsize
case_samples (const Case *c)
{
  return c->size[0] * c->size[1] * c->size[2];
}

gdouble
case_noise (GRand *rand)
{
  gdouble noise = -6;

  for (guint i = 0; i < 12; i++)
    noise += g_rand_double (rand);
  return noise;
}

gfloat *
case_stream (const Case *c, GRand *rand)
{
  gfloat *stream = g_new (gfloat, case_samples (c) * c->n_volumes), *s = stream;

  for (gsize t = 0; t < c->n_volumes; t++) {
    for (gsize z = 0; z < c->size[2]; z++) {
      for (gsize y = 0; y < c->size[1]; y++) {
        for (gsize x = 0; x < c->size[0]; x++) {
          const gdouble dx = x - 5 - .3 * t, dy = y - 4., dz = z - 4 + .2 * t;

          *s++ = 60 + 4 * x + (dx * dx + dy * dy + dz * dz < 12 ? c->ball : 0)
              + 20 * case_noise (rand);
        }
      }
    }
  }
  return stream;
}

gfloat *
case_run_type (const Case *c, const gfloat *stream, NdSampleType type)
{
  const NdShape shape = { 1, { c->size[0], c->size[1], c->size[2] } };
  const gsize n = case_samples (c);
  const gsize latency = nd_denoise_schedule (&c->settings).latency;
  gfloat *out = g_new (gfloat, n * c->n_volumes);
  g_autofree guint8 *bytes = g_new (guint8, n);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) denoise =
      nd_cpu_noise_new (&c->settings, &c->borders, &shape, type, 0, -1, &error);
  gsize made = 0;

  g_assert_no_error (error);
  for (gsize t = 0; t <= c->n_volumes; t++) {
    if (t == c->n_volumes) {
      nd_algorithm_end (denoise);
    } else {
      const gfloat *volume = stream + t * n;
      NdSamples in = nd_samples_dense (type == ND_UINT8 ? (gpointer) bytes
                                                        : (gpointer) volume,
          &shape, type);

      for (gsize i = 0; type == ND_UINT8 && i < n; i++)
        bytes[i] = volume[i];
      g_assert_true (nd_algorithm_push (denoise, &in, &error));
    }
    while (nd_algorithm_ready (denoise)) {
      gfloat *volume = out + made * n;
      NdSamples samples =
          nd_samples_dense (type == ND_UINT8 ? (gpointer) bytes
                                             : (gpointer) volume,
              &shape, type);

      g_assert_true (nd_algorithm_respond (denoise, &samples, &error));
      for (gsize i = 0; type == ND_UINT8 && i < n; i++)
        volume[i] = bytes[i];
      made++;
    }
    if (t < c->n_volumes)
      g_assert_cmpuint (made, ==, t < latency ? 0 : t + 1 - latency);
  }
  g_assert_cmpuint (made, ==, c->n_volumes);
  return out;
}

gfloat *
case_run (const Case *c, const gfloat *stream)
{
  return case_run_type (c, stream, ND_FLOAT32);
}

static gint64
extend (gint64 i, gint64 n, gpointer border)
{
  return nd_border_index (*(const NdBorder *) border, i, n);
}

NdReferenceBorders
case_borders (const Case *c)
{
  return (NdReferenceBorders){ extend, extend, (gpointer) &c->borders.border,
    (gpointer) &c->borders.time_border, c->borders.border_value };
}

guint
case_divisor (void)
{
  const gchar *divisor = g_getenv ("ND_JOBS_DIVISOR");

  return divisor ? MAX (1, atoi (divisor)) : 1;
}

GRand *
case_rand (void)
{
  const gchar *text = g_getenv ("ND_SEED");
  const guint32 seed =
      text ? g_ascii_strtoull (text, NULL, 10) : g_random_int ();

  g_test_message ("ND_SEED=%u", seed);
  return g_rand_new_with_seed (seed);
}
