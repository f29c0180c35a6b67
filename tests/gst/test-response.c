/* The property response: each kind for complex and real responses, for banks
 * and complex input; the resulting caps; and refused combinations.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include <math.h>

#define BANK "quadrature-bank,size=5,center-frequency=1.2"

static const gchar *const kinds[] = { "all", "magnitude", "phase", "real",
  "imaginary", "energy", "max", "argmax", "sum" };

/* The samples of the output for volume 0, and the dimensions of its caps. */
typedef struct
{
  gfloat *samples;
  gsize n;
  gchar *dimensions;
} Output;

static void
output_clear (Output *output)
{
  g_free (output->samples);
  g_free (output->dimensions);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Output, output_clear)
static Output
run (const gchar *factory, const gchar *filter, const gchar *kind,
    guint components)
{
  Stream *s =
      stream_new (factory, NULL, "filter", filter, "response", kind, NULL);
  g_autoptr (GstCaps) caps = NULL;
  g_autoptr (GstBuffer) buffer = NULL;
  Output output = {
    NULL,
  };
  gsize bytes;

  s->dims[0] = components;
  stream_set_size (s, 7, 6, 5);
  stream_start (s);
  stream_push (s, 0);
  stream_eos (s);
  buffer = stream_pull (s);
  caps = gst_pad_get_current_caps (s->h->sinkpad);
  output.dimensions =
      g_strdup (gst_structure_get_string (gst_caps_get_structure (caps, 0),
          "dimensions"));
  gst_buffer_extract_dup (buffer, 0, -1, (gpointer *) &output.samples, &bytes);
  output.n = bytes / sizeof (gfloat);
  stream_free (s);
  return output;
}

/* Computes kind @kind of @k responses of @n samples from all of them. */
static gdouble
expect (const gchar *kind, const gfloat *all, gboolean is_complex, guint k,
    gsize n, gsize i)
{
  gsize which = i / n, at = i % n;
  gdouble largest = 0, sum = 0, argmax = 0, re, im;

  for (guint j = 0; j < k; j++) {
    const gfloat *r = all + (j * n + at) * (is_complex ? 2 : 1);
    gdouble magnitude = is_complex ? hypot (r[0], r[1]) : fabs (r[0]);

    argmax = magnitude > largest ? j : argmax;
    largest = MAX (largest, magnitude);
    sum += magnitude;
  }
  if (strcmp (kind, "max") == 0)
    return largest;
  if (strcmp (kind, "argmax") == 0)
    return argmax;
  if (strcmp (kind, "sum") == 0)
    return sum;
  re = all[(which * n + at) * (is_complex ? 2 : 1)];
  im = is_complex ? all[(which * n + at) * 2 + 1] : 0;
  if (strcmp (kind, "magnitude") == 0)
    return hypot (re, im);
  if (strcmp (kind, "phase") == 0)
    return atan2 (im, re);
  if (strcmp (kind, "real") == 0)
    return re;
  if (strcmp (kind, "imaginary") == 0)
    return im;
  return re * re + im * im;
}

static const struct
{
  const gchar *factory;
  const gchar *filter;
  guint components;              /* of the input */
  gboolean is_complex;           /* responses */
  guint n;                       /* of them */
  const gchar *all, *each, *one; /* dimensions */
} cases[] = {
  { "ndconv2d", "quadrature,size=5", 1, TRUE, 1, "2:7:6:5", "1:7:6:5",
      "1:7:6:5" },
  { "ndconv2d", BANK, 1, TRUE, 4, "2:7:6:5:4", "1:7:6:5:4", "1:7:6:5" },
  { "ndconv3d", BANK, 1, TRUE, 6, "2:7:6:5:6", "1:7:6:5:6", "1:7:6:5" },
  { "ndconv4dtemporal", BANK, 1, TRUE, 12, "2:7:6:5:12", "1:7:6:5:12",
      "1:7:6:5" },
  { "ndconv4dtemporal", "quadrature-bank,size=5:5:5:1", 1, TRUE, 6, "2:7:6:5:6",
      "1:7:6:5:6", "1:7:6:5" },
  { "ndconv3d", "monomial-bank,size=5", 1, FALSE, 9, "1:7:6:5:9", "1:7:6:5:9",
      "1:7:6:5" },
  { "ndconv3d", "sobel; box,size=3", 3, FALSE, 2, "3:7:6:5:2", "3:7:6:5:2",
      "3:7:6:5" },
  { "ndconv3d", "sobel; box,size=3", 2, TRUE, 2, "2:7:6:5:2", "1:7:6:5:2",
      "1:7:6:5" },
  { "ndconv3d", "gabor,size=5; sobel; gabor,size=3", 1, TRUE, 3, "2:7:6:5:3",
      "1:7:6:5:3", "1:7:6:5" },
};

