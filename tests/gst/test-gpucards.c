/* Two GPUs in one process: each element filters on the GPU of its device-id,
 * volumes from the other GPU are filtered correctly, and two GPUs that share
 * the work of an element give the outputs of one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/gpu.h"

#define SOURCE "ndtestsrc num-buffers=%u seed=3 noise=0.2 volume-size=37:20:11 "
#define SINK " ! appsink name=sink sync=false"
#define FILTER "filter=\"gaussian,sigma=0.8\""

static void
expect_device_id (GstElement *pipeline, const gchar *name, guint wanted)
{
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), name);
  g_autoptr (GObject) context = gpu_context (element);
  guint id = G_MAXUINT;

  fail_unless (context != NULL);
  g_object_get (context, "cuda-device-id", &id, NULL);
  fail_unless (id == wanted, "%s is on device %u, not %u", name, id, wanted);
}

static GstElement *
pause_pipeline (const gchar *text)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);

  fail_unless (error == NULL, "%s: %s", text, error ? error->message : "");
  gst_object_ref_sink (pipeline);
  gpu_pause (pipeline);
  return pipeline;
}

static gpointer
run_on (gpointer device)
{
  g_autofree gchar *text = g_strdup_printf (SOURCE
      "! ndconv3d " FILTER
      " backend=cuda device-id=%u ! ndconv4dtemporal name=f " FILTER
      " backend=cuda device-id=%u" SINK,
      60u, GPOINTER_TO_UINT (device), GPOINTER_TO_UINT (device));
  GstElement *pipeline = pause_pipeline (text);
  GPtrArray *samples;

  expect_device_id (pipeline, "f", GPOINTER_TO_UINT (device));
  samples = gpu_collect (pipeline);
  gst_object_unref (pipeline);
  return samples;
}

GST_START_TEST (test_two_at_once)
{
  g_autoptr (GPtrArray) alone = run_on (GUINT_TO_POINTER (0));
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("pipeline", run_on, GUINT_TO_POINTER (i % 2));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++) {
    g_autoptr (GPtrArray) got = g_thread_join (threads[i]);

    gpu_expect_equal (got, alone, 0);
  }
  fail_unless (gpu_is_left ());
}

GST_END_TEST;

/* Volumes and frames move from GPU to GPU; @first is the first one. */
static void
check_links (guint first)
{
  const guint second = 1 - first;
  g_autofree gchar *volumes = g_strdup_printf (SOURCE
      "! ndconv3d name=a " FILTER
      " backend=cuda device-id=%u ! ndconv4dtemporal name=b " FILTER
      " backend=cuda device-id=%u ! ndconv3d name=c " FILTER " backend=cuda "
      "device-id=%u ! ndview" SINK,
      20u, first, second, first);
  g_autofree gchar *volumes_cpu = g_strdup_printf (SOURCE
      "! ndconv3d " FILTER " backend=cpu ! ndconv4dtemporal " FILTER
      " backend=cpu ! ndconv3d " FILTER " backend=cpu ! ndview" SINK,
      20u);
  const gchar *video = "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,"
                       "format=%s,width=322,height=182,framerate=30/1 ! ";
  static const gchar *const formats[] = { "NV12", "I420", "RGBA", "BGRA" };
  GstElement *pipeline = pause_pipeline (volumes);
  g_autoptr (GPtrArray) wanted = gpu_run (volumes_cpu);
  g_autoptr (GPtrArray) got = NULL;

  expect_device_id (pipeline, "a", first);
  expect_device_id (pipeline, "b", second);
  expect_device_id (pipeline, "c", first);
  gpu_expect_device (pipeline, "b", "sink");
  gpu_expect_device (pipeline, "c", "sink");
  got = gpu_collect (pipeline);
  gpu_expect_equal (got, wanted, 2);
  gst_object_unref (pipeline);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree gchar *source = g_strdup_printf (video, formats[i]);
    g_autofree gchar *gpu =
        g_strdup_printf ("%s cudaupload name=u "
                         "cuda-device-id=%u ! ndconv2d name=a " FILTER
                         " backend=cuda "
                         "device-id=%u ! ndconv3d name=b " FILTER
                         " backend=cuda device-id=%u ! "
                         "cudadownload ! video/x-raw" SINK,
            source, first, second, first);
    g_autofree gchar *cpu =
        g_strdup_printf ("%s ndconv2d " FILTER " backend=cpu ! ndconv3d " FILTER
                         " backend=cpu" SINK,
            source);
    g_autoptr (GPtrArray) frames = NULL, frames_cpu = gpu_run (cpu);

    pipeline = pause_pipeline (gpu);
    expect_device_id (pipeline, "u", first);
    expect_device_id (pipeline, "a", second);
    expect_device_id (pipeline, "b", first);
    gpu_expect_device (pipeline, "a", "sink");
    gpu_expect_device (pipeline, "b", "sink");
    frames = gpu_collect (pipeline);
    gpu_expect_equal (frames, frames_cpu, 2);
    gst_object_unref (pipeline);
  }
  fail_unless (gpu_is_left ());
}

