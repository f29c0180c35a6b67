/* The checksum against the division that its specification describes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/crc64.h"

#include <string.h>

/* ECMA-182, annex B: the polynomial by its exponents. */
static const guint exponents[] = { 62, 57, 55, 54, 53, 52, 47, 46, 45, 40, 39,
  38, 37, 35, 33, 32, 31, 29, 27, 24, 23, 22, 21, 19, 17, 13, 12, 10, 9, 7, 4,
  1, 0 };

/* Divides bit by bit. */
static guint64
divide (guint64 crc, const guint8 *data, gsize size)
{
  guint64 polynomial = 0;

  for (guint i = 0; i < G_N_ELEMENTS (exponents); i++)
    polynomial |= G_GUINT64_CONSTANT (1) << exponents[i];
  for (gsize i = 0; i < size; i++) {
    for (gint bit = 7; bit >= 0; bit--) {
      const guint64 top = crc >> 63 ^ (data[i] >> bit & 1);

      crc = crc << 1 ^ (top ? polynomial : 0);
    }
  }
  return crc;
}

static guint8 *
random_bytes (gsize size)
{
  guint8 *data = g_malloc (size + 1);

  for (gsize i = 0; i < size; i++)
    data[i] = g_test_rand_int_range (0, 256);
  return data;
}

static void
check (guint64 crc, const guint8 *data, gsize size)
{
  const guint64 right = divide (crc, data, size);

  g_assert_cmphex (nd_crc64 (crc, data, size), ==, right);
  g_assert_cmphex (nd_crc64_tables (crc, data, size), ==, right);
  if (nd_crc64_has_carryless ())
    g_assert_cmphex (nd_crc64_carryless (crc, data, size), ==, right);
}

static void
test_known (void)
{
  /* The check value of CRC-64/ECMA-182 in catalogues of checksums. */
  g_assert_cmphex (nd_crc64 (0, "123456789", 9), ==,
      G_GUINT64_CONSTANT (0x6C40DF5F0B497347));
  g_assert_cmphex (nd_crc64 (0, NULL, 0), ==, 0);
}

/* Each bit of a message has its own effect. */
static void
test_single_bits (void)
{
  guint8 data[300] = { 0 };

  for (guint bit = 0; bit < 8 * sizeof (data); bit++) {
    data[bit / 8] = 0x80 >> bit % 8;
    check (0, data, sizeof (data));
    data[bit / 8] = 0;
  }
}

static void
test_sizes (void)
{
  g_autofree guint8 *data = random_bytes (9100);

  /* Tables take 4096 bytes at a time, multiplication 128. */
  for (gsize size = 0; size < 9000; size += size < 1000 ? 1 : 37)
    check ((guint64) g_test_rand_int () << 32 | (guint32) g_test_rand_int (),
        data + g_test_rand_int_range (0, 100), size);
}

static void
test_pieces (void)
{
  const gsize size = 100000;
  g_autofree guint8 *data = random_bytes (size);
  const guint64 whole = divide (0, data, size);

  for (guint round = 0; round < 100; round++) {
    guint64 crc = 0;

    for (gsize at = 0, n; at < size; at += n) {
      n = g_test_rand_int_range (0, 5000);
      n = MIN (size - at, n);
      crc = nd_crc64 (crc, data + at, n);
    }
    g_assert_cmphex (crc, ==, whole);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/crc64/known", test_known);
  g_test_add_func ("/crc64/single-bits", test_single_bits);
  g_test_add_func ("/crc64/sizes", test_sizes);
  g_test_add_func ("/crc64/pieces", test_pieces);
  return g_test_run ();
}
