/* Frames: planes that are not filtered, and the output if caps of video cannot
 * hold it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/frames.h"

#include <math.h>

/* If the filter sums to zero and the input is flat, gray remains: 128. */
GST_START_TEST (test_laplace_leaves_chroma_gray)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420,
    GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_YV12,
    GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444 };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    GstVideoInfo info;
    GstBuffer *input;
    g_autoptr (GstBuffer) output = NULL;
    Stream *s;

    video_info (&info, formats[f], 9, 6);
    s = video_start ("ndconv2d", &info, NULL, "filter", "laplace");
    input = gst_buffer_new_and_alloc (GST_VIDEO_INFO_SIZE (&info));
    gst_buffer_memset (input, 0, 77, -1);
    fail_unless_equals_int (gst_harness_push (s->h, input), GST_FLOW_OK);
    output = stream_pull (s);
    for (guint c = 0; c < 3; c++) {
      g_autofree gdouble *got = video_component (output, &info, c);

      for (gint k = 0; k < GST_VIDEO_INFO_COMP_WIDTH (&info, c)
               * GST_VIDEO_INFO_COMP_HEIGHT (&info, c);
           k++)
        fail_unless (got[k] == (c == 0 ? 0 : 128), "%s, component %u: %g",
            GST_VIDEO_INFO_NAME (&info), c, got[k]);
    }
    stream_free (s);
  }
}

GST_END_TEST;

/* Component @c of all outputs for @inputs with this value of `planes`. */
static void
filter_component (const GstVideoInfo *info, GstBuffer *const *inputs, guint n,
    const gchar *planes, guint c, gdouble **outputs)
{
  Model model = model_new (NULL, 3, 1, 1, 3);
  Stream *s;

  model.gain = 0.0625;
  model.offset = 9;
  s = video_start ("ndconv3d", info, &model, "planes", planes);
  for (guint v = 0; v < n; v++)
    fail_unless_equals_int (gst_harness_push (s->h, gst_buffer_ref (inputs[v])),
        GST_FLOW_OK);
  stream_eos (s);
  for (guint v = 0; v < n; v++) {
    g_autoptr (GstBuffer) output = stream_pull (s);

    outputs[v] = video_component (output, info, c);
  }
  stream_free (s);
}

/* With planes=luma, chroma is that of the anchor, and luma is filtered as
 * usual. */
GST_START_TEST (test_luma_alone)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420,
    GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_RGB,
    GST_VIDEO_FORMAT_GRAY8 };
  g_autoptr (GRand) r = test_rand ();

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    GstVideoInfo info;
    GstBuffer *inputs[4];

    video_info (&info, formats[f], 13, 6);
    for (guint v = 0; v < 4; v++) {
      inputs[v] = video_buffer (&info, 0, r);
      GST_BUFFER_PTS (inputs[v]) = v * GST_SECOND / 10;
    }
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++) {
      gboolean passed = c > 0 && GST_VIDEO_INFO_IS_YUV (&info);
      gdouble *luma[4], *all[4];

      filter_component (&info, inputs, 4, "luma", c, luma);
      filter_component (&info, inputs, 4, "all", c, all);
      for (guint v = 0; v < 4; v++) {
        g_autofree gdouble *in = video_component (inputs[v], &info, c);

        for (gint k = 0; k < GST_VIDEO_INFO_COMP_WIDTH (&info, c)
                 * GST_VIDEO_INFO_COMP_HEIGHT (&info, c);
             k++)
          fail_unless (luma[v][k] == (passed ? in[k] : all[v][k]),
              "%s, "
              "component %u",
              GST_VIDEO_INFO_NAME (&info), c);
        g_free (luma[v]);
        g_free (all[v]);
      }
    }
    for (guint v = 0; v < 4; v++)
      gst_buffer_unref (inputs[v]);
  }
}

GST_END_TEST;

static void
expect_caps (Stream *s, const gchar *text)
{
  g_autoptr (GstCaps) want = gst_caps_from_string (text);
  g_autoptr (GstCaps) got = gst_pad_get_current_caps (s->h->sinkpad);

  g_autofree gchar *name = got ? gst_caps_to_string (got) : NULL;

  fail_unless (got && gst_caps_is_subset (got, want), "%s, not %s", name, text);
}

