/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndseek.h"

#include "core/error.h"

GST_DEBUG_CATEGORY_STATIC (nd_seek_debug);
#define GST_CAT_DEFAULT nd_seek_debug

/* More volumes than the outputs need: the ends may lie within a volume, and the
 * window looks for gaps only after it has measured an interval. */
#define MARGIN 2

/* Seeks whose segment did not come. Upstream may have dropped it. */
#define MAX_ASKED 8

void
gst_nd_seek_init (GstNdSeek *seek)
{
  static gsize once;

  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (nd_seek_debug, "ndseek", 0, "accurate seeks");
    g_once_init_leave (&once, 1);
  }
  *seek = (GstNdSeek){ .interval = GST_CLOCK_TIME_NONE,
    .range.stop = GST_CLOCK_TIME_NONE };
  g_queue_init (&seek->asked);
}

void
gst_nd_seek_reset (GstNdSeek *seek, GstElement *element)
{
  GST_OBJECT_LOCK (element);
  g_queue_clear_full (&seek->asked, g_free);
  gst_nd_seek_init (seek);
  GST_OBJECT_UNLOCK (element);
}

void
gst_nd_seek_set_reach (GstNdSeek *seek, GstElement *element, guint before,
    guint after, GstClockTime interval)
{
  GST_OBJECT_LOCK (element);
  seek->before = before;
  seek->after = after;
  seek->interval = interval;
  GST_OBJECT_UNLOCK (element);
}

/* The values of a SEEK event, in time. */
typedef struct
{
  gdouble rate;
  GstSeekFlags flags;
  GstSeekType start_type, stop_type;
  gint64 start, stop;
} Seek;

/* Replaces @value of a seek in @format by a time from the start. FALSE if
 * upstream does not tell. */
static gboolean
seek_resolve (GstPad *pad, GstFormat format, GstSeekType *type, gint64 *value)
{
  gint64 duration;

  if (*type == GST_SEEK_TYPE_NONE)
    return TRUE;
  if (format != GST_FORMAT_TIME && *value > 0
      && !gst_pad_peer_query_convert (pad, format, *value, GST_FORMAT_TIME,
          value))
    return FALSE;
  if (*type == GST_SEEK_TYPE_END) {
    if (format != GST_FORMAT_TIME
        || !gst_pad_peer_query_duration (pad, GST_FORMAT_TIME, &duration)
        || duration < 0)
      return FALSE;
    *value = CLAMP (duration + *value, 0, duration);
    *type = GST_SEEK_TYPE_SET;
  }
  return TRUE;
}

static gboolean
seek_parse (GstPad *pad, GstEvent *event, Seek *s)
{
  GstFormat format;

  gst_event_parse_seek (event, &s->rate, &format, &s->flags, &s->start_type,
      &s->start, &s->stop_type, &s->stop);
  return !(s->flags & GST_SEEK_FLAG_INSTANT_RATE_CHANGE)
      && (format == GST_FORMAT_TIME || format == GST_FORMAT_DEFAULT)
      && seek_resolve (pad, format, &s->start_type, &s->start)
      && seek_resolve (pad, format, &s->stop_type, &s->stop)
      && (s->start_type == GST_SEEK_TYPE_NONE || s->start >= 0);
}

static gboolean
is_accurate (const Seek *s)
{
  return (s->flags & GST_SEEK_FLAG_ACCURATE)
      && !(s->flags & (GST_SEEK_FLAG_KEY_UNIT | GST_SEEK_FLAG_TRICKMODE));
}

/* The time @n volumes after @time, or before it if @n is negative: the farther
 * one of the time that upstream reports and the time computed from the
 * interval. */
static gint64
seek_shift (GstPad *pad, GstClockTime interval, gint64 time, gint n)
{
  gint64 shifted = time, volume, told;

  if (n == 0 || !GST_CLOCK_TIME_IS_VALID (time))
    return time;
  if (GST_CLOCK_TIME_IS_VALID (interval))
    shifted = MAX (time + n * (gint64) interval, 0);
  if (gst_pad_peer_query_convert (pad, GST_FORMAT_TIME, time,
          GST_FORMAT_DEFAULT, &volume)
      && gst_pad_peer_query_convert (pad, GST_FORMAT_DEFAULT,
          MAX (volume + n, 0), GST_FORMAT_TIME, &told)
      && told >= 0)
    shifted = n < 0 ? MIN (shifted, told) : MAX (shifted, told);
  return shifted;
}

/* The range that @s asks for. An end that a seek leaves as it is stays that of
 * the segment in use; upstream would leave the wider one. */
static GstNdSeekRange
find_range (const Seek *s, const GstNdSeek *now, guint32 seqnum)
{
  GstNdSeekRange range = now->range;

  range.seqnum = seqnum;
  if (s->start_type == GST_SEEK_TYPE_SET)
    range.start = s->start;
  if (s->stop_type == GST_SEEK_TYPE_SET)
    range.stop = s->stop < 0 ? GST_CLOCK_TIME_NONE : (GstClockTime) s->stop;
  return range;
}

