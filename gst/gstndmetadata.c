/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstndmetadata.h"

#define NAME "ndconv-recording"

G_DEFINE_BOXED_TYPE (NdMetadata, gst_nd_metadata, nd_metadata_ref,
    nd_metadata_unref);

GstEvent *
gst_nd_metadata_to_event (NdMetadata * metadata, guint64 volumes)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY,
      gst_structure_new (NAME, "metadata", GST_TYPE_ND_METADATA, metadata,
          "volumes", G_TYPE_UINT64, volumes, NULL));
}

gboolean
gst_nd_metadata_from_event (GstEvent * event, NdMetadata ** metadata,
    guint64 * volumes)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY
      && gst_event_has_name (event, NAME)
      && gst_structure_get (gst_event_get_structure (event), "metadata",
      GST_TYPE_ND_METADATA, metadata, "volumes", G_TYPE_UINT64, volumes, NULL)
      && *metadata;
}
