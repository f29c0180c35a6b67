/* The texts of properties and settings that are not filters: sizes, axes,
 * spacing, rates, devices, strides, and those of the view; and metadata as
 * text. Each parser gets each text.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/bmode.h"
#include "analysis/rank.h"
#include "analysis/register.h"
#include "analysis/scan.h"
#include "core/error.h"
#include "core/printable.h"
#include "engine/devices.h"
#include "filters/axes.h"
#include "filters/parameters.h"
#include "filters/units.h"
#include "gst/base/gstndformat.h"
#include "gst/gstndtestsrcsettings.h"
#include "gst/view/gstndviewsettings.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include <math.h>
#include <string.h>

const gchar *const fuzz_name = "property";

static void
check (gboolean ok, GError **error)
{
  if (ok && *error)
    g_error ("a result and an error");
  if (!ok)
    fuzz_check_error (*error);
  g_clear_error (error);
}

static guint32
try_numbers (const gchar *text, guint32 sum)
{
  gsize sizes[4] = { 0 };
  const guint n = nd_parse_sizes (text, sizes, G_N_ELEMENTS (sizes));
  NdDimension dimension;
  const gchar *end;
  gdouble value;

  if (n > G_N_ELEMENTS (sizes))
    g_error ("more sizes than fit");
  for (guint i = 0; i < n; i++)
    if (sizes[i] == 0)
      g_error ("a size is 0");
  if (nd_units_parse (text, &value, &dimension, &end))
    sum = fuzz_sum (sum, &value, sizeof (value));
  nd_units_are_in (text);
  return fuzz_sum (sum, sizes, n * sizeof (*sizes));
}

/* Steps that are accepted are lengths and times. */
static void
try_steps (const gchar *spacing, const gchar *rate)
{
  g_autoptr (GError) error = NULL;
  NdAxes axes;
  gboolean ok;

  nd_axes_from_text ("xyzt", &axes, NULL);
  ok = nd_axes_set_steps (&axes, spacing, rate, &error);
  for (guint a = 0; ok && a < ND_AXES; a++)
    if (!(axes.step[a] >= 0) || isinf (axes.step[a]))
      g_error ("a step is %g", axes.step[a]);
  check (ok, &error);
}

static void
try_axes (const gchar *text)
{
  static const gchar *const names[] = { "sigma", "size", "tau", "velocity",
    "center-frequency", "wavelength", "sampling", "other" };
  g_autoptr (GError) error = NULL;
  gdouble values[ND_AXES];
  NdAxes axes;

  check (nd_axes_from_text (text, &axes, &error), &error);
  try_steps (text, NULL);
  try_steps (NULL, text);
  nd_axes_from_text ("xyzt", &axes, NULL);
  nd_axes_set_steps (&axes, "0.5:0.5:1", "25", NULL);
  check (nd_axes_parse (&axes, "sigma", text, 0, values, &error), &error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *resolved =
        nd_units_resolve (names[i], text, &axes, &error);

    check (resolved != NULL, &error);
  }
}

static void
try_devices (const gchar *text)
{
  g_autoptr (GError) error = NULL;

  check (nd_devices_check (text, &error), &error);
  nd_devices_first (text, -1);
}

static void
try_format (const gchar *text)
{
  g_autoptr (GError) error = NULL;
  GstNdFormat format = {
    .type = ND_INT16, .n_planes = 1, .planes = { { 1, { 20, 10, 5 } } }
  };

  check (gst_nd_format_set_strides (&format, text, &error), &error);
  if (format.row > 0 && (format.row < 40 || format.slice / 10 < format.row))
    g_error ("strides %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT, format.row,
        format.slice);
}

static guint32
try_view (gchar *text, guint32 sum)
{
  g_autoptr (GError) error = NULL;
  GstNdViewSettings settings = { .size = text, .opacity = (gchar *) "0:1" };
  GstNdViewSettings resolved;

  check (gst_nd_view_settings_resolve (&settings, &resolved, &error), &error);
  settings = (GstNdViewSettings){ .opacity = text };
  if (gst_nd_view_settings_resolve (&settings, &resolved, &error)) {
    for (guint i = 0; i < ND_LOOK_COLORS; i++)
      if (!(resolved.curve[i] >= 0 && resolved.curve[i] <= 1))
        g_error ("an opacity is %g", resolved.curve[i]);
    sum = fuzz_sum (sum, resolved.curve, sizeof (resolved.curve));
  } else {
    fuzz_check_error (error);
  }
  return sum;
}