/* Makes @s ask for @range and for @before volumes before it and @after after
 * it. The end that playback begins at is the current position if the seek
 * leaves it as it is. */
static void
seek_widen (Seek *s, GstPad *pad, const GstNdSeekRange *range,
    GstClockTime interval, gint before, gint after)
{
  if (s->start_type == GST_SEEK_TYPE_SET || s->rate < 0) {
    s->start_type = GST_SEEK_TYPE_SET;
    s->start = seek_shift (pad, interval, range->start, -before);
  }
  if (s->stop_type == GST_SEEK_TYPE_SET || s->rate > 0) {
    s->stop_type = GST_SEEK_TYPE_SET;
    s->stop = seek_shift (pad, interval, range->stop, after);
  }
}

static void
remember (GstNdSeek *seek, GstElement *element, const GstNdSeekRange *range)
{
  GST_OBJECT_LOCK (element);
  g_queue_push_tail (&seek->asked, g_memdup2 (range, sizeof *range));
  if (g_queue_get_length (&seek->asked) > MAX_ASKED)
    g_free (g_queue_pop_head (&seek->asked));
  GST_OBJECT_UNLOCK (element);
}

static GList *
find_asked (GstNdSeek *seek, guint32 seqnum)
{
  GList *link = seek->asked.tail;

  while (link && ((GstNdSeekRange *) link->data)->seqnum != seqnum)
    link = link->prev;
  return link;
}

static void
seek_forget (GstNdSeek *seek, GstElement *element, guint32 seqnum)
{
  GList *link;

  GST_OBJECT_LOCK (element);
  link = find_asked (seek, seqnum);
  if (link) {
    g_free (link->data);
    g_queue_delete_link (&seek->asked, link);
  }
  GST_OBJECT_UNLOCK (element);
}

static GstEvent *
new_seek (const Seek *s, GstEvent *old)
{
  GstEvent *event = gst_event_new_seek (s->rate, GST_FORMAT_TIME, s->flags,
      s->start_type, s->start, s->stop_type, s->stop);
  GstClockTime trick_interval;

  gst_event_parse_seek_trickmode_interval (old, &trick_interval);
  gst_event_set_seek_trickmode_interval (event, trick_interval);
  gst_event_set_seqnum (event, gst_event_get_seqnum (old));
  return event;
}

gboolean
gst_nd_seek_send (GstNdSeek *seek, GstPad *pad, GstEvent *event)
{
  g_autoptr (GstElement) element = gst_pad_get_parent_element (pad);
  const guint32 seqnum = gst_event_get_seqnum (event);
  GstNdSeekRange range;
  GstEvent *wide;
  GstNdSeek now;
  gboolean accurate;
  Seek s;

  if (!element || !seek_parse (pad, event, &s))
    return gst_pad_push_event (pad, event);
  GST_OBJECT_LOCK (element);
  now = *seek;
  GST_OBJECT_UNLOCK (element);
  accurate = is_accurate (&s) && now.before + now.after > 0;
  if (!accurate && !now.narrowed)
    return gst_pad_push_event (pad, event);

  range = find_range (&s, &now, seqnum);
  seek_widen (&s, pad, &range, now.interval, accurate ? now.before + MARGIN : 0,
      accurate ? now.after + MARGIN : 0);
  GST_DEBUG_OBJECT (element,
      "seek to %" GST_TIME_FORMAT " - %" GST_TIME_FORMAT
      " asks for %" GST_TIME_FORMAT " - %" GST_TIME_FORMAT,
      GST_TIME_ARGS (range.start), GST_TIME_ARGS (range.stop),
      GST_TIME_ARGS (s.start), GST_TIME_ARGS (s.stop));
  wide = new_seek (&s, event);
  gst_event_unref (event);
  remember (seek, element, &range);
  if (gst_pad_push_event (pad, wide))
    return TRUE;
  seek_forget (seek, element, seqnum);
  return FALSE;
}

/* Call with the object lock held. Whether upstream has a wider segment than
 * seek->range; the segment in use has @seqnum. */
static gboolean
update_range (GstNdSeek *seek, const GstSegment *segment, guint32 seqnum)
{
  GList *link = find_asked (seek, seqnum);

  if (link) {
    seek->range = *(GstNdSeekRange *) link->data;
    seek->narrowed = TRUE;
    /* Segments come in the order of their seeks. */
    while (find_asked (seek, seqnum))
      g_free (g_queue_pop_head (&seek->asked));
  } else if (!seek->narrowed || seek->range.seqnum != seqnum) {
    seek->range = (GstNdSeekRange){ seqnum, segment->start, segment->stop };
    seek->narrowed = FALSE;
  }
  return seek->narrowed;
}

