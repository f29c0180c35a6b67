/* Filters small arrays of many kinds, each twice, and lets callgrind count the
 * instructions of the second time (tests/bench/counts.py).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "lib/ndconv/ndconv.h"

#include <valgrind/callgrind.h>

typedef struct
{
  const gchar *name, *type;
  gsize components, size[4];
  gsize filter[4];   /* of coefficients that are not separable */
  const gchar *text; /* in place of them, or NULL */
  gboolean transposed;
} Row;

static const Row rows[] = {
  { "1x1", "float32", 1, { 128, 128, 1, 1 }, { 1, 1, 1, 1 }, NULL, FALSE },
  { "3x3", "float32", 1, { 64, 64, 1, 1 }, { 3, 3, 1, 1 }, NULL, FALSE },
  { "3x3 uint8", "uint8", 1, { 128, 128, 1, 1 }, { 3, 3, 1, 1 }, NULL, FALSE },
  { "3x3 colours", "float32", 3, { 64, 64, 1, 1 }, { 3, 3, 1, 1 }, NULL,
      FALSE },
  { "3x3 transposed", "float32", 1, { 64, 64, 1, 1 }, { 3, 3, 1, 1 }, NULL,
      TRUE },
  { "7x7", "float32", 1, { 64, 64, 1, 1 }, { 7, 7, 1, 1 }, NULL, FALSE },
  { "3^3", "float32", 1, { 16, 16, 16, 1 }, { 3, 3, 3, 1 }, NULL, FALSE },
  { "sobel", "float32", 1, { 128, 128, 1, 1 }, { 0 }, "sobel", FALSE },
  { "Gaussian", "uint8", 1, { 128, 128, 1, 1 }, { 0 },
      "gaussian,sigma=1,size=9:9:1", FALSE },
  { "box 31 uint8", "uint8", 1, { 128, 128, 1, 1 }, { 0 }, "box,size=31:31:1",
      FALSE },
  { "box 31", "float32", 1, { 128, 128, 1, 1 }, { 0 }, "box,size=31:31:1",
      FALSE },
  { "row, 9", "float32", 1, { 20000, 1, 1, 1 }, { 9, 1, 1, 1 }, NULL, FALSE },
  { "column, 15", "float32", 1, { 128, 128, 1, 1 }, { 1, 15, 1, 1 }, NULL,
      FALSE },
  { "31x31", "float32", 1, { 128, 128, 1, 1 }, { 31, 31, 1, 1 }, NULL, FALSE },
  { "101x101", "float32", 1, { 128, 128, 1, 1 }, { 101, 101, 1, 1 }, NULL,
      FALSE },
};

/* Never NULL. */
static NdFilters *
make_filters (const Row *row, const NdSettings *settings)
{
  const gsize *k = row->filter;
  const gsize n = k[0] * k[1] * k[2] * k[3];
  g_autofree gdouble *w = g_new (gdouble, MAX (n, 1));
  g_autoptr (GError) error = NULL;
  NdFilters *filters;

  for (gsize i = 0; i < n; i++)
    w[i] = (i * 37 % 101 + 1) / 101.0;
  filters = row->text
      ? nd_filters_new (row->text, settings, NULL, &error)
      : nd_filters_new_from_arrays (1, k, w, NULL, settings, &error);
  g_assert_no_error (error);
  return filters;
}

static void
count (const Row *row, const NdSettings *settings)
{
  const gsize n = row->size[0] * row->size[1] * row->size[2] * row->components;
  const gsize bytes = g_str_equal (row->type, "uint8") ? 1 : 4;
  g_autoptr (NdFilters) filters = make_filters (row, settings);
  g_autofree guint8 *from = g_malloc (n * bytes), *to = g_malloc (n * bytes);
  g_autoptr (GError) error = NULL;
  NdArray in, out;

  for (gsize i = 0; i < n; i++) {
    if (bytes == 1)
      from[i] = i * 31 % 251;
    else
      ((gfloat *) from)[i] = i * 31 % 251 / 251.0f;
  }
  nd_array_init (&in, from, row->type, row->components, row->size);
  nd_array_init (&out, to, row->type, row->components, row->size);
  if (row->transposed) {
    in.strides[0] = in.strides[1];
    in.strides[1] = bytes;
  }
  for (guint i = 0; i < 2; i++) {
    CALLGRIND_ZERO_STATS;
    if (!nd_convolve (filters, settings, &in, &out, NULL, &error))
      g_error ("%s", error->message);
  }
  CALLGRIND_DUMP_STATS_AT (row->name);
}

int
main (void)
{
  g_autoptr (NdSettings) settings = nd_settings_new ();

  if (!nd_settings_set (settings, "n-threads", "1", NULL)
      || !nd_settings_set (settings, "backend", "cpu", NULL))
    return 1;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    count (&rows[i], settings);
  return 0;
}
