/* The one table of units of length and time that files name.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The unit @name in mm, or in seconds; 0 if it is NULL or none of the table.
 * Names of more than two letters may have any case. */
gdouble nd_unit_mm (const gchar *name);
gdouble nd_unit_seconds (const gchar *name);

G_END_DECLS
