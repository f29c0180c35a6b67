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
