/* Accurate seeks: each output equals that of continuous playback, because the
 * element asks upstream for the volumes around the segment.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/run.h"

#define VOLUMES 24
#define RATE 25
#define WAIT (300 * GST_SECOND)

#define PLAIN GST_SEEK_FLAG_FLUSH
#define ACCURATE (GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE)

/* The time of volume @n; timestamps are rounded down. */
static GstClockTime
at (guint n)
{
  return gst_util_uint64_scale (n, GST_SECOND, RATE);
}

/* Pipelines */

typedef struct
{
  GstBuffer *buffer;
  GstSegment segment;
} Output;

static void
output_free (gpointer data)
{
  Output *output = data;

  gst_buffer_unref (output->buffer);
  g_free (output);
}

typedef struct
{
  GstElement *pipeline, *sink;
  GstBus *bus;
  GMutex lock;
  GPtrArray *outputs; /* Output, since the last flush */
} Player;

static GstPadProbeReturn
collect (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Player *player = data;
  Output *output;
  const GstSegment *segment;
  g_autoptr (GstEvent) event = NULL;

  g_mutex_lock (&player->lock);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    output = g_new0 (Output, 1);
    output->buffer = gst_buffer_ref (GST_PAD_PROBE_INFO_BUFFER (info));
    event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
    gst_event_parse_segment (event, &segment);
    output->segment = *segment;
    g_ptr_array_add (player->outputs, output);
  } else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info))
      == GST_EVENT_FLUSH_STOP) {
    g_ptr_array_set_size (player->outputs, 0);
  }
  g_mutex_unlock (&player->lock);
  return GST_PAD_PROBE_OK;
}

/* Recordings, test volumes or frames, and elements after them. The number of
 * frames is @frames, also after a seek. */
static Player *
player_new_full (const gchar *source, const gchar *elements, gint frames)
{
  g_autofree gchar *from = NULL;
  g_autoptr (GstPad) pad = NULL;
  Player *player = g_new0 (Player, 1);

  if (g_str_equal (source, "test"))
    from = g_strdup_printf ("ndtestsrc pattern=noise volume-size=6:5:4 "
                            "framerate=%d/1 num-buffers=%d",
        RATE, VOLUMES);
  else if (g_str_equal (source, "video"))
    from = g_strdup_printf ("videotestsrc pattern=ball num-buffers=%d ! "
                            "video/x-raw,format=GRAY8,width=16,height=12,"
                            "framerate=%d/1",
        frames, RATE);
  else
    from = g_strdup_printf ("ndfilesrc location=%s/%s", folder, source);
  player->pipeline = launch ("%s ! %s ! fakesink name=sink", from, elements);
  player->bus = gst_element_get_bus (player->pipeline);
  player->sink = gst_bin_get_by_name (GST_BIN (player->pipeline), "sink");
  player->outputs = g_ptr_array_new_with_free_func (output_free);
  g_mutex_init (&player->lock);
  pad = gst_element_get_static_pad (player->sink, "sink");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_FLUSH, collect,
      player, NULL);
  return player;
}

static Player *
player_new (const gchar *source, const gchar *elements)
{
  return player_new_full (source, elements, -1);
}

static void
player_free (Player *player)
{
  gst_element_set_state (player->pipeline, GST_STATE_NULL);
  gst_object_unref (player->bus);
  gst_object_unref (player->sink);
  gst_object_unref (player->pipeline);
  g_ptr_array_unref (player->outputs);
  g_mutex_clear (&player->lock);
  g_free (player);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Player, player_free)

static void
preroll (Player *player)
{
  gst_element_set_state (player->pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (player->pipeline, NULL, NULL,
                              WAIT),
      GST_STATE_CHANGE_SUCCESS);
}

static void
wait_for (Player *player, GstMessageType type)
{
  g_autoptr (GstMessage) message =
      gst_bus_timed_pop_filtered (player->bus, WAIT, type | GST_MESSAGE_ERROR);

  fail_unless (message && GST_MESSAGE_TYPE (message) == type);
}

