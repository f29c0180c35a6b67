/* An excerpt of a recording, for ndfilesrc: every step-th volume of a range,
 * counted from 0, with times from the first one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/recording.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstndproperties.h"

G_BEGIN_DECLS

/* The row of the property `max-memory` of an element with the settings
 * @Struct. */
#define GST_ND_MAX_MEMORY_ROW(Struct)                                        \
  { "max-memory", "Maximum memory",                                          \
    "Bytes of memory that reading the recording may take, with one volume; " \
    "0: a quarter of the memory that the process may use. A file that asks " \
    "for more is refused",                                                   \
    ND_FIELD_INT64 (Struct, max_memory, 0, G_MAXINT64, 0), ND_READY }

/* The row of the property `truncated`. */
#define GST_ND_TRUNCATED_ROW(Struct)                                        \
  { "truncated", "Truncated",                                               \
    "What is done with a recording that has fewer samples than its header " \
    "says; keep decompresses a compressed one twice",                       \
    ND_FIELD_ENUM (Struct, truncated, NdTruncated, gst_nd_truncated_enum,   \
        ND_TRUNCATED_REFUSE),                                               \
    ND_READY }
extern const NdEnum gst_nd_truncated_enum;

typedef struct
{
  NdReader *reader;
  GstNdVolumeInfo info; /* volumes and rate are those of the excerpt */
  gint rate_n, rate_d;  /* of the file; 0/1: unknown */
  guint64 first, step;  /* in volumes of the file */
  gboolean has_times;   /* timestamps come from the file, not from the rate */
  guint64 passed;       /* volumes of the file that were read or skipped */
} GstNdExcerpt;

/* Takes @reader, which reads the file @path.
 * The excerpt has every @step-th volume from @start up to, but without, @stop;
 * if @stop is below 0, up to the end. @rate_n / @rate_d volumes per second
 * replace the rate of the file; 0/1 keeps it. ND_ERROR_SETTINGS if the excerpt
 * has no volume. */
gboolean gst_nd_excerpt_init (GstNdExcerpt *excerpt, NdReader *reader,
    const gchar *path, gint64 start, gint64 stop, gint step, gint rate_n,
    gint rate_d, GError **error);

/* Closes the reader. The excerpt then has no volumes. */
void gst_nd_excerpt_clear (GstNdExcerpt *excerpt);

/* The timestamp of @volume, which may be past the last one. */
GstClockTime gst_nd_excerpt_time (const GstNdExcerpt *excerpt, guint64 volume);

/* The volume shown at @time; timestamps are rounded down. */
guint64 gst_nd_excerpt_volume_at (const GstNdExcerpt *excerpt,
    GstClockTime time);

/* The volume shown at the end of a range of time that stops at @time. */
guint64 gst_nd_excerpt_volume_before (const GstNdExcerpt *excerpt,
    GstClockTime time);

/* Makes @volume the next one; errors as nd_reader_seek(). A compressed file is
 * skipped through, unless @cancelled (core/error.h): ND_ERROR_CANCELLED. */
gboolean gst_nd_excerpt_seek (GstNdExcerpt *excerpt, guint64 volume,
    const gint *cancelled, GError **error);

/* The metadata of the excerpt. It has times if fields of volumes depend on
 * them. */
NdMetadata *gst_nd_excerpt_metadata (const GstNdExcerpt *excerpt);

/* Pushes the event of @metadata. ND_ERROR_MEMORY. */
gboolean gst_nd_excerpt_push_metadata (const GstNdExcerpt *excerpt, GstPad *pad,
    const NdMetadata *metadata, GError **error);

/* A buffer for a volume: from @pool, or without one new. NULL with
 * ND_ERROR_MEMORY, or without an error if the pool is flushing. */
GstBuffer *gst_nd_excerpt_new_buffer (const GstNdExcerpt *excerpt,
    GstBufferPool *pool, GError **error);

G_END_DECLS
