/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstndpart.h"

#include "engine/nderror.h"

gboolean
gst_nd_part_init (GstNdPart * part, NdReader * reader, const gchar * path,
    gint64 start, gint64 stop, gint step, gint rate_n, gint rate_d,
    GError ** error)
{
  GstNdVolumeInfo *info = &part->info;
  const guint64 volumes = nd_reader_recording (reader)->volumes;
  const guint64 end = stop < 0 ? volumes : MIN ((guint64) stop, volumes);

  part->reader = reader;
  part->info = *nd_reader_recording (reader);
  part->first = start;
  part->step = step;
  part->has_times = rate_n == 0 && nd_reader_metadata (reader)->times->len > 0;
  if (part->first >= end) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "Properties 'start' and "
        "'stop' are %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT ", and \"%s\" "
        "has %" G_GUINT64_FORMAT " volumes: start must be below stop, and "
        "below that number", start, stop, path, volumes);
    return FALSE;
  }
  info->volumes = (end - part->first + part->step - 1) / part->step;
  part->rate_n = rate_n > 0 ? rate_n : info->rate_n;
  part->rate_d = rate_n > 0 ? rate_d : info->rate_d;
  /* One that caps cannot say is not known there. */
  if (!gst_util_fraction_multiply (part->rate_n, part->rate_d, 1, step,
          &info->rate_n, &info->rate_d)) {
    info->rate_n = 0;
    info->rate_d = 1;
  }
  return nd_reader_seek (reader, part->first, error);
}

void
gst_nd_part_clear (GstNdPart * part)
{
  g_clear_pointer (&part->reader, nd_reader_close);
  part->info.volumes = 0;
}

/* Always from the number: sums would drift. */
GstClockTime
gst_nd_part_time (const GstNdPart * part, guint64 volume)
{
  if (part->has_times)
    return nd_reader_time (part->reader, part->first + volume * part->step)
        - nd_reader_time (part->reader, part->first);
  if (part->rate_n == 0)
    return gst_util_uint64_scale (volume, GST_SECOND, 1);
  return gst_util_uint64_scale (gst_util_uint64_scale (volume, part->step, 1),
      part->rate_d * GST_SECOND, part->rate_n);
}

guint64
gst_nd_part_volume_at (const GstNdPart * part, GstClockTime time)
{
  guint64 volume;

  if (part->has_times) {
    guint64 high = part->info.volumes;

    for (volume = 0; volume < high;) {
      const guint64 middle = volume + (high - volume) / 2 + 1;

      if (gst_nd_part_time (part, middle) <= time)
        volume = middle;
      else
        high = middle - 1;
    }
    return volume;
  }
  volume = part->rate_n == 0 ? time / GST_SECOND :
      gst_util_uint64_scale (time, part->rate_n, part->rate_d * GST_SECOND)
      / part->step;
  if (volume < G_MAXINT64 && gst_nd_part_time (part, volume) < time
      && gst_nd_part_time (part, volume + 1) <= time)
    volume++;
  return MIN (volume, G_MAXINT64);
}

gboolean
gst_nd_part_seek (const GstNdPart * part, guint64 volume, GError ** error)
{
  return nd_reader_seek (part->reader, part->first + volume * part->step,
      error);
}

/* Fields belong to volumes by their time, so that they find them again behind
 * any element. */
NdMetadata *
gst_nd_part_metadata (const GstNdPart * part)
{
  const NdMetadata *all = nd_reader_metadata (part->reader);
  NdMetadata *metadata = nd_metadata_slice (all, part->first, part->first
      + (part->info.volumes - 1) * part->step + 1, part->step);

  if (all->times->len == 0)
    metadata->origin += nd_reader_time (part->reader, part->first);
  if (part->has_times && all->times->len > 0)
    return metadata;
  g_array_set_size (metadata->times, 0);
  for (guint64 i = 0; i < part->info.volumes
      && metadata->volume_fields->len > 0; i++) {
    const gint64 time = gst_nd_part_time (part, i);

    g_array_append_val (metadata->times, time);
  }
  return metadata;
}
