/* Streams on a GPU: the output equals that of the CPU, in host memory, over
 * links on the device, and from and to GStreamer's CUDA elements. No memory or
 * thread remains.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/gpu.h"

#include <glib/gstdio.h>
#include <gst/app/app.h>
#include <stdlib.h>

#define SOURCE "ndtestsrc num-buffers=%u seed=3 noise=0.2 volume-size=37:20:11 "
#define SINK " ! appsink name=sink sync=false"

/* Volumes for further filters are rounded equally everywhere. If auto chose
 * fft, sums that end on a half would differ. */
#define EXACT "method=direct gain=0.1 filter="
/* Not separable, so that all methods apply. */
#define XYZ                                                          \
  "\"coefficients,size=3:2:2,values=<1.0,-2.0,3.0,2.0,1.0,0.5,-1.0," \
  "2.0,1.0,3.0,-0.5,1.0>\""
#define XY "\"coefficients,size=3:2,values=<1.0,-2.0,3.0,2.0,1.0,0.5>\""
#define XYZT                                                      \
  "\"coefficients,size=2:2:1:3,values=<1.0,-2.0,3.0,2.0,1.0,0.5," \
  "-1.0,2.0,1.0,3.0,-0.5,1.0>\""

static void
compare_filter (const gchar *filter, guint n, const gchar *type)
{
  g_autofree gchar *source = g_strdup_printf (SOURCE "type=%s", n, type);
  g_autofree gchar *text =
      g_strdup_printf ("%s ! %s gain=0.1 backend=BACKEND" SINK, source, filter);

  /* Both methods fft may differ by 1e-6 of the largest sample. */
  gpu_compare (text, type[0] == 'f' ? 2e-4 : 1);
}

GST_START_TEST (test_host_memory)
{
  static const gchar *const types[] = { "uint8", "int16", "uint16", "float32" };
  const guint step = gpu_is_checked () ? 3 : 1;

  for (guint i = 0; i < G_N_ELEMENTS (types); i += step) {
    compare_filter ("ndconv2d filter=" XY, 9, types[i]);
    compare_filter ("ndconv3d filter=" XYZ, 9, types[i]);
    compare_filter ("ndconv3d axes=xyt filter=" XYZ, 9, types[i]);
    compare_filter ("ndconv4dtemporal filter=" XYZT, 9, types[i]);
    compare_filter (
        "ndconv4dtemporal method=fft time-border=reflect filter=" XYZT, 9,
        types[i]);
    compare_filter ("ndconv4dtemporal causal=true time-border=constant "
                    "filter=" XYZT,
        9, types[i]);
  }
  /* Streams that are shorter than the window, and shorter than the number in
   * flight. */
  for (guint n = 1; n <= 6; n++) {
    compare_filter ("ndconv4dtemporal filter=" XYZT, n, "uint8");
    compare_filter ("ndconv3d filter=" XYZ, n, "uint8");
  }
  /* One more thread before and after. */
  gpu_compare (
      "ndtestsrc num-buffers=60 volume-size=20:20:20 ! queue ! ndconv3d "
      "gain=0.1 filter=" XYZ " backend=BACKEND ! queue" SINK,
      1);
}

GST_END_TEST;