GST_START_TEST (test_links_between_cards)
{
  check_links (__i__);
}

GST_END_TEST;

typedef struct
{
  GObject *contexts[2];
  gint asked; /* atomic */
} Application;

/* Gives each element the context of its GPU. */
static GstBusSyncReply
answer_need (GstBus *bus, GstMessage *message, gpointer data)
{
  Application *application = data;
  g_autoptr (GstContext) answer = NULL;
  GstObject *element = GST_MESSAGE_SRC (message);
  const gchar *type;
  gint id;

  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_NEED_CONTEXT
      || !gst_message_parse_context_type (message, &type)
      || !g_str_equal (type, "gst.cuda.context")
      || !g_object_class_find_property (G_OBJECT_GET_CLASS (element),
          "device-id"))
    return GST_BUS_PASS;
  g_object_get (element, "device-id", &id, NULL);
  g_atomic_int_inc (&application->asked);
  answer = gpu_context_message (application->contexts[id]);
  gst_element_set_context (GST_ELEMENT (element), answer);
  return GST_BUS_PASS;
}

/* A neighbour with the context of the other GPU does not provide it. */
GST_START_TEST (test_application_has_both)
{
  g_autofree gchar *text = g_strdup_printf (SOURCE
      "! ndconv3d name=a "
      "device-id=0 " FILTER
      " backend=cuda ! ndconv3d name=b device-id=1 " FILTER
      " backend=cuda" SINK,
      5u);
  Application application = { { gpu_context_new (0), gpu_context_new (1) } };
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);
  GstBus *bus;
  GPtrArray *samples;

  fail_unless (error == NULL);
  gst_object_ref_sink (pipeline);
  bus = gst_element_get_bus (pipeline);
  gst_bus_set_sync_handler (bus, answer_need, &application, NULL);
  gst_object_unref (bus);
  gpu_pause (pipeline);
  for (guint i = 0; i < 2; i++) {
    GstElement *element =
        gst_bin_get_by_name (GST_BIN (pipeline), i ? "b" : "a");
    GObject *context = gpu_context (element);

    fail_unless (context == application.contexts[i]);
    g_object_unref (context);
    gst_object_unref (element);
  }
  fail_unless_equals_int (application.asked, 2);
  samples = gpu_collect (pipeline);
  fail_unless_equals_int (samples->len, 5);
  g_ptr_array_unref (samples);
  gst_object_unref (pipeline);
  for (guint i = 0; i < 2; i++) {
    fail_unless_equals_int (application.contexts[i]->ref_count, 1);
    g_object_unref (application.contexts[i]);
  }
}

GST_END_TEST;

/* A context that the application offers for one GPU is not used for the
 * other. */
