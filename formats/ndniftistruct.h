/* The two structs of NIfTI, in either byte order, as one: NIfTI-2's, which is
 * the wider one, with the sizeof_hdr that it has in the file. Of ndnifti.c
 * only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>
#include <nifti/nifti1.h>
#include <nifti/nifti2.h>

G_BEGIN_DECLS

#define ND_NIFTI_1_SIZE 348
#define ND_NIFTI_2_SIZE 540

/* The size of the struct that a file begins with; 0 where its first number is
 * neither, in either byte order, or fewer bytes than that are there. */
gsize nd_nifti_struct_size (const guint8 * bytes, gsize n, gboolean * swapped);

/* In the byte order of the machine. ND_ERROR_FORMAT where magic or vox_offset
 * are wrong. */
gboolean nd_nifti_unpack (nifti_2_header * wide, gboolean * swapped,
    const guint8 * bytes, gsize n, const gchar * path, GError ** error);

/* Into @bytes, of size sizeof_hdr, with the magic of that. */
void nd_nifti_pack (nifti_2_header * wide, guint8 * bytes);

G_END_DECLS
