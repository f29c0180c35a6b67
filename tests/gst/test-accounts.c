/* Each volume that enters a filter or an algorithm leaves it, or a counter of
 * `stats` says why not, whatever comes between: new caps, other memory, new
 * settings, flushes, ends, segments, gaps, QoS, and no peer. No element fails,
 * and no output has another size than its caps say.
 *
 * ND_SEED sets the seed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/folder.h"

#include <gst/check/gstcheck.h>
#include <gst/video/video.h>
#include <stdlib.h>

#define INTERVAL (40 * GST_MSECOND)
#define STEPS 3000

#define VOLUMES(type, dimensions)                                            \
  "other/tensors,format=static,num_tensors=1,types=" type ",framerate=25/1," \
  "dimensions=(string)" dimensions
#define FRAMES(width) \
  "video/x-raw,format=GRAY8,framerate=25/1,height=6,width=" width

/* Text of properties: some suit, some are refused by the element. */
static const struct
{
  const gchar *element;
  struct
  {
    const gchar *caps;
    gsize size;
  } inputs[3];
  const gchar *settings[6];
} cases[] = {
  { "ndconv4dtemporal filter=box,size=1:1:1:3",
      { { VOLUMES ("uint8", "1:4:4:2"), 32 },
          { VOLUMES ("uint8", "1:5:4:2"), 40 },
          { VOLUMES ("float32", "1:4:4:2"), 128 } },
      { "filter=box,size=1:1:1:5", "filter=box,size=3", "filter=nonsense",
          "output-type=float32", "output-type=same", "method=tensor" } },
  { "ndconv3d filter=box,size=1:1:5",
      { { FRAMES ("4"), 24 }, { FRAMES ("8"), 48 },
          { FRAMES ("4") ",interlace-mode=interleaved", 24 } },
      { "filter=box,size=1:1:2", "filter=box,size=3:3:1", "gap=hold",
          "gap=restart", "gain=2.0", "time-border=mirror" } },
  { "ndconv2d filter=box,size=3",
      { { FRAMES ("4"), 24 }, { FRAMES ("8"), 48 },
          { VOLUMES ("uint16", "1:4:4:2"), 64 } },
      { "filter=box,size=5", "filter=sobel,direction=x;sobel,direction=y",
          "response=all", "response=magnitude", "output-type=int16",
          "output-type=same" } },
  { "nddeconvolve psf=box,size=3",
      { { FRAMES ("4"), 24 }, { FRAMES ("12"), 72 },
          { VOLUMES ("float32", "1:4:4:2"), 128 } },
      { "psf=box,size=5", "iterations=3", "tv=0.01", "border=wrap",
          "psf=laplace", "tolerance=0.1" } },
  { "nddenoise sigma=4",
      { { FRAMES ("4"), 24 }, { FRAMES ("12"), 72 },
          { VOLUMES ("float32", "1:4:4:2"), 128 } },
      { "latency=0", "latency=5", "method=adaptive", "method=transform",
          "border=wrap", "strength=0.5" } },
  { "ndregister",
      { { FRAMES ("4"), 24 }, { FRAMES ("12"), 72 },
          { VOLUMES ("float32", "1:4:4:2"), 128 } },
      { "reference=running", "method=intensity", "reference=last",
          "border=wrap", "output=none", "levels=1" } },
  { "ndstructure sigma=1.0",
      { { VOLUMES ("float32", "10:4:4:2"), 1280 },
          { VOLUMES ("float32", "10:5:4:2"), 1600 },
          { VOLUMES ("float32", "6:4:4:1"), 384 } },
      { "output=tensor", "output=velocity;certainty", "output=eigenvalues",
          "output=nonsense", "sigma=2.5", "model=affine" } },
  { "ndstack slices=2",
      { { FRAMES ("4"), 24 }, { FRAMES ("8"), 48 },
          { VOLUMES ("uint16", "1:4:4:1"), 32 } },
      { "slices=1", "slices=2", "slices=3", "slices=4", "slices=5",
          "slices=6" } },
  { "ndview",
      { { VOLUMES ("uint8", "1:4:4:2"), 32 },
          { VOLUMES ("uint8", "3:5:4:2"), 120 },
          { VOLUMES ("float32", "1:4:4:2"), 128 } },
      { "mode=slice", "mode=orthogonal", "mode=projection", "axis=x", "axis=z",
          "position=0.5" } },
};

