/* A flush that comes in the middle of an event or of a push ends neither the
 * stream nor the agreement about its caps.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/folder.h"

#include <gst/check/gstcheck.h>

#define FLOATS \
  "other/tensors,format=static,num_tensors=1,types=float32,framerate=25/1,"
#define VOLUMES FLOATS "dimensions=(string)1:"
#define TENSORS FLOATS "dimensions=(string)10:"
#define FRAMES "video/x-raw,format=GRAY8,framerate=25/1,"

static const struct
{
  const gchar *element;
  const gchar *caps[2];
  gsize sizes[2]; /* bytes of a volume or frame */
} elements[] = {
  { "ndconv4dtemporal filter=box,size=1:1:1:2",
      { VOLUMES "4:4:4", VOLUMES "6:4:4" }, { 256, 384 } },
  { "ndconv3d filter=box,size=3:3:1",
      { FRAMES "width=8,height=8", FRAMES "width=12,height=8" }, { 64, 96 } },
  { "ndconv2d filter=box,size=3",
      { FRAMES "width=8,height=8", FRAMES "width=12,height=8" }, { 64, 96 } },
  { "nddeconvolve psf=box,size=3",
      { FRAMES "width=8,height=8", FRAMES "width=12,height=8" }, { 64, 96 } },
  { "nddenoise sigma=4",
      { FRAMES "width=8,height=8", FRAMES "width=12,height=8" }, { 64, 96 } },
  { "ndregister", { FRAMES "width=8,height=8", FRAMES "width=12,height=8" },
      { 64, 96 } },
  { "ndstructure", { TENSORS "8:8:8", TENSORS "12:8:8" }, { 20480, 30720 } },
  { "ndview", { VOLUMES "8:8:8", VOLUMES "12:8:8" }, { 2048, 3072 } },
  { "ndstack slices=1",
      { FRAMES "width=8,height=8", FRAMES "width=12,height=8" }, { 64, 96 } },
};

/* An element between pads of the test. */
typedef struct
{
  GstElement *element;
  GstPad *sink, *src; /* of the element */
  GstPad *in, *out;   /* linked to them */
  GstBus *bus;
  GstEventType at; /* the event that a flush meets */
  guint buffers, wrong;
} Flush;

/* The sink after the element. Like GstBaseSink, it refuses events while it
 * flushes. */
static gboolean
out_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  const gboolean ok = !GST_PAD_IS_FLUSHING (pad)
      || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START;

  gst_event_unref (event);
  return ok;
}

static GstFlowReturn
out_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Flush *f = g_object_get_data (G_OBJECT (pad), "flush");
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *dimensions = gst_structure_get_string (s, "dimensions");
  gint width, height;

  /* The buffer is of its caps. */
  if (gst_structure_get_int (s, "width", &width)
      && gst_structure_get_int (s, "height", &height)) {
    const gchar *format = gst_structure_get_string (s, "format");

    if (g_str_equal (format, "GRAY8"))
      f->wrong += gst_buffer_get_size (buffer) != (gsize) width * height;
  } else if (dimensions) {
    g_auto (GStrv) sizes = g_strsplit (dimensions, ":", -1);
    gsize size =
        g_str_equal (gst_structure_get_string (s, "types"), "uint8") ? 1 : 4;

    for (guint i = 0; sizes[i]; i++)
      size *= g_ascii_strtoull (sizes[i], NULL, 10);
    f->wrong += gst_buffer_get_size (buffer) != size;
  }
  f->buffers++;
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* Begins a flush of the whole stream while an event is on its way. */
static GstPadProbeReturn
begin_flush (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Flush *f = data;

  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) != f->at)
    return GST_PAD_PROBE_OK;
  f->at = GST_EVENT_UNKNOWN;
  gst_pad_push_event (f->in, gst_event_new_flush_start ());
  return GST_PAD_PROBE_OK;
}

