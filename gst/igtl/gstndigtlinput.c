/* Makes volumes of messages.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlinput.h"

#include <string.h>

#include "core/error.h"
#include "gst/base/gstnderror.h"
#include "gst/igtl/gstndigtlassembly.h"
#include "gst/igtl/gstndigtlmessages.h"
#include "live/fields.h"
#include "live/image.h"
#include "live/message.h"

#define GST_CAT_DEFAULT gst_nd_igtl_debug

#define EVERY_MAX \
  4 /* the most volumes that wait; if there are more, peers wait */

/* The state of one connection. */
typedef struct
{
  GstNdIgtlAssembly *assembly;
  gboolean asked; /* for a stream of images */
  gboolean spoke; /* a message has begun to arrive */
} Connection;

typedef struct
{
  guint64 volumes, other_devices, other_types, crc_errors, refused, incomplete;
  guint64 dropped, queries;
  guint64 no_memory;
} Counts;

struct _GstNdIgtlInput
{
  GstElement *element;
  GstNdIgtlInputSettings settings;
  GstNdIgtlHub *hub;

  GMutex lock; /* protects the following */
  GCond changed;
  GQueue queue; /* GstNdIgtlVolume */
  gboolean flushing, ended, failed, discont;
  GstNdIgtlDevices devices;
  GstNdIgtlWaiting fields;
  GstBufferPool *pool;
  gsize pool_size;
  gboolean warned[GST_ND_IGTL_WARNINGS];
  Counts counts;
};

void
gst_nd_igtl_volume_free (GstNdIgtlVolume *volume)
{
  g_clear_pointer (&volume->replaced, g_array_unref);
  gst_clear_buffer (&volume->buffer);
  g_array_unref (volume->fields);
  g_free (volume);
}

void
gst_nd_igtl_input_warn (GstNdIgtlInput *input, GstNdIgtlWarning kind,
    const GError *error)
{
  gboolean warned;

  g_mutex_lock (&input->lock);
  warned = input->warned[kind];
  input->warned[kind] = TRUE;
  g_mutex_unlock (&input->lock);
  if (warned)
    GST_INFO_OBJECT (input->element, "%s", error->message);
  else
    gst_nd_element_warning (input->element, error);
}

static void
connection_free (gpointer data)
{
  Connection *connection = data;

  gst_nd_igtl_assembly_free (connection->assembly);
  g_free (connection);
}

/* Returns a pool of buffers of @size bytes, or NULL. */
static GstBufferPool *
find_pool (GstNdIgtlInput *input, gsize size)
{
  GstBufferPool *pool = NULL;

  g_mutex_lock (&input->lock);
  if (input->pool && input->pool_size == size)
    pool = gst_object_ref (input->pool);
  g_mutex_unlock (&input->lock);
  return pool;
}

static void
count_incomplete (GstNdIgtlInput *input)
{
  g_mutex_lock (&input->lock);
  input->counts.incomplete++;
  g_mutex_unlock (&input->lock);
}

static void
no_memory (GstNdIgtlInput *input, gsize size)
{
  g_autoptr (GError) error = g_error_new (ND_ERROR, ND_ERROR_MEMORY,
      "No memory for a volume of %" G_GSIZE_FORMAT
      " bytes that a peer sends: it is left out; max-message-size limits what "
      "peers may send",
      size);

  g_mutex_lock (&input->lock);
  input->counts.no_memory++;
  g_mutex_unlock (&input->lock);
  gst_nd_igtl_input_warn (input, GST_ND_IGTL_WARN_MEMORY, error);
}

/* Whether volumes of @device are taken. */
static gboolean
igtl_input_is_wanted (GstNdIgtlInput *input, const gchar *device)
{
  gboolean wanted, chosen;

  g_mutex_lock (&input->lock);
  chosen = !input->devices.chosen;
  wanted = gst_nd_igtl_devices_is_wanted (&input->devices, device);
  input->counts.other_devices += !wanted;
  g_mutex_unlock (&input->lock);
  if (chosen)
    GST_INFO_OBJECT (input->element, "device \"%s\" chosen: the first one",
        device);
  return wanted;
}