/* Volumes cross the bus once in and once out. */
GST_START_TEST (test_links_on_the_device)
{
  static const gchar *const views[] = { "mode=slice axis=x", "mode=orthogonal",
    "mode=projection axis=y window=100 level=50", "mode=projection axis=z" };
  g_autofree gchar *source = g_strdup_printf (SOURCE, 12);

  for (guint i = 0; i < G_N_ELEMENTS (views); i++) {
    g_autofree gchar *text = g_strdup_printf (
        "%s ! ndconv3d " EXACT XYZ
        " backend=BACKEND name=a ! ndconv4dtemporal " EXACT XYZT
        " backend=BACKEND name=b ! ndview name=c %s" SINK,
        source, views[i]);

    gpu_compare (text, 1);
  }
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *text =
        g_strdup_printf ("%s ! ndconv3d name=a filter=" XYZ
                         " backend=cuda ! %s ! ndconv2d name=b filter=" XY
                         " backend=cuda ! "
                         "ndview name=c ! appsink name=sink",
            source, i ? "queue" : "identity");
    g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
    g_autoptr (GstElement) a = NULL, b = NULL, c = NULL;
    g_autoptr (GObject) first = NULL, second = NULL, third = NULL;

    gst_object_ref_sink (pipeline);
    gpu_pause (pipeline);
    gpu_expect_device (pipeline, "a", "src");
    gpu_expect_device (pipeline, "b", "sink");
    gpu_expect_device (pipeline, "b", "src");
    gpu_expect_device (pipeline, "c", "sink");
    a = gst_bin_get_by_name (GST_BIN (pipeline), "a");
    b = gst_bin_get_by_name (GST_BIN (pipeline), "b");
    c = gst_bin_get_by_name (GST_BIN (pipeline), "c");
    first = gpu_context (a);
    second = gpu_context (b);
    third = gpu_context (c);
    fail_unless (gpu_is_double () || first);
    fail_unless (first == second && first == third);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
}

GST_END_TEST;

static GstPadProbeReturn
log_item (GstPad *pad, GstPadProbeInfo *info, gpointer log)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER)
    g_string_append_printf (log, " %u",
        (guint) (GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info)) / 40
            / GST_MSECOND));
  else if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM)
    g_string_append (log, " e");
  return GST_PAD_PROBE_OK;
}

static void
push_numbered (GstElement *source, guint i)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 16 * 16 * 16 * 4, NULL);

  gst_buffer_memset (buffer, 0, 0, -1);
  GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  gst_app_src_push_buffer (GST_APP_SRC (source), buffer);
}

/* Every sixth volume is missing, and an event stands in its place. The position
 * is held and has no output. With @downstream, the outputs stay on the
 * device. */
static void
check_places (const gchar *downstream)
{
  g_autofree gchar *text = g_strdup_printf (
      "appsrc name=source format=time caps=\"other/tensors,format=static,"
      "num_tensors=1,types=float32,dimensions=1:16:16:16,framerate=25/1\" ! "
      "ndconv4dtemporal name=a gap=hold backend=cuda filter=\"coefficients,"
      "size=1:1:1:3,values=<1.0,1.0,1.0>\" ! %s appsink name=sink sync=false",
      downstream);
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstElement) source = NULL, a = NULL;
  g_autoptr (GString) sent = g_string_new (NULL);
  g_autoptr (GString) expected = g_string_new (NULL);
  g_autoptr (GstPad) pad = NULL;

  gst_object_ref_sink (pipeline);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  a = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  pad = gst_element_get_static_pad (a, "src");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, log_item,
      sent, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 30; i++) {
    if (i % 6 == 4) {
      gst_element_send_event (source,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new_empty ("place")));
      g_string_append (expected, " e");
    } else {
      push_numbered (source, i);
      g_string_append_printf (expected, " %u", i);
    }
  }
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  g_ptr_array_unref (gpu_collect (pipeline));
  fail_unless_equals_string (sent->str, expected->str);
}

GST_START_TEST (test_places_of_events)
{
  for (guint i = 0; i < 5; i++) {
    check_places ("");
    check_places ("ndconv3d backend=cuda filter=\"box,size=3\" !");
  }
}

GST_END_TEST;

