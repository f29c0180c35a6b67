/* A device that has memory for one algorithm only, or stops while one is made;
 * buffers that upstream wants back; and settings that stay when others are
 * refused. On a test double of a device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gmodule.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#define SIDE 9
#define SAMPLES (SIDE * SIDE * SIDE)

/* Longer than a slow machine computes a volume: the loss of a volume meanwhile
 * is no gap. */
#define DURATION (10 * GST_SECOND)

static void (*limit_algorithms) (gint most);
static void (*refuse_algorithms) (gint n);
static void (*lose_at_algorithm) (void);

static void
open_double (void)
{
  GModule *module = g_module_open (g_getenv ("NDCONV_CUDA_MODULE"), 0);
  const struct
  {
    const gchar *name;
    gpointer function;
  } symbols[] = {
    { "device_double_limit_algorithms", &limit_algorithms },
    { "device_double_refuse_algorithms", &refuse_algorithms },
    { "device_double_lose_at_algorithm", &lose_at_algorithm },
  };

  g_assert_nonnull (module);
  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++)
    g_assert_true (g_module_symbol (module, symbols[i].name,
        (gpointer *) symbols[i].function));
}

typedef struct
{
  GstHarness *h;
  GstElement *element;
  GstBus *bus;
  gint alive; /* input buffers; atomic */
} Stream;

static Stream *
start (const gchar *launch)
{
  Stream *s = g_new0 (Stream, 1);

  s->h = gst_harness_new_parse (launch);
  s->element = GST_BIN (s->h->element)->children->data;
  s->bus = gst_bus_new ();
  gst_element_set_bus (s->element, s->bus);
  gst_harness_set_src_caps_str (s->h,
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=1:9:9:9,framerate=1/10");
  return s;
}

static void
end (Stream *s)
{
  gst_harness_teardown (s->h);
  gst_bus_set_flushing (s->bus, TRUE);
  gst_object_unref (s->bus);
  fail_unless_equals_int (g_atomic_int_get (&s->alive), 0);
  g_free (s);
}

static gfloat
sample (guint number, guint i)
{
  return (number * 7 + i * 13) % 100;
}

static void
free_samples (gpointer data)
{
  Stream *s = *(Stream **) data;

  g_atomic_int_add (&s->alive, -1);
  g_free (data);
}

/* Rows are @row samples apart, and the pointer to the stream comes first. */
static GstBuffer *
make_volume (Stream *s, guint number, guint row)
{
  const gsize samples = SIDE * SIDE * row;
  guint8 *data = g_malloc0 (sizeof (gpointer) + samples * sizeof (gfloat));
  gfloat *values = (gfloat *) (data + sizeof (gpointer));
  GstBuffer *buffer = gst_buffer_new ();

  *(Stream **) data = s;
  for (guint i = 0; i < SAMPLES; i++)
    values[i / SIDE * row + i % SIDE] = sample (number, i);
  g_atomic_int_inc (&s->alive);
  gst_buffer_append_memory (buffer,
      gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, data,
          sizeof (gpointer) + samples * sizeof (gfloat), sizeof (gpointer),
          samples * sizeof (gfloat), data, free_samples));
  GST_BUFFER_PTS (buffer) = number * DURATION;
  GST_BUFFER_DURATION (buffer) = DURATION;
  return buffer;
}

static GstFlowReturn
push (Stream *s, guint number)
{
  return gst_harness_push (s->h, make_volume (s, number, SIDE));
}

static void
push_range (Stream *s, guint first, guint last)
{
  for (guint i = first; i <= last; i++)
    fail_unless_equals_int (push (s, i), GST_FLOW_OK);
}

static void
expect_backend (Stream *s, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;

  g_object_get (s->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"), name);
}

static guint
count_messages (Stream *s, GstMessageType type)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (s->bus, type))) {
    gst_message_unref (message);
    n++;
  }
  return n;
}

static void
expect_outputs (Stream *s, guint n)
{
  gst_harness_push_event (s->h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_received (s->h), n);
}

