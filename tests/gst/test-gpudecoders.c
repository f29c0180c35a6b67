/* From NVIDIA's decoders to cudadownload without leaving the device. Skipped
 * with exit code 77 if a decoder is missing, after the test of those that are
 * present.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/gpu.h"

#include <glib/gstdio.h>

#define SINK " ! appsink name=sink sync=false"
#define FRAMES "64"

static gboolean
has (const gchar *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);

  return factory != NULL;
}

/* Makes an encoded file. */
static gchar *
make_file (const gchar *encoder)
{
  g_autofree gchar *path =
      g_strdup_printf ("%s/nd-decoder-%d", g_get_tmp_dir (), g_random_int ());
  g_autofree gchar *text = g_strdup_printf (
      "videotestsrc num-buffers=" FRAMES
      " pattern=ball ! video/x-raw,format=I420,width=640,height=360,"
      "framerate=30/1 ! %s ! tee name=t t. ! queue ! matroskamux ! filesink "
      "location=%s t. ! queue" SINK,
      encoder, path);
  g_autoptr (GPtrArray) made = gpu_run (text);

  fail_unless (made->len > 0);
  return g_steal_pointer (&path);
}

/* The output of @decoder, filtered in device memory, equals the output of
 * @other in host memory, filtered after cudaupload, to the last bit: both
 * filter the same pixels with the same code. It also agrees with the result of
 * the CPU. */
static void
check_decoder (const gchar *reader, const gchar *decoder, const gchar *other)
{
  static const gchar *const filters[] = {
    "ndconv2d filter=gaussian,sigma=1.5 backend=%s name=f ! "
    "ndconv3d filter=gaussian,sigma=0.8 backend=%s name=g",
    "ndconv2d planes=luma filter=gaussian,sigma=1.5 backend=%s name=f ! "
    "ndconv3d planes=luma filter=gaussian,sigma=0.8 backend=%s name=g",
  };

  for (guint i = 0; i < G_N_ELEMENTS (filters); i++) {
    g_autofree gchar *cuda = g_strdup_printf (filters[i], "cuda", "cuda");
    g_autofree gchar *host = g_strdup_printf (filters[i], "cpu", "cpu");
    g_autofree gchar *direct = g_strdup_printf ("%s ! %s ! %s ! cudadownload ! "
                                                "video/x-raw" SINK,
        reader, decoder, cuda);
    g_autofree gchar *uploaded = g_strdup_printf (
        "%s ! %s ! videoconvert ! "
        "video/x-raw,format=NV12 ! cudaupload ! %s ! cudadownload ! "
        "video/x-raw" SINK,
        reader, other, cuda);
    g_autofree gchar *cpu =
        g_strdup_printf ("%s ! %s ! videoconvert ! "
                         "video/x-raw,format=NV12 ! %s" SINK,
            reader, other, host);
    g_autoptr (GError) error = NULL;
    g_autoptr (GstElement) pipeline = gst_parse_launch (direct, &error);
    g_autoptr (GPtrArray) a = NULL, b = gpu_run (uploaded), c = gpu_run (cpu);

    fail_unless (error == NULL, "%s: %s", direct, error ? error->message : "");
    gst_object_ref_sink (pipeline);
    gpu_pause (pipeline);
    gpu_expect_device (pipeline, "f", "sink");
    gpu_expect_device (pipeline, "g", "sink");
    gpu_expect_device (pipeline, "g", "src");
    {
      g_autoptr (GstElement) d = gst_bin_get_by_name (GST_BIN (pipeline), "d");
      g_autoptr (GstElement) f = gst_bin_get_by_name (GST_BIN (pipeline), "f");
      g_autoptr (GObject) theirs = gpu_context (d), ours = gpu_context (f);

      fail_unless (ours && ours == theirs);
    }
    a = gpu_collect (pipeline);
    gpu_expect_equal (a, b, 0);
    gpu_expect_equal (a, c, 2);
  }
  fail_unless (gpu_is_left ());
}

static gchar *h264_file, *jpeg_file; /* from the command line, or NULL */

/* H.264 defines every pixel. */
GST_START_TEST (test_h264)
{
  const gboolean made = !h264_file;
  g_autofree gchar *path = made ? make_file ("openh264enc bitrate=2000000 "
                                             "gop-size=16 ! h264parse")
                                : g_strdup (h264_file);
  g_autofree gchar *reader = g_strdup_printf ("filesrc location=%s ! "
                                              "matroskademux ! h264parse",
      path);

  check_decoder (reader, "nvh264dec name=d",
      has ("avdec_h264") ? "avdec_h264" : "openh264dec");
  if (made)
    g_remove (path);
}

GST_END_TEST;

/* JPEG leaves the last bit to the decoder, so the same one decodes for both. */
GST_START_TEST (test_jpeg)
{
  const gboolean made = !jpeg_file;
  g_autofree gchar *path =
      made ? make_file ("jpegenc quality=90") : g_strdup (jpeg_file);
  g_autofree gchar *reader = g_strdup_printf ("filesrc location=%s ! "
                                              "matroskademux ! jpegparse",
      path);

  check_decoder (reader, "nvjpegdec name=d",
      "nvjpegdec ! video/x-raw,format=NV12");
  if (made)
    g_remove (path);
}

GST_END_TEST;

static gboolean complete = TRUE;

static gboolean
is_here (const gchar *decoder)
{
  const gboolean here = has (decoder);

  if (!here)
    g_print ("%s is missing, skipped; it needs libnvcuvid and a GPU that "
             "decodes\n",
        decoder);
  complete &= here;
  return here;
}

static Suite *
gpu_suite (void)
{
  Suite *s = suite_create ("gpu decoders");
  TCase *tc = tcase_create ("decoders");

  tcase_set_timeout (tc, 600);
  if (is_here ("nvh264dec"))
    tcase_add_test (tc, test_h264);
  if (is_here ("nvjpegdec"))
    tcase_add_test (tc, test_jpeg);
  suite_add_tcase (s, tc);
  return s;
}

/* gpudecoders [H264 [JPEG]]: Matroska files to use if no encoder is present. */
int
main (int argc, char **argv)
{
  int failed;

  h264_file = argc > 1 ? argv[1] : NULL;
  jpeg_file = argc > 2 ? argv[2] : NULL;
  failed = gpu_main (1, argv, gpu_suite);
  return failed == 0 && !complete ? 77 : failed;
}
