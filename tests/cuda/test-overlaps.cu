/* Which responses may be computed at the same time (cuda/fft/overlaps.h). Runs
 * without a device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/overlaps.h"

using namespace nd;

static unsigned char memory[4096];

/* The bytes from @first up to, and without, @last. */
static Range
range (size_t first, size_t last)
{
  return Range{ memory + first, memory + last };
}

static void
test_first ()
{
  Overlaps overlaps;

  g_assert_true (overlaps.begin (range (0, 8), range (8, 16))
      == BEGIN_AFTER_ALL);
  g_assert_true (overlaps.begin (range (16, 24), range (24, 32))
      == BEGIN_EARLY);
}

/* Volumes may share memory; a response may share it with no volume and no
 * response that may not be complete. */
static void
test_shared ()
{
  const struct
  {
    Range in, out;
    Begin begin;
  } cases[] = {
    { range (0, 8), range (16, 24), BEGIN_EARLY },
    { range (0, 8), range (15, 24), LOAD_EARLY },
    { range (0, 8), range (8, 16), LOAD_EARLY },
    { range (0, 8), range (7, 8), LOAD_EARLY },
    { range (15, 16), range (16, 24), BEGIN_AFTER_ALL },
    { range (15, 16), range (8, 16), BEGIN_AFTER_ALL },
    { range (16, 24), range (24, 32), BEGIN_EARLY },
  };

  for (const auto &c : cases) {
    Overlaps overlaps;

    overlaps.restart (range (0, 8), range (8, 16));
    g_assert_true (overlaps.begin (c.in, c.out) == c.begin);
  }
}

/* A response that waits for all others makes their memory free. */
static void
test_restart ()
{
  Overlaps overlaps;

  overlaps.restart (range (0, 8), range (8, 16));
  g_assert_true (overlaps.begin (range (0, 8), range (16, 24)) == BEGIN_EARLY);
  g_assert_true (overlaps.begin (range (16, 24), range (24, 32))
      == BEGIN_AFTER_ALL);
  g_assert_true (overlaps.begin (range (0, 8), range (8, 16)) == BEGIN_EARLY);
  overlaps.restart (range (32, 40), range (40, 48));
  g_assert_true (overlaps.begin (range (0, 8), range (8, 16)) == BEGIN_EARLY);
  g_assert_true (overlaps.begin (range (0, 8), range (40, 48)) == LOAD_EARLY);
}

/* No more than 16 run at the same time. */
static void
test_most ()
{
  Overlaps overlaps;
  unsigned early = 0;

  overlaps.restart (range (0, 8), range (8, 16));
  for (size_t i = 1; i < 17; i++)
    early += overlaps.begin (range (0, 8), range (8 + 8 * i, 16 + 8 * i))
        == BEGIN_EARLY;
  g_assert_cmpuint (early, ==, 15);
}

/* The last sample of the last component counts. */
static void
test_range ()
{
  const NdShape shape = { 2, { 3, 2, 2 } };
  const NdSamples samples = { memory, 4, 16, 64 };
  const Range r = range_of (samples, shape, ND_UINT16);

  g_assert_true (r.begin == memory);
  g_assert_cmpint (r.end - r.begin, ==, 64 + 16 + 2 * 4 + 2 * 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/overlaps/first", test_first);
  g_test_add_func ("/overlaps/shared", test_shared);
  g_test_add_func ("/overlaps/restart", test_restart);
  g_test_add_func ("/overlaps/most", test_most);
  g_test_add_func ("/overlaps/range", test_range);
  return g_test_run ();
}
