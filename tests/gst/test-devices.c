/* The property `devices`, on a test double of several devices: outputs are
 * those of a model, in order, whatever happens to the stream.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include <gmodule.h>

static void (*set_devices) (gint n);
static void (*fail_device) (gint device, gint after);
static gint (*count_works) (gint device);
static gint (*count_blocks) (void);

static void
open_double (void)
{
  GModule *module = g_module_open (g_getenv ("NDCONV_CUDA_MODULE"), 0);
  const struct
  {
    const gchar *name;
    gpointer function;
  } symbols[] = {
    { "device_double_set_devices", &set_devices },
    { "device_double_fail", &fail_device },
    { "device_double_works", &count_works },
    { "device_double_blocks", &count_blocks },
  };

  g_assert_nonnull (module);
  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++)
    g_assert_true (g_module_symbol (module, symbols[i].name,
        (gpointer *) symbols[i].function));
}

/* A filter, and the way in which its work is divided. */
static const struct
{
  const gchar *factory;
  guint x, y, z, t;
  gboolean live;
  const gchar *way;
} cases[] = {
  { "ndconv2d", 3, 3, 1, 1, FALSE, "volumes go round devices" },
  { "ndconv2d", 3, 3, 1, 1, TRUE, "slabs of" },
  { "ndconv3d", 3, 1, 3, 1, FALSE, "volumes go round devices" },
  { "ndconv3d", 1, 3, 5, 1, TRUE, "slabs of" },
  { "ndconv4dtemporal", 3, 2, 3, 3, FALSE, "slabs of" },
  { "ndconv4dtemporal", 1, 3, 7, 4, TRUE, "slabs of" },
};

#define N_CASES ((gint) G_N_ELEMENTS (cases))

static const gchar *const lists[] = { "0", "1,0", "2,4,3", "all" };
static const guint counts[] = { 1, 2, 3, 5 };

static const gchar *const borders[] = { "constant", "nearest", "reflect",
  "mirror", "wrap" };

static void
expect_in_reason (const Stream *s, const gchar *text)
{
  GstStructure *stats;
  const gchar *reason;

  g_object_get (s->element, "stats", &stats, NULL);
  reason = gst_structure_get_string (stats, "reason");
  fail_unless (reason && strstr (reason, text), "no '%s' in: %s", text, reason);
  gst_structure_free (stats);
}

static Model
make_model (guint i, const gchar *border)
{
  Model model =
      model_new (NULL, cases[i].x, cases[i].y, cases[i].z, cases[i].t);

  model.border = border;
  model.border_value = 7;
  return model;
}

static Stream *
start (guint i, const Model *model, const gchar *devices)
{
  Stream *s = stream_new (cases[i].factory, model, "backend", "cuda", "devices",
      devices, NULL);

  s->not_live = !cases[i].live;
  stream_set_size (s, 5, 7, g_str_equal (cases[i].factory, "ndconv2d") ? 1 : 6);
  stream_start (s);
  return s;
}

/* A buffer may be freed by a thread that ends after the stream. */
static void
expect_no_blocks (void)
{
  for (guint i = 0; i < 2000 && count_blocks () > 0; i++)
    g_usleep (10 * 1000);
  fail_unless_equals_int (count_blocks (), 0);
}

static gint
count_working (void)
{
  gint n = 0;

  for (gint i = 0; i < 5; i++)
    n += count_works (i) > 0;
  return n;
}

/* N volumes in, N outputs in order; each device has done a part. */
GST_START_TEST (test_streams)
{
  for (guint d = 0; d < G_N_ELEMENTS (lists); d++)
    for (guint b = 0; b < G_N_ELEMENTS (borders); b++) {
      const Model model = make_model (__i__, borders[b]);
      Stream *s;

      set_devices (5);
      fail_device (-1, 0);
      s = start (__i__, &model, lists[d]);
      stream_push_range (s, 0, 11);
      if (counts[d] > 1)
        expect_in_reason (s, cases[__i__].way);
      stream_eos (s);
      stream_expect_all (s, 0, 12);
      fail_unless_equals_int (stream_stat (s, "volumes-in"), 12);
      fail_unless_equals_int (stream_stat (s, "volumes-out"), 12);
      fail_unless_equals_int (count_working (), counts[d]);
      stream_free (s);
      expect_no_blocks ();
    }
}

GST_END_TEST;