/* Whether the next output is volume @number. */
static gboolean
is_unchanged (Stream *s, guint number)
{
  g_autoptr (GstBuffer) output = gst_harness_pull (s->h);
  gfloat values[SAMPLES];

  fail_unless_equals_uint64 (GST_BUFFER_PTS (output), number * DURATION);
  gst_buffer_extract (output, 0, values, sizeof (values));
  for (guint i = 0; i < SAMPLES; i++)
    if (ABS (values[i] - sample (number, i)) > 1e-3)
      return FALSE;
  return TRUE;
}

/* The old algorithm is freed before the new one is made, on the device. */
GST_START_TEST (test_memory_for_one)
{
  Stream *s = start (__i__ == 0 ? "nddenoise sigma=10 latency=2"
                                : "nddenoise sigma=10 latency=2 backend=cuda");

  limit_algorithms (1);
  push_range (s, 0, 7);
  g_object_set (s->element, "latency", 1, NULL);
  push_range (s, 8, 15);
  expect_backend (s, "cuda");
  expect_outputs (s, 16);
  fail_unless_equals_int (count_messages (s, GST_MESSAGE_WARNING), 0);
  end (s);
}

GST_END_TEST;

/* There is no memory for the new one alone, either. */
GST_START_TEST (test_no_memory)
{
  Stream *s = start ("nddenoise sigma=10 latency=2");

  push_range (s, 0, 7);
  limit_algorithms (0);
  g_object_set (s->element, "latency", 1, NULL);
  push_range (s, 8, 15);
  expect_backend (s, "cpu");
  expect_outputs (s, 16);
  end (s);
}

GST_END_TEST;

/* The old settings go on, but for those that have been in use since. With
 * strength=0 volumes pass unchanged. */
GST_START_TEST (test_stream_settings_stay)
{
  Stream *s = start ("nddenoise sigma=10 latency=2 backend=cuda");
  guint latency;
  gdouble strength;

  push_range (s, 0, 7);
  g_object_set (s->element, "strength", 0.0, NULL);
  push_range (s, 8, 11);
  refuse_algorithms (2);
  g_object_set (s->element, "latency", 1, NULL);
  push_range (s, 12, 19);
  fail_unless_equals_int (count_messages (s, GST_MESSAGE_WARNING), 1);
  g_object_get (s->element, "latency", &latency, "strength", &strength, NULL);
  fail_unless_equals_int (latency, 2);
  fail_unless (strength == 0);
  expect_backend (s, "cuda");
  expect_outputs (s, 20);
  for (guint i = 0; i < 20; i++)
    fail_unless (is_unchanged (s, i) == (i >= 6), "output %u", i);
  end (s);
}

GST_END_TEST;

/* One error, and the stream ends. */
GST_START_TEST (test_lost_during_build)
{
  Stream *s = start ("nddenoise sigma=10 latency=2");
  GstFlowReturn ret = GST_FLOW_OK;

  push_range (s, 0, 7);
  lose_at_algorithm ();
  g_object_set (s->element, "latency", 1, NULL);
  for (guint i = 8; i < 12; i++)
    ret = push (s, i);
  fail_unless_equals_int (ret, GST_FLOW_ERROR);
  fail_unless_equals_int (count_messages (s, GST_MESSAGE_ERROR), 1);
  end (s);
}

GST_END_TEST;

/* Upstream gets all its buffers back, and the volume is held all the same. */
GST_START_TEST (test_drain_gives_back)
{
  static const gchar *const launches[] = {
    "nddenoise strength=0 sigma=10 latency=1 gap=hold backend=cpu",
    "nddenoise strength=0 sigma=10 latency=1 gap=hold backend=cuda",
  };
  Stream *s = start (launches[__i__]);
  g_autoptr (GstQuery) query = gst_query_new_drain ();
  g_autoptr (GstStructure) stats = NULL;
  guint64 held;

  push_range (s, 0, 5);
  gst_pad_peer_query (s->h->srcpad, query);
  fail_unless_equals_int (g_atomic_int_get (&s->alive), 0);
  push_range (s, 7, 9);
  g_object_get (s->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "volumes-held", &held));
  fail_unless_equals_uint64 (held, 1);
  expect_outputs (s, 9);
  for (guint i = 0; i < 10; i++)
    fail_unless (i == 6 || is_unchanged (s, i));
  end (s);
}

