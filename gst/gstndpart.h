/* A part of a recording: every so many-th of its volumes, counted anew from 0,
 * with times from the first of them. Of ndfilesrc.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndrecording.h"
#include "gstndcaps.h"

G_BEGIN_DECLS

typedef struct
{
  NdReader *reader;
  GstNdVolumeInfo info;         /* with the volumes and the rate of the part */
  gint rate_n, rate_d;          /* of all volumes; 0/1: not known */
  guint64 first, step;          /* in volumes of the file */
  gboolean has_times;           /* those of the file count, not the rate */
} GstNdPart;

/* Of the file @path, in @reader, which it takes: volumes from @start up to
 * @stop, below 0 to the end, every @step-th. @rate_n / @rate_d volumes of the
 * file a second, in place of what that says; 0/1: as that says. The first one
 * is read next. ND_ERROR_SETTINGS where there is none. */
gboolean gst_nd_part_init (GstNdPart * part, NdReader * reader,
    const gchar * path, gint64 start, gint64 stop, gint step, gint rate_n,
    gint rate_d, GError ** error);

/* Closes the reader; the part has no volumes then. */
void gst_nd_part_clear (GstNdPart * part);

/* The timestamp of @volume, and of any behind the last. */
GstClockTime gst_nd_part_time (const GstNdPart * part, guint64 volume);

/* The volume that is on at @time; timestamps are rounded down. */
guint64 gst_nd_part_volume_at (const GstNdPart * part, GstClockTime time);

/* As nd_reader_seek(). */
gboolean gst_nd_part_seek (const GstNdPart * part, guint64 volume,
    GError ** error);

/* What belongs to the part; with times where fields need them to find their
 * volumes again. */
NdMetadata *gst_nd_part_metadata (const GstNdPart * part);

G_END_DECLS
