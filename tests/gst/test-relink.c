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
  tcase_add_test (tc, test_memory_renegotiated);
  tcase_add_test (tc, test_negotiated_during_a_push);
  tcase_add_test (tc, test_stream_status);
  return suite;
}

GST_CHECK_MAIN (relink);