GST_END_TEST;

/* Outputs of a stream whose volume @missing does not come; without it, the
 * volume before it comes twice. */
static GPtrArray *
play_held (const gchar *toggles, guint missing, gboolean twice)
{
  Stream *s = start ("nddenoise sigma=10 latency=2");
  GPtrArray *outputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GstBuffer *output;

  for (guint i = 0; toggles[i]; i++) {
    gst_util_set_object_arg (G_OBJECT (s->element), "gap",
        toggles[i] == 'h' ? "hold" : "leave-out");
    if (i == missing && twice) {
      GstBuffer *again = make_volume (s, i - 1, SIDE);

      GST_BUFFER_PTS (again) = i * DURATION;
      fail_unless_equals_int (gst_harness_push (s->h, again), GST_FLOW_OK);
    } else if (i != missing) {
      fail_unless_equals_int (push (s, i), GST_FLOW_OK);
    }
  }
  gst_harness_push_event (s->h, gst_event_new_eos ());
  while ((output = gst_harness_try_pull (s->h))) {
    if (GST_BUFFER_PTS (output) == missing * DURATION)
      gst_buffer_unref (output);
    else
      g_ptr_array_add (outputs, output);
  }
  end (s);
  return outputs;
}

/* gap=hold repeats the volume before the gap, whatever was set before it. */
GST_START_TEST (test_hold_toggles)
{
  static const gchar *const toggles[] = { "hhhhhhhhhhhh", "hhhlllhhhhhh",
    "lhlhlhlhhhhh", "hlllllhhhhhh" };
  g_autoptr (GPtrArray) a = play_held (toggles[__i__], 8, FALSE);
  g_autoptr (GPtrArray) b = play_held (toggles[__i__], 8, TRUE);

  fail_unless_equals_int (a->len, 11);
  fail_unless_equals_int (b->len, 11);
  for (guint i = 0; i < a->len; i++) {
    gfloat x[SAMPLES], y[SAMPLES];

    gst_buffer_extract (a->pdata[i], 0, x, sizeof (x));
    gst_buffer_extract (b->pdata[i], 0, y, sizeof (y));
    fail_unless (memcmp (x, y, sizeof (x)) == 0, "output %u", i);
  }
}

GST_END_TEST;

/* The strides that are refused with a wrong filter do not stay. */
GST_START_TEST (test_strides_after_refusal)
{
  Stream *s =
      start ("ndconv3d backend=cpu filter=box,size=1:1:1 strides=48:432");

  for (guint i = 0; i < 4; i++)
    fail_unless_equals_int (gst_harness_push (s->h, make_volume (s, i, 12)),
        GST_FLOW_OK);
  gst_util_set_object_arg (G_OBJECT (s->element), "settings",
      "settings,strides=(string)\"64:576\",filter=(string)\"box,size=0\"");
  for (guint i = 4; i < 8; i++)
    fail_unless_equals_int (gst_harness_push (s->h, make_volume (s, i, 12)),
        GST_FLOW_OK);
  fail_unless_equals_int (count_messages (s, GST_MESSAGE_WARNING), 1);
  for (guint i = 0; i < 8; i++)
    fail_unless (is_unchanged (s, i), "output %u", i);
  end (s);
}

GST_END_TEST;

static void
tear_down (void)
{
  limit_algorithms (G_MAXINT);
  refuse_algorithms (0);
}

static Suite *
scarce_suite (void)
{
  Suite *suite = suite_create ("scarce");
  TCase *tc = tcase_create ("scarce");

  open_double ();
  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, NULL, tear_down);
  tcase_add_loop_test (tc, test_memory_for_one, 0, 2);
  tcase_add_test (tc, test_no_memory);
  tcase_add_test (tc, test_stream_settings_stay);
  tcase_add_loop_test (tc, test_drain_gives_back, 0, 2);
  tcase_add_loop_test (tc, test_hold_toggles, 0, 4);
  tcase_add_test (tc, test_strides_after_refusal);
  /* The last one, because the device stays lost. */
  tcase_add_test (tc, test_lost_during_build);
  return suite;
}

GST_CHECK_MAIN (scarce);
