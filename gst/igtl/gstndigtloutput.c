/* Sends volumes to peers and answers their queries.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtloutput.h"

#include <string.h>

#include "core/error.h"
#include "gst/base/gstnderror.h"
#include "gst/igtl/gstndigtlmessages.h"
#include "live/message.h"

#define GST_CAT_DEFAULT gst_nd_igtl_debug

#define DRAIN_MAX (2 * G_TIME_SPAN_SECOND)
#define DRAIN_STEP (5 * G_TIME_SPAN_MILLISECOND)

/* A warning of each kind is posted once. */
typedef enum
{
  WARN_CONNECTION,
  WARN_REFUSED,
  WARN_BROKEN,
  WARNINGS
} Warning;

struct _GstNdIgtlOutput
{
  GstElement *element;
  guint16 version;
  gchar *device;
  GstNdIgtlHub *hub;

  GMutex lock; /* protects the following */
  GCond changed;
  gboolean flushing, failed;
  gboolean warned[WARNINGS];
  GstNdIgtlUnit *last; /* for GET_IMAGE */
  guint64 queries, refused;
};

static void
igtl_output_warn (GstNdIgtlOutput *output, Warning kind, const GError *error)
{
  gboolean warned;

  g_mutex_lock (&output->lock);
  warned = output->warned[kind];
  output->warned[kind] = TRUE;
  g_mutex_unlock (&output->lock);
  if (warned)
    GST_INFO_OBJECT (output->element, "%s", error->message);
  else
    gst_nd_element_warning (output->element, error);
}

static void
igtl_output_hub_failed (const GError *error, gboolean fatal, gpointer user_data)
{
  GstNdIgtlOutput *output = user_data;

  if (!fatal) {
    igtl_output_warn (output, WARN_CONNECTION, error);
    return;
  }
  gst_nd_element_error (output->element, error);
  g_mutex_lock (&output->lock);
  output->failed = TRUE;
  g_mutex_unlock (&output->lock);
}

static void
igtl_output_closed (GstNdIgtlPeer *peer, const GError *error,
    gpointer user_data)
{
  if (error && error->domain == ND_ERROR)
    igtl_output_warn (user_data, WARN_BROKEN, error);
}

/* Answers with the last volume, or with nothing. */
static void
send_last (GstNdIgtlOutput *output, GstNdIgtlPeer *peer,
    const NdIgtlHeader *header)
{
  GstNdIgtlUnit *unit = NULL;

  g_mutex_lock (&output->lock);
  if (output->last
      && (!*header->device || strcmp (header->device, output->device) == 0))
    unit = gst_nd_igtl_unit_ref (output->last);
  g_mutex_unlock (&output->lock);
  if (unit)
    gst_nd_igtl_peer_reply (peer, unit);
  else
    gst_nd_igtl_send_empty (peer, output->version, "IMAGE", header->device);
}

static void
answer_get (GstNdIgtlOutput *output, GstNdIgtlPeer *peer,
    const NdIgtlHeader *header, const gchar *about)
{
  static const gchar *const types[] = { "IMAGE", "TRANSFORM", "POSITION",
    "QTDATA", "TDATA", "STATUS", "STRING", "SENSOR", "CAPABILITY", "GET_IMAGE",
    "STT_IMAGE", "STP_IMAGE", "RTS_IMAGE", "GET_CAPABIL", "GET_STATUS", NULL };

  if (strcmp (about, "IMAGE") == 0)
    send_last (output, peer, header);
  else if (strcmp (about, "CAPABIL") == 0)
    gst_nd_igtl_send_capability (peer, output->version, header->device, types);
  else if (strcmp (about, "STATUS") == 0)
    gst_nd_igtl_send_status (peer, output->version, header->device);
  else
    gst_nd_igtl_send_empty (peer, output->version,
        strcmp (about, "TRANSFOR") == 0 ? "TRANSFORM" : about, header->device);
}