/* An element between pads of the test. */
typedef struct
{
  GstElement *element;
  GstPad *in, *out; /* linked to it */
  gsize size;       /* of an input */
  gint number;      /* of the next input */
  guint inputs, outputs, wrong;
  gboolean linked, device;
  gint pause;  /* of the sink: microseconds at most */
  GMutex lock; /* held while pushing, if there are several threads */
  gint ended;
  GstFlowReturn failed; /* of a push on another thread than that of the test */
} Stream;

static gsize
size_of_caps (GstCaps *caps)
{
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  const gchar *type = gst_structure_get_string (structure, "types");
  g_auto (GStrv) dimensions = NULL;
  GstVideoInfo info;
  gsize size = 1;

  if (!type)
    return gst_video_info_from_caps (&info, caps) ? GST_VIDEO_INFO_SIZE (&info)
                                                  : 0;
  dimensions =
      g_strsplit (gst_structure_get_string (structure, "dimensions"), ":", -1);
  for (guint i = 0; dimensions[i]; i++)
    size *= strtoul (dimensions[i], NULL, 10);
  return size * (strtoul (strpbrk (type, "0123456789"), NULL, 10) / 8);
}

static GstFlowReturn
out_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Stream *s = g_object_get_data (G_OBJECT (pad), "stream");
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);

  s->wrong += gst_buffer_get_size (buffer) != size_of_caps (caps);
  s->outputs++;
  gst_buffer_unref (buffer);
  if (s->pause > 0)
    g_usleep (g_random_int_range (0, s->pause));
  return GST_FLOW_OK;
}

/* Changes between memory of the host and of the device. */
static gboolean
out_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  Stream *s = g_object_get_data (G_OBJECT (pad), "stream");
  g_autoptr (GstCaps) caps = NULL, both = NULL;
  GstCaps *filter;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return gst_pad_query_default (pad, parent, query);
  caps = gst_caps_from_string (s->device
          ? "other/tensors(memory:CUDAMemory); video/x-raw(memory:CUDAMemory); "
            "other/tensors; video/x-raw"
          : "other/tensors; video/x-raw");
  gst_query_parse_caps (query, &filter);
  both = filter
      ? gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST)
      : gst_caps_ref (caps);
  gst_query_set_caps_result (query, both);
  return TRUE;
}

/* Outputs of a device that are still computed belong to the old sink, or to
 * none: GStreamer does not allow that a pad is linked while a thread pushes. */
static void
drain (Stream *s)
{
  g_autoptr (GstQuery) query = gst_query_new_drain ();

  gst_pad_peer_query (s->in, query);
}

static void
link_out (Stream *s)
{
  g_autoptr (GstPad) src = gst_element_get_static_pad (s->element, "src");

  drain (s);
  s->out = gst_pad_new ("out", GST_PAD_SINK);
  g_object_set_data (G_OBJECT (s->out), "stream", s);
  gst_pad_set_chain_function (s->out, out_chain);
  gst_pad_set_query_function (s->out, out_query);
  gst_pad_set_active (s->out, TRUE);
  fail_unless_equals_int (gst_pad_link (src, s->out), GST_PAD_LINK_OK);
  s->linked = TRUE;
}

static void
unlink_out (Stream *s)
{
  g_autoptr (GstPad) src = gst_element_get_static_pad (s->element, "src");

  drain (s);
  gst_pad_unlink (src, s->out);
  gst_object_unref (s->out);
  s->linked = FALSE;
}

static void
send_caps (Stream *s, guint c, guint i)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (cases[c].inputs[i].caps);

  s->size = cases[c].inputs[i].size;
  gst_pad_push_event (s->in, gst_event_new_caps (caps));
}

static void
send_segment (Stream *s, GstClockTime start)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.position = segment.time = start;
  gst_pad_push_event (s->in, gst_event_new_segment (&segment));
}

static void
flush (Stream *s)
{
  gst_pad_push_event (s->in, gst_event_new_flush_start ());
  gst_pad_push_event (s->in, gst_event_new_flush_stop (TRUE));
  send_segment (s, 0);
}

static GstFlowReturn
push (Stream *s)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, s->size, NULL);

  gst_buffer_memset (buffer, 0, 0, -1);
  GST_BUFFER_PTS (buffer) = s->number * INTERVAL;
  GST_BUFFER_DURATION (buffer) = INTERVAL;
  s->number++;
  s->inputs++;
  return gst_pad_push (s->in, buffer);
}

