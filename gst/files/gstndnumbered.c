/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/files/gstndnumbered.h"

#include "core/error.h"

#define MAX_WIDTH 20

/* Appends @number as the conversion after a % at @text says. Returns the text
 * after it, or NULL if it is no %d. */
static const gchar *
numbered_append_number (GString *name, const gchar *text, guint number)
{
  const gboolean zeros = *text == '0';
  guint width = 0;

  while (g_ascii_isdigit (*text) && width <= MAX_WIDTH)
    width = 10 * width + (*text++ - '0');
  if (*text != 'd' || width > MAX_WIDTH)
    return NULL;
  g_string_append_printf (name, zeros ? "%0*u" : "%*u", (gint) width, number);
  return text + 1;
}

gchar *
gst_nd_numbered_name (const gchar *pattern, guint number, GError **error)
{
  g_autoptr (GString) name = g_string_new (NULL);
  const gchar *text = pattern;
  guint numbers = 0;

  while (text && *text) {
    if (*text != '%') {
      g_string_append_c (name, *text++);
    } else if (text[1] == '%') {
      g_string_append_c (name, '%');
      text += 2;
    } else {
      text = numbered_append_number (name, text + 1, number);
      numbers++;
    }
  }
  if (text && numbers == 1)
    return g_string_free (g_steal_pointer (&name), FALSE);
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "Property 'location' is \"%s\": with 'max-volumes' or 'max-time' it must "
      "have one place for the number of the file, for example "
      "heart-%%05d.nii.gz",
      pattern);
  return NULL;
}
