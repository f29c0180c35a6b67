/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewsettings.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

/* A larger picture is a mistake. */
#define MOST_PIXELS 32768

static ND_DEFINE_ENUM (mode_enum, "GstNdViewMode",
    { ND_VIEW_SLICE, "The plane across 'axis' at 'position'", "slice" },
    { ND_VIEW_ORTHOGONAL,
        "Three planes, each at 'position' of its axis: z upper left, x upper "
        "right, y lower left",
        "orthogonal" },
    { ND_VIEW_PROJECTION,
        "The maximum, mean or minimum of all samples along 'axis', turned by "
        "'azimuth' and 'elevation'",
        "projection" },
    { ND_VIEW_MOSAIC, "Planes across 'axis' from the first to the last one",
        "mosaic" },
    { ND_VIEW_VOLUME,
        "The volume as coloured fog, seen along 'axis', turned by 'azimuth' "
        "and 'elevation'",
        "volume" },
    { ND_VIEW_SURFACE, "The surface at which samples have the value 'isovalue'",
        "surface" },
    { ND_VIEW_MMODE,
        "The line along 'axis' through the positions of the other axes, down, "
        "over time, to the right",
        "mmode" },
    { ND_VIEW_COMPARE,
        "Both inputs, as 'content' says, side by side or on both sides of a "
        "line ('split')",
        "compare" },
    { ND_VIEW_OVERLAY,
        "The second input as colour over the first one, as 'content' says; "
        "positions are those in space if both caps have the geometry, or else "
        "both volumes fill the same box",
        "overlay" });

static ND_DEFINE_ENUM (content_enum, "GstNdViewContent",
    { ND_VIEW_SLICE, "As mode=slice", "slice" },
    { ND_VIEW_ORTHOGONAL, "As mode=orthogonal", "orthogonal" },
    { ND_VIEW_PROJECTION, "As mode=projection", "projection" },
    { ND_VIEW_MOSAIC, "As mode=mosaic", "mosaic" },
    { ND_VIEW_VOLUME, "As mode=volume", "volume" },
    { ND_VIEW_SURFACE, "As mode=surface", "surface" });

static ND_DEFINE_ENUM (axis_enum, "GstNdViewAxis",
    { ND_AXIS_X, "Along x: the picture has z to the right and y down", "x" },
    { ND_AXIS_Y, "Along y: the picture has x to the right and z down", "y" },
    { ND_AXIS_Z, "Along z: the picture has x to the right and y down", "z" });

static ND_DEFINE_ENUM (projection_enum, "GstNdViewProjection",
    { ND_PROJECTION_MAX, "The greatest value on the ray", "max" },
    { ND_PROJECTION_MEAN, "The mean of the values on the ray", "mean" },
    { ND_PROJECTION_MIN, "The least value on the ray", "min" });

