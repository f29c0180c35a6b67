/* CUDA contexts set by an application, and streams of GStreamer's memory:
 * elements wait for the work of others on a device and release their resources.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/gpu.h"

#include <gst/app/app.h>
#include <gst/video/video.h>
#include <string.h>

#define CHAIN                                                           \
  "ndtestsrc num-buffers=9 seed=3 noise=0.2 volume-size=37:20:11 "      \
  "! ndconv3d name=a filter=\"gaussian,sigma=0.8\" backend=%s ! "       \
  "ndconv4dtemporal name=b filter=\"gaussian,sigma=0.7\" backend=%s ! " \
  "ndview name=c ! appsink name=sink sync=false"

static void
expect_context (GstElement *pipeline, const gchar *name, GObject *wanted)
{
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), name);
  g_autoptr (GObject) at_sink = gpu_context_at (element, "sink");
  g_autoptr (GObject) at_src = gpu_context_at (element, "src");

  fail_unless (at_sink == wanted, "%s.sink: %p, not %p", name, at_sink, wanted);
  fail_unless (at_src == wanted, "%s.src: %p, not %p", name, at_src, wanted);
}

/* Plays the chain three times, from NULL to NULL, in @context. */
static void
play_in (GstElement *pipeline, GObject *context, GPtrArray *wanted)
{
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GPtrArray) got = NULL;

    gpu_pause (pipeline);
    expect_context (pipeline, "a", context);
    expect_context (pipeline, "b", context);
    expect_context (pipeline, "c", context);
    gpu_expect_device (pipeline, "a", "src");
    gpu_expect_device (pipeline, "b", "src");
    gpu_expect_device (pipeline, "c", "sink");
    got = gpu_collect (pipeline);
    gpu_expect_equal (got, wanted, 1);
    fail_unless (gpu_is_left ());
  }
}

/* Releases the reference of the application, which must be the last one. */
static void
expect_released (GObject *context)
{
  gpointer alive = context;

  g_object_add_weak_pointer (context, &alive);
  g_object_unref (context);
  fail_unless (alive == NULL, "%u references remain",
      alive ? context->ref_count : 0);
}

static GstBusSyncReply
answer_need (GstBus *bus, GstMessage *message, gpointer context)
{
  const gchar *type;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_NEED_CONTEXT
      && gst_message_parse_context_type (message, &type)
      && g_str_equal (type, "gst.cuda.context")) {
    g_autoptr (GstContext) answer = gpu_context_message (context);

    gst_element_set_context (GST_ELEMENT (GST_MESSAGE_SRC (message)), answer);
  }
  return GST_BUS_PASS;
}

typedef enum
{
  ON_PIPELINE, /* set on the pipeline before it starts */
  ON_NEED,     /* in answer to NEED_CONTEXT */
  ON_ELEMENT   /* set on one element before it starts */
} How;

static void
check_application (How how)
{
  g_autofree gchar *gpu = g_strdup_printf (CHAIN, "cuda", "cuda");
  g_autofree gchar *cpu = g_strdup_printf (CHAIN, "cpu", "cpu");
  g_autoptr (GPtrArray) wanted = gpu_run (cpu);
  GstElement *pipeline = gst_parse_launch (gpu, NULL);
  GObject *context = gpu_context_new (0);

  gst_object_ref_sink (pipeline);
  if (how == ON_NEED) {
    g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

    gst_bus_set_sync_handler (bus, answer_need, g_object_ref (context),
        g_object_unref);
  } else {
    g_autoptr (GstContext) message = gpu_context_message (context);
    g_autoptr (GstElement) element = how == ON_PIPELINE
        ? gst_object_ref (pipeline)
        : gst_bin_get_by_name (GST_BIN (pipeline), "b");

    gst_element_set_context (element, message);
  }
  play_in (pipeline, context, wanted);
  gst_object_unref (pipeline);
  expect_released (context);
}

GST_START_TEST (test_application)
{
  check_application (__i__);
}

GST_END_TEST;

