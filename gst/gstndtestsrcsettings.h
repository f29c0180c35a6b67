/* The properties of ndtestsrc, and the pattern that they describe.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include "gst/base/gstndproperties.h"
#include "phantom/pattern.h"

G_BEGIN_DECLS

typedef struct
{
  NdPatternKind pattern;
  gchar *volume_size;
  guint components;
  NdSampleType type;
  NdFraction framerate;
  guint seed;
  gdouble noise;
  gdouble heart_rate;
  gdouble value;
  guint impulse_period;
} GstNdTestSrcSettings;

#define GST_ND_TEST_SRC_ROWS 10
extern const NdSetting gst_nd_test_src_rows[GST_ND_TEST_SRC_ROWS];

/* The pattern. Its size is 0, because volume-size must be parsed. */
NdPatternSettings
gst_nd_test_src_settings_pattern (const GstNdTestSrcSettings *settings);

/* Parses volume-size. Errors: ND_ERROR_SETTINGS. */
gboolean
gst_nd_test_src_settings_parse_size (const GstNdTestSrcSettings *settings,
    gsize size[3], GError **error);

G_END_DECLS
