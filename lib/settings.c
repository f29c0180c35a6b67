/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/register.h"
#include "filters/axes.h"
#include "lib/private.h"

#include <math.h>
#include <string.h>

typedef enum
{
  TEXT,
  AXES,
  DEVICES,
  FLAG,
  NUMBER,
  INTEGER,
  BYTES,
  NAME
} Kind;

typedef struct
{
  const gchar *name;
  Kind kind;
  gsize offset;
  gint low, high;                    /* of INTEGER and NAME */
  const gchar *(*get_name) (gint i); /* NULL for a number without a name */
} Row;

static const gchar *
border_name (gint i)
{
  return nd_border_name (i);
}

static const gchar *
type_name (gint i)
{
  return i == ND_SAMPLE_SAME ? "same" : nd_sample_name (i);
}

static const gchar *
response_name (gint i)
{
  return nd_response_name (i);
}

static const gchar *
method_name (gint i)
{
  return nd_method_name (i);
}

static const gchar *
accuracy_name (gint i)
{
  return nd_accuracy_name (i);
}

static const gchar *
precision_name (gint i)
{
  return nd_precision_name (i);
}

static const gchar *
model_name (gint i)
{
  static const gchar *const names[] = { "translation", "rigid", "affine" };

  return names[i];
}

static const gchar *
mask_name (gint i)
{
  return i ? "nonzero" : "none";
}

static const gchar *
interpolation_name (gint i)
{
  return i == ND_INTERPOLATION_CUBIC ? "cubic" : "linear";
}

#define AT(field) G_STRUCT_OFFSET (NdSettings, field)

static const Row rows[] = {
  { "axes", AXES, AT (axes) },
  { "origin", TEXT, AT (origin) },
  { "causal", FLAG, AT (causal) },
  { "normalize", FLAG, AT (normalize) },
  { "spacing", TEXT, AT (spacing) },
  { "rate", TEXT, AT (rate) },
  { "border", NAME, AT (border), 0, ND_BORDER_END - 1, border_name },
  { "time-border", NAME, AT (time_border), 0, ND_BORDER_END - 1, border_name },
  { "border-value", NUMBER, AT (border_value) },
  { "gain", NUMBER, AT (gain) },
  { "offset", NUMBER, AT (offset) },
  { "output-type", NAME, AT (output_type), 0, ND_STREAM_TYPES - 1, type_name },
  { "response", NAME, AT (response), 0, ND_RESPONSE_END - 1, response_name },
  { "threshold", NUMBER, AT (threshold) },
  { "backend", TEXT, AT (backend) },
  { "device-id", INTEGER, AT (device_id), -1, G_MAXINT },
  { "devices", DEVICES, AT (devices) },
  { "method", NAME, AT (method), 0, ND_METHOD_END - 1, method_name },
  { "accuracy", NAME, AT (accuracy), 0, ND_ACCURACY_END - 1, accuracy_name },
  { "precision", NAME, AT (precision), 0, ND_PRECISION_END - 1,
      precision_name },
  { "n-threads", INTEGER, AT (n_threads), 0, 256 },
  { "memory-limit", BYTES, AT (memory_limit) },
  { "model", NAME, AT (model), 0, ND_REGISTER_AFFINE, model_name },
  { "reference", TEXT, AT (reference) },
  { "channel", INTEGER, AT (channel), -1, G_MAXINT },
  { "mask", NAME, AT (mask), 0, 1, mask_name },
  { "levels", INTEGER, AT (levels), 1, ND_REGISTER_MAX_LEVELS },
  { "iterations", INTEGER, AT (iterations), 1, ND_REGISTER_MAX_ITERATIONS },
  { "interpolation", NAME, AT (interpolation), 0, ND_INTERPOLATION_CUBIC,
      interpolation_name },
};

static const NdSettings defaults = {
  .border = ND_BORDER_NEAREST,
  .time_border = ND_BORDER_NEAREST,
  .gain = 1,
  .output_type = ND_SAMPLE_SAME,
  .device_id = -1,
  .method = ND_METHOD_AUTO,
  .model = ND_REGISTER_RIGID,
  .channel = -1,
  .levels = 3,
  .iterations = 12,
  .interpolation = ND_INTERPOLATION_CUBIC,
};

const NdSettings *
nd_settings_or_default (const NdSettings *settings)
{
  return settings ? settings : &defaults;
}

NdSettings *
nd_settings_new (void)
{
  return nd_settings_copy (&defaults);
}

static gboolean
is_text (const Row *row)
{
  return row->kind == TEXT || row->kind == AXES || row->kind == DEVICES;
}

