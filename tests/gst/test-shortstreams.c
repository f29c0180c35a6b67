/* Streams and volumes that are shorter than the windows of the algorithms, and
 * samples that are not finite.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/tensorstreams.h"

#include <math.h>
#include <string.h>

/* Streams shorter than the window, and volumes smaller than a block: N in, N
 * out, all finite; constants, zero among them, do not change. */
GST_START_TEST (test_short)
{
  static const gchar *const launches[] = { "nddenoise backend=cpu",
    "nddenoise backend=cpu quality=best latency=5",
    "nddenoise backend=cpu motion=true",
    "nddenoise backend=cpu method=adaptive",
    "nddenoise backend=cpu noise=speckle", "ndregister border=nearest" };
  static const struct
  {
    const gchar *text;
    gsize samples;
  } sizes[] = { { "1:1:1", 1 }, { "2:1:1", 2 }, { "3:2:1", 6 }, { "3:2:2", 12 },
    { "3:3:3", 27 }, { "5:1:3", 15 } };
  static const gfloat values[] = { 0, 7.5f, -3, NAN };
  g_autoptr (GRand) rand = new_rand ();

  for (guint i = 0; i < G_N_ELEMENTS (launches); i++) {
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      for (guint v = 0; v < G_N_ELEMENTS (values); v++) {
        const guint volumes = 1 + (s + v) % 3;
        gfloat in[3 * 27];
        g_autoptr (GByteArray) all = NULL;

        for (guint k = 0; k < G_N_ELEMENTS (in); k++)
          in[k] = isnan (values[v]) ? 100 * g_rand_double (rand) : values[v];
        all = run_stream (launches[i], in, 1, sizes[s].text, sizes[s].samples,
            volumes, NULL);
        fail_unless_equals_int (all->len, volumes * sizes[s].samples * 4);
        for (guint k = 0; k < volumes * sizes[s].samples; k++) {
          const gfloat out = ((gfloat *) all->data)[k];

          fail_unless (isfinite (out), "%s, %s: %g", launches[i], sizes[s].text,
              out);
          /* The means of speckle are rounded. */
          fail_unless (isnan (values[v]) || out == values[v]
                  || (strstr (launches[i], "speckle")
                      && fabs (out - values[v]) <= 4e-7 * fabs (values[v])),
              "%s, %s: %.9g instead of %g", launches[i], sizes[s].text, out,
              values[v]);
        }
      }
    }
  }
}
GST_END_TEST;

/* ndstructure with windows longer than the stream and larger than volumes;
 * tensors of zeros have certainty 0, NaN and Inf reach no further than the
 * window, and have certainty 0, too. */
GST_START_TEST (test_structure)
{
  const gchar *launch = "ndstructure backend=cpu sigma=0.4 output=certainty";
  g_autoptr (GRand) rand = new_rand ();
  g_autofree gfloat *in = random_tensors (rand, 10);
  g_autoptr (GByteArray) wide = run_tensors (
      "ndstructure backend=cpu sigma=8 output=\"eigenvalues;certainty\"", in,
      10, NULL);
  g_autoptr (GByteArray) clean = run_tensors (launch, in, 10, NULL);
  g_autoptr (GByteArray) broken = NULL, zeros = NULL;
  const gsize bad[2] = { (1 * SAMPLES + 3 * X * Y + 2 * X + 4),
    (4 * SAMPLES + 5 * X * Y + 6 * X + 1) };

  fail_unless_equals_int (wide->len, VOLUMES * SAMPLES * 5 * sizeof (gfloat));
  for (gsize i = 0; i < VOLUMES * SAMPLES * 5; i++)
    fail_unless (isfinite (((gfloat *) wide->data)[i]));

  in[bad[0] * 10 + 3] = NAN;
  in[bad[1] * 10] = INFINITY;
  broken = run_tensors (launch, in, 10, NULL);
  for (gsize i = 0; i < VOLUMES * SAMPLES; i++) {
    const gfloat certainty = ((gfloat *) broken->data)[i];
    gboolean is_near = FALSE;

    /* 3 sigma in space and 2 sigma in time, rounded up. */
    for (guint k = 0; k < 2; k++) {
      const gint dx = (gint) (i % X) - (gint) (bad[k] % X);
      const gint dy = (gint) (i / X % Y) - (gint) (bad[k] / X % Y);
      const gint dz = (gint) (i / (X * Y) % Z) - (gint) (bad[k] / (X * Y) % Z);
      const gint dt = (gint) (i / SAMPLES) - (gint) (bad[k] / SAMPLES);

      is_near |= MAX (MAX (ABS (dx), ABS (dy)), MAX (ABS (dz), ABS (dt))) <= 2;
      fail_unless (i != bad[k] || certainty == 0);
    }
    fail_unless (isfinite (certainty));
    fail_unless (is_near || certainty == ((gfloat *) clean->data)[i],
        "sample %" G_GSIZE_FORMAT, i);
  }

  memset (in, 0, VOLUMES * SAMPLES * 10 * sizeof (gfloat));
  zeros = run_tensors ("ndstructure backend=cpu sigma=1 "
                       "output=\"orientation;velocity;anisotropy;certainty\"",
      in, 10, NULL);
  fail_unless_equals_int (zeros->len, VOLUMES * SAMPLES * 13 * sizeof (gfloat));
  for (gsize i = 0; i < VOLUMES * SAMPLES * 13; i++)
    fail_unless (((gfloat *) zeros->data)[i] == 0);
}
GST_END_TEST;

static Suite *
shortstreams_suite (void)
{
  Suite *suite = suite_create ("shortstreams");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_short);
  tcase_add_test (tests, test_structure);
  return suite;
}

GST_CHECK_MAIN (shortstreams);
