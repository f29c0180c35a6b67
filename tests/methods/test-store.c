/* Conversion of responses to samples, by the kernels of each instruction set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <math.h>

#include "cpu/kernels.h"

#define RESPONSES_MAX 200
#define STRIDE 3 /* samples, of outputs that are not dense */

static const gdouble lows[] = {
  [ND_UINT8] = 0, [ND_INT16] = G_MININT16, [ND_UINT16] = 0
};
static const gdouble highs[] = {
  [ND_UINT8] = G_MAXUINT8, [ND_INT16] = G_MAXINT16, [ND_UINT16] = G_MAXUINT16
};

/* Halves, which round to even, and numbers at and beyond the limits. */
static gfloat
random_response (NdSampleType type)
{
  const gdouble middle = g_test_rand_bit () ? lows[type] : highs[type];

  switch (g_test_rand_int_range (0, 8)) {
    case 0:
      return NAN;
    case 1:
      return g_test_rand_bit () ? INFINITY : -INFINITY;
    case 2:
      return g_test_rand_double_range (-1e6, 1e6);
    default:
      return middle + 0.25 * g_test_rand_int_range (-16, 17);
  }
}

static gdouble
sample_at (const guint8 *at, NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return *at;
    case ND_INT16:
      return *(const gint16 *) at;
    default:
      return *(const guint16 *) at;
  }
}

static void
check (const NdKernels *kernels, NdSampleType type, gdouble gain,
    gdouble offset, gsize stride)
{
  const gsize n = g_test_rand_int_range (1, RESPONSES_MAX + 1);
  gfloat responses[RESPONSES_MAX];
  guint16 out[RESPONSES_MAX * STRIDE];
  gsize counted = 0, saturated = 0;
  const NdScale scale = { gain, offset, &counted };
  const NdScale silent = { gain, offset, NULL };

  for (gsize i = 0; i < n; i++)
    responses[i] = random_response (type);
  kernels->store (responses, n, &scale, type, (guint8 *) out, stride);
  kernels->store (responses, n, &silent, type, (guint8 *) out, stride);
  for (gsize i = 0; i < n; i++) {
    const gdouble exact = gain * responses[i] + offset;
    const gdouble rounded = isnan (exact) ? 0 : rint (exact);

    saturated += rounded < lows[type] || rounded > highs[type];
    g_assert_cmpfloat (sample_at ((const guint8 *) out + i * stride, type), ==,
        CLAMP (rounded, lows[type], highs[type]));
  }
  g_assert_cmpuint (counted, ==, saturated);
}

static void
test_store (void)
{
  static const NdSampleType types[] = { ND_UINT8, ND_INT16, ND_UINT16 };

  for (const NdKernels *const *k = nd_kernels_all (); *k; k++) {
    for (guint i = 0; i < 300; i++) {
      const NdSampleType type = types[i % 3];
      const gsize size = nd_sample_size (type);

      check (*k, type, 1, 0, size);
      check (*k, type, 1, 0, STRIDE * size);
      /* Exact in binary, so that one and two roundings are the same. */
      check (*k, type, 0.5, 3, size);
      check (*k, type, -2, 0.5, STRIDE * size);
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store", test_store);
  return g_test_run ();
}