GST_START_TEST (test_application_has_one)
{
  g_autofree gchar *text = g_strdup_printf (SOURCE
      "! ndconv3d name=a "
      "device-id=1 " FILTER
      " backend=cuda ! ndconv3d name=b device-id=0 " FILTER
      " backend=cuda" SINK,
      5u);
  g_autoptr (GObject) context = gpu_context_new (0);
  g_autoptr (GstContext) message = gpu_context_message (context);
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GPtrArray) samples = NULL;

  gst_object_ref_sink (pipeline);
  gst_element_set_context (pipeline, message);
  gpu_pause (pipeline);
  expect_device_id (pipeline, "a", 1);
  {
    g_autoptr (GstElement) b = gst_bin_get_by_name (GST_BIN (pipeline), "b");
    g_autoptr (GObject) its = gpu_context (b);

    fail_unless (its == context);
  }
  samples = gpu_collect (pipeline);
  fail_unless_equals_int (samples->len, 5);
}

GST_END_TEST;

/* Pipelines with an element "a" whose devices replace %s. */
static const struct
{
  const gchar *text, *reason;
} shared[] = {
  { SOURCE "! ndconv3d name=a method=direct backend=cuda %s " FILTER SINK,
      "volumes go round devices 0, 1" },
  { SOURCE "! ndconv4dtemporal name=a method=direct backend=cuda %s " FILTER
           " time-border=mirror" SINK,
      "; slabs of " },
  { SOURCE "! ndconv4dtemporal name=a method=direct backend=cuda %s "
           "filter=\"box,size=3;box,size=3:1:1:3\" memory-limit=1000000" SINK,
      "on devices 0, 1" },
  /* Volumes stay on the first GPU between elements. */
  { SOURCE "! ndconv3d method=direct backend=cuda device-id=1 " FILTER
           " ! ndconv4dtemporal name=a method=direct backend=cuda %s " FILTER
           " ! ndconv3d method=direct backend=cuda device-id=0 " FILTER SINK,
      "; slabs of " },
  { SOURCE
      "! ndconv3d method=direct backend=cuda device-id=0 " FILTER
      " ! ndconv3d name=a method=direct backend=cuda %s " FILTER
      " ! ndconv4dtemporal method=direct backend=cuda device-id=1 " FILTER SINK,
      "volumes go round devices 0, 1" },
};

GST_START_TEST (test_shared_work)
{
  g_autofree gchar *one =
      g_strdup_printf (shared[__i__].text, 30u, "device-id=0");
  g_autofree gchar *both =
      g_strdup_printf (shared[__i__].text, 30u, "devices=\"0,1\"");
  g_autoptr (GstElement) pipeline = gst_parse_launch (both, NULL);
  g_autoptr (GstElement) element = NULL;
  g_autoptr (GPtrArray) wanted = gpu_run (one), got = NULL;
  GstStructure *stats;
  const gchar *reason;

  gst_object_ref_sink (pipeline);
  got = gpu_collect (pipeline);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  g_object_get (element, "stats", &stats, NULL);
  reason = gst_structure_get_string (stats, "reason");
  fail_unless (reason && strstr (reason, shared[__i__].reason), "%s", reason);
  gst_structure_free (stats);
  fail_unless_equals_int (got->len, 30);
  gpu_expect_equal (got, wanted, 0);
  fail_unless (gpu_is_left ());
}

GST_END_TEST;

static Suite *
gpu_suite (void)
{
  Suite *s = suite_create ("gpu cards");
  TCase *tc = tcase_create ("cards");

  tcase_set_timeout (tc, 600);
  tcase_add_test (tc, test_two_at_once);
  tcase_add_loop_test (tc, test_links_between_cards, 0, 2);
  tcase_add_test (tc, test_application_has_both);
  tcase_add_test (tc, test_application_has_one);
  tcase_add_loop_test (tc, test_shared_work, 0, G_N_ELEMENTS (shared));
  suite_add_tcase (s, tc);
  return s;
}

int
main (int argc, char **argv)
{
  return gpu_main_with (2, argc, argv, gpu_suite);
}
