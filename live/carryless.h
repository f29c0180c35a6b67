/* Carry-less multiplication of the processor, for polynomials of 128 bits: on
 * x86 and on 64-bit Arm. Without HAVE_CARRYLESS there is none.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

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
