/* Each volume that enters a filter gives an output that downstream takes, or a
 * counter of `stats` says why not: at any moment of a flush, a drain, a change
 * of settings, or without a peer; on the CPU and on the device double.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#define TAPS 5

static void
unlink_filter (Stream *s)
{
  g_autoptr (GstPad) src = gst_element_get_static_pad (s->element, "src");

  fail_unless (gst_pad_unlink (src, s->h->sinkpad));
}

static void
link_filter (Stream *s)
{
  g_autoptr (GstPad) src = gst_element_get_static_pad (s->element, "src");

  fail_unless_equals_int (gst_pad_link (src, s->h->sinkpad), GST_PAD_LINK_OK);
}

/* Waits until outputs on a device have left: serialized with them. */
static void
finish (Stream *s)
{
  g_autoptr (GstQuery) query = gst_query_new_drain ();
  g_autoptr (GstPad) sink = gst_element_get_static_pad (s->element, "sink");

  gst_pad_query (sink, query);
}

/* Each of @n volumes is accounted for. */
static void
expect_accounts (Stream *s, guint n)
{
  guint64 accounts;

  finish (s);
  accounts = gst_harness_buffers_received (s->h)
      + stream_stat (s, "volumes-lost") + stream_stat (s, "volumes-flushed")
      + stream_stat (s, "volumes-late") + stream_stat (s, "volumes-skipped")
      + stream_stat (s, "volumes-outside-segment");
  fail_unless_equals_uint64 (stream_stat (s, "volumes-in"), n);
  fail_unless_equals_uint64 (accounts, n);
}

/* The drain finds nobody. */
GST_START_TEST (test_unlinked_drain)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 5);
  finish (s);
  unlink_filter (s);
  gst_harness_push_event (s->h, gst_event_new_eos ());
  fail_unless_equals_uint64 (stream_stat (s, "volumes-lost"), 2);
  expect_accounts (s, 6);
  stream_free (s);
}

GST_END_TEST;

/* The volume after a gap finds nobody for the outputs before it, but is not
 * lost itself. */
GST_START_TEST (test_unlinked_gap)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstFlowReturn ret;

  stream_push_range (s, 0, 5);
  finish (s);
  unlink_filter (s);
  ret = stream_push (s, 100);
  fail_unless (ret == GST_FLOW_OK || ret == GST_FLOW_NOT_LINKED);
  finish (s);
  link_filter (s);
  stream_push_range (s, 101, 103);
  stream_eos (s);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-lost"), 2);
  expect_accounts (s, 10);
  stream_expect (s, 0, 6, 0, 4);
  stream_expect_all (s, 100, 4);
  stream_free (s);
}

GST_END_TEST;

/* A filter with another window ends the stretch, and the next volume begins
 * another one. */
GST_START_TEST (test_unlinked_change)
{
  Model model = model_temporal (3, "nearest"),
        longer = model_temporal (9, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstFlowReturn ret;

  stream_push_range (s, 0, 5);
  finish (s);
  unlink_filter (s);
  stream_set_model (s, &longer);
  ret = stream_push (s, 6);
  fail_unless (ret == GST_FLOW_OK || ret == GST_FLOW_NOT_LINKED);
  finish (s);
  link_filter (s);
  stream_push_range (s, 7, 9);
  stream_eos (s);
  expect_accounts (s, 10);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_flush)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 5);
  finish (s);
  stream_flush (s);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-flushed"), 2);
  expect_accounts (s, 6);
  stream_push_range (s, 6, 9);
  stream_eos (s);
  expect_accounts (s, 10);
  stream_free (s);
}

GST_END_TEST;

static GstPadProbeReturn
refuse (GstPad *pad, GstPadProbeInfo *info, gpointer ret)
{
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GPOINTER_TO_INT (ret);
  return GST_PAD_PROBE_HANDLED;
}

/* Outputs that downstream does not take any more are lost, also those that are
 * under way, and those of the drain. */
