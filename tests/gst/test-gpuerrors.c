/* Failures on a GPU: one error, which names the problem and the fix. After NULL
 * the elements work again.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/gpu.h"

#include <gst/app/app.h>
#include <gst/check/gstharness.h>
#include <stdlib.h>
#include <string.h>

#define CAPS                                            \
  "other/tensors,format=static,num_tensors=1,types=%s," \
  "dimensions=1:%s,framerate=25/1"

/* Errors of ndconv's elements on @bus; the last one goes to @error. GStreamer's
 * base class of sources posts its own error if pushing fails. */
static guint
count_errors (GstBus *bus, GError **error, GstClockTime timeout)
{
  GstMessage *message;
  guint n = 0;

  while ((message =
              gst_bus_timed_pop_filtered (bus, timeout, GST_MESSAGE_ERROR))) {
    if (!strstr (G_OBJECT_TYPE_NAME (GST_MESSAGE_SRC (message)), "Src")) {
      g_clear_error (error);
      gst_message_parse_error (message, error, NULL);
      n++;
      timeout = GST_SECOND / 2; /* no second one follows */
    }
    gst_message_unref (message);
  }
  return n;
}

/* An element that must fail at these caps. */
static void
expect_refused (const gchar *element, const gchar *type, const gchar *size,
    GQuark domain, gint code, const gchar *says)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GError) error = NULL;
  g_autofree gchar *caps = g_strdup_printf (CAPS, type, size);
  gsize before, after;
  GstHarness *h = gst_harness_new_parse (element);

  gst_element_set_bus (h->element, bus);
  before = gpu_free_bytes ();
  gst_harness_set_src_caps_str (h, caps);
  gst_harness_push (h, gst_harness_create_buffer (h, 16));
  fail_unless_equals_int (count_errors (bus, &error, 0), 1);
  fail_unless (g_error_matches (error, domain, code), "%s", error->message);
  fail_unless (strstr (error->message, says) != NULL, "%s", error->message);
  after = gpu_free_bytes ();
  fail_unless (after + (64 << 20) >= before);
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
  fail_unless (gpu_is_left ());
}

GST_START_TEST (test_out_of_memory)
{
  static const gchar *const elements[] = {
    "ndconv3d backend=cuda filter=box,size=3",
    "ndconv3d backend=cuda method=direct filter=gaussian,sigma=2.0",
    "ndconv4dtemporal backend=cuda method=fft filter=gaussian,sigma=1.0",
    "ndconv4dtemporal backend=cuda method=separable filter=gaussian,sigma=1.0",
  };
  g_autoptr (GPtrArray) after = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    expect_refused (elements[i], "uint8", "16000:16000:1000",
        GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "bytes");
    expect_refused (elements[i], "float32", "16000:16000:2000",
        GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "bytes");
  }
  after = gpu_run ("ndtestsrc num-buffers=3 ! ndconv3d backend=cuda "
                   "filter=box,size=3 ! appsink name=sink");
  fail_unless_equals_int (after->len, 3);
}

GST_END_TEST;

GST_START_TEST (test_wrong_device)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("ndconv3d", NULL);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GError) error = NULL;

  gst_object_ref_sink (element);
  gst_element_set_bus (element, bus);
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cuda");
  g_object_set (element, "filter", "box,size=3", "device-id", 99, NULL);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int (count_errors (bus, &error, 0), 1);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_NOT_FOUND));
  fail_unless (strstr (error->message, "device-id=99") != NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  g_object_set (element, "device-id", 0, NULL);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
}

GST_END_TEST;

/* Plays @pipeline until a kernel in the context of "a", run by another user of
 * that context, writes to an illegal address, or traps. The context is then
 * lost for all. */
static void
lose_context (GstElement *pipeline, gboolean trap)
{
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  GObject *context;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              60 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  g_usleep (50000);
  context = gpu_context (filter);
  fail_unless (gpu_is_double () || context);
  gpu_spoil (context, trap);
  g_clear_object (&context);
}

static const gchar *const losses[] = {
  "ndtestsrc volume-size=32:32:32 ! ndconv4dtemporal name=a "
  "filter=gaussian,sigma=1.0 ! fakesink",
  "ndtestsrc volume-size=32:32:32 is-live=true ! ndconv3d name=a "
  "filter=gaussian,sigma=1.0 ! fakesink",
  "ndtestsrc volume-size=32:32:32 ! ndconv3d name=a "
  "filter=gaussian,sigma=1.0 ! ndconv4dtemporal name=b "
  "filter=gaussian,sigma=1.0 ! ndconv2d filter=box,size=3 ! ndview ! "
  "fakesink",
};

/* Expects one error on @bus, about the GPU. */
static void
expect_loss (GstBus *bus)
{
  g_autoptr (GError) error = NULL;
  guint errors = count_errors (bus, &error, 60 * GST_SECOND);

  fail_unless (errors == 1, "%u errors, the last: %s", errors,
      error ? error->message : "none");
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
                   GST_RESOURCE_ERROR_FAILED),
      "%s", error->message);
  fail_unless (strstr (error->message, "NULL") != NULL, "%s", error->message);
}

/* One error; then NULL and PLAYING again: on the GPU if the driver gives this
 * process another context, otherwise on the CPU, or with an error if
 * backend=cuda. */
