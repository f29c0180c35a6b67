/* A day of a live stream, by a clock that runs as fast as the elements: as many
 * outputs as volumes, none late, one stretch, and no more memory in the end.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gsttestclock.h>
#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

#define RATE 5
/* Rings, pools and the allocator's caches exist after so many volumes. */
#define SETTLED 2000
#define SLACK_KIB 2048

typedef struct
{
  guint64 n, expected;
  guint64 wrong; /* outputs without the timestamp of their place */
  gsize settled_kib;
  gint done;
} Watch;

static gsize
resident_kib (void)
{
  g_autofree gchar *text = NULL;
  const gchar *line;

  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL)
      || !(line = strstr (text, "VmRSS:")))
    return 0;
  return g_ascii_strtoull (line + strlen ("VmRSS:")
          + strspn (line + strlen ("VmRSS:"), " \t"),
      NULL, 10);
}

static GstPadProbeReturn
on_output (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Watch *watch = data;
  const GstClockTime pts = GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info));

  watch->wrong += pts != gst_util_uint64_scale (watch->n, GST_SECOND, RATE);
  watch->n++;
  if (watch->n == SETTLED)
    watch->settled_kib = resident_kib ();
  return GST_PAD_PROBE_OK;
}

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Watch *watch = data;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    g_error ("the pipeline failed");
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    g_atomic_int_set (&watch->done, TRUE);
  return GST_BUS_PASS;
}

/* Each wait for the clock ends at once and sets the clock to the time that was
 * waited for. */
static void
run_clock (GstTestClock *clock, Watch *watch)
{
  while (!g_atomic_int_get (&watch->done)) {
    GstClockID id = NULL;

    if (gst_test_clock_peek_next_pending_id (clock, &id)) {
      gst_clock_id_unref (id);
      gst_test_clock_crank (clock);
    } else {
      g_thread_yield ();
    }
  }
}

int
main (int argc, char **argv)
{
  const gchar *text = g_getenv ("ND_SOAK_HOURS");
  const gdouble hours = text ? g_ascii_strtod (text, NULL) : 24;
  Watch watch = { .expected = hours * 3600 * RATE };
  g_autofree gchar *launch = NULL;
  g_autoptr (GstElement) pipeline = NULL, filter = NULL;
  g_autoptr (GstClock) clock = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstStructure) stats = NULL;
  g_autoptr (GstPad) pad = NULL;
  g_autoptr (GstElement) sink = NULL;
  guint64 stretches = 0, late = 0;
  gsize kib;
  gint64 begin;

  gst_init (&argc, &argv);
  g_print ("1..4\n");
  launch = g_strdup_printf (
      "ndtestsrc pattern=ramp is-live=true "
      "volume-size=8:8:4 framerate=%d/1 num-buffers=%" G_GUINT64_FORMAT
      " ! ndconv4dtemporal name=f filter=box,size=3:3:3:5 n-threads=1 ! "
      "fakesink name=k sync=true qos=true max-lateness=20000000",
      RATE, watch.expected);
  pipeline = gst_object_ref_sink (gst_parse_launch (launch, NULL));
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "k");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_output, &watch, NULL);
  clock = gst_test_clock_new ();
  gst_pipeline_use_clock (GST_PIPELINE (pipeline), clock);
  bus = gst_element_get_bus (pipeline);
  gst_bus_set_sync_handler (bus, on_message, &watch, NULL);
  begin = g_get_monotonic_time ();
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  run_clock (GST_TEST_CLOCK (clock), &watch);
  kib = resident_kib ();
  g_object_get (filter, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "stretches", &stretches);
  gst_structure_get_uint64 (stats, "volumes-late", &late);
  gst_element_set_state (pipeline, GST_STATE_NULL);

  g_print ("# %.1f hours in %.1f s: %" G_GUINT64_FORMAT
           " outputs, %" G_GUINT64_FORMAT " late, %" G_GUINT64_FORMAT
           " stretches; %" G_GSIZE_FORMAT " KiB after %d volumes, "
           "%" G_GSIZE_FORMAT " in the end\n",
      hours, (g_get_monotonic_time () - begin) * 1e-6, watch.n, late, stretches,
      watch.settled_kib, SETTLED, kib);
  g_print ("%s 1 outputs\n", watch.n == watch.expected ? "ok" : "not ok");
  g_print ("%s 2 timestamps\n", watch.wrong == 0 ? "ok" : "not ok");
  g_print ("%s 3 one stretch, none late\n",
      stretches == 1 && late == 0 ? "ok" : "not ok");
  g_print ("%s 4 memory\n",
      kib <= watch.settled_kib + SLACK_KIB ? "ok" : "not ok");
  return 0;
}
