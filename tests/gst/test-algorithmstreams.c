/* Algorithms in streams: order of events, flushes, relinking, QoS, buffers of a
 * pool, trick modes, and properties that all temporal elements have.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#define DURATION (100 * GST_MSECOND)

static const struct
{
  const gchar *launch, *dimensions;
  gsize samples;
  const gchar *window; /* if this property is `shortest`, no output waits; NULL:
                          none waits in any case */
  const gchar *shortest;
} elements[] = {
  { "nddenoise sigma=10 latency=2", "1:9:9:9", 9 * 9 * 9, "latency", "0" },
  { "ndstructure output=velocity sigma=1", "6:9:9:1", 6 * 9 * 9, "sigma", "0" },
  { "ndrank footprint=3:3:3:3", "1:9:9:9", 9 * 9 * 9, "footprint", "1" },
  { "ndregister reference=previous border=nearest", "1:9:9:9", 9 * 9 * 9, NULL,
      NULL },
};

typedef struct
{
  GstHarness *h;
  GstElement *element; /* alone in the bin of the harness */
  gsize samples;
  GString *order; /* b: buffer; other letters: events */
} Stream;

static GstPadProbeReturn
note (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GString *order = data;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    g_string_append_c (order, 'b');
    return GST_PAD_PROBE_OK;
  }
  switch (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info))) {
    case GST_EVENT_TAG:
      g_string_append_c (order, 'T');
      break;
    case GST_EVENT_TOC:
      g_string_append_c (order, 'O');
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM:
      g_string_append_c (order, 'C');
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
      g_string_append_c (order, 'S');
      break;
    case GST_EVENT_GAP:
      g_string_append_c (order, 'G');
      break;
    case GST_EVENT_EOS:
      g_string_append_c (order, 'E');
      break;
    default:
      break;
  }
  return GST_PAD_PROBE_OK;
}

static Stream
start (guint i)
{
  g_autofree gchar *caps = g_strdup_printf (
      "other/tensors,format=static,num_tensors=1,types=float32,dimensions=%s,"
      "framerate=10/1",
      elements[i].dimensions);
  Stream s = { .h = gst_harness_new_parse (elements[i].launch),
    .samples = elements[i].samples,
    .order = g_string_new (NULL) };

  s.element = GST_BIN (s.h->element)->children->data;
  gst_harness_set_src_caps_str (s.h, caps);
  gst_pad_add_probe (s.h->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note,
      s.order, NULL);
  return s;
}

static void
end (Stream *s)
{
  gst_harness_teardown (s->h);
  g_string_free (s->order, TRUE);
}

static GstBuffer *
make_volume (const Stream *s, guint number)
{
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, s->samples * sizeof (gfloat), NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < s->samples; i++)
    ((gfloat *) map.data)[i] = (number * 7 + i * 13) % 100;
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * DURATION;
  GST_BUFFER_DURATION (buffer) = DURATION;
  return buffer;
}

static GstFlowReturn
push (Stream *s, guint number)
{
  return gst_harness_push (s->h, make_volume (s, number));
}

static void
push_range (Stream *s, guint first, guint last)
{
  for (guint i = first; i <= last; i++)
    fail_unless_equals_int (push (s, i), GST_FLOW_OK);
}

static guint64
stat (Stream *s, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = 0;

  g_object_get (s->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  return value;
}

static void
expect_accounts (Stream *s, guint n)
{
  fail_unless_equals_uint64 (stat (s, "volumes-in"), n);
  fail_unless_equals_uint64 (gst_harness_buffers_received (s->h)
          + stat (s, "volumes-lost") + stat (s, "volumes-flushed")
          + stat (s, "volumes-late") + stat (s, "volumes-skipped")
          + stat (s, "volumes-outside-segment"),
      n);
}

static void
flush (Stream *s)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (s->h, gst_event_new_flush_start ());
  gst_harness_push_event (s->h, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (s->h, gst_event_new_segment (&segment));
}

static GstEvent *
new_custom (GstEventType type)
{
  return gst_event_new_custom (type, gst_structure_new_empty ("test"));
}

/* Each serialized event keeps its place between two volumes. */
GST_START_TEST (test_order)
{
  Stream s = start (__i__);
  g_autoptr (GstToc) toc = gst_toc_new (GST_TOC_SCOPE_GLOBAL);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  push_range (&s, 0, 3);
  gst_harness_push_event (s.h,
      gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "x", NULL)));
  gst_harness_push_event (s.h, gst_event_new_toc (toc, FALSE));
  push_range (&s, 4, 4);
  gst_harness_push_event (s.h, new_custom (GST_EVENT_CUSTOM_DOWNSTREAM));
  gst_harness_push_event (s.h, new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY));
  gst_harness_push_event (s.h, gst_event_new_segment (&segment));
  gst_harness_push_event (s.h, gst_event_new_gap (5 * DURATION, DURATION));
  push_range (&s, 6, 7);
  gst_harness_push_event (s.h, gst_event_new_eos ());
  fail_unless_equals_string (s.order->str, "bbbbTObCSGbbE");
  end (&s);
}

