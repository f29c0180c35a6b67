/* NumPy's .npy format: parses and builds the header.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 *
 * As a recording, the axis that runs fastest in memory is x: an array in C
 * order has the shape (y, x), (z, y, x) or (t, z, y, x), in Fortran order (x,
 * y), (x, y, z) or (x, y, z, t). A fifth axis, the fastest, is the components;
 * complex numbers have two.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/list.h"
#include "formats/header.h"
#include "formats/input.h"

G_BEGIN_DECLS

/* Parses @bytes, which end with the header. ND_ERROR_FORMAT if the array has an
 * unsupported type or number of axes, ND_ERROR_READ if the header is
 * damaged. */
gboolean nd_npy_parse (NdHeader *header, const guint8 *bytes, gsize n,
    const gchar *path, GError **error);

/* ND_ERROR_FORMAT if .npy cannot store @recording. */
gboolean nd_npy_supports (const NdRecording *recording, const gchar *path,
    GError **error);

/* Builds a header of at least @room bytes, below 64 KiB, for an array in C
 * order: (z, y, x) for one volume, (t, z, y, x) for several, and (t, z, y, x,
 * components) if there are several components. Two floats are a complex
 * number. */
void nd_npy_build (GByteArray *bytes, const NdRecording *recording, gsize room);

/* NumPy's .npz: a zip archive with an .npy file for each array. The largest
 * array is a recording; stored arrays are read in place.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */

/* How a member is packed: the numbers of zip, or encrypted. */
enum
{
  ND_NPZ_ENCRYPTED = -1,
  ND_NPZ_STORED = 0,
  ND_NPZ_DEFLATED = 8
};

/* The place of an .npy file in an archive. */
typedef struct
{
  guint64 offset; /* of its first byte in the archive */
  guint64 packed; /* bytes in the archive */
  guint64 size;   /* bytes of the file */
  gint method;
  guint32 sum;     /* CRC-32 of the file */
  gchar *name;     /* without .npy */
  GString *others; /* the names of the other arrays, or NULL */
} NdNpzMember;

void nd_npz_member_clear (NdNpzMember *member);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdNpzMember, nd_npz_member_clear)

/* TRUE if the @n first bytes of a file are those of a ZIP archive. */
gboolean nd_npz_detect (const guint8 *bytes, gsize n);

/* Finds the largest array of the archive @input, the file @path.
 * ND_ERROR_FORMAT if there is none or if it is packed in another way than by
 * deflate, ND_ERROR_READ if the archive is damaged. */
gboolean nd_npz_find (NdNpzMember *member, NdInput *input, NdBudget *budget,
    const gchar *path, GError **error);

G_END_DECLS
