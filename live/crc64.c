/* CRC-64 by tables of 16 bytes, and by carry-less multiplication.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/crc64.h"

#include "live/bytes.h"
#include "live/carryless.h"

#include <pthread.h>

#define SLICES 16
#define HALF 2048
#define LANES 8
#define LANE_BYTES 16

/* table[k][b]: the checksum of byte b followed by k zeros. */
static guint64 table[SLICES][256];

/* table_half[k][b]: the checksum b << 8 * k after HALF more zeros. */
static guint64 table_half[8][256];

/* x^(distance + 64) and x^distance modulo the polynomial, for moving 128 bits
 * up by the bits of one lane and of all lanes. */
typedef struct
{
  guint64 low, high;
} Fold;
static Fold fold_lane, fold_lanes;
static gboolean has_carryless;

static guint64
times_x (guint64 value)
{
  return (value << 1) ^ (value >> 63 ? ND_CRC64_POLYNOMIAL : 0);
}

/* x^n modulo the polynomial. */
static guint64
power_of_x (guint n)
{
  guint64 value = 1;

  while (n-- > 0)
    value = times_x (value);
  return value;
}

static void
init_tables (void)
{
  for (guint b = 0; b < 256; b++) {
    guint64 crc = (guint64) b << 56;

    for (guint bit = 0; bit < 8; bit++)
      crc = times_x (crc);
    table[0][b] = crc;
  }
  for (guint k = 1; k < SLICES; k++) {
    for (guint b = 0; b < 256; b++) {
      const guint64 crc = table[k - 1][b];

      table[k][b] = crc << 8 ^ table[0][crc >> 56];
    }
  }
}

/* times_x() is linear: a byte is the sum of its bits. */
static void
init_half (void)
{
  for (guint bit = 0; bit < 64; bit++) {
    guint64 value = G_GUINT64_CONSTANT (1) << bit;

    for (guint i = 0; i < 8 * HALF; i++)
      value = times_x (value);
    for (guint b = 0; b < 256; b++) {
      if (b >> bit % 8 & 1)
        table_half[bit / 8][b] ^= value;
    }
  }
}

static void
init_all (void)
{
  init_tables ();
  init_half ();
  fold_lane = (Fold){ .low = power_of_x (8 * LANE_BYTES),
    .high = power_of_x (8 * LANE_BYTES + 64) };
  fold_lanes = (Fold){ .low = power_of_x (8 * LANE_BYTES * LANES),
    .high = power_of_x (8 * LANE_BYTES * LANES + 64) };
#ifdef HAVE_CARRYLESS
  has_carryless = nd_carryless_available ();
#endif
}

static void
init (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, init_all);
}

/* Checksum of 8 bytes, read as a number, with 8 * @slice zeros after them. */
static inline guint64
lookup (guint64 bytes, guint slice)
{
  guint64 crc = 0;

  for (guint i = 0; i < 8; i++)
    crc ^= table[slice + i][bytes >> (8 * i) & 0xff];
  return crc;
}

/* Adds HALF zeros to the bytes of which @crc is the checksum. */
static guint64
skip_half (guint64 crc)
{
  guint64 moved = 0;

  for (guint i = 0; i < 8; i++)
    moved ^= table_half[i][crc >> (8 * i) & 0xff];
  return moved;
}

static inline guint64
add_slices (guint64 crc, const guint8 *p)
{
  return lookup (crc ^ nd_get_u64 (p), 8) ^ lookup (nd_get_u64 (p + 8), 0);
}

/* Each step of a checksum waits for the one before, so that two halves at once
 * take little more time than one. */
static guint64
by_tables (guint64 crc, const guint8 *p, gsize size)
{
  for (; size >= 2 * HALF; p += 2 * HALF, size -= 2 * HALF) {
    guint64 second = 0;

    for (gsize i = 0; i < HALF; i += SLICES) {
      crc = add_slices (crc, p + i);
      second = add_slices (second, p + HALF + i);
    }
    crc = skip_half (crc) ^ second;
  }
  for (; size >= SLICES; p += SLICES, size -= SLICES)
    crc = add_slices (crc, p);
  while (size-- > 0)
    crc = table[0][crc >> 56 ^ *p++] ^ crc << 8;
  return crc;
}

guint64
nd_crc64_tables (guint64 crc, gconstpointer data, gsize size)
{
  init ();
  return by_tables (crc, data, size);
}

gboolean
nd_crc64_has_carryless (void)
{
  init ();
  return has_carryless;
}

#ifdef HAVE_CARRYLESS

CARRYLESS static guint64
by_multiplication (guint64 crc, const guint8 *p, gsize size)
{
  /* nd_polynomial_fold() of a value and these is the value times x^distance,
   * which is congruent to it but has 128 bits again. */
  const NdPolynomial one = nd_polynomial (fold_lane.high, fold_lane.low);
  const NdPolynomial all = nd_polynomial (fold_lanes.high, fold_lanes.low);
  NdPolynomial lanes[LANES], sum;
  guint8 rest[LANE_BYTES];
  guint64 halves[2];

  for (guint i = 0; i < LANES; i++)
    lanes[i] = nd_polynomial_load (p + i * LANE_BYTES);
  lanes[0] = nd_polynomial_add (lanes[0], nd_polynomial (crc, 0));
  p += LANES * LANE_BYTES;
  size -= LANES * LANE_BYTES;
  for (; size >= LANES * LANE_BYTES; size -= LANES * LANE_BYTES) {
    for (guint i = 0; i < LANES; i++)
      lanes[i] = nd_polynomial_add (nd_polynomial_fold (lanes[i], all),
          nd_polynomial_load (p + i * LANE_BYTES));
    p += LANES * LANE_BYTES;
  }
  sum = lanes[0];
  for (guint i = 1; i < LANES; i++)
    sum = nd_polynomial_add (nd_polynomial_fold (sum, one), lanes[i]);
  for (; size >= LANE_BYTES; p += LANE_BYTES, size -= LANE_BYTES)
    sum = nd_polynomial_add (nd_polynomial_fold (sum, one),
        nd_polynomial_load (p));
  halves[0] = GUINT64_TO_BE (nd_polynomial_high (sum));
  halves[1] = GUINT64_TO_BE (nd_polynomial_low (sum));
  memcpy (rest, halves, sizeof (rest));
  return by_tables (by_tables (0, rest, LANE_BYTES), p, size);
}

#else

static guint64
by_multiplication (guint64 crc, const guint8 *p, gsize size)
{
  return by_tables (crc, p, size);
}

#endif

guint64
nd_crc64_carryless (guint64 crc, gconstpointer data, gsize size)
{
  init ();
  return size < LANES * LANE_BYTES ? by_tables (crc, data, size)
                                   : by_multiplication (crc, data, size);
}

guint64
nd_crc64 (guint64 crc, gconstpointer data, gsize size)
{
  init ();
  return has_carryless ? nd_crc64_carryless (crc, data, size)
                       : by_tables (crc, data, size);
}