/* Volumes of float64 stay on the device, and keep their digits. */
GST_START_TEST (test_double_precision)
{
  static const gchar *const methods[] = { "direct", "fft", "auto" };
  static const gchar *const text = SOURCE
      "type=float32 ! ndconv3d name=a filter=" XYZ
      " precision=double output-type=float64 method=%s backend=BACKEND ! "
      "ndconv4dtemporal name=b precision=double time-border=constant "
      "filter=" XYZT " method=%s backend=BACKEND" SINK;

  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    g_autofree gchar *format =
        g_strdup_printf (text, 7, methods[m], methods[m]);
    g_autofree gchar *on_device = gpu_text (format, "cuda");
    g_autoptr (GstElement) pipeline = NULL;

    gpu_compare (format, 1e-9);
    pipeline = gst_parse_launch (on_device, NULL);
    gst_object_ref_sink (pipeline);
    gpu_pause (pipeline);
    gpu_expect_device (pipeline, "a", "src");
    gpu_expect_device (pipeline, "b", "sink");
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
}

GST_END_TEST;

/* A back end without a device accepts volumes on a device, and the other way
 * round. */
GST_START_TEST (test_mixed_back_ends)
{
  g_autofree gchar *source = g_strdup_printf (SOURCE, 12);
  g_autofree gchar *text =
      g_strdup_printf ("%s ! ndconv3d " EXACT XYZ
                       " backend=BACKEND ! ndconv2d " EXACT XY " backend=cpu ! "
                       "ndconv4dtemporal " EXACT XYZT
                       " backend=BACKEND ! ndview" SINK,
          source);
  g_autofree gchar *forced =
      g_strdup_printf ("%s ! ndconv3d " EXACT XYZ " backend=BACKEND" SINK,
          source);
  g_auto (GStrv) parts = g_strsplit (forced, "BACKEND", 2);
  g_autofree gchar *cpu = g_strjoinv ("cpu", parts);
  /* An application maps memory of the device like any other memory. */
  g_autofree gchar *device =
      g_strdup_printf ("%scuda ! "
                       "other/tensors(memory:CUDAMemory)%s",
          parts[0], parts[1]);
  g_autoptr (GPtrArray) a = gpu_run (device), b = gpu_run (cpu);

  gpu_compare (text, 2);
  gpu_expect_equal (a, b, 1);
}

GST_END_TEST;

/* The ball and its surroundings differ in alpha too. */
#define VIDEO                                                  \
  "videotestsrc num-buffers=6 pattern=ball "                   \
  "foreground-color=0xc0ffffff background-color=0x40204080 ! " \
  "video/x-raw,format=AYUV ! videoconvert ! "                  \
  "video/x-raw,format=%s,width=322,height=182,framerate=30/1 ! "

static void
compare_video (const gchar *format, const gchar *filter)
{
  g_autofree gchar *source = g_strdup_printf (VIDEO, format);
  g_autofree gchar *gpu =
      g_strdup_printf ("%scudaupload name=u ! %s name=f "
                       "backend=cuda ! cudadownload ! video/x-raw" SINK,
          source, filter);
  g_autofree gchar *cpu =
      g_strdup_printf ("%s%s backend=cpu" SINK, source, filter);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (gpu, &error);
  g_autoptr (GPtrArray) a = NULL, b = gpu_run (cpu);

  fail_unless (error == NULL, "%s: %s", gpu, error ? error->message : "");
  gst_object_ref_sink (pipeline);
  gpu_pause (pipeline);
  gpu_expect_device (pipeline, "f", "sink");
  gpu_expect_device (pipeline, "f", "src");
  {
    g_autoptr (GstElement) u = gst_bin_get_by_name (GST_BIN (pipeline), "u");
    g_autoptr (GstElement) f = gst_bin_get_by_name (GST_BIN (pipeline), "f");
    g_autoptr (GObject) theirs = gpu_context (u), ours = gpu_context (f);

    fail_unless (ours && ours == theirs);
  }
  a = gpu_collect (pipeline);
  gpu_expect_equal (a, b, 1);
}