static void
try_test_source (gchar *text)
{
  const GstNdTestSrcSettings settings = { .volume_size = text,
    .components = 3 };
  g_autoptr (GError) error = NULL;
  gsize size[3];

  check (gst_nd_test_src_settings_parse_size (&settings, size, &error), &error);
}

/* Whatever the text says, samples lie inside of the beams. */
static void
try_scan (gchar *text, gboolean is_beams)
{
  const NdShape in = { 1, { 5, 4, is_beams ? 3 : 1 } };
  NdGeometry geometry = { .known = FALSE };
  const NdScanSettings settings = { .spacing = is_beams ? NULL : text };
  const NdScanSettings sized = { .size = is_beams ? NULL : text };
  g_autoptr (GError) error = NULL;
  NdBeams beams = { 0 };
  NdScan scan;
  gboolean ok;

  nd_settings_init (nd_beams_settings, nd_n_beams_settings, &beams);
  ok = nd_beams_parse (is_beams ? text : "geometry=linear", &beams, &error);
  check (ok, &error);
  for (guint i = 0; ok && i < 2; i++) {
    const gsize at[3] = { 0, 0, 0 };
    gdouble index[3];

    if (!nd_scan_init (&scan, &beams, i ? &sized : &settings, &in, &geometry,
            &error)) {
      check (FALSE, &error);
      continue;
    }
    for (guint a = 0; nd_scan_index (&scan, at, index) && a < 3; a++)
      if (!(index[a] >= 0 && index[a] <= in.size[a] - 1))
        g_error ("a sample at %g", index[a]);
    nd_scan_clear (&scan);
  }
  nd_settings_clear (nd_beams_settings, nd_n_beams_settings, &beams);
}

static void
try_algorithms (gchar *text)
{
  static const NdShape in = { 2, { 16, 4, 3 } };
  const NdBmodeSettings bmode = { .decimation = 1, .tgc = text };
  g_autoptr (GError) error = NULL;
  NdReference reference;

  check (nd_bmode_check (&bmode, &in, &error), &error);
  check (nd_reference_parse (text, &reference, &error), &error);
  check (nd_footprint_check_text (text, &error), &error);
  try_scan (text, TRUE);
  try_scan (text, FALSE);
}

/* Text of metadata that was read is read again as the same. */
static guint32
try_metadata (const gchar *text, guint32 sum)
{
  g_autoptr (NdMetadata) metadata = nd_metadata_from_text (text);
  g_autoptr (NdMetadata) again = NULL;
  g_autofree gchar *first = NULL, *second = NULL;

  if (!metadata)
    return sum;
  first = nd_metadata_to_text (metadata);
  again = nd_metadata_from_text (first);
  second = again ? nd_metadata_to_text (again) : NULL;
  if (g_strcmp0 (first, second) != 0)
    g_error ("metadata change on their way");
  return fuzz_sum (sum, first, strlen (first));
}

static void
try_printable (const gchar *text)
{
  g_autofree gchar *once = nd_printable (text), *twice = nd_printable (once);

  if (!g_utf8_validate (once, -1, NULL) || strcmp (once, twice) != 0)
    g_error ("printable text is not");
  for (const gchar *p = once; *p; p++)
    if (g_ascii_iscntrl (*p))
      g_error ("printable text has control characters");
}

guint32
fuzz_input (const guint8 *bytes, gsize n)
{
  g_autofree gchar *text = g_strndup ((const gchar *) bytes, n);
  guint32 sum = try_numbers (text, 0);

  try_printable (text);
  sum = try_metadata (text, sum);
  /* Properties are UTF-8. */
  if (!g_utf8_validate (text, -1, NULL))
    return sum;
  try_axes (text);
  try_devices (text);
  try_format (text);
  try_test_source (text);
  try_algorithms (text);
  return try_view (text, sum);
}

void
fuzz_seeds (GPtrArray *seeds)
{
  static const gchar *const texts[] = { "64:48:32", "xyzt", "0.3:0.3:0.5",
    "30000/1001", "0,1,5", "all", "auto", "512:65536", "800:600",
    "0.25:0,0.5:1e-2, 1:0.25", "1.5mm:0.5mm:80ms", "2mm/s:0mm/s",
    "0.4cycles/mm", "5mm:5mm:3s",
    "o 12\nt 0\nt 40000000\nf key value\nv 1 a\\040b c\\\\d\n", "inf",
    "geometry=wobbler,depth=120,angle=75,plane-angles=-10:0:20",
    "geometry=curvilinear,radius=1e-3", "running", "mean:5", "3:3:3:3",
    "cross,size=5", "1mm:1mm:1mm:1mm:1mm", "\x1b[31m\xe2\x80\xae red \xff" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    seeds_append_text (seeds, texts[i], 0);
}