static void
push_well (Stream *s)
{
  const GstFlowReturn ret = push (s);

  fail_unless (ret == GST_FLOW_OK || (ret == GST_FLOW_NOT_LINKED && !s->linked),
      "%s", gst_flow_get_name (ret));
}

/* Downstream is late up to the volume after the next one. */
static void
be_late (Stream *s)
{
  if (s->linked)
    gst_pad_push_event (s->out,
        gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1, 2 * INTERVAL,
            s->number * INTERVAL));
}

static void
set_random (Stream *s, guint c, GRand *r)
{
  const gchar *text =
      cases[c]
          .settings[g_rand_int_range (r, 0, G_N_ELEMENTS (cases[0].settings))];
  g_auto (GStrv) parts = g_strsplit (text, "=", 2);

  gst_util_set_object_arg (G_OBJECT (s->element), parts[0], parts[1]);
}

/* NULL for ndstack and ndview, which do not count. */
static GstStructure *
get_stats (Stream *s)
{
  GstStructure *stats = NULL;

  if (g_object_class_find_property (G_OBJECT_GET_CLASS (s->element), "stats"))
    g_object_get (s->element, "stats", &stats, NULL);
  return stats;
}

static guint64
get_count (const GstStructure *stats, const gchar *name)
{
  guint64 n;

  fail_unless (gst_structure_get_uint64 (stats, name, &n));
  return n;
}

static void
check_accounts (Stream *s)
{
  g_autoptr (GstStructure) stats = get_stats (s);

  fail_unless_equals_int (s->wrong, 0);
  if (!stats)
    return;
  fail_unless_equals_uint64 (get_count (stats, "volumes-in"),
      s->outputs + get_count (stats, "volumes-lost")
          + get_count (stats, "volumes-flushed")
          + get_count (stats, "volumes-late")
          + get_count (stats, "volumes-skipped")
          + get_count (stats, "volumes-outside-segment"));
}

/* All volumes have entered the element. */
static void
check_inputs (Stream *s)
{
  g_autoptr (GstStructure) stats = get_stats (s);

  if (stats)
    fail_unless_equals_uint64 (get_count (stats, "volumes-in"), s->inputs);
}

static void
step (Stream *s, guint c, GRand *r)
{
  switch (g_rand_int_range (r, 0, 24)) {
    case 0:
      send_caps (s, c, g_rand_int_range (r, 0, 3));
      break;
    case 1:
      s->device = !s->device;
      if (s->linked)
        gst_pad_push_event (s->out, gst_event_new_reconfigure ());
      break;
    case 2:
    case 3:
      set_random (s, c, r);
      break;
    case 4:
      gst_pad_push_event (s->in, gst_event_new_eos ());
      flush (s);
      break;
    case 5:
      flush (s);
      break;
    case 6:
      send_segment (s, g_rand_int_range (r, 0, s->number + 1) * INTERVAL);
      break;
    case 7:
      gst_pad_push_event (s->in,
          gst_event_new_gap (s->number * INTERVAL,
              g_rand_int_range (r, 0, 9) * INTERVAL));
      break;
    case 8:
      s->number += g_rand_int_range (r, 0, 9);
      break;
    case 9:
      be_late (s);
      break;
    case 10:
      if (s->linked)
        unlink_out (s);
      else
        link_out (s);
      break;
    case 11:
      gst_pad_push_event (s->in, gst_event_new_stream_start ("again"));
      send_caps (s, c, g_rand_int_range (r, 0, 3));
      send_segment (s, 0);
      break;
    default:
      push_well (s);
      break;
  }
}

static void
expect_no_error (GstBus *bus)
{
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;

  if (!message)
    return;
  gst_message_parse_error (message, &error, NULL);
  ck_abort_msg ("%s", error->message);
}