GST_START_TEST (test_end_of_downstream)
{
  static const GstFlowReturn ends[] = { GST_FLOW_EOS, GST_FLOW_ERROR };
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);
  guint n = 6;

  s->not_live = TRUE;
  stream_start (s);
  stream_push_range (s, 0, n - 1);
  finish (s);
  gst_pad_add_probe (s->h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, refuse,
      GINT_TO_POINTER (ends[__i__]), NULL);
  while (stream_push (s, n++) == GST_FLOW_OK)
    ;
  gst_harness_push_event (s->h, gst_event_new_eos ());
  fail_unless_equals_uint64 (stream_stat (s, "volumes-flushed"), 0);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-lost"),
      stream_stat (s, "volumes-in") - 4);
  stream_free (s);
}

GST_END_TEST;

/* Downstream takes memory of the device, which is pushed before its work is
 * done. */
GST_START_TEST (test_unlinked_device_memory)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s;

  if (g_strcmp0 (g_getenv ("NDCONV_CUDA_MODULE"), "none") == 0)
    return;
  s = stream_new ("ndconv4dtemporal", &model, NULL);
  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_sink_caps_str (s->h, "other/tensors(memory:CUDAMemory)");
  gst_harness_set_src_caps (s->h, stream_caps (s));
  stream_push_range (s, 0, 5);
  unlink_filter (s);
  for (gint i = 6; i < 10; i++)
    fail_unless_equals_int (stream_push (s, i), GST_FLOW_NOT_LINKED);
  link_filter (s);
  stream_push_range (s, 10, 15);
  stream_eos (s);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-lost"), 4);
  expect_accounts (s, 16);
  stream_free (s);
}

GST_END_TEST;

/* Anything in any order. A push that says NOT_LINKED has taken its volume. */
GST_START_TEST (test_random)
{
  static const guint windows[] = { 1, 2, 5, 9 };
  g_autoptr (GRand) r = test_rand ();
  Model model = model_temporal (TAPS, "mirror");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  gint number = 0;
  guint in = 0;
  gboolean linked = TRUE;

  for (guint i = 0; i < test_count (4000) + 50; i++) {
    switch (g_rand_int_range (r, 0, 14)) {
      case 0:
        finish (s);
        if (linked)
          unlink_filter (s);
        else
          link_filter (s);
        linked = !linked;
        break;
      case 1:
        number += 50; /* a gap */
        break;
      case 2:
      case 3:
        /* Both must reach the sink. */
        if (!linked)
          break;
        if (g_rand_boolean (r))
          stream_eos (s);
        stream_flush (s);
        break;
      case 4:
        model = model_temporal (windows[g_rand_int_range (r, 0, 4)], "mirror");
        stream_set_model (s, &model);
        break;
      case 5:
        if (linked)
          stream_segment (s, 1, g_rand_int_range (r, 0, 3) * s->duration,
              GST_CLOCK_TIME_NONE);
        break;
      default: {
        const GstFlowReturn ret = stream_push (s, number++);

        fail_unless (ret == GST_FLOW_OK || ret == GST_FLOW_NOT_LINKED, "%s",
            gst_flow_get_name (ret));
        in++;
        break;
      }
    }
  }
  if (!linked)
    link_filter (s);
  stream_eos (s);
  expect_accounts (s, in);
  stream_free (s);
}

GST_END_TEST;

static Suite *
nothing_lost_suite (void)
{
  Suite *suite = suite_create ("nothing-lost");
  TCase *tc = tcase_create ("nothing-lost");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_unlinked_drain);
  tcase_add_test (tc, test_unlinked_gap);
  tcase_add_test (tc, test_unlinked_change);
  tcase_add_test (tc, test_flush);
  tcase_add_loop_test (tc, test_end_of_downstream, 0, 2);
  tcase_add_test (tc, test_unlinked_device_memory);
  tcase_add_test (tc, test_random);
  return suite;
}

GST_CHECK_MAIN (nothing_lost);