static guint8 *
igtl_input_take_image (GstNdIgtlPeer *peer, NdReceiver *receiver,
    gpointer user_data)
{
  GstNdIgtlInput *input = user_data;
  Connection *connection = gst_nd_igtl_peer_get_data (peer);
  const NdIgtlImage *image = nd_receiver_image (receiver);
  const gsize size = nd_igtl_image_volume_size (image);
  g_autoptr (GstBufferPool) pool = find_pool (input, size);
  gboolean lost;
  guint8 *samples;

  connection->spoke = TRUE;
  if (!igtl_input_is_wanted (input, nd_receiver_header (receiver)->device))
    return NULL;
  samples =
      gst_nd_igtl_assembly_begin (connection->assembly, image, pool, &lost);
  if (lost)
    count_incomplete (input);
  if (!samples)
    no_memory (input, size);
  return samples;
}

/* In the thread of the hub, after a peer has sent a field. */
static void
igtl_input_add_field (const gchar *key, const gchar *value, gpointer user_data)
{
  GstNdIgtlInput *input = user_data;

  g_mutex_lock (&input->lock);
  gst_nd_igtl_waiting_add (&input->fields, key, value);
  g_mutex_unlock (&input->lock);
}

static void
post_qos (GstNdIgtlInput *input, guint64 volumes, guint64 dropped)
{
  GstMessage *message = gst_message_new_qos (GST_OBJECT (input->element), TRUE,
      GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE,
      GST_CLOCK_TIME_NONE);

  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, volumes - dropped,
      dropped);
  gst_element_post_message (input->element, message);
  GST_DEBUG_OBJECT (input->element,
      "a newer volume came before the last was taken: %" G_GUINT64_FORMAT
      " dropped",
      dropped);
}

/* Most volumes whose times are kept. */
#define REPLACED_MAX 256

/* Keeps the times of the volumes that @volume replaces: its delay tells nothing
 * of theirs. */
static void
keep_times (GstNdIgtlVolume *volume, GstNdIgtlVolume *old)
{
  const GstNdIgtlSending times = { old->sent, old->arrival };

  volume->replaced = g_steal_pointer (&old->replaced);
  if (!volume->replaced)
    volume->replaced = g_array_new (FALSE, FALSE, sizeof (GstNdIgtlSending));
  if (volume->replaced->len < REPLACED_MAX)
    g_array_append_val (volume->replaced, times);
}

/* Queues a complete volume. Takes @buffer. */
static void
give_volume (GstNdIgtlInput *input, GstBuffer *buffer, NdReceiver *receiver)
{
  GstNdIgtlVolume *volume = g_new0 (GstNdIgtlVolume, 1), *old = NULL;
  guint64 volumes, dropped = 0;

  volume->buffer = buffer;
  volume->image = *nd_receiver_image (receiver);
  volume->type = nd_igtl_sample_type (volume->image.scalar);
  volume->sent = nd_igtl_time_to_ns (nd_receiver_header (receiver)->timestamp);
  volume->arrival = (guint64) g_get_monotonic_time () * GST_USECOND;
  GST_LOG_OBJECT (input->element,
      "received a volume of \"%s\", sent at %" G_GUINT64_FORMAT
      " ns: %" GST_PTR_FORMAT,
      nd_receiver_header (receiver)->device, volume->sent, buffer);
  g_mutex_lock (&input->lock);
  volume->fields = gst_nd_igtl_waiting_steal (&input->fields);
  volume->discont = input->discont;
  input->discont = FALSE;
  if (!input->settings.every && (old = g_queue_pop_head (&input->queue))) {
    dropped = ++input->counts.dropped;
    input->fields.dropped += old->fields->len;
    volume->discont |= old->discont;
    keep_times (volume, old);
  }
  g_queue_push_tail (&input->queue, volume);
  gst_nd_igtl_devices_end_wait (&input->devices);
  volumes = ++input->counts.volumes;
  g_cond_signal (&input->changed);
  g_mutex_unlock (&input->lock);
  if (old) {
    gst_nd_igtl_volume_free (old);
    post_qos (input, volumes, dropped);
  }
}

/* All samples of an IMAGE have arrived, and its checksum is right. */
static void
igtl_input_take_samples (GstNdIgtlInput *input, GstNdIgtlPeer *peer,
    NdReceiver *receiver)
{
  Connection *connection = gst_nd_igtl_peer_get_data (peer);
  const NdIgtlImage *image = nd_receiver_image (receiver);
  const gsize size = nd_igtl_image_volume_size (image);
  g_autoptr (GstBufferPool) pool = find_pool (input, size);
  GstNdIgtlAssembled result;
  GstBuffer *buffer = NULL;
  gboolean lost;

  result = gst_nd_igtl_assembly_end (connection->assembly, image,
      nd_receiver_header (receiver)->timestamp, pool, &buffer, &lost);
  if (lost)
    count_incomplete (input);
  if (result == GST_ND_IGTL_COMPLETE)
    give_volume (input, buffer, receiver);
  else if (result == GST_ND_IGTL_NO_MEMORY)
    no_memory (input, size);
}