/* One element without a pipeline, whose messages nobody answers after NULL. */
GST_START_TEST (test_stays_after_null)
{
  GObject *context = gpu_context_new (0);
  GstElement *element = gst_element_factory_make ("ndconv3d", NULL);
  GstContext *message = gpu_context_message (context);

  gst_object_ref_sink (element);
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cuda");
  g_object_set (element, "filter", "box,size=3", NULL);
  gst_element_set_context (element, message);
  gst_context_unref (message);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GObject) its = NULL;

    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
        GST_STATE_CHANGE_SUCCESS);
    its = gpu_context (element);
    fail_unless (its == context);
    gst_element_set_state (element, GST_STATE_NULL);
  }
  gst_object_unref (element);
  expect_released (context);
}

GST_END_TEST;

/* Without a context of the application, elements use one of their own. Elements
 * that start later find it, GStreamer's too. */
GST_START_TEST (test_own)
{
  g_autofree gchar *text = g_strdup_printf (CHAIN, "cuda", "cuda");
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstElement) a = NULL;
  g_autoptr (GObject) context = NULL;

  gst_object_ref_sink (pipeline);
  gpu_pause (pipeline);
  a = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  context = gpu_context (a);
  fail_unless (context != NULL);
  expect_context (pipeline, "a", context);
  expect_context (pipeline, "b", context);
  expect_context (pipeline, "c", context);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_END_TEST;

/* Streams of GStreamer's memory, from 1.24 on */

#define WIDTH 322
#define HEIGHT 182
#define FRAMES 8

typedef struct
{
  GObject *context;
  GstMiniObject *stream; /* GstCudaStream */
  gpointer handle;
  GstBufferPool *pool;
} Upstream;

static void
open_upstream (Upstream *up, GstCaps *caps)
{
  GstMiniObject *(*stream_new) (gpointer) =
      gpu_library_function ("gst_cuda_stream_new");
  gpointer (*get_handle) (gpointer) =
      gpu_library_function ("gst_cuda_stream_get_handle");
  GstBufferPool *(*pool_new) (gpointer) =
      gpu_library_function ("gst_cuda_buffer_pool_new");
  void (*set_stream) (GstStructure *, gpointer) =
      gpu_library_function ("gst_buffer_pool_config_set_cuda_stream");
  GstStructure *config;
  GstVideoInfo info;

  up->context = gpu_context_new (0);
  up->stream = stream_new (up->context);
  up->handle = get_handle (up->stream);
  up->pool = pool_new (up->context);
  fail_unless (gst_video_info_from_caps (&info, caps));
  config = gst_buffer_pool_get_config (up->pool);
  gst_buffer_pool_config_set_params (config, caps, info.size, 0, 0);
  set_stream (config, up->stream);
  fail_unless (gst_buffer_pool_set_config (up->pool, config));
  gst_buffer_pool_set_active (up->pool, TRUE);
}

static void
close_upstream (Upstream *up)
{
  gst_buffer_pool_set_active (up->pool, FALSE);
  gst_object_unref (up->pool);
  gst_mini_object_unref (up->stream);
  expect_released (up->context);
}

/* A frame that will contain @value after some time: written on the device, or
 * on the host and uploaded when the device maps it. */
static GstBuffer *
late_frame (Upstream *up, guint8 value, gboolean on_device)
{
  GstMapFlags cuda = on_device ? GST_MAP_FLAG_LAST << 1 : 0;
  GstBuffer *buffer = NULL;
  GstMapInfo map;

  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (up->pool, &buffer,
                              NULL),
      GST_FLOW_OK);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE | cuda));
  gpu_delay (up->context, up->handle);
  if (on_device)
    gpu_write (up->context, up->handle, map.data, map.size, value);
  else
    memset (map.data, value, map.size);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static void
expect_value (GstSample *sample, guint8 value)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (map.size >= WIDTH * HEIGHT * 4);
  for (gsize y = 0; y < HEIGHT; y++) {
    const guint8 *row = map.data + y * WIDTH * 4;

    for (gsize x = 0; x < WIDTH * 4; x++)
      if (ABS (row[x] - value) > 1)
        fail ("%zu, %zu: %u, not %u", x, y, row[x], value);
  }
  gst_buffer_unmap (buffer, &map);
}

