/* Volumes whose rows and slices are padded, and memory of the program: read
 * only, at odd addresses. The outputs must be those of the same volumes without
 * padding.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#define VOLUMES 4
#define CAPS                                                           \
  "other/tensors,format=static,num_tensors=1,framerate=10/1,types=%s," \
  "dimensions=(string)%u:%u:%u:%u"

static const gchar *const filters[] = {
  "ndconv2d filter=\"gaussian,sigma=0.8\"",
  "ndconv3d filter=\"gaussian,sigma=0.6\" method=direct",
  "ndconv3d filter=\"box,size=1\"",
  "ndconv3d axes=xyt filter=\"gaussian,sigma=0.6\"",
  "ndconv4dtemporal filter=\"gaussian,sigma=0.6\" method=separable",
  "ndconv4dtemporal filter=\"sobel,direction=t\" method=fft",
  "ndconv4dtemporal filter=\"laplace\" method=reference",
  "nddeconvolve psf=box,size=3",
  "nddenoise sigma=5",
  "ndregister reference=previous",
  "ndstructure output=tensor sigma=0.5",
};

/* A volume and how it lies in memory. */
typedef struct
{
  const gchar *type;
  gsize bytes; /* of a sample */
  gsize c, x, y, z;
  gsize row, slice;
  gsize size; /* of a buffer */
  gsize odd;  /* bytes before the first sample */
} Layout;

static gsize
dense_row (const Layout *l)
{
  return l->c * l->x * l->bytes;
}

static Layout
random_layout (GRand *r, gboolean tensors)
{
  static const gchar *const types[] = { "uint8", "int16", "uint16", "float32" };
  Layout l = { .type = types[tensors ? 3 : g_rand_int_range (r, 0, 4)] };

  l.bytes = type_size (l.type);
  l.c = tensors ? 6 : g_rand_int_range (r, 1, 4);
  l.x = g_rand_int_range (r, 1, 12);
  l.y = g_rand_int_range (r, 1, 6);
  l.z = g_rand_int_range (r, 1, 5);
  l.row = dense_row (&l) + l.bytes * g_rand_int_range (r, 0, 9);
  l.slice = l.row * l.y + l.bytes * g_rand_int_range (r, 0, 30);
  l.odd = g_rand_int_range (r, 0, 8);
  /* The last row and slice may end anywhere. */
  l.size = l.slice * l.z
      - g_rand_int_range (r, 0,
          l.slice - (l.y - 1) * l.row - dense_row (&l) + 1);
  return l;
}

/* Buffers of volumes with random bytes in the layout and dense; padding is
 * 0xee, which no output may contain traces of. */
static void
make_volume (GRand *r, const Layout *l, gint n, GstBuffer **padded,
    GstBuffer **dense)
{
  const gsize row = dense_row (l);
  guint8 *all = g_malloc (l->odd + l->size);
  guint8 *samples = g_malloc (row * l->y * l->z);

  memset (all, 0xee, l->odd + l->size);
  for (gsize i = 0; i < l->c * l->x * l->y * l->z; i++)
    type_set (l->type, samples, i, g_rand_int_range (r, 0, 200));
  for (gsize z = 0; z < l->z; z++)
    for (gsize y = 0; y < l->y; y++)
      memcpy (all + l->odd + z * l->slice + y * l->row,
          samples + (z * l->y + y) * row, row);
  *padded = gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, all,
      l->odd + l->size, l->odd, l->size, all, g_free);
  *dense = gst_buffer_new_wrapped (samples, row * l->y * l->z);
  GST_BUFFER_PTS (*padded) = GST_BUFFER_PTS (*dense) = n * GST_SECOND / 10;
}

static GstHarness *
start (const gchar *filter, const gchar *strides, const Layout *l)
{
  g_autofree gchar *text = g_strdup_printf ("%s strides=%s", filter, strides);
  g_autofree gchar *caps = g_strdup_printf (CAPS, l->type, (guint) l->c,
      (guint) l->x, (guint) l->y, (guint) l->z);
  GstHarness *h = gst_harness_new_parse (text);

  gst_harness_set_src_caps_str (h, caps);
  return h;
}

static void
expect_equal (GstHarness *a, GstHarness *b)
{
  g_autoptr (GstBuffer) x = gst_harness_try_pull (a);
  g_autoptr (GstBuffer) y = gst_harness_try_pull (b);
  GstMapInfo map;

  fail_unless (x != NULL && y != NULL);
  gst_buffer_map (x, &map, GST_MAP_READ);
  fail_unless_equals_uint64 (map.size, gst_buffer_get_size (y));
  fail_unless (gst_buffer_memcmp (y, 0, map.data, map.size) == 0);
  gst_buffer_unmap (x, &map);
}

