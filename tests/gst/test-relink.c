/* Applications that unlink, relink and replace what follows a filter while
 * volumes flow, on the CPU and on the device double.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>

#define VOLUMES 400

typedef struct
{
  GstElement *pipeline, *filter, *sink;
  gint received; /* by all sinks; atomic */
} Pipeline;

static GstPadProbeReturn
count_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_atomic_int_inc ((gint *) data);
  return GST_PAD_PROBE_OK;
}

static GstElement *
add_sink (Pipeline *p)
{
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");

  g_object_set (sink, "sync", FALSE, "async", FALSE, NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_buffer, &p->received,
      NULL);
  gst_bin_add (GST_BIN (p->pipeline), sink);
  gst_element_sync_state_with_parent (sink);
  return sink;
}

static Pipeline
start (const gchar *source)
{
  g_autofree gchar *text = g_strdup_printf ("%s ! ndconv4dtemporal name=f "
                                            "filter=box,size=1:1:1:3",
      source);
  Pipeline p = { NULL };

  p.pipeline = gst_parse_launch (text, NULL);
  fail_unless (p.pipeline != NULL);
  p.filter = gst_bin_get_by_name (GST_BIN (p.pipeline), "f");
  return p;
}

static void
end (Pipeline *p)
{
  gst_element_set_state (p->pipeline, GST_STATE_NULL);
  gst_object_unref (p->filter);
  gst_object_unref (p->pipeline);
}

static guint64
stat (const Pipeline *p, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = 0;

  g_object_get (p->filter, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value));
  return value;
}

static void
wait_for (gint *counter, gint value)
{
  for (guint i = 0; i < 300000 && g_atomic_int_get (counter) < value; i++)
    g_usleep (1000);
  fail_unless (g_atomic_int_get (counter) >= value, "%d of %d outputs",
      g_atomic_int_get (counter), value);
}

static void
wait_for_eos (Pipeline *p)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (p->pipeline);
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus,
      300 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);

  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
}

/* A tee that tolerates it goes on while the filter has nobody to push to. After
 * relinking outputs come again. */
GST_START_TEST (test_relinked)
{
  Pipeline p = start ("ndtestsrc pattern=ramp volume-size=8:8:4 "
                      "num-buffers=2000 ! identity sleep-time=2000 ! "
                      "tee allow-not-linked=true");
  gint before;

  p.sink = add_sink (&p);
  fail_unless (gst_element_link (p.filter, p.sink));
  gst_element_set_state (p.pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 5; i++) {
    before = g_atomic_int_get (&p.received);
    wait_for (&p.received, before + 5);
    gst_element_unlink (p.filter, p.sink);
    g_usleep (20000);
    before = g_atomic_int_get (&p.received);
    g_usleep (10000);
    fail_unless_equals_int (g_atomic_int_get (&p.received), before);
    fail_unless (gst_element_link (p.filter, p.sink));
  }
  before = g_atomic_int_get (&p.received);
  wait_for (&p.received, before + 5);
  fail_unless (stat (&p, "volumes-lost") > 0);
  fail_unless_equals_uint64 (stat (&p, "stretches"), 1);
  end (&p);
}

GST_END_TEST;

static GstPadProbeReturn
replace_sink (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Pipeline *p = data;
  GstElement *old = p->sink;

  gst_element_unlink (p->filter, old);
  /* Longer than outputs on a device take to complete. */
  g_usleep (5000);
  p->sink = add_sink (p);
  fail_unless (gst_element_link (p->filter, p->sink));
  gst_element_set_state (old, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (p->pipeline), old);
  return GST_PAD_PROBE_REMOVE;
}

/* While the sink pad of the filter is blocked nothing leaves it, so that a sink
 * can be replaced without a loss. */
