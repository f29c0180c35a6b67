/* The devices of a back end that share the work of a job: the values of the
 * property `devices`.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

G_BEGIN_DECLS

#define ND_MAX_DEVICES 64

typedef struct
{
  guint n; /* 1 and more */
  gint ids[ND_MAX_DEVICES];
  gboolean choose; /* the first of them are used if more do not help */

  /* How the stream comes. */
  guint64 volumes; /* 0: unknown */
  gboolean waits;  /* each output is waited for before the next volume comes */
} NdDevices;

/* Whether @text is "" or NULL, "all", "auto", or different numbers separated by
 * commas. Otherwise FALSE with ND_ERROR_SETTINGS. */
gboolean nd_devices_check (const gchar *text, GError **error);

/* The first device that @text and @device_id name, or -1. */
gint nd_devices_first (const gchar *text, gint device_id);

/* Finds the devices of @backend. If @device_id is not -1, it must be one of
 * them, and becomes the first. ND_ERROR_SETTINGS if it is not, and
 * ND_ERROR_NOT_FOUND or ND_ERROR_INIT if a device in @text cannot be used. With
 * an empty @text, the result is @device_id. */
gboolean nd_devices_find (const gchar *text, gint device_id,
    const NdBackend *backend, NdDevices *devices, GError **error);

G_END_DECLS
