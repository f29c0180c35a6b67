/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/json.h"
#include "filters/axes.h"
#include "lib/private.h"

#include <string.h>

/* Elements take axes, spacing and rate from caps. */
static const NdSetting own_settings[] = {
  { "axes", "Axes", "Axes of the filters: x, xy, xyz, xyt or xyzt",
      ND_FIELD_STRING (NdSettings, axes, "xyz") },
  { "spacing", "Spacing",
      "Distance of samples along x, y, z in mm, as 0.3:0.3:0.5, or with units, "
      "as 0.3um:0.3um:1um; for parameters with units",
      ND_FIELD_STRING (NdSettings, spacing, NULL) },
  { "rate", "Rate",
      "Volumes per second, as 20 or 30000/1001; for parameters with units",
      ND_FIELD_STRING (NdSettings, rate, NULL) },
};
static const guint n_own_settings = G_N_ELEMENTS (own_settings);

/* Rows for the struct at @offset of NdSettings. The first row with a name
 * counts. */
static const struct
{
  const NdSetting *rows;
  const guint *n;
  gsize offset;
} parts[] = {
  { nd_filter_settings, &nd_n_filter_settings,
      G_STRUCT_OFFSET (NdSettings, conv) },
  { own_settings, &n_own_settings, 0 },
  { nd_device_settings, &nd_n_device_settings,
      G_STRUCT_OFFSET (NdSettings, device) },
  { nd_filter_device_settings, &nd_n_filter_device_settings,
      G_STRUCT_OFFSET (NdSettings, device) },
  { nd_registrar_settings, &nd_n_registrar_settings,
      G_STRUCT_OFFSET (NdSettings, registrar) },
  { nd_ranker_settings, &nd_n_ranker_settings,
      G_STRUCT_OFFSET (NdSettings, ranker) },
  { nd_deconvolver_settings, &nd_n_deconvolver_settings,
      G_STRUCT_OFFSET (NdSettings, deconvolver) },
};
#define REGISTRAR (G_N_ELEMENTS (parts) - 3)
#define RANKER (G_N_ELEMENTS (parts) - 2)
#define DECONVOLVER (G_N_ELEMENTS (parts) - 1)

#define AT(settings, part) ((guint8 *) (settings) + parts[part].offset)

NdSettings *
nd_settings_new (void)
{
  NdSettings *settings = g_new0 (NdSettings, 1);

  for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
    nd_settings_init (parts[p].rows, *parts[p].n, AT (settings, p));
  return settings;
}

const NdSettings *
nd_settings_or_default (const NdSettings *settings)
{
  static NdSettings *defaults;

  if (g_once_init_enter (&defaults))
    g_once_init_leave (&defaults, nd_settings_new ());
  return settings ? settings : defaults;
}

NdSettings *
nd_settings_copy (const NdSettings *settings)
{
  NdSettings *copy = nd_settings_new ();

  for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
    nd_settings_assign (parts[p].rows, *parts[p].n, AT (copy, p),
        AT (settings, p));
  copy->serial = settings->serial;
  return copy;
}

void
nd_settings_free (NdSettings *settings)
{
  for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
    nd_settings_clear (parts[p].rows, *parts[p].n, AT (settings, p));
  g_free (settings);
}

/* A name behind REGISTER_PREFIX is one of registration, for names that filters
 * have, too. */
#define REGISTER_PREFIX "register-"

static const NdSetting *
find_row (const gchar *name, guint *part, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  guint end = G_N_ELEMENTS (parts);

  *part = 0;
  if (g_str_has_prefix (name, REGISTER_PREFIX)) {
    name += strlen (REGISTER_PREFIX);
    *part = REGISTRAR;
    end = REGISTRAR + 1;
  }
  for (; *part < end; (*part)++) {
    for (guint i = 0; i < *parts[*part].n; i++) {
      const NdSetting *row = &parts[*part].rows[i];

      if (strcmp (row->name, name) == 0)
        return row;
      g_string_append_printf (names, "%s%s", names->len ? ", " : "", row->name);
    }
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "There is no setting '%s'; there are %s", name, names->str);
  return NULL;
}

/* What the table does not say about a text. */
static gboolean
check_text (const gchar *name, const gchar *value, GError **error)
{
  NdAxes axes;

  if (strcmp (name, "axes") == 0)
    return nd_axes_from_text (value, &axes, error);
  return strcmp (name, "devices") != 0 || nd_devices_check (value, error);
}

static guint64
next_serial (void)
{
  static guint64 last;

  return __atomic_add_fetch (&last, 1, __ATOMIC_RELAXED);
}

gboolean
nd_settings_set (NdSettings *settings, const gchar *name, const gchar *value,
    GError **error)
{
  guint part;
  const NdSetting *row = find_row (name, &part, error);

  if (!row)
    return FALSE;
  settings->serial = next_serial ();
  if (value)
    return check_text (name, value, error)
        && nd_setting_parse (row, value, AT (settings, part), error);
  nd_settings_init (row, 1, AT (settings, part));
  return TRUE;
}

gchar *
nd_list_settings (void)
{
  GString *json = g_string_new ("{");

  nd_json_name (json, "convolve");
  g_string_append_c (json, '[');
  for (guint p = 0; p < REGISTRAR; p++)
    nd_settings_describe (parts[p].rows, *parts[p].n, json);
  g_string_append_c (json, ']');
  nd_json_name (json, "register");
  g_string_append_c (json, '[');
  nd_settings_describe (parts[REGISTRAR].rows, *parts[REGISTRAR].n, json);
  g_string_append_c (json, ']');
  nd_json_name (json, "rank");
  g_string_append_c (json, '[');
  nd_settings_describe (parts[RANKER].rows, *parts[RANKER].n, json);
  g_string_append_c (json, ']');
  nd_json_name (json, "deconvolve");
  g_string_append_c (json, '[');
  nd_settings_describe (parts[DECONVOLVER].rows, *parts[DECONVOLVER].n, json);
  g_string_append (json, "]}");
  return g_string_free (json, FALSE);
}