static void
igtl_output_take (GstNdIgtlPeer *peer, NdReceiver *receiver, NdReceived event,
    const GError *error, gpointer user_data)
{
  GstNdIgtlOutput *output = user_data;
  const NdIgtlHeader *header = nd_receiver_header (receiver);
  const gchar *about;
  NdIgtlQuery query;
  gboolean done;

  if (event == ND_RECEIVED_REFUSED) {
    g_mutex_lock (&output->lock);
    output->refused++;
    g_mutex_unlock (&output->lock);
    igtl_output_warn (output, WARN_REFUSED, error);
  }
  query = nd_igtl_query_parse (header->type, &about);
  if (event != ND_RECEIVED_MESSAGE || query == ND_IGTL_NO_QUERY)
    return;
  g_mutex_lock (&output->lock);
  output->queries++;
  g_mutex_unlock (&output->lock);
  switch (query) {
    case ND_IGTL_GET:
      answer_get (output, peer, header, about);
      break;
    case ND_IGTL_START:
    case ND_IGTL_STOP:
      done = strcmp (about, "IMAGE") == 0
          && (!*header->device || strcmp (header->device, output->device) == 0);
      if (done)
        gst_nd_igtl_peer_set_streaming (peer, query == ND_IGTL_START);
      gst_nd_igtl_send_done (peer, output->version, about, header->device,
          done);
      break;
    case ND_IGTL_NO_QUERY:
    case ND_IGTL_ANSWER:
      break;
  }
}

GstNdIgtlOutput *
gst_nd_igtl_output_new (GstElement *element, const GstNdIgtlSettings *settings,
    guint16 version, const gchar *device)
{
  static const GstNdIgtlCallbacks callbacks = { .closed = igtl_output_closed,
    .received = igtl_output_take,
    .failed = igtl_output_hub_failed };
  GstNdIgtlOutput *output = g_new0 (GstNdIgtlOutput, 1);

  output->element = element;
  output->version = version;
  output->device = g_strdup (device);
  g_mutex_init (&output->lock);
  g_cond_init (&output->changed);
  output->hub = gst_nd_igtl_hub_new (element, settings, &callbacks, output);
  return output;
}

void
gst_nd_igtl_output_free (GstNdIgtlOutput *output)
{
  gst_nd_igtl_hub_stop (output->hub);
  g_clear_pointer (&output->last, gst_nd_igtl_unit_unref);
  g_mutex_clear (&output->lock);
  g_cond_clear (&output->changed);
  g_free (output->device);
  g_free (output);
}

gboolean
gst_nd_igtl_output_has_peers (GstNdIgtlOutput *output)
{
  return gst_nd_igtl_hub_n_peers (output->hub) > 0;
}

void
gst_nd_igtl_output_send (GstNdIgtlOutput *output, GstNdIgtlUnit *unit,
    gboolean to_peers)
{
  GstNdIgtlUnit *old;

  /* Before it is sent: a client may ask for it as soon as it has come. */
  g_mutex_lock (&output->lock);
  old = output->last;
  output->last = gst_nd_igtl_unit_ref (unit);
  g_mutex_unlock (&output->lock);
  if (to_peers)
    gst_nd_igtl_hub_send (output->hub, unit);
  gst_nd_igtl_unit_unref (unit);
  g_clear_pointer (&old, gst_nd_igtl_unit_unref);
}

void
gst_nd_igtl_output_drain (GstNdIgtlOutput *output)
{
  const gint64 until = g_get_monotonic_time () + DRAIN_MAX;

  gst_nd_igtl_hub_set_ending (output->hub, TRUE);
  g_mutex_lock (&output->lock);
  while (!output->flushing && g_get_monotonic_time () < until
      && !gst_nd_igtl_hub_is_idle (output->hub))
    g_cond_wait_until (&output->changed, &output->lock,
        g_get_monotonic_time () + DRAIN_STEP);
  g_mutex_unlock (&output->lock);
  gst_nd_igtl_hub_set_ending (output->hub, FALSE);
}

void
gst_nd_igtl_output_set_flushing (GstNdIgtlOutput *output, gboolean flushing)
{
  g_mutex_lock (&output->lock);
  output->flushing = flushing;
  g_cond_signal (&output->changed);
  g_mutex_unlock (&output->lock);
}

gboolean
gst_nd_igtl_output_has_failed (GstNdIgtlOutput *output)
{
  gboolean failed;

  g_mutex_lock (&output->lock);
  failed = output->failed;
  g_mutex_unlock (&output->lock);
  return failed;
}

void
gst_nd_igtl_output_get_stats (GstNdIgtlOutput *output, GstStructure *stats)
{
  gst_nd_igtl_hub_get_stats (output->hub, stats);
  g_mutex_lock (&output->lock);
  gst_structure_set (stats, "queries", G_TYPE_UINT64, output->queries,
      "messages-refused", G_TYPE_UINT64, output->refused, NULL);
  g_mutex_unlock (&output->lock);
}
