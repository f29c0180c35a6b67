/* File to file: after an accurate seek outputs equal those of the whole file,
 * and after another seek those of a file with only those volumes. Progress is
 * reported.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <string.h>

#define VOLUMES 12
#define SAMPLES (9 * 8 * 7)
#define COEFFICIENTS (3 * 5) /* x and time */
#define RATE 2               /* progressreport counts whole seconds */

static gchar *folder;
static guint8 input[VOLUMES * SAMPLES];

static gchar *
path_of (const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
write_file (const gchar *name, gconstpointer bytes, gsize n)
{
  g_autofree gchar *path = path_of (name);

  g_assert_true (g_file_set_contents (path, bytes, n, NULL));
}

static GstElement *
launch (const gchar *text)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);

  g_assert_no_error (error);
  return gst_object_ref_sink (pipeline);
}

/* Writes file @name with random volumes and filters it over five volumes. */
static GstElement *
filter_file (const gchar *name, const gchar *method)
{
  g_autofree gchar *text = g_strdup_printf (
      "ndfilesrc location=%s/%s "
      "volume-size=9:8:7 type=uint8 framerate=%d/1 ! ndconv4dtemporal "
      "filter=\"file,location=%s/kernel.raw,size=3:1:1:5\" method=%s "
      "time-border=reflect output-type=float32 ! appsink name=sink sync=false",
      folder, name, RATE, folder, method);

  return launch (text);
}

/* Returns all outputs until EOS, and their timestamps from @first on. */
static GBytes *
take_all (GstElement *pipeline, guint first)
{
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GByteArray *all = g_byte_array_new ();
  GstSample *sample;

  while ((sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink),
              60 * GST_SECOND))) {
    GstBuffer *buffer = gst_sample_get_buffer (sample);
    guint n = all->len / (SAMPLES * sizeof (gfloat));
    GstMapInfo map;

    g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==,
        (first + n) * GST_SECOND / RATE);
    g_assert_cmpint (GST_BUFFER_IS_DISCONT (buffer), ==, n == 0);
    g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
    g_byte_array_append (all, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
    gst_sample_unref (sample);
  }
  g_assert_true (gst_app_sink_is_eos (GST_APP_SINK (sink)));
  return g_byte_array_free_to_bytes (all);
}

/* Writes volumes @first to @stop - 1 as a file of their own. */
static GBytes *
filter_part (const gchar *method, guint first, guint stop)
{
  GstElement *pipeline;
  GBytes *all;

  write_file ("part.raw", input + first * SAMPLES, (stop - first) * SAMPLES);
  pipeline = filter_file ("part.raw", method);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  all = take_all (pipeline, 0);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return all;
}

static void
seek_to (GstElement *pipeline, GstSeekFlags flags, guint first, guint stop)
{
  g_assert_true (gst_element_seek (pipeline, 1.0, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH | flags, GST_SEEK_TYPE_SET, first * GST_SECOND / RATE,
      GST_SEEK_TYPE_SET, stop * GST_SECOND / RATE));
}

static void
check_part (GstElement *pipeline, guint first, guint stop, GBytes *expected)
{
  g_autoptr (GBytes) got = take_all (pipeline, first);

  g_assert_cmpuint (g_bytes_get_size (got), ==,
      (stop - first) * SAMPLES * sizeof (gfloat));
  g_assert_true (g_bytes_equal (got, expected));
}

/* Each seek happens in the middle of the file: volumes filtered before the seek
 * must not come out after it. */
