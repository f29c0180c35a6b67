/* The n-th large allocation fails, for each n, while a convolver is made and
 * used. Sizes are those of a stranger's file: long rows, long filters over
 * time, and many coefficients. Each failure is an error, ends no process and
 * leaks nothing; afterwards the same convolver works.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <string.h>

#include "core/error.h"
#include "cpu/cpu.h"
#include "engine/convolver.h"
#include "tests/fuzz/memory.h"

/* Smaller allocations have sizes that no file decides. */
#define LARGE (32 * 1024)

/* Of GLib's own caches, and of threads. */
#define SMALL_LEAK 16384

typedef struct
{
  const gchar *name;
  NdMethod method;
  NdPrecision precision;
  NdSampleType type;
  gsize volume[ND_AXES - 1];
  gsize filter[ND_AXES];
  gboolean rank_1;
  gboolean ahead;
  gboolean nan; /* all samples */
} Case;

static const Case cases[] = {
  { "direct-row", ND_METHOD_DIRECT, ND_PRECISION_SINGLE, ND_UINT8,
      { 20000, 3, 1 }, { 9, 3, 1, 1 }, FALSE, FALSE },
  { "direct-column", ND_METHOD_DIRECT, ND_PRECISION_SINGLE, ND_FLOAT32,
      { 1, 20000, 1 }, { 1, 9, 1, 1 }, FALSE, FALSE },
  { "direct-depth", ND_METHOD_DIRECT, ND_PRECISION_SINGLE, ND_INT16,
      { 2, 2, 9000 }, { 1, 1, 5, 1 }, FALSE, FALSE },
  { "direct-taps", ND_METHOD_DIRECT, ND_PRECISION_SINGLE, ND_UINT8,
      { 32, 32, 32 }, { 27, 27, 27, 1 }, FALSE, FALSE },
  { "direct-time", ND_METHOD_DIRECT, ND_PRECISION_DOUBLE, ND_FLOAT64,
      { 4, 4, 2 }, { 1, 1, 1, 9001 }, FALSE, TRUE },
  { "separable-row", ND_METHOD_SEPARABLE, ND_PRECISION_SINGLE, ND_UINT8,
      { 20000, 3, 1 }, { 9, 3, 1, 1 }, TRUE, FALSE },
  { "separable-taps", ND_METHOD_SEPARABLE, ND_PRECISION_DOUBLE, ND_FLOAT64,
      { 20000, 2, 2 }, { 9001, 1, 1, 1 }, TRUE, FALSE },
  { "separable-depth", ND_METHOD_SEPARABLE, ND_PRECISION_SINGLE, ND_UINT16,
      { 3, 3, 9000 }, { 3, 3, 3, 1 }, TRUE, FALSE },
  { "separable-time", ND_METHOD_SEPARABLE, ND_PRECISION_SINGLE, ND_UINT8,
      { 4, 4, 2 }, { 1, 1, 1, 9001 }, TRUE, FALSE },
  { "fft-row", ND_METHOD_FFT, ND_PRECISION_SINGLE, ND_UINT8, { 20000, 3, 1 },
      { 5, 5, 1, 1 }, FALSE, FALSE },
  { "fft-taps", ND_METHOD_FFT, ND_PRECISION_SINGLE, ND_UINT8, { 32, 32, 32 },
      { 27, 27, 27, 1 }, FALSE, FALSE },
  { "fft-nan", ND_METHOD_FFT, ND_PRECISION_SINGLE, ND_FLOAT32, { 9000, 5, 1 },
      { 5, 5, 1, 1 }, FALSE, FALSE, TRUE },
  { "fft-blocks", ND_METHOD_FFT, ND_PRECISION_SINGLE, ND_UINT8, { 40, 40, 40 },
      { 5, 5, 5, 3 }, FALSE, FALSE },
  { "fft-time", ND_METHOD_FFT, ND_PRECISION_SINGLE, ND_UINT8, { 4, 4, 2 },
      { 3, 3, 1, 5001 }, FALSE, FALSE },
  { "auto", ND_METHOD_AUTO, ND_PRECISION_SINGLE, ND_UINT8, { 20000, 20, 2 },
      { 5, 5, 3, 1 }, FALSE, FALSE },
};