GST_END_TEST;

GST_START_TEST (test_flush)
{
  Stream s = start (__i__);

  push_range (&s, 0, 4);
  gst_harness_push_event (s.h, new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY));
  flush (&s);
  expect_accounts (&s, 5);
  push_range (&s, 5, 9);
  gst_harness_push_event (s.h, gst_event_new_eos ());
  expect_accounts (&s, 10);
  fail_unless (strchr (s.order->str, 'S') != NULL, "%s", s.order->str);
  end (&s);
}

GST_END_TEST;

GST_START_TEST (test_relinked)
{
  Stream s = start (__i__);
  g_autoptr (GstPad) src = gst_pad_get_peer (s.h->sinkpad);
  GstFlowReturn ret;

  push_range (&s, 0, 4);
  gst_pad_unlink (src, s.h->sinkpad);
  /* After a gap, so that the rest of the stretch is pushed to an unlinked
   * pad. */
  ret = push (&s, 100);
  fail_unless (ret == GST_FLOW_OK || ret == GST_FLOW_NOT_LINKED);
  fail_unless_equals_int (gst_pad_link (src, s.h->sinkpad), GST_PAD_LINK_OK);
  push_range (&s, 101, 105);
  gst_harness_push_event (s.h, gst_event_new_eos ());
  fail_unless (stat (&s, "volumes-lost") > 0);
  expect_accounts (&s, 11);
  end (&s);
}

GST_END_TEST;

/* A QoS event must not make elements upstream leave out volumes that the window
 * needs. Without a window they may. */
GST_START_TEST (test_qos_stays)
{
  Stream s = start (__i__);
  GstEvent *event;
  guint passed = 0;

  push_range (&s, 0, 4);
  gst_harness_push_upstream_event (s.h,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.5, DURATION, DURATION));
  while ((event = gst_harness_try_pull_upstream_event (s.h))) {
    passed += GST_EVENT_TYPE (event) == GST_EVENT_QOS;
    gst_event_unref (event);
  }
  fail_unless_equals_int (passed, elements[__i__].window ? 0 : 1);
  end (&s);
}

GST_END_TEST;

static void
note_freed (gpointer data, GstMiniObject *buffer)
{
  *(gboolean *) data = TRUE;
}

/* The window holds no buffer of a pool upstream. Elements mark such buffers as
 * the parents of their own. */
GST_START_TEST (test_parent_is_given_back)
{
  Stream s = start (__i__);
  GstBuffer *parent = gst_buffer_new (), *volume = make_volume (&s, 0);
  gboolean freed = FALSE;

  gst_mini_object_weak_ref (GST_MINI_OBJECT_CAST (parent), note_freed, &freed);
  gst_buffer_add_parent_buffer_meta (volume, parent);
  gst_buffer_unref (parent);
  fail_unless_equals_int (gst_harness_push (s.h, volume), GST_FLOW_OK);
  fail_unless (freed);
  end (&s);
}

GST_END_TEST;

