/* Assembles the volumes of one peer, from one message or from subvolumes.
 * Samples are received directly in their buffer, unless they are a subvolume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "live/image.h"
#include <glib.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstNdIgtlAssembly GstNdIgtlAssembly;

/* Used by the thread of the hub only. */
GstNdIgtlAssembly *gst_nd_igtl_assembly_new (void);
void gst_nd_igtl_assembly_free (GstNdIgtlAssembly *assembly);

/* The header of @image has arrived. Returns memory for its samples, or NULL if
 * there is none. The buffer is taken from @pool if that is not NULL and has one
 * at once. @lost: whether an earlier volume will never be complete. */
guint8 *gst_nd_igtl_assembly_begin (GstNdIgtlAssembly *assembly,
    const NdIgtlImage *image, GstBufferPool *pool, gboolean *lost);

typedef enum
{
  GST_ND_IGTL_SUBVOLUME, /* subvolumes are missing */
  GST_ND_IGTL_COMPLETE,  /* the volume is complete */
  GST_ND_IGTL_NO_MEMORY  /* the volume is left out */
} GstNdIgtlAssembled;

/* All samples of @image have arrived. Sets @volume if it is complete. */
GstNdIgtlAssembled gst_nd_igtl_assembly_end (GstNdIgtlAssembly *assembly,
    const NdIgtlImage *image, guint64 timestamp, GstBufferPool *pool,
    GstBuffer **volume, gboolean *lost);

/* The samples of a message were refused. Earlier subvolumes are kept. */
void gst_nd_igtl_assembly_refuse (GstNdIgtlAssembly *assembly);

/* TRUE if a volume has begun and is not complete. */
gboolean gst_nd_igtl_assembly_is_pending (const GstNdIgtlAssembly *assembly);

/* The devices that send images: which one is received, and the message if it
 * does not come.
 */

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

/* Fields that have arrived and wait for the next volume.
 */

typedef struct
{
  gchar *key, *value;
} GstNdIgtlText;

typedef struct
{
  GHashTable *texts;           /* by key */
  guint64 arrived, superseded; /* superseded: a later one has the same key */
  guint64 dropped;             /* too many, too long, or lost with a volume */
} GstNdIgtlWaiting;

/* Used by the thread of the hub only. */
void gst_nd_igtl_waiting_init (GstNdIgtlWaiting *waiting);
void gst_nd_igtl_waiting_clear (GstNdIgtlWaiting *waiting);

/* Keeps copies of both texts until the next volume. A text that is too long or
 * one too many is counted and dropped; a later text of @key replaces the
 * earlier. */
void gst_nd_igtl_waiting_add (GstNdIgtlWaiting *waiting, const gchar *key,
    const gchar *value);

/* Removes and returns all fields (GstNdIgtlText), in ascending order of their
 * keys. */
GArray *gst_nd_igtl_waiting_steal (GstNdIgtlWaiting *waiting);

G_END_DECLS
