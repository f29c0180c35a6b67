/* The properties of the three filters.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/settings.h"
#include "filters/design.h"
#include "gst/temporal/gstndtemporal.h"
#include <gst/gst.h>

G_BEGIN_DECLS

/* The numbers are public, as values of properties, and never change. */
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

typedef struct
{
  GstNdTemporalSettings base;
  NdFilterSettings conv;
  gchar *filter;
  GstNdPlanesKind planes;
  gint tensor_index;
  GstNdAxesKind axes;

  /* Derived from the properties and the axes of the input. */
  NdBankInfo bank; /* of filter; 1, real if unreadable */
} GstNdConvSettings;

/* The settings of an element that is a GstNdConv. */
static inline const GstNdConvSettings *
gst_nd_conv_settings (const GstNdTemporalSettings *settings)
{
  return (const GstNdConvSettings *) settings;
}

/* Sets the properties of @klass, without `axes`. */
void gst_nd_conv_settings_install (GstNdTemporalClass *klass);
void gst_nd_conv_settings_install_axes (GstNdTemporalClass *klass);

/* The type of the output for input of type @in. */
NdSampleType gst_nd_conv_settings_type (const GstNdConvSettings *settings,
    NdSampleType in);

G_END_DECLS
