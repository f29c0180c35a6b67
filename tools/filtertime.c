/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/filtertime.h"

#include "lib/ndconv/ndconv.h"

#include <stdarg.h>
#include <string.h>

#define DENOISER "nddenoise"

/* Of a measurement. */
#define SECONDS 1.0

/* The share of the interval between volumes that computing may take, because
 * the rest of a pipeline takes time, too. */
#define SHARE 0.8

static gboolean
read_size (const gchar *text, gsize size[4], GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);
  const guint n = g_strv_length (parts);

  for (guint i = 0; i < 4; i++)
    size[i] = 1;
  for (guint i = 0; i < n && n <= 3; i++) {
    guint64 number;

    if (!g_ascii_string_to_unsigned (parts[i], 10, 1, G_MAXINT, &number, NULL))
      break;
    size[i] = number;
    if (i + 1 == n)
      return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "--size=%s: write one to three numbers of samples, as in 128:128:64",
      text);
  return FALSE;
}

static gboolean
read_rate (const gchar *text, gdouble *rate, GError **error)
{
  gchar *end;
  gdouble divisor = 1;

  *rate = g_ascii_strtod (text, &end);
  if (*end == '/' && end != text)
    divisor = g_ascii_strtod (end + 1, &end);
  if (*end == 0 && *rate > 0 && divisor > 0) {
    *rate /= divisor;
    return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "--rate=%s: write volumes per second, as in 20 or 30000/1001", text);
  return FALSE;
}

static NdSettings *
make_settings (const NdTimeOptions *options, const gchar *backend,
    GError **error)
{
  g_autoptr (NdSettings) settings = nd_settings_new ();

  if (!nd_settings_set (settings, "axes", options->axes, error)
      || !nd_settings_set (settings, "spacing", options->spacing, error)
      || !nd_settings_set (settings, "rate", options->rate, error)
      || !nd_settings_set (settings, "backend", backend, error))
    return NULL;
  return g_steal_pointer (&settings);
}

static gboolean
time_of (const gchar *what, const NdTimeOptions *options, const gchar *backend,
    const gsize size[4], NdTiming *timing, GError **error)
{
  g_autoptr (NdSettings) settings = make_settings (options, backend, error);
  g_autoptr (NdFilters) filters = NULL;
  NdArray volume;

  if (!settings)
    return FALSE;
  nd_array_init (&volume, NULL, options->type ? options->type : "uint8", 1,
      size);
  if (g_str_has_prefix (what, DENOISER)) {
    const gchar *rest = what + strlen (DENOISER);

    return nd_time_denoiser (*rest == ',' ? rest + 1 : rest, settings, &volume,
        SECONDS, NULL, timing, error);
  }
  filters = nd_filters_new (what, settings, NULL, error);
  return filters
      && nd_time_filters (filters, settings, &volume, SECONDS, NULL, timing,
          error);
}

static void
print_cell (const gchar *format, ...)
{
  va_list arguments;
  g_autofree gchar *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_print ("%-11s", text);
}

static void
print_head (gboolean live)
{
  static const gchar *const heads[] = { "back end", "method", "ms", "volumes/s",
    "MiB", "delay", "latency", "live" };

  for (guint i = 0; i < (live ? 8 : 6); i++)
    print_cell ("%s", heads[i]);
  g_print ("\n");
}

/* The age of an output is that of the volumes that it waits for, and its own
 * time. */
static void
print_row (const NdTiming *t, gdouble rate)
{
  const gchar *about = t->measured ? "" : "~";
  const gdouble busy = t->seconds * rate;

  print_cell ("%s", t->backend);
  print_cell ("%s", t->method);
  if (t->seconds > 0) {
    print_cell ("%s%.3g", about, 1e3 * t->seconds);
    print_cell ("%s%.3g", about, 1 / t->seconds);
  } else {
    print_cell ("unknown");
    print_cell ("unknown");
  }
  print_cell ("%.3g", t->bytes / 1048576.0);
  print_cell ("%u", t->delay);
  if (rate > 0) {
    print_cell ("%.3g ms", 1e3 * (t->delay / rate + t->seconds));
    print_cell ("%s", busy <= SHARE ? "yes" : busy <= 1 ? "hardly" : "no");
  }
  g_print ("\n");
}

gboolean
nd_filter_time (const gchar *what, const NdTimeOptions *options, GError **error)
{
  g_auto (GStrv) backends = nd_list_backends ();
  gdouble rate = 0;
  gsize size[4];
  guint done = 0, tried = 0;
  g_autoptr (GString) refusals = g_string_new (NULL);
  g_autoptr (GError) why = NULL;

  if (!options->size) {
    g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The size of a volume is missing: --size=X:Y:Z");
    return FALSE;
  }
  if (!read_size (options->size, size, error)
      || (options->rate && !read_rate (options->rate, &rate, error)))
    return FALSE;
  for (guint i = 0; backends[i]; i++) {
    g_autoptr (GError) refusal = NULL;
    NdTiming timing;

    if (options->backend && strcmp (options->backend, backends[i]) != 0)
      continue;
    tried++;
    if (!time_of (what, options, backends[i], size, &timing, &refusal)) {
      /* The others may do it. */
      g_string_append_printf (refusals, "%s: %s\n", backends[i],
          refusal->message);
      if (!why)
        why = g_steal_pointer (&refusal);
      continue;
    }
    if (done++ == 0)
      print_head (rate > 0);
    print_row (&timing, rate);
  }
  if (done > 0) {
    g_printerr ("%s", refusals->str);
    return TRUE;
  }
  if (tried > 0) {
    g_propagate_error (error, g_steal_pointer (&why));
    return FALSE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_INIT,
      "Back end '%s' does not work on this machine", options->backend);
  return FALSE;
}
