/* Every video format: samples, alpha, fields, padding, strides.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/frames.h"

#include <malloc.h>

#define N_FORMATS 83
#define N_FRAMES 3

static void
check_frames (GRand *r, const gchar *factory, const Model *model,
    const GstVideoInfo *info)
{
  Stream *s = video_start (factory, info, model, "border", model->border);
  GstBuffer *inputs[N_FRAMES];

  for (guint v = 0; v < N_FRAMES; v++) {
    inputs[v] = video_buffer (info, v % 2 * 16, r);
    GST_BUFFER_PTS (inputs[v]) = v * s->duration;
    fail_unless_equals_int (gst_harness_push (s->h, gst_buffer_ref (inputs[v])),
        GST_FLOW_OK);
  }
  stream_eos (s);
  for (guint v = 0; v < N_FRAMES; v++) {
    g_autoptr (GstBuffer) output = stream_pull (s);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (output), v * s->duration);
    video_check (model, info, inputs, N_FRAMES, v, output);
  }
  stream_expect_none (s);
  for (guint v = 0; v < N_FRAMES; v++)
    gst_buffer_unref (inputs[v]);
  stream_free (s);
}

/* Each format with one of @n_models. */
static void
check_formats (GRand *r, const gchar *factory, const Model *models,
    guint n_models)
{
  static const guint sizes[][2] = { { 13, 7 }, { 16, 8 }, { 1, 1 } };
  GstVideoFormat formats[MAX_FORMATS];
  const guint n = video_formats (factory, formats);

  fail_unless_equals_int (n, N_FORMATS);
  for (guint f = 0; f < n; f++) {
    const guint i = g_rand_int_range (r, 0, 2 * G_N_ELEMENTS (sizes));
    const guint *size = sizes[i < G_N_ELEMENTS (sizes) ? i : 0];
    GstVideoInfo info;

    /* Under valgrind some, others each time. */
    if (test_count (1000) < 1000 && g_rand_int_range (r, 0, 8) > 0)
      continue;
    video_info (&info, formats[f], size[0], size[1]);
    check_frames (r, factory, &models[g_rand_int_range (r, 0, n_models)],
        &info);
  }
}

GST_START_TEST (test_identity)
{
  g_autoptr (GRand) r = test_rand ();
  Model model = model_new (NULL, 1, 1, 1, 1);

  check_formats (r, "ndconv2d", &model, 1);
}

GST_END_TEST;

/* A gain that is exact in binary, and a border for which chroma uses its own
 * value. */
GST_START_TEST (test_box)
{
  g_autoptr (GRand) r = test_rand ();
  Model models[2];

  models[0] = model_new (NULL, 4, 2, 1, 1);
  for (guint i = 0; i < 8; i++)
    models[0].values[i] = 1;
  models[0].gain = 0.125;
  models[1] = models[0];
  models[1].border = "constant";
  models[1].border_value = 200;
  models[1].offset = -20;
  check_formats (r, "ndconv2d", models, 2);
}

GST_END_TEST;

/* Samples that leave the range stop at its ends, also those of 10 and 12
 * bits. */
GST_START_TEST (test_saturation)
{
  g_autoptr (GRand) r = test_rand ();
  Model model = model_new (NULL, 3, 1, 1, 1);

  model.values[0] = -2;
  model.values[1] = 4;
  model.values[2] = 1;
  check_formats (r, "ndconv2d", &model, 1);
}

GST_END_TEST;

/* ndconv3d filters frames over time. */
GST_START_TEST (test_over_time)
{
  static const gchar *const borders[] = { "constant", "mirror" };
  g_autoptr (GRand) r = test_rand ();
  Model models[2];

  for (guint b = 0; b < 2; b++) {
    models[b] = model_new (r, 2, 1, 1, 3);
    models[b].gain = 0.25;
    models[b].border = models[b].time_border = borders[b];
    models[b].border_value = 30;
  }
  check_formats (r, "ndconv3d", models, 2);
}

GST_END_TEST;

/* The fields of interlaced video are filtered apart, over time too. */
GST_START_TEST (test_fields)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8,
    GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12,
    GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_P010_10LE,
    GST_VIDEO_FORMAT_ARGB64_BE };
  g_autoptr (GRand) r = test_rand ();

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    Model model = model_new (r, 2, 3, 1, 1), over_time;
    GstVideoInfo info;

    model.gain = 0.125;
    video_info (&info, formats[f], 13, 12);
    GST_VIDEO_INFO_INTERLACE_MODE (&info) =
        GST_VIDEO_INTERLACE_MODE_INTERLEAVED;
    check_frames (r, "ndconv2d", &model, &info);
    over_time = model_new (r, 1, 2, 1, 3);
    over_time.gain = 0.125;
    check_frames (r, "ndconv3d", &over_time, &info);
  }
}

GST_END_TEST;

/* Interlaced video that cannot be filtered by fields is refused with a
 * sentence. */
