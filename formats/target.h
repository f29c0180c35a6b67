/* The target of a writer: format and compression, which the extension of its
 * path determines, and the paths of its files. A file has ".part" appended to
 * its name until it is complete (a partial file).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/metadata.h"
#include "formats/output.h"
#include "formats/zarr.h"

G_BEGIN_DECLS

typedef enum
{
  ND_TARGET_RAW,
  ND_TARGET_NIFTI,
  ND_TARGET_NRRD,
  ND_TARGET_METAIMAGE,
  ND_TARGET_NPY,
  ND_TARGET_TIFF,
  ND_TARGET_ZARR /* a folder */
} NdTargetFormat;

typedef struct
{
  NdTargetFormat format;
  NdPacking packing;
  gboolean list; /* NRRD: write a list axis for one volume too */
  gboolean plus; /* NRRD: field names of PLUS */
  gboolean old;  /* OME-Zarr 0.4 */
  gboolean ome;  /* TIFF: OME-XML */
  gboolean compress;
  gchar *path, *partial;
  /* The file of the samples if the header is detached, otherwise NULL. */
  gchar *data_path, *data_partial;
} NdTarget;

/* Reads the extension of @path. ND_ERROR_SETTINGS if the format cannot be
 * written, or cannot be compressed; ND_ERROR_OPEN_WRITE if an existing file
 * must not be replaced. */
gboolean nd_target_init (NdTarget *target, const gchar *path, gboolean compress,
    GError **error);
/* Refuses a name without an extension that is known, which nd_target_init()
 * takes for raw samples. ND_ERROR_SETTINGS. */
gboolean nd_target_check_ending (const gchar *path, GError **error);
void nd_target_clear (NdTarget *target);

/* The path of the partial file that receives the samples. */
const gchar *nd_target_partial_path (const NdTarget *target);

/* Creates that file, and that of a detached header, otherwise *@header is NULL.
 * ND_ERROR_OPEN_WRITE, _DISK_FULL. */
gboolean nd_target_open (const NdTarget *target, NdOutput **samples,
    NdOutput **header, GError **error);

/* Creates that folder. ND_ERROR_OPEN_WRITE, _DISK_FULL. */
NdZarrWriter *nd_target_open_folder (const NdTarget *target, GError **error);

/* Gives the partial files their final names; @header is NULL if it is not
 * detached. ND_ERROR_WRITE. */
gboolean nd_target_rename (const NdTarget *target, const NdPart *samples,
    const NdPart *header, GError **error);

/* What each format holds beside the samples: the table from which a writer says
 * what is lost, and a reader what a file cannot have.
 */

/* A list like "origin, directions, fields" of what the format with the name
 * @format of messages ("TIFF") does not hold; NULL if it holds all, or if it is
 * raw. The caller frees it. */
gchar *nd_holds_not (const gchar *format);

/* A sentence about what @target does not hold of a recording with the metadata
 * @source, which may be NULL, and the first time @origin; NULL if that is
 * nothing. The caller frees it. */
gchar *nd_holds_lost (const NdTarget *target, const NdRecording *recording,
    const NdMetadata *source, gint64 origin);

G_END_DECLS
