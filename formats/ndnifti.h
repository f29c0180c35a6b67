/* The header of a NIfTI file, read and made in memory.
 *
 * NIfTI-1: https://nifti.nimh.nih.gov/nifti-1, nifti1.h; NIfTI-2: nifti2.h.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndrecording.h"

G_BEGIN_DECLS

/* Bytes that decide whether a file is NIfTI, and say everything about it. */
#define ND_NIFTI_HEADER 540

/* Bytes before the samples in every file that is written: either header fits,
 * so that NIfTI-2 can be chosen when the number of volumes is known. */
#define ND_NIFTI_ROOM 544

typedef struct
{
  NdRecording recording;        /* as it is read, after scaling */
  guint64 offset;               /* of the first sample in the file */
  NdSampleType stored;          /* type of the samples in the file */
  gboolean swapped;             /* they are in the other byte order */
  gboolean scaled;              /* recording.type is then float32 */
  gdouble slope, intercept;
} NdNifti;

/* TRUE where @bytes, of which @n are there, begin as NIfTI-1 or -2 do, in
 * either byte order; also where the magic behind that says a kind that
 * nd_nifti_parse() refuses by name. */
gboolean nd_nifti_detect (const guint8 * bytes, gsize n);

/* ND_ERROR_FORMAT says what is wrong with the header. */
gboolean nd_nifti_parse (NdNifti * nifti, const guint8 * bytes, gsize n,
    const gchar * path, GError ** error);

/* ND_ERROR_FORMAT where NIfTI cannot hold volumes like @recording. */
gboolean nd_nifti_supports (const NdRecording * recording,
    const gchar * path, GError ** error);

/* The header of a supported @recording, NIfTI-1 where all sizes are below
 * 32768, otherwise NIfTI-2. */
void nd_nifti_build (guint8 bytes[ND_NIFTI_ROOM],
    const NdRecording * recording);

/* The volume rate with the smallest numbers for which rate_d / rate_n, rounded
 * to float32, is @seconds rounded to float32; FALSE and 0/1 where @seconds is
 * not above 0, or beyond what two gint can say. */
gboolean nd_rate_from_seconds (gdouble seconds, gint * rate_n, gint * rate_d);

G_END_DECLS