static void
link_out (Flush *f)
{
  static GstStaticPadTemplate any = GST_STATIC_PAD_TEMPLATE ("out",
      GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

  f->out = gst_pad_new_from_static_template (&any, "out");
  g_object_set_data (G_OBJECT (f->out), "flush", f);
  gst_pad_set_event_function (f->out, out_event);
  gst_pad_set_chain_function (f->out, out_chain);
  gst_pad_set_active (f->out, TRUE);
  gst_pad_add_probe (f->out, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, begin_flush,
      f, NULL);
  fail_unless_equals_int (gst_pad_link (f->src, f->out), GST_PAD_LINK_OK);
}

static void
flush_open (Flush *f, const gchar *text)
{
  g_autoptr (GError) error = NULL;

  *f = (Flush){ .element = gst_parse_launch (text, &error) };
  fail_unless (error == NULL, "%s", error ? error->message : "");
  f->sink = gst_element_get_static_pad (f->element, "sink");
  f->src = gst_element_get_static_pad (f->element, "src");
  f->in = gst_pad_new ("in", GST_PAD_SRC);
  gst_pad_set_active (f->in, TRUE);
  fail_unless_equals_int (gst_pad_link (f->in, f->sink), GST_PAD_LINK_OK);
  f->bus = gst_bus_new ();
  gst_element_set_bus (f->element, f->bus);
  gst_pad_add_probe (f->sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, begin_flush,
      f, NULL);
  link_out (f);
  gst_element_set_state (f->element, GST_STATE_PLAYING);
}

static void
flush_close (Flush *f)
{
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (f->bus, GST_MESSAGE_ERROR);

  fail_unless (message == NULL);
  fail_unless_equals_int (f->wrong, 0);
  gst_element_set_state (f->element, GST_STATE_NULL);
  gst_element_set_bus (f->element, NULL);
  gst_object_unref (f->bus);
  gst_object_unref (f->sink);
  gst_object_unref (f->src);
  gst_object_unref (f->element);
  gst_object_unref (f->in);
  gst_object_unref (f->out);
}

/* The next push sends @event, so that its result is that of the push. */
static void
store (GstPad *pad, GstEvent *event)
{
  fail_unless_equals_int (gst_pad_store_sticky_event (pad, event), GST_FLOW_OK);
  gst_event_unref (event);
}

static void
send_caps (Flush *f, const gchar *text)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);

  store (f->in, gst_event_new_caps (caps));
}

static void
send_segment (Flush *f)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  store (f->in, gst_event_new_segment (&segment));
}

static GstFlowReturn
push (Flush *f, gsize size, guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, 0, -1);
  GST_BUFFER_PTS (buffer) = number * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  return gst_pad_push (f->in, buffer);
}

/* Pushes again if the volume meets no flush: the element may take it without an
 * output. */
static GstFlowReturn
push_and_again (Flush *f, gsize size, guint number)
{
  const GstFlowReturn ret = push (f, size, number);

  return ret == GST_FLOW_OK ? push (f, size, number + 1) : ret;
}

static void
end_flush (Flush *f)
{
  gst_pad_push_event (f->in, gst_event_new_flush_stop (TRUE));
}

/* The flush meets an event before the first volume, before the element or after
 * it. */
static void
check_start (guint e, GstEventType at)
{
  Flush f;
  GstFlowReturn ret;

  flush_open (&f, elements[e].element);
  gst_pad_push_event (f.in, gst_event_new_stream_start ("flush"));
  f.at = at;
  send_caps (&f, elements[e].caps[0]);
  send_segment (&f);
  ret = push (&f, elements[e].sizes[0], 0);
  fail_unless (ret == GST_FLOW_FLUSHING, "%s, %s: %s", elements[e].element,
      gst_event_type_get_name (at), gst_flow_get_name (ret));
  end_flush (&f);
  send_segment (&f);
  for (guint i = 0; i < 4; i++)
    fail_unless_equals_int (push (&f, elements[e].sizes[0], i), GST_FLOW_OK);
  gst_pad_push_event (f.in, gst_event_new_eos ());
  fail_unless_equals_int (f.buffers, 4);
  flush_close (&f);
}

GST_START_TEST (test_start)
{
  check_start (__i__, GST_EVENT_CAPS);
  check_start (__i__, GST_EVENT_SEGMENT);
}

GST_END_TEST;

/* An output brings an event to a sink that begins to flush. After relinking it
 * repeats all events. */
static void
check_output (guint e, gboolean relink)
{
  Flush f;
  GstFlowReturn ret = GST_FLOW_OK;

  flush_open (&f, elements[e].element);
  gst_pad_push_event (f.in, gst_event_new_stream_start ("flush"));
  send_caps (&f, elements[e].caps[0]);
  send_segment (&f);
  fail_unless_equals_int (push (&f, elements[e].sizes[0], 0), GST_FLOW_OK);
  if (relink) {
    fail_unless (gst_pad_unlink (f.src, f.out));
    gst_object_unref (f.out);
    link_out (&f);
    f.at = GST_EVENT_SEGMENT;
  } else {
    store (f.src,
        gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "tag", NULL)));
    f.at = GST_EVENT_TAG;
  }
  for (guint i = 1; i < 20 && f.at != GST_EVENT_UNKNOWN; i += 2)
    ret = push_and_again (&f, elements[e].sizes[0], i);
  fail_unless (ret == GST_FLOW_FLUSHING, "%s: %s", elements[e].element,
      gst_flow_get_name (ret));
  flush_close (&f);
}

GST_START_TEST (test_output)
{
  check_output (__i__, FALSE);
  check_output (__i__, TRUE);
}

GST_END_TEST;

