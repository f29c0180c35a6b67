/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"

#include "core/printable.h"

/* Not G_DEFINE_QUARK, in which threads write a variable without a lock. */
GQuark
nd_error_quark (void)
{
  return g_quark_from_static_string ("nd-error-quark");
}

GError *
nd_error_new_valist (GQuark domain, gint code, const gchar *format,
    va_list arguments)
{
  g_autofree gchar *message =
      nd_printable_take (g_strdup_vprintf (format, arguments));

  return g_error_new_literal (domain, code, message);
}

GError *
nd_error_new (GQuark domain, gint code, const gchar *format, ...)
{
  GError *error;
  va_list arguments;

  va_start (arguments, format);
  error = nd_error_new_valist (domain, code, format, arguments);
  va_end (arguments);
  return error;
}

void
nd_set_error (GError **error, GQuark domain, gint code, const gchar *format,
    ...)
{
  va_list arguments;

  if (!error)
    return;
  va_start (arguments, format);
  g_propagate_error (error,
      nd_error_new_valist (domain, code, format, arguments));
  va_end (arguments);
}

void
nd_set_error_literal (GError **error, GQuark domain, gint code,
    const gchar *message)
{
  nd_set_error (error, domain, code, "%s", message);
}

static void
prefix (GError *error, const gchar *format, va_list arguments)
{
  g_autofree gchar *begin = g_strdup_vprintf (format, arguments);
  g_autofree gchar *message = error->message;

  error->message = nd_printable_take (g_strconcat (begin, message, NULL));
}

void
nd_prefix_error (GError **error, const gchar *format, ...)
{
  va_list arguments;

  if (!error || !*error)
    return;
  va_start (arguments, format);
  prefix (*error, format, arguments);
  va_end (arguments);
}

void
nd_propagate_prefixed_error (GError **error, GError *from, const gchar *format,
    ...)
{
  va_list arguments;

  va_start (arguments, format);
  prefix (from, format, arguments);
  va_end (arguments);
  g_propagate_error (error, from);
}