/* From cudaupload to cudadownload without leaving the device. */
GST_START_TEST (test_video_on_the_device)
{
  static const gchar *const formats[] = { "NV12", "I420", "RGBA", "BGRA",
    "NV21", "YV12", "Y444", "RGBx", "BGRx", "ARGB", "ABGR" };
  const guint step = gpu_is_checked () ? 3 : 1;

  for (guint i = 0; i < G_N_ELEMENTS (formats); i += step) {
    compare_video (formats[i], "ndconv2d gain=0.2 filter=" XY);
    compare_video (formats[i], "ndconv2d planes=luma gain=0.2 filter=" XY);
    compare_video (formats[i], "ndconv3d gain=0.1 filter=" XYZ);
    compare_video (formats[i], "ndconv3d planes=luma gain=0.1 filter=" XYZ);
  }
}

GST_END_TEST;

/* Formats that GStreamer's CUDA memory aborts on use memory of ndconv. */
GST_START_TEST (test_gray_on_the_device)
{
  static const gchar *const formats[] = { "GRAY8", "GRAY16_LE", "RGB", "BGR",
    "Y42B", "xRGB" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree gchar *source = g_strdup_printf (VIDEO, formats[i]);
    g_autofree gchar *text =
        g_strdup_printf ("%sndconv2d " EXACT XY
                         " backend=BACKEND ! ndconv3d " EXACT XYZ
                         " backend=BACKEND" SINK,
            source);

    gpu_compare (text, 2);
  }
}

GST_END_TEST;

static gpointer
run_in_thread (gpointer text)
{
  return gpu_run (text);
}

GST_START_TEST (test_two_pipelines)
{
  gboolean few = gpu_is_double () || gpu_is_checked ();
  g_autofree gchar *text = g_strdup_printf (
      "ndtestsrc num-buffers=%d seed=5 "
      "noise=0.3 volume-size=40:40:%d ! ndconv4dtemporal gain=0.1 "
      "backend=cuda filter=" XYZT SINK,
      few ? 30 : 200, few ? 5 : 40);
  g_autoptr (GPtrArray) alone = gpu_run (text);
  GThread *threads[2];

  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("pipeline", run_in_thread, text);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GPtrArray) got = g_thread_join (threads[i]);

    gpu_expect_equal (got, alone, 0);
  }
}

GST_END_TEST;

static GstElement *
make_chain (void)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline =
      gst_parse_launch ("ndtestsrc volume-size=24:24:24 ! "
                        "ndconv3d name=a backend=cuda filter=" XYZ
                        " ! ndconv4dtemporal name=b "
                        "backend=cuda filter=" XYZT
                        " ! ndview ! appsink name=sink sync=false "
                        "max-buffers=2 drop=true",
          &error);

  fail_unless (error == NULL);
  return gst_object_ref_sink (pipeline);
}

static void
expect_no_error (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  if (message) {
    g_autoptr (GError) error = NULL;

    gst_message_parse_error (message, &error, NULL);
    fail ("%s", error->message);
  }
}

static guint
rounds (guint n)
{
  const gchar *text = g_getenv ("ND_ROUNDS");

  return text ? (guint) atoi (text) : gpu_is_checked () ? n / 200 : n;
}

/* All memory except for the context, code and cuFFT. */
static void
expect_memory_back (gsize before, gsize most)
{
  gsize after = gpu_is_checked () ? gpu_free_bytes ()
                                  : gpu_wait_for_bytes (before - most);

  g_print ("free before %zu, after %zu bytes\n", before, after);
  fail_unless (gpu_is_checked () || after + most >= before,
      "%zu bytes are gone", before - after);
}

/* READY and PLAYING alternate; in NULL all memory is free again. */
GST_START_TEST (test_a_thousand_starts)
{
  g_autoptr (GstElement) pipeline = make_chain ();
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gsize before = 0;

  for (guint i = 0; i < rounds (1000) + 3; i++) {
    /* Memory of the first rounds stays: the context, code, cuFFT. */
    if (i == 3) {
      gst_element_set_state (pipeline, GST_STATE_NULL);
      before = gpu_free_bytes ();
    }
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    if (i % 3 == 0) {
      fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                                  60 * GST_SECOND),
          GST_STATE_CHANGE_SUCCESS);
    } else if (i % 3 == 1) {
      g_usleep (500 * (i % 7));
    }
    gst_element_set_state (pipeline, GST_STATE_READY);
    expect_no_error (pipeline);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  expect_memory_back (before, 2 << 20);
  fail_unless (gpu_is_left ());
}

