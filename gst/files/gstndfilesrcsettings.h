/* The properties of ndfilesrc, and the excerpt that they describe.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include "gst/base/gstndproperties.h"
#include "gst/files/gstndexcerpt.h"

G_BEGIN_DECLS

typedef struct
{
  gchar *location;
  gchar *volume_size;
  guint components;
  gint64 offset;
  NdSampleType type;
  NdFraction framerate;
  gint64 start, stop, step;
  gint64 max_memory;
  NdTruncated truncated;
} GstNdFileSrcSettings;

extern const NdSetting gst_nd_file_src_rows[];
extern const guint gst_nd_file_src_n_rows;

/* Opens the file, which may take long: without a lock. */
gboolean gst_nd_file_src_settings_open (const GstNdFileSrcSettings *settings,
    GstNdExcerpt *excerpt, GError **error);

G_END_DECLS
