/* The two structs of NIfTI, in either byte order, converted to one: the struct
 * of NIfTI-2, which is the wider one, with the sizeof_hdr of the file. For
 * formats/nifti.c and formats/niftiextensions.c only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>
#include <nifti/nifti1.h>
#include <nifti/nifti2.h>

G_BEGIN_DECLS

#define ND_NIFTI_1_SIZE 348
#define ND_NIFTI_2_SIZE 540

/* The least number of bytes before the samples. Either header fits, so that the
 * writer can choose NIfTI-2 once it knows the number of volumes. */
#define ND_NIFTI_ROOM 544

/* The size of the struct at the beginning of a file; 0 if its first number is
 * neither size in either byte order, or if the file is shorter. */
gsize nd_nifti_struct_size (const guint8 *bytes, gsize n, gboolean *swapped);

/* Converts to the byte order of the machine. @pair: the samples are in another
 * file. @analyze: it is a header of Analyze, whose fields are brought to those
 * of NIfTI. ND_ERROR_FORMAT if magic or vox_offset is wrong. */
gboolean nd_nifti_unpack (nifti_2_header *wide, gboolean *swapped,
    gboolean *pair, gboolean *analyze, const guint8 *bytes, gsize n,
    const gchar *path, GError **error);

/* Writes sizeof_hdr bytes to @bytes, with the magic for that size. */
void nd_nifti_pack (nifti_2_header *wide, guint8 *bytes);

G_END_DECLS
