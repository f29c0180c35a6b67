/* Long streams: memory does not grow, the time per volume does not grow, and
 * equal frames give equal bits to the end.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>
#include <sys/resource.h>

/* At this volume, rings, pools, threads and the allocator's caches exist. The
 * slack is two volumes of 64^3 in 1,800, or 300 bytes for each. */
#define SETTLED 200
#define VOLUMES 2000
#define SLACK_KIB 512
#define LIMIT (900 * GST_SECOND)

typedef struct
{
  guint64 n;    /* volumes that reached the sink */
  gsize kib[2]; /* resident memory: after settling, and at the last volume */
  gdouble
      seconds[3];   /* CPU time: after settling, halfway, at the last volume */
  GstBuffer *first; /* the expected frame, or NULL */
  guint64 different;
} Watch;

static gchar *folder;
static guint32 seed;

static gsize
resident_kib (void)
{
  g_autofree gchar *text = NULL;
  const gchar *line;

  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL)
      || !(line = strstr (text, "VmRSS:")))
    return 0;
  return g_ascii_strtoull (line + strlen ("VmRSS:")
          + strspn (line + strlen ("VmRSS:"), " \t"),
      NULL, 10);
}

/* CPU time of all threads of the process: other processes do not count. */
static gdouble
processor_seconds (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
      + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static gchar *
path_of (const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

/* 5^@axes coefficients that analysis does not find separable. */
static void
write_filter (const gchar *name, guint axes)
{
  g_autofree gchar *path = path_of (name);
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  gsize n = 1;
  g_autofree gfloat *w = NULL;

  for (guint a = 0; a < axes; a++)
    n *= 5;
  w = g_new (gfloat, n);
  for (gsize i = 0; i < n; i++)
    w[i] = g_rand_double_range (random, -1, 1) / n;
  g_assert_true (g_file_set_contents (path, (const gchar *) w,
      n * sizeof (gfloat), NULL));
}

static GstPadProbeReturn
on_volume (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  Watch *watch = data;

  watch->n++;
  if (watch->n == SETTLED) {
    watch->kib[0] = resident_kib ();
    watch->seconds[0] = processor_seconds ();
  } else if (watch->n == VOLUMES / 2) {
    watch->seconds[1] = processor_seconds ();
  } else if (watch->n == VOLUMES) {
    watch->kib[1] = resident_kib ();
    watch->seconds[2] = processor_seconds ();
  }
  if (watch->first) {
    GstMapInfo map;

    g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
    if (gst_buffer_get_size (watch->first) != map.size
        || gst_buffer_memcmp (watch->first, 0, map.data, map.size) != 0)
      watch->different++;
    gst_buffer_unmap (buffer, &map);
  }
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_first (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Watch *watch = data;

  watch->first = gst_buffer_copy_deep (GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_REMOVE;
}

/* Runs @pipeline to the end; its last element is named "sink". */
static void
run (const gchar *text, Watch *watch, gboolean compare)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &error);
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstPad) pad = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;

  g_assert_no_error (error);
  gst_object_ref_sink (pipeline);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  if (compare)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_first, watch, NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_volume, watch, NULL);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, LIMIT,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (!message)
    g_error ("no end in 15 minutes: %s", text);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_error ("%s: %s", text, error->message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* Whether the time per volume did not grow with the stream. */
static gboolean
check_memory (const gchar *text)
{
  Watch watch = { 0 };
  gdouble first, second;
  gssize growth;

  run (text, &watch, FALSE);
  growth = (gssize) watch.kib[1] - (gssize) watch.kib[0];
  first = (watch.seconds[1] - watch.seconds[0]) / (VOLUMES / 2 - SETTLED);
  second = (watch.seconds[2] - watch.seconds[1]) / (VOLUMES / 2);
  g_test_message (
      "%s: %" G_GUINT64_FORMAT " volumes; resident %" G_GSIZE_FORMAT
      " KiB after %d, %+" G_GSSIZE_FORMAT " KiB at the end; "
      "%.2f ms of processor time a volume in the first half, %.2f in the "
      "second",
      text, watch.n, watch.kib[0], SETTLED, growth, first * 1e3, second * 1e3);
  g_assert_cmpuint (watch.n, ==, VOLUMES);
  g_assert_cmpuint (watch.kib[0], >, 0);
  g_assert_cmpint (growth, <=, SLACK_KIB);
  /* If the time per volume grew with the stream, the second half would take 2.5
   * times as long (volume 1,500 on average instead of 600). */
  return second < 2 * first + 1e-4;
}

/* Other work that begins in the second half takes caches and a part of the
 * cores, so that only a stream that is slower each time has failed. */
static void
check_flat (const gchar *text)
{
  for (guint i = 0; i < 4; i++) {
    if (check_memory (text))
      return;
  }
  g_assert_not_reached ();
}

/* 64^3 uint8 by 5^4 coefficients. */
static void
test_volumes (gconstpointer method)
{
  g_autofree gchar *filter = g_str_equal (method, "separable")
      ? g_strdup ("box,size=5:5:5:5")
      : g_strdup_printf ("file,location=%s/4.raw,size=5:5:5:5", folder);
  g_autofree gchar *text = g_strdup_printf (
      "ndtestsrc pattern=noise "
      "volume-size=64:64:64 num-buffers=%d ! ndconv4dtemporal filter=\"%s\" "
      "method=%s ! fakesink name=sink",
      VOLUMES, filter, (const gchar *) method);

  check_flat (text);
}

/* 32 MB of samples and a filter in time, from file to file. */
static void
test_files (gconstpointer endings)
{
  const gchar *const *ending = endings;
  g_autofree gchar *in = g_strdup_printf ("%s/in%s", folder, ending[0]);
  g_autofree gchar *out = g_strdup_printf ("%s/out%s", folder, ending[1]);
  g_autofree gchar *make = g_strdup_printf (
      "ndtestsrc pattern=heart "
      "volume-size=32:32:8 type=uint16 num-buffers=%d ! ndfilesink name=sink "
      "location=%s",
      VOLUMES, in);
  g_autofree gchar *filter = g_strdup_printf (
      "ndfilesrc location=%s %s ! "
      "ndconv4dtemporal filter=\"file,location=%s/4.raw,size=5:5:5:5\" ! "
      "ndfilesink name=sink location=%s",
      in,
      g_str_equal (ending[0], ".raw") ? "volume-size=32:32:8 type=uint16" : "",
      folder, out);

  check_flat (make);
  check_flat (filter);
  g_remove (in);
  g_remove (out);
}

/* A running sum would drift within thousands of frames. */
static guint
n_frames (void)
{
  const gchar *text = g_getenv ("ND_SOAK_FRAMES");

  return text ? atoi (text) : 10000;
}

/* No running sum is used: equal frames through @elements give equal float32
 * outputs. */
static void
check_equal (const gchar *elements)
{
  g_autofree gchar *text = g_strdup_printf (
      "videotestsrc pattern=smpte75 "
      "num-buffers=%u ! video/x-raw,format=GRAY8,width=21,height=13 ! "
      "%s ! fakesink name=sink",
      n_frames (), elements);
  Watch watch = { 0 };
  gfloat samples[21 * 13];
  gfloat least = G_MAXFLOAT, most = -G_MAXFLOAT;

  run (text, &watch, TRUE);
  g_test_message ("%s: %" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT
                  " differ from the first",
      elements, watch.n, watch.different);
  g_assert_cmpuint (watch.n, ==, n_frames ());
  g_assert_cmpuint (watch.different, ==, 0);

  /* The frames are not empty. */
  g_assert_cmpuint (gst_buffer_extract (watch.first, 0, samples,
                        sizeof (samples)),
      ==, sizeof (samples));
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++) {
    least = MIN (least, samples[i]);
    most = MAX (most, samples[i]);
  }
  g_assert_cmpfloat (least, <, most);
  gst_buffer_unref (watch.first);
}

static void
test_equal (gconstpointer method)
{
  g_autofree gchar *filter = g_str_equal (method, "separable")
      ? g_strdup ("gaussian,sigma=0.8:0.8:0.8")
      : g_strdup_printf ("file,location=%s/3.raw,size=5:5:5", folder);
  g_autofree gchar *elements =
      g_strdup_printf ("ndconv3d filter=\"%s\" method=%s output-type=float32",
          filter, (const gchar *) method);

  check_equal (elements);
}

static void
test_equal_algorithm (gconstpointer elements)
{
  check_equal (elements);
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
  static const gchar *const methods[] = { "direct", "separable", "fft",
    "auto" };
  static const gchar *const endings[][2] = { { ".nii", ".nii.gz" },
    { ".nii.gz", ".nii" }, { ".raw", ".raw" } };
  int failed;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  g_print ("1..0 # SKIP sanitizers keep memory that was freed\n");
  return 0;
#endif
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  folder = g_dir_make_tmp ("ndconv-soak-XXXXXX", NULL);
  g_assert_nonnull (folder);
  seed = g_test_rand_int (); /* printed; --seed repeats it */
  write_filter ("3.raw", 3);
  write_filter ("4.raw", 4);

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    g_autofree gchar *volumes =
        g_strconcat ("/soak/volumes/", methods[i], NULL);
    g_autofree gchar *equal = g_strconcat ("/soak/equal/", methods[i], NULL);

    g_test_add_data_func (volumes, methods[i], test_volumes);
    g_test_add_data_func (equal, methods[i], test_equal);
  }
#define IN_FLOATS "ndconv3d filter=box,size=1 output-type=float32 ! "
  g_test_add_data_func ("/soak/equal/nddenoise", IN_FLOATS "nddenoise sigma=20",
      test_equal_algorithm);
  g_test_add_data_func ("/soak/equal/best",
      IN_FLOATS "nddenoise sigma=20 quality=best latency=5",
      test_equal_algorithm);
  g_test_add_data_func ("/soak/equal/motion",
      IN_FLOATS "nddenoise sigma=20 motion=true", test_equal_algorithm);
  g_test_add_data_func ("/soak/equal/adaptive",
      IN_FLOATS "nddenoise sigma=20 method=adaptive", test_equal_algorithm);
  g_test_add_data_func ("/soak/equal/speckle",
      IN_FLOATS "nddenoise noise=speckle", test_equal_algorithm);
  g_test_add_data_func ("/soak/equal/ndstructure",
      "ndconv3d axes=xyt filter=\"monomial-bank,size=5\" response=tensor ! "
      "ndstructure sigma=1.5 output=\"velocity;eigenvalues;orientation\"",
      test_equal_algorithm);
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree gchar *name =
        g_strconcat ("/soak/files/", endings[i][0] + 1, NULL);

    g_test_add_data_func (name, endings[i], test_files);
  }
  failed = g_test_run ();
  remove_folder ();
  return failed;
}
