/* What an overloaded element leaves out (gst/temporal/ndorder.h), without
 * GStreamer and without a clock: a model of a source and of a slow element
 * counts the time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/ndorder.h"
#include "tests/gst/random.h"

#define MS G_GUINT64_CONSTANT (1000000)

/* More volumes than the element needs to find its pace. */
#define WARM_UP 120

typedef struct
{
  NdThin thin;
  gboolean queue;     /* otherwise the source keeps its newest volume only */
  gdouble jitter;     /* of the timestamps, intervals */
  GRand *random;      /* for the jitter */
  guint64 now;        /* ns */
  guint64 next;       /* number of the next volume */
  guint64 begin;      /* its timestamp without jitter */
  guint64 last_taken; /* timestamp */
  guint taken, left_out;
  guint64 least, most; /* distance between volumes that were taken */
} Model;

static guint64
stamp_of (Model *model, guint64 interval)
{
  return model->begin
      + (model->jitter > 0
              ? (guint64) (g_rand_double_range (model->random, 0, model->jitter)
                    * interval)
              : 0);
}

/* Plays @volumes of the source; each one that is taken costs @cost. */
static void
play (Model *model, guint volumes, guint64 interval, guint64 cost)
{
  const guint64 end = model->next + volumes;

  model->taken = model->left_out = 0;
  model->least = G_MAXUINT64;
  model->most = 0;
  while (model->next < end) {
    const guint64 stamp = stamp_of (model, interval);
    const guint64 arrived = MAX (model->now, stamp);

    model->next++;
    model->begin += interval;
    /* A newer one has come meanwhile. */
    if (!model->queue && model->now >= model->begin + interval)
      continue;
    if (!nd_thin_take (&model->thin, stamp, interval)) {
      model->left_out++;
      continue;
    }
    if (model->taken > 0) {
      model->least = MIN (model->least, stamp - model->last_taken);
      model->most = MAX (model->most, stamp - model->last_taken);
    }
    model->last_taken = stamp;
    model->taken++;
    model->now = arrived + cost;
    nd_thin_add_cost (&model->thin, cost);
  }
}

static void
expect_distance (const Model *model, guint64 distance)
{
  g_assert_cmpuint (model->least, ==, distance);
  g_assert_cmpuint (model->most, ==, distance);
}