static void
test_seek (gconstpointer method)
{
  static const guint parts[][2] = { { 5, VOLUMES }, { 11, VOLUMES },
    { 0, VOLUMES }, { 2, 7 }, { 4, 5 }, { 0, 3 } };
  const gsize size = SAMPLES * sizeof (gfloat);
  g_autoptr (GBytes) whole = filter_part (method, 0, VOLUMES);
  GstElement *pipeline = filter_file ("in.raw", method);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    guint first = parts[i][0], stop = parts[i][1];
    g_autoptr (GBytes) part = filter_part (method, first, stop);
    g_autoptr (GBytes) excerpt =
        g_bytes_new_from_bytes (whole, first * size, (stop - first) * size);

    gst_sample_unref (gst_app_sink_pull_sample (GST_APP_SINK (sink)));
    seek_to (pipeline, 0, first, stop);
    check_part (pipeline, first, stop, part);
    seek_to (pipeline, GST_SEEK_FLAG_ACCURATE, first, stop);
    check_part (pipeline, first, stop, excerpt);
    seek_to (pipeline, 0, 0, VOLUMES);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

/* Progress ends at 100 percent of the duration of the file, and not at once. */
static void
test_progress (gconstpointer endings)
{
  const gchar *const *ending = endings;
  g_autofree gchar *make = g_strdup_printf (
      "ndfilesrc location=%s/in.raw "
      "volume-size=9:8:7 type=uint8 framerate=%d/1 ! ndfilesink "
      "location=%s/in%s",
      folder, RATE, folder, ending[0]);
  g_autofree gchar *text = g_strdup_printf (
      "ndfilesrc location=%s/in%s ! "
      "ndconv4dtemporal filter=\"box,size=3:3:3:5\" ! identity "
      "sleep-time=150000 ! progressreport update-freq=1 silent=true ! "
      "ndfilesink location=%s/out%s",
      folder, ending[0], folder, ending[1]);
  GstElement *pipeline = launch (make);
  GstBus *bus = gst_element_get_bus (pipeline);
  gint percent = -1, early = 0;
  gint64 total = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
      GST_MESSAGE_EOS));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);

  pipeline = launch (text);
  gst_object_unref (bus);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (;;) {
    g_autoptr (GstMessage) message =
        gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
            GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    const GstStructure *s;
    gint last = percent;

    g_assert_nonnull (message);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
      break;
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_ELEMENT);
    s = gst_message_get_structure (message);
    if (!gst_structure_has_name (s, "progress"))
      continue;
    g_assert_true (gst_structure_get_int (s, "percent", &percent));
    g_assert_true (gst_structure_get_int64 (s, "total", &total));
    g_assert_cmpint (percent, >=, last);
    if (percent < 100)
      early++;
  }
  g_assert_cmpint (early, >, 0);
  g_assert_cmpint (percent, ==, 100);
  g_assert_cmpint (total, ==, VOLUMES / RATE);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

static void
remove_folder (void)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir))) {
    g_autofree gchar *path = path_of (name);

    g_remove (path);
  }
  g_rmdir (folder);
  g_free (folder);
}

int
main (int argc, char **argv)
{
  static const gchar *const methods[] = { "reference", "direct", "fft" };
  static const gchar *const endings[][2] = { { ".nii", ".nii.gz" },
    { ".nii.gz", ".nii" } };
  gfloat kernel[COEFFICIENTS];
  int failed;

  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  folder = g_dir_make_tmp ("ndconv-seek-XXXXXX", NULL);
  g_assert_nonnull (folder);
  /* GLib prints the seed, and --seed repeats it. */
  for (guint i = 0; i < sizeof (input); i++)
    input[i] = g_test_rand_int_range (0, 256);
  for (guint i = 0; i < COEFFICIENTS; i++)
    kernel[i] = g_test_rand_double_range (-1, 1);
  write_file ("in.raw", input, sizeof (input));
  write_file ("kernel.raw", kernel, sizeof (kernel));

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    g_autofree gchar *name = g_strconcat ("/seek/", methods[i], NULL);

    g_test_add_data_func (name, methods[i], test_seek);
  }
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree gchar *name =
        g_strconcat ("/progress/", endings[i][0] + 1, NULL);

    g_test_add_data_func (name, endings[i], test_progress);
  }
  failed = g_test_run ();
  remove_folder ();
  return failed;
}