static void
check_refused (GstVideoInterlaceMode mode, guint height, const gchar *factory,
    const gchar *property, const gchar *value, const gchar *second,
    const gchar *second_value)
{
  GstVideoInfo info;
  GstMessage *message = NULL;
  g_autoptr (GError) error = NULL;
  Stream *s;

  video_info (&info, GST_VIDEO_FORMAT_I420, 16, height);
  GST_VIDEO_INFO_INTERLACE_MODE (&info) = mode;
  if (mode == GST_VIDEO_INTERLACE_MODE_ALTERNATE)
    GST_VIDEO_INFO_SIZE (&info) /= 2;
  s = stream_new (factory, NULL, property, value, second, second_value, NULL);
  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_src_caps (s->h, gst_video_info_to_caps (&info));
  gst_harness_push (s->h,
      gst_buffer_new_and_alloc (GST_VIDEO_INFO_SIZE (&info)));
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, &message), 1);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "interlaced") != NULL
          && strstr (error->message, "'deinterlace'") != NULL,
      "%s", error->message);
  gst_message_unref (message);
  stream_free (s);
}

/* In a pipeline upstream asks first which caps are possible. */
GST_START_TEST (test_alternate_fields_in_a_pipeline)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch (
      "appsrc name=s caps=\"video/x-raw(format:Interlaced),format=I420,"
      "width=16,height=16,framerate=30/1,interlace-mode=alternate\" ! "
      "capsfilter ! ndconv2d filter=box,size=3 ! fakesink",
      NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstElement) src = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  g_autoptr (GstBuffer) buffer = gst_buffer_new_and_alloc (16 * 8 * 3 / 2);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (src, "push-buffer", buffer, &ret);
  message =
      gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "interlace-mode=alternate") != NULL,
      "%s", error->message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_END_TEST;

GST_START_TEST (test_interlaced_video_that_is_refused)
{
  const GstVideoInterlaceMode interleaved =
      GST_VIDEO_INTERLACE_MODE_INTERLEAVED;

  check_refused (GST_VIDEO_INTERLACE_MODE_MIXED, 16, "ndconv2d", "filter",
      "box,size=3", NULL, NULL);
  check_refused (GST_VIDEO_INTERLACE_MODE_ALTERNATE, 16, "ndconv2d", "filter",
      "box,size=3", NULL, NULL);
  check_refused (GST_VIDEO_INTERLACE_MODE_ALTERNATE, 16, "nddenoise", NULL,
      NULL, NULL, NULL);
  /* Chroma of 4:2:0 has 7 lines. */
  check_refused (interleaved, 14, "ndconv2d", "filter", "box,size=3", NULL,
      NULL);
  check_refused (interleaved, 16, "ndconv3d", "filter", "box,size=1:1:3",
      "axes", "xyz");
  check_refused (interleaved, 16, "ndconv2d", "filter",
      "gaussian,sigma=1.0;box,size=3", NULL, NULL);
  check_refused (interleaved, 16, "nddenoise", NULL, NULL, NULL, NULL);
}

GST_END_TEST;

/* A picture with alpha does not become transparent, whatever the filter, and
 * outputs of nddenoise have the alpha of their own frame. */
GST_START_TEST (test_alpha_of_denoised_frames)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_RGBA,
    GST_VIDEO_FORMAT_ABGR, GST_VIDEO_FORMAT_AYUV, GST_VIDEO_FORMAT_A420,
    GST_VIDEO_FORMAT_RGBA64_LE, GST_VIDEO_FORMAT_GBRA_10LE };
  g_autoptr (GRand) r = test_rand ();

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    GstVideoInfo info;
    GstBuffer *inputs[N_FRAMES];
    Stream *s;

    video_info (&info, formats[f], 18, 10);
    s = stream_new ("nddenoise", NULL, NULL);
    s->h = gst_harness_new_with_element (s->element, "sink", "src");
    gst_harness_set_src_caps (s->h, gst_video_info_to_caps (&info));
    for (guint v = 0; v < N_FRAMES; v++) {
      inputs[v] = video_buffer (&info, v * 8, r);
      GST_BUFFER_PTS (inputs[v]) = v * GST_SECOND / 10;
      fail_unless_equals_int (gst_harness_push (s->h,
                                  gst_buffer_ref (inputs[v])),
          GST_FLOW_OK);
    }
    stream_eos (s);
    for (guint v = 0; v < N_FRAMES; v++) {
      g_autoptr (GstBuffer) output = stream_pull (s);
      g_autofree gdouble *got = video_component (output, &info, 3);
      g_autofree gdouble *want = video_component (inputs[v], &info, 3);

      fail_unless (memcmp (got, want, 18 * 10 * sizeof (gdouble)) == 0, "%s",
          GST_VIDEO_INFO_NAME (&info));
      gst_buffer_unref (inputs[v]);
    }
    stream_free (s);
  }
}

GST_END_TEST;

static Suite *
video_formats_suite (void)
{
  Suite *suite = suite_create ("videoformats");
  TCase *tc = tcase_create ("formats");

  /* New memory is not zero, so that padding is not zero by chance. */
  mallopt (M_PERTURB, 0x5a);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_identity);
  tcase_add_test (tc, test_box);
  tcase_add_test (tc, test_saturation);
  tcase_add_test (tc, test_over_time);
  tcase_add_test (tc, test_fields);
  tcase_add_test (tc, test_interlaced_video_that_is_refused);
  tcase_add_test (tc, test_alternate_fields_in_a_pipeline);
  tcase_add_test (tc, test_alpha_of_denoised_frames);
  return suite;
}

GST_CHECK_MAIN (video_formats);
