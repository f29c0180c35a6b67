/* Pictures of volumes: which samples a pixel shows, and how bright it is.
 *
 * A sample with two components is complex and is shown by its magnitude. Three
 * components are red, green and blue. If there is another number of components,
 * the first one is shown.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

G_BEGIN_DECLS

/* The numbers are public: ndview has them as property `mode`. */
typedef enum
{
  ND_PICTURE_SLICE = 0,      /* the plane across an axis */
  ND_PICTURE_ORTHOGONAL = 1, /* the three planes through a point */
  ND_PICTURE_PROJECTION = 2  /* the maximum along an axis */
} NdPictureMode;

typedef struct
{
  NdPictureMode mode;
  NdAxis axis; /* of a slice or a projection */
  NdSampleType type;
  NdShape shape;       /* of the volumes, which are dense */
  gsize width, height; /* pixels, see nd_picture_size() */
  guint channels;      /* values per pixel, see nd_picture_channels() */
} NdPictureJob;

typedef struct _NdRenderer NdRenderer; /* each back end defines its own */

/* Pictures of volumes in the memory of a back end's device. The functions
 * correspond to those below. The volume that `take` is given must stay valid
 * until `write` returns; the other functions have read it when they return. */
struct _NdRendererFuncs
{
  NdRenderer *(*create) (const NdPictureJob *job, gint device_id,
      GError **error);
  void (*destroy) (NdRenderer *renderer);

  /* Takes the samples of the picture: of slices, the planes at index @at of
   * each axis. */
  gboolean (*take) (NdRenderer *renderer, gconstpointer volume,
      const gsize at[3], GError **error);

  /* Fills @samples with @n shown values: value i is channel i % channels of
   * sample i * step of the volume. */
  gboolean (*sample) (NdRenderer *renderer, gconstpointer volume, gsize step,
      gfloat *samples, gsize n, GError **error);

  /* The least and the greatest of all shown values that are finite. If there
   * are none, @low and @high are not changed. */
  gboolean (*extremes) (NdRenderer *renderer, gconstpointer volume,
      gdouble *low, gdouble *high, GError **error);

  /* Writes the samples taken, as nd_picture_write() describes. */
  gboolean (*write) (NdRenderer *renderer, gdouble low, gdouble window,
      guint8 *pixels, gssize stride, GError **error);
};

/* The axes along the width and the height of the picture of a plane across
 * @axis: z and y for a plane across x, x and z across y, x and y across z. */
NdAxis nd_picture_width_axis (NdAxis axis);
NdAxis nd_picture_height_axis (NdAxis axis);

/* Sets @width and @height to those of a picture of a volume of @size, with one
 * pixel per sample. A picture of three planes has X + Z by Y + Z pixels. FALSE
 * if the picture is larger than GstVideo supports. */
gboolean nd_picture_size (NdPictureMode mode, NdAxis axis, const gsize size[3],
    gint *width, gint *height);

/* Values per pixel: 3 for samples of three components, otherwise 1. */
guint nd_picture_channels (const NdShape *shape);

typedef struct _NdPicture NdPicture;

/* Makes a picture of volumes of @type and @shape. nd_picture_size() must be
 * TRUE for them. If @device is not NULL, its renderer draws, and volumes must
 * be in its memory. If @device is NULL, volumes must be in host memory. */
NdPicture *nd_picture_new (NdPictureMode mode, NdAxis axis, NdSampleType type,
    const NdShape *shape, const NdBackend *device, gint device_id,
    GError **error);
void nd_picture_free (NdPicture *picture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdPicture, nd_picture_free)

/* Takes the samples to show from the volume @data. @position, from 0 to 1,
 * selects planes: that at index floor (position * size) of each axis, or the
 * last one for 1. */
gboolean nd_picture_take (NdPicture *picture, gconstpointer data,
    gdouble position, GError **error);

/* The percentiles of nd_picture_range(), 0 to 100; 0.5 and 99.5 if they are not
 * set. */
void nd_picture_set_percentiles (NdPicture *picture, gdouble low, gdouble high);

/* A range of values that shows the volume @data well: estimates of its
 * percentiles or, if these are equal, its minimum and maximum. @low is above
 * @high if no sample is finite. */
gboolean nd_picture_range (NdPicture *picture, gconstpointer data, gdouble *low,
    gdouble *high, GError **error);

/* Sets @level to the value that separates the volume @data into dark and bright
 * samples with the greatest variance between both (Otsu's method), estimated
 * from some samples. */
gboolean nd_picture_threshold (NdPicture *picture, gconstpointer data,
    gdouble *level, GError **error);

/* Writes the samples taken to @pixels, whose rows are @stride bytes apart, as
 * 255 (value - low) / window, rounded half to even and limited to 0 to 255. NaN
 * and pixels without a sample are black. @window is above 0. */
gboolean nd_picture_write (NdPicture *picture, gdouble low, gdouble window,
    guint8 *pixels, gssize stride, GError **error);

G_END_DECLS
