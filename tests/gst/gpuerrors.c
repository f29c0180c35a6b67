/* What goes wrong on a GPU: one error, with what was wrong and what would be
 * right, and after NULL all is well again.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gpu.h"

#include <gst/check/gstharness.h>
#include <string.h>

#define CAPS "other/tensors,format=static,num_tensors=1,types=%s," \
  "dimensions=1:%s,framerate=25/1"

/* Errors of our own elements on @bus; the last of them in @error. GStreamer's
 * base class of sources has one of its own when pushing fails. */
static guint
count_errors (GstBus * bus, GError ** error, GstClockTime timeout)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_timed_pop_filtered (bus, timeout,
              GST_MESSAGE_ERROR))) {
    if (!strstr (G_OBJECT_TYPE_NAME (GST_MESSAGE_SRC (message)), "Src")) {
      g_clear_error (error);
      gst_message_parse_error (message, error, NULL);
      n++;
      timeout = GST_SECOND / 2; /* no second one comes */
    }
    gst_message_unref (message);
  }
  return n;
}

/* An element that must fail at these caps. */
static void
expect_refused (const gchar * element, const gchar * type, const gchar * size,
    GQuark domain, gint code, const gchar * says)
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
        GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "bytes");
    expect_refused (elements[i], "float32", "16000:16000:2000",
        GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "bytes");
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

/* A kernel of someone who shares the context writes where nothing is, or traps:
 * the context is lost for all. */
static void
lose_context (const gchar * text, gboolean trap)
{
  g_autoptr (GError) wrong = NULL, error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &wrong);
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstElement) filter = NULL, sink = NULL;
  GObject *context;
  guint errors;

  fail_unless (wrong == NULL);
  gst_object_ref_sink (pipeline);
  bus = gst_element_get_bus (pipeline);
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
          30 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
  g_usleep (50000);
  context = gpu_context (filter);
  fail_unless (context != NULL);
  gpu_spoil (context, trap);
  g_object_unref (context);
  errors = count_errors (bus, &error, 10 * GST_SECOND);
  fail_unless (errors == 1, "%u errors", errors);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_FAILED));
  fail_unless (strstr (error->message, "GPU") && strstr (error->message,
          "NULL"), "%s", error->message);
  g_print ("%s\n", error->message);

  /* NULL and up again works, more than once. */
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstElement) now = NULL;

    fail_unless (gst_element_set_state (pipeline, GST_STATE_NULL)
        == GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
            30 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
    g_clear_error (&error);
    errors = count_errors (bus, &error, 100 * GST_MSECOND);
    fail_unless (errors == 0, "%s", error ? error->message : "");
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (gpu_is_left ());
}

GST_START_TEST (test_lost_context)
{
  for (guint trap = 0; trap < 2; trap++) {
    lose_context ("ndtestsrc volume-size=32:32:32 ! ndconv4dtemporal name=a "
        "backend=cuda filter=gaussian,sigma=1.0 ! fakesink name=sink", trap);
    lose_context ("ndtestsrc volume-size=32:32:32 is-live=true ! ndconv3d "
        "name=a backend=cuda filter=gaussian,sigma=1.0 ! fakesink name=sink",
        trap);
    lose_context ("ndtestsrc volume-size=32:32:32 ! ndconv3d name=a "
        "backend=cuda filter=gaussian,sigma=1.0 ! ndconv4dtemporal "
        "backend=cuda filter=gaussian,sigma=1.0 ! ndconv2d backend=cuda "
        "filter=box,size=3 ! fakesink name=sink", trap);
  }
}

GST_END_TEST;

/* Volumes that an application still holds are host memory, whatever became of
 * the device. */
GST_START_TEST (test_outputs_outlive_the_context)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch ("ndtestsrc "
      "num-buffers=4 ! ndconv3d name=a backend=cuda filter=box,size=3 ! "
      "appsink name=sink", NULL);
  g_autoptr (GstElement) filter = NULL;
  g_autoptr (GPtrArray) samples = NULL, again = NULL;
  GObject *context;

  gst_object_ref_sink (pipeline);
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, 30 * GST_SECOND);
  context = gpu_context (filter);
  samples = gpu_collect (pipeline);
  gpu_spoil (context, FALSE);
  g_object_unref (context);
  again = gpu_run ("ndtestsrc num-buffers=4 ! ndconv3d name=a backend=cuda "
      "filter=box,size=3 ! appsink name=sink");
  gpu_expect_equal (samples, again, 0);
}

GST_END_TEST;

static Suite *
gpu_suite (void)
{
  Suite *s = suite_create ("gpu errors");
  TCase *tc = tcase_create ("errors");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_wrong_device);
  tcase_add_test (tc, test_out_of_memory);
  tcase_add_test (tc, test_lost_context);
  tcase_add_test (tc, test_outputs_outlive_the_context);
  suite_add_tcase (s, tc);
  return s;
}

int
main (int argc, char **argv)
{
  return gpu_main (argc, argv, gpu_suite);
}
