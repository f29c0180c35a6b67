/* An application may replace the functions of a pad by its own, which call the
 * old ones, as gst-validate does: each element works as without them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/run.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

/* The functions that wrappers replaced on one pad. */
typedef struct
{
  GstPadChainFunction chain;
  GstPadEventFunction event;
  GstPadEventFullFunction event_full;
  GstPadQueryFunction query;
  GstPadGetRangeFunction get_range;
  GstPadActivateModeFunction activate_mode;
} Old;

static gint n_calls; /* atomic */

static const Old *
old_functions (GstPad *pad)
{
  g_atomic_int_inc (&n_calls);
  return g_object_get_data (G_OBJECT (pad), "old");
}

static GstFlowReturn
chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  return old_functions (pad)->chain (pad, parent, buffer);
}

static gboolean
handle_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  return old_functions (pad)->event (pad, parent, event);
}

static GstFlowReturn
handle_event_full (GstPad *pad, GstObject *parent, GstEvent *event)
{
  return old_functions (pad)->event_full (pad, parent, event);
}

static gboolean
answer (GstPad *pad, GstObject *parent, GstQuery *query)
{
  return old_functions (pad)->query (pad, parent, query);
}

static GstFlowReturn
get_range (GstPad *pad, GstObject *parent, guint64 offset, guint length,
    GstBuffer **buffer)
{
  return old_functions (pad)->get_range (pad, parent, offset, length, buffer);
}

static gboolean
activate_mode (GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  return old_functions (pad)->activate_mode (pad, parent, mode, active);
}

static void
wrap_pad (GstPad *pad)
{
  Old *old = g_new0 (Old, 1);

  *old = (Old){ GST_PAD_CHAINFUNC (pad), GST_PAD_EVENTFUNC (pad),
    GST_PAD_EVENTFULLFUNC (pad), GST_PAD_QUERYFUNC (pad),
    GST_PAD_GETRANGEFUNC (pad), GST_PAD_ACTIVATEMODEFUNC (pad) };
  g_object_set_data_full (G_OBJECT (pad), "old", old, g_free);
  if (old->chain)
    gst_pad_set_chain_function (pad, chain);
  if (old->event_full)
    gst_pad_set_event_full_function (pad, handle_event_full);
  else if (old->event)
    gst_pad_set_event_function (pad, handle_event);
  if (old->query)
    gst_pad_set_query_function (pad, answer);
  if (old->get_range)
    gst_pad_set_getrange_function (pad, get_range);
  if (old->activate_mode)
    gst_pad_set_activatemode_function (pad, activate_mode);
}

static void
wrap_new_pad (GstElement *element, GstPad *pad, gpointer data)
{
  wrap_pad (pad);
}

/* Wraps all pads of the element `wrapped`. */
static void
wrap (GstElement *pipeline)
{
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), "wrapped");
  g_autoptr (GstIterator) pads = gst_element_iterate_pads (element);
  g_auto (GValue) item = G_VALUE_INIT;

  for (; gst_iterator_next (pads, &item) == GST_ITERATOR_OK;
       g_value_reset (&item))
    wrap_pad (g_value_get_object (&item));
  g_signal_connect (element, "pad-added", G_CALLBACK (wrap_new_pad), NULL);
}

#define SOURCE                                                           \
  "ndtestsrc pattern=noise seed=3 num-buffers=6 volume-size=8:7:6 name=" \
  "source ! "
#define SINK " ! appsink name=sink sync=false"

