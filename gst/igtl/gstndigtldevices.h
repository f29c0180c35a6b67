/* The devices that send images: which one is received, and the message if it
 * does not come.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gchar *chosen;     /* the device that is received; NULL: the first one */
  GHashTable *names; /* all so far, to the last wait in which each came */
  gint64 waiting;    /* since then, monotonic, us; 0: not waiting */
  guint n_waits;
  gboolean told; /* that waiting takes long, since the last volume */
} GstNdIgtlDevices;

/* @chosen: "" stands for the first device that sends an image. */
void gst_nd_igtl_devices_init (GstNdIgtlDevices *devices, const gchar *chosen);
void gst_nd_igtl_devices_clear (GstNdIgtlDevices *devices);

/* An image of the device @name begins. TRUE if it is received. */
gboolean gst_nd_igtl_devices_is_wanted (GstNdIgtlDevices *devices,
    const gchar *name);

/* Waiting begins with a connection, and ends with a volume. */
void gst_nd_igtl_devices_wait (GstNdIgtlDevices *devices);
void gst_nd_igtl_devices_end_wait (GstNdIgtlDevices *devices);

/* When waiting will take so long that the user should know: monotonic, us.
 * 0: never. */
gint64 gst_nd_igtl_devices_deadline (const GstNdIgtlDevices *devices);

/* Says at this time what came instead. */
GError *gst_nd_igtl_devices_tell (GstNdIgtlDevices *devices);

/* The names of all devices so far: "A", "B". */
gchar *gst_nd_igtl_devices_list (const GstNdIgtlDevices *devices);

G_END_DECLS