static void
warn_refused (GstNdIgtlInput *input, const GError *error)
{
  const gboolean crc = error->code == ND_ERROR_READ;

  g_mutex_lock (&input->lock);
  if (crc)
    input->counts.crc_errors++;
  else
    input->counts.refused++;
  g_mutex_unlock (&input->lock);
  gst_nd_igtl_input_warn (input,
      crc ? GST_ND_IGTL_WARN_CRC : GST_ND_IGTL_WARN_REFUSED, error);
}

static void
igtl_input_take_metadata (GstNdIgtlInput *input, NdReceiver *receiver)
{
  g_autoptr (GError) error = NULL;

  if (!nd_receiver_metadata (receiver, igtl_input_add_field, input, &error))
    warn_refused (input, error);
}

static void
igtl_input_answer (GstNdIgtlInput *input, GstNdIgtlPeer *peer,
    NdReceiver *receiver)
{
  static const gchar *const types[] = { "IMAGE", "TRANSFORM", "POSITION",
    "QTDATA", "TDATA", "STATUS", "STRING", "SENSOR", "CAPABILITY",
    "GET_CAPABIL", "GET_STATUS", NULL };
  const NdIgtlHeader *header = nd_receiver_header (receiver);
  const gchar *about, *type;
  const NdIgtlQuery query = nd_igtl_query_parse (header->type, &about);
  g_autoptr (GError) error = NULL;
  const guint8 *content;
  gsize size;

  g_mutex_lock (&input->lock);
  input->counts.queries++;
  g_mutex_unlock (&input->lock);
  content = nd_receiver_content (receiver, &size);
  if (query == ND_IGTL_GET && strcmp (about, "CAPABIL") == 0) {
    gst_nd_igtl_send_capability (peer, header->version, header->device, types);
  } else if (query == ND_IGTL_GET && strcmp (about, "STATUS") == 0) {
    gst_nd_igtl_send_status (peer, header->version, header->device);
  } else if (query == ND_IGTL_GET) {
    type = strcmp (about, "TRANSFOR") == 0 ? "TRANSFORM" : about;
    gst_nd_igtl_send_empty (peer, header->version, type, header->device);
  } else if (query == ND_IGTL_START || query == ND_IGTL_STOP) {
    gst_nd_igtl_send_done (peer, header->version, about, header->device,
        query == ND_IGTL_STOP);
  } else if (size > 0 && content[0] != 0) {
    g_set_error (&error, ND_ERROR, ND_ERROR_READ,
        "The peer %s does not start to send %s of \"%s\": set device-name to "
        "a device that it has",
        gst_nd_igtl_peer_address (peer), about, header->device);
    gst_nd_igtl_input_warn (input, GST_ND_IGTL_WARN_QUERY, error);
  }
}

/* Peers that send images only on request say so in CAPABILITY. */
static void
ask_for_images (GstNdIgtlInput *input, GstNdIgtlPeer *peer,
    NdReceiver *receiver)
{
  Connection *connection = gst_nd_igtl_peer_get_data (peer);
  const guint8 *content;
  gsize size;

  content = nd_receiver_content (receiver, &size);
  if (connection->asked || !nd_igtl_capability_has (content, size, "STT_IMAGE"))
    return;
  connection->asked = TRUE;
  gst_nd_igtl_send_empty (peer, nd_receiver_header (receiver)->version,
      "STT_IMAGE", input->settings.device);
}

static void
igtl_input_take_message (GstNdIgtlInput *input, GstNdIgtlPeer *peer,
    NdReceiver *receiver)
{
  const NdIgtlHeader *header = nd_receiver_header (receiver);
  g_autoptr (GError) error = NULL;
  const guint8 *content;
  gsize size;

  if (strcmp (header->type, "IMAGE") == 0) {
    igtl_input_take_metadata (input, receiver);
    igtl_input_take_samples (input, peer, receiver);
  } else if (strcmp (header->type, "CAPABILITY") == 0) {
    ask_for_images (input, peer, receiver);
  } else if (nd_igtl_has_fields (header->type)) {
    content = nd_receiver_content (receiver, &size);
    /* The answer to a GET_ message if nothing is available. */
    if (size == 0)
      return;
    if (!nd_igtl_to_fields (header, content, size, igtl_input_add_field, input,
            &error))
      warn_refused (input, error);
    igtl_input_take_metadata (input, receiver);
  } else {
    igtl_input_answer (input, peer, receiver);
  }
}

