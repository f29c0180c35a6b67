/* ndstack: samples, times, and discarded frames.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <string.h>

#define FRAME (40 * GST_MSECOND)
#define GRAY16 GST_VIDEO_NE (GRAY16)

static GstHarness *
stack_harness (guint slices, const gchar *caps)
{
  GstHarness *h = gst_harness_new ("ndstack");
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_object_unref (bus);
  g_object_set (h->element, "slices", slices, NULL);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

typedef struct
{
  guint qos, warnings, errors, latency;
  guint64 dropped; /* frames, as in the last QoS message */
} Messages;

/* Takes all messages off the bus. */
static Messages
messages (GstHarness *h)
{
  GstBus *bus = gst_element_get_bus (h->element);
  Messages found = {
    0,
  };
  GstMessage *message;

  while ((message = gst_bus_pop (bus))) {
    switch (GST_MESSAGE_TYPE (message)) {
      case GST_MESSAGE_QOS:
        gst_message_parse_qos_stats (message, NULL, NULL, &found.dropped);
        found.qos++;
        break;
      case GST_MESSAGE_WARNING:
        found.warnings++;
        break;
      case GST_MESSAGE_ERROR:
        found.errors++;
        break;
      case GST_MESSAGE_LATENCY:
        found.latency++;
        break;
      default:
        break;
    }
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return found;
}

/* @discarded frames were reported once, or nothing was reported if 0. */
static void
check_discarded (GstHarness *h, guint discarded)
{
  Messages found = messages (h);

  fail_unless_equals_int (found.qos, discarded > 0);
  fail_unless_equals_int (found.warnings, discarded > 0);
  fail_unless_equals_uint64 (found.dropped, discarded);
  fail_unless_equals_int (found.errors, 0);
}

static void
teardown (GstHarness *h)
{
  GstBus *bus = gst_element_get_bus (h->element);

  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

/* Frame @n with samples n, n + 1, ... */
static GstBuffer *
frame (guint n, gsize samples)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, samples, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < samples; i++)
    map.data[i] = n + i;
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = n * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

static void
push (GstHarness *h, guint from, guint to, gsize samples)
{
  for (guint n = from; n < to; n++)
    fail_unless_equals_int (gst_harness_push (h, frame (n, samples)),
        GST_FLOW_OK);
}

/* Expects the next volume with samples @begin, begin + 1, ... */
static void
check_volume (GstHarness *h, guint begin, guint slices, gsize samples)
{
  GstBuffer *buffer = gst_harness_try_pull (h);
  GstMapInfo map;

  fail_unless (buffer != NULL, "no volume starts with frame %u", begin);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), begin * FRAME);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), slices * FRAME);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless_equals_uint64 (map.size, slices * samples);
  for (gsize i = 0; i < map.size; i++)
    fail_unless_equals_int (map.data[i],
        (guint8) (begin + i / samples + i % samples));
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
}

static void
check_caps (GstHarness *h, const gchar *types, const gchar *dimensions,
    gint rate_n, gint rate_d)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  gint n, d;

  fail_unless_equals_string (gst_structure_get_string (s, "types"), types);
  fail_unless_equals_string (gst_structure_get_string (s, "dimensions"),
      dimensions);
  fail_unless (gst_structure_get_fraction (s, "framerate", &n, &d));
  fail_unless_equals_int (n, rate_n);
  fail_unless_equals_int (d, rate_d);
  gst_caps_unref (caps);
}

#define GRAY8_8X2 "video/x-raw,format=GRAY8,width=8,height=2,framerate=25/1"

/* N frames give N / slices volumes; the remaining frames are discarded and
 * reported. */
