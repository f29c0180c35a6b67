/* The description of ImageJ: lines key=value with the counts of channels,
 * slices and frames, units, and the calibration of values.
 * https://imagej.net/ij/source/ij/io/FileSaver.java, FileOpener.java
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffaxes.h"
#include "formats/units.h"

#include <math.h>
#include <string.h>

/* ImageJ's lines are at the beginning. */
#define LINES_MAX (16 * 1024)

/* Functions of a calibration, ij/measure/Calibration.java. */
#define STRAIGHT_LINE 0
#define LAST_FUNCTION 13
#define UNCALIBRATED_OD 21
#define COEFFICIENTS 5

typedef struct
{
  const gchar *unit, *y_unit, *z_unit, *time_unit, *value_unit;
  const gchar *coefficients[COEFFICIENTS];
  const gchar *function, *interval, *fps;
  const gchar *zero_clip;
  const gchar *origin[3]; /* pixels */
  const gchar *images, *channels, *slices, *frames, *spacing;
} Values;

static gdouble
positive (const gchar *text)
{
  const gdouble value = text ? fabs (g_ascii_strtod (text, NULL)) : 0;

  return isfinite (value) ? value : 0;
}

static guint64
tiff_imagej_count (const gchar *text)
{
  return text ? g_ascii_strtoull (text, NULL, 10) : 1;
}

static void
tiff_imagej_note (Values *values, const gchar *key, const gchar *value)
{
  const struct
  {
    const gchar *key;
    const gchar **value;
  } keys[] = {
    { "images", &values->images },
    { "channels", &values->channels },
    { "slices", &values->slices },
    { "frames", &values->frames },
    { "unit", &values->unit },
    { "yunit", &values->y_unit },
    { "zunit", &values->z_unit },
    { "tunit", &values->time_unit },
    { "vunit", &values->value_unit },
    { "spacing", &values->spacing },
    { "xorigin", &values->origin[0] },
    { "yorigin", &values->origin[1] },
    { "zorigin", &values->origin[2] },
    { "finterval", &values->interval },
    { "fps", &values->fps },
    { "zeroclip", &values->zero_clip },
    { "cf", &values->function },
    { "c0", &values->coefficients[0] },
    { "c1", &values->coefficients[1] },
    { "c2", &values->coefficients[2] },
    { "c3", &values->coefficients[3] },
    { "c4", &values->coefficients[4] },
  };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    if (strcmp (key, keys[i].key) == 0)
      *keys[i].value = value;
  }
}

static gdouble
tiff_imagej_time_unit (const gchar *name)
{
  return name && *name ? nd_unit_seconds (name) : 1;
}

static void
set_units (NdTiffAxes *axes, const Values *values)
{
  const gdouble unit = nd_unit_mm (values->unit);
  const gdouble interval = positive (values->interval);

  axes->resolution_units[0] = unit;
  axes->resolution_units[1] =
      values->y_unit ? nd_unit_mm (values->y_unit) : unit;
  axes->spacing[2] = positive (values->spacing)
      * (values->z_unit ? nd_unit_mm (values->z_unit) : unit);
  for (guint a = 0; a < 3; a++) {
    if (values->origin[a])
      axes->origin[a] = g_ascii_strtod (values->origin[a], NULL);
  }
  axes->seconds = interval * tiff_imagej_time_unit (values->time_unit);
  if (interval > 0 && axes->seconds == 0)
    axes->warning = "ImageJ's interval of frames has a unit (tunit) that is "
                    "not one of time: it is not used";
  /* The speed at which ImageJ plays the stack. */
  if (interval == 0 && positive (values->fps) > 0)
    axes->seconds = 1 / positive (values->fps);
}

/* ImageJ calibrates only if there is a unit of the values. */
static void
set_calibration (NdTiffAxes *axes, const Values *values)
{
  gdouble numbers[2];
  gint64 function;

  if (!values->function || !values->value_unit)
    return;
  function = g_ascii_strtoll (values->function, NULL, 10);
  if (function == STRAIGHT_LINE && values->coefficients[0]
      && values->coefficients[1]) {
    for (guint i = 0; i < 2; i++)
      numbers[i] = g_ascii_strtod (values->coefficients[i], NULL);
    axes->intercept = numbers[0];
    axes->slope = numbers[1];
    axes->calibrated = isfinite (numbers[0]) && isfinite (numbers[1]);
    if (values->zero_clip && strcmp (values->zero_clip, "true") == 0)
      axes->warning = "ImageJ shows calibrated values below 0 as 0: they are "
                      "read as they are";
  } else if ((function > STRAIGHT_LINE && function <= LAST_FUNCTION
                 && values->coefficients[0] && values->coefficients[1])
      || function == UNCALIBRATED_OD) {
    axes->warning = "ImageJ calibrates its values by a function that is not a "
                    "straight line (cf): the samples are read as they are "
                    "stored";
  }
}

void
nd_tiff_imagej_parse (NdTiffAxes *axes, const gchar *description, guint64 pages)
{
  g_autofree gchar *begin = g_strndup (description, LINES_MAX);
  g_auto (GStrv) lines = g_strsplit (begin, "\n", -1);
  Values values = { 0 };
  guint64 most;

  for (guint i = 0; lines[i]; i++) {
    gchar *value = strchr (lines[i], '=');

    if (!value)
      continue;
    *value++ = '\0';
    tiff_imagej_note (&values, lines[i], g_strchomp (value));
  }
  axes->kind = ND_TIFF_IMAGEJ;
  axes->known = TRUE;
  axes->channels = tiff_imagej_count (values.channels);
  axes->slices = tiff_imagej_count (values.slices);
  axes->volumes = tiff_imagej_count (values.frames);
  axes->images = MAX (tiff_imagej_count (values.images), 1);
  set_units (axes, &values);
  set_calibration (axes, &values);
  most = MAX (axes->images, pages);
  if (axes->slices * axes->channels == 1 && axes->volumes == 1)
    axes->slices = most;
  if (nd_tiff_product (axes->channels, axes->slices, axes->volumes, most)
      != most) {
    axes->warning = "ImageJ's description has other counts of channels, slices "
                    "and frames than pages: the pages are taken as slices";
    axes->known = FALSE;
    axes->channels = axes->volumes = 1;
    axes->slices = most;
  }
}
