/* Makes the messages of a volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlmessages.h"

#include "core/error.h"
#include "live/bytes.h"
#include "live/fields.h"
#include "live/image.h"
#include "live/message.h"

#include <string.h>

#define SIZE_MAX_IGTL 65535
#define COMPONENTS_MAX 255

gboolean
gst_nd_igtl_check_format (const GstNdVolumeInfo *info, GError **error)
{
  const gsize *size = info->shape.size;
  NdIgtlScalar scalar;

  if (info->responses == 1 && info->shape.components <= COMPONENTS_MAX
      && size[0] <= SIZE_MAX_IGTL && size[1] <= SIZE_MAX_IGTL
      && size[2] <= SIZE_MAX_IGTL && nd_igtl_scalar_type (info->type, &scalar))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "An IMAGE cannot hold %u responses of %" G_GSIZE_FORMAT
      " components of %s: it has one response, %u components at most, sizes of "
      "%u at most, and integers of 8, 16 or 32 bits or floating point numbers "
      "of 32 or 64 bits",
      info->responses, info->shape.components, nd_sample_name (info->type),
      COMPONENTS_MAX, SIZE_MAX_IGTL);
  return FALSE;
}

/* The matrix in the fields of a volume, from index to mm. */
static gboolean
igtl_messages_find_matrix (const GArray *fields, gfloat matrix[12])
{
  for (guint i = 0; i < fields->len; i++) {
    const NdIgtlField *field = &g_array_index (fields, NdIgtlField, i);

    if (strcmp (field->key, ND_IGTL_MATRIX_KEY) == 0)
      return nd_igtl_matrix_from_text (matrix, field->value);
  }
  return FALSE;
}

static void
describe_image (const GstNdVolumeInfo *info, const GArray *fields,
    GByteArray *content)
{
  static const gdouble ones[3] = { 1, 1, 1 }, zeros[3] = { 0 };
  static const gdouble identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  const NdGeometry *geometry = &info->geometry;
  NdIgtlImage image = { .components = info->shape.components,
    .big_endian = G_BYTE_ORDER == G_BIG_ENDIAN };
  gdouble origin[3], directions[9];
  gfloat matrix[12];

  nd_igtl_scalar_type (info->type, &image.scalar);
  memcpy (image.size, info->shape.size, sizeof (image.size));
  memcpy (image.subvolume, image.size, sizeof (image.subvolume));
  if (igtl_messages_find_matrix (fields, matrix)) {
    for (guint row = 0; row < 3; row++) {
      for (guint a = 0; a < 3; a++)
        directions[3 * row + a] = matrix[3 * a + row];
      origin[row] = matrix[9 + row];
    }
    nd_igtl_image_set_geometry (&image, ones, origin, directions);
  } else if (geometry->known) {
    nd_igtl_image_set_geometry (&image, geometry->spacing, geometry->origin,
        geometry->directions);
  } else {
    nd_igtl_image_set_geometry (&image, ones, zeros, identity);
  }
  nd_igtl_image_build (&image, content);
}

typedef struct
{
  GByteArray *messages;
  guint16 version;
  guint64 timestamp;
  guint32 *message_id;
} Messages;

static void
add_message (const gchar *type, const gchar *device, const GByteArray *content,
    gpointer user_data)
{
  Messages *to = user_data;
  const NdIgtlEnvelope envelope = { to->version, type, device, to->timestamp,
    ++*to->message_id };
  g_autoptr (GByteArray) tail = g_byte_array_new ();

  nd_igtl_build (&envelope, content, NULL, 0, NULL, 0, to->messages, tail);
  g_byte_array_append (to->messages, tail->data, tail->len);
}

/* Removes the fields that become messages from @fields. */
static void
build_small_messages (GArray *fields, Messages *to)
{
  g_autofree gboolean *used = g_new (gboolean, fields->len + 1);
  NdIgtlField *all = (NdIgtlField *) fields->data;
  guint left = 0;

  nd_igtl_from_fields (all, fields->len, used, add_message, to);
  for (guint i = 0; i < fields->len; i++) {
    if (!used[i])
      all[left++] = all[i];
  }
  g_array_set_size (fields, left);
}

void
gst_nd_igtl_build_messages (GstNdIgtlUnit *unit,
    const GstNdIgtlLetterhead *head, const GstNdVolumeInfo *info,
    GArray *fields)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();
  g_autoptr (GByteArray) messages = g_byte_array_new ();
  const guint64 timestamp = nd_igtl_time_from_ns (head->time);
  Messages to = { messages, head->version, timestamp, head->message_id };
  NdIgtlEnvelope envelope = { head->version, "IMAGE", head->device, timestamp,
    0 };

  describe_image (info, fields, content);
  build_small_messages (fields, &to);
  envelope.message_id = ++*head->message_id;
  gst_nd_igtl_unit_build (unit, messages, &envelope, content,
      (const NdIgtlField *) fields->data, fields->len);
}

/* Sends queries and answers.
 */

static void
igtl_messages_send (GstNdIgtlPeer *peer, guint16 version, const gchar *type,
    const gchar *device, const GByteArray *content)
{
  const NdIgtlEnvelope envelope = { version, type, device,
    nd_igtl_time_from_ns (g_get_real_time () * GST_USECOND), 0 };

  gst_nd_igtl_peer_reply (peer,
      gst_nd_igtl_unit_new_message (&envelope, content));
}

void
gst_nd_igtl_send_empty (GstNdIgtlPeer *peer, guint16 version, const gchar *type,
    const gchar *device)
{
  igtl_messages_send (peer, version, type, device, NULL);
}

void
gst_nd_igtl_send_done (GstNdIgtlPeer *peer, guint16 version, const gchar *about,
    const gchar *device, gboolean done)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();
  g_autofree gchar *type = g_strconcat ("RTS_", about, NULL);

  nd_put_u8 (content, done ? 0 : 1);
  igtl_messages_send (peer, version, type, device, content);
}

void
gst_nd_igtl_send_capability (GstNdIgtlPeer *peer, guint16 version,
    const gchar *device, const gchar *const *types)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  nd_igtl_capability_build (types, content);
  igtl_messages_send (peer, version, "CAPABILITY", device, content);
}

void
gst_nd_igtl_send_status (GstNdIgtlPeer *peer, guint16 version,
    const gchar *device)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  nd_igtl_status_build (content);
  igtl_messages_send (peer, version, "STATUS", device, content);
}

/* Finds the fields of a volume by its timestamp.
 */

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
igtl_messages_add (GArray *to, const NdMetadata *metadata, guint64 volume,
    gsize *room)
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
    *left_out = igtl_messages_add (found, *owner, 0, &room);
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
    *left_out += igtl_messages_add (found, recording, low, &room);
  return found;
}