static NdBank *
make_bank (const Case *c)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdFilter *filter = nd_filter_new ("test", c->filter);

  for (gsize i = 0; i < nd_filter_count (filter); i++)
    filter->coefficients[i] = c->rank_1 ? 1 : 1 + (i * i >> 3) % 7;
  g_ptr_array_add (filters, filter);
  return nd_bank_new (filters);
}

/* Makes a convolver for @bank, and pushes one volume of @samples, with one
 * response into @out if the window has one volume. */
static gboolean
convolve (const Case *c, NdBank *bank, const guint8 *samples, guint8 *out,
    GError **error)
{
  const gsize sample = nd_sample_size (c->type);
  const gsize *size = c->volume;
  const NdSamples in[ND_MAX_PLANES] = { { (guint8 *) samples, sample,
      size[0] * sample, size[0] * size[1] * sample, 0 } };
  const NdSamples to[ND_MAX_PLANES] = { { out, sample, size[0] * sample,
      size[0] * size[1] * sample, 0 } };
  const NdScale scale[ND_MAX_PLANES] = { { 1, 0 } };
  const NdConvolverSettings settings = { .n_planes = 1,
    .time_border = ND_BORDER_NEAREST,
    .backend = "cpu",
    .device_id = -1,
    .ahead = c->ahead,
    .method = c->method,
    .jobs = { { .shape = { 1, { size[0], size[1], size[2] } },
        .in_type = c->type,
        .out_type = c->type,
        .precision = c->precision,
        .bank = bank } } };
  g_autoptr (NdConvolver) convolver = nd_convolver_new (&settings, error);

  return convolver && nd_convolver_push (convolver, in, error)
      && (!nd_convolver_ready (convolver)
          || nd_convolver_respond (convolver, scale, to, error));
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  const gsize bytes =
      c->volume[0] * c->volume[1] * c->volume[2] * nd_sample_size (c->type);
  g_autofree guint8 *samples = g_malloc (bytes), *out = g_malloc (bytes);
  g_autofree guint8 *right = g_malloc0 (bytes);
  g_autoptr (NdBank) bank = make_bank (c);
  g_autoptr (GError) error = NULL;
  guint errors = 0;

  for (gsize i = 0; i < bytes; i++)
    samples[i] = c->nan ? 0xff : nd_sample_is_float (c->type) ? 0 : i * i >> 4;
  g_assert_true (convolve (c, bank, samples, right, &error));
  g_assert_no_error (error);
  for (guint n = 1;; n++) {
    gboolean done, failed;

    memory_begin ();
    memory_fail (n, LARGE);
    done = convolve (c, bank, samples, out, &error);
    failed = memory_has_failed ();
    memory_fail (0, 0);
    g_assert_true (done == !error);
    if (!failed)
      break;
    if (error) {
      /* Without memory to separate it, a filter counts as not separable. */
      g_assert_true (error->domain == ND_ERROR
          && (error->code == ND_ERROR_MEMORY
              || (c->rank_1 && error->code == ND_ERROR_SETTINGS)));
      errors++;
      g_clear_error (&error);
    }
    g_assert_cmpint (memory_now (), <=, SMALL_LEAK);
  }
  g_assert_no_error (error);
  g_assert_true (convolve (c, bank, samples, out, &error));
  g_assert_no_error (error);
  g_test_message ("%s: %u errors", c->name, errors);
  g_assert_cmpuint (errors, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  nd_backend_register (&nd_cpu_backend);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = g_strconcat ("/nomemory/", cases[i].name, NULL);

    g_test_add_data_func (path, &cases[i], test_case);
  }
  return g_test_run ();
}
