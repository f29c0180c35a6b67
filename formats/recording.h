/* Reads and writes recorded volumes, one at a time, in bounded memory.
 *
 * ND_RECORDING_FORMATS, and raw samples without header; docs/formats.md lists
 * the supported variants of each.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/beams.h"
#include "core/geometry.h"
#include "core/shape.h"
#include "formats/input.h"
#include "formats/metadata.h"

G_BEGIN_DECLS

typedef struct
{
  NdSampleType type;
  NdShape shape;
  guint64 volumes;     /* 0: unknown (when writing) */
  gint rate_n, rate_d; /* volumes per second; 0/1: unknown */
  guint responses;     /* of a bank; otherwise 1 */
  NdGeometry geometry;
  gchar beams[ND_BEAMS_TEXT]; /* of volumes in beam space (core/beams.h); else
                               * "" */
  guint64 offset;             /* of raw samples: the bytes before them */
} NdRecording;

/* Describes raw samples, without rate and geometry. @sizes is "X:Y:Z", "X:Y"
 * for frames, or "X:Y:Z:K" with K responses; FALSE if it is anything else. */
gboolean nd_recording_init_raw (NdRecording *recording, const gchar *sizes,
    gsize components, NdSampleType type);

/* The bytes of one volume with all its responses; 0 on overflow. */
gsize nd_recording_volume_size (const NdRecording *recording);

typedef struct _NdReader NdReader;

/* Opens the regular file @path, a folder of ND_RECORDING_FOLDERS, or the files
 * that the pattern @path names (img_%04d.tif). The content of a file determines
 * the format, not its name, but for Analyze (.hdr). Any other content is raw
 * samples in the byte order of the machine; @hint describes their type, shape,
 * responses and rate (its number of volumes is ignored). @hint may be NULL. If
 * the file has a header, @hint only says how many slices of .npy, TIFF, DICOM
 * or numbered files are a volume if the file does not; with an offset, DICOM is
 * raw samples.
 *
 * Samples keep their type if streams have it. Integers of 64 bits, float64, and
 * samples that a NIfTI header scales (slope * sample + intercept) become
 * float32. A header may name other files with the samples, which must be in its
 * own folder.
 *
 * Errors: ND_ERROR_NOT_FOUND, _OPEN_READ, _READ (truncated or damaged, wrong
 * size for raw samples), _FORMAT (unsupported format or type), _SETTINGS (raw
 * samples without @hint). */
NdReader *nd_reader_open (const gchar *path, const NdRecording *hint,
    GError **error);

/* Formats that are read, for messages and help: in files, in folders, all. */
#define ND_RECORDING_FILES \
  "NIfTI, Analyze, NRRD, MetaImage, NumPy, TIFF, DICOM, HDF5"
#define ND_RECORDING_FOLDERS "OME-Zarr, DICOM, Micro-Manager, numbered files"
#define ND_RECORDING_FORMATS ND_RECORDING_FILES " or OME-Zarr"

/* TRUE if the extension is that of a format that is read and has a header. */
gboolean nd_recording_is_named (const gchar *path);

/* What is done with a file that has fewer samples than its header says: the
 * setting truncated. */
typedef enum
{
  ND_TRUNCATED_REFUSE, /* ND_ERROR_READ */
  ND_TRUNCATED_KEEP    /* its whole volumes are read, with a warning; compressed
                       files are decompressed once more to count them */
} NdTruncated;

/* The same with at most @max_memory bytes of memory, the setting max-memory; 0:
 * a quarter of what the process may use. One volume, which the caller has,
 * counts too. ND_ERROR_MEMORY, also later when volumes are read. */
NdReader *nd_reader_open_within (const gchar *path, const NdRecording *hint,
    guint64 max_memory, NdTruncated truncated, GError **error);

/* The same for bytes that @source has. Messages call them @path. If that is a
 * file of this machine (@is_local), its header may name other files beside it,
 * otherwise not: ND_ERROR_FORMAT. */
NdReader *nd_reader_open_source (const NdSource *source, const gchar *path,
    gboolean is_local, guint64 max_memory, NdTruncated truncated,
    GError **error);
void nd_reader_close (NdReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdReader, nd_reader_close)
const NdRecording *nd_reader_recording (NdReader *reader);
const NdMetadata *nd_reader_metadata (NdReader *reader);

