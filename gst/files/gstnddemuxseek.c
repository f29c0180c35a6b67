/* Seeks and queries of nddemux.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/files/gstnddemux.h"

#define GST_CAT_DEFAULT gst_nd_demux_debug

static GstClockTime
end_time (const GstNdDemux *self)
{
  return gst_nd_excerpt_time (&self->excerpt, self->excerpt.info.volumes);
}

gboolean
gst_nd_demux_is_inside (const GstNdDemux *self)
{
  const GstSegment *segment = &self->segment;
  const GstNdExcerpt *excerpt = &self->excerpt;

  if (self->next >= excerpt->info.volumes)
    return FALSE;
  if (segment->rate < 0)
    return gst_nd_excerpt_time (excerpt, self->next + 1) > segment->start;
  return !GST_CLOCK_TIME_IS_VALID (segment->stop)
      || gst_nd_excerpt_time (excerpt, self->next) < segment->stop;
}

/* Sets the first volume of @segment, and with KEY_UNIT the segment to it. */
static guint64
demux_seek_find_volume (const GstNdDemux *self, GstSegment *segment,
    GstSeekFlags flags)
{
  guint64 volume;

  if (segment->rate < 0) {
    segment->stop = MIN (segment->stop, end_time (self));
    segment->position = segment->stop;
    return gst_nd_excerpt_volume_before (&self->excerpt, segment->stop);
  }
  volume = MIN (gst_nd_excerpt_volume_at (&self->excerpt, segment->position),
      self->excerpt.info.volumes);
  if (flags & GST_SEEK_FLAG_KEY_UNIT)
    segment->start = segment->position = segment->time =
        gst_nd_excerpt_time (&self->excerpt, volume);
  return volume;
}

/* Volumes instead of times. */
static void
convert_target (const GstNdDemux *self, GstSeekType type, gint64 *target)
{
  if (type != GST_SEEK_TYPE_NONE && *target >= 0)
    *target = gst_nd_excerpt_time (&self->excerpt,
        MIN ((guint64) *target, self->excerpt.info.volumes));
}

static gboolean
is_seekable (GstNdDemux *self)
{
  gboolean seekable;

  GST_OBJECT_LOCK (self);
  seekable = self->excerpt.info.volumes > 0
      && nd_reader_seekable (self->excerpt.reader);
  GST_OBJECT_UNLOCK (self);
  return seekable;
}

/* Stops the task, sets the segment and starts it again. */
static gboolean
demux_seek_seek (GstNdDemux *self, GstEvent *event)
{
  const guint32 seqnum = gst_event_get_seqnum (event);
  GstSeekType start_type, stop_type;
  GstEvent *flush;
  GstSegment segment;
  GstSeekFlags flags;
  GstFormat format;
  gint64 start, stop;
  gdouble rate;
  gboolean ok;

  gst_event_parse_seek (event, &rate, &format, &flags, &start_type, &start,
      &stop_type, &stop);
  if (!is_seekable (self)
      || (format != GST_FORMAT_TIME && format != GST_FORMAT_DEFAULT))
    return FALSE;
  if (format == GST_FORMAT_DEFAULT) {
    convert_target (self, start_type, &start);
    convert_target (self, stop_type, &stop);
  }
  if (flags & GST_SEEK_FLAG_FLUSH) {
    flush = gst_event_new_flush_start ();
    gst_event_set_seqnum (flush, seqnum);
    gst_pad_push_event (self->sink, gst_event_ref (flush));
    gst_pad_push_event (self->src, flush);
  } else {
    gst_pad_pause_task (self->sink);
  }
  GST_PAD_STREAM_LOCK (self->sink);
  if (flags & GST_SEEK_FLAG_FLUSH) {
    flush = gst_event_new_flush_stop (TRUE);
    gst_event_set_seqnum (flush, seqnum);
    gst_pad_push_event (self->sink, gst_event_ref (flush));
    gst_pad_push_event (self->src, flush);
  }
  segment = self->segment;
  ok = gst_segment_do_seek (&segment, rate, GST_FORMAT_TIME, flags, start_type,
      start, stop_type, stop, NULL);
  if (ok) {
    const guint64 volume = demux_seek_find_volume (self, &segment, flags);

    GST_INFO_OBJECT (self, "starts at volume %" G_GUINT64_FORMAT ", rate %g",
        volume, rate);
    GST_OBJECT_LOCK (self);
    self->segment = segment;
    self->next = volume;
    GST_OBJECT_UNLOCK (self);
    self->needs_segment = self->discont = TRUE;
    self->seqnum = seqnum;
  }
  gst_pad_start_task (self->sink, gst_nd_demux_loop, self->sink, NULL);
  GST_PAD_STREAM_UNLOCK (self->sink);
  return ok;
}

