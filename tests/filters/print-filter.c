/* Prints a filter or a bank for the tests in Python: print-filter AXES DESIGN
 * NAME=VALUE ... The first line has the number of filters, and 1 if they are
 * parts of complex filters, otherwise 0. For each filter follow the sizes x y z
 * t, the errors of the fit (total error of the fit and of the truncated ideal
 * filter, then both without the mean), and one coefficient per line. If the
 * design fails, the program prints the error and exits with 1.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/design.h"
#include "filters/filterrecording.h"

#include <stdio.h>
#include <string.h>

int
main (int argc, char **argv)
{
  g_autoptr (NdParameters) parameters = nd_parameters_new ();
  g_autoptr (NdBank) bank = NULL;
  g_autoptr (GError) error = NULL;
  NdAxes axes = { 0 };

  if (argc < 3)
    return 2;
  nd_filter_use_recordings ();
  for (const gchar *at = argv[1]; *at && axes.n < ND_AXES; at++)
    axes.axis[axes.n++] = *at == 't' ? ND_AXIS_T : (NdAxis) (*at - 'x');
  for (int i = 3; i < argc; i++) {
    g_auto (GStrv) pair = g_strsplit (argv[i], "=", 2);

    nd_parameters_set_text (parameters, pair[0], pair[1]);
  }
  bank = nd_design (argv[2], parameters, &axes, &error);
  if (bank == NULL) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  printf ("%u %d\n", bank->n_filters, bank->is_complex);
  for (guint f = 0; f < bank->n_filters; f++) {
    const NdFilter *filter = bank->filters[f];

    for (guint a = 0; a < ND_AXES; a++)
      printf ("%" G_GSIZE_FORMAT " ", filter->size[a]);
    printf ("%.17g %.17g %.17g %.17g\n", filter->fit_error.total,
        filter->truncation_error.total, filter->fit_error.varying,
        filter->truncation_error.varying);
    for (gsize i = 0; i < nd_filter_count (filter); i++)
      printf ("%.17g\n", filter->coefficients[i]);
  }
  return 0;
}