/* New caps that a flush refuses, and then the old ones again. */
GST_START_TEST (test_old_caps_again)
{
  Flush f;

  flush_open (&f, elements[__i__].element);
  gst_pad_push_event (f.in, gst_event_new_stream_start ("flush"));
  send_caps (&f, elements[__i__].caps[0]);
  send_segment (&f);
  fail_unless_equals_int (push (&f, elements[__i__].sizes[0], 0), GST_FLOW_OK);
  f.at = GST_EVENT_CAPS;
  send_caps (&f, elements[__i__].caps[1]);
  fail_unless_equals_int (push (&f, elements[__i__].sizes[1], 1),
      GST_FLOW_FLUSHING);
  end_flush (&f);
  send_caps (&f, elements[__i__].caps[0]);
  send_segment (&f);
  f.buffers = 0;
  for (guint i = 0; i < 4; i++)
    fail_unless_equals_int (push (&f, elements[__i__].sizes[0], i),
        GST_FLOW_OK);
  gst_pad_push_event (f.in, gst_event_new_eos ());
  fail_unless_equals_int (f.buffers, 4);
  flush_close (&f);
}

GST_END_TEST;

/* The flush meets an event before a sink. */
GST_START_TEST (test_sinks)
{
  static const gchar *const sinks[] = {
    "ndfilesink location=%s/volume.seq.nrrd",
    "openigtlinksink port=0 name=%.0ss",
  };
  static const GstEventType events[] = { GST_EVENT_CAPS, GST_EVENT_SEGMENT };

  for (guint i = 0; i < G_N_ELEMENTS (events); i++) {
    g_autofree gchar *text = g_strdup_printf (sinks[__i__], folder);
    Flush f = { .bus = gst_bus_new () };
    GstFlowReturn ret;

    f.element = gst_parse_launch (text, NULL);
    fail_unless (f.element != NULL);
    gst_element_set_bus (f.element, f.bus);
    f.sink = gst_element_get_static_pad (f.element, "sink");
    f.in = gst_pad_new ("in", GST_PAD_SRC);
    gst_pad_set_active (f.in, TRUE);
    fail_unless_equals_int (gst_pad_link (f.in, f.sink), GST_PAD_LINK_OK);
    gst_pad_add_probe (f.sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, begin_flush,
        &f, NULL);
    gst_element_set_state (f.element, GST_STATE_PLAYING);
    gst_pad_push_event (f.in, gst_event_new_stream_start ("flush"));
    f.at = events[i];
    send_caps (&f, elements[0].caps[0]);
    send_segment (&f);
    ret = push (&f, elements[0].sizes[0], 0);
    fail_unless (ret == GST_FLOW_FLUSHING, "%s, %s: %s", sinks[__i__],
        gst_event_type_get_name (events[i]), gst_flow_get_name (ret));
    fail_unless (gst_bus_pop_filtered (f.bus, GST_MESSAGE_ERROR) == NULL);
    gst_element_set_state (f.element, GST_STATE_NULL);
    gst_element_set_bus (f.element, NULL);
    gst_object_unref (f.bus);
    gst_object_unref (f.sink);
    gst_object_unref (f.element);
    gst_object_unref (f.in);
  }
}

GST_END_TEST;

/* Settings that change the caps of the output, which a flush refuses, and
 * settings that change them back. */
GST_START_TEST (test_settings)
{
  Flush f;

  g_setenv ("NDCONV_SETTINGS_WAIT", "60000", TRUE);
  flush_open (&f, "ndconv4dtemporal filter=box,size=1:1:1:2");
  gst_pad_push_event (f.in, gst_event_new_stream_start ("flush"));
  send_caps (&f, elements[0].caps[0]);
  send_segment (&f);
  fail_unless_equals_int (push (&f, 256, 0), GST_FLOW_OK);
  gst_util_set_object_arg (G_OBJECT (f.element), "output-type", "uint8");
  f.at = GST_EVENT_CAPS;
  fail_unless_equals_int (push_and_again (&f, 256, 1), GST_FLOW_FLUSHING);
  end_flush (&f);
  send_segment (&f);
  if (__i__ == 0)
    gst_util_set_object_arg (G_OBJECT (f.element), "output-type", "same");
  f.buffers = 0;
  for (guint i = 0; i < 4; i++)
    fail_unless_equals_int (push (&f, 256, i), GST_FLOW_OK);
  gst_pad_push_event (f.in, gst_event_new_eos ());
  fail_unless_equals_int (f.buffers, 4);
  flush_close (&f);
}

GST_END_TEST;

static Suite *
flushes_suite (void)
{
  Suite *suite = suite_create ("flushes");
  TCase *tc = tcase_create ("flushes");
  const gint n = G_N_ELEMENTS (elements);

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  tcase_add_loop_test (tc, test_start, 0, n);
  tcase_add_loop_test (tc, test_output, 0, n);
  tcase_add_loop_test (tc, test_old_caps_again, 0, n);
  tcase_add_loop_test (tc, test_sinks, 0, 2);
  tcase_add_loop_test (tc, test_settings, 0, 2);
  return suite;
}

GST_CHECK_MAIN (flushes);