static GstEvent *
copy_identity (GstEvent *event, GstEvent *from)
{
  gst_event_set_seqnum (event, gst_event_get_seqnum (from));
  gst_event_set_running_time_offset (event,
      gst_event_get_running_time_offset (from));
  gst_event_unref (from);
  return event;
}

static GstEvent *
narrow_segment (const GstNdSeekRange *range, GstEvent *event)
{
  const GstSegment *wide;
  GstSegment s;
  guint64 edge, base;

  gst_event_parse_segment (event, &wide);
  s = *wide;
  s.start = MAX (wide->start, range->start);
  /* NONE is the largest number. */
  s.stop = MIN (wide->stop, range->stop);
  if (s.start > s.stop)
    return event;
  edge = wide->rate > 0 ? s.start : s.stop;
  base = gst_segment_to_running_time (wide, GST_FORMAT_TIME, edge);
  if (GST_CLOCK_TIME_IS_VALID (base)) {
    s.base = base;
    s.offset = 0;
  }
  s.time = gst_segment_to_stream_time (wide, GST_FORMAT_TIME, s.start);
  s.position = CLAMP (wide->position, s.start, s.stop);
  return copy_identity (gst_event_new_segment (&s), event);
}

static GstEvent *
narrow_done (const GstNdSeekRange *range, GstEvent *event)
{
  GstFormat format;
  gint64 position;
  guint64 narrow;

  gst_event_parse_segment_done (event, &format, &position);
  if (format != GST_FORMAT_TIME || position < 0)
    return event;
  narrow = CLAMP ((guint64) position, range->start, range->stop);
  return copy_identity (gst_event_new_segment_done (format, narrow), event);
}

GstEvent *
gst_nd_seek_narrow (GstNdSeek *seek, GstElement *element, GstEvent *event)
{
  const GstSegment *segment = NULL;
  GstNdSeekRange range;
  gboolean narrowed;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    gst_event_parse_segment (event, &segment);
  if (segment && segment->format != GST_FORMAT_TIME)
    return event;
  GST_OBJECT_LOCK (element);
  narrowed = segment
      ? update_range (seek, segment, gst_event_get_seqnum (event))
      : seek->narrowed;
  range = seek->range;
  GST_OBJECT_UNLOCK (element);
  if (!narrowed)
    return event;
  return segment ? narrow_segment (&range, event) : narrow_done (&range, event);
}

/* Checks of segments that elements for volumes have in common.
 */

/* The element before @sink, or NULL. */
static GstElement *
get_source (GstPad *sink)
{
  g_autoptr (GstPad) peer = gst_pad_get_peer (sink);

  return peer ? gst_pad_get_parent_element (peer) : NULL;
}

/* The property location of @source, or "FILE". */
static gchar *
get_location (GstElement *source)
{
  gchar *location = NULL;
  GParamSpec *pspec = source
      ? g_object_class_find_property (G_OBJECT_GET_CLASS (source), "location")
      : NULL;

  if (pspec && pspec->value_type == G_TYPE_STRING)
    g_object_get (source, "location", &location, NULL);
  return location ? location : g_strdup ("FILE");
}

gboolean
gst_nd_segment_check_decoded (GstPad *sink, GstEvent *event, GError **error)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (sink);
  g_autoptr (GstElement) source = get_source (sink);
  GstElementFactory *factory = source ? gst_element_get_factory (source) : NULL;
  g_autofree gchar *location = get_location (source);
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  if (caps || segment->format != GST_FORMAT_BYTES)
    return TRUE;
  if (factory && g_str_equal (GST_OBJECT_NAME (factory), "multifilesrc"))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "%s sends files, but no element decodes them: for pictures use "
        "multifilesrc location=%s caps=image/png,framerate=25/1 ! pngdec ! "
        "videoconvert (jpegdec for JPEG), for recordings ndfilesrc",
        GST_OBJECT_NAME (source), location);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "%s sends the bytes of a file, but no element decodes them: read a "
        "recording by ndfilesrc location=%s, and a movie or a picture by "
        "filesrc location=%s ! decodebin ! videoconvert",
        source ? GST_OBJECT_NAME (source) : "The source", location, location);
  return FALSE;
}

gboolean
gst_nd_segment_check_time (GstPad *sink, GstEvent *event, GError **error)
{
  const GstSegment *segment;

  if (!gst_nd_segment_check_decoded (sink, event, error))
    return FALSE;
  gst_event_parse_segment (event, &segment);
  if (segment->format == GST_FORMAT_TIME)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The segment is in %s, but time is needed: set do-timestamp or "
      "format=time on the source",
      gst_format_get_name (segment->format));
  return FALSE;
}

gboolean
gst_nd_segment_is_repeated (const GstSegment *current, GstEvent *event)
{
  GstSegment moved = *current;
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  moved.position = segment->position;
  return gst_segment_is_equal (segment, &moved);
}
