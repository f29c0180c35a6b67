/* The properties of the three filters: what they mean, and their values.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>
#include "engine/ndjob.h"
#include "filters/nddesign.h"

G_BEGIN_DECLS

typedef enum
{
  GST_ND_OUTPUT_SAME = ND_SAMPLE_TYPES  /* others: NdSampleType */
} GstNdOutputType;

typedef enum
{
  GST_ND_BACKEND_AUTO,
  GST_ND_BACKEND_CPU,
  GST_ND_BACKEND_CUDA
} GstNdBackendKind;

typedef enum
{
  GST_ND_AXES_AUTO,
  GST_ND_AXES_XYZ,
  GST_ND_AXES_XYT
} GstNdAxesKind;

typedef enum
{
  GST_ND_PLANES_ALL,
  GST_ND_PLANES_LUMA
} GstNdPlanesKind;

typedef struct
{
  gchar *filter;
  gchar *origin;
  NdBorder border;
  NdBorder time_border;
  gdouble border_value;
  gboolean causal;
  GstNdAxesKind axes;
  gint output_type;             /* NdSampleType or GST_ND_OUTPUT_SAME */
  gdouble gain;
  gdouble offset;
  gboolean normalize;
  GstNdPlanesKind planes;
  GstNdBackendKind backend;
  gint device_id;
  gint method;                  /* NdMethod, or ND_METHODS for auto */
  NdAccuracy accuracy;
  NdResponse response;
} GstNdConvSettings;

enum
{
  GST_ND_PROP_0,
  GST_ND_PROP_FILTER,
  GST_ND_PROP_BORDER,
  GST_ND_PROP_BORDER_VALUE,
  GST_ND_PROP_TIME_BORDER,
  GST_ND_PROP_ORIGIN,
  GST_ND_PROP_CAUSAL,
  GST_ND_PROP_AXES,
  GST_ND_PROP_OUTPUT_TYPE,
  GST_ND_PROP_GAIN,
  GST_ND_PROP_OFFSET,
  GST_ND_PROP_NORMALIZE,
  GST_ND_PROP_PLANES,
  GST_ND_PROP_BACKEND,
  GST_ND_PROP_DEVICE_ID,
  GST_ND_PROP_METHOD,
  GST_ND_PROP_ACCURACY,
  GST_ND_PROP_RESPONSE,
  GST_ND_PROP_STATS
};

void gst_nd_conv_settings_install (GObjectClass * klass);
void gst_nd_conv_settings_install_axes (GObjectClass * klass);

void gst_nd_conv_settings_init (GstNdConvSettings * settings);
void gst_nd_conv_settings_clear (GstNdConvSettings * settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GstNdConvSettings,
    gst_nd_conv_settings_clear)
void gst_nd_conv_settings_copy (GstNdConvSettings * to,
    const GstNdConvSettings * from);

/* Whether they differ in nothing but gain and offset, if in these. */
gboolean gst_nd_conv_settings_equal_but_scale (const GstNdConvSettings * a,
    const GstNdConvSettings * b);

/* FALSE for a property that is not a setting. */
gboolean gst_nd_conv_settings_set (GstNdConvSettings * settings, guint id,
    const GValue * value);
gboolean gst_nd_conv_settings_get (const GstNdConvSettings * settings,
    guint id, GValue * value);

/* "cpu", "cuda", or NULL for auto. */
const gchar *gst_nd_conv_settings_backend (const GstNdConvSettings * settings);

G_END_DECLS
