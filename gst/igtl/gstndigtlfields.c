/* Finds the fields of a volume by its timestamp.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlfields.h"

#include <string.h>

#include "live/fields.h"

/* The most fields that wait for their volumes. */
#define FIELDS_MAX 1024

void
gst_nd_igtl_fields_clear (GstNdIgtlFields *fields)
{
  g_clear_pointer (&fields->recording, nd_metadata_unref);
  gst_nd_igtl_fields_flush (fields);
}

void
gst_nd_igtl_fields_flush (GstNdIgtlFields *fields)
{
  g_queue_clear_full (&fields->live, (GDestroyNotify) nd_metadata_unref);
}

void
gst_nd_igtl_fields_take (GstNdIgtlFields *fields, NdMetadata *metadata,
    gboolean live)
{
  if (!live) {
    gst_nd_igtl_fields_clear (fields);
    fields->recording = metadata;
    return;
  }
  g_queue_push_tail (&fields->live, metadata);
  if (fields->live.length > FIELDS_MAX)
    nd_metadata_unref (g_queue_pop_head (&fields->live));
}

/* Returns the fields of the volume with this timestamp. Fields of earlier
 * volumes, which never arrived, are dropped. */
static NdMetadata *
live_fields (GstNdIgtlFields *fields, gint64 time)
{
  NdMetadata *metadata;

  while ((metadata = g_queue_peek_head (&fields->live))) {
    const gint64 its = g_array_index (metadata->times, gint64, 0);

    if (its > time)
      return NULL;
    g_queue_pop_head (&fields->live);
    if (its == time)
      return metadata;
    nd_metadata_unref (metadata);
  }
  return NULL;
}

/* Adds the fields that @room bytes are enough for. Returns how many are not
 * added. */
static guint
add (GArray *to, const NdMetadata *metadata, guint64 volume, gsize *room)
{
  const NdField *field;
  guint n, left_out = 0;

  field = nd_metadata_of_volume (metadata, volume, &n);
  for (guint i = 0; i < n; i++) {
    const NdIgtlField copy = { field[i].key, field[i].value };
    const gsize size =
        sizeof (copy) + strlen (field[i].key) + strlen (field[i].value);

    if (size > *room) {
      left_out++;
      continue;
    }
    *room -= size;
    g_array_append_val (to, copy);
  }
  return left_out;
}

GArray *
gst_nd_igtl_fields_find (GstNdIgtlFields *fields, GstClockTime timestamp,
    NdMetadata **owner, guint *left_out)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (NdIgtlField));
  const NdMetadata *recording = fields->recording;
  const gint64 time = timestamp;
  gsize room = ND_IGTL_SMALL_MAX;
  guint low = 0, high;

  *owner = NULL;
  *left_out = 0;
  if (!GST_CLOCK_TIME_IS_VALID (timestamp))
    return found;
  *owner = live_fields (fields, time);
  if (*owner)
    *left_out = add (found, *owner, 0, &room);
  if (!recording)
    return found;
  high = recording->times->len;
  while (low < high) {
    const guint middle = low + (high - low) / 2;

    if (g_array_index (recording->times, gint64, middle) < time)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < recording->times->len
      && g_array_index (recording->times, gint64, low) == time)
    *left_out += add (found, recording, low, &room);
  return found;
}