static void
igtl_input_take (GstNdIgtlPeer *peer, NdReceiver *receiver, NdReceived event,
    const GError *error, gpointer user_data)
{
  GstNdIgtlInput *input = user_data;
  Connection *connection = gst_nd_igtl_peer_get_data (peer);

  connection->spoke = TRUE;
  if (event == ND_RECEIVED_MESSAGE) {
    igtl_input_take_message (input, peer, receiver);
    return;
  }
  gst_nd_igtl_assembly_refuse (connection->assembly);
  if (event == ND_RECEIVED_REFUSED) {
    warn_refused (input, error);
    return;
  }
  g_mutex_lock (&input->lock);
  if (strcmp (nd_receiver_header (receiver)->type, "IMAGE") != 0)
    input->counts.other_types++;
  g_mutex_unlock (&input->lock);
}

static void
igtl_input_opened (GstNdIgtlPeer *peer, gpointer user_data)
{
  GstNdIgtlInput *input = user_data;
  Connection *connection = g_new0 (Connection, 1);

  connection->assembly = gst_nd_igtl_assembly_new ();
  gst_nd_igtl_peer_set_data (peer, connection, connection_free);
  g_mutex_lock (&input->lock);
  input->discont = TRUE;
  /* Clients of a server may be as silent as they like. */
  if (!input->settings.hub.server || input->counts.volumes == 0)
    gst_nd_igtl_devices_wait (&input->devices);
  g_cond_signal (&input->changed);
  g_mutex_unlock (&input->lock);
  if (!input->settings.hub.server)
    gst_nd_igtl_send_empty (peer, 1, "GET_CAPABIL", "");
}

static void
warn_silent (GstNdIgtlInput *input, GstNdIgtlPeer *peer)
{
  g_autoptr (GError) error = g_error_new (ND_ERROR, ND_ERROR_OPEN_READ,
      "%s ended the connection before it sent a message: some programs serve "
      "one client at a time, so close the others",
      gst_nd_igtl_peer_address (peer));

  gst_nd_igtl_input_warn (input, GST_ND_IGTL_WARN_SILENT, error);
}

static void
igtl_input_closed (GstNdIgtlPeer *peer, const GError *error, gpointer user_data)
{
  GstNdIgtlInput *input = user_data;
  Connection *connection = gst_nd_igtl_peer_get_data (peer);
  gboolean ending;

  g_mutex_lock (&input->lock);
  ending = input->flushing;
  input->counts.incomplete +=
      gst_nd_igtl_assembly_is_pending (connection->assembly);
  if (!input->settings.hub.server && input->settings.hub.reconnect < 0)
    input->ended = TRUE;
  g_cond_signal (&input->changed);
  g_mutex_unlock (&input->lock);
  if (error && error->domain == ND_ERROR)
    gst_nd_igtl_input_warn (input, GST_ND_IGTL_WARN_CONNECTION, error);
  else if (!input->settings.hub.server && !connection->spoke && !ending)
    warn_silent (input, peer);
}

static void
igtl_input_hub_failed (const GError *error, gboolean fatal, gpointer user_data)
{
  GstNdIgtlInput *input = user_data;

  if (!fatal) {
    gst_nd_igtl_input_warn (input, GST_ND_IGTL_WARN_CONNECTION, error);
    return;
  }
  gst_nd_element_error (input->element, error);
  g_mutex_lock (&input->lock);
  input->failed = TRUE;
  g_cond_signal (&input->changed);
  g_mutex_unlock (&input->lock);
}

static gboolean
igtl_input_is_full (gpointer user_data)
{
  GstNdIgtlInput *input = user_data;
  gboolean full;

  if (!input->settings.every)
    return FALSE;
  g_mutex_lock (&input->lock);
  full = input->queue.length >= EVERY_MAX;
  g_mutex_unlock (&input->lock);
  return full;
}

/* Call with the lock held, which is released meanwhile. */
static void
tell_waiting (GstNdIgtlInput *input)
{
  g_autoptr (GError) error = gst_nd_igtl_devices_tell (&input->devices);

  g_mutex_unlock (&input->lock);
  gst_nd_element_warning (input->element, error);
  g_mutex_lock (&input->lock);
}