/* Costs and the distances that they make, in ms, if volumes come each 20 ms. */
static void
test_distances (void)
{
  static const struct
  {
    guint64 cost, distance;
  } rows[] = {
    { 1, 20 },
    { 10, 20 },
    { 17, 20 },
    { 19, 40 },
    { 20, 40 },
    { 30, 40 },
    { 35, 60 },
    { 60, 80 },
    { 170, 220 },
    { 1000, 1260 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    for (guint queue = 0; queue < 2; queue++) {
      Model model = { .queue = queue };

      play (&model, WARM_UP * 60, 20 * MS, rows[i].cost * MS);
      play (&model, WARM_UP * 60, 20 * MS, rows[i].cost * MS);
      expect_distance (&model, rows[i].distance * MS);
      /* What waited is done. */
      g_assert_cmpuint (model.now, <, model.last_taken + rows[i].distance * MS);
    }
  }
}

/* One output that takes long, of many, is no overload. */
static void
test_hiccup (void)
{
  for (guint queue = 0; queue < 2; queue++) {
    Model model = { .queue = queue };

    play (&model, WARM_UP, 40 * MS, 5 * MS);
    play (&model, 1, 40 * MS, 900 * MS);
    play (&model, WARM_UP, 40 * MS, 5 * MS);
    g_assert_cmpuint (model.left_out, ==, 0);
  }
}

/* All volumes are taken again when the load is gone. */
static void
test_relief (void)
{
  Model model = { .queue = FALSE };

  play (&model, WARM_UP, 40 * MS, 100 * MS);
  play (&model, WARM_UP, 40 * MS, 100 * MS);
  expect_distance (&model, 160 * MS);
  play (&model, WARM_UP, 40 * MS, 5 * MS);
  play (&model, WARM_UP, 40 * MS, 5 * MS);
  expect_distance (&model, 40 * MS);
  g_assert_cmpuint (model.left_out, ==, 0);
}

/* A source with work of its own, which waits for the element: volumes arrive
 * more and more slowly, and the element holds them up. */
static void
test_arrival (void)
{
  NdThin thin = { 0 };
  guint taken = 0;

  for (guint i = 0; i < WARM_UP; i++) {
    if (!nd_thin_take (&thin, i * 40 * MS, 40 * MS))
      continue;
    taken++;
    nd_thin_add_cost (&thin, 60 * MS);
  }
  g_assert_cmpuint (thin.distance, ==, 80 * MS);
  g_assert_cmpuint (taken, <, WARM_UP * 2 / 3);
}

/* A stretch begins with its first volume, and the distance stays. */
static void
test_restart (void)
{
  Model model = { .queue = FALSE };

  play (&model, WARM_UP, 40 * MS, 100 * MS);
  nd_thin_restart (&model.thin);
  g_assert_true (nd_thin_take (&model.thin, model.begin, 40 * MS));
  g_assert_false (nd_thin_take (&model.thin, model.begin + 40 * MS, 40 * MS));
  g_assert_true (nd_thin_take (&model.thin, model.begin + 160 * MS, 40 * MS));
}

/* Unequal times, of a stream that runs backwards, and at the ends of the range
 * stop nothing. */
static void
test_odd_stamps (void)
{
  NdThin thin = { 0 };

  for (guint i = 0; i < WARM_UP; i++) {
    g_assert_true (nd_thin_take (&thin, 5 * MS, 0));
    nd_thin_add_cost (&thin, 100 * MS);
  }
  for (guint i = WARM_UP; i > 0; i--)
    g_assert_true (nd_thin_take (&thin, i, 0));
  nd_thin_take (&thin, G_MAXUINT64, 0);
  nd_thin_take (&thin, 0, G_MAXUINT64 / 2);
  nd_thin_take (&thin, G_MAXUINT64, G_MAXUINT64 / 2);
}

/* Loads that change: at each one the element finds a pace that it can hold, and
 * that is not much too slow. */
static void
test_random (void)
{
  GRand *random = new_rand ();

  for (guint round = 0; round < 100; round++) {
    const guint64 interval = g_rand_int_range (random, 1, 200) * MS;
    Model model = { .queue = g_rand_boolean (random),
      .jitter =
          g_rand_boolean (random) ? g_rand_double_range (random, 0, .3) : 0,
      .random = random };

    for (guint phase = 0; phase < 4; phase++) {
      const gdouble load = g_rand_boolean (random)
          ? g_rand_double_range (random, 0, 3)
          : g_rand_double_range (random, 0, 40);
      const guint64 cost = load * interval;
      const gdouble jitter = model.jitter * interval;
      /* The next volume takes the place of one that comes too early. */
      const gdouble more = jitter > 0 ? interval + 2 * jitter : 0;

      play (&model, WARM_UP * 60, interval, cost);
      play (&model, WARM_UP * 60, interval, cost);
      if (load < 0.75)
        g_assert_cmpuint (model.left_out, ==, 0);
      /* Equal distances, which leave time but not much. */
      g_assert_cmpfloat (model.most - (gdouble) model.least, <=, more);
      g_assert_cmpfloat (model.least + 2 * jitter, >=, cost);
      g_assert_cmpfloat (model.most, <=,
          MAX (interval, cost / .8 + interval) + more + 1);
      g_assert_cmpuint (model.now, <=,
          model.last_taken + cost + interval + (guint64) jitter);
    }
  }
  g_rand_free (random);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/thin/distances", test_distances);
  g_test_add_func ("/thin/hiccup", test_hiccup);
  g_test_add_func ("/thin/relief", test_relief);
  g_test_add_func ("/thin/arrival", test_arrival);
  g_test_add_func ("/thin/restart", test_restart);
  g_test_add_func ("/thin/odd-stamps", test_odd_stamps);
  g_test_add_func ("/thin/random", test_random);
  return g_test_run ();
}