/* Plays until EOS. Returns the outputs since the last flush. */
static GPtrArray *
play (Player *player)
{
  GPtrArray *outputs;

  gst_element_set_state (player->pipeline, GST_STATE_PLAYING);
  wait_for (player, GST_MESSAGE_EOS);
  g_mutex_lock (&player->lock);
  outputs = g_steal_pointer (&player->outputs);
  player->outputs = g_ptr_array_new_with_free_func (output_free);
  g_mutex_unlock (&player->lock);
  return outputs;
}

/* The first VOLUMES outputs of continuous playback. */
static GPtrArray *
play_all (const gchar *source, const gchar *elements)
{
  g_autoptr (Player) player = player_new_full (source, elements, VOLUMES + 9);
  GPtrArray *outputs = play (player);

  fail_unless (outputs->len >= VOLUMES);
  g_ptr_array_set_size (outputs, VOLUMES);
  return outputs;
}

static GstBuffer *
buffer_of (const GPtrArray *outputs, guint i)
{
  const Output *output = outputs->pdata[i];

  return output->buffer;
}

static const GstSegment *
segment_of (const GPtrArray *outputs, guint i)
{
  const Output *output = outputs->pdata[i];

  return &output->segment;
}

static gboolean
is_equal (GstBuffer *a, GstBuffer *b)
{
  GstMapInfo map;
  gboolean equal;

  fail_unless (gst_buffer_map (a, &map, GST_MAP_READ));
  equal = gst_buffer_get_size (b) == map.size
      && gst_buffer_memcmp (b, 0, map.data, map.size) == 0;
  gst_buffer_unmap (a, &map);
  return equal;
}

static gboolean
seek (Player *player, gdouble rate, GstSeekFlags flags, GstClockTime start,
    GstClockTime stop)
{
  return gst_element_seek (player->pipeline, rate, GST_FORMAT_TIME, flags,
      GST_SEEK_TYPE_SET, start, GST_SEEK_TYPE_SET, stop);
}

/* @outputs are outputs @begin to @stop - 1 of @all, and no others; backwards if
 * @rate < 0. */
static void
expect (const GPtrArray *outputs, const GPtrArray *all, guint begin, guint stop,
    gdouble rate)
{
  fail_unless_equals_int (outputs->len, stop - begin);
  for (guint i = 0; i < outputs->len; i++) {
    GstBuffer *got = buffer_of (outputs, i);
    const guint n = rate < 0 ? stop - 1 - i : begin + i;
    GstBuffer *expected = buffer_of (all, n);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (got), GST_BUFFER_PTS (expected));
    fail_unless (is_equal (got, expected), "output %u differs", n);
  }
  fail_unless (GST_BUFFER_IS_DISCONT (buffer_of (outputs, 0)));
}

/* Downstream sees the segment that the application asked for. */
static void
check_segment (const GPtrArray *outputs, GstClockTime start, GstClockTime stop,
    gdouble rate)
{
  const GstSegment *segment = segment_of (outputs, 0);

  fail_unless (segment->rate == rate);
  fail_unless_equals_uint64 (segment->start, start);
  fail_unless_equals_uint64 (segment->stop, stop);
  fail_unless_equals_uint64 (gst_segment_to_stream_time (segment,
                                 GST_FORMAT_TIME, start),
      start);
  fail_unless_equals_uint64 (gst_segment_to_running_time (segment,
                                 GST_FORMAT_TIME, rate < 0 ? stop : start),
      segment->base);
}

/* Filters */

#define VALUES "size=1:1:1:5,values=<1,2,3,4,5>\""
#define VOLUME_FILTER \
  "ndconv4dtemporal output-type=float32 filter=\"coefficients,"
#define FRAME_FILTER "ndconv3d filter=\"coefficients,size=1:1:4,values="

