/* The properties of the three filters.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/job.h"
#include "filters/design.h"
#include "gst/base/gstndlatency.h"
#include "gst/base/gstndsampletype.h"
#include "gst/base/gstndtiming.h"
#include <gst/gst.h>

G_BEGIN_DECLS

/* Numbers of enums are public and never change. A new value gets the next free
 * number. */
typedef enum
{
  GST_ND_BACKEND_AUTO = 0,
  GST_ND_BACKEND_CPU = 1,
  GST_ND_BACKEND_CUDA = 2
} GstNdBackendKind;

typedef enum
{
  GST_ND_AXES_AUTO = 0,
  GST_ND_AXES_XYZ = 1,
  GST_ND_AXES_XYT = 2
} GstNdAxesKind;

typedef enum
{
  GST_ND_PLANES_ALL = 0,
  GST_ND_PLANES_LUMA = 1
} GstNdPlanesKind;

/* The time that an output is stamped with. */
typedef enum
{
  GST_ND_STAMP_ANCHOR = 0,
  GST_ND_STAMP_CONTENT = 1 /* of its contents: earlier by the lag */
} GstNdStamp;

typedef struct
{
  gchar *filter;
  gchar *origin;
  NdBorder border;
  NdBorder time_border;
  gdouble border_value;
  gboolean causal;
  GstNdAxesKind axes;
  GstNdSampleType output_type;
  gdouble gain;
  gdouble offset;
  gboolean normalize;
  GstNdPlanesKind planes;
  gint tensor_index;
  GstNdBackendKind backend;
  gint device_id;
  gchar *devices;
  NdMethod method;
  NdAccuracy accuracy;
  NdPrecision precision;
  NdResponse response;
  gdouble threshold;
  GstNdTimingRule timing;
  GstNdComputeLatency compute_latency;
  guint n_threads;
  gint64 memory_limit;
  gchar *strides;
  GstNdStamp stamp;
} GstNdConvSettings;

/* Installs all properties but `axes`. Returns the ID of the property `stats`,
 * which is not a setting. */
guint gst_nd_conv_settings_install (GObjectClass *klass);
void gst_nd_conv_settings_install_axes (GObjectClass *klass);

void gst_nd_conv_settings_init (GstNdConvSettings *settings);
void gst_nd_conv_settings_clear (GstNdConvSettings *settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GstNdConvSettings, gst_nd_conv_settings_clear)
void gst_nd_conv_settings_copy (GstNdConvSettings *to,
    const GstNdConvSettings *from);

/* Whether one convolver can be used for both. Gain, offset and the timing of
 * the stream do not affect it. */
gboolean gst_nd_conv_settings_have_same_convolver (const GstNdConvSettings *a,
    const GstNdConvSettings *b);

/* Copies the settings that a convolver does not depend on. */
void gst_nd_conv_settings_copy_of_stream (GstNdConvSettings *to,
    const GstNdConvSettings *from);

/* FALSE if property @id is not a setting. */
gboolean gst_nd_conv_settings_set (GstNdConvSettings *settings, guint id,
    const GValue *value);
gboolean gst_nd_conv_settings_get (const GstNdConvSettings *settings, guint id,
    GValue *value);

/* "cpu", "cuda", or NULL for auto. */
const gchar *gst_nd_conv_settings_backend (const GstNdConvSettings *settings);

/* The device of memory and contexts, the first one of several; -1: any. */
gint gst_nd_conv_settings_device (const GstNdConvSettings *settings);

/* The type of the output for input of type @in. */
NdSampleType gst_nd_conv_settings_type (const GstNdConvSettings *settings,
    NdSampleType in);

/* NdBorder and GstNdBackendKind as GObject enumerations. */
GType gst_nd_border_get_type (void);
GType gst_nd_backend_get_type (void);

G_END_DECLS