GST_END_TEST;

/* Flushing seeks during the stream, then the whole stream. */
GST_START_TEST (test_seek_storm)
{
  const gchar *text =
      "ndfilesrc name=src location=%s ! ndconv3d gain=0.1 "
      "backend=%s filter=" XYZ
      " ! ndconv4dtemporal gain=0.1 backend=%s filter=" XYZT SINK;
  g_autofree gchar *path =
      g_strdup_printf ("%s/nd-seek-%d.nii", g_get_tmp_dir (), g_random_int ());
  g_autofree gchar *write = g_strdup_printf (SOURCE
      " ! tee name=t t. ! queue ! ndfilesink location=%s t. ! queue" SINK,
      40u, path);
  g_autofree gchar *cpu = g_strdup_printf (text, path, "cpu", "cpu");
  g_autofree gchar *gpu = g_strdup_printf (text, path, "cuda", "cuda");
  g_autoptr (GPtrArray) source = gpu_run (write), want = gpu_run (cpu);
  g_autoptr (GPtrArray) got = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (gpu, NULL);
  gsize before;

  gst_object_ref_sink (pipeline);
  /* The memory of pools varies, except in READY. */
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, 60 * GST_SECOND);
  gst_element_set_state (pipeline, GST_STATE_READY);
  before = gpu_free_bytes ();
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, 60 * GST_SECOND);
  for (guint i = 0; i < rounds (1000); i++) {
    gint64 to = g_random_int_range (0, 1000) * GST_MSECOND;

    gst_element_seek_simple (pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
        to);
    if (i % 10 == 0)
      gst_element_set_state (pipeline,
          i % 20 ? GST_STATE_PAUSED : GST_STATE_PLAYING);
    if (i % 4 == 0)
      g_usleep (i % 300);
  }
  expect_no_error (pipeline);
  gst_element_set_state (pipeline, GST_STATE_READY);
  expect_memory_back (before, 8 << 20);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, 60 * GST_SECOND);
  gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, 0);
  got = gpu_collect (pipeline);
  gpu_expect_equal (got, want, 1);
  g_remove (path);
}

GST_END_TEST;

/* Filters change while volumes are in flight; N volumes in give N out. */
GST_START_TEST (test_changes_in_flight)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch (
      "ndtestsrc "
      "name=src volume-size=24:24:24 ! ndconv4dtemporal name=f backend=cuda "
      "filter=" XYZT " ! fakesink name=sink signal-handoffs=true",
      NULL);
  const guint n = gpu_is_checked () ? 20 : 400;
  g_autoptr (GstElement) filter = NULL, source = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstStructure) stats = NULL;
  guint64 in, out;

  gst_object_ref_sink (pipeline);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  g_object_set (source, "num-buffers", n, NULL);
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; !message; i++) {
    static const gchar *const filters[] = { "gaussian,sigma=0.8", "box,size=3",
      "laplace", "gaussian,sigma=1.2" };

    g_object_set (filter, "filter", filters[i % 4], "gain", 1.0 + i % 3, NULL);
    message = gst_bus_timed_pop_filtered (bus, 3 * GST_MSECOND,
        GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  }
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  g_object_get (filter, "stats", &stats, NULL);
  gst_structure_get (stats, "volumes-in", G_TYPE_UINT64, &in, "volumes-out",
      G_TYPE_UINT64, &out, NULL);
  fail_unless_equals_uint64 (in, n);
  fail_unless_equals_uint64 (out, n);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_END_TEST;

typedef struct
{
  guint buffers, early; /* the number of volumes until the order is violated */
  GstClockTime last;
} Order;

static GstPadProbeReturn
follow (GstPad *pad, GstPadProbeInfo *info, gpointer order)
{
  Order *o = order;
  const GstClockTime pts =
      GST_BUFFER_PTS (gst_pad_probe_info_get_buffer (info));

  o->early += o->buffers > 0 && pts <= o->last;
  o->last = pts;
  o->buffers++;
  return GST_PAD_PROBE_OK;
}

/* Moves from the device to the CPU and back while a slow sink keeps volumes in
 * flight. */
GST_START_TEST (test_changes_of_back_end)
{
  const guint n = gpu_is_checked () ? 40 : 200;
  g_autoptr (GstElement) pipeline = gst_parse_launch (
      "ndtestsrc "
      "name=src volume-size=16:16:16 ! ndconv4dtemporal name=f filter=" XYZT
      " ! identity sleep-time=3000 ! fakesink name=sink",
      NULL);
  g_autoptr (GstElement) filter = NULL, source = NULL, sink = NULL;
  g_autoptr (GstPad) pad = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  Order order = { 0 };

  gst_object_ref_sink (pipeline);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  g_object_set (source, "num-buffers", n, NULL);
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, follow, &order, NULL);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; !message; i++) {
    gst_util_set_object_arg (G_OBJECT (filter), "method",
        i % 2 ? "direct" : "reference");
    message = gst_bus_timed_pop_filtered (bus, 40 * GST_MSECOND,
        GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  }
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless_equals_int (order.early, 0);
  fail_unless_equals_int (order.buffers, n);
}