static ND_DEFINE_ENUM (colormap_enum, "GstNdViewColormap",
    { ND_COLORMAP_GRAY, "Black to white", "gray" },
    { ND_COLORMAP_HOT, "Black, red, yellow, white", "hot" },
    { ND_COLORMAP_BONE, "Black to white with some blue", "bone" },
    { ND_COLORMAP_VIRIDIS, "Dark blue, green, yellow, evenly brighter",
        "viridis" },
    { ND_COLORMAP_SIGNED, "Blue below 'level', white at it, red above",
        "signed" },
    { ND_COLORMAP_HUE,
        "All hues, with the same red at both ends: for directions and phases",
        "hue" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (GstNdViewSettings, __VA_ARGS__)
#define CONTROLLED ND_CONTROLLED

const NdSetting gst_nd_view_rows[] = {
  /* Since: 0.1 */
  { "mode", "Mode", "Content of the picture",
      FIELD (ENUM, mode, NdViewMode, mode_enum, ND_VIEW_SLICE), ND_PLAYING },
  { "axis", "Axis",
      "The direction of the view; that of projections, volumes and surfaces "
      "before it is turned",
      FIELD (ENUM, axis, NdAxis, axis_enum, ND_AXIS_Z), ND_PLAYING },
  { "position", "Position",
      "Slice and orthogonal: the position along the axis, 0 to 1 of its size; "
      "the index is floor(position * size), at most size - 1. It also takes "
      "back planes that mouse or keys moved away from it",
      FIELD (DOUBLE, position, 0, 1, 0.5), CONTROLLED },
  { "window", "Window",
      "Width of the range of sample values between black and white; 0: "
      "automatic, window and level slowly follow the percentiles "
      "'low-percentile' and 'high-percentile' of the volumes",
      FIELD (DOUBLE, window, 0, G_MAXDOUBLE, 0), CONTROLLED },
  { "level", "Level",
      "The sample value that is shown as middle grey; ignored if 'window' is "
      "automatic",
      FIELD (DOUBLE, level, -G_MAXDOUBLE, G_MAXDOUBLE, 0), CONTROLLED },
  { "response", "Response",
      "The response of a bank of filters to show, counted from 0",
      FIELD (UINT, response, 0, G_MAXUINT, 0), ND_PLAYING },
  /* Since: 0.9 */
  { "backend", "Back end",
      "Device to draw on: auto draws on the GPU or the CPU that has the "
      "volumes in its memory, cpu starts no GPU, cuda also draws scenes of "
      "volumes in host memory on the GPU and is an error if there is none. Set "
      "it in NULL",
      FIELD (ENUM, backend, NdBackendKind, nd_backend_enum, ND_BACKEND_AUTO),
      ND_READY },
  { "device-id", "Device ID",
      "GPU to draw on, counted from 0; -1: the GPU of the neighbouring "
      "elements, or the first one. Set it in NULL",
      FIELD (INT, device_id, -1, G_MAXINT, -1), ND_READY },
  { "size", "Size",
      "Size of the picture in pixels, WIDTH:HEIGHT; the volume is as large as "
      "it fits. If it is not set, a pixel is as long as the shortest spacing",
      FIELD (STRING, size, NULL), ND_PLAYING },
  { "position-x", "Position x",
      "Orthogonal, and slices across x: the position along x, 0 to 1; -1: "
      "'position'. Mouse and keys set it, until 'position' is set",
      FIELD (DOUBLE, position_x, -1, 1, -1), CONTROLLED },
  { "position-y", "Position y",
      "Orthogonal, and slices across y: the position along y, 0 to 1; -1: "
      "'position'. Mouse and keys set it, until 'position' is set",
      FIELD (DOUBLE, position_y, -1, 1, -1), CONTROLLED },
  { "position-z", "Position z",
      "Orthogonal, and slices across z: the position along z, 0 to 1; -1: "
      "'position'. Mouse and keys set it, until 'position' is set",
      FIELD (DOUBLE, position_z, -1, 1, -1), CONTROLLED },
  { "slices", "Slices", "Mosaic: the number of planes; 0: all, at most 64",
      FIELD (UINT, slices, 0, ND_LAYOUT_PANELS, 0), ND_PLAYING },
  { "history", "History", "Mmode: the number of volumes to show",
      FIELD (UINT, history, 2, 4096, 256), ND_PLAYING },
  { "content", "Content", "Compare and overlay: what both inputs show",
      FIELD (ENUM, content, NdViewMode, content_enum, ND_VIEW_SLICE),
      ND_PLAYING },
  { "split", "Split",
      "Compare: the part of the width that shows the first input, left of a "
      "line that the mouse moves; -1: both are side by side",
      FIELD (DOUBLE, split, -1, 1, 0.5), CONTROLLED },
  { "overlay-colormap", "Overlay colour map",
      "Overlay: colours of the second input",
      FIELD (ENUM, overlay_colormap, NdColormap, colormap_enum,
          ND_COLORMAP_HOT),
      ND_PLAYING },
  { "overlay-window", "Overlay window",
      "Overlay: width of the range of values of the second input; 0: "
      "automatic, as 'window'",
      FIELD (DOUBLE, overlay_window, 0, G_MAXDOUBLE, 0), CONTROLLED },
  { "overlay-level", "Overlay level",
      "Overlay: the middle of that range; ignored if it is automatic",
      FIELD (DOUBLE, overlay_level, -G_MAXDOUBLE, G_MAXDOUBLE, 0), CONTROLLED },
  { "overlay-opacity", "Overlay opacity",
      "Overlay: opacity of the high end of the range, proportionally less "
      "towards the low end; of both ends and proportionally less towards the "
      "middle if the colour map is signed; of all values if it is hue",
      FIELD (DOUBLE, overlay_opacity, 0, 1, 0.7), CONTROLLED },
  { "projection", "Projection", "Projection: the value that a pixel shows",
      FIELD (ENUM, projection, NdProjection, projection_enum,
          ND_PROJECTION_MAX),
      ND_PLAYING },
  { "azimuth", "Azimuth",
      "Projection, volume and surface: degrees by which the front turns to "
      "the right",
      FIELD (DOUBLE, azimuth, -360, 360, 0), CONTROLLED },
  { "elevation", "Elevation",
      "Projection, volume and surface: degrees by which the front turns "
      "down, after 'azimuth'",
      FIELD (DOUBLE, elevation, -90, 90, 0), CONTROLLED },
  { "perspective", "Perspective",
      "Projection, volume and surface: degrees of the field of view; 0: "
      "parallel rays",
      FIELD (DOUBLE, perspective, 0, 120, 0), CONTROLLED },
  { "zoom", "Zoom", "Enlargement; 1: the whole view fits in the picture",
      FIELD (DOUBLE, zoom, 0.01, 1000, 1), CONTROLLED },
  { "pan-x", "Pan x", "Shift to the right, in widths of the picture or plane",
      FIELD (DOUBLE, pan_x, -1000, 1000, 0), CONTROLLED },
  { "pan-y", "Pan y", "Shift down, in heights of the picture or plane",
      FIELD (DOUBLE, pan_y, -1000, 1000, 0), CONTROLLED },
  { "colormap", "Colour map",
      "Colours from the low to the high end of the window; samples of three "
      "components have their own, but in volumes",
      FIELD (ENUM, colormap, NdColormap, colormap_enum, ND_COLORMAP_GRAY),
      ND_PLAYING },
  { "low-percentile", "Low percentile",
      "Automatic window: the percentile of the samples that is black",
      FIELD (DOUBLE, low_percentile, 0, 100, 0.5), ND_PLAYING },
  { "high-percentile", "High percentile",
      "Automatic window: the percentile of the samples that is white",
      FIELD (DOUBLE, high_percentile, 0, 100, 99.5), ND_PLAYING },
  { "background", "Background", "Colour without samples, 0xRRGGBB",
      FIELD (UINT, background, 0, 0xffffff, 0), ND_PLAYING },
  { "surface-color", "Surface colour", "Surface: its colour, 0xRRGGBB",
      FIELD (UINT, surface_color, 0, 0xffffff, 0xe8d0b0), ND_PLAYING },
  { "opacity", "Opacity",
      "Volume: the opacity of a step of the shortest spacing, points "
      "GREY:OPACITY from 0 to 1 with straight lines between, in the order of "
      "their grey",
      FIELD (STRING, opacity, "0.25:0,1:0.25"), ND_PLAYING },
  { "light-azimuth", "Light azimuth",
      "Volume and surface: degrees from the eye to the right at which the "
      "light is",
      FIELD (DOUBLE, light_azimuth, -180, 180, -35), CONTROLLED },
  { "light-elevation", "Light elevation",
      "Volume and surface: degrees up at which the light is",
      FIELD (DOUBLE, light_elevation, -90, 90, 40), CONTROLLED },
  { "ambient", "Ambient",
      "Volume and surface: brightness without light; with ambient=1 diffuse=0 "
      "specular=0, volumes have no shading and are faster",
      FIELD (DOUBLE, ambient, 0, 2, 0.3), CONTROLLED },
  { "diffuse", "Diffuse",
      "Volume and surface: brightness of the sides that face the light",
      FIELD (DOUBLE, diffuse, 0, 2, 0.8), CONTROLLED },
  { "specular", "Specular", "Volume and surface: brightness of reflections",
      FIELD (DOUBLE, specular, 0, 2, 0.2), CONTROLLED },
  { "isovalue-auto", "Automatic isovalue",
      "Surface: choose 'isovalue' such that it separates dark from bright "
      "samples best",
      FIELD (BOOLEAN, isovalue_auto, TRUE), ND_PLAYING },
  { "isovalue", "Isovalue",
      "Surface: the sample value on it; ignored with 'isovalue-auto'",
      FIELD (DOUBLE, isovalue, -G_MAXDOUBLE, G_MAXDOUBLE, 0), CONTROLLED },
  { "cross-hair", "Cross-hair",
      "Orthogonal: lines at the positions of the other planes",
      FIELD (BOOLEAN, cross_hair, FALSE), ND_PLAYING },
  { "labels", "Labels",
      "Write the axis and the index on each plane; orthogonal: also the sides "
      "of the patient, R, L, A, P, S and I, if the caps have directions",
      FIELD (BOOLEAN, labels, FALSE), ND_PLAYING },
  { "scale-bar", "Scale bar", "Draw a bar with its length in mm",
      FIELD (BOOLEAN, scale_bar, FALSE), ND_PLAYING },
  { "show-time", "Show time", "Write the stream time of the volume",
      FIELD (BOOLEAN, show_time, FALSE), ND_PLAYING },
  { "show-number", "Show number", "Write the number of the volume",
      FIELD (BOOLEAN, show_number, FALSE), ND_PLAYING },
  { "show-keys", "Show keys",
      "List the keys and buttons; key h changes it. In small pictures the list "
      "has pages, and key h shows the next one",
      FIELD (BOOLEAN, show_keys, FALSE), ND_PLAYING },
  { "navigation", "Navigation",
      "Mouse and keys in a window change the properties; key h lists them",
      FIELD (BOOLEAN, navigation, TRUE), ND_PLAYING },
  { "pointer-x", "Pointer x",
      "Planes: the pixel of which the sample and the names and values there of "
      "both inputs are written, from the "
      "left; -1: none. With labels or a cross-hair, the mouse sets it",
      FIELD (INT, pointer_x, -1, G_MAXINT, -1), ND_PLAYING },
  { "pointer-y", "Pointer y", "The same from above",
      FIELD (INT, pointer_y, -1, G_MAXINT, -1), ND_PLAYING },
};

const guint gst_nd_view_n_rows = G_N_ELEMENTS (gst_nd_view_rows);

static gboolean
parse_size (const gchar *text, gint *width, gint *height, GError **error)
{
  gsize size[2];

  *width = *height = 0;
  if (!text)
    return TRUE;
  if (nd_parse_sizes (text, size, 2) == 2 && size[0] <= MOST_PIXELS
      && size[1] <= MOST_PIXELS && size[0] * size[1] <= G_MAXINT / 4) {
    *width = size[0];
    *height = size[1];
    return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "Property 'size' is \"%s\": it must be WIDTH:HEIGHT in pixels, each at "
      "most %d",
      text, MOST_PIXELS);
  return FALSE;
}

/* Parses "GREY:OPACITY", both from 0 to 1. */
static gboolean
parse_point (const gchar *text, gdouble *grey, gdouble *opacity)
{
  gchar *end;

  *grey = g_ascii_strtod (text, &end);
  if (end == text || *end != ':')
    return FALSE;
  text = end + 1;
  *opacity = g_ascii_strtod (text, &end);
  return end > text && *end == '\0' && *grey >= 0 && *grey <= 1 && *opacity >= 0
      && *opacity <= 1;
}

static gboolean
parse_opacity (const gchar *text, gfloat curve[ND_LOOK_COLORS], GError **error)
{
  g_auto (GStrv) points = g_strsplit (text ? text : "", ",", -1);
  gdouble grey = 0, opacity = 0;

  for (guint i = 0; points[i]; i++) {
    const gdouble grey_before = grey, opacity_before = opacity;

    if (!parse_point (g_strstrip (points[i]), &grey, &opacity)
        || grey < grey_before) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "Property 'opacity' is \"%s\": it must be points GREY:OPACITY, "
          "numbers from 0 to 1, separated by ',', with growing greys",
          text);
      return FALSE;
    }
    for (guint k = 0; k < ND_LOOK_COLORS; k++) {
      const gdouble g = k / (gdouble) (ND_LOOK_COLORS - 1);

      if (g < grey_before && i > 0)
        continue;
      if (g >= grey || i == 0)
        curve[k] = opacity;
      else
        curve[k] = opacity_before
            + (opacity - opacity_before) * (g - grey_before)
                / (grey - grey_before);
    }
  }
  return TRUE;
}

