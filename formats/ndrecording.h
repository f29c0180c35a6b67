/* Recorded volumes, read and written one at a time in bounded memory.
 *
 * Formats: NIfTI-1 and NIfTI-2, plain (.nii) and compressed (.nii.gz), and raw
 * samples without a header.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndshape.h"

G_BEGIN_DECLS

/* Where the volume lies: millimetres, axes to the Right, Anterior, Superior
 * (as NIfTI has it). The sample at index (i, j, k) is at
 * origin + directions * (spacing * (i, j, k)). Columns of directions have
 * length 1, unless a file states a spacing that is not the one of its
 * transform: position and spacing are kept as the file states both. */
typedef struct
{
  gboolean known;
  gdouble spacing[3];           /* above 0 */
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

/* Opens the regular file @path. Its content decides on the format, not its
 * name: what begins with a NIfTI header is NIfTI, plain or compressed with
 * gzip, in either byte order; anything else is raw samples in the byte order
 * of the machine, for which @hint says type, shape, responses and rate (its
 * number of volumes does not count). @hint is not read where there is a header,
 * and may be NULL.
 *
 * NIfTI types read: uint8, int16, uint16, float32, complex64 (2 components of
 * float32), RGB24 and RGBA32 (3 and 4 components of uint8). Where the header
 * scales samples, they are read as float32, slope * sample + intercept.
 * Without a transform (both codes 0) the geometry is the spacing alone, as
 * "method 1" of nifti1.h has it: axes to R, A, S, origin 0.
 *
 * Errors: ND_ERROR_NOT_FOUND, _OPEN_READ, _READ (truncated or damaged, wrong
 * size for raw), _FORMAT (not a format or type known here), _SETTINGS (raw
 * without a hint). */
NdReader *nd_reader_open (const gchar * path, const NdRecording * hint,
    GError ** error);
void nd_reader_close (NdReader * reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdReader, nd_reader_close)
const NdRecording *nd_reader_recording (NdReader * reader);

/* TRUE where seeking costs nothing; a compressed file is read from its
 * beginning to its end. */
gboolean nd_reader_seekable (NdReader * reader);

/* Makes @volume, counted from 0 and at most recording->volumes, the next one.
 * In a file that is not seekable only the one that is next anyway can be had;
 * ND_ERROR_READ otherwise. */
gboolean nd_reader_seek (NdReader * reader, guint64 volume, GError ** error);

/* The next volume, in the byte order of the machine, into @data of
 * nd_recording_volume_size() bytes. Call it recording->volumes times at
 * most. ND_ERROR_READ where the data end or are damaged. */
gboolean nd_reader_read (NdReader * reader, gpointer data, GError ** error);

typedef struct _NdWriter NdWriter;

/* The ending of @path names the format: .nii, .nii.gz, otherwise raw samples
 * in the byte order of the machine; endings of formats that cannot be written
 * are refused. Creates @path with ".part" behind it; only nd_writer_finish()
 * gives it its name, and replaces what had it.
 * ND_ERROR_SETTINGS, _OPEN_WRITE. */
NdWriter *nd_writer_open (const gchar * path, GError ** error);

/* Says what the volumes are, before the first one. A second call begins the
 * file anew, without the volumes already written. ND_ERROR_FORMAT where the
 * format cannot hold them: NIfTI takes the types that nd_reader_open() names,
 * and no banks; raw takes everything. */
gboolean nd_writer_begin (NdWriter * writer, const NdRecording * recording,
    GError ** error);

/* Writes nd_recording_volume_size() bytes. ND_ERROR_NO_SPACE with the bytes
 * wanted where the disk is full, ND_ERROR_WRITE otherwise. */
gboolean nd_writer_write (NdWriter * writer, gconstpointer data,
    GError ** error);
guint64 nd_writer_volumes (NdWriter * writer);

/* Writes the number of volumes into the header and gives the file its name.
 * A single volume becomes a 3D file, more a 4D file. Without any volume
 * ND_ERROR_WRITE, and no file. On other failures the .part file stays. */
gboolean nd_writer_finish (NdWriter * writer, GError ** error);

/* The name of the file while it is written. */
const gchar *nd_writer_part (NdWriter * writer);

/* Without nd_writer_finish() before it, leaves the .part file where volumes
 * were written, and removes it otherwise. */
void nd_writer_close (NdWriter * writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdWriter, nd_writer_close)

G_END_DECLS