static void
check_layout (GRand *r, const gchar *filter, const Layout *l)
{
  g_autofree gchar *strides =
      g_strdup_printf ("%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT, l->row,
          l->slice);
  GstHarness *a = start (filter, strides, l), *b = start (filter, "\"\"", l);

  for (gint n = 0; n < VOLUMES; n++) {
    GstBuffer *padded, *dense;

    make_volume (r, l, n, &padded, &dense);
    /* Volumes without padding may come among the others. */
    if (n == 2) {
      gst_buffer_unref (padded);
      padded = gst_buffer_copy (dense);
    }
    fail_unless_equals_int (gst_harness_push (a, padded), GST_FLOW_OK);
    fail_unless_equals_int (gst_harness_push (b, dense), GST_FLOW_OK);
  }
  gst_harness_push_event (a, gst_event_new_eos ());
  gst_harness_push_event (b, gst_event_new_eos ());
  for (gint n = 0; n < VOLUMES; n++)
    expect_equal (a, b);
  gst_harness_teardown (a);
  gst_harness_teardown (b);
}

static GstBuffer *
zeros (gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, 0, size);
  return buffer;
}

GST_START_TEST (test_layouts)
{
  g_autoptr (GRand) r = test_rand ();

  for (guint i = 0; i < test_count (60); i++) {
    const Layout l =
        random_layout (r, g_str_has_prefix (filters[__i__], "ndstructure"));

    GST_INFO ("%s of %s %zu:%zu:%zu:%zu, %zu:%zu, %zu bytes", filters[__i__],
        l.type, l.c, l.x, l.y, l.z, l.row, l.slice, l.size);
    check_layout (r, filters[__i__], &l);
  }
}

GST_END_TEST;

/* The message of @type must be there, with @word. */
static void
expect_message (GstBus *bus, GstMessageType type, const gchar *word)
{
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, type);
  g_autoptr (GError) error = NULL;

  fail_unless (message != NULL, "no message with %s", word);
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, word) != NULL, "no %s in: %s", word,
      error->message);
}

/* 6 x 5 x 4 uint16 samples. */
static const Layout small = { "uint16", 2, 1, 6, 5, 4, 12, 60, 240, 0 };

static const struct
{
  const gchar *strides;
  gsize size; /* of the buffer */
  const gchar *word;
} wrong[] = {
  { "many", 240, "whole numbers" },
  { "12:60:3", 240, "whole numbers" },
  { "-12", 240, "whole numbers" },
  { "10", 240, "12 bytes" },
  { "13", 260, "multiple of the 2 bytes" },
  { "16:70", 320, "have 80 bytes" },
  { "16:83", 332, "multiple of the 2 bytes" },
  { "18446744073709551614", 240, "whole numbers" },
  { "16", 240 + 2, "242 bytes" },
  { "16", 320 + 2, "322 bytes" },
  { "16", 320 - 4 - 2, "314 bytes" },
  { "", 320, "strides=16" },
  { "", 240 - 2, "one whole volume" },
};

static void
check_wrong (const gchar *factory, guint i)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  GstHarness *h;
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autofree gchar *caps = g_strdup_printf (CAPS, small.type, 1, 6, 5, 4);

  if (g_str_has_prefix (factory, "ndconv"))
    g_object_set (element, "filter", "box,size=3", NULL);
  g_object_set (element, "strides", wrong[i].strides, NULL);
  gst_element_set_bus (element, bus);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (h, caps);
  fail_if (gst_harness_push (h, zeros (wrong[i].size)) == GST_FLOW_OK);
  expect_message (bus, GST_MESSAGE_ERROR, wrong[i].word);
  fail_if (gst_bus_have_pending (bus)
      && gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR));
  gst_element_set_bus (element, NULL);
  gst_harness_teardown (h);
  gst_object_unref (element);
}

GST_START_TEST (test_wrong)
{
  check_wrong ("ndconv3d", __i__);
  check_wrong ("nddenoise", __i__);
}

GST_END_TEST;

/* While playing, new strides hold from the next volume on; wrong ones are
 * refused and the old ones stay. */
GST_START_TEST (test_change)
{
  GstElement *element = gst_element_factory_make ("ndconv3d", NULL);
  GstHarness *h;
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autofree gchar *caps = g_strdup_printf (CAPS, small.type, 1, 6, 5, 4);
  g_autofree gchar *strides = NULL;

  g_object_set (element, "filter", "box,size=3", "strides", "16", NULL);
  gst_element_set_bus (element, bus);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (h, caps);
  fail_unless_equals_int (gst_harness_push (h, zeros (320)), GST_FLOW_OK);
  g_object_set (element, "strides", "24:150", NULL);
  fail_unless_equals_int (gst_harness_push (h, zeros (600)), GST_FLOW_OK);
  g_object_set (element, "strides", "3", NULL);
  fail_unless_equals_int (gst_harness_push (h, zeros (600)), GST_FLOW_OK);
  expect_message (bus, GST_MESSAGE_WARNING, "12 bytes");
  g_object_get (element, "strides", &strides, NULL);
  fail_unless_equals_string (strides, "24:150");
  gst_element_set_bus (element, NULL);
  gst_harness_teardown (h);
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
strides_suite (void)
{
  Suite *s = suite_create ("strides");
  TCase *tc = tcase_create ("strides");

  tcase_add_loop_test (tc, test_layouts, 0, G_N_ELEMENTS (filters));
  tcase_add_loop_test (tc, test_wrong, 0, G_N_ELEMENTS (wrong));
  tcase_add_test (tc, test_change);
  suite_add_tcase (s, tc);
  return s;
}

GST_CHECK_MAIN (strides);
