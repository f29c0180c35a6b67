/* Where the kinds of HDF5 recordings have their arrays, and what they say about
 * space and time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/hdf5array.h"
#include "formats/header.h"

G_BEGIN_DECLS

typedef enum
{
  ND_HDF5_NONE,
  ND_HDF5_IMARIS,
  ND_HDF5_BIGDATAVIEWER,
  ND_HDF5_UFF
} NdHdf5Kind;

typedef struct
{
  NdHdf5Kind kind;
  NdList *times;    /* guint32: the numbers of time points; UFF has none */
  NdList *channels; /* guint32: of channels or set-ups */
  gchar place[ND_HDF5_TEXT]; /* of UFF: the group with the samples */
  gboolean is_complex;       /* of UFF: real and imaginary parts are apart */
} NdHdf5Kinds;

/* Finds the kind. FALSE without memory. */
gboolean nd_hdf5_kinds_find (NdHdf5Kinds *kinds, NdHdf5File *file);
void nd_hdf5_kinds_clear (NdHdf5Kinds *kinds);

/* The array of a channel (of UFF: the real part, 0, or the imaginary one) at a
 * time. */
void nd_hdf5_kinds_path (const NdHdf5Kinds *kinds, guint64 volume,
    guint channel, gchar path[ND_HDF5_TEXT]);

/* Crops @size (x, y, z) to what the file says of it. */
void nd_hdf5_kinds_crop (const NdHdf5Kinds *kinds, NdHdf5File *file,
    gsize size[3]);

/* Sets geometry and times; @path is that of the file. */
void nd_hdf5_kinds_describe (const NdHdf5Kinds *kinds, NdHdf5File *file,
    NdHeader *header, const gchar *path);

G_END_DECLS