static const gchar *const pipelines[] = {
  SOURCE "ndconv2d name=wrapped filter=box,size=3" SINK,
  SOURCE "ndconv3d name=wrapped filter=box,size=3" SINK,
  SOURCE "ndconv4dtemporal name=wrapped filter=box,size=3" SINK,
  SOURCE "nddenoise name=wrapped sigma=4" SINK,
  SOURCE "ndrank name=wrapped footprint=3:3" SINK,
  SOURCE "ndregister name=wrapped" SINK,
  SOURCE "ndbmode name=wrapped" SINK,
  SOURCE "ndscanconvert name=wrapped geometry=linear" SINK,
  SOURCE "ndconv4dtemporal filter=\"monomial-bank,size=3,order=2.0\" "
         "response=tensor ! ndstructure name=wrapped" SINK,
  SOURCE "ndview name=wrapped mode=orthogonal" SINK,
  "videotestsrc pattern=snow num-buffers=8 ! "
  "video/x-raw,format=GRAY8,width=16,height=8 ! ndstack name=wrapped "
  "slices=4" SINK,
  "ndtestsrc name=wrapped pattern=noise seed=3 num-buffers=6 "
  "volume-size=8:7:6" SINK,
  "filesrc location=\"%s\" ! nddemux name=wrapped" SINK,
  "ndfilesrc name=wrapped location=\"%s\"" SINK,
};

/* The outputs of a pipeline, one after another. */
static GByteArray *
run (const gchar *text, gboolean wrapped)
{
  GstElement *pipeline = launch ("%s", text);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GByteArray *all = g_byte_array_new ();
  GstSample *sample;

  if (wrapped)
    wrap (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_pull_sample (GST_APP_SINK (sink)))) {
    GstMapInfo map;

    fail_unless (gst_buffer_map (gst_sample_get_buffer (sample), &map,
        GST_MAP_READ));
    g_byte_array_append (all, map.data, map.size);
    gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
    gst_sample_unref (sample);
  }
  fail_unless (gst_app_sink_is_eos (GST_APP_SINK (sink)));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return all;
}

static gchar *
make_recording (void)
{
  gchar *path = file_path ("r.nrrd");

  run_whole (launch (SOURCE "ndfilesink location=\"%s\"", path));
  return path;
}

GST_START_TEST (test_sources_and_filters)
{
  g_autoptr (GByteArray) plain = NULL, wrapped = NULL;
  g_autofree gchar *path = NULL;
  g_auto (GStrv) parts = g_strsplit (pipelines[__i__], "%s", 2);
  g_autofree gchar *text = NULL;

  make_folder ();
  path = make_recording ();
  text = g_strjoinv (path, parts);
  plain = run (text, FALSE);
  g_atomic_int_set (&n_calls, 0);
  wrapped = run (text, TRUE);
  fail_unless (g_atomic_int_get (&n_calls) > 0);
  fail_unless (plain->len > 0);
  fail_unless_equals_int (wrapped->len, plain->len);
  fail_unless (memcmp (wrapped->data, plain->data, plain->len) == 0);
  remove_folder ();
}

GST_END_TEST;

/* Sinks: the stream reaches its end. */
GST_START_TEST (test_sinks)
{
  static const gchar *const sinks[] = {
    SOURCE "ndfilesink name=wrapped location=\"%s\"",
    SOURCE "openigtlinksink name=wrapped port=0 sync=false",
  };
  g_autofree gchar *path = NULL, *text = NULL;
  g_auto (GStrv) parts = g_strsplit (sinks[__i__], "%s", 2);
  GstElement *pipeline;

  make_folder ();
  path = file_path ("w.nrrd");
  text = g_strjoinv (path, parts);
  pipeline = launch ("%s", text);
  wrap (pipeline);
  g_atomic_int_set (&n_calls, 0);
  run_whole (pipeline);
  fail_unless (g_atomic_int_get (&n_calls) >= 6);
  if (parts[1])
    fail_unless (g_file_test (path, G_FILE_TEST_IS_REGULAR));
  remove_folder ();
}

GST_END_TEST;

static Suite *
wrapped_suite (void)
{
  Suite *suite = suite_create ("wrapped");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_loop_test (tests, test_sources_and_filters, 0,
      G_N_ELEMENTS (pipelines));
  tcase_add_loop_test (tests, test_sinks, 0, 2);
  return suite;
}

GST_CHECK_MAIN (wrapped);
