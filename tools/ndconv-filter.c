/* ndconv-filter describe|save|plot FILTER: filters as the elements read them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gst/gst.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/nderror.h"
#include "filters/ndanalysis.h"
#include "filters/ndsave.h"
#include "gst/gstndfilterspec.h"
#include "ndfilterplot.h"

#define USAGE_STATUS 2
#define PROPERTY "Property filter: "

typedef struct
{
  const NdFilter *real, *imaginary;
} Pair;

static Pair
get_pair (const NdBank * bank, guint response)
{
  Pair pair;

  nd_bank_parts (bank, response, &pair.real, &pair.imaginary);
  return pair;
}

static gboolean
read_axes (const gchar * text, NdAxes * axes, GError ** error)
{
  static const NdAxes known[] = {
    {2, {ND_AXIS_X, ND_AXIS_Y}},
    {3, {ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z}},
    {3, {ND_AXIS_X, ND_AXIS_Y, ND_AXIS_T}},
    {4, {ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T}}
  };
  static const gchar *const names[] = { "xy", "xyz", "xyt", "xyzt" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (strcmp (text, names[i]) == 0) {
      *axes = known[i];
      return TRUE;
    }
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "--axes is %s, where it "
      "must be xy, xyz, xyt or xyzt.", text);
  return FALSE;
}

static const gchar *
symmetry (const NdFilter * filter)
{
  static const gchar *const names[] = {
    [ND_SYMMETRY_NONE] = "none",
    [ND_SYMMETRY_EVEN] = "even, f[-x] = f[x]",
    [ND_SYMMETRY_ODD] = "odd, f[-x] = -f[x]"
  };

  return names[nd_filter_symmetry (filter)];
}

static void
print_sizes (const gchar * name, const gsize size[ND_AXES])
{
  g_print ("%s%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%"
      G_GSIZE_FORMAT, name, size[0], size[1], size[2], size[3]);
}

static void
print_rank (Pair pair)
{
  gsize rank[ND_AXES];
  gboolean separable = TRUE;

  if (!nd_filter_rank (pair.real, pair.imaginary, rank))
  {
    g_print ("\nrank        not computed, coefficients times the sum of the "
        "sizes being above %g\n", ND_RANK_MAX_PRODUCTS);
    return;
  }
  print_sizes ("\nrank        ", rank);
  for (guint a = 0; a < ND_AXES; a++)
    separable = separable && rank[a] <= 1;
  g_print ("%s\n", separable ? ", separable" : ", not separable");
}

/* The band of what is none is not told. */
static void
print_band (Pair pair, const gdouble u[ND_AXES], gdouble gain)
{
  gdouble low, high;
  gboolean asked = !isnan (pair.real->center_frequency);

  if (nd_filter_band (pair.real, pair.imaginary, u, gain, &low, &high))
  {
    g_print ("band        %.4g to %.4g radians per sample at half the gain: "
        "about %.4g,\n            %.3g octaves", low, high, sqrt (low * high),
        log2 (high / low));
  } else if (asked) {
    g_print ("band        does not fall to half the gain on both sides");
  } else {
    return;
  }
  if (asked)
    g_print ("; asked for %.4g, %.3g", pair.real->center_frequency,
        pair.real->bandwidth);
  g_print ("\n");
}

static void
print_errors (const NdFilter * filter)
{
  if (isnan (filter->fit_error.total))
    g_print ("fit error   none: not fitted\n");
  else
    g_print ("fit error   %.4g; of the ideal filter cut off at this size "
        "%.4g;\n            but for the mean of the input %.4g; %.4g\n",
        filter->fit_error.total, filter->truncation_error.total,
        filter->fit_error.varying, filter->truncation_error.varying);
}

static void
describe (Pair pair)
{
  gdouble u[ND_AXES], gain;

  print_sizes ("size        ", pair.real->size);
  g_print (" (x:y:z:t), %" G_GSIZE_FORMAT " %s coefficients\n",
      nd_filter_count (pair.real), pair.imaginary ? "complex" : "real");
  g_print ("sum         %.6g", nd_filter_sum (pair.real));
  if (pair.imaginary)
    g_print (" %+.6gi", nd_filter_sum (pair.imaginary));
  print_rank (pair);
  g_print ("symmetry    %s%s", pair.imaginary ? "real part " : "",
      symmetry (pair.real));
  if (pair.imaginary)
    g_print ("; imaginary part %s", symmetry (pair.imaginary));
  gain = nd_filter_gain (pair.real, pair.imaginary, u);
  g_print
      ("\ngain        %.4g at (%.3f, %.3f, %.3f, %.3f) radians per sample\n",
      gain, u[0], u[1], u[2], u[3]);
  print_band (pair, u, gain);
  print_errors (pair.real);
}

