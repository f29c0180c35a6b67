/* The heart does not depend on the number of threads that compute it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/threads.h"
#include "phantom/pattern.h"

#include <string.h>

#define VOLUMES 3

/* The first volumes of a heart, computed by up to @n_threads threads. */
static gfloat *
heart (const gsize size[3], guint64 seed, guint n_threads, gsize *samples)
{
  NdPatternSettings settings = { .kind = ND_PATTERN_HEART,
    .type = ND_FLOAT32,
    .rate_n = 20,
    .rate_d = 1,
    .seed = seed,
    .noise = 1,
    .heart_rate = 200 };
  const guint before = nd_threads_enter (nd_threads_start (n_threads));
  g_autoptr (NdPattern) pattern = NULL;
  GError *error = NULL;
  gfloat *data;

  settings.shape.components = 1;
  memcpy (settings.shape.size, size, 3 * sizeof (gsize));
  *samples = size[0] * size[1] * size[2];
  data = g_new (gfloat, VOLUMES * *samples);
  pattern = nd_pattern_new (&settings, &error);
  g_assert_no_error (error);
  for (guint n = 0; n < VOLUMES; n++)
    nd_pattern_volume (pattern, n, data + n * *samples);
  nd_threads_leave (before);
  return data;
}

static void
test_threads (void)
{
  static const gsize sizes[][3] = { { 40, 37, 29 }, { 200, 9, 3 }, { 1, 1, 1 },
    { 7, 64, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const guint64 seed = g_test_rand_int ();
    gsize samples, other_samples;
    g_autofree gfloat *alone = heart (sizes[i], seed, 1, &samples);
    g_autofree gfloat *together = heart (sizes[i], seed, 5, &other_samples);
    g_autofree gfloat *other = heart (sizes[i], seed + 1, 5, &other_samples);

    g_test_message ("%zux%zux%zu, seed %" G_GUINT64_FORMAT, sizes[i][0],
        sizes[i][1], sizes[i][2], seed);
    g_assert_cmpmem (alone, VOLUMES * samples * sizeof (gfloat), together,
        VOLUMES * samples * sizeof (gfloat));
    if (samples > 1000)
      g_assert_true (memcmp (alone, other, samples * sizeof (gfloat)) != 0);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/phantom/threads", test_threads);
  return g_test_run ();
}
