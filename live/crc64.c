/* CRC-64 by tables of 16 bytes, and by carry-less multiplication on x86.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/crc64.h"

#include "live/bytes.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HAVE_CARRYLESS 1
#include <immintrin.h>
#endif

#define SLICES 16
#define LANES 8
#define LANE_BYTES 16

/* table[k][b]: the checksum of byte b followed by k zeros. */
static guint64 table[SLICES][256];

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

static void
init (void)
{
  static gsize done = 0;

  if (!g_once_init_enter (&done))
    return;
  init_tables ();
  fold_lane = (Fold){ .low = power_of_x (8 * LANE_BYTES),
    .high = power_of_x (8 * LANE_BYTES + 64) };
  fold_lanes = (Fold){ .low = power_of_x (8 * LANE_BYTES * LANES),
    .high = power_of_x (8 * LANE_BYTES * LANES + 64) };
#ifdef HAVE_CARRYLESS
  has_carryless =
      __builtin_cpu_supports ("pclmul") && __builtin_cpu_supports ("ssse3");
#endif
  g_once_init_leave (&done, 1);
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

static guint64
by_tables (guint64 crc, const guint8 *p, gsize size)
{
  for (; size >= SLICES; p += SLICES, size -= SLICES)
    crc = lookup (crc ^ nd_get_u64 (p), 8) ^ lookup (nd_get_u64 (p + 8), 0);
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

#define CARRYLESS __attribute__ ((target ("pclmul,ssse3")))

/* 16 bytes as a polynomial: the first bit of the first byte is x^127. */
CARRYLESS static inline __m128i
load (const guint8 *p)
{
  const __m128i reverse =
      _mm_set_epi8 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

  return _mm_shuffle_epi8 (_mm_loadu_si128 ((const __m128i *) p), reverse);
}

/* @value times x^distance, which is congruent to it but has 128 bits again. */
CARRYLESS static inline __m128i
fold (__m128i value, __m128i factors)
{
  return _mm_xor_si128 (_mm_clmulepi64_si128 (value, factors, 0x00),
      _mm_clmulepi64_si128 (value, factors, 0x11));
}

CARRYLESS static guint64
by_multiplication (guint64 crc, const guint8 *p, gsize size)
{
  const __m128i one = _mm_set_epi64x (fold_lane.high, fold_lane.low);
  const __m128i all = _mm_set_epi64x (fold_lanes.high, fold_lanes.low);
  guint8 rest[LANE_BYTES];
  __m128i lanes[LANES], sum;
  guint64 halves[2];

  for (guint i = 0; i < LANES; i++)
    lanes[i] = load (p + i * LANE_BYTES);
  lanes[0] = _mm_xor_si128 (lanes[0], _mm_set_epi64x (crc, 0));
  p += LANES * LANE_BYTES;
  size -= LANES * LANE_BYTES;
  for (; size >= LANES * LANE_BYTES; size -= LANES * LANE_BYTES) {
    for (guint i = 0; i < LANES; i++)
      lanes[i] =
          _mm_xor_si128 (fold (lanes[i], all), load (p + i * LANE_BYTES));
    p += LANES * LANE_BYTES;
  }
  sum = lanes[0];
  for (guint i = 1; i < LANES; i++)
    sum = _mm_xor_si128 (fold (sum, one), lanes[i]);
  for (; size >= LANE_BYTES; p += LANE_BYTES, size -= LANE_BYTES)
    sum = _mm_xor_si128 (fold (sum, one), load (p));
  _mm_storeu_si128 ((__m128i *) halves, sum);
  halves[0] = GUINT64_TO_BE (halves[0]);
  halves[1] = GUINT64_TO_BE (halves[1]);
  memcpy (rest, &halves[1], 8);
  memcpy (rest + 8, &halves[0], 8);
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