static void
describe_all (const NdBank * bank)
{
  for (guint i = 0; i < nd_bank_responses (bank); i++) {
    Pair pair = get_pair (bank, i);

    if (nd_bank_responses (bank) > 1)
      g_print ("%sresponse    %u\n", i ? "\n" : "", i);
    g_print ("filter      %s\n", pair.real->name);
    describe (pair);
  }
}

/* "bank.nii.gz" to "bank-2.nii.gz" */
static gchar *
number_path (const gchar * path, guint i)
{
  const gchar *base = strrchr (path, '/');
  const gchar *dot = strchr (base ? base : path, '.');

  if (dot == NULL)
    dot = path + strlen (path);
  return g_strdup_printf ("%.*s-%u%s", (int) (dot - path), path, i, dot);
}

static gboolean
save_all (const NdBank * bank, const NdAxes * axes, const gchar * path,
    GError ** error)
{
  for (guint i = 0; i < nd_bank_responses (bank); i++) {
    Pair pair = get_pair (bank, i);
    g_autofree gchar *file = nd_bank_responses (bank) == 1 ? g_strdup (path)
        : number_path (path, i);

    if (!nd_filter_save (pair.real, pair.imaginary, axes, file, error))
        return FALSE;
    g_print ("%s\n", file);
  }
  return TRUE;
}

static gboolean
run (const gchar * command, const gchar * text, const gchar * path,
    const gchar * axes_text, GError ** error)
{
  g_autoptr (NdBank) bank = NULL;
  NdAxes axes;

  if (!read_axes (axes_text, &axes, error))
    return FALSE;
  bank = gst_nd_filter_spec_parse (text, &axes, NULL, FALSE, FALSE, error);
  if (bank == NULL)
    return FALSE;
  if (strcmp (command, "save") == 0)
    return save_all (bank, &axes, path, error);
  if (strcmp (command, "plot") == 0)
    return nd_filter_plot (bank, path, error);
  describe_all (bank);
  return TRUE;
}

/* describe FILTER; save and plot FILTER FILE */
static gboolean
is_command (int argc, char **argv)
{
  if (argc < 2)
    return FALSE;
  if (strcmp (argv[1], "describe") == 0)
    return argc == 3;
  return argc == 4 && (strcmp (argv[1], "save") == 0
      || strcmp (argv[1], "plot") == 0);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *axes = NULL;
  const GOptionEntry entries[] = {
    {"axes", 'a', 0, G_OPTION_ARG_STRING, &axes, "Axes that the element "
          "filters along: xy, xyz (default), xyt, xyzt", "AXES"},
    {NULL}
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("describe|save|"
      "plot FILTER [FILE] - what a filter is");
  g_autoptr (GError) error = NULL;
  const gchar *message;

  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_description (context, "FILTER is what the property "
      "filter of the elements takes.\n\n"
      "  ndconv-filter describe \"quadrature,size=9\"\n"
      "  ndconv-filter save \"quadrature-bank,size=9\" bank.npy --axes=xyzt\n"
      "  ndconv-filter plot \"motion,velocity=<1.0,0.0>\" motion.png "
      "--axes=xyt\n\n"
      "describe prints size, sum, rank per axis, symmetry, gain and the error "
      "of the fit.\nsave writes .npy (float64, complex128), .nii, .nrrd or "
      ".mha (float32); of a "
      "bank\none file each, numbered. plot draws coefficients "
      "and frequency response as PNG.\nThe status is 0, 1 where the filter or "
      "the file cannot be made, 2 where the\ncommand is wrong.");
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("ndconv-filter: %s\n", error->message);
    return USAGE_STATUS;
  }
  if (!is_command (argc, argv)) {
    g_autofree gchar *help = g_option_context_get_help (context, TRUE, NULL);

    g_printerr ("%s", help);
    return USAGE_STATUS;
  }
  /* For the lists in a filter's text; no plugin is read. */
  gst_init (NULL, NULL);
  if (run (argv[1], argv[2], argc > 3 ? argv[3] : NULL, axes ? axes : "xyz",
          &error))
    return EXIT_SUCCESS;
  /* There is no property here. */
  message = error->message;
  if (g_str_has_prefix (message, PROPERTY))
    message += strlen (PROPERTY);
  g_printerr ("ndconv-filter: %s\n", message);
  return EXIT_FAILURE;
}