static const struct
{
  const gchar *source, *elements;
} cases[] = {
  { "n.nii", VOLUME_FILTER VALUES },
  { "n.nii", VOLUME_FILTER VALUES " causal=true" },
  { "n.nii", VOLUME_FILTER VALUES " origin=0:0:0:-2 time-border=mirror" },
  { "n.nii", VOLUME_FILTER "size=1:1:1:2,values=<1,2>\" time-border=reflect" },
  { "n.nii", VOLUME_FILTER VALUES " time-border=constant border-value=9" },
  { "n.nii", VOLUME_FILTER VALUES " method=fft" },
  { "test", VOLUME_FILTER VALUES },
  { "test", VOLUME_FILTER VALUES " causal=true time-border=mirror" },
  { "video", FRAME_FILTER "<0.1,0.2,0.3,0.4>\"" },
  { "video", FRAME_FILTER "<0.1,0.2,0.3,0.4>\" causal=true" },
  { "times.seq.nrrd", VOLUME_FILTER VALUES },
  /* Two windows in a row, and others between them. */
  { "n.nii",
      VOLUME_FILTER VALUES " ! queue ! " VOLUME_FILTER
                           "size=1:1:1:3,values=<1,2,4>\" causal=true" },
  { "video",
      FRAME_FILTER "<0.1,0.2,0.3,0.4>\" ! ndconv2d filter=\"box,size=3\" ! "
                   "ndconv3d filter=\"box,size=1:1:3\"" },
  { "n.nii", "ndconv4dtemporal filter=\"gaussian,sigma=1\"" },
};

static const struct
{
  guint begin, stop;
} parts[] = { { 10, 16 }, { 0, 3 }, { 1, VOLUMES }, { VOLUMES - 1, VOLUMES },
  { 7, 8 }, { 3, 20 }, { 0, VOLUMES } };

static void
check_seeks (const gchar *source, const gchar *elements, gdouble rate)
{
  g_autoptr (GPtrArray) all = play_all (source, elements);
  g_autoptr (Player) player = player_new (source, elements);

  preroll (player);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    const guint begin = parts[i].begin, stop = parts[i].stop;
    const GstClockTime start = GST_BUFFER_PTS (buffer_of (all, begin));
    const GstClockTime end = stop < VOLUMES
        ? GST_BUFFER_PTS (buffer_of (all, stop))
        : GST_BUFFER_PTS (buffer_of (all, VOLUMES - 1))
            + GST_BUFFER_DURATION (buffer_of (all, VOLUMES - 1));
    g_autoptr (GPtrArray) outputs = NULL;

    gst_element_set_state (player->pipeline, GST_STATE_PAUSED);
    fail_unless (seek (player, rate, ACCURATE, start, end));
    outputs = play (player);
    expect (outputs, all, begin, stop, rate);
    check_segment (outputs, start, end, rate);
  }
}

GST_START_TEST (test_forwards)
{
  check_seeks (cases[__i__].source, cases[__i__].elements, 1);
}

GST_END_TEST;

GST_START_TEST (test_backwards)
{
  check_seeks (cases[__i__].source, cases[__i__].elements, -1);
}

GST_END_TEST;

/* ndstructure and nddenoise have windows of their own. */
static const gchar *const algorithms[] = {
  "ndconv4dtemporal filter=\"monomial-bank,size=5\" response=tensor ! "
  "ndstructure sigma=1 output=certainty",
  "nddenoise sigma=9 latency=2",
  "nddenoise",
};

GST_START_TEST (test_algorithms)
{
  check_seeks ("float.nii", algorithms[__i__], 1);
}

GST_END_TEST;

/* An end in the middle of a volume, no end, ends that are counted from the end
 * of the stream or in volumes, and an end that the next seek leaves as it
 * is. */
