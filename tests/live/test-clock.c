/* Times of a sender whose clock is another, over a network that delays.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/clock.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)
#define EPOCH (G_GUINT64_CONSTANT (1700000000) * SECOND)

/* 60 s at 50 volumes/s, each delayed by 1 ms to 20 ms, and a clock that runs
 * @ppm millionths fast: the spacing of results is the sender's. */
static void
run (gint ppm)
{
  NdIgtlClock clock;
  guint64 last = 0;

  nd_igtl_clock_init (&clock);
  for (guint i = 0; i < 3000; i++) {
    const guint64 sent = (guint64) i * 20 * MS;
    const guint64 stamp = EPOCH + sent + (gint64) sent * ppm / 1000000;
    const guint64 arrival =
        sent + 500 * MS + MS + g_test_rand_int_range (0, 19) * MS;
    const guint64 time = nd_igtl_clock_map (&clock, stamp, arrival);

    /* The first message may have been the latest of all. */
    g_assert_cmpuint (time, <=, arrival + (i < 200 ? 20 : 1) * MS);
    g_assert_cmpuint (time, >=, last);
    if (i >= 200) {
      g_assert_cmpuint (time - last, >=, 18 * MS);
      g_assert_cmpuint (time - last, <=, 22 * MS);
      g_assert_cmpuint (arrival, <=, time + 25 * MS);
    }
    last = time;
  }
  g_assert_cmpuint (clock.resets, ==, 0);
  g_assert_cmpuint (nd_igtl_clock_delay (&clock), <=, 30 * MS);
}

static void
test_jitter (void)
{
  run (0);
  run (100);
  run (-100);
}

static void
test_unknown (void)
{
  NdIgtlClock clock;

  nd_igtl_clock_init (&clock);
  g_assert_cmpuint (nd_igtl_clock_map (&clock, 0, 5 * SECOND), ==, 5 * SECOND);
  g_assert_cmpuint (nd_igtl_clock_map (&clock, G_MAXUINT64, 6 * SECOND), ==,
      6 * SECOND);
}

/* The sender's clock is set, forwards and back. */
static void
test_jump (void)
{
  NdIgtlClock clock;

  nd_igtl_clock_init (&clock);
  g_assert_cmpuint (nd_igtl_clock_map (&clock, EPOCH, SECOND), ==, SECOND);
  g_assert_cmpuint (nd_igtl_clock_map (&clock, EPOCH + 3600 * SECOND,
                        2 * SECOND),
      ==, 2 * SECOND);
  g_assert_cmpuint (nd_igtl_clock_map (&clock, SECOND, 3 * SECOND), ==,
      3 * SECOND);
  g_assert_cmpuint (clock.resets, ==, 2);
  /* Anything at all: results neither descend nor lie in the future. */
  for (guint i = 0; i < 100000; i++) {
    const guint64 arrival = (4 + i) * SECOND;
    const guint64 before = clock.last;
    const guint64 sent =
        (guint64) g_test_rand_int () << 32 | (guint32) g_test_rand_int ();
    const guint64 time = nd_igtl_clock_map (&clock, sent >> i % 64, arrival);

    g_assert_cmpuint (time, <=, arrival + 10 * SECOND);
    g_assert_cmpuint (time, >=, before);
  }
}

/* The sender's clock is set back by less than the greatest delay: the spacing
 * of volumes stays, and they do not seem to be late. */
static void
test_set_back (void)
{
  NdIgtlClock clock;
  guint64 last = 0;

  nd_igtl_clock_init (&clock);
  for (guint i = 0; i < 100; i++) {
    const guint64 arrival = (1 + i) * 20 * MS;
    const guint64 stamp = EPOCH + arrival - (i < 50 ? 0 : 500 * MS);
    const guint64 time = nd_igtl_clock_map (&clock, stamp, arrival);

    if (i > 0)
      g_assert_cmpuint (time - last, ==, 20 * MS);
    last = time;
  }
  g_assert_cmpuint (clock.resets, ==, 1);
  g_assert_cmpuint (nd_igtl_clock_delay (&clock), ==, 0);
}