GST_START_TEST (test_sink_replaced)
{
  g_autofree gchar *source = g_strdup_printf (
      "ndtestsrc pattern=ramp "
      "volume-size=8:8:4 num-buffers=%d ! identity sleep-time=1000",
      VOLUMES);
  Pipeline p = start (source);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (p.filter, "sink");

  p.sink = add_sink (&p);
  fail_unless (gst_element_link (p.filter, p.sink));
  gst_element_set_state (p.pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 10; i++) {
    wait_for (&p.received, (i + 1) * VOLUMES / 20);
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, replace_sink,
        &p, NULL);
  }
  wait_for_eos (&p);
  fail_unless_equals_uint64 (stat (&p, "volumes-in"), VOLUMES);
  fail_unless_equals_int (g_atomic_int_get (&p.received)
          + (gint) stat (&p, "volumes-lost"),
      VOLUMES);
  fail_unless_equals_uint64 (stat (&p, "volumes-lost"), 0);
  end (&p);
}

GST_END_TEST;

/* Volumes from the thread of the test; the filter, two sinks that wait, and a
 * third one. */
typedef struct
{
  Pipeline p;
  GstPad *in;
  gint number;
  gint reached, swapped; /* counted by the output thread, and by the other */
} Swap;

static void
push_volume (Swap *s)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 8 * 8 * 8 * 4, NULL);

  gst_buffer_memset (buffer, 0, 0, -1);
  GST_BUFFER_PTS (buffer) = s->number++ * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  fail_unless_equals_int (gst_pad_push (s->in, buffer), GST_FLOW_OK);
}

static void
start_swap (Swap *s)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (
      "other/tensors,"
      "format=static,num_tensors=1,types=float32,dimensions=(string)1:8:8:8,"
      "framerate=25/1");
  g_autoptr (GstPad) sink = NULL;
  GstSegment segment;

  *s = (Swap){ .in = gst_pad_new ("in", GST_PAD_SRC) };
  s->p.pipeline = gst_pipeline_new (NULL);
  s->p.filter = gst_element_factory_make ("ndconv4dtemporal", NULL);
  gst_bin_add (GST_BIN (s->p.pipeline), gst_object_ref (s->p.filter));
  s->p.sink = add_sink (&s->p);
  fail_unless (gst_element_link (s->p.filter, s->p.sink));
  g_object_set (s->p.filter, "filter", "box,size=1:1:1:3", NULL);
  sink = gst_element_get_static_pad (s->p.filter, "sink");
  gst_pad_set_active (s->in, TRUE);
  fail_unless_equals_int (gst_pad_link (s->in, sink), GST_PAD_LINK_OK);
  gst_element_set_state (s->p.pipeline, GST_STATE_PLAYING);
  gst_pad_push_event (s->in, gst_event_new_stream_start ("relink"));
  gst_pad_push_event (s->in, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (s->in, gst_event_new_segment (&segment));
}

/* Not for ever: the streaming thread may have to wait for this. */
static void
wait_for_swap (Swap *s)
{
  const gint before = g_atomic_int_get (&s->swapped);

  g_atomic_int_inc (&s->reached);
  for (guint i = 0; i < 300 && g_atomic_int_get (&s->swapped) == before; i++)
    g_usleep (1000);
}

/* The sink is shut down while it has the buffer. */
static GstPadProbeReturn
hold_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Swap *s = data;

  wait_for_swap (s);
  g_atomic_int_add (&s->p.received, -1);
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_DATA (info) = NULL;
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_FLUSHING;
  return GST_PAD_PROBE_HANDLED;
}

static GstPadProbeReturn
hold_stream_start (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);

  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    wait_for_swap (data);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
swap_sinks (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Swap *s = data;
  GstElement *old = s->p.sink;
  g_autoptr (GstPad) sink = NULL;

  gst_element_unlink (s->p.filter, old);
  s->p.sink = add_sink (&s->p);
  sink = gst_element_get_static_pad (s->p.sink, "sink");
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      hold_stream_start, s, NULL);
  fail_unless (gst_element_link (s->p.filter, s->p.sink));
  g_atomic_int_inc (&s->swapped);
  g_usleep (20000); /* the old sink still takes what it has */
  gst_element_set_state (old, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (s->p.pipeline), old);
  return GST_PAD_PROBE_REMOVE;
}

/* Replaces the sink while an event is blocked. */
static void
swap (Swap *s, GstPad *pad)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, swap_sinks, s,
      NULL);
  gst_pad_push_event (s->in,
      gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "swap", NULL)));
}