/* @pause: of the sink, as in Stream. */
static GRand *
open_stream (Stream *s, guint c, gint pause)
{
  const gchar *text = g_getenv ("ND_SEED");
  const guint32 seed = text ? strtoul (text, NULL, 10) : g_random_int ();
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstPad) sink = NULL;

  g_print ("ND_SEED=%u %s\n", seed, cases[c].element);
  *s = (Stream){ .element = gst_parse_launch (cases[c].element, NULL),
    .pause = pause };
  g_mutex_init (&s->lock);
  sink = gst_element_get_static_pad (s->element, "sink");
  s->in = gst_pad_new ("in", GST_PAD_SRC);
  gst_pad_set_active (s->in, TRUE);
  gst_pad_link (s->in, sink);
  gst_element_set_bus (s->element, bus);
  link_out (s);
  gst_element_set_state (s->element, GST_STATE_PLAYING);
  gst_pad_push_event (s->in, gst_event_new_stream_start ("accounts"));
  send_caps (s, c, 0);
  send_segment (s, 0);
  push_well (s);
  return g_rand_new_with_seed (seed);
}

static void
close_stream (Stream *s)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (s->element);

  expect_no_error (bus);
  gst_element_set_state (s->element, GST_STATE_NULL);
  gst_element_set_bus (s->element, NULL);
  gst_object_unref (s->out);
  gst_object_unref (s->in);
  gst_object_unref (s->element);
  g_mutex_clear (&s->lock);
}

GST_START_TEST (test_accounts)
{
  Stream s;
  g_autoptr (GRand) r = open_stream (&s, __i__, 0);
  g_autoptr (GstBus) bus = gst_element_get_bus (s.element);

  for (guint i = 0; i < STEPS; i++) {
    step (&s, __i__, r);
    expect_no_error (bus);
  }
  if (!s.linked)
    link_out (&s);
  gst_pad_push_event (s.in, gst_event_new_eos ());
  check_inputs (&s);
  check_accounts (&s);
  close_stream (&s);
}

GST_END_TEST;

/* A check that fails would end the thread of the test, not this one. */
static gpointer
push_always (gpointer data)
{
  Stream *s = data;

  while (!g_atomic_int_get (&s->ended)) {
    GstFlowReturn ret;

    g_mutex_lock (&s->lock);
    ret = push (s);
    if (ret != GST_FLOW_OK && ret != GST_FLOW_FLUSHING)
      s->failed = ret;
    g_mutex_unlock (&s->lock);
    /* The thread that flushes gets the lock. */
    if (ret == GST_FLOW_FLUSHING)
      g_usleep (200);
  }
  return NULL;
}

/* A flush at any moment of a push, an end between two of them. */
GST_START_TEST (test_flushes)
{
  Stream s;
  g_autoptr (GRand) r = open_stream (&s, __i__, 300);
  g_autoptr (GstBus) bus = gst_element_get_bus (s.element);
  GThread *thread;

  thread = g_thread_new ("push", push_always, &s);
  for (guint i = 0; i < STEPS / 10; i++) {
    g_usleep (g_rand_int_range (r, 0, 1000));
    if (g_rand_int_range (r, 0, 4) == 0)
      set_random (&s, __i__, r);
    if (g_rand_int_range (r, 0, 4)) {
      gst_pad_push_event (s.in, gst_event_new_flush_start ());
      g_mutex_lock (&s.lock);
      gst_pad_push_event (s.in, gst_event_new_flush_stop (TRUE));
    } else {
      g_mutex_lock (&s.lock);
      gst_pad_push_event (s.in, gst_event_new_eos ());
      flush (&s);
    }
    if (g_rand_int_range (r, 0, 4) == 0)
      send_caps (&s, __i__, g_rand_int_range (r, 0, 3));
    send_segment (&s, 0);
    g_mutex_unlock (&s.lock);
    expect_no_error (bus);
  }
  g_atomic_int_set (&s.ended, TRUE);
  g_thread_join (thread);
  fail_unless (s.failed == GST_FLOW_OK, "%s", gst_flow_get_name (s.failed));
  gst_pad_push_event (s.in, gst_event_new_eos ());
  check_accounts (&s);
  close_stream (&s);
}

GST_END_TEST;

/* The source pad is not linked, and several spellings of the output caps are
 * possible: the caps are those of the output, not those of the input. */