/* Decoders mark each frame after those that they leave out. */
GST_START_TEST (test_trick_mode)
{
  Stream s = start (__i__);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = 4;
  segment.flags = GST_SEGMENT_FLAG_TRICKMODE;
  gst_harness_push_event (s.h, gst_event_new_segment (&segment));
  for (guint i = 0; i < 8; i++) {
    GstBuffer *volume = make_volume (&s, 7 * i);

    GST_BUFFER_FLAG_SET (volume, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int (gst_harness_push (s.h, volume), GST_FLOW_OK);
  }
  gst_harness_push_event (s.h, gst_event_new_eos ());
  for (guint i = 0; i < 8; i++) {
    g_autoptr (GstBuffer) output = gst_harness_try_pull (s.h);

    fail_unless (output != NULL);
    fail_unless_equals_int (GST_BUFFER_IS_DISCONT (output), i == 0);
  }
  end (&s);
}

GST_END_TEST;

/* Stretches of two volumes are too short for elements with a window. */
GST_START_TEST (test_warns_once)
{
  Stream s = start (__i__);
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstMessage *message;
  guint warnings = 0;

  gst_element_set_bus (s.element, bus);
  for (guint i = 0; i < 15; i++)
    push_range (&s, 100 * i, 100 * i + 1);
  gst_harness_push_event (s.h, gst_event_new_eos ());
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    g_autoptr (GError) error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    warnings += strstr (error->message, "hardly works") != NULL;
    gst_message_unref (message);
  }
  fail_unless_equals_int (warnings, elements[__i__].window ? 1 : 0);
  gst_element_set_bus (s.element, NULL);
  gst_bus_set_flushing (bus, TRUE);
  end (&s);
}

GST_END_TEST;

static GstClockTime
latency_after (Stream *s, const gchar *mode, guint first, guint last)
{
  gst_util_set_object_arg (G_OBJECT (s->element), "compute-latency", mode);
  push_range (s, first, last);
  return gst_harness_query_latency (s->h);
}

/* A sink waits for the computing, too, also if no output waits for later
 * volumes. */
GST_START_TEST (test_compute_latency)
{
  Stream s = start (__i__);

  if (elements[__i__].window)
    gst_util_set_object_arg (G_OBJECT (s.element), elements[__i__].window,
        elements[__i__].shortest);
  fail_unless_equals_uint64 (latency_after (&s, "never", 0, 9), 0);
  fail_unless (latency_after (&s, "always", 10, 19) > 0);
  fail_unless_equals_uint64 (latency_after (&s, "never", 20, 99), 0);
  end (&s);
}

GST_END_TEST;

/* A single lost volume does not break a stretch, a long gap does. Both are
 * counted. */
GST_START_TEST (test_counts_gaps)
{
  Stream s = start (__i__);

  push_range (&s, 0, 9);
  push_range (&s, 11, 20);
  fail_unless_equals_uint64 (stat (&s, "stretches"), 1);
  fail_unless_equals_uint64 (stat (&s, "gaps"), 1);
  fail_unless_equals_uint64 (stat (&s, "volumes-missing"), 1);
  push_range (&s, 200, 209);
  fail_unless_equals_uint64 (stat (&s, "stretches"), 2);
  fail_unless_equals_uint64 (stat (&s, "gaps"), 1);
  fail_unless_equals_uint64 (stat (&s, "volumes-missing"), 1);
  gst_harness_push_event (s.h, gst_event_new_eos ());
  fail_unless_equals_uint64 (stat (&s, "volumes-out"), 30);
  end (&s);
}

GST_END_TEST;