/* Text like "NRRD, int16, compressed". */
const gchar *nd_reader_format (NdReader *reader);

/* A list of what the format does not hold, like "origin, directions", or
 * NULL. */
const gchar *nd_reader_not_held (NdReader *reader);

/* Sentences about differences between the file and the samples read, terminated
 * by NULL. */
const gchar *const *nd_reader_warnings (NdReader *reader);

/* The time of @volume (at most recording->volumes) in nanoseconds from the
 * first volume: from the times of the file, otherwise from its rate, otherwise
 * volumes are a second apart. */
gint64 nd_reader_time (NdReader *reader, guint64 volume);

/* TRUE if seeking costs nothing. A compressed file can only be read from the
 * beginning to the end. */
gboolean nd_reader_seekable (NdReader *reader);

/* Makes @volume (counted from 0, at most recording->volumes) the next one. In a
 * file that is not seekable, volumes before it are decompressed and discarded,
 * and seeking backwards is ND_ERROR_READ. */
gboolean nd_reader_seek (NdReader *reader, guint64 volume, GError **error);

/* Reads the next volume, in the byte order of the machine, into @data, which
 * has nd_recording_volume_size() bytes. If it returns TRUE, it has written all
 * of them. Must not be called more than recording->volumes times. ND_ERROR_READ
 * if the file is truncated or damaged. */
gboolean nd_reader_read (NdReader *reader, gpointer data, GError **error);

typedef struct _NdWriter NdWriter;

/* The extension of @path names the format: .nii, .nii.gz, .nrrd, .nhdr (with
 * samples in .raw or .raw.gz), .mha, .mhd (with samples in .raw or .zraw),
 * .npy, .tif, .zarr (a folder; .v2.zarr is version 0.4), otherwise raw samples
 * in the byte order of the machine.
 * Extensions of formats that cannot be written are refused. @compress
 * compresses the samples of NRRD, MetaImage and OME-Zarr. Writes a partial
 * file, @path
 * with ".part" appended, which nd_writer_finish() renames to @path.
 * ND_ERROR_SETTINGS, _OPEN_WRITE. */
NdWriter *nd_writer_open (const gchar *path, gboolean compress, GError **error);

/* Describes the volumes; must be called before the first one. A second call
 * empties the file. ND_ERROR_FORMAT if the format cannot store the volumes:
 * NIfTI has 1 component of every type, 2 of float32, 3 and 4 of uint8, and no
 * banks; MetaImage has no banks; NRRD and raw samples have no limits. */
gboolean nd_writer_begin (NdWriter *writer, const NdRecording *recording,
    GError **error);

/* Sets the metadata of the recording that the volumes come from; may be called
 * between nd_writer_begin() and the first volume. Fields of a volume go to the
 * volume that is written with the same time. @source may be NULL. The header
 * gets room for @volumes; 0 if their number is unknown. */
void nd_writer_set_source (NdWriter *writer, NdMetadata *source,
    guint64 volumes);

/* Writes one volume of nd_recording_volume_size() bytes. @time is in
 * nanoseconds on the time axis of the source, or below 0 if unknown.
 * ND_ERROR_DISK_FULL if the disk is full, otherwise ND_ERROR_WRITE. */
gboolean nd_writer_write (NdWriter *writer, gconstpointer data, gint64 time,
    GError **error);
guint64 nd_writer_volumes (NdWriter *writer);

/* Writes number, times and fields of the volumes to the header and renames the
 * file. One volume makes a 3D file, several make a 4D file. Without any volume
 * the file is removed and the error is ND_ERROR_WRITE. After other failures the
 * partial file stays. */
gboolean nd_writer_finish (NdWriter *writer, GError **error);

/* After nd_writer_finish(): a sentence about what the recording has and the
 * format does not hold, or NULL. */
const gchar *nd_writer_warning (NdWriter *writer);

/* The path of the partial file. */
const gchar *nd_writer_partial_path (NdWriter *writer);

/* Without nd_writer_finish(), keeps the partial file if it has volumes, with
 * their number in the header, and otherwise removes it. */
void nd_writer_close (NdWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdWriter, nd_writer_close)

G_END_DECLS
