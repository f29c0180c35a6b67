/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndsegment.h"

#include "core/error.h"

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