GST_START_TEST (test_counts)
{
  static const guint slices[] = { 1, 2, 3, 5, 7, 8 };

  for (guint i = 0; i < G_N_ELEMENTS (slices); i++) {
    for (guint frames = 0; frames <= 16; frames++) {
      GstHarness *h = stack_harness (slices[i], GRAY8_8X2);
      guint left = frames % slices[i];

      push (h, 0, frames, 16);
      fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
      for (guint v = 0; v < frames / slices[i]; v++)
        check_volume (h, v * slices[i], slices[i], 16);
      fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
      check_discarded (h, left);
      teardown (h);
    }
  }
}

GST_END_TEST;

GST_START_TEST (test_caps)
{
  static const struct
  {
    const gchar *in;
    guint slices;
    gsize samples; /* bytes of a frame */
    const gchar *types, *dimensions;
    gint n, d;
  } cases[] = {
    { GRAY8_8X2, 4, 16, "uint8", "1:8:2:4", 25, 4 },
    { "video/x-raw,format=" GRAY16 ",width=4,height=2,framerate=30000/1001", 3,
        16, "uint16", "1:4:2:3", 10000, 1001 },
    { "video/x-raw,format=GRAY8,width=8,height=2,framerate=0/1", 2, 16, "uint8",
        "1:8:2:2", 0, 1 },
    { "video/x-raw,format=RGB,width=8,height=2,framerate=20/1", 4, 48, "uint8",
        "3:8:2:4", 5, 1 },
    { "video/x-raw,format=RGBA,width=8,height=2,framerate=20/1", 2, 64, "uint8",
        "4:8:2:2", 10, 1 },
    { "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=1:4:2,framerate=20/1",
        5, 32, "float32", "1:4:2:5", 4, 1 },
    { "other/tensors,format=static,num_tensors=1,types=int16,"
      "dimensions=2:4:2:1,framerate=20/1",
        2, 32, "int16", "2:4:2:2", 10, 1 },
    { "other/tensors,format=static,num_tensors=1,types=uint8,"
      "dimensions=1:4:2:3,framerate=20/1",
        2, 24, "uint8", "1:4:2:6", 10, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = stack_harness (cases[i].slices, cases[i].in);

    push (h, 0, cases[i].slices, cases[i].samples);
    check_volume (h, 0, cases[i].slices, cases[i].samples);
    check_caps (h, cases[i].types, cases[i].dimensions, cases[i].n, cases[i].d);
    teardown (h);
  }
}

GST_END_TEST;

/* The size of volumes that downstream requests decides which frames are
 * accepted. */
GST_START_TEST (test_caps_backwards)
{
  static const struct
  {
    const gchar *out, *in;
    gboolean fits;
  } cases[] = {
    { "types=uint8,dimensions=1:8:2:4,framerate=5/1",
        "video/x-raw,format=GRAY8,width=8,height=2,framerate=20/1", TRUE },
    { "types=uint16,dimensions=1:8:2:4,framerate=5/1",
        "video/x-raw,format=" GRAY16 ",width=8,height=2,framerate=20/1", TRUE },
    { "types=uint8,dimensions=1:8:2:4,framerate=5/1",
        "other/tensors,types=uint8,dimensions=1:8:2,framerate=20/1", TRUE },
    { "types=uint8,dimensions=1:8:2:4,framerate=5/1",
        "other/tensors,types=uint8,dimensions=1:8:2:1,framerate=20/1", TRUE },
    { "types=uint8,dimensions=1:8:2:8,framerate=5/1",
        "other/tensors,types=uint8,dimensions=1:8:2:2,framerate=20/1", TRUE },
    { "types=uint8,dimensions=1:8:2:8",
        "video/x-raw,format=GRAY8,width=8,height=2", FALSE },
    { "types=float32,dimensions=1:8:2:4", "video/x-raw", FALSE },
    { "types=uint8,dimensions=3:8:2:4,framerate=5/1",
        "video/x-raw,format=RGB,width=8,height=2,framerate=20/1", TRUE },
    { "types=uint8,dimensions=4:8:2:4", "video/x-raw,format=RGBA", TRUE },
    { "types=uint8,dimensions=3:8:2:4", "video/x-raw,format=GRAY8", FALSE },
    { "types=uint8,dimensions=2:8:2:4", "video/x-raw", FALSE },
    { "types=uint16,dimensions=3:8:2:4", "video/x-raw", FALSE },
    { "types=uint8,dimensions=1:8:2:4,framerate=5/1",
        "video/x-raw,format=GRAY8,width=8,height=2,framerate=25/1", FALSE },
    { "types=uint8,dimensions=1:8:2:5", "other/tensors", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = gst_harness_new ("ndstack");
    gchar *text = g_strconcat ("other/tensors,format=static,num_tensors=1,",
              cases[i].out, NULL),
          *have;
    GstCaps *wanted = gst_caps_from_string (cases[i].in);
    GstCaps *accepted;

    g_object_set (h->element, "slices", 4, NULL);
    gst_harness_set_sink_caps_str (h, text);
    gst_harness_play (h);
    accepted = gst_pad_peer_query_caps (h->srcpad, NULL);
    have = gst_caps_to_string (accepted);
    fail_unless (gst_caps_can_intersect (accepted, wanted) == cases[i].fits,
        "%s for %s: %s", cases[i].in, text, have);
    g_free (have);
    gst_caps_unref (accepted);
    gst_caps_unref (wanted);
    g_free (text);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Rows of 5 pixels are 8 bytes apart, or as far as a meta says. */
GST_START_TEST (test_stride)
{
  static const gint strides[] = { 0, 8, 12, 64 };

  for (guint i = 0; i < G_N_ELEMENTS (strides); i++) {
    GstHarness *h = stack_harness (2,
        "video/x-raw,format=GRAY8,width=5,height=3,framerate=25/1");
    gint stride[GST_VIDEO_MAX_PLANES] = { strides[i] ? strides[i] : 8 };
    gsize offset[GST_VIDEO_MAX_PLANES] = { strides[i] ? 4 : 0 };
    GstBuffer *volume;
    guint8 got[30];

    for (guint n = 0; n < 2; n++) {
      gsize size = offset[0] + stride[0] * 3;
      GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
      GstMapInfo map;

      gst_buffer_map (buffer, &map, GST_MAP_WRITE);
      memset (map.data, 0xee, size);
      for (gint y = 0; y < 3; y++)
        for (gint x = 0; x < 5; x++)
          map.data[offset[0] + y * stride[0] + x] = 100 * n + 10 * y + x;
      gst_buffer_unmap (buffer, &map);
      if (strides[i])
        gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
            GST_VIDEO_FORMAT_GRAY8, 5, 3, 1, offset, stride);
      fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    }
    volume = gst_harness_try_pull (h);
    fail_unless (volume != NULL);
    fail_unless_equals_uint64 (gst_buffer_extract (volume, 0, got, 31), 30);
    for (guint k = 0; k < 30; k++)
      fail_unless_equals_int (got[k],
          100 * (k / 15) + 10 * (k / 5 % 3) + k % 5);
    gst_buffer_unref (volume);
    teardown (h);
  }
}

GST_END_TEST;

GST_START_TEST (test_discont)
{
  GstHarness *h = stack_harness (3, GRAY8_8X2);
  GstBuffer *buffer = frame (10, 16);

  push (h, 0, 5, 16);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  push (h, 11, 13, 16);
  check_volume (h, 0, 3, 16);
  buffer = gst_harness_pull (h);
  fail_unless (GST_BUFFER_IS_DISCONT (buffer), "the gap is not marked");
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 10 * FRAME);
  gst_buffer_unref (buffer);
  check_discarded (h, 2);
  /* A change between two volumes discards nothing. */
  buffer = frame (20, 16);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  push (h, 21, 23, 16);
  check_volume (h, 20, 3, 16);
  check_discarded (h, 0);
  teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_gap)
{
  GstHarness *h = stack_harness (3, GRAY8_8X2);

  push (h, 0, 2, 16);
  gst_harness_push_event (h, gst_event_new_gap (2 * FRAME, FRAME));
  push (h, 3, 6, 16);
  check_volume (h, 3, 3, 16);
  check_discarded (h, 2);
  teardown (h);
}

GST_END_TEST;

/* A flush leaves no frames and no message. */
GST_START_TEST (test_flush)
{
  GstHarness *h = stack_harness (3, GRAY8_8X2);
  GstSegment segment;

  push (h, 0, 2, 16);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push (h, 50, 53, 16);
  check_volume (h, 50, 3, 16);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  check_discarded (h, 0);
  teardown (h);
}

GST_END_TEST;

/* An equal segment changes nothing; another one starts a new volume. */
GST_START_TEST (test_segment)
{
  GstHarness *h = stack_harness (3, GRAY8_8X2);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  push (h, 0, 2, 16);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push (h, 2, 4, 16);
  check_volume (h, 0, 3, 16);
  segment.base = GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push (h, 4, 7, 16);
  check_volume (h, 4, 3, 16);
  check_discarded (h, 1);
  teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_caps_change)
{
  GstHarness *h = stack_harness (2, GRAY8_8X2);

  push (h, 0, 3, 16);
  check_volume (h, 0, 2, 16);
  gst_harness_set_src_caps_str (h,
      "video/x-raw,format=" GRAY16 ",width=4,height=3,framerate=25/1");
  push (h, 3, 5, 24);
  check_volume (h, 3, 2, 24);
  check_caps (h, "uint16", "1:4:3:2", 25, 2);
  check_discarded (h, 1);
  teardown (h);
}

GST_END_TEST;

/* @slices changes while playing: the unfinished volume is discarded; caps and
 * latency are updated. */
GST_START_TEST (test_slices_change)
{
  GstHarness *h = stack_harness (2, GRAY8_8X2);
  Messages found;

  push (h, 0, 3, 16);
  check_volume (h, 0, 2, 16);
  check_caps (h, "uint8", "1:8:2:2", 25, 2);
  fail_unless (messages (h).latency >= 1);
  g_object_set (h->element, "slices", 5, NULL);
  push (h, 3, 8, 16);
  check_volume (h, 3, 5, 16);
  check_caps (h, "uint8", "1:8:2:5", 5, 1);
  found = messages (h);
  fail_unless (found.latency >= 1);
  fail_unless_equals_int (found.qos, 1);
  fail_unless_equals_uint64 (found.dropped, 1);
  teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_latency)
{
  static const guint slices[] = { 1, 4, 32 };

  for (guint i = 0; i < G_N_ELEMENTS (slices); i++) {
    GstHarness *h = gst_harness_new ("ndstack");
    GstQuery *query = gst_query_new_latency ();

    g_object_set (h->element, "slices", slices[i], NULL);
    gst_harness_play (h);
    fail_if (gst_pad_peer_query (h->sinkpad, query), "latency before caps");
    gst_query_unref (query);
    gst_harness_set_upstream_latency (h, 10 * GST_MSECOND);
    gst_harness_set_src_caps_str (h,
        "video/x-raw,format=GRAY8,width=8,height=2,framerate=30/1");
    push (h, 0, 1, 16);
    fail_unless_equals_uint64 (gst_harness_query_latency (h),
        10 * GST_MSECOND + (slices[i] - 1) * (GST_SECOND / 30));
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Frames come at 12.5 of promised 25 frames/s, or the caps promise nothing. The
 * latency is that of the frames, also after a break. */
GST_START_TEST (test_latency_follows)
{
  static const gchar *const rates[] = { "25/1", "0/1" };
  g_autofree gchar *caps =
      g_strdup_printf ("video/x-raw,format=GRAY8,width=8,height=2,framerate=%s",
          rates[__i__]);
  GstHarness *h = stack_harness (4, caps);

  gst_harness_set_live (h, TRUE);
  for (guint n = 0; n < 10; n++)
    fail_unless_equals_int (gst_harness_push (h, frame (2 * n, 16)),
        GST_FLOW_OK);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 3 * 2 * FRAME);
  messages (h);
  for (guint n = 0; n < 10; n++)
    fail_unless_equals_int (gst_harness_push (h, frame (1000 + 2 * n, 16)),
        GST_FLOW_OK);
  fail_unless_equals_int (messages (h).latency, 0);
  teardown (h);
}

GST_END_TEST;

/* A late volume must not cost frames of the next ones. */
GST_START_TEST (test_qos_stays)
{
  const guint slices = __i__ ? 2 : 1;
  GstHarness *h = stack_harness (slices, GRAY8_8X2);
  GstEvent *event;
  gboolean upstream = FALSE;

  g_object_set (h->element, "qos", slices > 1, NULL);
  push (h, 0, slices, 16);
  gst_harness_push_upstream_event (h,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.5, 10 * FRAME, 0));
  while ((event = gst_harness_try_pull_upstream_event (h))) {
    upstream = upstream || GST_EVENT_TYPE (event) == GST_EVENT_QOS;
    gst_event_unref (event);
  }
  fail_unless_equals_int (upstream, slices == 1);
  push (h, slices, 3 * slices, 16);
  for (guint v = 0; v < 3; v++)
    check_volume (h, v * slices, slices, 16);
  check_discarded (h, 0);
  teardown (h);
}

GST_END_TEST;

/* Times come from the frames: the start of the first, the end of the last. */
GST_START_TEST (test_times)
{
  static const struct
  {
    GstClockTime pts[2], duration[2], out_pts, out_duration;
  } cases[] = {
    { { 100, 250 }, { 150, 30 }, 100, 180 },
    /* The rate of the caps is used if a frame has no duration. */
    { { 100, 250 }, { GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE }, 100,
        150 + FRAME },
    { { GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE }, { FRAME, FRAME },
        GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE },
    { { 100, GST_CLOCK_TIME_NONE }, { FRAME, FRAME }, 100,
        GST_CLOCK_TIME_NONE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = stack_harness (2, GRAY8_8X2);
    GstBuffer *buffer;

    for (guint n = 0; n < 2; n++) {
      buffer = frame (n, 16);
      GST_BUFFER_PTS (buffer) = cases[i].pts[n];
      GST_BUFFER_DURATION (buffer) = cases[i].duration[n];
      gst_harness_push (h, buffer);
    }
    buffer = gst_harness_pull (h);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), cases[i].out_pts);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer),
        cases[i].out_duration);
    gst_buffer_unref (buffer);
    teardown (h);
  }
}

