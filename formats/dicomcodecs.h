/* Decoders of compressed DICOM frames, of libraries that a build may lack: JPEG
 * (libjpeg), JPEG-LS (CharLS), JPEG 2000 (OpenJPEG).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/budget.h"

G_BEGIN_DECLS

/* A frame. */
typedef struct
{
  const guint8 *packed;
  gsize n;
  guint columns, rows, components;
  gsize width;     /* bytes of a sample */
  gboolean is_ybr; /* the elements say that colours are YBR_FULL */
  NdBudget *budget;
} NdDicomPacked;

/* Whether this build decodes the transfer syntax, whose samples have @bits. */
gboolean nd_dicom_codec_has (const gchar *syntax, guint bits);

/* The bytes that a byte of the file may become; files that claim more are
 * refused. */
guint64 nd_dicom_codec_ratio (const gchar *syntax);

/* Decodes into @samples, with components together. @is_rgb: the decoder has
 * converted colours. FALSE with @reason, which is static. */
gboolean nd_dicom_codec_read (const gchar *syntax, const NdDicomPacked *frame,
    guint8 *samples, gboolean *is_rgb, const gchar **reason);

/* Of the libraries. */
gboolean nd_dicom_jpeg_read (const NdDicomPacked *frame, guint8 *samples,
    gboolean *is_rgb, const gchar **reason);
gboolean nd_dicom_jpegls_read (const NdDicomPacked *frame, guint8 *samples,
    const gchar **reason);
gboolean nd_dicom_jpeg2000_read (const NdDicomPacked *frame, guint8 *samples,
    const gchar **reason);

G_END_DECLS
