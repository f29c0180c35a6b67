/* Runs pipelines for the tests of sources and sinks, and keeps the messages of
 * the bus.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/check/gstcheck.h>
#include <string.h>

#include "tests/folder.h"

typedef struct
{
  guint n_errors, n_warnings, n_eos;
  GError *error; /* the first one */
  GError *warning;
} Outcome;

static inline void
outcome_clear (Outcome *outcome)
{
  g_clear_error (&outcome->error);
  g_clear_error (&outcome->warning);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outcome, outcome_clear)

static inline void
outcome_take (Outcome *outcome, GstMessage *message)
{
  GError *error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_EOS:
      outcome->n_eos++;
      break;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, NULL);
      GST_INFO ("error: %s", error->message);
      outcome->n_errors++;
      if (outcome->error)
        g_error_free (error);
      else
        outcome->error = error;
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &error, NULL);
      outcome->n_warnings++;
      if (outcome->warning)
        g_error_free (error);
      else
        outcome->warning = error;
      break;
    default:
      break;
  }
}

/* Plays until EOS or an error, waits a moment for messages that follow an
 * error, and stops. */
static inline void
run_pipeline (GstElement *pipeline, Outcome *outcome)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (outcome->n_eos == 0 && outcome->n_errors == 0) {
    message = gst_bus_timed_pop (bus, 300 * GST_SECOND);
    fail_unless (message != NULL, "neither EOS nor an error within 300 s");
    outcome_take (outcome, message);
    gst_message_unref (message);
  }
  while (outcome->n_errors > 0
      && (message = gst_bus_timed_pop (bus, 200 * GST_MSECOND))) {
    outcome_take (outcome, message);
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_READY);
  while ((message = gst_bus_pop (bus))) {
    outcome_take (outcome, message);
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
}

static inline GstElement *
launch (const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  g_autoptr (GError) error = NULL;
  GstElement *pipeline;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  pipeline = gst_parse_launch (text, &error);
  fail_unless (error == NULL, "%s: %s", text, error ? error->message : "");
  return pipeline;
}

/* Runs from file to file without errors or warnings. */
static inline void
run_whole (GstElement *pipeline)
{
  g_auto (Outcome) outcome = { 0 };

  run_pipeline (pipeline, &outcome);
  fail_unless (outcome.n_errors == 0, "%s",
      outcome.error ? outcome.error->message : "");
  fail_unless (outcome.n_warnings == 0, "%s",
      outcome.warning ? outcome.warning->message : "");
  fail_unless_equals_int (outcome.n_eos, 1);
  gst_object_unref (pipeline);
}

/* Expects exactly @n_errors errors, the first of this kind and with these
 * words, and no EOS. */
static inline void
run_refused (GstElement *pipeline, guint n_errors, GQuark domain, gint code,
    const gchar *words)
{
  g_auto (Outcome) outcome = { 0 };

  run_pipeline (pipeline, &outcome);
  fail_unless (outcome.n_errors == n_errors, "%u errors, the first: %s",
      outcome.n_errors, outcome.error ? outcome.error->message : "none");
  fail_unless_equals_int (outcome.n_eos, 0);
  fail_unless (g_error_matches (outcome.error, domain, code), "%s %d: %s",
      g_quark_to_string (outcome.error->domain), outcome.error->code,
      outcome.error->message);
  fail_unless (strstr (outcome.error->message, words) != NULL, "%s",
      outcome.error->message);
  gst_object_unref (pipeline);
}

/* VmHWM or another line of /proc/self/status, in KiB. 0 if there is none, or if
 * a sanitizer or valgrind (which sets ND_RESIDENT=no) keeps freed memory. */
static inline gsize
process_kib (const gchar *name)
{
#ifdef __SANITIZE_ADDRESS__
  return 0;
#else
  g_autofree gchar *text = NULL;
  const gchar *line;

  if (g_strcmp0 (g_getenv ("ND_RESIDENT"), "no") == 0
      || !g_file_get_contents ("/proc/self/status", &text, NULL, NULL)
      || !(line = strstr (text, name)))
    return 0;
  return g_ascii_strtoull (line + strlen (name) + 1
          + strspn (line + strlen (name) + 1, " \t"),
      NULL, 10);
#endif
}
