/* What the name of a recording asks for when it is written: format and packing,
 * and its files, which have .part behind their names until they are whole.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndoutput.h"

G_BEGIN_DECLS

typedef enum
{
  ND_TARGET_RAW,
  ND_TARGET_NIFTI,
  ND_TARGET_NRRD,
  ND_TARGET_METAIMAGE
} NdTargetFormat;

typedef struct
{
  NdTargetFormat format;
  NdPacking packing;
  gboolean list;                /* NRRD: of a single volume too */
  gboolean plus;                /* NRRD: names of PLUS */
  gchar *path, *part;
  /* Where the samples have a file of their own; NULL otherwise. */
  gchar *data_path, *data_part;
} NdTarget;

/* From the ending of @path. ND_ERROR_SETTINGS where it, or @compress with it,
 * means nothing that can be written; ND_ERROR_OPEN_WRITE where what is there
 * must not be replaced. */
gboolean nd_target_init (NdTarget * target, const gchar * path,
    gboolean compress, GError ** error);
void nd_target_clear (NdTarget * target);

/* The file that gets the samples, while it is written. */
const gchar *nd_target_part (const NdTarget * target);

/* Creates that. ND_ERROR_OPEN_WRITE, _NO_SPACE. */
NdOutput *nd_target_open (const NdTarget * target, GError ** error);

/* Gives the files their names. ND_ERROR_WRITE. */
gboolean nd_target_rename (const NdTarget * target, GError ** error);

/* Removes the .part files. */
void nd_target_remove (const NdTarget * target);

G_END_DECLS
