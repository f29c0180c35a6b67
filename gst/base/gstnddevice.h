/* The device of an element: its back end, and the context that the element
 * shares with others. Both start between NULL and READY, because a driver may
 * take seconds to start. Queries only read the answer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstndcuda.h"

G_BEGIN_DECLS

typedef struct
{
  GstNdContext context;

  GMutex lock;
  gboolean started;
  gint device_id;
  const NdBackend *backend; /* NULL if there is no device, */
  GError *error;            /* and the reason */
} GstNdDevice;

/* Called by init() and finalize() of an element. */
void gst_nd_device_init (GstNdDevice *device);
void gst_nd_device_clear (GstNdDevice *device);

/* Finds the back end with device @device_id (-1: any) and a context for it.
 * Does nothing if that was tried since NULL, even if it failed. */
void gst_nd_device_start (GstNdDevice *device, GstElement *element,
    gint device_id);

/* At NULL: forgets the answer and the context. */
void gst_nd_device_stop (GstNdDevice *device);

/* The back end, or NULL and the reason if there is no device. */
const NdBackend *gst_nd_device_backend (GstNdDevice *device, GError **error);

/* Whether there is a device. Before gst_nd_device_start() TRUE if there may be
 * one. */
gboolean gst_nd_device_is_possible (GstNdDevice *device);

/* For set_context() of an element, before it chains up. */
void gst_nd_device_set_context (GstNdDevice *device, GstElement *element,
    GstContext *message, gint device_id);

/* Answers a CONTEXT query. FALSE if it is about another type of context. */
gboolean gst_nd_device_answer (GstNdDevice *device, GstElement *element,
    GstQuery *query);

G_END_DECLS
