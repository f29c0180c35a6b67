/* openigtlinksrc as a server, and a peer that sends it images whose samples are
 * known.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "live/bytes.h"
#include "tests/gst/igtl.h"

typedef struct
{
  GstElement *pipeline, *src, *sink;
  GSocket *peer;
} Stream;

/* The element listens, and a peer is connected. */
static inline void
stream_init (Stream *stream, const gchar *properties, const gchar *caps)
{
  stream->pipeline = launch ("openigtlinksrc name=src mode=server port=0 "
                             "host=127.0.0.1 %s ! %s ! appsink name=sink "
                             "sync=false max-buffers=100",
      properties, caps);
  stream->src = gst_bin_get_by_name (GST_BIN (stream->pipeline), "src");
  stream->sink = gst_bin_get_by_name (GST_BIN (stream->pipeline), "sink");
  gst_element_set_state (stream->pipeline, GST_STATE_PLAYING);
  stream->peer = igtl_connect (igtl_port (stream->src));
}

static inline void
stream_clear (Stream *stream)
{
  gst_object_unref (stream->src);
  gst_object_unref (stream->sink);
  igtl_stop (stream->pipeline);
  g_clear_object (&stream->peer);
}

/* Sample i of the message is i, in the type and byte order of @image. */
static inline GByteArray *
make_samples (const NdIgtlImage *image)
{
  const gsize size = nd_igtl_scalar_size (image->scalar);
  GByteArray *samples = g_byte_array_new ();
  const gsize n = nd_igtl_image_subvolume_size (image) / size;

  for (gsize i = 0; i < n; i++) {
    guint8 bytes[8] = { 0 };
    const gboolean is_float = image->scalar >= ND_IGTL_FLOAT32;
    const gdouble real = i % 100;
    const gfloat single = real;

    if (is_float && size == 8)
      memcpy (bytes, &real, 8);
    else if (is_float)
      memcpy (bytes, &single, 4);
    else
      bytes[G_BYTE_ORDER == G_LITTLE_ENDIAN ? 0 : size - 1] = i % 100;
    if (image->big_endian == (G_BYTE_ORDER == G_LITTLE_ENDIAN)) {
      for (gsize k = 0; k < size / 2; k++) {
        const guint8 byte = bytes[k];

        bytes[k] = bytes[size - 1 - k];
        bytes[size - 1 - k] = byte;
      }
    }
    g_byte_array_append (samples, bytes, size);
  }
  return samples;
}

static inline void
send_image (Stream *stream, guint16 version, const NdIgtlImage *image)
{
  g_autoptr (GByteArray) samples = make_samples (image);

  fail_unless (igtl_send_message (stream->peer,
      make_image_message (version, image, samples->data, NULL, 0)));
}

/* An image of another device. */
static inline void
send_other (Stream *stream, guint16 version, const NdIgtlImage *image)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();
  g_autoptr (GByteArray) samples = make_samples (image);

  nd_igtl_image_build (image, content);
  fail_unless (igtl_send_message (stream->peer,
      make_message (version, "IMAGE", "Other", content, samples->data,
          samples->len, NULL, 0)));
}

static inline gdouble
sample_at (const guint8 *data, const gchar *type, gsize i)
{
  if (strcmp (type, "uint8") == 0)
    return data[i];
  if (strcmp (type, "int8") == 0)
    return ((const gint8 *) data)[i];
  if (strcmp (type, "int16") == 0)
    return ((const gint16 *) data)[i];
  if (strcmp (type, "uint16") == 0)
    return ((const guint16 *) data)[i];
  if (strcmp (type, "int32") == 0)
    return ((const gint32 *) data)[i];
  if (strcmp (type, "uint32") == 0)
    return ((const guint32 *) data)[i];
  if (strcmp (type, "float64") == 0)
    return ((const gdouble *) data)[i];
  return ((const gfloat *) data)[i];
}

/* The next volume has these samples and dimensions. */
static inline void
check_volume (Stream *stream, const gchar *dimensions, gsize n)
{
  g_autoptr (GstSample) sample = igtl_pull (stream->sink);
  const GstStructure *s =
      gst_caps_get_structure (gst_sample_get_caps (sample), 0);
  const gchar *type = gst_structure_get_string (s, "types");
  GstMapInfo map;

  fail_unless_equals_string (gst_structure_get_string (s, "dimensions"),
      dimensions);
  fail_unless (gst_buffer_map (gst_sample_get_buffer (sample), &map,
      GST_MAP_READ));
  for (gsize i = 0; i < n; i++)
    fail_unless_equals_float (sample_at (map.data, type, i), i % 100);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
}

static inline void
send_transform (Stream *stream, const gchar *device, gfloat x)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  for (guint i = 0; i < 12; i++)
    nd_put_f32 (content, i == 9 ? x : i % 4 == 0);
  fail_unless (igtl_send_message (stream->peer,
      make_message (1, "TRANSFORM", device, content, NULL, 0, NULL, 0)));
}