static void
check_late (const gchar *filter, gboolean on_device)
{
  g_autofree gchar *text =
      g_strdup_printf ("appsrc name=src format=time ! %s "
                       "backend=cuda ! cudadownload ! video/x-raw ! "
                       "appsink name=sink sync=false",
          filter);
  g_autoptr (GstCaps) caps = gst_caps_from_string (
      "video/x-raw(memory:CUDAMemory),format=RGBx,width=" G_STRINGIFY (
          WIDTH) ",height=" G_STRINGIFY (HEIGHT) ",framerate=25/1");
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);
  GstElement *src;
  GstContext *message;
  GPtrArray *samples;
  Upstream up;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  gst_object_ref_sink (pipeline);
  open_upstream (&up, caps);
  message = gpu_context_message (up.context);
  gst_element_set_context (pipeline, message);
  gst_context_unref (message);
  src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  gst_app_src_set_caps (GST_APP_SRC (src), caps);
  for (guint i = 0; i < FRAMES; i++) {
    GstBuffer *buffer = late_frame (&up, 20 * (i + 1), on_device);

    GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
    GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
    gst_app_src_push_buffer (GST_APP_SRC (src), buffer);
  }
  gst_app_src_end_of_stream (GST_APP_SRC (src));
  gst_object_unref (src);
  samples = gpu_collect (pipeline);
  fail_unless_equals_int (samples->len, FRAMES);
  for (guint i = 0; i < FRAMES; i++)
    expect_value (samples->pdata[i], 20 * (i + 1));
  g_ptr_array_unref (samples);
  gst_object_unref (pipeline);
  close_upstream (&up);
  fail_unless (gpu_is_left ());
}

GST_START_TEST (test_streams_are_waited_for)
{
  check_late ("ndconv2d filter=box,size=3", TRUE);
  check_late ("ndconv2d filter=box,size=3", FALSE);
  check_late ("ndconv3d filter=\"box,size=3:3:1\"", TRUE);
  check_late ("ndconv3d filter=\"box,size=3:3:1\"", FALSE);
}

GST_END_TEST;

/* More frames than any queue holds, each different from the previous one. */
GST_START_TEST (test_many_uploads)
{
  const gchar *text =
      "videotestsrc num-buffers=120 pattern=ball ! "
      "video/x-raw,format=NV12,width=640,height=360,framerate=30/1 ! %s "
      "%s backend=%s %s ! video/x-raw ! appsink name=sink sync=false";
  static const gchar *const filters[] = { "ndconv2d filter=gaussian,sigma=1.5",
    "ndconv3d filter=gaussian,sigma=0.8" };

  for (guint i = 0; i < G_N_ELEMENTS (filters); i++) {
    g_autofree gchar *gpu = g_strdup_printf (text, "cudaupload !", filters[i],
        "cuda", "! cudadownload");
    g_autofree gchar *cpu = g_strdup_printf (text, "", filters[i], "cpu", "");
    g_autoptr (GPtrArray) a = gpu_run (gpu), b = gpu_run (cpu);

    gpu_expect_equal (a, b, 1);
  }
}

GST_END_TEST;

static Suite *
gpu_suite (void)
{
  Suite *s = suite_create ("gpu contexts");
  TCase *tc = tcase_create ("contexts");

  tcase_set_timeout (tc, 600);
  tcase_add_loop_test (tc, test_application, ON_PIPELINE, ON_ELEMENT + 1);
  tcase_add_test (tc, test_stays_after_null);
  tcase_add_test (tc, test_own);
  tcase_add_test (tc, test_many_uploads);
  if (gpu_library_function ("gst_cuda_memory_sync"))
    tcase_add_test (tc, test_streams_are_waited_for);
  else
    g_print ("skipped: CUDA memory has streams since GStreamer 1.24 only\n");
  suite_add_tcase (s, tc);
  return s;
}

int
main (int argc, char **argv)
{
  return gpu_main_with (1, argc, argv, gpu_suite);
}
