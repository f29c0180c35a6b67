/* The frames of a DICOM file: uncompressed or RLE, planes together or apart,
 * grey, RGB or YBR, as samples of a machine.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/dicomelements.h"

G_BEGIN_DECLS

typedef struct
{
  NdDicomBytes *bytes; /* of the caller, as the next ones */
  NdDicomElements *elements;
  gboolean keep;     /* the last ones may be missing */
  guint64 n;         /* frames */
  gsize width;       /* bytes of a sample */
  gsize samples;     /* of a frame, with its components */
  gsize stored;      /* bytes of a frame in the file, if not in fragments */
  NdList *fragments; /* NdDicomFragment, or NULL */
  NdList *firsts; /* guint32: the first fragment of each frame, and the end */
  guint8 *packed; /* bytes of a frame before it is decoded */
  gsize packed_size;
  const gchar *reason; /* why reading failed */
} NdDicomFrames;

typedef struct
{
  guint64 place;
  guint32 n;
} NdDicomFragment;

/* Finds the frames. FALSE if they are damaged, or without memory (the budget
 * has refused it then). */
gboolean nd_dicom_frames_find (NdDicomFrames *frames);
void nd_dicom_frames_clear (NdDicomFrames *frames);

/* Reads frame @number. */
gboolean nd_dicom_frames_read (NdDicomFrames *frames, guint64 number,
    guint8 *samples);

/* The palette of a DICOM file: a table of colours for its samples (DICOM PS3.3,
 * C.7.6.3.1.5 and .6).
 */

typedef struct
{
  NdBudget *budget;
  guint8 *colours; /* red, green and blue of each sample */
  gsize size;
  gsize width;    /* bytes of a red, 1 or 2 */
  guint n, first; /* samples from @first on have @n colours */
} NdDicomPalette;

/* FALSE if there is none, it is damaged or in segments, or without memory. */
gboolean nd_dicom_palette_load (NdDicomPalette *palette,
    const NdDicomElements *elements, NdDicomBytes *bytes);
void nd_dicom_palette_clear (NdDicomPalette *palette);

/* The colours of @n samples of @bytes each. */
void nd_dicom_palette_apply (const NdDicomPalette *palette,
    const guint8 *samples, gsize bytes, gsize n, guint8 *colours);

G_END_DECLS
