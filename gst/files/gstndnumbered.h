/* Names of numbered files, from patterns such as heart-%05d.nii.gz.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The name of file @number. @pattern has one %d, which may have a width (%5d)
 * with leading zeros (%05d), and %% for a per cent sign. Otherwise NULL with
 * ND_ERROR_SETTINGS. */
gchar *gst_nd_numbered_name (const gchar *pattern, guint number,
    GError **error);

G_END_DECLS
