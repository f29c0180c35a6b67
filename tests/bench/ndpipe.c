/* Measures elements between a source and a sink that do nothing else: volumes
 * per second, and the latency of outputs.
 *
 *   ndpipe --elements TEXT --caps CAPS [--taps X:Y:Z:T[,X:Y:Z:T...]]
 *          [--sink-caps CAPS] [--volumes N] [--rate N] [--work NAME]
 *
 * TEXT has the syntax of gst-launch-1.0. "@1" stands for the filter of the
 * first --taps, random coefficients in a file, and "@2" for the next. Volumes
 * are random and in memory that the first element proposes. With --rate the
 * source is live and produces that many volumes per second. Latency is the time
 * from the push of the last volume that an output needs to the arrival of the
 * output.
 *
 * Prints one JSON object: work, elements, volumes, bytes of an input,
 * volumes_per_s, latency_ms (p50, p95, p99, max), and `stats` of each filter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not measured: pools fill, and `auto` may still autotune. */
#define WARM_UP 40

static gchar *opt_elements, *opt_caps, *opt_sink_caps, *opt_work = "pipeline";
static gchar **opt_taps;
static gint opt_volumes = 1000, opt_rate;

static GOptionEntry options[] = { { "elements", 0, 0, G_OPTION_ARG_STRING,
                                      &opt_elements, "", "TEXT" },
  { "caps", 0, 0, G_OPTION_ARG_STRING, &opt_caps, "of the source", "CAPS" },
  { "sink-caps", 0, 0, G_OPTION_ARG_STRING, &opt_sink_caps, "", "CAPS" },
  { "taps", 0, 0, G_OPTION_ARG_STRING_ARRAY, &opt_taps, "", "X:Y:Z:T" },
  { "volumes", 0, 0, G_OPTION_ARG_INT, &opt_volumes, "", "N" },
  { "rate", 0, 0, G_OPTION_ARG_INT, &opt_rate, "live", "N" },
  { "work", 0, 0, G_OPTION_ARG_STRING, &opt_work, "", "NAME" }, { NULL } };

typedef struct
{
  GstElement *pipeline;
  GstPad *src, *sink; /* the pads of this program */
  GstCaps *caps;
  gint64 *pushed, *came; /* monotonic times by volume number */
  gint outputs;
  GMutex lock;
  GCond changed;
} Bench;

static GstClockTime
duration (void)
{
  return GST_SECOND / (opt_rate ? opt_rate : 50);
}

static GstFlowReturn
chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Bench *bench = gst_pad_get_element_private (pad);
  gint64 now = g_get_monotonic_time ();
  gint number = (GST_BUFFER_PTS (buffer) + duration () / 2) / duration ();

  gst_buffer_unref (buffer);
  g_mutex_lock (&bench->lock);
  if (number < opt_volumes)
    bench->came[number] = now;
  bench->outputs++;
  g_cond_broadcast (&bench->changed);
  g_mutex_unlock (&bench->lock);
  return GST_FLOW_OK;
}

static gboolean
take_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref (event);
  return TRUE;
}

static gboolean
answer_source (GstPad *pad, GstObject *parent, GstQuery *query)
{
  Bench *bench = gst_pad_get_element_private (pad);

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_LATENCY:
      gst_query_set_latency (query, opt_rate > 0, 0, GST_CLOCK_TIME_NONE);
      return TRUE;
    case GST_QUERY_CAPS:
      gst_query_set_caps_result (query, bench->caps);
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

static gboolean
answer_sink (GstPad *pad, GstObject *parent, GstQuery *query)
{
  g_autoptr (GstCaps) caps = NULL;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS && opt_sink_caps) {
    caps = gst_caps_from_string (opt_sink_caps);
    gst_query_set_caps_result (query, caps);
    return TRUE;
  }
  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    gst_query_set_accept_caps_result (query, TRUE);
    return TRUE;
  }
  return gst_pad_query_default (pad, parent, query);
}

/* Writes a file of random coefficients and returns the filter that reads it. */
static gchar *
make_filter (const gchar *taps, GRand *rand)
{
  g_auto (GStrv) sizes = g_strsplit (taps, ":", 4);
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (gfloat));
  g_autofree gchar *path = NULL;
  guint n = 1;
  gint fd = g_file_open_tmp ("ndpipe-XXXXXX.raw", &path, NULL);

  for (guint i = 0; sizes[i]; i++)
    n *= atoi (sizes[i]);
  for (guint i = 0; i < n; i++) {
    gfloat value = g_rand_double_range (rand, -1, 1) / n;

    g_array_append_val (values, value);
  }
  g_close (fd, NULL);
  if (!g_file_set_contents (path, values->data, n * sizeof (gfloat), NULL))
    g_error ("cannot write %s", path);
  return g_strdup_printf ("\"file,location=%s,size=%s\"", path, taps);
}

