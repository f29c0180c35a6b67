/* Fields that have arrived and wait for the next volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

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

void gst_nd_igtl_waiting_init (GstNdIgtlWaiting *waiting);
void gst_nd_igtl_waiting_clear (GstNdIgtlWaiting *waiting);

void gst_nd_igtl_waiting_add (GstNdIgtlWaiting *waiting, const gchar *key,
    const gchar *value);

/* Removes and returns all fields (GstNdIgtlText), in ascending order of their
 * keys. */
GArray *gst_nd_igtl_waiting_steal (GstNdIgtlWaiting *waiting);

G_END_DECLS