GST_END_TEST;

static GstPadProbeReturn
count_ours (GstPad *pad, GstPadProbeInfo *info, gpointer count)
{
  GstMemory *memory =
      gst_buffer_peek_memory (GST_PAD_PROBE_INFO_BUFFER (info), 0);

  *(guint *) count += gst_memory_is_type (memory, "NdMemory");
  return GST_PAD_PROBE_OK;
}

/* Upstream uses the proposed pool, outputs are in such memory, and stats has
 * the times. */
GST_START_TEST (test_pool_and_stats)
{
  static const gchar *const kinds[] = { "upload", "compute", "download" };
  g_autoptr (GstElement) pipeline = gst_parse_launch (
      "ndtestsrc "
      "num-buffers=30 name=src ! ndconv3d name=f backend=cuda filter=" XYZ
      " ! appsink name=sink",
      NULL);
  g_autoptr (GstElement) filter = NULL;
  g_autoptr (GstStructure) stats = NULL;
  g_autoptr (GPtrArray) samples = NULL;
  g_autoptr (GstPad) pad = NULL;
  guint64 bytes;
  guint ours = 0;

  gst_object_ref_sink (pipeline);
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  pad = gst_element_get_static_pad (filter, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_ours, &ours, NULL);
  samples = gpu_collect (pipeline);
  fail_unless_equals_int (samples->len, 30);
  fail_unless_equals_int (ours, 30);
  for (guint i = 0; i < samples->len; i++) {
    GstMemory *memory =
        gst_buffer_peek_memory (gst_sample_get_buffer (samples->pdata[i]), 0);

    fail_unless (gst_memory_is_type (memory, "NdMemory"));
  }
  g_object_get (filter, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "bytes", &bytes) && bytes > 0);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autofree gchar *min = g_strconcat (kinds[i], "-seconds-min", NULL);
    g_autofree gchar *mean = g_strconcat (kinds[i], "-seconds-mean", NULL);
    g_autofree gchar *max = g_strconcat (kinds[i], "-seconds-max", NULL);
    gdouble low, middle, high;

    fail_unless (gst_structure_get (stats, min, G_TYPE_DOUBLE, &low, mean,
        G_TYPE_DOUBLE, &middle, max, G_TYPE_DOUBLE, &high, NULL));
    fail_unless (0 < low && low <= 1.001 * middle && middle <= 1.001 * high
        && high < 1);
  }
}

GST_END_TEST;