static gchar *
make_elements (GRand *rand)
{
  gchar *text = g_strdup (opt_elements);

  for (guint i = 0; opt_taps && opt_taps[i]; i++) {
    g_autofree gchar *mark = g_strdup_printf ("@%u", i + 1);
    g_autofree gchar *filter = make_filter (opt_taps[i], rand);
    g_auto (GStrv) parts = g_strsplit (text, mark, -1);

    g_free (text);
    text = g_strjoinv (filter, parts);
  }
  return text;
}

static void
fail_on_error (Bench *bench)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (bench->pipeline);
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;

  if (!message)
    return;
  gst_message_parse_error (message, &error, NULL);
  g_printerr ("%s: %s\n", opt_work, error->message);
  exit (1);
}

static void
start (Bench *bench)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_set_active (bench->sink, TRUE);
  gst_pad_set_active (bench->src, TRUE);
  gst_element_set_state (bench->pipeline, GST_STATE_PLAYING);
  gst_pad_push_event (bench->src, gst_event_new_stream_start ("bench"));
  gst_pad_push_event (bench->src, gst_event_new_caps (bench->caps));
  gst_pad_push_event (bench->src, gst_event_new_segment (&segment));
  fail_on_error (bench);
}

/* The pool that the elements propose, or one of host memory. */
static GstBufferPool *
find_pool (Bench *bench)
{
  g_autoptr (GstQuery) query = gst_query_new_allocation (bench->caps, TRUE);
  GstBufferPool *pool = NULL;
  GstStructure *config;
  GstVideoInfo video;
  guint size = 0, min, max;

  if (gst_pad_peer_query (bench->src, query)
      && gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  if (!pool) {
    if (gst_video_info_from_caps (&video, bench->caps)) {
      size = video.size;
    } else {
      const GstStructure *s = gst_caps_get_structure (bench->caps, 0);
      g_auto (GStrv) sizes =
          g_strsplit (gst_structure_get_string (s, "dimensions"), ":", -1);

      size = strstr (gst_structure_get_string (s, "types"), "32") ? 4 : 1;
      for (guint i = 0; sizes[i]; i++)
        size *= atoi (sizes[i]);
    }
    pool = gst_buffer_pool_new ();
    config = gst_buffer_pool_get_config (pool);
    gst_buffer_pool_config_set_params (config, bench->caps, size, 0, 0);
    gst_buffer_pool_set_config (pool, config);
  }
  gst_buffer_pool_set_active (pool, TRUE);
  return pool;
}

static void
fill (GstBuffer *buffer, GRand *rand)
{
  static GQuark filled = 0;
  GstMapInfo map;

  if (!filled)
    filled = g_quark_from_static_string ("filled");
  if (gst_mini_object_get_qdata (GST_MINI_OBJECT (buffer), filled))
    return;
  gst_mini_object_set_qdata (GST_MINI_OBJECT (buffer), filled, buffer, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i + 4 <= map.size; i += 4)
    *(guint32 *) (map.data + i) = g_rand_int (rand) & 0x7f7f7f3f;
  gst_buffer_unmap (buffer, &map);
}

static void
push_all (Bench *bench, GRand *rand)
{
  g_autoptr (GstBufferPool) pool = find_pool (bench);
  gint64 begin = g_get_monotonic_time () + 100000;

  for (gint i = 0; i < opt_volumes; i++) {
    GstBuffer *buffer;

    if (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL) != GST_FLOW_OK)
      g_error ("no buffer");
    fill (buffer, rand);
    GST_BUFFER_PTS (buffer) = i * duration ();
    GST_BUFFER_DURATION (buffer) = duration ();
    if (opt_rate) {
      gint64 wait =
          begin + i * G_USEC_PER_SEC / opt_rate - g_get_monotonic_time ();

      g_usleep (MAX (wait, 0));
    }
    bench->pushed[i] = g_get_monotonic_time ();
    if (gst_pad_push (bench->src, buffer) != GST_FLOW_OK)
      break;
  }
  gst_pad_push_event (bench->src, gst_event_new_eos ());
  gst_buffer_pool_set_active (pool, FALSE);
  fail_on_error (bench);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

/* The number of volumes after its anchor that an output waits for. */
static gint
delay (Bench *bench)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  GstClockTime min = 0;

  if (gst_pad_peer_query (bench->sink, query))
    gst_query_parse_latency (query, NULL, &min, NULL);
  return (min + duration () / 2) / duration ();
}

