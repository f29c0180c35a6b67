/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndmetadata.h"

#define NAME "ndconv-recording"

GstEvent *
gst_nd_metadata_to_event (const NdMetadata *metadata, guint64 volumes)
{
  gchar *text = nd_metadata_to_text (metadata);
  GValue value = G_VALUE_INIT;
  GstStructure *structure;

  if (!text)
    return NULL;
  structure = gst_structure_new (NAME, "volumes", G_TYPE_UINT64, volumes, NULL);
  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value, text);
  gst_structure_take_value (structure, "metadata", &value);
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, structure);
}

NdMetadata *
gst_nd_metadata_from_event (GstEvent *event, guint64 *volumes)
{
  const GstStructure *structure = gst_event_get_structure (event);
  const gchar *text;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CUSTOM_DOWNSTREAM_STICKY
      || !gst_event_has_name (event, NAME))
    return NULL;
  text = gst_structure_get_string (structure, "metadata");
  if (!text || !gst_structure_get_uint64 (structure, "volumes", volumes))
    return NULL;
  return nd_metadata_from_text (text);
}

GstEvent *
gst_nd_metadata_to_live_event (const NdMetadata *metadata)
{
  GstEvent *event = gst_nd_metadata_to_event (metadata, 0);

  if (event)
    gst_structure_set (gst_event_writable_structure (event), "live",
        G_TYPE_BOOLEAN, TRUE, NULL);
  return event;
}

gboolean
gst_nd_metadata_is_live (GstEvent *event)
{
  gboolean live = FALSE;

  gst_structure_get_boolean (gst_event_get_structure (event), "live", &live);
  return live;
}
