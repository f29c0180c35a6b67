/* Runs pipelines one after another. Reads one gst-launch-1.0 text per line and
 * prints one line for each, with fields separated by tabs:
 *
 *   eos METHOD VOLUMES-IN VOLUMES-OUT    from `stats` of the element "conv"
 *   error ELEMENT MESSAGE
 *
 * One process runs hundreds of pipelines, because gst-launch-1.0 would load the
 * plugin for each of them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two minutes, and more under tools that slow everything down (the tests that
 * use Check read the same variable). */
static GstClockTime
timeout (void)
{
  const gchar *multiplier = g_getenv ("CK_TIMEOUT_MULTIPLIER");

  return 120 * GST_SECOND * (multiplier ? atoi (multiplier) : 1);
}

static void
print_error (const gchar *name, const gchar *text)
{
  g_autofree gchar *line = g_strdelimit (g_strdup (text), "\t\n", ' ');

  printf ("error\t%s\t%s\n", name, line);
}

/* A pipeline without "conv" only copies. */
static void
print_stats (GstElement *pipeline)
{
  g_autoptr (GstElement) conv =
      gst_bin_get_by_name (GST_BIN (pipeline), "conv");
  g_autoptr (GstStructure) stats = NULL;
  guint64 in = 0, out = 0;

  if (conv) {
    g_object_get (conv, "stats", &stats, NULL);
    gst_structure_get (stats, "volumes-in", G_TYPE_UINT64, &in, "volumes-out",
        G_TYPE_UINT64, &out, NULL);
  }
  printf ("eos\t%s\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\n",
      stats ? gst_structure_get_string (stats, "method") : "none", in, out);
}

static void
run (const gchar *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &error);
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;

  if (pipeline)
    gst_object_ref_sink (pipeline);
  if (error) {
    print_error ("gst-launch", error->message);
    return;
  }
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, timeout (),
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (!message) {
    print_error ("pipeline", "neither EOS nor an error before the time limit");
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    print_error (GST_OBJECT_NAME (message->src), error->message);
  } else {
    print_stats (pipeline);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *line = NULL;
  size_t size = 0;

  gst_init (&argc, &argv);
  while (getline (&line, &size, stdin) > 0) {
    line[strcspn (line, "\n")] = '\0';
    run (line);
    fflush (stdout);
  }
  return 0;
}
