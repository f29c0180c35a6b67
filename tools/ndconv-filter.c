/* ndconv-filter: lists, describes, saves, plots and times filters.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/budget.h"
#include "core/error.h"
#include "core/printable.h"
#include "filters/axes.h"
#include "filters/describe.h"
#include "filters/filterfile.h"
#include "filters/filterrecording.h"
#include "filters/text.h"
#include "tools/filtertime.h"
#include "tools/plot.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define USAGE_STATUS 2

/* Makes "bank-2.nii.gz" from "bank.nii.gz". */
static gchar *
number_path (const gchar *path, guint i)
{
  const gchar *base = strrchr (path, '/');
  const gchar *dot = strchr (base ? base : path, '.');

  if (!dot)
    dot = path + strlen (path);
  return g_strdup_printf ("%.*s-%u%s", (int) (dot - path), path, i, dot);
}

static gboolean
save_all (const NdBank *bank, const NdAxes *axes, const gchar *path,
    GError **error)
{
  for (guint i = 0; i < nd_bank_responses (bank); i++) {
    const NdFilter *real, *imaginary;
    g_autofree gchar *file =
        nd_bank_responses (bank) == 1 ? g_strdup (path) : number_path (path, i);
    g_autofree gchar *shown = NULL;

    nd_bank_get_filter (bank, i, &real, &imaginary);
    if (!nd_filter_save (real, imaginary, axes, file, error))
      return FALSE;
    shown = nd_printable (file);
    g_print ("%s\n", shown);
  }
  return TRUE;
}

static gboolean
run (const gchar *command, const gchar *text, const gchar *path, NdAxes *axes,
    GError **error)
{
  g_autoptr (NdBank) bank = NULL;
  g_autofree gchar *said = NULL, *shown = NULL;

  nd_filter_use_recordings ();
  bank = nd_bank_from_text (text, axes, NULL, FALSE, FALSE, NULL, error);
  if (!bank)
    return FALSE;
  if (strcmp (command, "save") == 0)
    return save_all (bank, axes, path, error);
  if (strcmp (command, "plot") == 0)
    return nd_filter_plot (bank, path, error);
  said = strcmp (command, "response") == 0 ? nd_bank_response (bank, axes)
                                           : nd_bank_describe (bank, axes);
  shown = nd_printable_lines (said);
  g_print ("%s", shown);
  return TRUE;
}

/* The options are named as a parameter of that name, but for the dashes. */
static gboolean
read_axes (const gchar *text, const gchar *spacing, const gchar *rate,
    NdAxes *axes, GError **error)
{
  if (nd_axes_from_text (text, axes, error)
      && nd_axes_set_steps (axes, spacing, rate, error))
    return TRUE;
  g_prefix_error (error, "--");
  return FALSE;
}

static void
list (void)
{
  for (const gchar *const *name = nd_design_names (); *name; name++)
    g_print ("%s\n", *name);
}

/* list | describe FILTER | response FILTER | time FILTER | save FILTER FILE |
 * plot FILTER FILE */
static gboolean
is_command (int argc, char **argv)
{
  if (argc < 2)
    return FALSE;
  if (strcmp (argv[1], "list") == 0)
    return argc == 2;
  if (strcmp (argv[1], "describe") == 0 || strcmp (argv[1], "response") == 0
      || strcmp (argv[1], "time") == 0)
    return argc == 3;
  return argc == 4
      && (strcmp (argv[1], "save") == 0 || strcmp (argv[1], "plot") == 0);
}

