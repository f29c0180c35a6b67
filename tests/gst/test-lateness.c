/* A live sink drops nothing, because each element reports how long its outputs
 * wait. A clock of the test jumps to the next time that somebody waits for, so
 * that the load of the machine does not matter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gsttestclock.h>

#define VOLUMES 400

/* A clock that runs ahead must not end the wait for later volumes, and a slow
 * machine must not leave out volumes. */
#define PATIENT " release-after=0 qos=false"

/* Elements whose outputs wait for longer than the 20 ms of the sink, also at
 * 400 volumes a second. */
static const gchar *const elements[] = {
  "ndconv4dtemporal filter=box,size=1:1:1:25" PATIENT,
  "ndconv4dtemporal filter=box,size=1:1:1:25" PATIENT
  " ! ndconv4dtemporal filter=box,size=1:1:1:25" PATIENT,
  "ndconv4dtemporal filter=box,size=1:1:1:9" PATIENT
  " ! nddenoise sigma=4 latency=5" PATIENT,
};
static const guint rates[] = { 25, 50, 400 };

/* A camera that is slower than its caps say. */
static GstPadProbeReturn
slow_down (GstPad *pad, GstPadProbeInfo *info, gpointer rate)
{
  GstBuffer *buffer =
      gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

  GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (GST_BUFFER_OFFSET (buffer),
      GST_SECOND, GPOINTER_TO_UINT (rate));
  GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

/* Each wait for the clock ends at once, and sets the clock to the time that was
 * waited for. There is one streaming thread: the clock would not wait for the
 * work of a second one. */
static void
play (GstElement *pipeline)
{
  g_autoptr (GstClock) clock = gst_test_clock_new ();
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessageType type = GST_MESSAGE_UNKNOWN;

  gst_pipeline_use_clock (GST_PIPELINE (pipeline), clock);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (type != GST_MESSAGE_EOS) {
    g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_LATENCY);
    GstClockID id = NULL;

    type = message ? GST_MESSAGE_TYPE (message) : GST_MESSAGE_UNKNOWN;
    fail_if (type == GST_MESSAGE_ERROR);
    if (type == GST_MESSAGE_LATENCY) {
      gst_bin_recalculate_latency (GST_BIN (pipeline));
    } else if (gst_test_clock_peek_next_pending_id (GST_TEST_CLOCK (clock),
                   &id)) {
      gst_clock_id_unref (id);
      gst_test_clock_crank (GST_TEST_CLOCK (clock));
    } else {
      g_usleep (20);
    }
  }
}

static guint64
stat_of (GstElement *element, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 n;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &n));
  return n;
}

static void
check (guint e, guint rate, gboolean slow)
{
  g_autofree gchar *launch = g_strdup_printf (
      "ndtestsrc name=s is-live=true volume-size=8:8:4 framerate=%u/1 "
      "num-buffers=%u ! identity sync=%s ! %s ! "
      "fakesink name=k sync=true qos=true max-lateness=20000000",
      slow ? 2 * rate : rate, VOLUMES, slow ? "true" : "false", elements[e]);
  GstElement *pipeline = gst_parse_launch (launch, NULL);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "k");
  g_autoptr (GstElement) src = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (src, "src");
  guint64 rendered;

  if (slow)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, slow_down,
        GUINT_TO_POINTER (rate), NULL);
  play (pipeline);
  rendered = stat_of (sink, "rendered");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  /* The clock also runs while an element computes, so that a slow machine is
   * late until the element has told what it needs. An element that told too
   * little would be late with each output. */
  fail_unless (rendered >= VOLUMES * 9 / 10, "%s at %u: %" G_GUINT64_FORMAT,
      elements[e], rate, rendered);
}

/* Slow tools run each element at one rate. */
static void
check_rates (guint e, gboolean slow)
{
  for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
    if (i == e || !g_getenv ("ND_JOBS_DIVISOR"))
      check (e, rates[i], slow);
  }
}

GST_START_TEST (test_rates)
{
  check_rates (__i__, FALSE);
}

GST_END_TEST;

GST_START_TEST (test_slow_camera)
{
  check_rates (__i__, TRUE);
}

GST_END_TEST;

static Suite *
lateness_suite (void)
{
  Suite *suite = suite_create ("lateness");
  TCase *tc = tcase_create ("lateness");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_rates, 0, G_N_ELEMENTS (elements));
  tcase_add_loop_test (tc, test_slow_camera, 0, G_N_ELEMENTS (elements));
  return suite;
}

GST_CHECK_MAIN (lateness);
