/* The axes that a filter chooses: x, y and t for frames of either media type,
 * and size 1 along axes of one sample.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <string.h>

#define VOLUMES 7

/* Pushes volumes of the given dimensions. */
static void
push (GstHarness *h, const gchar *dimensions, gsize samples)
{
  g_autofree gchar *caps = g_strdup_printf (
      "other/tensors, format=static, num_tensors=1, types=float32, "
      "dimensions=%s, framerate=20/1",
      dimensions);

  gst_harness_set_src_caps_str (h, caps);
  for (guint n = 0; n < VOLUMES; n++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (n);
    g_autofree gfloat *values = g_new (gfloat, samples);
    GstBuffer *buffer;

    for (gsize i = 0; i < samples; i++)
      values[i] = g_rand_int_range (rand, 0, 256);
    buffer = gst_buffer_new_memdup (values, samples * sizeof (gfloat));
    GST_BUFFER_PTS (buffer) = n * GST_SECOND / 20;
    GST_BUFFER_DURATION (buffer) = GST_SECOND / 20;
    assert_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
}

/* All samples that the element described by @launch makes of frames, and if
 * @and_volumes, of volumes after them. */
static GByteArray *
run (const gchar *launch, gboolean and_volumes)
{
  g_autofree gchar *line = g_strdup_printf ("%s backend=cpu", launch);
  GstHarness *h = gst_harness_new_parse (line);
  GByteArray *output = g_byte_array_new ();
  GstBuffer *buffer;

  push (h, "1:9:8:1", 72);
  if (and_volumes)
    push (h, "1:4:5:6", 120);
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (h))) {
    GstMapInfo map;

    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    g_byte_array_append (output, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  return output;
}

static gfloat
at (const GByteArray *samples, guint i)
{
  return ((const gfloat *) samples->data)[i];
}

/* Both make the same of frames. border=constant shows a size above 1 along
 * z. */
static const struct
{
  const gchar *launch, *same;
} equal[] = {
  { "ndconv3d border=constant filter=\"box,size=3\"",
      "ndconv3d border=constant axes=xyt filter=\"box,size=3\"" },
  { "ndconv3d border=constant filter=\"gaussian,sigma=0.7\"",
      "ndconv4dtemporal border=constant "
      "filter=\"gaussian,sigma=0.7:0.7:0:0.7\"" },
  { "ndconv3d axes=xyz border=constant filter=\"box,size=3\"",
      "ndconv2d border=constant filter=\"box,size=3\"" },
  { "ndconv4dtemporal border=constant filter=\"box,size=3\"",
      "ndconv4dtemporal border=constant filter=\"box,size=3:3:1:3\"" },
  { "ndconv4dtemporal border=constant filter=\"box,size=3; sobel\"",
      "ndconv3d border=constant filter=\"box,size=3; sobel\"" },
  { "ndconv4dtemporal filter=\"quadrature-bank,size=5\"",
      "ndconv3d filter=\"quadrature-bank,size=5\"" },
  { "ndconv4dtemporal response=tensor filter=\"monomial-bank,size=5\"",
      "ndconv3d response=tensor filter=\"monomial-bank,size=5\"" },
};

GST_START_TEST (test_equal)
{
  g_autoptr (GByteArray) output = run (equal[__i__].launch, FALSE);
  g_autoptr (GByteArray) same = run (equal[__i__].same, FALSE);

  fail_unless (output->len >= VOLUMES * 72 * sizeof (gfloat));
  assert_equals_int (output->len, same->len);
  fail_unless (memcmp (output->data, same->data, same->len) == 0, "%s",
      equal[__i__].launch);
}

GST_END_TEST;

/* Sizes per axis and a direction count along an axis of one sample too. */
GST_START_TEST (test_given)
{
  g_autoptr (GByteArray) thin =
      run ("ndconv4dtemporal border=constant filter=\"box,size=3:3:1:3\"",
          FALSE);
  g_autoptr (GByteArray) thick =
      run ("ndconv4dtemporal border=constant filter=\"box,size=3:3:3:3\"",
          FALSE);
  g_autoptr (GByteArray) across =
      run ("ndconv4dtemporal filter=\"sobel,direction=z\"", FALSE);

  assert_equals_int (thin->len, thick->len);
  for (guint i = 0; i < thin->len / sizeof (gfloat); i++)
    fail_unless (ABS (at (thick, i) * 3 - at (thin, i)) < 1e-3);
  assert_equals_int (across->len, thin->len);
  for (guint i = 0; i < across->len / sizeof (gfloat); i++)
    fail_unless (ABS (at (across, i)) < 1e-3);
}

GST_END_TEST;

/* The axes are chosen again when volumes follow frames. */
GST_START_TEST (test_change)
{
  g_autoptr (GByteArray) both =
      run ("ndconv3d border=constant filter=\"box,size=3\"", TRUE);
  g_autoptr (GByteArray) frames =
      run ("ndconv3d axes=xyt border=constant filter=\"box,size=3\"", FALSE);
  g_autoptr (GByteArray) volumes =
      run ("ndconv3d axes=xyz border=constant filter=\"box,size=3\"", TRUE);

  assert_equals_int (both->len, VOLUMES * (72 + 120) * sizeof (gfloat));
  assert_equals_int (volumes->len, both->len);
  fail_unless (memcmp (both->data, frames->data, frames->len) == 0);
  fail_unless (memcmp (both->data + frames->len, volumes->data + frames->len,
                   both->len - frames->len)
      == 0);
}

GST_END_TEST;

static Suite *
axes_suite (void)
{
  Suite *suite = suite_create ("axes");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_loop_test (tests, test_equal, 0, G_N_ELEMENTS (equal));
  tcase_add_test (tests, test_given);
  tcase_add_test (tests, test_change);
  return suite;
}

GST_CHECK_MAIN (axes);
