/* Pictures of volumes: which samples are shown where, and how bright.
 *
 * A complex sample (two components) is shown by its magnitude, three
 * components are red, green and blue, of any other number the first is shown.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndshape.h"

G_BEGIN_DECLS

typedef enum
{
  ND_PICTURE_SLICE,             /* the plane across an axis */
  ND_PICTURE_ORTHOGONAL,        /* three of them */
  ND_PICTURE_PROJECTION         /* the maximum along an axis */
} NdPictureMode;

/* Axes of the volume that run along the width and the height of the plane
 * across @axis: z and y, x and z, x and y. */
NdAxis nd_picture_width_axis (NdAxis axis);
NdAxis nd_picture_height_axis (NdAxis axis);

/* Pixels of a picture of a volume of @size: one per sample of the plane; three
 * planes lie in X + Z by Y + Z pixels. FALSE where that is more than GstVideo
 * can count. */
gboolean nd_picture_size (NdPictureMode mode, NdAxis axis,
    const gsize size[3], gint * width, gint * height);

/* 3 or 1. */
guint nd_picture_channels (const NdShape * shape);

typedef struct _NdPicture NdPicture;

/* For volumes of that kind, whose nd_picture_size() must be TRUE. NULL where
 * there is no memory. */
NdPicture *nd_picture_new (NdPictureMode mode, NdAxis axis, NdSampleType type,
    const NdShape * shape);
void nd_picture_free (NdPicture * picture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdPicture, nd_picture_free)

/* Takes the samples to show from the volume @data: planes at index
 * floor (position * size), at most the last, @position from 0 to 1. */
void nd_picture_take (NdPicture * picture, gconstpointer data,
    gdouble position);

/* A range of values that shows the volume @data well: its 0.5 and 99.5
 * percentiles, estimated; its minimum and maximum where these are equal. FALSE
 * where no sample is finite. */
gboolean nd_picture_range (const NdPicture * picture, gconstpointer data,
    gdouble * low, gdouble * high);

/* Writes what was taken to @pixels, rows @stride bytes apart, as
 * 255 (value - low) / window rounded half to even, from 0 to 255; NaN and what
 * no sample covers are black. @window is above 0. */
void nd_picture_write (const NdPicture * picture, gdouble low, gdouble window,
    guint8 * pixels, gssize stride);

G_END_DECLS