/* The caps of old versions of NNStreamer. */
GST_START_TEST (test_old_caps)
{
  GstHarness *h = gst_harness_new_parse (elements[__i__].launch);
  GstElement *element = GST_BIN (h->element)->children->data;
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;

  gst_element_set_bus (element, bus);
  gst_harness_set_src_caps_str (h,
      "other/tensor,type=uint8,dimension=(string)1:4:4:4,framerate=10/1");
  gst_harness_push (h, gst_buffer_new_allocate (NULL, 64, NULL));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "other/tensors") != NULL, "%s",
      error->message);
  gst_element_set_bus (element, NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Eigenvalues have as many components as the velocity of a frame. */
GST_START_TEST (test_same_caps)
{
  Stream s = start (1);

  push_range (&s, 0, 3);
  g_object_set (s.element, "output", "eigenvalues", NULL);
  push_range (&s, 4, 7);
  gst_harness_push_event (s.h, gst_event_new_eos ());
  expect_accounts (&s, 8);
  fail_unless_equals_int (gst_harness_buffers_received (s.h), 8);
  end (&s);
}

GST_END_TEST;

/* What is common to all temporal elements */

/* The bytes of each output, until EOS. */
static GPtrArray *
pull_all (Stream *s)
{
  GPtrArray *outputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GstBuffer *output;

  gst_harness_push_event (s->h, gst_event_new_eos ());
  while ((output = gst_harness_try_pull (s->h)))
    g_ptr_array_add (outputs, output);
  return outputs;
}

static void
expect_same (GstBuffer *a, GstBuffer *b)
{
  GstMapInfo map;

  fail_unless_equals_uint64 (GST_BUFFER_PTS (a), GST_BUFFER_PTS (b));
  fail_unless (gst_buffer_map (a, &map, GST_MAP_READ));
  fail_unless_equals_int (gst_buffer_memcmp (b, 0, map.data, map.size), 0);
  gst_buffer_unmap (a, &map);
}

/* The outputs are those of a stream in which the volume before comes again, but
 * for that of the missing one. */
GST_START_TEST (test_hold)
{
  Stream held = start (__i__), full = start (__i__);
  g_autoptr (GPtrArray) a = NULL, b = NULL;
  GstBuffer *copy;

  gst_util_set_object_arg (G_OBJECT (held.element), "gap", "hold");
  push_range (&held, 0, 5);
  gst_harness_push_event (held.h, new_custom (GST_EVENT_CUSTOM_DOWNSTREAM));
  push_range (&held, 7, 12);
  push_range (&full, 0, 5);
  copy = make_volume (&full, 5);
  GST_BUFFER_PTS (copy) = 6 * DURATION;
  fail_unless_equals_int (gst_harness_push (full.h, copy), GST_FLOW_OK);
  push_range (&full, 7, 12);
  a = pull_all (&held);
  b = pull_all (&full);
  fail_unless_equals_int (a->len, 12);
  fail_unless_equals_int (b->len, 13);
  for (guint i = 0; i < a->len; i++)
    expect_same (a->pdata[i], b->pdata[i < 6 ? i : i + 1]);
  fail_unless_equals_uint64 (stat (&held, "volumes-held"), 1);
  fail_unless_equals_uint64 (stat (&held, "stretches"), 1);
  fail_unless_equals_string (held.order->str, "bbbbbbCbbbbbbE");
  end (&held);
  end (&full);
}

GST_END_TEST;

static guint64
stretches_with (guint i, const gchar *property, const gchar *value, guint next,
    gboolean discont)
{
  Stream s = start (i);
  GstBuffer *buffer;
  guint64 stretches;

  if (property)
    gst_util_set_object_arg (G_OBJECT (s.element), property, value);
  push_range (&s, 0, 9);
  buffer = make_volume (&s, next);
  if (discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (gst_harness_push (s.h, buffer), GST_FLOW_OK);
  push_range (&s, next + 1, next + 5);
  stretches = stat (&s, "stretches");
  gst_harness_push_event (s.h, gst_event_new_eos ());
  fail_unless_equals_uint64 (stat (&s, "volumes-out"), 16);
  end (&s);
  return stretches;
}

GST_START_TEST (test_gap_properties)
{
  fail_unless_equals_uint64 (stretches_with (__i__, NULL, NULL, 11, FALSE), 1);
  fail_unless_equals_uint64 (stretches_with (__i__, "gap", "restart", 11,
                                 FALSE),
      2);
  fail_unless_equals_uint64 (stretches_with (__i__, "gap-jitter", "2", 11,
                                 FALSE),
      1);
  fail_unless_equals_uint64 (stretches_with (__i__, NULL, NULL, 30, FALSE), 2);
  fail_unless_equals_uint64 (stretches_with (__i__, "gap-limit", "0", 30,
                                 FALSE),
      1);
  fail_unless_equals_uint64 (stretches_with (__i__, NULL, NULL, 10, TRUE), 2);
  fail_unless_equals_uint64 (stretches_with (__i__, "gap-discont", "false", 10,
                                 TRUE),
      1);
}

GST_END_TEST;

/* The content of an output is that of its anchor. */
GST_START_TEST (test_stamp)
{
  Stream anchor = start (__i__), content = start (__i__);
  g_autoptr (GPtrArray) a = NULL, b = NULL;
  g_autoptr (GstStructure) stats = NULL;
  gdouble lag = -1;

  gst_util_set_object_arg (G_OBJECT (content.element), "stamp", "content");
  push_range (&anchor, 0, 7);
  push_range (&content, 0, 7);
  g_object_get (content.element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, "lag", &lag));
  fail_unless_equals_float (lag, 0);
  a = pull_all (&anchor);
  b = pull_all (&content);
  fail_unless_equals_int (a->len, 8);
  fail_unless_equals_int (b->len, 8);
  for (guint i = 0; i < a->len; i++)
    expect_same (a->pdata[i], b->pdata[i]);
  end (&anchor);
  end (&content);
}

GST_END_TEST;

static guint
count_warnings (GstBus *bus)
{
  guint n = 0;
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    gst_message_unref (message);
    n++;
  }
  return n;
}

