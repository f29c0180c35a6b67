/* Messages on their way to peers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlunit.h"

struct _GstNdIgtlUnit
{
  gint references; /* atomic */
  gint64 made;     /* monotonic, us */
  GByteArray *head, *tail;
  GstBuffer *buffer; /* or NULL */
  GstMapInfo map;
  gsize samples_size;
};

GstNdIgtlUnit *
gst_nd_igtl_unit_new (GByteArray *head)
{
  GstNdIgtlUnit *unit = g_new0 (GstNdIgtlUnit, 1);

  unit->references = 1;
  unit->made = g_get_monotonic_time ();
  unit->head = head;
  unit->tail = g_byte_array_new ();
  return unit;
}

GstNdIgtlUnit *
gst_nd_igtl_unit_new_message (const NdIgtlEnvelope *envelope,
    const GByteArray *content)
{
  GstNdIgtlUnit *unit = gst_nd_igtl_unit_new (g_byte_array_new ());

  nd_igtl_build (envelope, content, NULL, 0, NULL, 0, unit->head, unit->tail);
  return unit;
}

GstNdIgtlUnit *
gst_nd_igtl_unit_new_volume (GstBuffer *buffer, gsize size)
{
  GstNdIgtlUnit *unit;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  if (map.size < size) {
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
    return NULL;
  }
  unit = gst_nd_igtl_unit_new (g_byte_array_new ());
  unit->buffer = buffer;
  unit->map = map;
  unit->samples_size = size;
  return unit;
}

void
gst_nd_igtl_unit_build (GstNdIgtlUnit *unit, GByteArray *messages,
    const NdIgtlEnvelope *envelope, const GByteArray *content,
    const NdIgtlField *fields, guint n_fields)
{
  g_byte_array_append (unit->head, messages->data, messages->len);
  nd_igtl_build (envelope, content, unit->map.data, unit->samples_size, fields,
      n_fields, unit->head, unit->tail);
}

GstNdIgtlUnit *
gst_nd_igtl_unit_ref (GstNdIgtlUnit *unit)
{
  g_atomic_int_inc (&unit->references);
  return unit;
}

void
gst_nd_igtl_unit_unref (GstNdIgtlUnit *unit)
{
  if (!g_atomic_int_dec_and_test (&unit->references))
    return;
  if (unit->buffer) {
    gst_buffer_unmap (unit->buffer, &unit->map);
    gst_buffer_unref (unit->buffer);
  }
  g_byte_array_unref (unit->head);
  g_byte_array_unref (unit->tail);
  g_free (unit);
}

gboolean
gst_nd_igtl_unit_is_volume (const GstNdIgtlUnit *unit)
{
  return unit->buffer != NULL;
}

gint64
gst_nd_igtl_unit_time (const GstNdIgtlUnit *unit)
{
  return unit->made;
}

gsize
gst_nd_igtl_unit_size (const GstNdIgtlUnit *unit)
{
  return unit->head->len + unit->samples_size + unit->tail->len;
}

guint
gst_nd_igtl_unit_get_vectors (const GstNdIgtlUnit *unit, gsize at,
    gconstpointer *data, gsize *sizes)
{
  const guint8 *pieces[] = { unit->head->data,
    unit->buffer ? unit->map.data : NULL, unit->tail->data };
  const gsize all[] = { unit->head->len, unit->samples_size, unit->tail->len };
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    const gsize skip = MIN (at, all[i]);

    at -= skip;
    if (skip == all[i])
      continue;
    data[n] = pieces[i] + skip;
    sizes[n++] = all[i] - skip;
  }
  return n;
}
