/* Chooses among devices, and says which ones there are.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtldevices.h"

#include <string.h>

#include "core/error.h"

#define NAMES_MAX 64
#define PATIENCE (5 * G_TIME_SPAN_SECOND)

void
gst_nd_igtl_devices_init (GstNdIgtlDevices *devices, const gchar *chosen)
{
  *devices = (GstNdIgtlDevices){ .chosen = *chosen ? g_strdup (chosen) : NULL,
    .names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
}

void
gst_nd_igtl_devices_clear (GstNdIgtlDevices *devices)
{
  g_hash_table_unref (devices->names);
  g_free (devices->chosen);
}

gboolean
gst_nd_igtl_devices_is_wanted (GstNdIgtlDevices *devices, const gchar *name)
{
  if (g_hash_table_size (devices->names) < NAMES_MAX
      || g_hash_table_contains (devices->names, name))
    g_hash_table_insert (devices->names, g_strdup (name),
        GUINT_TO_POINTER (devices->n_waits));
  if (!devices->chosen)
    devices->chosen = g_strdup (name);
  return strcmp (devices->chosen, name) == 0;
}

void
gst_nd_igtl_devices_wait (GstNdIgtlDevices *devices)
{
  if (devices->waiting != 0)
    return;
  devices->waiting = g_get_monotonic_time ();
  devices->n_waits++;
}

void
gst_nd_igtl_devices_end_wait (GstNdIgtlDevices *devices)
{
  devices->waiting = 0;
  devices->told = FALSE;
}

gint64
gst_nd_igtl_devices_deadline (const GstNdIgtlDevices *devices)
{
  return devices->waiting == 0 || devices->told ? 0
                                                : devices->waiting + PATIENCE;
}

/* The names of the devices that came in wait @first or later. */
static gchar *
list (const GstNdIgtlDevices *devices, guint first)
{
  g_autoptr (GList) names = g_hash_table_get_keys (devices->names);
  GString *text = g_string_new (NULL);

  names = g_list_sort (names, (GCompareFunc) strcmp);
  for (GList *link = names; link; link = link->next) {
    const gpointer wait = g_hash_table_lookup (devices->names, link->data);

    if (GPOINTER_TO_UINT (wait) >= first)
      g_string_append_printf (text, text->len ? ", \"%s\"" : "\"%s\"",
          (const gchar *) link->data);
  }
  return g_string_free (text, FALSE);
}

gchar *
gst_nd_igtl_devices_list (const GstNdIgtlDevices *devices)
{
  return list (devices, 0);
}

static gboolean
came (const GstNdIgtlDevices *devices, const gchar *name)
{
  const gpointer wait = g_hash_table_lookup (devices->names, name);

  return GPOINTER_TO_UINT (wait) == devices->n_waits;
}

GError *
gst_nd_igtl_devices_tell (GstNdIgtlDevices *devices)
{
  const gchar *chosen = devices->chosen;
  g_autofree gchar *names = list (devices, devices->n_waits);

  devices->told = TRUE;
  if (chosen && came (devices, chosen))
    return g_error_new (ND_ERROR, ND_ERROR_NOT_FOUND,
        "No whole volume of device \"%s\" arrived in 5 s, although its "
        "messages began to: bytes-received, crc-errors, messages-refused and "
        "volumes-incomplete in stats tell why",
        chosen);
  if (*names)
    return g_error_new (ND_ERROR, ND_ERROR_NOT_FOUND,
        "No IMAGE of device \"%s\" arrived in 5 s, only those of %s: set "
        "device-name to one of these, or leave it empty for the first device",
        chosen, names);
  return g_error_new (ND_ERROR, ND_ERROR_NOT_FOUND,
      "No IMAGE arrived in 5 s: the peer must send IMAGE messages; see whether "
      "its source of images runs");
}
