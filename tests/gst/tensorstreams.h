/* Streams of volumes with any number of components through elements, for tests
 * of streams of tensors and of short streams.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tests/gst/random.h"

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#define X 9
#define Y 8
#define Z 7
#define SAMPLES (X * Y * Z)
#define VOLUMES 6
#define DURATION (100 * GST_MSECOND)

/* All buffers of a harness that has got EOS. */
static inline GByteArray *
pull_all (GstHarness *h)
{
  GByteArray *all = g_byte_array_new ();
  GstBuffer *buffer;
  GstMapInfo map;

  while ((buffer = gst_harness_try_pull (h))) {
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    g_byte_array_append (all, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  return all;
}

/* The outputs for @volumes volumes of @samples samples, with the dimensions
 * @size after the components. *@warning: the text of the first warning. */
static inline GByteArray *
run_stream (const gchar *launch, const gfloat *in, guint components,
    const gchar *size, gsize samples, guint volumes, gchar **warning)
{
  GstHarness *h = gst_harness_new_parse (launch);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autofree gchar *caps = g_strdup_printf (
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=%u:%s,framerate=10/1",
      components, size);
  const gsize bytes = components * samples * sizeof (gfloat);
  GstMessage *message;
  GByteArray *all;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, caps);
  for (guint t = 0; t < volumes; t++) {
    GstBuffer *buffer =
        gst_buffer_new_memdup (in + t * components * samples, bytes);

    GST_BUFFER_PTS (buffer) = t * DURATION;
    GST_BUFFER_DURATION (buffer) = DURATION;
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_received (h), volumes);
  all = pull_all (h);
  while ((message = gst_bus_pop_filtered (bus,
              GST_MESSAGE_WARNING | GST_MESSAGE_ERROR))) {
    g_autoptr (GError) error = NULL;

    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING);
    gst_message_parse_warning (message, &error, NULL);
    fail_unless (warning != NULL, "%s", error->message);
    g_free (*warning);
    *warning = g_strdup (error->message);
    gst_message_unref (message);
  }
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
  return all;
}

static inline GByteArray *
run_tensors (const gchar *launch, const gfloat *in, guint components,
    gchar **warning)
{
  return run_stream (launch, in, components, "9:8:7", SAMPLES, VOLUMES,
      warning);
}

/* Random numbers with another scale and mean in each component. */
static inline gfloat *
random_tensors (GRand *rand, guint components)
{
  const gsize n = (gsize) VOLUMES * SAMPLES * components;
  gfloat *in = g_new (gfloat, n);

  for (gsize i = 0; i < n; i++)
    in[i] = (1 + i % components) * (g_rand_double (rand) + i % components);
  return in;
}
