/* The content of a header in the same form for all formats: the interface
 * between the parsers and the reader.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/budget.h"
#include "formats/metadata.h"
#include "formats/recording.h"
#include "formats/stored.h"

G_BEGIN_DECLS

/* Samples that a library decodes, a slice at a time. */
typedef struct _NdSlices NdSlices;
struct _NdSlices
{
  /* Reads slice z + volume * Z, in the stored type and the byte order of the
   * machine. If it returns FALSE, it sets @reason, which is valid until the
   * next call. */
  gboolean (*read) (NdSlices *slices, guint64 slice, guint8 *samples,
      const gchar **reason);
  /* Reads a whole volume instead, if it is not NULL. */
  gboolean (*read_volume) (NdSlices *slices, guint64 volume, guint8 *samples,
      const gchar **reason);
  void (*free) (NdSlices *slices);
};

/* Calls the free() of @slices. */
void nd_slices_free (NdSlices *slices);

typedef struct
{
  NdBudget budget;       /* of the reader */
  const gchar *format;   /* "NRRD", for messages; static */
  NdRecording recording; /* after conversion of the samples */
  NdMetadata *metadata;
  GPtrArray *warnings; /* gchar *: sentences about differences between the
                          file and the samples read */

  NdStored stored;
  gboolean time_first;  /* time is the fastest axis */
  gboolean planar;      /* components are the slowest axis, after time */
  gboolean many_fields; /* some are left out */
  gboolean keep;        /* whole volumes of a truncated file are read */
  gboolean local;       /* set by the reader: files beside this one may be
                           read */
  gboolean z_or_time;   /* the file does not say whether its slices lie along
                          z or time */

  NdSlices *slices; /* decodes the samples; NULL: they are at the place below */

  /* The place of the samples: in the file itself or in others. */
  NdList *files;       /* gchar *: paths of files with equally many samples;
                          NULL: the file itself */
  gboolean compressed; /* each file by zlib or gzip, from @offset on */
  gboolean bare;       /* deflate data without a zlib or gzip frame, with the
                          CRC-32 @sum */
  guint32 sum;
  guint64 line_skip; /* lines to skip before @offset */
  guint64 offset;    /* bytes of the file before its samples */
  gboolean at_end;   /* samples are the last bytes of the file */
  gboolean within;   /* other data follow the samples, as in an archive */
  guint64 skip;      /* decompressed bytes before the samples */
} NdHeader;

/* Keeps header->budget, or sets the default one if it is not set, header->keep
 * and header->local. */
void nd_header_init (NdHeader *header, const gchar *format);
void nd_header_clear (NdHeader *header);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdHeader, nd_header_clear)

/* Adds a field of the recording; one too many is left out with a warning. */
void nd_header_add_field (NdHeader *header, const gchar *key,
    const gchar *value);

/* Adds a warning for the user of the recording: one sentence. */
void nd_header_warn (NdHeader *header, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Stored bytes of a volume and of all volumes. */
gsize nd_header_volume_bytes (const NdHeader *header);
guint64 nd_header_bytes (const NdHeader *header);

/* Sets recording.type from the stored type, and warns if conversion rounds
 * samples. ND_ERROR_FORMAT if the number of samples exceeds any file. */
gboolean nd_header_settle (NdHeader *header, const gchar *path, GError **error);

/* Sets the times of all volumes, in nanoseconds. @unit is the value of the last
 * digit in the file. They become metadata, and the rate if one fits. If times
 * descend, they are ignored with a warning. Takes @times, gint64 in the budget
 * of the header. */
void nd_header_set_times (NdHeader *header, NdList *times, gint64 unit);

/* The path of the file @name that the header of @path names. ND_ERROR_FORMAT if
 * it is not in the folder of @path. */
gchar *nd_header_beside (const gchar *path, const gchar *name, GError **error);

/* As nd_header_beside(), with @number for the only %d (%03d, ...) of @pattern.
 * NULL without an error if @pattern is malformed. */
gchar *nd_header_numbered (const gchar *path, const gchar *pattern,
    gint64 number, GError **error);

/* The largest number or step of a file name, and the most names. */
#define ND_NUMBER_MAX G_GINT64_CONSTANT (1000000000)
#define ND_FILES_MAX 65536

/* ND_ERROR_FORMAT if @n files are too many: each of them is opened. */
gboolean nd_header_check_files (const gchar *path, guint64 n, GError **error);

/* Adds @count paths to header->files, made from @pattern with the numbers from
 * @first on by @step. ND_ERROR_NOT_FOUND if a file is missing. */
gboolean nd_header_add_numbered (NdHeader *header, const gchar *path,
    const gchar *pattern, gint64 first, gint64 step, guint64 count,
    GError **error);
gboolean nd_header_add_file (NdHeader *header, const gchar *path,
    const gchar *name, GError **error);

G_END_DECLS