GST_START_TEST (test_kinds)
{
  gsize n = 7 * 6 * 5 * (cases[__i__].components == 3 ? 3 : 1);
  g_auto (Output) all = run (cases[__i__].factory, cases[__i__].filter, "all",
      cases[__i__].components);

  fail_unless_equals_string (all.dimensions, cases[__i__].all);
  for (guint k = 1; k < G_N_ELEMENTS (kinds); k++) {
    g_auto (Output) output = run (cases[__i__].factory, cases[__i__].filter,
        kinds[k], cases[__i__].components);
    gboolean one = k >= 6;

    fail_unless_equals_string (output.dimensions,
        one ? cases[__i__].one : cases[__i__].each);
    fail_unless_equals_uint64 (output.n, n * (one ? 1 : cases[__i__].n));
    for (gsize i = 0; i < output.n; i++) {
      gdouble want = expect (kinds[k], all.samples, cases[__i__].is_complex,
          cases[__i__].n, n, i);

      fail_unless (fabs (output.samples[i] - want) <= 1e-5 * (1 + fabs (want)),
          "%s, %s, %" G_GSIZE_FORMAT ": %g, not %g", cases[__i__].filter,
          kinds[k], i, output.samples[i], want);
    }
  }
}

GST_END_TEST;

/* gain, offset and rounding apply to the output. */
GST_START_TEST (test_scaled)
{
  Stream *s = stream_new ("ndconv3d", NULL, "filter", BANK, "response",
      "argmax", "output-type", "uint8", "gain", "10", "offset", "100", NULL);
  g_autoptr (GstBuffer) buffer = NULL;
  GstMapInfo map;

  stream_set_size (s, 7, 6, 5);
  stream_start (s);
  stream_push (s, 0);
  buffer = stream_pull (s);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless_equals_uint64 (map.size, 7 * 6 * 5);
  for (gsize i = 0; i < map.size; i++)
    fail_unless (map.data[i] >= 100 && map.data[i] <= 150
        && map.data[i] % 10 == 0);
  gst_buffer_unmap (buffer, &map);
  stream_free (s);
}

GST_END_TEST;

