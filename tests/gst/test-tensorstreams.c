/* Orientation tensors, of 3, 6 and 10 components, as a stream: files, ndview,
 * smoothing by a further filter, nddenoise.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/run.h"
#include "tests/gst/tensorstreams.h"

#include <gst/app/gstappsink.h>
#include <math.h>

static gfloat *
component_new (const gfloat *in, guint components, guint c)
{
  gfloat *one = g_new (gfloat, VOLUMES * SAMPLES);

  for (gsize i = 0; i < VOLUMES * SAMPLES; i++)
    one[i] = in[i * components + c];
  return one;
}

/* Each component of the output is the output for that component, up to @error
 * of the range of the input. Slow tools see the first and the last one. Returns
 * the warning, or NULL. */
static gchar *
check_components (const gchar *launch, const gfloat *in, guint components,
    gdouble error)
{
  const guint step = g_getenv ("ND_JOBS_DIVISOR") ? components - 1 : 1;
  gchar *warning = NULL;
  g_autoptr (GByteArray) all = run_tensors (launch, in, components, &warning);

  fail_unless_equals_int (all->len,
      VOLUMES * SAMPLES * components * sizeof (gfloat));
  for (guint c = 0; c < components; c += step) {
    g_autofree gfloat *one = component_new (in, components, c);
    g_autoptr (GByteArray) expected = run_tensors (launch, one, 1, NULL);

    for (gsize i = 0; i < VOLUMES * SAMPLES; i++) {
      const gfloat a = ((gfloat *) all->data)[i * components + c];
      const gfloat b = ((gfloat *) expected->data)[i];

      fail_unless (fabs (a - b) <= error * (1 + c) * (1 + c),
          "%s, component %u of %u: %g instead of %g", launch, c, components, a,
          b);
    }
  }
  return warning;
}

GST_START_TEST (test_smoothing)
{
  static const gchar *const launches[] = {
    "ndconv3d filter=\"gaussian,sigma=1.0,size=5\" backend=cpu",
    "ndconv3d filter=\"gaussian,sigma=1.0,size=5\" backend=cpu method=direct",
    "ndconv4dtemporal filter=\"gaussian,sigma=0.8,size=5\" backend=cpu",
    "ndconv4dtemporal filter=\"gaussian,sigma=0.8,size=5\" backend=cpu "
    "method=fft",
  };
  g_autoptr (GRand) rand = new_rand ();

  for (guint axes = 2; axes <= 4; axes++) {
    const guint components = axes * (axes + 1) / 2;
    g_autofree gfloat *in = random_tensors (rand, components);

    for (guint i = 0; i < G_N_ELEMENTS (launches); i++)
      g_free (check_components (launches[i], in, components, 2e-6));
  }
}
GST_END_TEST;

/* All samples of a source. */
static GByteArray *
run_source (const gchar *launch)
{
  g_autofree gchar *text =
      g_strdup_printf ("%s ! appsink name=sink sync=false", launch);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &error);
  g_autoptr (GstElement) sink = NULL;
  GByteArray *all = g_byte_array_new ();
  GstSample *sample;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_pull_sample (GST_APP_SINK (sink)))) {
    GstBuffer *buffer = gst_sample_get_buffer (sample);
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_READ);
    g_byte_array_append (all, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return all;
}

static const gchar *const filters[] = { "ndconv2d", "ndconv3d",
  "ndconv4dtemporal" };

/* Equal sizes have equal spacing: otherwise the filter warns. */
static gchar *
tensor_source (guint axes)
{
  return g_strdup_printf (
      "ndtestsrc num-buffers=6 volume-size=12:12:12 ! %s "
      "filter=\"monomial-bank,size=5\" response=tensor backend=cpu",
      filters[axes - 2]);
}

static void
remove_all (const gchar *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *below = g_build_filename (path, name, NULL);

    remove_all (below);
  }
  g_remove (path);
}

/* A warning may name what else of the recording the format does not hold. */
static void
write_recording (const gchar *source, const gchar *path)
{
  GstElement *pipeline = launch ("%s ! ndfilesink location=%s", source, path);
  g_auto (Outcome) outcome = { 0 };

  run_pipeline (pipeline, &outcome);
  fail_unless (outcome.n_errors == 0, "%s",
      outcome.error ? outcome.error->message : "");
  fail_unless (outcome.n_warnings == 0
          || (outcome.n_warnings == 1
              && strstr (outcome.warning->message, " does not hold ")),
      "%s", outcome.warning ? outcome.warning->message : "");
  gst_object_unref (pipeline);
}

/* Each format that can hold them gives the same bits back, and ndstructure
 * takes them from the file. */