/* Flushes, other filters, gaps and several stretches. */
GST_START_TEST (test_changes)
{
  for (guint d = 0; d < G_N_ELEMENTS (lists); d++) {
    Model model = make_model (__i__, "mirror");
    Stream *s;

    set_devices (5);
    s = start (__i__, &model, lists[d]);
    stream_push_range (s, 0, 4);
    stream_flush (s);
    while (gst_harness_buffers_in_queue (s->h) > 0)
      gst_buffer_unref (gst_harness_pull (s->h));
    stream_push_range (s, 5, 9);
    /* The window stays. */
    model.values[0] = 9;
    model.gain = 2;
    model.offset = 3;
    gst_harness_push_event (s->h, gst_event_new_gap (10 * s->duration, 0));
    stream_set_model (s, &model);
    stream_push_range (s, 10, 13);
    stream_eos (s);
    fail_unless_equals_int (gst_harness_buffers_in_queue (s->h), 9);
    for (guint i = 5; i < 14; i++) {
      GstBuffer *output = stream_pull (s);

      /* Outputs before the change have the old filter. */
      if (i >= 10)
        stream_check (s, output, 5, 9, i - 5);
      else
        gst_buffer_unref (output);
    }
    fail_unless_equals_int (stream_messages (s, GST_MESSAGE_WARNING, NULL), 0);
    stream_free (s);
    expect_no_blocks ();
  }
}

GST_END_TEST;

/* A limit for each device, so that its part goes through in slabs. */
GST_START_TEST (test_memory_limit)
{
  for (guint d = 0; d < G_N_ELEMENTS (lists); d++) {
    const Model model = make_model (__i__, "reflect");
    Stream *s;
    gint64 bytes;

    set_devices (5);
    s = start (__i__, &model, "0");
    stream_push_range (s, 0, 0);
    bytes = stream_stat (s, "bytes");
    stream_free (s);
    s = stream_new (cases[__i__].factory, &model, "backend", "cuda", "devices",
        lists[d], NULL);
    g_object_set (s->element, "memory-limit", bytes - 1, NULL);
    s->not_live = !cases[__i__].live;
    stream_set_size (s, 5, 7,
        g_str_equal (cases[__i__].factory, "ndconv2d") ? 1 : 6);
    stream_start (s);
    if (cases[__i__].z < 6) {
      stream_push_range (s, 0, 7);
      stream_eos (s);
      stream_expect_all (s, 0, 8);
      fail_unless (stream_stat (s, "bytes") <= counts[d] * (guint64) bytes);
    }
    stream_free (s);
    expect_no_blocks ();
  }
}

GST_END_TEST;

/* gap=hold pushes the last volume again, on each device. */
GST_START_TEST (test_hold)
{
  const Model model = make_model (__i__, "nearest");
  guint8 *bytes[2] = { NULL };

  set_devices (5);
  for (guint k = 0; k < 2; k++) {
    Stream *s = stream_new (cases[__i__].factory, &model, "backend",
        k == 0 ? "cpu" : "cuda", "devices", "0,1,2", "gap", "hold", NULL);
    guint n = 0;

    s->not_live = !cases[__i__].live;
    stream_set_size (s, 5, 7,
        g_str_equal (cases[__i__].factory, "ndconv2d") ? 1 : 6);
    stream_start (s);
    bytes[k] = g_malloc (8 * s->samples * sizeof (gfloat));
    stream_push_range (s, 0, 3);
    stream_push_range (s, 6, 9); /* 4 and 5 are missing */
    stream_eos (s);
    while (gst_harness_buffers_in_queue (s->h) > 0) {
      GstBuffer *output = stream_pull (s);

      fail_unless (n < 8);
      gst_buffer_extract (output, 0,
          bytes[k] + n++ * s->samples * sizeof (gfloat),
          s->samples * sizeof (gfloat));
      gst_buffer_unref (output);
    }
    fail_unless_equals_int (n, 8);
    if (k == 1)
      fail_unless (memcmp (bytes[0], bytes[1], 8 * s->samples * sizeof (gfloat))
          == 0);
    stream_free (s);
  }
  g_free (bytes[0]);
  g_free (bytes[1]);
}

GST_END_TEST;

/* Pushes volumes until one fails. */
static gboolean
push_some (Stream *s, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (stream_push (s, i) != GST_FLOW_OK)
      return FALSE;
  }
  return gst_harness_push_event (s->h, gst_event_new_eos ())
      && gst_harness_buffers_in_queue (s->h) == n;
}

