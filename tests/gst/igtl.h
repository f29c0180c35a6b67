/* A peer for the tests of the OpenIGTLink elements: a blocking socket and
 * messages of live/.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gio/gio.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include "live/image.h"
#include "live/message.h"
#include "live/receiver.h"
#include "tests/gst/run.h"
#include "tests/live/messages.h"

#define IGTL_WAIT 300 /* s, for what must happen, on slow machines too */

/* A figure in `stats`; strings and arrays have others. */
static inline guint64
igtl_stat (GstElement *element, const gchar *name)
{
  GstStructure *stats = NULL;
  guint64 value = 0;
  guint small = 0;

  g_object_get (element, "stats", &stats, NULL);
  if (!gst_structure_get_uint64 (stats, name, &value)
      && gst_structure_get_uint (stats, name, &small))
    value = small;
  gst_structure_free (stats);
  return value;
}

/* Waits until the figure is @least or more. */
static inline void
igtl_wait_stat (GstElement *element, const gchar *name, guint64 least)
{
  const gint64 until = g_get_monotonic_time () + IGTL_WAIT * G_USEC_PER_SEC;

  while (igtl_stat (element, name) < least) {
    if (g_get_monotonic_time () > until) {
      GstStructure *stats = NULL;
      g_autofree gchar *text = NULL;

      g_object_get (element, "stats", &stats, NULL);
      text = gst_structure_to_string (stats);
      fail ("%s stays below %" G_GUINT64_FORMAT ": %s", name, least, text);
    }
    g_usleep (2000);
  }
}

/* The port of an element that listens at port 0. */
static inline guint
igtl_port (GstElement *element)
{
  igtl_wait_stat (element, "port", 1);
  return igtl_stat (element, "port");
}

static inline GSocket *
igtl_connect (guint port)
{
  g_autoptr (GSocketAddress) address =
      g_inet_socket_address_new_from_string ("127.0.0.1", port);
  g_autoptr (GError) error = NULL;
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM,
      G_SOCKET_PROTOCOL_TCP, &error);

  g_assert_no_error (error);
  g_socket_set_timeout (socket, IGTL_WAIT);
  g_socket_connect (socket, address, NULL, &error);
  g_assert_no_error (error);
  return socket;
}

/* FALSE if the other end closed the connection. */
static inline gboolean
igtl_send (GSocket *socket, const guint8 *bytes, gsize n)
{
  while (n > 0) {
    const gssize sent =
        g_socket_send (socket, (const gchar *) bytes, n, NULL, NULL);

    if (sent <= 0)
      return FALSE;
    bytes += sent;
    n -= sent;
  }
  return TRUE;
}

static inline gboolean
igtl_send_message (GSocket *socket, GByteArray *message)
{
  const gboolean sent = igtl_send (socket, message->data, message->len);

  g_byte_array_unref (message);
  return sent;
}

typedef struct
{
  NdIgtlHeader header;
  NdIgtlImage image;
  GByteArray *content; /* samples of an IMAGE */
  GString *metadata;   /* key=value; */
} IgtlMessage;

static inline void
igtl_message_clear (IgtlMessage *message)
{
  g_clear_pointer (&message->content, g_byte_array_unref);
  if (message->metadata)
    g_string_free (g_steal_pointer (&message->metadata), TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IgtlMessage, igtl_message_clear)

static inline void
igtl_collect (const gchar *key, const gchar *value, gpointer user_data)
{
  g_string_append_printf (user_data, "%s=%s;", key, value);
}

/* The next message, whose checksum must be right. FALSE at the end. */
static inline gboolean
igtl_receive (GSocket *socket, IgtlMessage *message)
{
  g_autoptr (NdReceiver) receiver = nd_receiver_new (1 << 30, TRUE);

  igtl_message_clear (message);
  message->content = g_byte_array_new ();
  message->metadata = g_string_new (NULL);
  for (;;) {
    g_autoptr (GError) error = NULL;
    NdReceived event;
    const guint8 *content;
    gsize size;
    guint8 *space = nd_receiver_space (receiver, &size);
    gssize n = g_socket_receive (socket, (gchar *) space, size, NULL, &error);

    if (n <= 0)
      return FALSE;
    for (; (event = nd_receiver_take (receiver, n, &error)); n = 0) {
      g_assert_no_error (error);
      message->header = *nd_receiver_header (receiver);
      if (event == ND_RECEIVED_IMAGE) {
        message->image = *nd_receiver_image (receiver);
        g_byte_array_set_size (message->content,
            nd_igtl_image_subvolume_size (&message->image));
        nd_receiver_set_samples (receiver, message->content->data);
        continue;
      }
      content = nd_receiver_content (receiver, &size);
      if (message->content->len == 0)
        g_byte_array_append (message->content, content, size);
      g_assert_true (nd_receiver_metadata (receiver, igtl_collect,
          message->metadata, NULL));
      return TRUE;
    }
  }
}

static inline GstSample *
igtl_pull (GstElement *sink)
{
  GstSample *sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink),
      IGTL_WAIT * GST_SECOND);

  fail_unless (sample != NULL, "no volume came");
  return sample;
}

/* The first warning or error that has these words. */
static inline void
igtl_wait_words (GstElement *pipeline, GstMessageType type, const gchar *words)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  for (;;) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GstMessage) message =
        gst_bus_timed_pop_filtered (bus, IGTL_WAIT * GST_SECOND, type);

    fail_unless (message != NULL, "nothing said \"%s\"", words);
    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    else
      gst_message_parse_warning (message, &error, NULL);
    if (strstr (error->message, words))
      return;
    GST_INFO ("%s", error->message);
  }
}

/* Whether a warning waits to be read. */
static inline gboolean
igtl_has_warned (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);

  return message != NULL;
}

/* To NULL, which must not wait for any peer: the system would give one up after
 * two minutes. */
static inline void
igtl_stop (GstElement *pipeline)
{
  const gint64 before = g_get_monotonic_time ();

  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (g_get_monotonic_time () - before < 100 * G_USEC_PER_SEC,
      "stopping waits");
  gst_object_unref (pipeline);
}