GST_END_TEST;

GST_START_TEST (test_wrong_size)
{
  static const gchar *caps[] = { GRAY8_8X2,
    "other/tensors,format=static,num_tensors=1,types=uint8,dimensions=1:8:2,"
    "framerate=25/1" };

  for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
    GstHarness *h = stack_harness (2, caps[i]);

    /* GstVideo logs it too. */
    fail_unless_equals_int (gst_harness_push (h, frame (0, 15)),
        GST_FLOW_ERROR);
    fail_unless_equals_int (messages (h).errors, 1);
    teardown (h);
  }
}

GST_END_TEST;

/* Stopped within a volume and started again: no old frames remain. */
GST_START_TEST (test_restart)
{
  GstHarness *h = stack_harness (3, GRAY8_8X2);

  push (h, 0, 2, 16);
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_harness_play (h);
  gst_harness_set_src_caps_str (h, GRAY8_8X2);
  push (h, 7, 10, 16);
  check_volume (h, 7, 3, 16);
  check_discarded (h, 0);
  teardown (h);
}

GST_END_TEST;

/* The event with the metadata of frames, as gst/base/gstndcaps.h has it. */
static GstEvent *
metadata_event (const gchar *text, guint64 frames, gboolean live)
{
  GstStructure *structure = gst_structure_new ("ndconv-recording", "volumes",
      G_TYPE_UINT64, frames, "metadata", G_TYPE_STRING, text, NULL);

  if (live)
    gst_structure_set (structure, "live", G_TYPE_BOOLEAN, TRUE, NULL);
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, structure);
}

