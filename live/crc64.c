/* CRC-64 by tables of 16 bytes, and by carry-less multiplication.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/crc64.h"

#include "live/bytes.h"

#include <pthread.h>

/* Carry-less multiplication of the processor, for polynomials of 128 bits: on
 * x86 and on 64-bit Arm. Without HAVE_CARRYLESS there is none. */
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include <immintrin.h>

#define HAVE_CARRYLESS 1
#define CARRYLESS __attribute__ ((target ("pclmul,ssse3")))

typedef __m128i NdPolynomial;

static inline gboolean
nd_carryless_available (void)
{
  return __builtin_cpu_supports ("pclmul") && __builtin_cpu_supports ("ssse3");
}

/* @high times x^64 plus @low. */
CARRYLESS static inline NdPolynomial
nd_polynomial (guint64 high, guint64 low)
{
  return _mm_set_epi64x (high, low);
}

CARRYLESS static inline guint64
nd_polynomial_low (NdPolynomial a)
{
  return _mm_cvtsi128_si64 (a);
}

CARRYLESS static inline guint64
nd_polynomial_high (NdPolynomial a)
{
  return _mm_cvtsi128_si64 (_mm_unpackhi_epi64 (a, a));
}

/* 16 bytes: the first bit of the first byte is x^127. */
CARRYLESS static inline NdPolynomial
nd_polynomial_load (const guint8 *p)
{
  const __m128i reverse =
      _mm_set_epi8 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

  return _mm_shuffle_epi8 (_mm_loadu_si128 ((const __m128i *) p), reverse);
}

CARRYLESS static inline NdPolynomial
nd_polynomial_add (NdPolynomial a, NdPolynomial b)
{
  return _mm_xor_si128 (a, b);
}

/* The product of the low halves plus the product of the high halves. */
CARRYLESS static inline NdPolynomial
nd_polynomial_fold (NdPolynomial a, NdPolynomial b)
{
  return _mm_xor_si128 (_mm_clmulepi64_si128 (a, b, 0x00),
      _mm_clmulepi64_si128 (a, b, 0x11));
}

#elif defined(__aarch64__) && defined(__linux__) \
    && G_BYTE_ORDER == G_LITTLE_ENDIAN           \
    && (defined(__GNUC__) || defined(__clang__))

#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

#define HAVE_CARRYLESS 1
#ifdef __clang__
#define CARRYLESS __attribute__ ((target ("aes")))
#else
#define CARRYLESS __attribute__ ((target ("+crypto")))
#endif

typedef uint64x2_t NdPolynomial;

static inline gboolean
nd_carryless_available (void)
{
  return (getauxval (AT_HWCAP) & HWCAP_PMULL) != 0;
}

CARRYLESS static inline NdPolynomial
nd_polynomial (guint64 high, guint64 low)
{
  return vcombine_u64 (vcreate_u64 (low), vcreate_u64 (high));
}

CARRYLESS static inline guint64
nd_polynomial_low (NdPolynomial a)
{
  return vgetq_lane_u64 (a, 0);
}

CARRYLESS static inline guint64
nd_polynomial_high (NdPolynomial a)
{
  return vgetq_lane_u64 (a, 1);
}

CARRYLESS static inline NdPolynomial
nd_polynomial_load (const guint8 *p)
{
  const uint64x2_t halves = vreinterpretq_u64_u8 (vrev64q_u8 (vld1q_u8 (p)));

  return vextq_u64 (halves, halves, 1);
}

CARRYLESS static inline NdPolynomial
nd_polynomial_add (NdPolynomial a, NdPolynomial b)
{
  return veorq_u64 (a, b);
}

CARRYLESS static inline NdPolynomial
nd_polynomial_fold (NdPolynomial a, NdPolynomial b)
{
  const poly128_t low = vmull_p64 ((poly64_t) vgetq_lane_u64 (a, 0),
      (poly64_t) vgetq_lane_u64 (b, 0));
  const poly128_t high =
      vmull_high_p64 (vreinterpretq_p64_u64 (a), vreinterpretq_p64_u64 (b));

  return veorq_u64 (vreinterpretq_u64_p128 (low),
      vreinterpretq_u64_p128 (high));
}

#endif

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
