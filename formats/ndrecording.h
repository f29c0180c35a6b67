/* Recorded volumes, read and written one at a time in bounded memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndshape.h"

G_BEGIN_DECLS

/* Where the volume lies: millimetres, axes to the Right, Anterior, Superior
 * (as NIfTI has it). The sample at index (i, j, k) is at
 * origin + directions * (spacing * (i, j, k)). */
typedef struct
{
  gboolean known;
  gdouble spacing[3];
  gdouble origin[3];
  gdouble directions[9];        /* row by row; column a = direction of axis a */
} NdGeometry;

typedef struct
{
  NdSampleType type;
  NdShape shape;
  guint64 volumes;              /* 0: not known (when writing) */
  gint rate_n, rate_d;          /* volumes per second; 0/1: not known */
  guint responses;              /* of a bank; 1 otherwise */
  NdGeometry geometry;
} NdRecording;

/* Bytes of one volume with all its responses; 0 on overflow. */
gsize nd_recording_volume_size (const NdRecording * recording);

typedef struct _NdReader NdReader;

/* The file's magic decides on the format, not its name. For a raw file (no
 * known magic, or @raw_type given) @hint says type, shape and rate; NULL
 * otherwise. Errors: ND_ERROR_NOT_FOUND, _OPEN_READ, _READ, _FORMAT, _SETTINGS
 * (raw without a hint). */
NdReader *nd_reader_open (const gchar * path, const NdRecording * hint,
    GError ** error);
void nd_reader_close (NdReader * reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdReader, nd_reader_close)
const NdRecording *nd_reader_recording (NdReader * reader);

/* TRUE where seeking costs nothing; a compressed file can only be read again
 * from its beginning. */
gboolean nd_reader_seekable (NdReader * reader);
gboolean nd_reader_seek (NdReader * reader, guint64 volume, GError ** error);

/* The next volume, in the byte order of the machine, into @data of
 * nd_recording_volume_size() bytes. Call it @recording->volumes times at
 * most. */
gboolean nd_reader_read (NdReader * reader, gpointer data, GError ** error);

typedef struct _NdWriter NdWriter;

/* The ending of @path names the format: .nii, .nii.gz, otherwise .raw. Writes
 * to @path with ".part" behind it until nd_writer_finish(). */
NdWriter *nd_writer_open (const gchar * path, const NdRecording * recording,
    GError ** error);
gboolean nd_writer_write (NdWriter * writer, gconstpointer data,
    GError ** error);

/* Writes the number of volumes into the header and gives the file its name.
 * On failure the .part file stays. */
gboolean nd_writer_finish (NdWriter * writer, GError ** error);

/* Without nd_writer_finish() before it, leaves the .part file. */
void nd_writer_close (NdWriter * writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdWriter, nd_writer_close)

G_END_DECLS
