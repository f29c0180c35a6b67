/* Caps of volumes and of video, as text: what a neighbouring element or a user
 * of capsfilter may say.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/scan.h"
#include "gst/base/gstndformat.h"
#include "gst/gstndstackcaps.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include <math.h>
#include <string.h>

const gchar *const fuzz_name = "caps";

/* Of LeakSanitizer, if it is there. */
extern void __lsan_disable (void) __attribute__ ((weak));
extern void __lsan_enable (void) __attribute__ ((weak));

/* GStreamer leaks the arrays of a text that it refuses. */
static GstCaps *
caps_from_text (const gchar *text)
{
  GstCaps *caps;

  if (__lsan_disable)
    __lsan_disable ();
  caps = gst_caps_from_string (text);
  if (__lsan_enable)
    __lsan_enable ();
  return caps;
}

/* What these caps become if they say where the beams lie. */
static void
try_beams (const GstNdVolumeInfo *info)
{
  static const NdScanSettings settings = { 0 };
  g_autoptr (GError) error = NULL;
  NdBeams beams = { 0 };
  NdScan scan;

  nd_settings_init (nd_beams_settings, nd_n_beams_settings, &beams);
  if (!nd_beams_parse (info->beams, &beams, &error)
      || !nd_scan_init (&scan, &beams, &settings, &info->shape, &info->geometry,
          &error)) {
    fuzz_check_error (error);
  } else {
    gsize samples;

    if (!nd_shape_samples (&scan.out, &samples))
      g_error ("a grid without an end");
    nd_scan_clear (&scan);
  }
  nd_settings_clear (nd_beams_settings, nd_n_beams_settings, &beams);
}

/* The caps that ndconv writes mean what it read. */
static void
try_volume (const GstCaps *caps)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstCaps) written = NULL, one = NULL;
  GstNdVolumeInfo info, again;

  if (!gst_nd_volume_info_from_caps (&info, caps, &error)) {
    fuzz_check_error (error);
    return;
  }
  if (gst_nd_volume_info_size (&info) == 0)
    g_error ("caps without samples are accepted");
  for (guint a = 0; a < 3; a++)
    if (info.geometry.known && !isfinite (info.geometry.spacing[a]))
      g_error ("a spacing of %g is accepted", info.geometry.spacing[a]);
  if (*info.beams)
    try_beams (&info);
  written = gst_nd_volume_info_to_caps (&info);
  one = gst_caps_fixate (gst_caps_copy_nth (written, 0));
  if (!gst_nd_volume_info_from_caps (&again, one, &error))
    g_error ("caps of a volume are refused: %s", error->message);
  if (again.type != info.type || again.responses != info.responses
      || memcmp (&again.shape, &info.shape, sizeof (info.shape)) != 0)
    g_error ("caps of a volume change");
}

static guint32
try_format (const GstCaps *caps, guint32 sum)
{
  g_autoptr (GError) error = NULL;
  GstNdFormat format;

  if (!gst_nd_format_from_caps (&format, caps, &error)) {
    fuzz_check_error (error);
    return sum;
  }
  if (format.size == 0 || format.n_planes == 0
      || format.n_planes > ND_MAX_PLANES)
    g_error ("a format of %u planes and %" G_GSIZE_FORMAT " bytes",
        format.n_planes, format.size);
  gst_nd_format_set_precision (&format, ND_PRECISION_DOUBLE);
  gst_nd_format_duration (&format);
  for (guint p = 0; p < format.n_planes; p++) {
    gst_nd_format_zero (&format, p);
    gst_nd_format_kept (&format, p);
    sum = fuzz_sum (sum, &format.planes[p], sizeof (NdShape));
  }
  return fuzz_sum (sum, &format.size, sizeof (format.size));
}

static void
try_stack (GstCaps *caps)
{
  for (guint slices = 1; slices <= 3; slices += 2) {
    gst_caps_unref (gst_nd_stack_caps_of_volumes (caps, slices));
    gst_caps_unref (gst_nd_stack_caps_of_frames (caps, slices));
  }
}

