/* A build: a convolver for settings and an input format. It has copies of
 * everything that it needs, so that any thread can run it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvprivate.h"

G_BEGIN_DECLS

struct _GstNdConvBuild
{
  GstNdConvSettings settings;
  NdAxes axes;
  GstNdFormat in;
  NdSampleType out_type;
  guint64 volumes;    /* of the stream; 0: unknown */
  gboolean live;      /* time between volumes is free for work ahead */
  GstObject *context; /* see gstndcuda.h */
  gint cancelled;     /* core/cancel.h */

  /* The result: a convolver, or an error. */
  gboolean done;
  NdConvolver *convolver;
  GError *error;
};

/* For @settings and the input in use. */
GstNdConvBuild *gst_nd_conv_build_new (GstNdConv *self,
    const GstNdConvSettings *settings, NdSampleType out_type);
void gst_nd_conv_build_free (GstNdConvBuild *build);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNdConvBuild, gst_nd_conv_build_free)

/* Designs the filter and makes the convolver. */
void gst_nd_conv_build_run (GstNdConv *self, GstNdConvBuild *build);

/* Whether the convolver of @build suits @settings, the input in use and
 * @out_type. */
gboolean gst_nd_conv_build_fits (GstNdConv *self, const GstNdConvBuild *build,
    const GstNdConvSettings *settings, NdSampleType out_type);

/* The axes of @settings for volumes of @shape, without units. */
NdAxes gst_nd_conv_axes_of_shape (GstNdConv *self,
    const GstNdConvSettings *settings, const NdShape *shape);

/* The axes of @settings, with the units of @format. */
NdAxes gst_nd_conv_axes_of_format (GstNdConv *self,
    const GstNdConvSettings *settings, const GstNdFormat *format);

/* The same for the input in use. */
NdAxes gst_nd_conv_axes (GstNdConv *self, const GstNdConvSettings *settings);

/* The properties of @bank. */
NdBankInfo gst_nd_conv_bank_info (const GstNdConvSettings *settings,
    const NdBank *bank);

/* Whether @bank can filter @format with @settings. Errors: ND_ERROR_FORMAT,
 * ND_ERROR_SETTINGS. */
gboolean gst_nd_conv_check_input (const GstNdConvSettings *settings,
    const NdBankInfo *bank, const GstNdFormat *format, GError **error);

/* FALSE if @plane of the video @format passes as it is. */
gboolean gst_nd_conv_is_filtered (const GstNdConvSettings *settings,
    const GstNdFormat *format, guint plane);

G_END_DECLS