/* A sink is replaced while an output is on its way to it, and the next one
 * while events are. No sink gets an output before its stream-start. */
GST_START_TEST (test_swapped_during_a_push)
{
  const gboolean on_device =
      g_strcmp0 (g_getenv ("NDCONV_CUDA_MODULE"), "none") != 0;
  g_autoptr (GstPad) before = NULL, pad = NULL;
  gulong hold;
  Swap s;

  start_swap (&s);
  pad = gst_element_get_static_pad (s.p.filter, "sink");
  /* One volume stays in the window, so that events wait for its output. */
  push_volume (&s);
  push_volume (&s);
  wait_for (&s.p.received, 1);
  before = gst_element_get_static_pad (s.p.sink, "sink");
  hold = gst_pad_add_probe (before, GST_PAD_PROBE_TYPE_BUFFER, hold_buffer, &s,
      NULL);
  if (on_device) {
    push_volume (&s);
    wait_for (&s.reached, 1);
  } else {
    /* Outputs leave on the thread of the test. */
    gst_pad_remove_probe (before, hold);
  }
  push_volume (&s);
  swap (&s, pad);
  if (on_device)
    wait_for (&s.reached, 2);
  swap (&s, pad);
  for (guint i = 0; i < 5; i++)
    push_volume (&s);
  gst_pad_push_event (s.in, gst_event_new_eos ());
  fail_unless_equals_int (g_atomic_int_get (&s.p.received)
          + stat (&s.p, "volumes-lost") + stat (&s.p, "volumes-flushed"),
      s.number);
  end (&s.p);
  gst_object_unref (s.in);
}

GST_END_TEST;

/* Downstream asks for memory of the device in mid-stream. */
GST_START_TEST (test_memory_renegotiated)
{
  g_autofree gchar *source = g_strdup_printf (
      "ndtestsrc pattern=ramp "
      "volume-size=8:8:4 num-buffers=%d ! identity sleep-time=1000",
      VOLUMES);
  Pipeline p = start (source);
  GstElement *filter = gst_element_factory_make ("capsfilter", NULL);
  g_autoptr (GstCaps) host = gst_caps_from_string ("other/tensors");
  g_autoptr (GstCaps) device =
      gst_caps_from_string ("other/tensors(memory:CUDAMemory)");
  const gchar *module = g_getenv ("NDCONV_CUDA_MODULE");

  if (g_strcmp0 (module, "none") == 0) {
    gst_object_unref (gst_object_ref_sink (filter));
    end (&p);
    return;
  }
  gst_bin_add (GST_BIN (p.pipeline), filter);
  p.sink = add_sink (&p);
  fail_unless (gst_element_link_many (p.filter, filter, p.sink, NULL));
  gst_element_set_state (p.pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 8; i++) {
    wait_for (&p.received, (i + 1) * VOLUMES / 16);
    g_object_set (filter, "caps", i % 2 ? host : device, NULL);
  }
  wait_for_eos (&p);
  fail_unless_equals_int (g_atomic_int_get (&p.received), VOLUMES);
  fail_unless_equals_uint64 (stat (&p, "stretches"), 1);
  end (&p);
}

GST_END_TEST;

typedef struct
{
  GstPad *src; /* of the filter */
  gint number, pushing, crossed;
} Crossing;

/* Every tenth push takes long. */
static GstPadProbeReturn
take_output (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Crossing *c = data;

  if (++c->number % 10 != 0)
    return GST_PAD_PROBE_OK;
  g_atomic_int_set (&c->pushing, TRUE);
  for (guint i = 0; i < 20 && g_atomic_int_get (&c->crossed) == 0; i++)
    g_usleep (1000);
  g_atomic_int_set (&c->pushing, FALSE);
  return GST_PAD_PROBE_OK;
}

