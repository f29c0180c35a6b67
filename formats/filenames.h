/* The files of a series, which are numbered by their names:
 *
 *   img_0001.tif                                     slices or volumes
 *   heart_t001_z02_c1.tif                            time, slices, channels
 *   img_000000000_GFP_000.tif                        Micro-Manager 1.4
 *   img_channel000_position000_time000000000_z000.tif  Micro-Manager 2
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

#define ND_FILE_NAME_MAX 256
#define ND_FILE_NUMBERS 8
#define ND_FILE_MISSING G_MAXUINT32

typedef struct
{
  gchar name[ND_FILE_NAME_MAX];
  guint64 kind; /* a hash of what is no number in it */
  guint n;      /* of its numbers, the last ones */
  guint64 numbers[ND_FILE_NUMBERS];
  guint16 begins[ND_FILE_NUMBERS]; /* of the numbers in the name */
  guint16 channel, channel_length; /* of Micro-Manager 1.4; 0: none */
} NdFileName;

typedef struct
{
  gchar *folder;
  NdList *files;  /* NdFileName, in natural order */
  NdList *planes; /* guint32: the file of each, channel after channel, slice
                        after slice, time after time; ND_FILE_MISSING */
  guint64 channels, slices, volumes;
  gboolean named; /* the names say which axis their numbers count */
} NdFileNames;

/* Finds the files in the folder @path whose names end like a recording, or, if
 * @path is no folder, those that match its only %d (%04d, ...) with any number.
 * Of several kinds of names that with most files is taken, with a warning.
 * @channels are the names of the channels in their order, or NULL.
 * ND_ERROR_OPEN_READ if there is no such folder, or none with such files;
 * _NOT_FOUND if none matches the pattern; _FORMAT if there are too many;
 * _MEMORY. */
gboolean nd_file_names_find (NdFileNames *names, NdHeader *header,
    const gchar *path, const gchar *const *channels, GError **error);
void nd_file_names_clear (NdFileNames *names);

/* TRUE if @path names files by one %d and is no file itself. */
gboolean nd_file_names_is_pattern (const gchar *path);

G_END_DECLS
