/* Pictures of volumes: which samples are shown where, and how bright.
 *
 * A complex sample (two components) is shown by its magnitude, three
 * components are red, green and blue, of any other number the first is shown.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndbackend.h"

G_BEGIN_DECLS

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

/* For volumes of that kind, whose nd_picture_size() must be TRUE; with @device,
 * on the device of that back end, where the volumes must lie. */
NdPicture *nd_picture_new (NdPictureMode mode, NdAxis axis, NdSampleType type,
    const NdShape * shape, const NdBackend * device, gint device_id,
    GError ** error);
void nd_picture_free (NdPicture * picture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdPicture, nd_picture_free)

/* Takes the samples to show from the volume @data: planes at index
 * floor (position * size), at most the last, @position from 0 to 1. */
gboolean nd_picture_take (NdPicture * picture, gconstpointer data,
    gdouble position, GError ** error);

/* A range of values that shows the volume @data well: its 0.5 and 99.5
 * percentiles, estimated; its minimum and maximum where these are equal; @low
 * above @high where no sample is finite. */
gboolean nd_picture_range (NdPicture * picture, gconstpointer data,
    gdouble * low, gdouble * high, GError ** error);

/* Writes what was taken to @pixels, rows @stride bytes apart, as
 * 255 (value - low) / window rounded half to even, from 0 to 255; NaN and what
 * no sample covers are black. @window is above 0. */
gboolean nd_picture_write (NdPicture * picture, gdouble low, gdouble window,
    guint8 * pixels, gssize stride, GError ** error);

G_END_DECLS
