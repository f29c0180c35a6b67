/* Patterns do not depend on the number of threads that compute them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/threads.h"
#include "phantom/pattern.h"
#include "tests/fuzz/memory.h"

#include <math.h>

#include <string.h>

#define VOLUMES 3

/* The first volumes, computed by up to @n_threads threads. */
static gfloat *
volumes (NdPatternKind kind, const gsize size[3], guint64 seed, guint n_threads,
    gsize *samples)
{
  NdPatternSettings settings = { .kind = kind,
    .type = ND_FLOAT32,
    .rate_n = 20,
    .rate_d = 1,
    .seed = seed,
    .noise = 1,
    .heart_rate = 200,
    .value = 3,
    .period = 3 };
  const guint before = nd_threads_enter (nd_threads_start (n_threads));
  g_autoptr (NdPattern) pattern = NULL;
  GError *error = NULL;
  gfloat *data;

  settings.shape.components = kind == ND_PATTERN_HEART_VELOCITY ? 4
      : kind == ND_PATTERN_IQ                                   ? 2
                                                                : 1;
  memcpy (settings.shape.size, size, 3 * sizeof (gsize));
  *samples = settings.shape.components * size[0] * size[1] * size[2];
  data = g_new (gfloat, VOLUMES * *samples);
  pattern = nd_pattern_new (&settings, &error);
  g_assert_no_error (error);
  for (guint n = 0; n < VOLUMES; n++)
    nd_pattern_volume (pattern, n, data + n * *samples);
  nd_threads_leave (before);
  return data;
}

static void
check_threads (NdPatternKind kind, const gsize size[3])
{
  const gboolean is_random = kind == ND_PATTERN_HEART
      || kind == ND_PATTERN_NOISE || kind == ND_PATTERN_VESSELS
      || kind == ND_PATTERN_RF || kind == ND_PATTERN_IQ;
  const guint64 seed = g_test_rand_int ();
  gsize n;
  g_autofree gfloat *alone = volumes (kind, size, seed, 1, &n);
  g_autofree gfloat *together = volumes (kind, size, seed, 5, &n);
  g_autofree gfloat *other = volumes (kind, size, seed + 1, 5, &n);

  g_test_message ("pattern %d, %zux%zux%zu, seed %" G_GUINT64_FORMAT, kind,
      size[0], size[1], size[2], seed);
  g_assert_cmpmem (alone, VOLUMES * n * sizeof (gfloat), together,
      VOLUMES * n * sizeof (gfloat));
  if (is_random && n > 1000)
    g_assert_true (memcmp (alone, other, n * sizeof (gfloat)) != 0);
}

static void
test_threads (void)
{
  static const gsize sizes[][3] = { { 40, 37, 29 }, { 200, 9, 3 }, { 1, 1, 1 },
    { 7, 64, 1 } };
  /* The heart would take long. */
  static const gsize large[][3] = { { 300, 200, 2 }, { 20000, 3, 2 } };

  for (gint kind = 0; kind <= ND_PATTERN_HEART_VELOCITY; kind++) {
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      check_threads (kind, sizes[i]);
  }
  for (gint kind = ND_PATTERN_BEAMS; kind <= ND_PATTERN_IQ; kind++) {
    check_threads (kind, sizes[0]);
    check_threads (kind, sizes[3]);
    check_threads (kind, large[0]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (large); i++) {
    check_threads (ND_PATTERN_NOISE, large[i]);
    check_threads (ND_PATTERN_RAMP, large[i]);
  }
}

/* Each large allocation of the heart fails once. Sanitizers have a malloc of
 * their own, which never fails. */
static void
test_no_memory (void)
{
  static const NdPatternSettings settings = { .kind = ND_PATTERN_HEART,
    .type = ND_FLOAT32,
    .shape = { 1, { 20, 20, 20 } },
    .rate_n = 25,
    .rate_d = 1,
    .noise = 1,
    .heart_rate = 60 };
  gboolean failed = TRUE;
  guint errors = 0, n;

  for (n = 1; failed; n++) {
    g_autoptr (GError) error = NULL;
    NdPattern *pattern;

    memory_fail (n, 512);
    pattern = nd_pattern_new (&settings, &error);
    failed = memory_has_failed ();
    memory_fail (0, 0);
    g_assert_true (!pattern == !!error);
    if (!pattern) {
      g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
      errors++;
    }
    g_clear_pointer (&pattern, nd_pattern_free);
  }
  g_test_message ("%u errors", errors);
  g_assert_true (errors > 5 || n == 2);
}

/* Middle lines are bright, and all values are those of the formula, with the
 * distance from the plane across the line. */
static void
test_vessels (void)
{
  NdPatternSettings settings = { .kind = ND_PATTERN_VESSELS,
    .type = ND_FLOAT32,
    .shape = { 1, { 40, 44, 50 } },
    .rate_n = 25,
    .rate_d = 1 };
  const gsize *size = settings.shape.size;
  g_autofree gfloat *data = g_new (gfloat, size[0] * size[1] * size[2]);
  g_autofree gfloat *noisy = g_new (gfloat, size[0] * size[1] * size[2]);
  g_autofree gfloat *again = g_new (gfloat, size[0] * size[1] * size[2]);
  guint bright = 0, changed = 0;

  for (guint noise = 0; noise < 3; noise++) {
    g_autoptr (NdPattern) pattern = NULL;
    gfloat *const out[] = { data, noisy, again };

    settings.noise = noise > 0;
    pattern = nd_pattern_new (&settings, NULL);
    nd_pattern_volume (pattern, 3, out[noise]);
  }
  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++) {
    const gdouble x = (2.0 * (i % size[0]) + 1 - 40) / 40;
    const gdouble y = (2.0 * (i / size[0] % size[1]) + 1 - 44) / 40;
    const gdouble z = (2.0 * (i / size[0] / size[1]) + 1 - 50) / 40;
    gdouble want = 0;

    for (guint k = 0; k < ND_VESSELS; k++) {
      const NdVessel *t = &nd_vessels[k];
      const gdouble p[] = { x - t->a * sin (t->f * z + t->p),
        y - t->b * sin (t->g * z + t->q), 0 };
      const gdouble l[] = { t->a * t->f * cos (t->f * z + t->p),
        t->b * t->g * cos (t->g * z + t->q), 1 };
      gdouble cross = 0, length = 0;

      for (guint a = 0; a < 3; a++) {
        const guint b = (a + 1) % 3, c = (a + 2) % 3;

        cross += pow (p[b] * l[c] - p[c] * l[b], 2);
        length += l[a] * l[a];
      }
      want = MAX (want,
          40 + 200 * exp (-2 * cross / length / (t->radius * t->radius)));
    }
    g_assert_cmpfloat_with_epsilon (data[i], want, 1e-3);
    g_assert_cmpfloat (fabs (noisy[i] - MIN (data[i], 255)), <=,
        0.4 * data[i] + 1e-3);
    g_assert_true (noisy[i] >= 0 && noisy[i] <= 255);
    bright += data[i] > 200;
    changed += fabs (noisy[i] - data[i]) > 0.1 * data[i];
  }
  g_assert_cmpuint (bright, >, 100);
  g_assert_cmpuint (changed, >, 40 * 44 * 50 / 2);
  g_assert_cmpmem (noisy, 40 * 44 * 50 * 4, again, 40 * 44 * 50 * 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/phantom/threads", test_threads);
  g_test_add_func ("/phantom/vessels", test_vessels);
  g_test_add_func ("/phantom/no-memory", test_no_memory);
  return g_test_run ();
}
