/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/units.h"

#include <string.h>

#define MICRO_SIGN "\302\265"
#define GREEK_MU "\316\274"
#define LATIN_1 "\265"
#define IMAGEJ "\\u00B5" /* as ImageJ writes the micro sign */

typedef struct
{
  const gchar *name; /* a plural with s is the same */
  gdouble factor;
} Unit;

static const Unit lengths[] = {
  { "pm", 1e-9 },
  { "angstrom", 1e-7 },
  { "\303\205", 1e-7 },
  { "nm", 1e-6 },
  { "nanometer", 1e-6 },
  { "um", 1e-3 },
  { MICRO_SIGN "m", 1e-3 },
  { GREEK_MU "m", 1e-3 },
  { LATIN_1 "m", 1e-3 },
  { IMAGEJ "m", 1e-3 },
  { "micron", 1e-3 },
  { "micrometer", 1e-3 },
  { "mm", 1 },
  { "millimeter", 1 },
  { "cm", 10 },
  { "centimeter", 10 },
  { "decimeter", 100 },
  { "m", 1e3 },
  { "meter", 1e3 },
  { "in", 25.4 },
  { "inch", 25.4 },
};

static const Unit times[] = {
  { "ns", 1e-9 },
  { "nsec", 1e-9 },
  { "nanosecond", 1e-9 },
  { "us", 1e-6 },
  { MICRO_SIGN "s", 1e-6 },
  { GREEK_MU "s", 1e-6 },
  { LATIN_1 "s", 1e-6 },
  { IMAGEJ "s", 1e-6 },
  { "usec", 1e-6 },
  { MICRO_SIGN "sec", 1e-6 },
  { GREEK_MU "sec", 1e-6 },
  { LATIN_1 "sec", 1e-6 },
  { IMAGEJ "sec", 1e-6 },
  { "microsecond", 1e-6 },
  { "ms", 1e-3 },
  { "msec", 1e-3 },
  { "millisecond", 1e-3 },
  { "s", 1 },
  { "sec", 1 },
  { "second", 1 },
  { "min", 60 },
  { "minute", 60 },
  { "h", 3600 },
  { "hr", 3600 },
  { "hour", 3600 },
  { "d", 86400 },
  { "day", 86400 },
};

/* Ms and ms differ, so that short names have one case and no plural. */
static gboolean
is_name (const gchar *name, const gchar *unit)
{
  const gsize n = strlen (unit);

  if (strcmp (name, unit) == 0)
    return TRUE;
  return (n > 2 || strcmp (unit, "hr") == 0)
      && g_ascii_strncasecmp (name, unit, n) == 0
      && (name[n] == '\0' || strcmp (name + n, "s") == 0);
}

static gdouble
find_unit (const Unit *units, gsize n, const gchar *name)
{
  for (gsize i = 0; name && i < n; i++) {
    if (is_name (name, units[i].name))
      return units[i].factor;
  }
  return 0;
}

gdouble
nd_unit_mm (const gchar *name)
{
  return find_unit (lengths, G_N_ELEMENTS (lengths), name);
}

gdouble
nd_unit_seconds (const gchar *name)
{
  return find_unit (times, G_N_ELEMENTS (times), name);
}
