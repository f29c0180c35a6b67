/* Pictures of volumes in the memory of a back end's device. The functions
 * correspond to those of engine/picture.h.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

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

/* The volume that `take` is given must stay valid until `write` returns; the
 * other functions have read it when they return. */
typedef struct
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
} NdRendererFuncs;

G_END_DECLS