/* The pad was linked anew, and upstream asks before the next volume. */
static GstPadProbeReturn
ask (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Crossing *c = data;
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  g_autoptr (GstQuery) query = gst_query_new_allocation (caps, FALSE);

  if (g_atomic_int_get (&c->pushing)) {
    gst_pad_mark_reconfigure (c->src);
    gst_pad_peer_query (pad, query);
  }
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
take_query (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Crossing *c = data;

  if (GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (info)) == GST_QUERY_ALLOCATION
      && g_atomic_int_get (&c->pushing))
    g_atomic_int_inc (&c->crossed);
  return GST_PAD_PROBE_OK;
}

/* An ALLOCATION query repeats the events of a pad that was linked. It must not
 * leave the pad on one thread while an output is pushed on another one,
 * which would then come before its segment. */
GST_START_TEST (test_negotiated_during_a_push)
{
  Pipeline p = start ("ndtestsrc pattern=ramp volume-size=8:8:4 "
                      "num-buffers=200 ! identity sleep-time=1000");
  g_autoptr (GstPad) src = gst_element_get_static_pad (p.filter, "src");
  Crossing c = { src, 0, 0, 0 };
  g_autoptr (GstPad) in = gst_element_get_static_pad (p.filter, "sink");
  g_autoptr (GstPad) before = gst_pad_get_peer (in);
  g_autoptr (GstPad) after = NULL;

  p.sink = add_sink (&p);
  fail_unless (gst_element_link (p.filter, p.sink));
  after = gst_element_get_static_pad (p.sink, "sink");
  gst_pad_add_probe (before, GST_PAD_PROBE_TYPE_BUFFER, ask, &c, NULL);
  gst_pad_add_probe (after, GST_PAD_PROBE_TYPE_BUFFER, take_output, &c, NULL);
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, take_query, &c,
      NULL);
  gst_element_set_state (p.pipeline, GST_STATE_PLAYING);
  wait_for_eos (&p);
  fail_unless_equals_int (c.number, 200);
  fail_unless_equals_int (c.crossed, 0);
  end (&p);
}

GST_END_TEST;

/* An application can set the priority of the thread that pushes the outputs of
 * a device. */
GST_START_TEST (test_stream_status)
{
  Pipeline p = start ("ndtestsrc pattern=ramp volume-size=8:8:4 "
                      "num-buffers=20");
  g_autoptr (GstBus) bus = gst_element_get_bus (p.pipeline);
  g_autoptr (GstStructure) stats = NULL;
  guint seen[GST_STREAM_STATUS_TYPE_STOP + 1] = { 0 };
  gboolean on_device;
  GstMessage *message;

  fail_unless (gst_element_link (p.filter, add_sink (&p)));
  gst_element_set_state (p.pipeline, GST_STATE_PLAYING);
  wait_for (&p.received, 20);
  g_object_get (p.filter, "stats", &stats, NULL);
  on_device = g_str_equal (gst_structure_get_string (stats, "backend"), "cuda");
  gst_element_set_state (p.pipeline, GST_STATE_READY);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_STREAM_STATUS))) {
    const GValue *value = gst_message_get_stream_status_object (message);
    GstObject *task = value ? g_value_get_object (value) : NULL;
    GstStreamStatusType type;

    gst_message_parse_stream_status (message, &type, NULL);
    seen[type] +=
        GST_IS_TASK (task) && g_str_equal (GST_OBJECT_NAME (task), "f:outputs");
    gst_message_unref (message);
  }
  fail_unless_equals_int (seen[GST_STREAM_STATUS_TYPE_CREATE], on_device);
  fail_unless_equals_int (seen[GST_STREAM_STATUS_TYPE_ENTER], on_device);
  fail_unless_equals_int (seen[GST_STREAM_STATUS_TYPE_LEAVE], on_device);
  end (&p);
}

GST_END_TEST;

static Suite *
relink_suite (void)
{
  Suite *suite = suite_create ("relink");
  TCase *tc = tcase_create ("relink");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_relinked);
  tcase_add_test (tc, test_sink_replaced);
  tcase_add_test (tc, test_swapped_during_a_push);
  tcase_add_test (tc, test_memory_renegotiated);
  tcase_add_test (tc, test_negotiated_during_a_push);
  tcase_add_test (tc, test_stream_status);
  return suite;
}

GST_CHECK_MAIN (relink);
