/* The properties of ndview.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/settings.h"
#include "formats/recording.h"
#include "gst/base/gstndproperties.h"
#include "view/layout.h"
#include "view/scene.h"

G_BEGIN_DECLS

typedef struct
{
  NdViewMode mode;
  NdAxis axis;
  gdouble position;
  gdouble window, level;
  guint response;
  NdBackendKind backend;
  gint device_id;

  gchar *size;
  gdouble position_x, position_y, position_z; /* below 0: `position` */
  guint slices, history;
  NdViewMode content;
  gdouble split;
  NdColormap overlay_colormap;
  gdouble overlay_window, overlay_level, overlay_opacity;
  NdProjection projection;
  gdouble azimuth, elevation, perspective, zoom, pan_x, pan_y;
  NdColormap colormap;
  gdouble low_percentile, high_percentile;
  guint background, surface_color; /* 0xRRGGBB */
  gchar *opacity;
  gdouble light_azimuth, light_elevation, ambient, diffuse, specular;
  gboolean isovalue_auto;
  gdouble isovalue;
  gboolean cross_hair, labels, scale_bar, show_time, show_number, show_keys;
  gboolean navigation;
  gint pointer_x, pointer_y; /* below 0: none */

  /* Set by gst_nd_view_settings_resolve(). */
  gint width, height; /* 0: the natural size */
  gfloat curve[ND_LOOK_COLORS];
} GstNdViewSettings;

extern const NdSetting gst_nd_view_rows[];
extern const guint gst_nd_view_n_rows;

/* Copies @from to @to, with the values of the texts in place of the texts. */
gboolean gst_nd_view_settings_resolve (const GstNdViewSettings *from,
    GstNdViewSettings *to, GError **error);

/* Whether @settings show two volumes. */
gboolean gst_nd_view_settings_need_second (const GstNdViewSettings *settings);

/* Whether both are side by side. */
gboolean gst_nd_view_settings_are_beside (const GstNdViewSettings *settings);

/* The view of resolved @settings. */
void gst_nd_view_settings_camera (const GstNdViewSettings *settings,
    NdCamera *camera);

/* Volumes of @info; spacing is 1 if unknown. */
void gst_nd_view_settings_job (const NdRecording *info, NdSceneJob *job);

/* Whether resolved @settings show volumes of @info as a scene (view/scene.h),
 * not as a plain picture (view/picture.h), which has one pixel per sample and
 * nothing but grey. */
gboolean gst_nd_view_settings_are_scene (const GstNdViewSettings *settings,
    const NdRecording *info);

/* The size of the scene. FALSE if it is too large. */
gboolean gst_nd_view_settings_size (const GstNdViewSettings *settings,
    const NdRecording *info, gint *width, gint *height);

G_END_DECLS
