/* ndconv-web: shows a pipeline in a browser.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/printable.h"
#include "tools/web/server.h"

#include <glib-unix.h>
#include <locale.h>
#include <stdlib.h>

#define USAGE_STATUS 2
#define GIB ((guint64) 1 << 30)

typedef struct
{
  GMainLoop *loop;
  WebPlayer *player;
  WebServer *server;
  gboolean failed;
} Program;

static void
new_picture (gpointer data)
{
  Program *program = data;

  if (program->server)
    web_server_send_pictures (program->server);
}

static void
new_message (gpointer data)
{
  Program *program = data;

  if (program->server)
    web_server_send_state (program->server);
}

static void
report (const gchar *text)
{
  g_autofree gchar *shown = nd_printable (text);

  g_printerr ("ndconv-web: %s\n", shown);
}

static void
pipeline_failed (const gchar *text, gpointer data)
{
  Program *program = data;

  report (text);
  program->failed = TRUE;
  g_main_loop_quit (program->loop);
}

/* A second signal ends the program at once. */
static gboolean
quit (gpointer data)
{
  g_main_loop_quit (((Program *) data)->loop);
  return G_SOURCE_REMOVE;
}

typedef struct
{
  gint port, quality, record_files;
  gdouble record_limit, record_total;
  gchar *listen, *record;
  gchar **hosts;
  gboolean version;
} Options;

static GstElement *
make_pipeline (int n, char **words, GError **error)
{
  g_autoptr (GstElement) made = NULL;
  GstElement *pipeline;

  made = n == 1 ? gst_parse_launch_full (words[0], NULL,
                      GST_PARSE_FLAG_FATAL_ERRORS, error)
                : gst_parse_launchv_full ((const gchar **) words, NULL,
                      GST_PARSE_FLAG_FATAL_ERRORS, error);
  if (!made)
    return NULL;
  gst_object_ref_sink (made);
  if (GST_IS_PIPELINE (made))
    return g_steal_pointer (&made);
  pipeline = gst_pipeline_new (NULL); /* of a single element */
  gst_bin_add (GST_BIN (pipeline), made);
  return gst_object_ref_sink (pipeline);
}

/* Serves until a signal or an error. */
static gboolean
run (const Options *options, int n, char **words, GError **error)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GstElement) pipeline = make_pipeline (n, words, error);
  Program program = { .loop = loop };
  const WebPlayerSettings settings = {
    .record_folder = options->record,
    .limits = { (guint64) (options->record_limit * GIB),
        (guint64) (options->record_total * GIB), options->record_files },
    .quality = options->quality,
  };
  const WebPlayerEvents events = { new_picture, new_message, pipeline_failed,
    &program };

  if (!pipeline)
    return FALSE;
  program.player = web_player_new (pipeline, &settings, &events, error);
  if (!program.player)
    return FALSE;
  program.server = web_server_new (program.player, options->port,
      options->listen, (const gchar *const *) options->hosts, error);
  if (program.server && web_player_start (program.player, error)) {
    g_unix_signal_add (SIGINT, quit, &program);
    g_unix_signal_add (SIGTERM, quit, &program);
    g_print ("%s\n", web_server_url (program.server));
    g_main_loop_run (loop);
  }
  g_clear_pointer (&program.server, web_server_free);
  web_player_free (program.player);
  return !program.failed && !*error;
}

static gboolean
options_are_good (const Options *options, GError **error)
{
  if (options->port < 0 || options->port > 65535)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "--port must be from 1 to 65535, or 0 for a free one");
  else if (options->quality < 1 || options->quality > 100)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "--quality must be from 1 to 100");
  else if (!(options->record_limit > 0 && options->record_limit < 1e9))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "--record-limit must be greater than 0");
  else if (!(options->record_total > 0 && options->record_total < 1e9))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "--record-total must be greater than 0");
  else if (options->record_files < 1)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "--record-files must be 1 or more");
  else if (options->record
      && !g_file_test (options->record, G_FILE_TEST_IS_DIR))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "--record: %s is not a folder", options->record);
  return !*error;
}

int
main (int argc, char **argv)
{
  Options options = {
    .port = 8090,
    .quality = 90,
    .record_limit = 8,
    .record_total = 64,
    .record_files = 100,
  };
  const GOptionEntry entries[] = {
    { "port", 'p', 0, G_OPTION_ARG_INT, &options.port,
        "Port (8090); 0 chooses a free one", "PORT" },
    { "listen", 0, 0, G_OPTION_ARG_STRING, &options.listen,
        "Serve other machines too, at this address of this machine (0.0.0.0: "
        "all)",
        "ADDRESS" },
    { "host", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.hosts,
        "Another name of this machine, by which browsers know it", "NAME" },
    { "record", 0, 0, G_OPTION_ARG_FILENAME, &options.record,
        "Let pages record volumes to this folder", "FOLDER" },
    { "record-limit", 0, 0, G_OPTION_ARG_DOUBLE, &options.record_limit,
        "Largest recording (8)", "GIB" },
    { "record-total", 0, 0, G_OPTION_ARG_DOUBLE, &options.record_total,
        "Most of all recordings in the folder together (64)", "GIB" },
    { "record-files", 0, 0, G_OPTION_ARG_INT, &options.record_files,
        "Most recordings in the folder (100)", "N" },
    { "quality", 0, 0, G_OPTION_ARG_INT, &options.quality,
        "Quality of the pictures, 1 to 100 (90)", "QUALITY" },
    { "version", 0, 0, G_OPTION_ARG_NONE, &options.version, "Print the version",
        NULL },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (
      "PIPELINE - show a pipeline in a browser and change it there");
  g_autoptr (GError) error = NULL;
  int status = EXIT_SUCCESS;

  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_description (context,
      "PIPELINE is that of gst-launch-1.0. The element with the name view "
      "draws the\npictures. An element with the name filter has pictures "
      "before and after it. Both\nget controls. The program prints the address "
      "of the page, with a token that each\nrequest needs. Only this "
      "machine can connect; with --listen other machines can.\n/metrics has "
      "the numbers for Prometheus.\n\n"
      "Examples:\n"
      "  ndconv-web \"ndtestsrc is-live=true ! ndconv4dtemporal name=filter "
      "filter=gaussian,sigma=1.0 ! ndview name=view\"\n"
      "  ndconv-web --record . \"openigtlinksrc ! nddenoise name=filter ! "
      "ndview name=view mode=orthogonal\"\n\n"
      "Exit status:\n"
      "  0  ended by Ctrl-C or a signal\n"
      "  1  the pipeline or the server does not work\n"
      "  2  the command line is wrong");
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    report (error->message);
    status = USAGE_STATUS;
  } else if (options.version) {
    g_print ("ndconv-web %s\n", ND_VERSION);
  } else if (argc < 2) {
    g_autofree gchar *help = g_option_context_get_help (context, TRUE, NULL);

    g_printerr ("%s", help);
    status = USAGE_STATUS;
  } else if (!options_are_good (&options, &error)) {
    report (error->message);
    status = USAGE_STATUS;
  } else {
    gst_init (NULL, NULL);
    if (!run (&options, argc - 1, argv + 1, &error)) {
      status = EXIT_FAILURE;
      if (error)
        report (error->message);
    }
  }
  g_free (options.listen);
  g_free (options.record);
  g_strfreev (options.hosts);
  return status;
}