GST_START_TEST (test_caps_without_peer)
{
  static const struct
  {
    const gchar *element, *caps;
    gsize size;
    const gchar *dimensions;
  } streams[] = {
    { "ndconv2d filter=gabor,size=5,center-frequency=1.0", FRAMES ("4"), 24,
        "2:4:6" },
    { "ndconv2d filter=box,size=3 output-type=float32", FRAMES ("4"), 24,
        "1:4:6" },
    { "ndstructure output=tensor", VOLUMES ("float32", "6:4:4:1"), 384,
        "6:4:4" },
    { "ndstack slices=1", FRAMES ("4"), 24, "1:4:6" },
  };
  GstElement *element = gst_parse_launch (streams[__i__].element, NULL);
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) src = gst_element_get_static_pad (element, "src");
  g_autoptr (GstCaps) caps = gst_caps_from_string (streams[__i__].caps);
  g_autoptr (GstCaps) out = NULL;
  Stream s = { .element = element, .size = streams[__i__].size };
  const gchar *dimensions;

  s.in = gst_pad_new ("in", GST_PAD_SRC);
  gst_pad_set_active (s.in, TRUE);
  gst_pad_link (s.in, sink);
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_pad_push_event (s.in, gst_event_new_stream_start ("unlinked"));
  gst_pad_push_event (s.in, gst_event_new_caps (caps));
  send_segment (&s, 0);
  for (guint i = 0; i < 20; i++)
    push_well (&s);
  out = gst_pad_get_current_caps (src);
  fail_unless (out != NULL);
  dimensions =
      gst_structure_get_string (gst_caps_get_structure (out, 0), "dimensions");
  fail_unless (dimensions != NULL
          && g_str_has_prefix (dimensions, streams[__i__].dimensions),
      "%s", dimensions);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (s.in);
  gst_object_unref (element);
}

GST_END_TEST;

/* A filter of 3 x 3 coefficients of @type. */
static void
write_npy (const gchar *path, const gchar *type, gsize bytes)
{
  g_autofree gchar *dict = g_strdup_printf (
      "{'descr': '%s', 'fortran_order': False, 'shape': (3, 3), }", type);
  guint8 file[128 + 9 * 8] = "\x93NUMPY\x01\x00\x76\x00";

  memset (file + 10, ' ', 118);
  memcpy (file + 10, dict, strlen (dict));
  file[127] = '\n';
  put_file (path, file, 128 + 9 * bytes);
}

static gboolean
replace_file (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS)
    write_npy (g_object_get_data (G_OBJECT (pad), "file"), "<c8", 8);
  return gst_pad_query_default (pad, parent, query);
}

/* The file of a filter changes after the caps are chosen: its complex outputs
 * do not fit in the buffers. */
GST_START_TEST (test_file_changes)
{
  g_autofree gchar *path = file_path ("filter.npy");
  g_autofree gchar *launch = g_strdup_printf (
      "ndconv2d output-type=float32 filter=\"file,location=%s\"", path);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAMES ("64"));
  g_autoptr (GError) error = NULL;
  Stream s = { .size = 64 * 6 };
  g_autoptr (GstPad) sink = NULL;

  write_npy (path, "<f4", 4);
  s.element = gst_parse_launch (launch, NULL);
  sink = gst_element_get_static_pad (s.element, "sink");
  s.in = gst_pad_new ("in", GST_PAD_SRC);
  gst_pad_set_active (s.in, TRUE);
  gst_pad_link (s.in, sink);
  gst_element_set_bus (s.element, bus);
  link_out (&s);
  g_object_set_data (G_OBJECT (s.out), "file", path);
  gst_pad_set_query_function (s.out, replace_file);
  gst_element_set_state (s.element, GST_STATE_PLAYING);
  gst_pad_push_event (s.in, gst_event_new_stream_start ("file"));
  gst_pad_push_event (s.in, gst_event_new_caps (caps));
  send_segment (&s, 0);
  fail_if (push (&s) == GST_FLOW_OK);
  fail_unless_equals_int (s.outputs, 0);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "file has changed") != NULL, "%s",
      error->message);
  gst_element_set_state (s.element, GST_STATE_NULL);
  gst_element_set_bus (s.element, NULL);
  gst_object_unref (s.out);
  gst_object_unref (s.in);
  gst_object_unref (s.element);
}

GST_END_TEST;

static Suite *
accounts_suite (void)
{
  Suite *suite = suite_create ("accounts");
  TCase *tc = tcase_create ("accounts");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  tcase_add_loop_test (tc, test_accounts, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tc, test_flushes, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tc, test_caps_without_peer, 0, 4);
  tcase_add_test (tc, test_file_changes);
  return suite;
}

GST_CHECK_MAIN (accounts);