GST_START_TEST (test_files)
{
  static const gchar *const extensions[] = { "nrrd", "mha", "igs.mha", "npy",
    "tif", "zarr" };

  make_folder ();
  for (guint axes = 2; axes <= 4; axes++) {
    g_autofree gchar *source = tensor_source (axes);
    g_autoptr (GByteArray) expected = run_source (source);
    const guint components = axes * (axes + 1) / 2;

    fail_unless_equals_int (expected->len,
        6 * 12 * 12 * 12 * components * sizeof (gfloat));
    for (guint i = 0; i < G_N_ELEMENTS (extensions); i++) {
      g_autofree gchar *path =
          g_strdup_printf ("%s/tensors%u.%s", folder, axes, extensions[i]);
      g_autofree gchar *reader =
          g_strdup_printf ("ndfilesrc location=%s", path);
      g_autoptr (GByteArray) read = NULL;

      write_recording (source, path);
      read = run_source (reader);
      fail_unless (read->len == expected->len
              && memcmp (read->data, expected->data, read->len) == 0,
          "%u components in %s: other samples", components, extensions[i]);
      run_whole (launch ("%s ! ndstructure output=certainty ! fakesink",
          reader));
    }
  }
  remove_all (folder);
  g_clear_pointer (&folder, g_free);
}
GST_END_TEST;

/* NIfTI has no such samples. The filter's error follows that of the sink. */
GST_START_TEST (test_refused_files)
{
  static const gchar *const extensions[] = { "nii", "nii.gz" };

  make_folder ();
  for (guint i = 0; i < 6; i++) {
    g_autofree gchar *source = tensor_source (2 + i / 2);

    g_auto (Outcome) outcome = { 0 };
    g_autoptr (GstElement) pipeline =
        launch ("%s ! ndfilesink location=%s/tensors.%s", source, folder,
            extensions[i % 2]);

    /* The pipeline may end before the filter posts an error of its own. */
    run_pipeline (pipeline, &outcome);
    fail_unless (outcome.n_errors >= 1 && outcome.n_errors <= 2);
    fail_unless (g_error_matches (outcome.error, GST_STREAM_ERROR,
                     GST_STREAM_ERROR_FORMAT)
        && strstr (outcome.error->message, "write NRRD"));
  }
  remove_folder ();
}
GST_END_TEST;

/* The errors of docs/troubleshooting.md. */
GST_START_TEST (test_refused)
{
#define TENSOR \
  "ndconv3d filter=\"monomial-bank,size=5\" response=tensor backend=cpu ! "
#define TENSOR4                                                       \
  "ndconv4dtemporal filter=\"monomial-bank,size=5\" response=tensor " \
  "backend=cpu ! "
  static const struct
  {
    const gchar *elements;
    gboolean is_format;
    const gchar *words;
  } cases[] = {
    /* A tensor into a filter that needs scalars. */
    { TENSOR "ndconv3d filter=\"gabor,size=5\"", TRUE,
        "The filter is complex and the input has 6 components: a complex "
        "filter needs real input of one component" },
    { TENSOR "ndconv3d filter=\"quadrature-bank,size=5\" response=magnitude",
        TRUE, "The filter is complex and the input has 6 components" },
    { TENSOR "ndconv3d filter=\"monomial-bank,size=5\" response=tensor", TRUE,
        "response=tensor needs input of one component" },
    /* Other volumes into elements that need tensors. */
    { "ndstructure", TRUE, "ndstructure needs tensors, float32 of 3, 6 or 10" },
    { "nddenoise ! ndstructure", TRUE, "use a filter with response=tensor" },
    { "ndconv3d filter=\"monomial-bank,size=5\" ! ndstructure", TRUE,
        "ndstructure needs tensors" },
    { TENSOR "ndstructure", TRUE,
        "The tensors have 6 components, but output=velocity needs them over "
        "time" },
    { TENSOR4 "ndstructure output=speed", FALSE,
        "output is \"speed\", but it must be one or several" },
    /* Filters that make no tensor. */
    { "ndconv3d filter=\"gaussian,sigma=1.0\" response=tensor", FALSE,
        "response=tensor needs one bank that makes a tensor" },
    { "ndconv3d filter=\"monomial-bank,size=5:1:1\" response=tensor", FALSE,
        "response=tensor needs one bank that makes a tensor" },
    { "ndconv3d filter=\"monomial-bank,size=7,order=3.0\" response=tensor",
        FALSE,
        "it must have all monomials of order 1, of order 2, or of both" },
    { TENSOR4 "nddenoise sigma=1 time-border=wrap", FALSE,
        "time-border=wrap would need the whole stream" },
    { "ndconv3d filter=\"monomial-bank,size=5\" ! nddenoise", TRUE,
        "put nddenoise before the bank" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Outcome) outcome = { 0 };
    g_autoptr (GstElement) pipeline =
        launch ("ndtestsrc num-buffers=3 volume-size=8:8:8 ! %s ! fakesink",
            cases[i].elements);

    run_pipeline (pipeline, &outcome);
    fail_unless (outcome.n_errors >= 1 && outcome.n_errors <= 2, "%s",
        cases[i].elements);
    fail_unless (strstr (outcome.error->message, cases[i].words) != NULL,
        "%s: %s", cases[i].elements, outcome.error->message);
    fail_unless (cases[i].is_format
            ? g_error_matches (outcome.error, GST_STREAM_ERROR,
                  GST_STREAM_ERROR_FORMAT)
            : g_error_matches (outcome.error, GST_LIBRARY_ERROR,
                  GST_LIBRARY_ERROR_SETTINGS),
        "%s", cases[i].elements);
  }
}
GST_END_TEST;