gboolean
gst_nd_view_settings_resolve (const GstNdViewSettings *from,
    GstNdViewSettings *to, GError **error)
{
  *to = *from;
  to->size = to->opacity = NULL;
  memset (to->curve, 0, sizeof to->curve);
  return parse_size (from->size, &to->width, &to->height, error)
      && parse_opacity (from->opacity, to->curve, error);
}

gboolean
gst_nd_view_settings_need_second (const GstNdViewSettings *s)
{
  return s->mode == ND_VIEW_COMPARE || s->mode == ND_VIEW_OVERLAY;
}

gboolean
gst_nd_view_settings_are_beside (const GstNdViewSettings *s)
{
  return s->mode == ND_VIEW_COMPARE && s->split < 0;
}

void
gst_nd_view_settings_camera (const GstNdViewSettings *s, NdCamera *camera)
{
  const gdouble positions[] = { s->position_x, s->position_y, s->position_z };

  *camera = (NdCamera){
    .mode = gst_nd_view_settings_need_second (s) ? s->content : s->mode,
    .axis = s->axis,
    .columns = s->history,
    .slices = s->slices,
    .azimuth = s->azimuth,
    .elevation = s->elevation,
    .perspective = s->perspective,
    .zoom = s->zoom,
    .pan = { s->pan_x, s->pan_y },
    .projection = s->projection,
  };
  for (guint a = 0; a < 3; a++)
    camera->position[a] = positions[a] < 0 ? s->position : positions[a];
}