GstNdIgtlVolume *
gst_nd_igtl_input_pop (GstNdIgtlInput *input, GstFlowReturn *ret)
{
  GstNdIgtlVolume *volume = NULL;

  g_mutex_lock (&input->lock);
  while (!input->flushing && !input->failed
      && !(volume = g_queue_pop_head (&input->queue)) && !input->ended) {
    const gint64 until = gst_nd_igtl_devices_deadline (&input->devices);

    if (until == 0)
      g_cond_wait (&input->changed, &input->lock);
    else if (!g_cond_wait_until (&input->changed, &input->lock, until))
      tell_waiting (input);
  }
  *ret = volume         ? GST_FLOW_OK
      : input->flushing ? GST_FLOW_FLUSHING
      : input->failed   ? GST_FLOW_FLUSHING
                        : GST_FLOW_EOS;
  g_mutex_unlock (&input->lock);
  if (volume && input->settings.every)
    gst_nd_igtl_hub_resume (input->hub);
  return volume;
}

void
gst_nd_igtl_input_set_flushing (GstNdIgtlInput *input, gboolean flushing)
{
  g_mutex_lock (&input->lock);
  input->flushing = flushing;
  g_cond_signal (&input->changed);
  g_mutex_unlock (&input->lock);
}

void
gst_nd_igtl_input_set_pool (GstNdIgtlInput *input, GstBufferPool *pool,
    gsize size)
{
  g_mutex_lock (&input->lock);
  gst_object_replace ((GstObject **) &input->pool, GST_OBJECT_CAST (pool));
  input->pool_size = size;
  g_mutex_unlock (&input->lock);
}

void
gst_nd_igtl_input_get_stats (GstNdIgtlInput *input, GstStructure *stats)
{
  g_autofree gchar *devices = NULL;
  GstNdIgtlWaiting fields;
  Counts counts;
  guint queued;

  gst_nd_igtl_hub_get_stats (input->hub, stats);
  g_mutex_lock (&input->lock);
  counts = input->counts;
  fields = input->fields;
  queued = input->queue.length;
  devices = gst_nd_igtl_devices_list (&input->devices);
  gst_structure_set (stats, "device-name", G_TYPE_STRING,
      input->devices.chosen ? input->devices.chosen : "", NULL);
  g_mutex_unlock (&input->lock);
  gst_structure_set (stats, "devices", G_TYPE_STRING, devices,
      "volumes-received", G_TYPE_UINT64, counts.volumes, "volumes-dropped",
      G_TYPE_UINT64, counts.dropped, "volumes-incomplete", G_TYPE_UINT64,
      counts.incomplete, "volumes-queued", G_TYPE_UINT, queued,
      "volumes-of-other-devices", G_TYPE_UINT64, counts.other_devices,
      "volumes-without-memory", G_TYPE_UINT64, counts.no_memory, "crc-errors",
      G_TYPE_UINT64, counts.crc_errors, "messages-refused", G_TYPE_UINT64,
      counts.refused, "messages-of-other-types", G_TYPE_UINT64,
      counts.other_types, "queries", G_TYPE_UINT64, counts.queries, "fields",
      G_TYPE_UINT64, fields.arrived, "fields-superseded", G_TYPE_UINT64,
      fields.superseded, "fields-dropped", G_TYPE_UINT64, fields.dropped, NULL);
}

GstNdIgtlInput *
gst_nd_igtl_input_new (GstElement *element,
    const GstNdIgtlInputSettings *settings)
{
  static const GstNdIgtlCallbacks callbacks = { igtl_input_opened,
    igtl_input_closed, igtl_input_take_image, igtl_input_take,
    igtl_input_is_full, igtl_input_hub_failed };
  GstNdIgtlInput *input = g_new0 (GstNdIgtlInput, 1);

  input->element = element;
  input->settings = *settings;
  input->settings.device = g_strdup (settings->device);
  g_mutex_init (&input->lock);
  g_cond_init (&input->changed);
  gst_nd_igtl_devices_init (&input->devices, settings->device);
  gst_nd_igtl_waiting_init (&input->fields);
  input->hub = gst_nd_igtl_hub_new (element, &settings->hub, &callbacks, input);
  return input;
}

void
gst_nd_igtl_input_free (GstNdIgtlInput *input)
{
  gst_nd_igtl_hub_stop (input->hub);
  g_queue_clear_full (&input->queue, (GDestroyNotify) gst_nd_igtl_volume_free);
  gst_nd_igtl_devices_clear (&input->devices);
  gst_nd_igtl_waiting_clear (&input->fields);
  gst_clear_object (&input->pool);
  g_mutex_clear (&input->lock);
  g_cond_clear (&input->changed);
  g_free (input->settings.device);
  g_free (input);
}