GST_START_TEST (test_ends)
{
  const gchar *elements = VOLUME_FILTER VALUES;
  g_autoptr (GPtrArray) all = play_all ("n.nii", elements);
  g_autoptr (Player) player = player_new ("n.nii", elements);
  const struct
  {
    GstFormat format;
    GstSeekType start_type;
    gint64 start;
    GstSeekType stop_type;
    gint64 stop;
    guint begin, end;
  } seeks[] = {
    { GST_FORMAT_TIME, GST_SEEK_TYPE_SET, at (9) + at (1) / 2,
        GST_SEEK_TYPE_SET, at (12) + at (1) / 2, 9, 13 },
    { GST_FORMAT_TIME, GST_SEEK_TYPE_SET, at (7), GST_SEEK_TYPE_NONE, -1, 7,
        13 },
    { GST_FORMAT_TIME, GST_SEEK_TYPE_SET, at (20), GST_SEEK_TYPE_SET, -1, 20,
        VOLUMES },
    { GST_FORMAT_TIME, GST_SEEK_TYPE_SET, at (18), GST_SEEK_TYPE_NONE, -1, 18,
        VOLUMES },
    { GST_FORMAT_TIME, GST_SEEK_TYPE_END, -(gint64) at (6), GST_SEEK_TYPE_END,
        -(gint64) at (2), VOLUMES - 6, VOLUMES - 2 },
    { GST_FORMAT_DEFAULT, GST_SEEK_TYPE_SET, 5, GST_SEEK_TYPE_SET, 9, 5, 9 },
  };

  preroll (player);
  for (guint i = 0; i < G_N_ELEMENTS (seeks); i++) {
    g_autoptr (GPtrArray) outputs = NULL;

    gst_element_set_state (player->pipeline, GST_STATE_PAUSED);
    fail_unless (gst_element_seek (player->pipeline, 1, seeks[i].format,
        ACCURATE, seeks[i].start_type, seeks[i].start, seeks[i].stop_type,
        seeks[i].stop));
    outputs = play (player);
    expect (outputs, all, seeks[i].begin, seeks[i].end, 1);
  }
}

GST_END_TEST;

/* A seek that is not accurate begins a stream of its own. It ends at the
 * end of the accurate seek before it. */
GST_START_TEST (test_plain_seek)
{
  const gchar *elements = VOLUME_FILTER VALUES;
  g_autoptr (GPtrArray) all = play_all ("n.nii", elements);
  g_autoptr (Player) player = player_new ("n.nii", elements);
  g_autoptr (GPtrArray) accurate = NULL, plain = NULL;

  preroll (player);
  fail_unless (seek (player, 1, ACCURATE, at (3), at (16)));
  accurate = play (player);
  expect (accurate, all, 3, 16, 1);
  gst_element_set_state (player->pipeline, GST_STATE_PAUSED);
  fail_unless (gst_element_seek (player->pipeline, 1, GST_FORMAT_TIME, PLAIN,
      GST_SEEK_TYPE_SET, at (8), GST_SEEK_TYPE_NONE, -1));
  plain = play (player);
  fail_unless_equals_int (plain->len, 8);
  /* The borders of time are at both ends. */
  for (guint i = 0; i < plain->len; i++)
    fail_unless_equals_int (is_equal (buffer_of (plain, i),
                                buffer_of (all, 8 + i)),
        i >= 2 && i < 6);
  check_segment (plain, at (8), at (16), 1);
}

GST_END_TEST;

typedef struct
{
  guint n;
  GstClockTime times[VOLUMES + 1]; /* the running times of the volumes */
} Times;

static GstPadProbeReturn
note_time (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Times *times = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  g_autoptr (GstEvent) event =
      gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  if (GST_BUFFER_OFFSET (buffer) < VOLUMES)
    times->times[GST_BUFFER_OFFSET (buffer)] =
        gst_segment_to_running_time (segment, GST_FORMAT_TIME,
            GST_BUFFER_PTS (buffer));
  return GST_PAD_PROBE_OK;
}