gboolean
gst_nd_demux_src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gboolean ok;

  if (GST_EVENT_TYPE (event) != GST_EVENT_SEEK)
    return gst_pad_event_default (pad, parent, event);
  ok = demux_seek_seek (GST_ND_DEMUX (parent), event);
  gst_event_unref (event);
  return ok;
}

/* Converts between TIME and DEFAULT, which counts volumes. */
static gboolean
demux_seek_convert (const GstNdDemux *self, GstFormat from, gint64 value,
    GstFormat to, gint64 *result)
{
  if (value < 0 || self->excerpt.info.volumes == 0)
    return FALSE;
  if (from == to)
    *result = value;
  else if (from == GST_FORMAT_DEFAULT && to == GST_FORMAT_TIME)
    *result = gst_nd_excerpt_time (&self->excerpt, value);
  else if (from == GST_FORMAT_TIME && to == GST_FORMAT_DEFAULT)
    *result = gst_nd_excerpt_volume_at (&self->excerpt, value);
  else
    return FALSE;
  return TRUE;
}

static gboolean
answer_convert (const GstNdDemux *self, GstQuery *query)
{
  GstFormat from, to;
  gint64 value, result;

  gst_query_parse_convert (query, &from, &value, &to, NULL);
  if (!demux_seek_convert (self, from, value, to, &result))
    return FALSE;
  gst_query_set_convert (query, from, value, to, result);
  return TRUE;
}

/* Call with the object lock held. */
static gboolean
demux_seek_answer (const GstNdDemux *self, GstQuery *query)
{
  GstFormat format;
  gint64 result;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_DURATION:
      gst_query_parse_duration (query, &format, NULL);
      if (!demux_seek_convert (self, GST_FORMAT_DEFAULT,
              self->excerpt.info.volumes, format, &result))
        return FALSE;
      gst_query_set_duration (query, format, result);
      return TRUE;
    case GST_QUERY_POSITION:
      gst_query_parse_position (query, &format, NULL);
      if (!demux_seek_convert (self, GST_FORMAT_TIME, self->segment.position,
              format, &result))
        return FALSE;
      gst_query_set_position (query, format, result);
      return TRUE;
    case GST_QUERY_CONVERT:
      return answer_convert (self, query);
    case GST_QUERY_SEGMENT:
      gst_query_set_segment (query, self->segment.rate, GST_FORMAT_TIME,
          self->segment.start,
          GST_CLOCK_TIME_IS_VALID (self->segment.stop)
              ? (gint64) self->segment.stop
              : (gint64) end_time (self));
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
gst_nd_demux_src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstNdDemux *self = GST_ND_DEMUX (parent);
  const GstQueryType type = GST_QUERY_TYPE (query);
  gboolean answered;

  if (type == GST_QUERY_SEEKING) {
    GstFormat format;

    gst_query_parse_seeking (query, &format, NULL, NULL, NULL);
    if (format != GST_FORMAT_TIME && format != GST_FORMAT_DEFAULT)
      return FALSE;
    gst_query_set_seeking (query, format, is_seekable (self), 0,
        format == GST_FORMAT_TIME ? (gint64) end_time (self)
                                  : (gint64) self->excerpt.info.volumes);
    return TRUE;
  }
  GST_OBJECT_LOCK (self);
  answered = demux_seek_answer (self, query);
  GST_OBJECT_UNLOCK (self);
  return answered
      || (type != GST_QUERY_DURATION && type != GST_QUERY_POSITION
          && type != GST_QUERY_CONVERT
          && gst_pad_query_default (pad, parent, query));
}