void
gst_nd_view_settings_job (const NdRecording *info, NdSceneJob *job)
{
  *job = (NdSceneJob){ .type = info->type, .shape = info->shape };
  for (guint a = 0; a < 3; a++) {
    const gdouble spacing = info->geometry.spacing[a];

    job->spacing[a] =
        info->geometry.known && spacing > 0 && isfinite (spacing) ? spacing : 1;
  }
}

static gboolean
is_annotated (const GstNdViewSettings *s)
{
  return s->cross_hair || s->labels || s->scale_bar || s->show_time
      || s->show_number || s->show_keys
      || (s->pointer_x >= 0 && s->pointer_y >= 0);
}

gboolean
gst_nd_view_settings_are_scene (const GstNdViewSettings *s,
    const NdRecording *info)
{
  const gboolean rotated = s->mode == ND_VIEW_PROJECTION
      && (s->azimuth != 0 || s->elevation != 0 || s->perspective != 0
          || s->projection != ND_PROJECTION_MAX);
  NdSceneJob job;

  gst_nd_view_settings_job (info, &job);
  return s->mode > ND_VIEW_PROJECTION || s->width > 0 || rotated
      || s->position_x >= 0 || s->position_y >= 0 || s->position_z >= 0
      || s->zoom != 1 || s->pan_x != 0 || s->pan_y != 0
      || s->colormap != ND_COLORMAP_GRAY || s->background != 0
      || is_annotated (s)
      /* Planes side by side cannot have pixels of different aspects. */
      || (s->mode == ND_VIEW_ORTHOGONAL
          && (job.spacing[0] != job.spacing[1]
              || job.spacing[1] != job.spacing[2]));
}

gboolean
gst_nd_view_settings_size (const GstNdViewSettings *settings,
    const NdRecording *info, gint *width, gint *height)
{
  NdSceneJob job;
  NdCamera camera;

  *width = settings->width;
  *height = settings->height;
  if (*width > 0)
    return TRUE;
  gst_nd_view_settings_camera (settings, &camera);
  gst_nd_view_settings_job (info, &job);
  if (!nd_layout_natural_size (&camera, &job, width, height))
    return FALSE;
  if (gst_nd_view_settings_are_beside (settings))
    *width *= 2;
  return TRUE;
}
