/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/files/gstndexcerpt.h"

#include "core/error.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstndpool.h"

ND_DEFINE_ENUM (gst_nd_truncated_enum, "GstNdTruncated",
    { ND_TRUNCATED_REFUSE, "Refuse it", "refuse" },
    { ND_TRUNCATED_KEEP, "Read its whole volumes, with a warning", "keep" });

gboolean
gst_nd_excerpt_init (GstNdExcerpt *excerpt, NdReader *reader, const gchar *path,
    gint64 start, gint64 stop, gint step, gint rate_n, gint rate_d,
    GError **error)
{
  GstNdVolumeInfo *info = &excerpt->info;
  const guint64 volumes = nd_reader_recording (reader)->volumes;
  const guint64 end = stop < 0 ? volumes : MIN ((guint64) stop, volumes);

  excerpt->reader = reader;
  excerpt->info = *nd_reader_recording (reader);
  excerpt->first = start;
  excerpt->step = step;
  excerpt->has_times =
      rate_n == 0 && nd_reader_metadata (reader)->times->len > 0;
  if (excerpt->first >= end) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Properties 'start' and 'stop' are %" G_GINT64_FORMAT
        " and %" G_GINT64_FORMAT ", and \"%s\" has %" G_GUINT64_FORMAT
        " volumes: start must be less than stop and than the number of volumes",
        start, stop, path, volumes);
    return FALSE;
  }
  info->volumes = (end - excerpt->first + excerpt->step - 1) / excerpt->step;
  excerpt->rate_n = rate_n > 0 ? rate_n : info->rate_n;
  excerpt->rate_d = rate_n > 0 ? rate_d : info->rate_d;
  /* Caps without a rate if the fraction does not fit in two gint. */
  if (!gst_util_fraction_multiply (excerpt->rate_n, excerpt->rate_d, 1, step,
          &info->rate_n, &info->rate_d)) {
    info->rate_n = 0;
    info->rate_d = 1;
  }
  excerpt->passed = 0;
  return TRUE;
}

void
gst_nd_excerpt_clear (GstNdExcerpt *excerpt)
{
  g_clear_pointer (&excerpt->reader, nd_reader_close);
  excerpt->info.volumes = 0;
}

/* Computed from the number of the volume, because sums of durations drift. */
GstClockTime
gst_nd_excerpt_time (const GstNdExcerpt *excerpt, guint64 volume)
{
  if (excerpt->has_times)
    return nd_reader_time (excerpt->reader,
               excerpt->first + volume * excerpt->step)
        - nd_reader_time (excerpt->reader, excerpt->first);
  if (excerpt->rate_n == 0)
    return gst_util_uint64_scale (volume, GST_SECOND, 1);
  return gst_util_uint64_scale (gst_util_uint64_scale (volume, excerpt->step,
                                    1),
      excerpt->rate_d * GST_SECOND, excerpt->rate_n);
}

guint64
gst_nd_excerpt_volume_at (const GstNdExcerpt *excerpt, GstClockTime time)
{
  guint64 volume;

  if (excerpt->has_times) {
    guint64 high = excerpt->info.volumes;

    for (volume = 0; volume < high;) {
      const guint64 middle = volume + (high - volume) / 2 + 1;

      if (gst_nd_excerpt_time (excerpt, middle) <= time)
        volume = middle;
      else
        high = middle - 1;
    }
    return volume;
  }
  volume = excerpt->rate_n == 0 ? time / GST_SECOND
                                : gst_util_uint64_scale (time, excerpt->rate_n,
                                      excerpt->rate_d * GST_SECOND)
          / excerpt->step;
  if (volume < G_MAXINT64 && gst_nd_excerpt_time (excerpt, volume) < time
      && gst_nd_excerpt_time (excerpt, volume + 1) <= time)
    volume++;
  return MIN (volume, G_MAXINT64);
}

guint64
gst_nd_excerpt_volume_before (const GstNdExcerpt *excerpt, GstClockTime time)
{
  const guint64 volume =
      MIN (gst_nd_excerpt_volume_at (excerpt, time), excerpt->info.volumes);

  if (volume > 0 && gst_nd_excerpt_time (excerpt, volume) >= time)
    return volume - 1;
  return MIN (volume, excerpt->info.volumes - 1);
}

/* Volume by volume, because a compressed file takes long to skip through. */
gboolean
gst_nd_excerpt_seek (GstNdExcerpt *excerpt, guint64 volume,
    const gint *cancelled, GError **error)
{
  const guint64 target = excerpt->first + volume * excerpt->step;

  while (excerpt->passed < target && !nd_reader_seekable (excerpt->reader)) {
    if (nd_set_error_if_cancelled (cancelled, error)
        || !nd_reader_seek (excerpt->reader, excerpt->passed + 1, error))
      return FALSE;
    excerpt->passed++;
  }
  excerpt->passed = target + 1;
  return nd_reader_seek (excerpt->reader, target, error);
}

/* Elements between source and sink may drop or shift volumes, so that fields of
 * volumes are matched by time. */
NdMetadata *
gst_nd_excerpt_metadata (const GstNdExcerpt *excerpt)
{
  const NdMetadata *all = nd_reader_metadata (excerpt->reader);
  NdMetadata *metadata = nd_metadata_slice (all, excerpt->first,
      excerpt->first + (excerpt->info.volumes - 1) * excerpt->step + 1,
      excerpt->step);

  if (all->times->len == 0)
    metadata->origin += nd_reader_time (excerpt->reader, excerpt->first);
  if (excerpt->has_times && all->times->len > 0)
    return metadata;
  nd_list_set_size (metadata->times, 0);
  for (guint64 i = 0;
       i < excerpt->info.volumes && metadata->volume_fields->len > 0; i++) {
    const gint64 time = gst_nd_excerpt_time (excerpt, i);

    nd_list_add (metadata->times, time);
  }
  return metadata;
}

static gboolean
set_no_memory (gsize bytes, GError **error)
{
  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
      "No memory for %" G_GSIZE_FORMAT
      " bytes of the recording: use a machine with more memory, or a recording "
      "of smaller volumes",
      bytes);
  return FALSE;
}

gboolean
gst_nd_excerpt_push_metadata (const GstNdExcerpt *excerpt, GstPad *pad,
    const NdMetadata *metadata, GError **error)
{
  GstEvent *event = gst_nd_metadata_to_event (metadata, excerpt->info.volumes);

  if (!event)
    return set_no_memory (metadata->volume_fields->len * sizeof (NdField),
        error);
  gst_pad_push_event (pad, event);
  return TRUE;
}

GstBuffer *
gst_nd_excerpt_new_buffer (const GstNdExcerpt *excerpt, GstBufferPool *pool,
    GError **error)
{
  const gsize size = gst_nd_volume_info_size (&excerpt->info);
  GstBuffer *buffer = NULL;

  if (pool) {
    if (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL) == GST_FLOW_ERROR)
      set_no_memory (size, error);
    return buffer;
  }
  buffer = gst_nd_buffer_new (size);
  if (!buffer)
    set_no_memory (size, error);
  return buffer;
}