/* Sends the frame @input through an identity filter and returns the bytes of
 * the output as @type. */
static void
check_converted (GstVideoFormat format, const gchar *output_type,
    const gchar *caps, const gchar *type)
{
  g_autoptr (GRand) r = test_rand ();
  GstVideoInfo info;
  GstBuffer *input;
  g_autoptr (GstBuffer) output = NULL;
  GstMapInfo in, out;
  GstVideoFrame frame;
  Stream *s;
  gboolean is_video = g_str_has_prefix (caps, "video");
  guint bytes;

  /* Rows of 12 bytes need no padding. */
  video_info (&info, format, 12, 5);
  bytes = GST_VIDEO_INFO_COMP_DEPTH (&info, 0) > 8 ? 2 : 1;
  input = video_buffer (&info, 0, r);
  s = stream_new ("ndconv2d", NULL, "filter",
      "coefficients,size=1,values=<1.0>", "output-type", output_type, NULL);
  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_src_caps (s->h, gst_video_info_to_caps (&info));
  expect_caps (s, caps);
  fail_unless_equals_int (gst_harness_push (s->h, gst_buffer_ref (input)),
      GST_FLOW_OK);
  output = stream_pull (s);
  fail_unless (gst_buffer_map (input, &in, GST_MAP_READ));
  if (is_video) {
    g_autoptr (GstCaps) got = gst_pad_get_current_caps (s->h->sinkpad);
    GstVideoInfo out_info;

    fail_unless (gst_video_info_from_caps (&out_info, got));
    fail_unless (gst_video_frame_map (&frame, &out_info, output, GST_MAP_READ));
    for (guint i = 0; i < 60; i++) {
      gdouble want = type_get (bytes == 2 ? "uint16" : "uint8", in.data, i);
      guint8 rounded[2];

      type_set (type, rounded, 0, want);
      fail_unless (type_get (type,
                       (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
                           + i / 12 * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
                       i % 12)
          == type_get (type, rounded, 0));
    }
    gst_video_frame_unmap (&frame);
  } else {
    fail_unless (gst_buffer_map (output, &out, GST_MAP_READ));
    fail_unless_equals_uint64 (out.size / type_size (type), in.size / bytes);
    for (gsize i = 0; i < in.size / bytes; i++)
      fail_unless (type_get (type, out.data, i)
          == type_get (bytes == 2 ? "uint16" : "uint8", in.data, i));
    gst_buffer_unmap (output, &out);
  }
  gst_buffer_unmap (input, &in);
  gst_buffer_unref (input);
  stream_free (s);
}

GST_START_TEST (test_other_types_of_output)
{
  check_converted (GST_VIDEO_FORMAT_GRAY8, "float32",
      "other/tensors,"
      "types=float32,dimensions={1:12:5,1:12:5:1},framerate=10/1",
      "float32");
  check_converted (GST_VIDEO_FORMAT_GRAY8, "int16",
      "other/tensors,"
      "types=int16,dimensions={1:12:5,1:12:5:1}",
      "int16");
  check_converted (GST_VIDEO_FORMAT_GRAY8, "uint16",
      "video/x-raw,"
      "format=GRAY16_LE,width=12,height=5,framerate=10/1",
      "uint16");
  check_converted (GST_VIDEO_FORMAT_GRAY8, "uint8",
      "video/x-raw,"
      "format=GRAY8,width=12,height=5",
      "uint8");
  check_converted (GST_VIDEO_FORMAT_GRAY16_LE, "uint8",
      "video/x-raw,"
      "format=GRAY8,width=12,height=5",
      "uint8");
  check_converted (GST_VIDEO_FORMAT_GRAY16_LE, "float32",
      "other/tensors,"
      "types=float32,dimensions={1:12:5,1:12:5:1}",
      "float32");
  check_converted (GST_VIDEO_FORMAT_RGB, "float32",
      "other/tensors,"
      "types=float32,dimensions={3:12:5,3:12:5:1}",
      "float32");
  check_converted (GST_VIDEO_FORMAT_BGRx, "uint16",
      "other/tensors,"
      "types=uint16,dimensions={4:12:5,4:12:5:1}",
      "uint16");
}

GST_END_TEST;

/* A bank over frames gives volumes of one slice. */
GST_START_TEST (test_bank_of_frames)
{
  g_autoptr (GRand) r = test_rand ();
  GstVideoInfo info;
  GstBuffer *input;
  g_autoptr (GstBuffer) output = NULL;
  GstMapInfo in, out;
  Stream *s;

  video_info (&info, GST_VIDEO_FORMAT_GRAY8, 16, 5);
  input = video_buffer (&info, 0, r);
  s = video_start ("ndconv3d", &info, NULL, "filter",
      "coefficients,size=1,values=<1.0>;"
      "coefficients,size=1:1:2,values=<0.0,1.0>;"
      "coefficients,size=2:1:1,values=<0.0,1.0>");
  expect_caps (s, "other/tensors,types=uint8,dimensions=1:16:5:1:3");
  fail_unless_equals_int (gst_harness_push (s->h, gst_buffer_ref (input)),
      GST_FLOW_OK);
  stream_eos (s);
  output = stream_pull (s);
  fail_unless (gst_buffer_map (input, &in, GST_MAP_READ));
  fail_unless (gst_buffer_map (output, &out, GST_MAP_READ));
  fail_unless_equals_uint64 (out.size, 240);
  for (guint i = 0; i < 80; i++) {
    fail_unless_equals_int (out.data[i], in.data[i]);
    fail_unless_equals_int (out.data[80 + i], in.data[i]);
    fail_unless_equals_int (out.data[160 + i], in.data[i]);
  }
  gst_buffer_unmap (output, &out);
  gst_buffer_unmap (input, &in);
  gst_buffer_unref (input);
  stream_free (s);
}

GST_END_TEST;

/* Planes of several sizes cannot become a volume: upstream is asked for other
 * caps. */
GST_START_TEST (test_planar_video_is_not_offered_as_volumes)
{
  Stream *s = stream_new ("ndconv2d", NULL, "filter", "box,size=3",
      "output-type", "float32", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (s->element, "sink");
  g_autoptr (GstCaps) gray =
      gst_caps_from_string ("video/x-raw,"
                            "format=GRAY8,width=16,height=16,framerate=10/1");
  g_autoptr (GstCaps) planar =
      gst_caps_from_string ("video/x-raw,"
                            "format=I420,width=16,height=16,framerate=10/1");

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_push_event (s->h, gst_event_new_stream_start ("test"));
  gst_harness_push_event (s->h, gst_event_new_caps (planar));
  stream_segment (s, 1, 0, GST_CLOCK_TIME_NONE);
  fail_unless_equals_int (gst_harness_push (s->h,
                              gst_buffer_new_and_alloc (16 * 24)),
      GST_FLOW_NOT_NEGOTIATED);
  /* The error lasts until NULL. */
  gst_element_set_state (s->element, GST_STATE_NULL);
  gst_element_set_state (s->element, GST_STATE_PLAYING);
  gst_harness_push_event (s->h, gst_event_new_stream_start ("gray"));
  gst_harness_push_event (s->h, gst_event_new_caps (gray));
  stream_segment (s, 1, 0, GST_CLOCK_TIME_NONE);
  fail_unless_equals_int (gst_harness_push (s->h,
                              gst_buffer_new_and_alloc (16 * 16)),
      GST_FLOW_OK);
  stream_free (s);
}

GST_END_TEST;

static Suite *
conv_video_suite (void)
{
  Suite *suite = suite_create ("convvideo");
  TCase *tc = tcase_create ("frames");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_luma_alone);
  tcase_add_test (tc, test_laplace_leaves_chroma_gray);
  tcase_add_test (tc, test_other_types_of_output);
  tcase_add_test (tc, test_bank_of_frames);
  tcase_add_test (tc, test_planar_video_is_not_offered_as_volumes);
  return suite;
}

GST_CHECK_MAIN (conv_video);
