/* Files that no element has decoded, before elements for volumes: one error,
 * which names the elements to use. And the statistics at the end of a stream.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>

#include "tests/folder.h"

static const gchar *const elements[] = {
  "ndconv2d filter=box,size=3 ! fakesink",
  "ndconv4dtemporal filter=box,size=3 ! fakesink",
  "nddeconvolve psf=box,size=3 ! fakesink",
  "nddenoise ! fakesink",
  "ndregister ! fakesink",
  "ndstructure ! fakesink",
  "ndview ! fakesink",
  "ndstack ! fakesink",
  "ndfilesink location=%s.out.nii",
};

/* Runs @text to its end and returns its first message of @type. @errors counts
 * the errors of elements that are no sources. */
static GstMessage *
run (const gchar *text, GstMessageType type, guint *errors)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &error);
  g_autoptr (GstBus) bus = NULL;
  GstMessage *first = NULL, *message;
  gboolean ended = FALSE;

  fail_unless (error == NULL, "%s: %s", text, error ? error->message : "");
  gst_object_ref_sink (pipeline);
  bus = gst_element_get_bus (pipeline);
  *errors = 0;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((message = gst_bus_timed_pop (bus,
              ended ? 300 * GST_MSECOND : 300 * GST_SECOND))) {
    const gboolean source = GST_OBJECT_FLAG_IS_SET (GST_MESSAGE_SRC (message),
        GST_ELEMENT_FLAG_SOURCE);

    ended |= GST_MESSAGE_TYPE (message) & (GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    *errors += GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR && !source;
    if (!first && GST_MESSAGE_TYPE (message) == type && !source)
      first = gst_message_ref (message);
    gst_message_unref (message);
  }
  fail_unless (ended, "%s does not end", text);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return first;
}

static void
expect_error (const gchar *text, const gchar *word)
{
  guint errors;
  g_autoptr (GstMessage) message = run (text, GST_MESSAGE_ERROR, &errors);
  g_autoptr (GError) error = NULL;

  fail_unless (message != NULL, "%s: no error", text);
  fail_unless_equals_int (errors, 1);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_STREAM_ERROR,
      GST_STREAM_ERROR_FORMAT));
  fail_unless (strstr (error->message, word) != NULL, "no %s in: %s", word,
      error->message);
}

GST_START_TEST (test_files)
{
  g_autofree gchar *path = file_path ("heart.nii");
  g_autofree gchar *rest = g_strdup_printf (elements[__i__], path);
  g_autofree gchar *file =
      g_strdup_printf ("filesrc location=%s ! %s", path, rest);
  g_autofree gchar *files =
      g_strdup_printf ("multifilesrc location=%s num-buffers=2 ! %s", path,
          rest);
  g_autofree gchar *word = g_strdup_printf ("ndfilesrc location=%s", path);

  put_file (path, "no volume at all", 16);
  expect_error (file, word);
  expect_error (files, "pngdec");
}

GST_END_TEST;

/* The message has the fields of the property stats. */
GST_START_TEST (test_stats)
{
  static const gchar *const filters[] = { "ndconv3d filter=box,size=3",
    "nddenoise" };

  for (guint i = 0; i < G_N_ELEMENTS (filters); i++) {
    g_autofree gchar *text = g_strdup_printf (
        "ndtestsrc num-buffers=4 volume-size=8:8:8 ! %s ! fakesink",
        filters[i]);
    guint errors;
    g_autoptr (GstMessage) message = run (text, GST_MESSAGE_ELEMENT, &errors);
    const GstStructure *stats;
    guint64 in, out;
    gdouble mean;

    fail_unless_equals_int (errors, 0);
    fail_unless (message != NULL);
    stats = gst_message_get_structure (message);
    fail_unless (gst_structure_get (stats, "volumes-in", G_TYPE_UINT64, &in,
        "volumes-out", G_TYPE_UINT64, &out, "seconds-mean", G_TYPE_DOUBLE,
        &mean, NULL));
    fail_unless (in == 4 && out == 4 && mean > 0);
  }
}

GST_END_TEST;

static Suite *
undecoded_suite (void)
{
  Suite *s = suite_create ("undecoded");
  TCase *tc = tcase_create ("undecoded");

  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  tcase_add_loop_test (tc, test_files, 0, G_N_ELEMENTS (elements));
  tcase_add_test (tc, test_stats);
  suite_add_tcase (s, tc);
  return s;
}

GST_CHECK_MAIN (undecoded);
