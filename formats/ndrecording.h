/* Recorded volumes, read and written one at a time in bounded memory.
 *
 * Formats: NIfTI-1 and NIfTI-2 (.nii, .nii.gz), NRRD (.nrrd, .nhdr), MetaImage
 * (.mha, .mhd), and raw samples without a header; docs/formats.md says what is
 * read and written of each.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndshape.h"
#include "formats/ndmetadata.h"

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

/* What raw samples are: @sizes reads "X:Y:Z", "X:Y" for frames, or "X:Y:Z:K"
 * with K responses; no rate, no geometry. FALSE where it reads otherwise. */
gboolean nd_recording_init_raw (NdRecording * recording, const gchar * sizes,
    gsize components, NdSampleType type);

/* Bytes of one volume with all its responses; 0 on overflow. */
gsize nd_recording_volume_size (const NdRecording * recording);

typedef struct _NdReader NdReader;

/* Opens the regular file @path. Its content decides on the format, not its
 * name: NIfTI (also compressed as a whole with gzip), NRRD, MetaImage, in
 * either byte order; anything else is raw samples in the byte order of the
 * machine, for which @hint says type, shape, responses and rate (its number of
 * volumes does not count). @hint is not read where there is a header, and may
 * be NULL.
 *
 * Samples come as uint8, int16, uint16 or float32: int8 as int16; integers of
 * 32 and 64 bits, float64, and what a NIfTI header scales, slope * sample +
 * intercept, as float32. A header may name other files with the samples; they
 * must lie in its own folder.
 *
 * Errors: ND_ERROR_NOT_FOUND, _OPEN_READ, _READ (truncated or damaged, wrong
 * size for raw), _FORMAT (not a format or type known here), _SETTINGS (raw
 * without a hint). */
NdReader *nd_reader_open (const gchar * path, const NdRecording * hint,
    GError ** error);
void nd_reader_close (NdReader * reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdReader, nd_reader_close)
const NdRecording *nd_reader_recording (NdReader * reader);
const NdMetadata *nd_reader_metadata (NdReader * reader);

/* As "NRRD, int16, compressed". */
const gchar *nd_reader_format (NdReader * reader);

/* What is not as the file has it, one sentence each; ends with NULL. */
const gchar *const *nd_reader_warnings (NdReader * reader);

/* When @volume begins, at most recording->volumes, in nanoseconds from the
 * first: as the file says it, otherwise by the rate, otherwise a second
 * apart. */
gint64 nd_reader_time (NdReader * reader, guint64 volume);

/* TRUE where seeking costs nothing; a compressed file is read from its
 * beginning to its end. */
gboolean nd_reader_seekable (NdReader * reader);

/* Makes @volume, counted from 0 and at most recording->volumes, the next one.
 * In a file that is not seekable those before it are unpacked, and one that has
 * passed cannot be had again: ND_ERROR_READ. */
gboolean nd_reader_seek (NdReader * reader, guint64 volume, GError ** error);

/* The next volume, in the byte order of the machine, into @data of
 * nd_recording_volume_size() bytes. Call it recording->volumes times at
 * most. ND_ERROR_READ where the data end or are damaged. */
gboolean nd_reader_read (NdReader * reader, gpointer data, GError ** error);

typedef struct _NdWriter NdWriter;

/* The ending of @path names the format: .nii, .nii.gz, .nrrd, .nhdr with .raw
 * or .raw.gz beside it, .mha, .mhd with .raw or .zraw beside it, otherwise raw
 * samples in the byte order of the machine; endings of formats that cannot be
 * written are refused. @compress: NRRD and MetaImage pack the samples.
 * Creates @path with ".part" behind it; only nd_writer_finish() gives it its
 * name, and replaces what had it. ND_ERROR_SETTINGS, _OPEN_WRITE. */
NdWriter *nd_writer_open (const gchar * path, gboolean compress,
    GError ** error);

/* Says what the volumes are, before the first one. A second call begins the
 * file anew, without the volumes already written. ND_ERROR_FORMAT where the
 * format cannot hold them: NIfTI takes 1 component of every type, 2 of float32,
 * 3 and 4 of uint8, and no banks; MetaImage no banks; NRRD and raw take
 * everything. */
gboolean nd_writer_begin (NdWriter * writer, const NdRecording * recording,
    GError ** error);

/* After that, and before the first volume: what goes along from the file that
 * the volumes come from; a volume's fields belong to the one that is written
 * with its time. @source may be NULL. @volumes are expected, 0: not known; the
 * header gets room for so many. */
void nd_writer_set_source (NdWriter * writer, NdMetadata * source,
    guint64 volumes);

/* Writes nd_recording_volume_size() bytes. @time in nanoseconds, as those of
 * the source count; below 0: not known. ND_ERROR_NO_SPACE with the bytes
 * wanted where the disk is full, ND_ERROR_WRITE otherwise. */
gboolean nd_writer_write (NdWriter * writer, gconstpointer data, gint64 time,
    GError ** error);
guint64 nd_writer_volumes (NdWriter * writer);

/* Writes number, times and fields of the volumes into the header and gives the
 * file its name. A single volume becomes a 3D file, more a 4D file. Without any
 * volume ND_ERROR_WRITE, and no file. On other failures the .part file
 * stays. */
gboolean nd_writer_finish (NdWriter * writer, GError ** error);

/* After that: what the format had no place for; NULL: nothing. */
const gchar *nd_writer_warning (NdWriter * writer);

/* The name of the file while it is written. */
const gchar *nd_writer_part (NdWriter * writer);

/* Without nd_writer_finish() before it, leaves the .part file where volumes
 * were written, with their number in its header, and removes it otherwise. */
void nd_writer_close (NdWriter * writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdWriter, nd_writer_close)

G_END_DECLS
