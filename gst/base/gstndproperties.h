/* The rows of core/schema.h as properties of GObject. Row i has the property ID
 * i + 1. The caller locks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/schema.h"
#include <gst/gst.h>

G_BEGIN_DECLS

/* The GObject type of @names, which it registers once. */
GType gst_nd_enum_type (const NdEnum *names);

/* Installs the @n first rows of a table as properties 1 to @n. */
void gst_nd_properties_install (GObjectClass *klass, const NdSetting *rows,
    guint n);

/* Installs the row of property @id only. */
void gst_nd_property_install (GObjectClass *klass, const NdSetting *rows,
    guint id);

/* Sets or gets property @id. FALSE if it has no row. */
gboolean gst_nd_properties_set (const NdSetting *rows, guint n,
    gpointer settings, guint id, const GValue *value);
gboolean gst_nd_properties_get (const NdSetting *rows, guint n,
    gconstpointer settings, guint id, GValue *value);

/* Sets the fields that differ from @from back to it, but not those of
 * properties that take effect at the next start. Notifies of the properties of
 * @object; the caller has frozen notifications, because it locks. */
void gst_nd_properties_revert (const NdSetting *rows, guint n, GObject *object,
    gpointer settings, gconstpointer from);

G_END_DECLS