static void
query_caps (GstElement *pipeline, const gchar *name)
{
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), name);

  for (GList *l = element->pads; l; l = l->next) {
    GstCaps *caps = gst_pad_query_caps (l->data, NULL);

    fail_unless (!gst_caps_is_empty (caps));
    gst_caps_unref (caps);
  }
}

/* The driver starts between NULL and READY, once for each element, and never in
 * a query. */
GST_START_TEST (test_driver_starts_in_ready)
{
  g_autoptr (GstElement) pipeline =
      gst_parse_launch ("ndtestsrc ! ndconv3d name=a filter=" XYZ
                        " ! ndview name=b ! fakesink",
          NULL);
  gint before = gpu_starts ();

  for (guint i = 0; i < 3; i++) {
    query_caps (pipeline, "a");
    query_caps (pipeline, "b");
  }
  fail_unless_equals_int (gpu_starts (), before);
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  if (gpu_is_double ())
    fail_unless_equals_int (gpu_starts (), before + 2);
  before = gpu_starts ();
  for (guint i = 0; i < 3; i++) {
    query_caps (pipeline, "a");
    query_caps (pipeline, "b");
  }
  fail_unless_equals_int (gpu_starts (), before);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_END_TEST;

/* `stats` names the kernels that ran and their files. */
static const struct
{
  const gchar *caps, *filter, *kernels;
} kernels[] = {
  { "type=float32", "method=direct filter=" XYZ,
      "direct_kernel (cuda/direct/stencilkernel.cu)" },
  { "type=float32", "method=separable filter=gaussian,sigma=1.0",
      "separable_xy_kernel (cuda/direct/planes.cu)" },
  { "type=uint8", "method=fft filter=" XYZ,
      "fft_block_filter_kernel (cuda/fft/volumekernels.cu)" },
  { "type=uint8", "method=fft precision=double filter=" XYZ,
      "fft_store_responses_kernel (cuda/fft/levels.cu)" },
};

GST_START_TEST (test_names_of_kernels)
{
  g_autofree gchar *text =
      g_strdup_printf (SOURCE "%s ! ndconv3d name=f backend=cuda %s" SINK, 3u,
          kernels[__i__].caps, kernels[__i__].filter);
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  g_autoptr (GstStructure) stats = NULL;
  g_autoptr (GPtrArray) got = NULL;
  const gchar *said;

  gst_object_ref_sink (pipeline);
  got = gpu_collect (pipeline);
  fail_unless_equals_int (got->len, 3);
  g_object_get (filter, "stats", &stats, NULL);
  said = gst_structure_get_string (stats, "kernels");
  fail_unless (said && strstr (said, kernels[__i__].kernels), "%s", said);
}

GST_END_TEST;

static Suite *
gpu_suite (void)
{
  Suite *s = suite_create ("gpu streams");
  TCase *tc = tcase_create ("streams");

  tcase_set_timeout (tc, 600);
  tcase_add_test (tc, test_host_memory);
  tcase_add_test (tc, test_double_precision);
  tcase_add_test (tc, test_links_on_the_device);
  tcase_add_test (tc, test_places_of_events);
  tcase_add_test (tc, test_mixed_back_ends);
  if (gpu_has_elements ())
    tcase_add_test (tc, test_video_on_the_device);
  tcase_add_test (tc, test_gray_on_the_device);
  tcase_add_test (tc, test_two_pipelines);
  tcase_add_test (tc, test_pool_and_stats);
  if (!gpu_is_double ())
    tcase_add_loop_test (tc, test_names_of_kernels, 0, G_N_ELEMENTS (kernels));
  tcase_add_test (tc, test_changes_in_flight);
  tcase_add_test (tc, test_changes_of_back_end);
  tcase_add_test (tc, test_seek_storm);
  tcase_add_test (tc, test_a_thousand_starts);
  tcase_add_test (tc, test_driver_starts_in_ready);
  suite_add_tcase (s, tc);
  return s;
}

int
main (int argc, char **argv)
{
  return gpu_main (argc, argv, gpu_suite);
}
