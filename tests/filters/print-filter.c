/* Prints a filter for check_scipy.py: print-filter AXES DESIGN NAME=VALUE ...
 * writes its sizes x y z t, then its coefficients, one a line; or the error,
 * with exit status 1.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stdio.h>
#include <string.h>

#include "filters/nddesign.h"

int
main (int argc, char **argv)
{
  g_autoptr (NdParameters) parameters = nd_parameters_new ();
  g_autoptr (NdFilter) filter = NULL;
  g_autoptr (GError) error = NULL;
  NdAxes axes = { 0, };

  if (argc < 3)
    return 2;
  for (const gchar * at = argv[1]; *at && axes.n < ND_AXES; at++)
    axes.axis[axes.n++] = *at == 't' ? ND_AXIS_T : (NdAxis) (*at - 'x');
  for (int i = 3; i < argc; i++) {
    g_auto (GStrv) pair = g_strsplit (argv[i], "=", 2);

    nd_parameters_set_text (parameters, pair[0], pair[1]);
  }
  filter = nd_design (argv[2], parameters, &axes, &error);
  if (filter == NULL) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  for (guint a = 0; a < ND_AXES; a++)
    printf ("%" G_GSIZE_FORMAT "%c", filter->size[a], a < 3 ? ' ' : '\n');
  for (gsize i = 0; i < nd_filter_count (filter); i++)
    printf ("%.17g\n", filter->coefficients[i]);
  return 0;
}