/* units=physical needs a spacing. Video is no tensor. */
GST_START_TEST (test_refused_caps)
{
  GstHarness *h = gst_harness_new_parse ("ndstructure units=physical");
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GError) error = NULL;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h,
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=10:8:8:8,framerate=10/1");
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_str_has_prefix (error->message,
                   "units=physical needs a spacing and a framerate"),
      "%s", error->message);
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
  g_clear_error (&error);

  pipeline = gst_parse_launch ("videotestsrc ! ndstructure ! fakesink", &error);
  fail_unless (error != NULL && strstr (error->message, "could not link"));
}
GST_END_TEST;

/* ndview shows the first component of 6 and 10: xx. Rows of these sizes have no
 * bytes after their last pixel, which would be undefined. */
GST_START_TEST (test_view)
{
  static const gchar *const launches[] = { "ndview size=16:16 backend=cpu",
    "ndview mode=orthogonal size=40:40 backend=cpu window=2 level=1",
    "ndview mode=slice size=40:40 colormap=hot backend=cpu",
    "ndview mode=projection size=24:24 backend=cpu",
    "ndview mode=volume size=32:32 backend=cpu" };
  g_autoptr (GRand) rand = new_rand ();

  for (guint components = 6; components <= 10; components += 4) {
    g_autofree gfloat *in = random_tensors (rand, components);
    g_autofree gfloat *one = component_new (in, components, 0);

    for (guint i = 0; i < G_N_ELEMENTS (launches); i++) {
      g_autoptr (GByteArray) all =
          run_tensors (launches[i], in, components, NULL);
      g_autoptr (GByteArray) expected = run_tensors (launches[i], one, 1, NULL);
      guint bright = 0;

      fail_unless (all->len == expected->len
              && memcmp (all->data, expected->data, all->len) == 0,
          "%s: %u components", launches[i], components);
      for (guint k = 0; k < all->len; k++)
        bright += all->data[k] > 50;
      fail_unless (bright > 0);
    }
  }
}
GST_END_TEST;

/* nddenoise takes each component by itself, with its own sigma, and says that
 * tensors are not suited. */
GST_START_TEST (test_denoise)
{
  static const struct
  {
    const gchar *launch;
    guint components;
    gboolean warns;
  } cases[] = {
    { "nddenoise backend=cpu", 3, FALSE },
    { "nddenoise backend=cpu", 4, FALSE },
    { "nddenoise backend=cpu", 6, TRUE },
    { "nddenoise backend=cpu method=adaptive", 6, TRUE },
    { "nddenoise backend=cpu", 10, TRUE },
    { "nddenoise backend=cpu noise=speckle", 10, TRUE },
    { "nddenoise backend=cpu sigma=2", 10, FALSE },
  };
  g_autoptr (GRand) rand = new_rand ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const guint components = cases[i].components;
    g_autofree gfloat *in = random_tensors (rand, components);
    g_autofree gchar *warning =
        check_components (cases[i].launch, in, components, 0);

    fail_unless ((warning != NULL) == cases[i].warns, "%s, %u components",
        cases[i].launch, components);
    fail_unless (!warning || strstr (warning, "before the filter"), "%s",
        warning);
  }
}
GST_END_TEST;

/* A pipeline of a tensor goes on after the warning. */
GST_START_TEST (test_denoised_tensors)
{
  for (guint axes = 3; axes <= 4; axes++) {
    g_autofree gchar *source = tensor_source (axes);
    g_auto (Outcome) outcome = { 0 };
    g_autoptr (GstElement) pipeline =
        launch ("%s ! nddenoise backend=cpu ! fakesink", source);

    run_pipeline (pipeline, &outcome);
    fail_unless_equals_int (outcome.n_errors, 0);
    fail_unless_equals_int (outcome.n_warnings, 1);
    fail_unless_equals_int (outcome.n_eos, 1);
  }
}
GST_END_TEST;

static Suite *
tensorstreams_suite (void)
{
  Suite *suite = suite_create ("tensorstreams");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_smoothing);
  tcase_add_test (tests, test_files);
  tcase_add_test (tests, test_refused_files);
  tcase_add_test (tests, test_refused);
  tcase_add_test (tests, test_refused_caps);
  tcase_add_test (tests, test_view);
  tcase_add_test (tests, test_denoise);
  tcase_add_test (tests, test_denoised_tensors);
  return suite;
}

GST_CHECK_MAIN (tensorstreams);