/* A sender whose times are all the same: those of the arrival count. */
static void
test_stands_still (void)
{
  NdIgtlClock clock;

  nd_igtl_clock_init (&clock);
  for (guint i = 0; i < 100; i++)
    g_assert_cmpuint (nd_igtl_clock_map (&clock, EPOCH, (1 + i) * 20 * MS), ==,
        (1 + i) * 20 * MS);
  g_assert_cmpuint (clock.resets, ==, 0);
}

/* The network stalls for up to 5 s, and then gives what has waited at once; or
 * a recording is sent faster than in real time: the spacing is the sender's,
 * and its clock was not set. */
static void
test_regular (void)
{
  static const guint stalls[] = { 500, 1200, 3000, 5000 }; /* ms */

  for (guint k = 0; k <= G_N_ELEMENTS (stalls); k++) {
    const gboolean replay = k == G_N_ELEMENTS (stalls);
    NdIgtlClock clock;
    guint64 last = 0;

    nd_igtl_clock_init (&clock);
    for (guint i = 0; i < 200; i++) {
      const guint64 sent = (guint64) i * 40 * MS;
      const guint64 stalled =
          replay || i < 20 ? sent : MAX (sent, (800 + stalls[k]) * MS);
      const guint64 arrival = SECOND + (replay ? i * MS : stalled);
      const guint64 time = nd_igtl_clock_map (&clock, EPOCH + sent, arrival);

      if (i > 0) {
        g_assert_cmpuint (time - last, >=, 36 * MS);
        g_assert_cmpuint (time - last, <=, 44 * MS);
      }
      last = time;
    }
    g_assert_cmpuint (clock.resets, ==, 0);
  }
}

/* One long delay counts for 1.7 s at most, whenever it comes. */
static void
test_hiccup (void)
{
  for (guint first = 75; first < 100; first++) {
    const guint64 end = first * 40 * MS + 900 * MS;
    NdIgtlClock clock;

    nd_igtl_clock_init (&clock);
    for (guint i = 0; i < 300; i++) {
      const guint64 sent = (guint64) i * 40 * MS;
      const gboolean is_late = i >= first && sent < end;
      const guint64 arrival = SECOND + (is_late ? end : sent);

      nd_igtl_clock_map (&clock, EPOCH + sent, arrival);
      if (is_late)
        g_assert_cmpuint (nd_igtl_clock_delay (&clock), >=, 890 * MS);
      if (arrival >= SECOND + end + 1700 * MS)
        g_assert_cmpuint (nd_igtl_clock_delay (&clock), <=, 30 * MS);
    }
  }
}

/* The sender's clock is set forwards by half a second: that is no delay. */
static void
test_set_forwards (void)
{
  NdIgtlClock clock;

  nd_igtl_clock_init (&clock);
  for (guint i = 0; i < 100; i++) {
    const guint64 arrival = (1 + i) * 20 * MS;
    const guint64 stamp = EPOCH + arrival + (i < 50 ? 0 : 500 * MS);

    g_assert_cmpuint (nd_igtl_clock_map (&clock, stamp, arrival), ==, arrival);
  }
  g_assert_cmpuint (clock.resets, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/clock/jitter", test_jitter);
  g_test_add_func ("/clock/unknown", test_unknown);
  g_test_add_func ("/clock/jump", test_jump);
  g_test_add_func ("/clock/set-back", test_set_back);
  g_test_add_func ("/clock/regular", test_regular);
  g_test_add_func ("/clock/hiccup", test_hiccup);
  g_test_add_func ("/clock/set-forwards", test_set_forwards);
  g_test_add_func ("/clock/stands-still", test_stands_still);
  return g_test_run ();
}