static void
report (const GError *error)
{
  g_autofree gchar *message = nd_printable (error->message);

  g_printerr ("ndconv-filter: %s\n", message);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *axes_text = NULL, *spacing = NULL, *rate = NULL;
  g_autofree gchar *size = NULL, *type = NULL, *backend = NULL;
  NdAxes axes;
  gint64 max_memory = 0;
  gboolean csv = FALSE;
  gboolean version = FALSE;
  const GOptionEntry entries[] = {
    { "axes", 'a', 0, G_OPTION_ARG_STRING, &axes_text,
        "Axes that the element filters along: xy, xyz (default), xyt, xyzt",
        "AXES" },
    { "spacing", 0, 0, G_OPTION_ARG_STRING, &spacing,
        "Distance of samples in mm, or as 0.3um:0.3um:1um, for parameters and "
        "results with units",
        "X:Y:Z" },
    { "rate", 0, 0, G_OPTION_ARG_STRING, &rate,
        "Volumes per second, for parameters and results with units", "RATE" },
    { "size", 0, 0, G_OPTION_ARG_STRING, &size,
        "time: samples of a volume along x, y and z", "X:Y:Z" },
    { "type", 0, 0, G_OPTION_ARG_STRING, &type,
        "time: type of the samples (default: uint8)", "TYPE" },
    { "backend", 0, 0, G_OPTION_ARG_STRING, &backend,
        "time: cpu or cuda (default: each of this machine)", "NAME" },
    { "csv", 0, 0, G_OPTION_ARG_NONE, &csv,
        "Print the response as comma-separated values (the default)", NULL },
    { "max-memory", 0, 0, G_OPTION_ARG_INT64, &max_memory,
        "Memory that reading a file may take (default: a quarter of the "
        "memory)",
        "BYTES" },
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (
      "COMMAND [FILTER] [FILE] - describe, save and plot filters");
  g_autoptr (GError) error = NULL;

  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_summary (context,
      "Commands:\n"
      "  list              Print the names of the filter designs\n"
      "  describe FILTER   Print size, sum, rank, symmetry, gain, fit error\n"
      "  response FILTER   Print the frequency response as CSV\n"
      "  time FILTER       Measure what a volume takes on this machine\n"
      "  save FILTER FILE  Write the coefficients\n"
      "  plot FILTER FILE  Draw coefficients and frequency response as PNG");
  g_option_context_set_description (context,
      "FILTER is a text as in the property filter of the elements. Its "
      "lengths and times\nmay have units (0.6mm, 80ms, 12mm/s, 0.4cycles/mm) "
      "if --spacing and --rate are given.\n\n"
      "The command time filters volumes of noise for a second. FILTER may also "
      "be\nnddenoise with properties (nddenoise,quality=best). ~ stands before "
      "estimates. With\n--rate the row says how old an output is, and whether "
      "a live stream can keep up.\n\n"
      "The extension of FILE chooses the format that save writes: .npy "
      "(float64 or\ncomplex128), .nii, .nrrd or .mha (float32). A bank is "
      "saved as one file for each\nresponse, with a number in its name.\n\n"
      "Examples:\n"
      "  ndconv-filter describe \"quadrature,size=9\"\n"
      "  ndconv-filter describe \"gaussian,sigma=0.6mm\" --spacing "
      "0.3:0.3:0.5\n"
      "  ndconv-filter save \"quadrature-bank,size=9\" bank.npy --axes=xyzt\n"
      "  ndconv-filter time \"quadrature,size=9\" --size 128:128:64 --rate 20\n"
      "  ndconv-filter plot \"motion,velocity=<1.0,0.0>\" motion.png "
      "--axes=xyt\n\n"
      "Exit status:\n"
      "  0  success\n"
      "  1  the filter or the file cannot be made\n"
      "  2  the command line is wrong");
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    report (error);
    return USAGE_STATUS;
  }
  if (max_memory < 0) {
    g_printerr ("ndconv-filter: --max-memory must be 0 or more\n");
    return USAGE_STATUS;
  }
  nd_budget_set_default (max_memory);
  if (version) {
    g_print ("ndconv-filter %s\n", ND_VERSION);
    return EXIT_SUCCESS;
  }
  if (!is_command (argc, argv)) {
    g_autofree gchar *help = g_option_context_get_help (context, TRUE, NULL);

    g_printerr ("%s", help);
    return USAGE_STATUS;
  }
  if (strcmp (argv[1], "list") == 0) {
    list ();
    return EXIT_SUCCESS;
  }
  if (strcmp (argv[1], "time") == 0) {
    const NdTimeOptions options = { size, type, axes_text, spacing, rate,
      backend };

    if (nd_filter_time (argv[2], &options, &error))
      return EXIT_SUCCESS;
    report (error);
    return EXIT_FAILURE;
  }
  if (read_axes (axes_text ? axes_text : "xyz", spacing, rate, &axes, &error)
      && run (argv[1], argv[2], argc > 3 ? argv[3] : NULL, &axes, &error))
    return EXIT_SUCCESS;
  report (error);
  return EXIT_FAILURE;
}