/* Expects that the next event of metadata has @text and @volumes. */
static void
check_metadata (GstHarness *h, const gchar *text, guint64 volumes)
{
  GstEvent *event;
  gboolean found = FALSE;

  while (!found && (event = gst_harness_try_pull_event (h))) {
    const GstStructure *structure = gst_event_get_structure (event);
    guint64 n;

    found = gst_event_has_name (event, "ndconv-recording");
    if (found) {
      fail_unless_equals_string (gst_structure_get_string (structure,
                                     "metadata"),
          text);
      fail_unless (gst_structure_get_uint64 (structure, "volumes", &n));
      fail_unless_equals_uint64 (n, volumes);
    }
    gst_event_unref (event);
  }
  fail_unless (found == (text != NULL));
}

/* Frame n had the fields of volume n, poses among them. */
GST_START_TEST (test_metadata)
{
  static const gchar frames[] =
      "o 5\nt 0\nt 40\nt 80\nt 120\nf Patient A\n"
      "f DefaultFrameTransformName ProbeToReferenceTransform\n"
      "v 0 Gain 1\nv 0 ProbeToReferenceTransform 1\n"
      "v 0 ProbeToReferenceTransformStatus OK\nv 1 Gain 2\n"
      "v 1 ProbeToReferenceTransform 2\nv 2 Gain 3\n"
      "v 2 ProbeToReferenceTransform 3\n";
  static const gchar next[] = "o 5\nt 0\nv 0 Gain 4\n";
  GstHarness *h = stack_harness (2, GRAY8_8X2);

  gst_harness_push_event (h, metadata_event (frames, 4, FALSE));
  check_metadata (h, "o 5\nt 0\nt 80\nf Patient A\nv 0 Gain 1\nv 1 Gain 3\n",
      2);
  fail_unless_equals_int (messages (h).warnings, 1);
  /* A second warning would tell nothing new. */
  gst_harness_push_event (h, metadata_event (frames, 4, TRUE));
  check_metadata (h, "o 5\nt 0\nt 80\nf Patient A\nv 0 Gain 1\nv 1 Gain 3\n",
      0);
  fail_unless_equals_int (messages (h).warnings, 0);
  push (h, 0, 1, 16);
  gst_harness_push_event (h, metadata_event (next, 0, TRUE));
  check_metadata (h, NULL, 0);
  push (h, 1, 2, 16);
  gst_harness_push_event (h, metadata_event (next, 0, TRUE));
  check_metadata (h, next, 0);
  fail_unless_equals_int (messages (h).warnings, 0);
  teardown (h);

  h = stack_harness (1, GRAY8_8X2);
  gst_harness_push_event (h, metadata_event (frames, 4, FALSE));
  check_metadata (h, frames, 4);
  fail_unless_equals_int (messages (h).warnings, 0);
  teardown (h);
}

GST_END_TEST;

static Suite *
stack_suite (void)
{
  Suite *suite = suite_create ("ndstack");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_counts);
  tcase_add_test (tc, test_caps);
  tcase_add_test (tc, test_caps_backwards);
  tcase_add_test (tc, test_stride);
  tcase_add_test (tc, test_metadata);
  tcase_add_test (tc, test_discont);
  tcase_add_test (tc, test_gap);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_segment);
  tcase_add_test (tc, test_caps_change);
  tcase_add_test (tc, test_slices_change);
  tcase_add_test (tc, test_latency);
  tcase_add_loop_test (tc, test_latency_follows, 0, 2);
  tcase_add_loop_test (tc, test_qos_stays, 0, 2);
  tcase_add_test (tc, test_times);
  tcase_add_test (tc, test_wrong_size);
  tcase_add_test (tc, test_restart);
  return suite;
}

GST_CHECK_MAIN (stack);
