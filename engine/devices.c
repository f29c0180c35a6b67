/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/devices.h"

#include "core/error.h"

#include <string.h>

#define FORM \
  "use \"all\", \"auto\", or numbers separated by commas, as in \"0,1\""

static gboolean
is_empty (const gchar *text)
{
  return !text || *text == '\0';
}

static gboolean
is_all (const gchar *text)
{
  return strcmp (text, "all") == 0 || strcmp (text, "auto") == 0;
}

static gboolean
devices_add (NdDevices *devices, const gchar *text, gint id, GError **error)
{
  for (guint i = 0; i < devices->n; i++) {
    if (devices->ids[i] == id) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "devices is \"%s\", which names device %d twice: name each device "
          "once",
          text, id);
      return FALSE;
    }
  }
  if (devices->n == ND_MAX_DEVICES) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "devices is \"%s\", which names more than %d devices", text,
        ND_MAX_DEVICES);
    return FALSE;
  }
  devices->ids[devices->n++] = id;
  return TRUE;
}

/* Reads a list of numbers. */
static gboolean
devices_read_list (const gchar *text, NdDevices *devices, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);

  for (guint i = 0; parts[i]; i++) {
    const gchar *part = g_strstrip (parts[i]);
    gint64 id;

    if (*part == '\0') {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "devices is \"%s\", which has an empty part: " FORM, text);
      return FALSE;
    }
    if (!g_ascii_string_to_signed (part, 10, 0, G_MAXINT, &id, NULL)) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "devices is \"%s\", and \"%s\" is not the number of a device: " FORM,
          text, part);
      return FALSE;
    }
    if (!devices_add (devices, text, id, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
nd_devices_check (const gchar *text, GError **error)
{
  NdDevices devices = { 0 };

  return is_empty (text) || is_all (text)
      || devices_read_list (text, &devices, error);
}

gint
nd_devices_first (const gchar *text, gint device_id)
{
  NdDevices devices = { 0 };

  if (device_id < 0 && !is_empty (text) && !is_all (text)
      && devices_read_list (text, &devices, NULL))
    return devices.ids[0];
  return device_id;
}

/* Those of the machine that the back end can use. */
static gboolean
find_all (const NdBackend *backend, NdDevices *devices, GError **error)
{
  g_autoptr (GError) why = NULL;

  for (gint id = 0; id < ND_MAX_DEVICES; id++) {
    g_clear_error (&why);
    if (backend->available (id, &why)) {
      devices->ids[devices->n++] = id;
    } else {
      if (g_error_matches (why, ND_ERROR, ND_ERROR_NOT_FOUND))
        break;
      ND_INFO ("device %d is left out: %s", id, why->message);
    }
  }
  if (devices->n > 0)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&why));
  return FALSE;
}

static gboolean
check_each (const gchar *text, const NdBackend *backend,
    const NdDevices *devices, GError **error)
{
  for (guint i = 0; i < devices->n; i++) {
    if (!backend->available (devices->ids[i], error)) {
      g_prefix_error (error,
          "devices is \"%s\", and device %d cannot be used: ", text,
          devices->ids[i]);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
move_to_front (const gchar *text, gint device_id, NdDevices *devices,
    GError **error)
{
  guint i = 0;

  while (i < devices->n && devices->ids[i] != device_id)
    i++;
  if (i == devices->n) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "device-id is %d, which is not one of the devices \"%s\": leave "
        "device-id at -1, or name the device in both",
        device_id, text);
    return FALSE;
  }
  memmove (devices->ids + 1, devices->ids, i * sizeof (*devices->ids));
  devices->ids[0] = device_id;
  return TRUE;
}

gboolean
nd_devices_find (const gchar *text, gint device_id, const NdBackend *backend,
    NdDevices *devices, GError **error)
{
  *devices = (NdDevices){ .n = 0 };
  if (is_empty (text)) {
    devices->ids[devices->n++] = device_id;
    return TRUE;
  }
  if (is_all (text)) {
    devices->choose = strcmp (text, "auto") == 0;
    if (!find_all (backend, devices, error))
      return FALSE;
  } else if (!devices_read_list (text, devices, error)
      || !check_each (text, backend, devices, error)) {
    return FALSE;
  }
  return device_id < 0 || move_to_front (text, device_id, devices, error);
}