/* All fields of `settings` take effect, or none. */
GST_START_TEST (test_settings)
{
  Stream s = start (__i__);
  g_autoptr (GstStructure) wrong = gst_structure_new ("s", "gap", G_TYPE_STRING,
      "hold", "backend", G_TYPE_STRING, "nowhere", NULL);
  g_autoptr (GstStructure) right = gst_structure_new ("s", "gap", G_TYPE_STRING,
      "hold", "gap-jitter", G_TYPE_DOUBLE, 0.25, NULL);
  g_autoptr (GstStructure) all = NULL;
  g_autoptr (GstBus) bus = gst_bus_new ();
  gint gap = -1;
  gdouble jitter = 0;

  gst_element_set_bus (s.element, bus);
  push_range (&s, 0, 3);
  g_object_set (s.element, "settings", wrong, NULL);
  g_object_get (s.element, "gap", &gap, NULL);
  fail_unless_equals_int (gap, 0);
  fail_unless_equals_int (count_warnings (bus), 1);
  g_object_set (s.element, "settings", right, NULL);
  g_object_get (s.element, "gap", &gap, "gap-jitter", &jitter, "settings", &all,
      NULL);
  fail_unless_equals_int (gap, 1);
  fail_unless_equals_float (jitter, 0.25);
  fail_unless (gst_structure_has_field (all,
      elements[__i__].window ? elements[__i__].window : "reference"));
  push_range (&s, 4, 4);
  push_range (&s, 6, 8);
  fail_unless_equals_uint64 (stat (&s, "volumes-held"), 1);
  fail_unless_equals_int (count_warnings (bus), 0);
  gst_element_set_bus (s.element, NULL);
  gst_harness_push_event (s.h, gst_event_new_eos ());
  end (&s);
}

GST_END_TEST;

static GstClockTime
latency_of (Stream *s)
{
  return gst_harness_query_latency (s->h);
}

/* Another processor is made beside the stream, which goes on with the old one
 * meanwhile. */
GST_START_TEST (test_beside_the_stream)
{
  Stream s = start (__i__);
  GstClockTime before;
  guint n = 8;

  g_setenv ("NDCONV_SETTINGS_WAIT", "0", TRUE);
  gst_util_set_object_arg (G_OBJECT (s.element), "compute-latency", "never");
  push_range (&s, 0, n - 1);
  before = latency_of (&s);
  fail_unless (before > 0);
  gst_util_set_object_arg (G_OBJECT (s.element), elements[__i__].window,
      elements[__i__].shortest);
  while (latency_of (&s) == before)
    fail_unless_equals_int (push (&s, n++), GST_FLOW_OK);
  push_range (&s, n, n + 3);
  fail_unless_equals_uint64 (latency_of (&s), 0);
  gst_harness_push_event (s.h, gst_event_new_eos ());
  fail_unless_equals_uint64 (stat (&s, "volumes-out"), n + 4);
  expect_accounts (&s, n + 4);
  g_setenv ("NDCONV_SETTINGS_WAIT", "60000", TRUE);
  end (&s);
}

GST_END_TEST;

/* The largest change of a sample from input @number to @output. */
static gdouble
find_change (const Stream *s, guint number, GstBuffer *output)
{
  g_autoptr (GstBuffer) input = make_volume (s, number);
  GstMapInfo map, out;
  gdouble change = 0;

  fail_unless (gst_buffer_map (input, &map, GST_MAP_READ));
  fail_unless (gst_buffer_map (output, &out, GST_MAP_READ));
  for (gsize k = 0; k < s->samples; k++)
    change =
        MAX (change, ABS (((gfloat *) map.data)[k] - ((gfloat *) out.data)[k]));
  gst_buffer_unmap (input, &map);
  gst_buffer_unmap (output, &out);
  return change;
}

