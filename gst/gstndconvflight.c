/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstndconvflight.h"

/* One is uploaded, one filtered, one downloaded, and one is being pushed. */
#define IN_FLIGHT 4

static void
count (GstNdConvRange * range, gdouble value)
{
  range->min = range->n == 0 ? value : MIN (range->min, value);
  range->max = MAX (range->max, value);
  range->sum += value;
  range->n++;
}

static void
count_output (GstNdConv * self, const GstNdLoad * load, const NdTimes * times)
{
  GstNdConvStats *stats = &gst_nd_conv_private (self)->stats;
  const gdouble all = times->upload + times->compute + times->download;
  const gdouble since = (g_get_monotonic_time () - load->arrived) * 1e-6;

  GST_OBJECT_LOCK (self);
  count (&stats->all, all);
  count (&stats->upload, times->upload);
  count (&stats->compute, times->compute);
  count (&stats->download, times->download);
  count (&stats->wait, MAX (since - all, 0));
  stats->out++;
  GST_OBJECT_UNLOCK (self);
}

static void
release_map (GstNdMap * map)
{
  GstBuffer *buffer = map->buffer;

  gst_nd_unmap (map);
  gst_buffer_unref (buffer);
  g_free (map);
}

/* Frees @load when its work is done; pushes what it holds if @wanted. */
static GstFlowReturn
land (GstNdConv * self, GstNdLoad * load, gboolean wanted)
{
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  NdTimes times = {.compute = load->host_seconds };
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  if (load->fence && !nd_fence_wait (load->fence, &times, &error))
    ret = gst_nd_conv_fail (self, error);
  g_clear_pointer (&load->fence, nd_fence_unref);
  g_queue_clear_full (&load->inputs, (GDestroyNotify) release_map);
  if (load->is_mapped)
    gst_nd_unmap (&load->map);
  if (ret == GST_FLOW_OK && load->is_output)
    count_output (self, load, &times);
  wanted &= ret == GST_FLOW_OK;
  while (!g_queue_is_empty (&load->events)) {
    GstEvent *event = g_queue_pop_head (&load->events);

    if (wanted)
      gst_pad_push_event (pad, event);
    else
      gst_event_unref (event);
  }
  if (load->buffer && wanted)
    ret = gst_pad_push (pad, load->buffer);
  else if (load->buffer)
    gst_buffer_unref (load->buffer);
  g_free (load);
  return ret;
}

static gpointer
run (gpointer data)
{
  GstNdConv *self = data;
  GstNdConvFlight *flight = &gst_nd_conv_private (self)->flight;

  g_mutex_lock (&flight->lock);
  for (;;) {
    GstNdLoad *load;
    GstFlowReturn ret;
    gboolean wanted;

    while (!(load = g_queue_peek_head (&flight->loads)) && !flight->stopping)
      g_cond_wait (&flight->changed, &flight->lock);
    if (!load)
      break;
    wanted = flight->ret == GST_FLOW_OK && !flight->dropping;
    g_mutex_unlock (&flight->lock);
    ret = land (self, load, wanted);
    g_mutex_lock (&flight->lock);
    /* Only now: what is being pushed is still in flight. */
    g_queue_pop_head (&flight->loads);
    if (flight->ret == GST_FLOW_OK)
      flight->ret = ret;
    g_cond_broadcast (&flight->changed);
  }
  g_mutex_unlock (&flight->lock);
  return NULL;
}

GstFlowReturn
gst_nd_conv_flight_add (GstNdConv * self, GstNdLoad * load)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstNdConvFlight *flight = &priv->flight;
  GstFlowReturn ret;

  /* After what a device still has, where the CPU goes on for it. */
  if (!load->fence) {
    GstFlowReturn landed;

    ret = gst_nd_conv_flight_land (self);
    landed = land (self, load, ret == GST_FLOW_OK);
    return ret == GST_FLOW_OK ? landed : ret;
  }
  if (priv->live && g_queue_is_empty (&flight->loads))
    return land (self, load, TRUE);
  if (!flight->thread)
    flight->thread = g_thread_new ("ndconv-flight", run, self);
  g_mutex_lock (&flight->lock);
  g_queue_push_tail (&flight->loads, load);
  g_cond_broadcast (&flight->changed);
  while (g_queue_get_length (&flight->loads) >= IN_FLIGHT)
    g_cond_wait (&flight->changed, &flight->lock);
  ret = flight->ret;
  g_mutex_unlock (&flight->lock);
  return ret;
}

GstFlowReturn
gst_nd_conv_flight_land (GstNdConv * self)
{
  GstNdConvFlight *flight = &gst_nd_conv_private (self)->flight;
  GstFlowReturn ret;

  g_mutex_lock (&flight->lock);
  while (!g_queue_is_empty (&flight->loads))
    g_cond_wait (&flight->changed, &flight->lock);
  ret = flight->ret;
  g_mutex_unlock (&flight->lock);
  return ret;
}

void
gst_nd_conv_flight_drop (GstNdConv * self)
{
  GstNdConvFlight *flight = &gst_nd_conv_private (self)->flight;

  g_mutex_lock (&flight->lock);
  flight->dropping = TRUE;
  while (!g_queue_is_empty (&flight->loads))
    g_cond_wait (&flight->changed, &flight->lock);
  flight->dropping = FALSE;
  flight->ret = GST_FLOW_OK;
  g_mutex_unlock (&flight->lock);
}

void
gst_nd_conv_flight_init (GstNdConv * self)
{
  GstNdConvFlight *flight = &gst_nd_conv_private (self)->flight;

  g_mutex_init (&flight->lock);
  g_cond_init (&flight->changed);
  g_queue_init (&flight->loads);
}

void
gst_nd_conv_flight_clear (GstNdConv * self)
{
  GstNdConvFlight *flight = &gst_nd_conv_private (self)->flight;

  if (!flight->thread)
    return;
  g_mutex_lock (&flight->lock);
  flight->stopping = TRUE;
  g_cond_broadcast (&flight->changed);
  g_mutex_unlock (&flight->lock);
  g_thread_join (flight->thread);
  flight->thread = NULL;
  flight->stopping = FALSE;
}