/* The running time of a volume is the same in a branch without a window. */
GST_START_TEST (test_branches)
{
  g_autoptr (Player) player = player_new ("n.nii",
      "tee name=t t. ! queue ! fakesink name=other t. ! queue ! " VOLUME_FILTER
          VALUES);
  g_autoptr (GstElement) other =
      gst_bin_get_by_name (GST_BIN (player->pipeline), "other");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (other, "sink");
  g_autoptr (GPtrArray) outputs = NULL;
  Times times = { 0 };

  preroll (player);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_time, &times, NULL);
  /* From one of the sinks. */
  fail_unless (gst_element_seek (player->sink, 1, GST_FORMAT_TIME, ACCURATE,
      GST_SEEK_TYPE_SET, at (10), GST_SEEK_TYPE_SET, at (14)));
  outputs = play (player);
  fail_unless_equals_int (outputs->len, 4);
  for (guint i = 0; i < 4; i++)
    fail_unless_equals_uint64 (gst_segment_to_running_time (segment_of (outputs,
                                                                i),
                                   GST_FORMAT_TIME,
                                   GST_BUFFER_PTS (buffer_of (outputs, i))),
        times.times[10 + i]);
}

GST_END_TEST;

/* Segment seeks, which an application repeats without a flush. */
GST_START_TEST (test_loop)
{
  const gchar *elements = VOLUME_FILTER VALUES;
  g_autoptr (GPtrArray) all = play_all ("n.nii", elements);
  g_autoptr (Player) player = player_new ("n.nii", elements);
  g_autoptr (GPtrArray) outputs = NULL;

  preroll (player);
  fail_unless (seek (player, 1, ACCURATE | GST_SEEK_FLAG_SEGMENT, at (4),
      at (9)));
  gst_element_set_state (player->pipeline, GST_STATE_PLAYING);
  for (guint loop = 0; loop < 2; loop++) {
    wait_for (player, GST_MESSAGE_SEGMENT_DONE);
    fail_unless (seek (player, 1,
        GST_SEEK_FLAG_ACCURATE | (loop < 1 ? GST_SEEK_FLAG_SEGMENT : 0), at (4),
        at (9)));
  }
  outputs = play (player);
  fail_unless_equals_int (outputs->len, 15);
  for (guint i = 0; i < 15; i++)
    fail_unless (is_equal (buffer_of (outputs, i), buffer_of (all, 4 + i % 5)));
}

GST_END_TEST;

static GstPadProbeReturn
make_irregular (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer =
      gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  const guint64 n = GST_BUFFER_OFFSET (buffer);

  /* Each fourth interval is four times as long. */
  GST_BUFFER_PTS (buffer) = (n + 3 * (n / 4)) * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = (n % 4 == 3 ? 4 : 1) * 40 * GST_MSECOND;
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

static void
record (const gchar *name, const gchar *type, gboolean irregular)
{
  GstElement *pipeline =
      launch ("ndtestsrc name=src pattern=noise type=%s volume-size=6:5:4 "
              "framerate=%d/1 num-buffers=%d ! ndfilesink location=%s/%s",
          type, RATE, VOLUMES, folder, name);
  g_autoptr (GstElement) src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (src, "src");

  if (irregular)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, make_irregular, NULL,
        NULL);
  run_whole (pipeline);
}

static void
setup (void)
{
  make_folder ();
  record ("n.nii", "uint8", FALSE);
  record ("float.nii", "float32", FALSE);
  record ("times.seq.nrrd", "uint8", TRUE);
}

static void
teardown (void)
{
  remove_folder ();
}

static Suite *
seeks_suite (void)
{
  Suite *suite = suite_create ("seeks");
  TCase *tc = tcase_create ("seeks");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_loop_test (tc, test_forwards, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tc, test_backwards, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tc, test_algorithms, 0, G_N_ELEMENTS (algorithms));
  tcase_add_test (tc, test_ends);
  tcase_add_test (tc, test_plain_seek);
  tcase_add_test (tc, test_branches);
  tcase_add_test (tc, test_loop);
  return suite;
}

GST_CHECK_MAIN (seeks);