static void
print_stats (Bench *bench)
{
  GstIterator *all = gst_bin_iterate_recurse (GST_BIN (bench->pipeline));
  GValue item = G_VALUE_INIT;
  const gchar *separator = "";

  printf (", \"stats\": [");
  while (gst_iterator_next (all, &item) == GST_ITERATOR_OK) {
    GstElement *element = g_value_get_object (&item);
    g_autoptr (GstStructure) stats = NULL;

    if (strstr (G_OBJECT_TYPE_NAME (element), "NdConv")) {
      g_object_get (element, "stats", &stats, NULL);
      printf ("%s{\"element\": \"%s\"", separator, GST_OBJECT_NAME (element));
      separator = ", ";
      for (gint i = 0; i < gst_structure_n_fields (stats); i++) {
        const gchar *name = gst_structure_nth_field_name (stats, i);
        const GValue *value = gst_structure_get_value (stats, name);

        if (G_VALUE_HOLDS_STRING (value))
          printf (", \"%s\": \"%s\"", name, g_value_get_string (value));
        else if (G_VALUE_HOLDS_DOUBLE (value))
          printf (", \"%s\": %.7g", name, g_value_get_double (value));
        else if (G_VALUE_HOLDS_UINT64 (value))
          printf (", \"%s\": %" G_GUINT64_FORMAT, name,
              g_value_get_uint64 (value));
      }
      printf ("}");
    }
    g_value_unset (&item);
  }
  gst_iterator_free (all);
  printf ("]");
}

static void
print_results (Bench *bench, gsize bytes, gint missing)
{
  g_autofree gint64 *latency = g_new (gint64, opt_volumes);
  const gint first = MIN (WARM_UP, opt_volumes / 2);
  gint n = 0, last = opt_volumes - 1 - missing;

  for (gint i = first; i <= last; i++)
    if (bench->came[i])
      latency[n++] = bench->came[i] - bench->pushed[i + missing];
  if (n < 2)
    g_error ("%s: %d outputs", opt_work, bench->outputs);
  qsort (latency, n, sizeof (gint64), compare);
  printf ("{\"work\": \"%s\", \"elements\": \"%s\", \"volumes\": %d, "
          "\"outputs\": %d, \"bytes\": %zu, \"rate\": %d, "
          "\"volumes_per_s\": %.1f, \"latency_ms\": {\"p50\": %.3f, "
          "\"p95\": %.3f, \"p99\": %.3f, \"max\": %.3f}",
      opt_work, opt_elements, opt_volumes, bench->outputs, bytes, opt_rate,
      (last - first) * 1e6 / (bench->came[last] - bench->came[first]),
      latency[n / 2] * 1e-3, latency[n * 95 / 100] * 1e-3,
      latency[n * 99 / 100] * 1e-3, latency[n - 1] * 1e-3);
  print_stats (bench);
  printf ("}\n");
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autofree gchar *text = NULL;
  g_autoptr (GError) error = NULL;
  Bench bench = { 0 };
  GstElement *elements;
  GstPad *pad;
  gint missing;

  g_option_context_add_main_entries (context, options, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error) || !opt_elements
      || !opt_caps) {
    g_printerr ("%s\n",
        error ? error->message : "--elements and --caps are required");
    return 2;
  }
  text = make_elements (rand);
  elements = gst_parse_bin_from_description (text, TRUE, &error);
  if (!elements || error) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  bench.pipeline = gst_pipeline_new (NULL);
  gst_bin_add (GST_BIN (bench.pipeline), elements);
  bench.caps = gst_caps_from_string (opt_caps);
  bench.pushed = g_new0 (gint64, opt_volumes);
  bench.came = g_new0 (gint64, opt_volumes);
  g_mutex_init (&bench.lock);
  g_cond_init (&bench.changed);
  bench.src = gst_pad_new ("src", GST_PAD_SRC);
  bench.sink = gst_pad_new ("sink", GST_PAD_SINK);
  gst_pad_set_element_private (bench.src, &bench);
  gst_pad_set_element_private (bench.sink, &bench);
  gst_pad_set_query_function (bench.src, answer_source);
  gst_pad_set_query_function (bench.sink, answer_sink);
  gst_pad_set_event_function (bench.sink, take_event);
  gst_pad_set_chain_function (bench.sink, chain);
  pad = gst_element_get_static_pad (elements, "sink");
  gst_pad_link_full (bench.src, pad, GST_PAD_LINK_CHECK_NOTHING);
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (elements, "src");
  gst_pad_link_full (pad, bench.sink, GST_PAD_LINK_CHECK_NOTHING);
  gst_object_unref (pad);

  start (&bench);
  missing = delay (&bench);
  push_all (&bench, rand);
  g_mutex_lock (&bench.lock);
  while (bench.outputs < opt_volumes) {
    if (!g_cond_wait_until (&bench.changed, &bench.lock,
            g_get_monotonic_time () + 10 * G_USEC_PER_SEC))
      break;
  }
  g_mutex_unlock (&bench.lock);
  fail_on_error (&bench);
  {
    g_autoptr (GstBufferPool) pool = find_pool (&bench);
    GstStructure *config = gst_buffer_pool_get_config (pool);
    guint size;

    gst_buffer_pool_config_get_params (config, NULL, &size, NULL, NULL);
    gst_structure_free (config);
    gst_buffer_pool_set_active (pool, FALSE);
    print_results (&bench, size, missing);
  }
  gst_element_set_state (bench.pipeline, GST_STATE_NULL);
  gst_object_unref (bench.pipeline);
  return 0;
}