static void
check_loss (const gchar *text, gboolean trap)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstElement) filter = NULL;
  g_autoptr (GstBus) bus = NULL;
  guint errors;

  gst_object_ref_sink (pipeline);
  bus = gst_element_get_bus (pipeline);
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  lose_context (pipeline, trap);
  expect_loss (bus);
  for (guint i = 0; i < 3; i++) {
    fail_unless (gst_element_set_state (pipeline, GST_STATE_NULL)
        == GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                                60 * GST_SECOND),
        GST_STATE_CHANGE_SUCCESS);
    g_clear_error (&error);
    errors = count_errors (bus, &error, 100 * GST_MSECOND);
    fail_unless (errors == 0, "%s", error ? error->message : "");
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_util_set_object_arg (G_OBJECT (filter), "backend", "cuda");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, 60 * GST_SECOND);
  errors = count_errors (bus, &error, 100 * GST_MSECOND);
  fail_unless (errors == 0
          || (errors == 1
              && g_error_matches (error, GST_LIBRARY_ERROR,
                  GST_LIBRARY_ERROR_INIT)
              && strstr (error->message, "restart")),
      "%s", error ? error->message : "");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (gpu_is_left ());
}

/* Volumes held by the application are in host memory and stay valid without the
 * device. */
static void
check_outputs_stay (void)
{
  const gchar *text = "ndtestsrc num-buffers=4 seed=2 ! ndconv3d name=a "
                      "filter=box,size=3 backend=%s ! appsink name=sink";
  g_autofree gchar *gpu = g_strdup_printf (text, "cuda");
  g_autofree gchar *cpu = g_strdup_printf (text, "cpu");
  g_autoptr (GPtrArray) samples = gpu_run (gpu), want = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (losses[0], NULL);

  gst_object_ref_sink (pipeline);
  lose_context (pipeline, FALSE);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  want = gpu_run (cpu);
  gpu_expect_equal (samples, want, 1);
}

/* If a GPU has no memory for an output because it was lost, the error is not
 * that its memory is full. */
static void
check_memory_of_lost (void)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch (
      "ndtestsrc "
      "num-buffers=9 ! ndconv3d filter=box,size=3 ! ndconv2d filter=box,size=3 "
      "! fakesink",
      NULL);
  g_autoptr (GstBus) bus = NULL;

  gst_object_ref_sink (pipeline);
  bus = gst_element_get_bus (pipeline);
  gpu_spoil_at_memory ();
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  expect_loss (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* A volume whose GPU was lost is not filtered by the CPU. */
static void
check_view_of_lost (void)
{
  g_autoptr (GPtrArray) volumes =
      gpu_run ("ndtestsrc num-buffers=2 ! ndconv3d "
               "filter=box,size=3 ! other/tensors(memory:CUDAMemory) ! appsink "
               "name=sink");
  g_autoptr (GstElement) pipeline =
      gst_parse_launch ("appsrc name=src "
                        "format=time ! ndview ! appsink name=sink sync=false",
          NULL);
  g_autoptr (GstElement) src = NULL, sink = NULL;
  g_autoptr (GstSample) picture = NULL;
  g_autoptr (GstBus) bus = NULL;

  gst_object_ref_sink (pipeline);
  bus = gst_element_get_bus (pipeline);
  src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_app_src_push_sample (GST_APP_SRC (src), volumes->pdata[0]);
  picture = gst_app_sink_pull_sample (GST_APP_SINK (sink));
  fail_unless (picture != NULL);
  gpu_spoil (NULL, FALSE);
  gst_app_src_push_sample (GST_APP_SRC (src), volumes->pdata[1]);
  expect_loss (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* In processes of their own, because a process that lost the GPU cannot use it
 * again. */
static void
run_apart (const gchar *number)
{
  const gchar *argv[] = { "/proc/self/exe", "--lose", number, NULL };
  g_autofree gchar *program = g_file_read_link (argv[0], NULL);
  g_autofree gchar *out = NULL;
  gint status = -1;

  argv[0] = program;
  fail_unless (g_spawn_sync (NULL, (gchar **) argv, NULL, G_SPAWN_DEFAULT, NULL,
      NULL, &out, NULL, &status, NULL));
  fail_unless (g_spawn_check_wait_status (status, NULL), "case %s: %s", number,
      out);
}

GST_START_TEST (test_lost_context)
{
  run_apart ("0");
  run_apart ("1");
  run_apart ("2");
  run_apart ("3");
  run_apart ("4");
  run_apart ("5");
}

GST_END_TEST;

GST_START_TEST (test_outputs_outlive_the_context)
{
  run_apart ("6");
}

GST_END_TEST;

GST_START_TEST (test_memory_of_lost)
{
  run_apart ("7");
  run_apart ("8");
}

GST_END_TEST;

static gint lose = -1;

GST_START_TEST (test_loss)
{
  if (lose == 6)
    check_outputs_stay ();
  else if (lose == 7)
    check_memory_of_lost ();
  else if (lose == 8)
    check_view_of_lost ();
  else
    check_loss (losses[lose / 2], lose % 2);
}

GST_END_TEST;

static Suite *
loss_suite (void)
{
  Suite *s = suite_create ("gpu loss");
  TCase *tc = tcase_create ("loss");

  tcase_set_timeout (tc, 600);
  tcase_add_test (tc, test_loss);
  suite_add_tcase (s, tc);
  return s;
}

static Suite *
gpu_suite (void)
{
  Suite *s = suite_create ("gpu errors");
  TCase *tc = tcase_create ("errors");

  tcase_set_timeout (tc, 600);
  if (gpu_is_double ()) {
    tcase_add_test (tc, test_memory_of_lost);
  } else {
    tcase_add_test (tc, test_wrong_device);
    tcase_add_test (tc, test_out_of_memory);
  }
  tcase_add_test (tc, test_lost_context);
  tcase_add_test (tc, test_outputs_outlive_the_context);
  suite_add_tcase (s, tc);
  return s;
}

int
main (int argc, char **argv)
{
  if (argc == 3 && strcmp (argv[1], "--lose") == 0) {
    lose = atoi (argv[2]);
    return gpu_main (1, argv, loss_suite);
  }
  return gpu_main (argc, argv, gpu_suite);
}