static void
ignore (const gchar *domain, GLogLevelFlags level, const gchar *text,
    gpointer data)
{
}

/* GStreamer keeps each new word of caps in GLib's table of quarks. GLib leaks
 * its first table when it grows: always here, so that two runs leak it. */
static void
fill_first_table (void)
{
  gchar word[16];

  for (guint i = 0; i < 2048; i++) {
    g_snprintf (word, sizeof (word), "fuzz-%u", i);
    g_quark_from_string (word);
  }
}

guint32
fuzz_input (const guint8 *bytes, gsize n)
{
  g_autofree gchar *text = g_strndup ((const gchar *) bytes, n);
  g_autoptr (GstCaps) caps = NULL;
  guint32 sum = 0;

  if (!gst_is_initialized ()) {
    gst_init (NULL, NULL);
    fill_first_table ();
    /* It says of each text what is wrong. */
    g_log_set_handler ("GStreamer", G_LOG_LEVEL_MASK, ignore, NULL);
  }
  caps = caps_from_text (text);
  if (!caps || gst_caps_is_any (caps))
    return 0;
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    g_autoptr (GstCaps) one = gst_caps_copy_nth (caps, i);
    const GstStructure *s = gst_caps_get_structure (one, 0);

    gst_nd_caps_have_alternate_fields (one);
    if (gst_structure_has_name (s, "video/x-raw")
        || gst_structure_has_name (s, GST_ND_TENSORS))
      try_stack (one);
    if (!gst_caps_is_fixed (one))
      continue;
    if (!gst_structure_has_name (s, "video/x-raw"))
      try_volume (one);
    sum = try_format (one, sum);
  }
  return sum;
}

void
fuzz_seeds (GPtrArray *seeds)
{
  static const gchar *const texts[] = {
    GST_ND_TENSORS ",format=static,num_tensors=1,types=int16,"
                   "dimensions=1:64:48:32,framerate=30/1",
    GST_ND_TENSORS ",format=static,num_tensors=1,types=float32,"
                   "dimensions=(string){\"3:8:8:1\",\"3:8:8\"},"
                   "framerate=30000/1001,spacing=\"0.5:0.5:2\","
                   "origin=\"-10:20.5:3\",directions=\"0:1:0:-1:0:0:0:0:1\"",
    GST_ND_TENSORS "(memory:CUDAMemory),num_tensors=(int)1,types=uint8,"
                   "dimensions=\" 2:5:4:3:6\",framerate=(fraction)0/1",
    GST_ND_TENSORS ",format=static,num_tensors=2,types=\"int16,float16\","
                   "dimensions=\"1:2:2:2,1:0:0:0\",framerate=1/1;"
                   "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1",
    GST_ND_TENSORS ",types=uint8,dimensions=\"1:8:8:8\",framerate=10/1,"
                   "beams=\"geometry=matrix,depth=60,angle=60\"",
    "video/x-raw,format=GRAY16_LE,width=7,height=5,framerate=30/1",
    "video/x-raw,format=I420_10LE,width=7,height=5,framerate=0/1,"
    "max-framerate=60/1",
    "video/x-raw,format=BGRA,width=6,height=4,framerate=25/1,"
    "interlace-mode=interleaved",
    "video/x-raw(format:Interlaced),format=YUY2,width=6,height=4,"
    "framerate=25/1,interlace-mode=alternate",
    "video/x-raw(format:Interlaced),format=YUY2,width=0,height=4,"
    "framerate=25/1,interlace-mode=alternate",
    GST_ND_TENSORS ",types=uint8,dimensions=\"1:2:2\",spacing=\"1:inf:1\"",
    "video/x-raw,format=NV12,width=6,height=4,framerate=25/1,"
    "pixel-aspect-ratio=2/1",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    seeds_append_text (seeds, texts[i], 0);
}