/* Gray video stays video if the output is one real response. */
GST_START_TEST (test_video)
{
  GstHarness *h =
      gst_harness_new_parse ("ndconv2d filter=\"" BANK "\" response=max");
  g_autoptr (GstCaps) caps = NULL;

  gst_harness_set_src_caps_str (h,
      "video/x-raw,format=GRAY8,width=16,"
      "height=8,framerate=10/1");
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_structure_has_name (gst_caps_get_structure (caps, 0),
      "video/x-raw"));
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Edges of the luma; chroma is kept. */
GST_START_TEST (test_luma)
{
  GstHarness *h = gst_harness_new_parse ("ndconv2d filter=\"" BANK
                                         "\" response=sum planes=luma");
  GstBuffer *in, *out;
  guint8 sample[8 * 8 * 3 / 2];

  for (guint i = 0; i < sizeof (sample); i++)
    sample[i] = i < 64 ? 100 : i;
  gst_harness_set_src_caps_str (h,
      "video/x-raw,format=I420,width=8,height=8,"
      "framerate=10/1");
  in = gst_harness_create_buffer (h, sizeof (sample));
  gst_buffer_fill (in, 0, sample, sizeof (sample));
  out = gst_harness_push_and_pull (h, in);
  fail_unless (out != NULL);
  /* The response of a filter that sums to 0 to a constant is 0. */
  memset (sample, 0, 64);
  fail_unless_equals_int (gst_buffer_memcmp (out, 0, sample, sizeof (sample)),
      0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Another kind while playing: the caps change, and no volume is lost. */
GST_START_TEST (test_change_while_playing)
{
  Stream *s = stream_new ("ndconv3d", NULL, "filter", BANK, NULL);

  stream_set_size (s, 7, 6, 5);
  stream_start (s);
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    g_autoptr (GstBuffer) buffer = NULL;

    gst_util_set_object_arg (G_OBJECT (s->element), "response", kinds[k]);
    stream_push (s, (gint) k);
    buffer = stream_pull (s);
    fail_unless_equals_uint64 (gst_buffer_get_size (buffer),
        7 * 6 * 5 * sizeof (gfloat)
            * (k == 0       ? 12
                    : k < 6 ? 6
                            : 1));
  }
  fail_unless_equals_int (stream_messages (s,
                              GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, NULL),
      0);
  stream_free (s);
}

GST_END_TEST;

/* A source that queries the accepted caps still gets a reason: the CAPS event
 * brings the refused caps and posts the error. */
GST_START_TEST (test_refused_caps)
{
  g_autoptr (GstElement) filter =
      gst_object_ref_sink (gst_element_factory_make ("ndconv3d", NULL));
  g_autoptr (GstPad) pad = gst_element_get_static_pad (filter, "sink");
  g_autoptr (GstCaps) caps = gst_caps_from_string (
      "other/tensors,"
      "format=static,num_tensors=1,types=float32,framerate=25/1,"
      "dimensions=2:9:9:9");
  g_autoptr (GstCaps) answer = NULL;

  g_object_set (filter, "filter", "quadrature,size=5", NULL);
  answer = gst_pad_query_caps (pad, caps);
  fail_unless (gst_caps_is_equal (answer, caps));
}

GST_END_TEST;

/* A pipeline stops with one error that contains @word. */
static const struct
{
  const gchar *pipeline;
  const gchar *word;
} refused[] = {
  { "ndtestsrc num-buffers=2 volume-size=16:16:16 ! ndconv3d "
    "filter=quadrature ! ndconv3d filter=quadrature-bank ! fakesink",
      "2 components" },
  { "ndtestsrc num-buffers=2 volume-size=16:16:16 ! ndconv3d "
    "filter=quadrature ! ndconv3d filter=gabor ! fakesink",
      "complex" },
  { "videotestsrc num-buffers=2 ! video/x-raw,format=RGB ! ndconv2d "
    "filter=quadrature-bank ! fakesink",
      "3 components" },
  { "videotestsrc num-buffers=2 ! video/x-raw,format=I420 ! ndconv2d "
    "filter=quadrature-bank ! fakesink",
      "GRAY8" },
  { "videotestsrc num-buffers=2 ! video/x-raw,format=NV12 ! ndconv2d "
    "filter=sobel response=magnitude ! fakesink",
      "GRAY8" },
  { "ndtestsrc num-buffers=2 ! ndconv3d filter=\"quadrature,size=8\" ! "
    "fakesink",
      "size is 8 along x; it must be odd" },
  { "ndtestsrc num-buffers=2 ! ndconv3d filter=\"quadrature,size=9:9:8\" ! "
    "fakesink",
      "size is 8 along z; it must be odd" },
  { "ndtestsrc num-buffers=2 ! queue ! ndconv3d axes=xyt "
    "filter=\"quadrature,size=9:9:8\" ! fakesink",
      "size is 8 along t" },
  { "videotestsrc num-buffers=2 ! queue ! video/x-raw,format=GRAY8 ! ndconv3d "
    "filter=\"box,size=3:3:0\" ! fakesink",
      "along t" },
  { "videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8 ! ndconv2d "
    "filter=box,size=3 ! ndconv3d filter=\"quadrature,size=9:9:8\" ! "
    "fakesink",
      "size is 8 along t" },
  { "ndtestsrc num-buffers=2 ! ndconv3d filter=\"quadrature-bank,"
    "bandwidth=0.0\" ! fakesink",
      "bandwidth is 0; it must be above" },
  { "ndtestsrc num-buffers=2 ! ndconv3d filter=\"quadrature,bandwidth=-1.0\" ! "
    "fakesink",
      "bandwidth is -1" },
  { "ndtestsrc num-buffers=2 ! ndconv3d filter=\"quadrature,"
    "direction=<0.0,0.0,0.0>\" ! fakesink",
      "direction has length 0" },
  { "ndtestsrc num-buffers=2 ! ndconv3d filter=\"motion,"
    "velocity=<1.0,0.0>\" ! fakesink",
      "needs the time axis" },
};

GST_START_TEST (test_refused)
{
  GstElement *pipeline = gst_parse_launch (refused[__i__].pipeline, NULL);
  g_autoptr (GstBus) bus = NULL;
  GstMessage *message;
  guint ours = 0;

  fail_unless (pipeline != NULL);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((message = gst_bus_timed_pop_filtered (bus,
              ours ? GST_SECOND / 5 : 60 * GST_SECOND,
              GST_MESSAGE_ERROR | GST_MESSAGE_EOS))) {
    g_autoptr (GError) error = NULL;

    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
    gst_message_parse_error (message, &error, NULL);
    if (g_str_has_prefix (GST_MESSAGE_SRC_NAME (message), "ndconv")) {
      ours++;
      fail_unless (strstr (error->message, refused[__i__].word) != NULL,
          "no \"%s\" in \"%s\"", refused[__i__].word, error->message);
    }
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless_equals_int (ours, 1);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static Suite *
response_suite (void)
{
  Suite *suite = suite_create ("response");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_kinds, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tc, test_scaled);
  tcase_add_test (tc, test_video);
  tcase_add_test (tc, test_luma);
  tcase_add_test (tc, test_change_while_playing);
  tcase_add_test (tc, test_refused_caps);
  tcase_add_loop_test (tc, test_refused, 0, G_N_ELEMENTS (refused));
  return suite;
}

GST_CHECK_MAIN (response);