/* A property that no processor depends on is set while another processor is
 * made, and keeps its value when that comes into use. With strength=0 volumes
 * pass unchanged. */
GST_START_TEST (test_set_while_built)
{
  Stream s = start (0);
  g_autoptr (GPtrArray) outputs = NULL;
  GstClockTime before;
  guint n = 8, first;

  g_setenv ("NDCONV_SETTINGS_WAIT", "0", TRUE);
  gst_util_set_object_arg (G_OBJECT (s.element), "compute-latency", "never");
  push_range (&s, 0, n - 1);
  before = latency_of (&s);
  g_object_set (s.element, "latency", 0, NULL);
  fail_unless_equals_int (push (&s, n++), GST_FLOW_OK);
  g_object_set (s.element, "strength", 0.0, NULL);
  do {
    fail_unless_equals_int (push (&s, n++), GST_FLOW_OK);
  } while (latency_of (&s) == before);
  first = n;
  push_range (&s, n, n + 3);
  outputs = pull_all (&s);
  fail_unless_equals_int (outputs->len, n + 4);
  for (guint i = first; i < outputs->len; i++)
    fail_unless (find_change (&s, i, outputs->pdata[i]) < 1e-3);
  g_setenv ("NDCONV_SETTINGS_WAIT", "60000", TRUE);
  end (&s);
}

GST_END_TEST;

/* strength is 0 at even volumes, which pass unchanged, and 4 at odd ones. */
GST_START_TEST (test_controlled)
{
  Stream s = start (0);
  GstControlSource *source = gst_interpolation_control_source_new ();
  g_autoptr (GPtrArray) outputs = NULL;

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  for (guint i = 0; i < 12; i++)
    fail_unless (gst_timed_value_control_source_set (
        GST_TIMED_VALUE_CONTROL_SOURCE (source), i * DURATION, i % 2 ? 4 : 0));
  fail_unless (gst_object_add_control_binding (GST_OBJECT (s.element),
      gst_direct_control_binding_new_absolute (GST_OBJECT (s.element),
          "strength", source)));
  gst_object_unref (source);
  push_range (&s, 0, 11);
  outputs = pull_all (&s);
  fail_unless_equals_int (outputs->len, 12);
  for (guint i = 0; i < outputs->len; i++) {
    const gdouble change = find_change (&s, i, outputs->pdata[i]);

    fail_unless (i % 2 ? change > 1 : change < 1e-3, "output %u: %g", i,
        change);
  }
  end (&s);
}

GST_END_TEST;

static Suite *
algorithm_streams_suite (void)
{
  Suite *suite = suite_create ("algorithm-streams");
  TCase *tc = tcase_create ("algorithm-streams");
  const guint n = G_N_ELEMENTS (elements);

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_order, 0, n);
  tcase_add_loop_test (tc, test_flush, 0, n);
  tcase_add_loop_test (tc, test_relinked, 0, n);
  tcase_add_loop_test (tc, test_qos_stays, 0, n);
  tcase_add_loop_test (tc, test_parent_is_given_back, 0, n);
  tcase_add_loop_test (tc, test_trick_mode, 0, n);
  tcase_add_loop_test (tc, test_warns_once, 0, n);
  tcase_add_loop_test (tc, test_compute_latency, 0, n);
  tcase_add_loop_test (tc, test_old_caps, 0, n);
  tcase_add_loop_test (tc, test_counts_gaps, 0, n);
  tcase_add_test (tc, test_same_caps);
  tcase_add_loop_test (tc, test_hold, 0, n);
  tcase_add_loop_test (tc, test_gap_properties, 0, n);
  tcase_add_loop_test (tc, test_stamp, 0, n);
  tcase_add_loop_test (tc, test_settings, 0, n);
  /* ndregister has no property that changes its latency. */
  tcase_add_loop_test (tc, test_beside_the_stream, 0, n - 1);
  tcase_add_test (tc, test_set_while_built);
  tcase_add_test (tc, test_controlled);
  return suite;
}

GST_CHECK_MAIN (algorithm_streams);