/* A device that fails after each number of works: one error, which names it.
 * After NULL the element works again. */
GST_START_TEST (test_failures)
{
  const Model model = make_model (__i__, "nearest");

  set_devices (3);
  for (gint device = 0; device < 3; device++) {
    gboolean done = FALSE;

    for (gint after = 0; !done; after++) {
      g_autofree gchar *name = g_strdup_printf ("Device %d: ", device);
      g_autoptr (GstMessage) message = NULL;
      g_autoptr (GError) error = NULL;
      Stream *s;

      fail_device (device, after);
      s = start (__i__, &model, "all");
      done = push_some (s, 6);
      fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, &message),
          done ? 0 : 1);
      if (message) {
        gst_message_parse_error (message, &error, NULL);
        fail_unless (g_str_has_prefix (error->message, name), "%s",
            error->message);
        fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
            GST_RESOURCE_ERROR_FAILED));
      } else {
        fail_unless (after >= 4);
      }
      stream_free (s);
      expect_no_blocks ();
    }
  }
  fail_device (-1, 0);
  {
    Stream *s = start (__i__, &model, "all");

    stream_push_range (s, 0, 5);
    stream_eos (s);
    stream_expect_all (s, 0, 6);
    stream_free (s);
  }
}

GST_END_TEST;

static void
expect_refused (const gchar *devices, const gchar *device_id,
    const gchar *backend, const gchar *text)
{
  const Model model = make_model (0, "nearest");
  Stream *s = stream_new ("ndconv2d", &model, "backend", backend, "devices",
      devices, "device-id", device_id, NULL);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;

  fail_unless_equals_int (gst_element_set_state (s->element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, &message), 1);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, text) != NULL, "no '%s' in: %s", text,
      error->message);
  stream_free (s);
}

/* Wrong lists are errors before the stream starts. */
GST_START_TEST (test_refused)
{
  set_devices (3);
  expect_refused ("0,,1", "-1", "cuda", "has an empty part");
  expect_refused ("0,0", "-1", "auto", "names device 0 twice");
  expect_refused ("both", "-1", "cpu", "is not the number of a device");
  expect_refused ("0,3", "-1", "cuda",
      "device 3 cannot be used: There is no GPU with device-id=3: this machine "
      "has 3");
  expect_refused ("7,0", "-1", "auto", "device 7 cannot be used");
  expect_refused ("7,0", "-1", "cuda", "device 7 cannot be used");
  expect_refused ("0,1", "2", "auto", "is not one of the devices \"0,1\"");
}

GST_END_TEST;

/* The CPU has no devices: they have no effect, and the reason says so. */
GST_START_TEST (test_cpu)
{
  const Model model = make_model (0, "nearest");
  Stream *s =
      stream_new ("ndconv2d", &model, "backend", "cpu", "devices", "0,1", NULL);

  stream_set_size (s, 5, 7, 1);
  stream_start (s);
  stream_push_range (s, 0, 3);
  expect_in_reason (s, "devices has no effect, because this back end has none");
  stream_eos (s);
  stream_expect_all (s, 0, 4);
  stream_free (s);
}

GST_END_TEST;

/* A list that is set while the element runs takes effect at its next start. */
GST_START_TEST (test_late)
{
  const Model model = make_model (2, "nearest");
  Stream *s = start (2, &model, "0");

  stream_push_range (s, 0, 1);
  g_object_set (s->element, "devices", "0,1", NULL);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_WARNING, NULL), 1);
  stream_push_range (s, 2, 3);
  stream_eos (s);
  stream_expect_all (s, 0, 4);
  stream_free (s);
}

GST_END_TEST;

static Suite *
devices_suite (void)
{
  Suite *suite = suite_create ("devices");
  TCase *tc = tcase_create ("devices");

  open_double ();
  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_streams, 0, N_CASES);
  tcase_add_loop_test (tc, test_changes, 0, N_CASES);
  tcase_add_loop_test (tc, test_memory_limit, 0, N_CASES);
  tcase_add_loop_test (tc, test_hold, 0, N_CASES);
  tcase_add_loop_test (tc, test_failures, 0, N_CASES);
  tcase_add_test (tc, test_refused);
  tcase_add_test (tc, test_cpu);
  tcase_add_test (tc, test_late);
  return suite;
}

GST_CHECK_MAIN (devices);
