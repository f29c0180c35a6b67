/* The positions of the panels of a scene, and the directions from which they
 * show the volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "view/scene.h"

G_BEGIN_DECLS

/* The numbers are public: ndview has them as property `mode`. The first three
 * are those of NdPictureMode. */
typedef enum
{
  ND_VIEW_SLICE = 0,
  ND_VIEW_ORTHOGONAL = 1,
  ND_VIEW_PROJECTION = 2,
  ND_VIEW_MOSAIC = 3,
  ND_VIEW_VOLUME = 4,
  ND_VIEW_SURFACE = 5,
  ND_VIEW_MMODE = 6, /* a line over time; it has no panels of its own */

  /* Two volumes; their panels are those of another mode. */
  ND_VIEW_COMPARE = 7,
  ND_VIEW_OVERLAY = 8
} NdViewMode;

/* The numbers are public: property `projection`. */
typedef enum
{
  ND_PROJECTION_MAX = 0,
  ND_PROJECTION_MEAN = 1,
  ND_PROJECTION_MIN = 2
} NdProjection;

/* The kind of the view and its direction. */
typedef struct
{
  NdViewMode mode;
  NdAxis axis;         /* the direction of the view before it is rotated */
  gdouble position[3]; /* 0 to 1 of each axis */
  guint columns;       /* of ND_VIEW_MMODE */
  guint slices;        /* of a mosaic; 0: as many as fit in 8 x 8 */
  gdouble azimuth;     /* degrees about the vertical axis of the picture */
  gdouble elevation;   /* degrees about its horizontal axis, after that */
  gdouble perspective; /* degrees of the field of view; 0: parallel rays */
  gdouble zoom;        /* above 0 */
  gdouble pan[2];      /* to the right and down, in sizes of the picture */
  NdProjection projection;
} NdCamera;

#define ND_LAYOUT_PANELS 1024

typedef struct
{
  guint n;
  NdPanel panels[ND_LAYOUT_PANELS];
  NdAxis axes[ND_LAYOUT_PANELS];   /* across planes */
  gsize indices[ND_LAYOUT_PANELS]; /* of the planes, along that axis */
  gdouble pixel; /* mm per pixel; in perspective, at the middle */
} NdLayout;

/* The index of the plane at @position of @axis, 0 to 1. */
gsize nd_layout_index (const NdSceneJob *job, NdAxis axis, gdouble position);

/* Number of planes in a mosaic of @camera. */
guint nd_layout_slices (const NdCamera *camera, const NdSceneJob *job);

/* The size at which a pixel is as long as the shortest spacing of the volume.
 * FALSE if the picture would be larger than GstVideo supports. */
gboolean nd_layout_natural_size (const NdCamera *camera, const NdSceneJob *job,
    gint *width, gint *height);

/* Fills @layout with the panels of a picture of @width x @height pixels: the
 * volume as large as it fits, times the zoom. */
void nd_layout_init (NdLayout *layout, const NdCamera *camera,
    const NdSceneJob *job, gint width, gint height);

/* The panel that contains pixel (@x, @y), or -1. */
gint nd_layout_panel_at (const NdLayout *layout, gint x, gint y);

/* Directions of the pictures of @camera in mm along the axes of the volume: to
 * the right, down, and away from the eye. */
void nd_camera_axes (const NdCamera *camera, gdouble right[3], gdouble down[3],
    gdouble forward[3]);

/* Turns @camera as a drag by (@right, @down) pixels on a sphere as large as the
 * picture does. */
void nd_camera_rotate (NdCamera *camera, gdouble right, gdouble down,
    gint width, gint height);

G_END_DECLS