NdSettings *
nd_settings_copy (const NdSettings *settings)
{
  NdSettings *copy = g_memdup2 (settings, sizeof (*settings));

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (is_text (&rows[i])) {
      gchar **text = G_STRUCT_MEMBER_P (copy, rows[i].offset);

      *text = g_strdup (*text);
    }
  }
  return copy;
}

void
nd_settings_free (NdSettings *settings)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (is_text (&rows[i]))
      g_free (G_STRUCT_MEMBER (gchar *, settings, rows[i].offset));
  }
  g_free (settings);
}

static const Row *
find_row (const gchar *name, GError **error)
{
  GString *names;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (strcmp (rows[i].name, name) == 0)
      return &rows[i];
  }
  names = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_string_append_printf (names, "%s%s", i ? ", " : "", rows[i].name);
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "There is no setting '%s'; there are %s", name, names->str);
  g_string_free (names, TRUE);
  return NULL;
}

static gboolean
read_name (const Row *row, const gchar *value, gint *to, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (gint i = row->low; i <= row->high; i++) {
    const gchar *name = row->get_name (i);

    if (name && strcmp (name, value) == 0) {
      *to = i;
      return TRUE;
    }
    if (name)
      g_string_append_printf (names, "%s%s", names->len ? ", " : "", name);
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s is '%s'; it must be one of %s", row->name, value, names->str);
  return FALSE;
}

/* border-value has the range of float32, in which most jobs compute. */
static gboolean
read_number (const Row *row, const gchar *value, gdouble *to, GError **error)
{
  const gdouble most =
      row->offset == AT (border_value) ? G_MAXFLOAT : G_MAXDOUBLE;
  gchar *end;
  const gdouble number = g_ascii_strtod (value, &end);

  if (end != value && *end == '\0' && fabs (number) <= most) {
    *to = number;
    return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s is '%s'; it must be a finite number, at most %g", row->name, value,
      most);
  return FALSE;
}

static gboolean
read_integer (const Row *row, const gchar *value, gint *to, GError **error)
{
  gint64 number;

  if (g_ascii_string_to_signed (value, 10, row->low, row->high, &number,
          NULL)) {
    *to = number;
    return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s is '%s'; it must be an integer from %d to %d", row->name, value,
      row->low, row->high);
  return FALSE;
}

static gboolean
read_bytes (const Row *row, const gchar *value, gint64 *to, GError **error)
{
  if (g_ascii_string_to_signed (value, 10, 0, G_MAXINT64, to, NULL))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s is '%s'; it must be a number of bytes, 0 for no limit", row->name,
      value);
  return FALSE;
}

static gboolean
read_flag (const Row *row, const gchar *value, gboolean *to, GError **error)
{
  const gboolean yes = strcmp (value, "true") == 0;

  if (yes || strcmp (value, "false") == 0) {
    *to = yes;
    return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s is '%s'; it must be true or false", row->name, value);
  return FALSE;
}

/* "auto" is no back end but the absence of a choice. */
static gboolean
read_text (const Row *row, const gchar *value, gchar **to, GError **error)
{
  NdAxes axes;

  if (row->kind == AXES && !nd_axes_from_text (value, &axes, error))
    return FALSE;
  if (row->kind == DEVICES && !nd_devices_check (value, error))
    return FALSE;
  g_free (*to);
  *to = row->offset == AT (backend) && strcmp (value, "auto") == 0
      ? NULL
      : g_strdup (value);
  return TRUE;
}

static void
restore (NdSettings *settings, const Row *row)
{
  gpointer to = G_STRUCT_MEMBER_P (settings, row->offset);
  gconstpointer from = G_STRUCT_MEMBER_P (&defaults, row->offset);

  if (is_text (row)) {
    g_free (*(gchar **) to);
    *(gchar **) to = NULL;
  } else if (row->kind == NUMBER) {
    *(gdouble *) to = *(const gdouble *) from;
  } else if (row->kind == BYTES) {
    *(gint64 *) to = *(const gint64 *) from;
  } else {
    *(gint *) to = *(const gint *) from;
  }
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
  const Row *row = find_row (name, error);
  gpointer to;

  if (!row)
    return FALSE;
  settings->serial = next_serial ();
  to = G_STRUCT_MEMBER_P (settings, row->offset);
  if (!value) {
    restore (settings, row);
    return TRUE;
  }
  switch (row->kind) {
    case FLAG:
      return read_flag (row, value, to, error);
    case NUMBER:
      return read_number (row, value, to, error);
    case INTEGER:
      return read_integer (row, value, to, error);
    case BYTES:
      return read_bytes (row, value, to, error);
    case NAME:
      return read_name (row, value, to, error);
    case TEXT:
    case AXES:
    case DEVICES:
      break;
  }
  return read_text (row, value, to, error);
}
