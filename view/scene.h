/* Scenes: pictures of volumes that consist of panels. A panel is a rectangle of
 * pixels that shows a plane of the volume or, along a ray for each pixel, a
 * projection, the volume itself or its surface. A back end draws panels;
 * view/layout.h computes their positions and contents.
 *
 * Positions are in samples: sample (x, y, z) is at x, y, z, and the volume
 * extends half a sample beyond its first and last samples. The value at a
 * position is interpolated linearly between the 8 samples around it; beyond the
 * first and last samples, the nearest ones count. The value of a sample with
 * two components is its magnitude. Three components are the three values of
 * planes and of ND_PANEL_MAX to ND_PANEL_MIN, and count by their mean
 * otherwise. If there is another number of components, the first one is the
 * value.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/geometry.h"
#include "engine/backend.h"

G_BEGIN_DECLS

typedef enum
{
  ND_PANEL_PLANE,
  ND_PANEL_MAX, /* the values along the ray that are not NaN */
  ND_PANEL_MEAN,
  ND_PANEL_MIN,
  ND_PANEL_VOLUME, /* colours and opacities along the ray, front to back */
  ND_PANEL_SURFACE /* the first place on the ray at which the value is level */
} NdPanelKind;

/* Pixel (i, j) of a panel is the centre of a square. On a plane it shows
 * position origin + i right + j down. Otherwise it shows the values at
 *
 *   eye + d (k + 0.5), k = 0, 1, … steps - 1
 *
 * that lie in the volume. With parallel rays, eye is origin + i right + j down
 * and d is `forward`. In perspective, eye is `eye`, and d points from there to
 * origin + i right + j down and is `step` mm long. A surface is at the first
 * value that is not below its level or, if the value before is, between both,
 * in proportion to their distances from the level. */
typedef struct
{
  NdPanelKind kind;
  gint left, top, width, height; /* pixels; inside the picture */
  gdouble origin[3], right[3], down[3];
  gdouble forward[3];
  gboolean perspective;
  gdouble eye[3], step;
  gsize steps;
} NdPanel;

#define ND_LOOK_COLORS 256

/* How values become colours. The grey of a value is (value - low) / window,
 * limited to 0 to 1. Its colour and opacity are interpolated linearly between
 * the entries of the tables, of which the last one belongs to grey 1. */
typedef struct
{
  gdouble low, window; /* window > 0 */
  gfloat colors[ND_LOOK_COLORS][3];
  gfloat opacity[ND_LOOK_COLORS]; /* of one step on a ray */
  guint8 background[3];           /* red, green and blue, here and above */

  /* ND_PANEL_VOLUME and ND_PANEL_SURFACE. The colour is multiplied by
   *   1 + w (ambient + diffuse |n l| - 1), plus w specular |n h|^16 of white,
   * if n is the direction of the gradient g of the value in mm, l points to the
   * light, h half way between light and eye, and w = |g|^2 / (|g|^2 + e^2)
   * with e = 0.02 window per mm; on a surface w = 1. The gradient is made of
   * differences of values one sample away on both sides. */
  gdouble light[3]; /* of length 1, in mm along x, y and z */
  gdouble ambient, diffuse, specular;

  gdouble level;           /* of the surface */
  gfloat surface_color[3]; /* 0 to 255 */
} NdLook;

typedef struct
{
  NdSampleType type;
  NdShape shape;      /* of the volumes, which are dense */
  gdouble spacing[3]; /* mm, above 0 */
} NdSceneJob;

typedef struct _NdScene NdScene; /* each back end defines its own */

/* Functions that draw volumes in the memory of a back end's device. */
struct _NdSceneFuncs
{
  NdScene *(*create) (const NdSceneJob *job, gint device_id, GError **error);
  void (*destroy) (NdScene *scene);

  /* Takes a volume to draw. It must stay valid until it is replaced or no
   * longer drawn. */
  gboolean (*take) (NdScene *scene, gconstpointer volume, GError **error);

  /* Draws @n panels to @pixels in host memory: 3 bytes each, red, green and
   * blue, rows @stride bytes apart. Pixels without a panel are not changed. */
  gboolean (*draw) (NdScene *scene, const NdPanel *panels, guint n,
      const NdLook *look, guint8 *pixels, gssize stride, GError **error);

  /* Sets @values, in host memory, to the values of @n samples of the volume:
   * sample @first, counted in the order of memory, and others that follow at
   * distances of @step samples. */
  gboolean (*line) (NdScene *scene, gsize first, gsize step, gfloat *values,
      gsize n, GError **error);
};

/* Colour maps: the colours of grey 0 to 1. The numbers are public: ndview has
 * them as property `colormap`. */
typedef enum
{
  ND_COLORMAP_GRAY = 0,    /* black to white */
  ND_COLORMAP_HOT = 1,     /* black, red, yellow, white */
  ND_COLORMAP_BONE = 2,    /* grey with some blue */
  ND_COLORMAP_VIRIDIS = 3, /* blue to yellow, evenly brighter */
  ND_COLORMAP_SIGNED = 4,  /* blue, white at 0.5, red */
  ND_COLORMAP_HUE = 5      /* all hues; 0 and 1 are the same red */
} NdColormap;

/* Fills @colors with red, green and blue from 0 to 255. */
void nd_colormap_fill (NdColormap map, gfloat colors[ND_LOOK_COLORS][3]);

/* The positions of one volume in another one, for pictures of both: position p
 * of the first volume is at matrix p + offset of the second one. */
typedef struct
{
  gdouble matrix[9]; /* row by row */
  gdouble offset[3];
  gdouble spacing[3];  /* of the second volume, in mm of the first one */
  gdouble rotation[9]; /* the same for directions in mm */
} NdSceneMap;

/* If both geometries are known, positions are the same ones in space.
 * Otherwise, or if directions lie in a plane, both volumes fill the same box.
 * @job has the shape and the spacing of the first volume. */
void nd_scene_map_init (NdSceneMap *map, const NdSceneJob *job,
    const NdGeometry *first, const NdShape *second_shape,
    const NdGeometry *second);

/* Position @from of the first volume in the second one, in samples of each. */
void nd_scene_map_position (const NdSceneMap *map, const gdouble from[3],
    gdouble to[3]);

/* Makes a panel of the first volume one of the second. */
void nd_scene_map_panel (const NdSceneMap *map, NdPanel *panel);

/* The same for the direction of a light, which has length 1. */
void nd_scene_map_light (const NdSceneMap *map, gdouble light[3]);

G_END_DECLS
