/* The time that an algorithm takes for a volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/adaptive.h"
#include "tests/methods/checkanalysis.h"
#include "tests/methods/checkjobs.h"

#include <math.h>
#include <stdlib.h>

enum
{
  BENCH_VOLUMES = 8,
  BENCH_TIMES = 40,
  /* Random numbers, which repeat: a prime, so that neighbours differ. */
  BENCH_RANDOM = 1000003
};

static int
compare_times (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

/* Prints the ms of pushing one of @volumes, of BENCH_VOLUMES on the device, and
 * of responding. */
static void
measure (NdAlgorithm *algorithm, guint8 **volumes, const NdShape *in_shape,
    const NdShape *out_shape, NdSampleType type, const gchar *name)
{
  guint8 *out = check_memory_new (out_shape->size[0] * out_shape->size[1]
          * out_shape->size[2] * out_shape->components * nd_sample_size (type),
      TRUE);
  gdouble times[BENCH_TIMES];
  guint n = 0;

  for (guint t = 0; n < BENCH_TIMES; t++) {
    const NdSamples in =
        nd_samples_dense (volumes[t % BENCH_VOLUMES], in_shape, type);
    const NdSamples to = nd_samples_dense (out, out_shape, type);
    const gint64 begin = g_get_monotonic_time ();
    guint made = 0;

    g_assert_true (nd_algorithm_push (algorithm, &in, NULL));
    for (; nd_algorithm_ready (algorithm); made++)
      g_assert_true (nd_algorithm_respond (algorithm, &to, NULL));
    if (t >= 8 && made > 0)
      times[n++] = (g_get_monotonic_time () - begin) * 1e-3;
  }
  qsort (times, BENCH_TIMES, sizeof (gdouble), compare_times);
  g_print ("%s %" G_GSIZE_FORMAT
           "^3 %s on %s: median %.3f ms, least %.3f, most "
           "%.3f; %" G_GSIZE_FORMAT " bytes\n",
      name, in_shape->size[0], nd_sample_name (type), check_backend->name,
      times[BENCH_TIMES / 2], times[0], times[BENCH_TIMES - 1],
      nd_algorithm_bytes (algorithm));
  check_memory_free (out, TRUE);
}

typedef struct
{
  const gchar *name;
  NdStructure structure;
  gboolean edges; /* one direction and little noise */
} StructureBench;

static const StructureBench structure_benches[] = {
  { "ndstructure velocity", ND_STRUCTURE_VELOCITY, FALSE },
  { "ndstructure velocity of edges", ND_STRUCTURE_VELOCITY, TRUE },
  { "ndstructure eigenvalues", ND_STRUCTURE_EIGENVALUES, FALSE },
  { "ndstructure orientation", ND_STRUCTURE_ORIENTATION, FALSE },
  { "ndstructure certainty", ND_STRUCTURE_CERTAINTY, FALSE },
  { "ndstructure anisotropy", ND_STRUCTURE_ANISOTROPY, FALSE },
};

static void
bench_structure (gsize size, const StructureBench *bench)
{
  const NdShape in = { 10, { size, size, size } };
  const NdShape out = { nd_structure_components (bench->structure, 4),
    { size, size, size } };
  const NdStructureSettings settings = { .structures = { bench->structure },
    .n_structures = 1,
    .sigma = 2.5,
    .speed = { 1, 1, 1 } };
  const gsize n = 10 * size * size * size;
  g_autofree gfloat *tensors = g_new (gfloat, n);
  g_autoptr (GRand) r = g_rand_new_with_seed (1);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) algorithm =
      check_backend->algorithms->structure_new (&settings, &in, -1, &error);
  guint8 *volumes[BENCH_VOLUMES];

  g_assert_no_error (error);
  for (gsize i = 0; i < n; i += 10) {
    gfloat *tensor = tensors + i;

    for (guint k = 0; k < 10; k++)
      tensor[k] = g_rand_double (r) * (bench->edges ? .01 : 1);
    for (guint a = 0; a < 4; a++)
      tensor[nd_tensor_index (4, a, a)] += bench->edges ? .02 : 1;
    if (bench->edges) {
      const gdouble angle = i * (1e-3 / size);
      const gdouble g[] = { cos (angle), sin (angle), .3, .2 };

      for (guint a = 0; a < 4; a++) {
        for (guint b = a; b < 4; b++)
          tensor[nd_tensor_index (4, a, b)] += g[a] * g[b];
      }
    }
  }
  for (guint i = 0; i < BENCH_VOLUMES; i++) {
    volumes[i] = check_memory_new (n * sizeof (gfloat), TRUE);
    check_copy (volumes[i], tensors, n * sizeof (gfloat), TRUE);
  }
  measure (algorithm, volumes, &in, &out, ND_FLOAT32, bench->name);
  for (guint i = 0; i < BENCH_VOLUMES; i++)
    check_memory_free (volumes[i], TRUE);
}

