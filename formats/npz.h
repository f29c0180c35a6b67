/* NumPy's .npz: a zip archive with an .npy file for each array. The largest
 * array is a recording; stored arrays are read in place.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/list.h"
#include "formats/input.h"

G_BEGIN_DECLS

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

gboolean nd_npz_detect (const guint8 *bytes, gsize n);

/* Finds the largest array of the archive @input, the file @path.
 * ND_ERROR_FORMAT if there is none or if it is packed in another way than by
 * deflate, ND_ERROR_READ if the archive is damaged. */
gboolean nd_npz_find (NdNpzMember *member, NdInput *input, NdBudget *budget,
    const gchar *path, GError **error);

G_END_DECLS
