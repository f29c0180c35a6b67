/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstnddevice.h"

#include "core/error.h"
#include "engine/settings.h"
#include "gst/base/gstndbackends.h"

void
gst_nd_device_init (GstNdDevice *device)
{
  g_mutex_init (&device->lock);
  gst_nd_context_init (&device->context);
}

void
gst_nd_device_clear (GstNdDevice *device)
{
  gst_nd_context_clear (&device->context);
  g_clear_error (&device->error);
  g_mutex_clear (&device->lock);
}

void
gst_nd_device_start (GstNdDevice *device, GstElement *element, gint device_id)
{
  const NdBackend *backend;
  GError *error = NULL;
  gboolean known;

  g_mutex_lock (&device->lock);
  known = device->started && device->device_id == device_id;
  g_mutex_unlock (&device->lock);
  if (known)
    return;
  gst_nd_device_stop (device);
  backend = nd_backend_find (nd_backend_kind_name (ND_BACKEND_GPU), device_id,
      &error);
  g_mutex_lock (&device->lock);
  device->started = TRUE;
  device->device_id = device_id;
  device->backend = backend;
  device->error = error;
  g_mutex_unlock (&device->lock);
  if (backend)
    gst_nd_cuda_ensure_context (element, backend, device_id, &device->context);
}

void
gst_nd_device_stop (GstNdDevice *device)
{
  g_mutex_lock (&device->lock);
  device->started = FALSE;
  device->backend = NULL;
  g_clear_error (&device->error);
  g_mutex_unlock (&device->lock);
  gst_nd_context_set (&device->context, NULL);
}

const NdBackend *
gst_nd_device_backend (GstNdDevice *device, GError **error)
{
  const NdBackend *backend;

  g_mutex_lock (&device->lock);
  backend = device->backend;
  if (device->error)
    g_propagate_error (error, g_error_copy (device->error));
  else if (!backend)
    g_set_error_literal (error, ND_ERROR, ND_ERROR_INIT,
        "The device was stopped");
  g_mutex_unlock (&device->lock);
  return backend;
}

gboolean
gst_nd_device_is_possible (GstNdDevice *device)
{
  gboolean possible;

  g_mutex_lock (&device->lock);
  possible = device->started ? device->backend != NULL
                             : gst_nd_backends_have_device ();
  g_mutex_unlock (&device->lock);
  return possible;
}

void
gst_nd_device_set_context (GstNdDevice *device, GstElement *element,
    GstContext *message, gint device_id)
{
  gst_nd_cuda_set_context (element, message, device_id, &device->context);
}

gboolean
gst_nd_device_answer (GstNdDevice *device, GstElement *element, GstQuery *query)
{
  g_autoptr (GstObject) context = gst_nd_context_get (&device->context);

  return gst_nd_cuda_answer (element, query, context);
}