typedef struct
{
  const gchar *name;
  NdDenoiseSettings settings;
} Bench;

/* Waves and an edge, with noise. */
static void
make_volume (guint8 *volume, gsize size, NdSampleType type,
    const gdouble *random, gsize at)
{
  g_autofree gdouble *wave = g_new (gdouble, size);

  for (gsize x = 0; x < size; x++)
    wave[x] = sin (.31 * x);
  for (gsize z = 0; z < size; z++) {
    for (gsize y = 0; y < size; y++) {
      const gdouble factor = 50 * sin (.23 * y) * cos (.27 * z);

      for (gsize x = 0; x < size; x++, at++) {
        const gdouble value = 120 + factor * wave[x] + (x > size / 2 ? 30 : 0)
            + 15 * random[at % BENCH_RANDOM];

        if (type == ND_UINT8)
          *volume = CLAMP (rint (value), 0, 255);
        else
          *(gfloat *) volume = value;
        volume += nd_sample_size (type);
      }
    }
  }
}

static void
bench_denoise (gsize size, NdSampleType type, const Bench *benches, guint n)
{
  const NdDenoiseBorders borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 };
  const NdShape shape = { 1, { size, size, size } };
  const gsize samples = size * size * size;
  const gsize bytes = samples * nd_sample_size (type);
  g_autofree guint8 *volume = g_malloc (bytes);
  g_autofree gdouble *random = g_new (gdouble, BENCH_RANDOM);
  g_autoptr (GRand) r = g_rand_new_with_seed (1);
  guint8 *volumes[BENCH_VOLUMES];

  for (gsize i = 0; i < BENCH_RANDOM; i++)
    random[i] = check_random_normal (r);
  for (guint i = 0; i < BENCH_VOLUMES; i++) {
    make_volume (volume, size, type, random, i * samples);
    volumes[i] = check_memory_new (bytes, TRUE);
    check_copy (volumes[i], volume, bytes, TRUE);
  }
  for (guint i = 0; i < n; i++) {
    NdDenoiseSettings settings = benches[i].settings;
    g_autoptr (GError) error = NULL;
    g_autoptr (NdAlgorithm) algorithm = NULL;

    settings.strength = 1;
    settings.remap = (NdAdaptiveRemap) ND_ADAPTIVE_REMAP;
    algorithm = check_backend->algorithms->denoise_new (&settings, &borders,
        &shape, type, 0, -1, &error);
    g_assert_no_error (error);
    measure (algorithm, volumes, &shape, &shape, type, benches[i].name);
  }
  for (guint i = 0; i < BENCH_VOLUMES; i++)
    check_memory_free (volumes[i], TRUE);
}

static void
bench_denoisers (gint size)
{
  static const Bench benches[] = {
    { "nddenoise", { .latency = 3 } },
    { "nddenoise quality=best", { .latency = 3, .quality = ND_QUALITY_BEST } },
    { "nddenoise quality=best latency=5",
        { .latency = 5, .quality = ND_QUALITY_BEST } },
    { "nddenoise motion=true", { .latency = 3, .motion = TRUE } },
    { "nddenoise adaptive", { .latency = 3, .method = ND_DENOISE_ADAPTIVE } },
    { "nddenoise speckle", { .latency = 3, .noise = ND_NOISE_SPECKLE } },
  };
  static const gsize on_cpu[] = { 64, 96 }, on_device[] = { 64, 128, 256 };
  const gsize *sizes = check_has_module ? on_device : on_cpu;
  const guint n = G_N_ELEMENTS (benches);

  for (guint i = 0; i < (check_has_module ? 3 : 2); i++) {
    if (size < 0 || sizes[i] == (gsize) size)
      bench_denoise (sizes[i], ND_UINT8, benches,
          i == 0 || check_has_module ? n : 1);
  }
  if (size < 0 || size == 64)
    bench_denoise (64, ND_FLOAT32, benches, 1);
}

void
bench_analysis (gint size, gboolean only_structure)
{
  static const gsize sizes[] = { 64, 96, 128 };

  if (!only_structure)
    bench_denoisers (size);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    if (size < 0 ? i != (check_has_module ? 1 : 2) : sizes[i] == (gsize) size) {
      for (guint k = 0; k < G_N_ELEMENTS (structure_benches); k++)
        bench_structure (sizes[i], &structure_benches[k]);
    }
  }
}
