/* What volumes take: each back end and type, the denoiser, long windows, and
 * what is refused. No time is compared with a clock.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <ndconv/ndconv.h>

#include <math.h>
#include <string.h>

static const gsize size[4] = { 24, 20, 6, 1 };

static NdSettings *
cpu_settings (void)
{
  NdSettings *settings = nd_settings_new ();
  g_autoptr (GError) error = NULL;

  nd_settings_set (settings, "axes", "xyzt", &error);
  g_assert_no_error (error);
  nd_settings_set (settings, "backend", "cpu", &error);
  g_assert_no_error (error);
  return settings;
}

static NdFilters *
filters_of (const gchar *text, const NdSettings *settings)
{
  g_autoptr (GError) error = NULL;
  NdFilters *filters = nd_filters_new (text, settings, NULL, &error);

  g_assert_no_error (error);
  return filters;
}

static void
check_timing (const NdTiming *timing, gsize least_bytes)
{
  g_assert_cmpstr (timing->backend, ==, "cpu");
  g_assert_cmpuint (strlen (timing->method), >, 2);
  g_assert_true (timing->measured);
  g_assert_true (isfinite (timing->slowest) && timing->seconds > 0
      && timing->seconds <= timing->slowest);
  g_assert_cmpuint (timing->bytes, >=, least_bytes);
}

static void
test_types (void)
{
  static const gchar *const types[] = { "uint8", "int16", "uint16", "float32",
    "int8", "int32", "uint32", "float16", "float64" };
  g_autoptr (NdSettings) settings = cpu_settings ();
  g_autoptr (NdFilters) filters = NULL;

  nd_settings_set (settings, "precision", "double", NULL);
  filters = filters_of ("box,size=3:3:3:5", settings);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    g_autoptr (GError) error = NULL;
    NdTiming timing;
    NdArray volume;

    nd_array_init (&volume, NULL, types[i], 1, size);
    nd_time_filters (filters, settings, &volume, 5, NULL, &timing, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (timing.delay, ==, 2);
    /* The window, the input and the output. */
    check_timing (&timing, 7 * 24 * 20 * 6);
  }
}

static void
test_components_and_banks (void)
{
  g_autoptr (NdSettings) settings = cpu_settings ();
  g_autoptr (NdFilters) filters =
      filters_of ("gaussian,sigma=1;box,size=3", settings);
  g_autoptr (GError) error = NULL;
  NdTiming timing;
  NdArray volume;

  nd_array_init (&volume, NULL, "float32", 2, size);
  nd_time_filters (filters, settings, &volume, 5, NULL, &timing, &error);
  g_assert_no_error (error);
  check_timing (&timing, 2 * 4 * 24 * 20 * 6);
}

/* To fill this window takes more than ten times the time that is given. */
static void
test_long_window (void)
{
  g_autoptr (NdSettings) settings = cpu_settings ();
  g_autoptr (NdFilters) filters = filters_of ("box,size=1:1:1:1001", settings);
  g_autoptr (GError) error = NULL;
  NdTiming timing;
  NdArray volume;

  nd_array_init (&volume, NULL, "uint8", 1, size);
  nd_time_filters (filters, settings, &volume, 1e-9, NULL, &timing, &error);
  g_assert_no_error (error);
  g_assert_false (timing.measured);
  g_assert_true (timing.seconds > 0);
  g_assert_cmpuint (timing.delay, ==, 500);
}

static void
test_denoiser (void)
{
  static const gchar *const options[] = { NULL, "", "latency=0",
    "quality=best,latency=5", "method=adaptive", "noise=speckle" };
  static const guint delays[] = { 3, 3, 0, 5, 3, 1 };
  g_autoptr (NdSettings) settings = cpu_settings ();
  NdArray volume;

  nd_array_init (&volume, NULL, "uint16", 1, size);
  for (guint i = 0; i < G_N_ELEMENTS (options); i++) {
    g_autoptr (GError) error = NULL;
    NdTiming timing;

    nd_time_denoiser (options[i], settings, &volume, .1, NULL, &timing, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (timing.delay, ==, delays[i]);
    if (timing.measured)
      check_timing (&timing, 2 * 2 * 24 * 20 * 6);
  }
}

static void
expect_refused (const gchar *type, const gsize n[4], const gchar *options,
    const gint *cancelled, gint code, const gchar *words)
{
  g_autoptr (NdSettings) settings = cpu_settings ();
  g_autoptr (NdFilters) filters = filters_of ("box,size=3", settings);
  g_autoptr (GError) error = NULL;
  NdTiming timing;
  NdArray volume;

  nd_array_init (&volume, NULL, type, 1, n);
  if (options)
    g_assert_false (nd_time_denoiser (options, settings, &volume, 1, cancelled,
        &timing, &error));
  else
    g_assert_false (nd_time_filters (filters, settings, &volume, 1, cancelled,
        &timing, &error));
  g_assert_error (error, ND_ERROR, code);
  g_assert_nonnull (strstr (error->message, words));
}

static void
test_refused (void)
{
  const gsize none[4] = { 0, 3, 3, 1 };
  const gsize huge[4] = { (gsize) 1 << 23, (gsize) 1 << 22, 4, 1 };
  const gint cancelled = 1;

  expect_refused ("uint9", size, NULL, NULL, ND_ERROR_SETTINGS, "uint9");
  expect_refused ("uint8", none, NULL, NULL, ND_ERROR_SETTINGS, "0");
  expect_refused ("uint8", huge, NULL, NULL, ND_ERROR_MEMORY, "memory");
  expect_refused ("uint8", huge, "", NULL, ND_ERROR_MEMORY, "memory");
  expect_refused ("uint8", size, NULL, &cancelled, ND_ERROR_CANCELLED,
      "cancel");
  expect_refused ("uint8", size, "", &cancelled, ND_ERROR_CANCELLED, "cancel");
  expect_refused ("int32", size, "", NULL, ND_ERROR_FORMAT, "int32");
  expect_refused ("uint8", size, "speed=9", NULL, ND_ERROR_SETTINGS, "speed");
  expect_refused ("uint8", size, "sigma-map=auto", NULL, ND_ERROR_SETTINGS,
      "without sigma-map");
  expect_refused ("uint8", size, "time-border=wrap", NULL, ND_ERROR_SETTINGS,
      "time-border=wrap");
  expect_refused ("uint8", size, "noise=poisson,border=constant", NULL,
      ND_ERROR_SETTINGS, "constant border");
  expect_refused ("uint8", size, "quality", NULL, ND_ERROR_SETTINGS, "quality");
  expect_refused ("uint8", size, "latency=99", NULL, ND_ERROR_SETTINGS,
      "latency");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/time/types", test_types);
  g_test_add_func ("/time/banks", test_components_and_banks);
  g_test_add_func ("/time/long-window", test_long_window);
  g_test_add_func ("/time/denoiser", test_denoiser);
  g_test_add_func ("/time/refused", test_refused);
  return g_test_run ();
}
