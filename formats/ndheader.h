/* What the header of a file says, in any format: the model between a format's
 * parser and the reader.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndmetadata.h"
#include "formats/ndrecording.h"
#include "formats/ndstored.h"

G_BEGIN_DECLS

typedef struct
{
  const gchar *format;          /* "NRRD", for people; static */
  NdRecording recording;        /* as it is read, after conversion */
  NdMetadata *metadata;
  GPtrArray *warnings;          /* gchar *: what is not as the file has it */

  NdStored stored;
  gboolean time_first;          /* all times of a sample, then the next one */

  /* Where the samples are: in the file itself, or in others. */
  GPtrArray *files;             /* gchar *: paths, each with as many; or NULL */
  gboolean compressed;          /* each by zlib or gzip, from @offset on */
  guint64 line_skip;            /* lines before @offset counts */
  guint64 offset;               /* bytes of the file before its samples */
  gboolean at_end;              /* they are its last bytes */
  guint64 skip;                 /* bytes of what is unpacked before samples */
} NdHeader;

void nd_header_init (NdHeader * header, const gchar * format);
void nd_header_clear (NdHeader * header);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdHeader, nd_header_clear)

void nd_header_warn (NdHeader * header, const gchar * format,
    ...) G_GNUC_PRINTF (2, 3);

/* Bytes of a volume and of all samples as they are stored. */
gsize nd_header_volume_bytes (const NdHeader * header);
guint64 nd_header_bytes (const NdHeader * header);

/* Sets recording.type from what is stored, and warns where samples are
 * rounded. FALSE where so many samples have no size that fits in a file:
 * ND_ERROR_FORMAT. */
gboolean nd_header_settle (NdHeader * header, const gchar * path,
    GError ** error);

/* Times from the first volume on as the file says them, in nanoseconds, one
 * per volume, the last digit worth @unit of them. They become the rate where
 * one fits, and stay as metadata. Descending ones are left out, with a
 * warning. */
void nd_header_set_times (NdHeader * header, GArray * times, gint64 unit);

/* The path of a file that the header of @path names, which must lie in the
 * same folder. ND_ERROR_FORMAT otherwise. */
gchar *nd_header_beside (const gchar * path, const gchar * name,
    GError ** error);

/* As nd_header_beside(), with @number in place of the only %d, %03d … of
 * @pattern; NULL where that is not what it holds. */
gchar *nd_header_numbered (const gchar * path, const gchar * pattern,
    gint64 number, GError ** error);

/* Numbers and steps of file names are no larger. */
#define ND_NUMBER_MAX G_GINT64_CONSTANT (1000000000)

/* header->files: @count of them from @pattern, numbers from @first on by @step.
 * ND_ERROR_NOT_FOUND at the first that is missing. */
gboolean nd_header_add_numbered (NdHeader * header, const gchar * path,
    const gchar * pattern, gint64 first, gint64 step, guint64 count,
    GError ** error);
gboolean nd_header_add_file (NdHeader * header, const gchar * path,
    const gchar * name, GError ** error);

G_END_DECLS
