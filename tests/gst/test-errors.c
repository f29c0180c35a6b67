/* Bad input of the three filters: one error message on the bus, of the right
 * kind, with the name of the problem. When it is corrected, the element works
 * again.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include <glib/gstdio.h>

#define VOLUMES "other/tensors,format=static,num_tensors=1,framerate=10/1,"
#define FLOATS VOLUMES "types=float32,"
#define GOOD FLOATS "dimensions=(string)1:3:2:2"

static GQuark
domain_of (const gchar *kind)
{
  if (g_str_has_prefix (kind, "library"))
    return GST_LIBRARY_ERROR;
  return g_str_has_prefix (kind, "stream") ? GST_STREAM_ERROR
                                           : GST_RESOURCE_ERROR;
}

static gint
code_of (const gchar *kind)
{
  static const struct
  {
    const gchar *kind;
    gint code;
  } codes[] = {
    { "library settings", GST_LIBRARY_ERROR_SETTINGS },
    { "library init", GST_LIBRARY_ERROR_INIT },
    { "stream format", GST_STREAM_ERROR_FORMAT },
    { "stream wrong-type", GST_STREAM_ERROR_WRONG_TYPE },
    { "resource not-found", GST_RESOURCE_ERROR_NOT_FOUND },
    { "resource open-read", GST_RESOURCE_ERROR_OPEN_READ },
    { "resource read", GST_RESOURCE_ERROR_READ },
    { "resource failed", GST_RESOURCE_ERROR_FAILED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    if (strcmp (codes[i].kind, kind) == 0)
      return codes[i].code;
  g_assert_not_reached ();
}

/* Expects exactly one error, with both @words in its text. */
static void
expect_error (Stream *s, const gchar *kind, const gchar *word,
    const gchar *other_word)
{
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  guint n = stream_messages (s, GST_MESSAGE_ERROR, &message);

  fail_unless (n == 1, "%u errors", n);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (error->domain == domain_of (kind)
          && error->code == code_of (kind),
      "%s %d, not %s: %s", g_quark_to_string (error->domain), error->code, kind,
      error->message);
  fail_unless (strstr (error->message, word) != NULL, "no %s in: %s", word,
      error->message);
  fail_unless (other_word == NULL || strstr (error->message, other_word),
      "no %s in: %s", other_word, error->message);
  fail_unless (g_utf8_validate (error->message, -1, NULL));
}

/* The harness starts with a playing element. */
static gboolean
play (Stream *s)
{
  if (gst_element_set_state (s->element, GST_STATE_PLAYING)
      == GST_STATE_CHANGE_FAILURE)
    return FALSE;
  if (!s->h)
    s->h = gst_harness_new_with_element (s->element, "sink", "src");
  return TRUE;
}

static void
send_caps (Stream *s, const gchar *text)
{
  GstCaps *caps = gst_caps_from_string (text);
  GstSegment segment;

  fail_unless (caps != NULL, "%s", text);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (s->h, gst_event_new_stream_start ("test"));
  gst_harness_push_event (s->h, gst_event_new_caps (caps));
  gst_harness_push_event (s->h, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

/* After NULL, and with all properties corrected, the element works. */
static void
mend (Stream *s)
{
  Model model = model_new (NULL, 3, 1, 1, 1);

  gst_element_set_state (s->element, GST_STATE_NULL);
  stream_set_model (s, &model);
  gst_util_set_object_arg (G_OBJECT (s->element), "method", "auto");
  gst_util_set_object_arg (G_OBJECT (s->element), "backend", "auto");
  g_object_set (s->element, "normalize", FALSE, "causal", FALSE, NULL);
  fail_unless (play (s));
  send_caps (s, GOOD);
  stream_push_range (s, 0, 2);
  stream_eos (s);
  stream_expect_all (s, 0, 3);
  fail_unless_equals_int (stream_messages (s,
                              GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, NULL),
      0);
  stream_free (s);
}

/* The element refuses at its start, at its caps or at the first volume. Later
 * buffers fail without further messages. */
static void
refuse (Stream *s, const gchar *caps, const gchar *kind, const gchar *word,
    const gchar *other_word)
{
  if (play (s)) {
    send_caps (s, caps);
    for (gint i = 0; i < 3; i++)
      fail_if (stream_push (s, i) == GST_FLOW_OK, "%s: accepted", word);
    stream_eos (s);
    stream_expect_none (s);
  }
  expect_error (s, kind, word, other_word);
  mend (s);
}

static void
refuse_filter (const gchar *factory, const gchar *filter, const gchar *kind,
    const gchar *word)
{
  refuse (stream_new (factory, NULL, filter ? "filter" : NULL, filter, NULL),
      GOOD, kind, "filter", word);
}

static void
refuse_everywhere (const gchar *filter, const gchar *word)
{
  refuse_filter ("ndconv2d", filter, "library settings", word);
  refuse_filter ("ndconv3d", filter, "library settings", word);
  refuse_filter ("ndconv4dtemporal", filter, "library settings", word);
}

GST_START_TEST (test_filter_missing)
{
  refuse_everywhere (NULL, "missing");
  refuse_everywhere ("", "missing");
}

GST_END_TEST;

GST_START_TEST (test_filter_unparsable)
{
  refuse_everywhere ("gaussian,sigma", "sigma");
  refuse_everywhere ("=,", "cannot be read");
  refuse_everywhere ("\"", "cannot be read");
  refuse_everywhere ("gaussian,sigma=abc", "sigma");
  refuse_everywhere ("gaussian,sigma=1,sigma=2", "once");
  refuse_everywhere ("box,size=3;;box,size=3", "number 2");
}

GST_END_TEST;

GST_START_TEST (test_filter_unknown)
{
  refuse_everywhere ("gausian,sigma=1", "gausian");
  refuse_everywhere ("gaussian,sgima=1", "sgima");
  refuse_everywhere ("box", "size");
  refuse_everywhere ("box,size=3;nonsense", "number 2");
}

GST_END_TEST;

GST_START_TEST (test_filter_nan)
{
  refuse_everywhere ("coefficients,size=2:1,values=<1.0,NaN>", "values");
  refuse_everywhere ("coefficients,size=2:1,values=<1.0,inf>", "values");
  refuse_everywhere ("gaussian,sigma=nan", "sigma");
}

GST_END_TEST;

GST_START_TEST (test_filter_wrong_number_of_values)
{
  refuse_everywhere ("coefficients,size=2:2,values=<1.0,2.0,3.0>", "values");
  refuse_everywhere ("coefficients,size=1:1,values=<1.0,2.0>", "values");
  refuse_everywhere ("coefficients,size=2:2", "values");
  refuse_everywhere ("coefficients,values=<1.0,2.0>", "size");
}

GST_END_TEST;

GST_START_TEST (test_filter_wrong_size)
{
  refuse_everywhere ("box,size=0", "size");
  refuse_everywhere ("box,size=-3", "size");
  refuse_everywhere ("box,size=1.5", "size");
  refuse_everywhere ("box,size=3:3:3:3:3", "size");
  refuse_everywhere ("box,size=99999999:99999999", "size");
  /* Along an axis that the element does not filter. */
  refuse_filter ("ndconv2d", "box,size=3:3:3:1", "library settings", "z");
  refuse_filter ("ndconv3d", "box,size=3:3:3:2", "library settings", "t");
}

GST_END_TEST;

GST_START_TEST (test_zero_sum_with_normalize)
{
  refuse (stream_new ("ndconv3d", NULL, "filter", "laplace", "normalize",
              "true", NULL),
      GOOD, "library settings", "normalize", "zero");
}

GST_END_TEST;

GST_START_TEST (test_wrong_origin)
{
  static const gchar *const origins[] = { "0:0:0:2", "-2", "x", "0:0:0:0:0",
    "0.5", "" };

  for (guint i = 0; i < G_N_ELEMENTS (origins); i++)
    refuse (stream_new ("ndconv4dtemporal", NULL, "filter", "box,size=3",
                "origin", origins[i], NULL),
        GOOD, "library settings", "origin", NULL);
}

GST_END_TEST;

GST_START_TEST (test_wrap_in_time)
{
  refuse (stream_new ("ndconv4dtemporal", NULL, "filter", "box,size=3",
              "time-border", "wrap", NULL),
      GOOD, "library settings", "time-border", "wrap");
  refuse (stream_new ("ndconv3d", NULL, "filter", "box,size=3", "axes", "xyt",
              "time-border", "wrap", NULL),
      GOOD, "library settings", "time-border", "wrap");
}

GST_END_TEST;

GST_START_TEST (test_separable_method_for_another_filter)
{
  refuse (stream_new ("ndconv2d", NULL, "filter", "laplace", "method",
              "separable", NULL),
      GOOD, "library settings", "method", "separable");
}

GST_END_TEST;

GST_START_TEST (test_tensor_method_without_a_gpu)
{
  refuse (stream_new ("ndconv3d", NULL, "filter", "box,size=3", "method",
              "tensor", "backend", "cpu", NULL),
      GOOD, "library settings", "method=tensor needs a GPU", "backend=cuda");
}

GST_END_TEST;

/* If the CUDA module is present and finds a device, this is no error. */
GST_START_TEST (test_cuda_without_its_module)
{
  Stream *s = stream_new ("ndconv2d", NULL, "filter", "box,size=3", "backend",
      "cuda", NULL);

  if (gst_element_set_state (s->element, GST_STATE_PAUSED)
      != GST_STATE_CHANGE_FAILURE) {
    g_print ("# skipped: there is a CUDA device\n");
    stream_free (s);
    return;
  }
  expect_error (s, "library init", "backend", "cuda");
  mend (s);
}

GST_END_TEST;

/* Files */

static gchar *folder;

static void
make_folder (void)
{
  folder = g_dir_make_tmp ("ndconv-errors-XXXXXX", NULL);
  fail_unless (folder != NULL);
}

static void
remove_folder (void)
{
  g_autofree gchar *path = g_build_filename (folder, "file.nii", NULL);

  g_remove (path);
  g_rmdir (folder);
  g_clear_pointer (&folder, g_free);
}

static void
refuse_file (gconstpointer bytes, gssize length, const gchar *extra,
    const gchar *kind, const gchar *word)
{
  g_autofree gchar *path = g_build_filename (folder, "file.nii", NULL);
  g_autofree gchar *filter =
      g_strdup_printf ("file,location=\"%s\"%s", path, extra);

  g_remove (path);
  if (bytes)
    fail_unless (g_file_set_contents (path, bytes, length, NULL));
  refuse (stream_new ("ndconv2d", NULL, "filter", filter, NULL), GOOD, kind,
      path, word);
}

GST_START_TEST (test_file_missing)
{
  g_autofree gchar *filter = g_strdup_printf ("file,location=\"%s\"", folder);

  refuse_file (NULL, 0, "", "resource not-found", "filter");
  refuse (stream_new ("ndconv2d", NULL, "filter", filter, NULL), GOOD,
      "resource open-read", folder, "a folder");
  refuse_filter ("ndconv2d", "file", "library settings", "location");
}

GST_END_TEST;

/* A .npy file of @header and 9 float32 samples, truncated to @length bytes. */
static void
refuse_npy (const gchar *header, gsize length, const gchar *kind,
    const gchar *word)
{
  gchar file[128 + 36] = "\x93NUMPY\x01";
  gsize end = MIN (length, sizeof (file));

  file[8] = 118;
  memset (file + 10, ' ', 118);
  memcpy (file + 10, header, strlen (header));
  file[127] = '\n';
  refuse_file (file, end, "", kind, word);
}

#define SQUARE "'fortran_order': False, 'shape': (3, 3), }"

GST_START_TEST (test_npy)
{
  const gchar *good = "{'descr': '<f4', " SQUARE;

  refuse_npy (good, 163, "resource read", "truncated");
  refuse_npy (good, 128, "resource read", "truncated");
  refuse_npy (good, 40, "resource read", "truncated");
  refuse_npy (good, 7, "resource read", "truncated");
  refuse_npy ("{'descr': '<c32', " SQUARE, 164, "stream format", "<c32");
  refuse_npy ("{'descr': '<f3', " SQUARE, 164, "stream format", "<f3");
  refuse_npy ("{'descr': '|S4', " SQUARE, 164, "stream format", "|S4");
  refuse_npy ("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 3), }", 164,
      "stream format", "Fortran");
  refuse_npy ("{'descr': '<f4', 'fortran_order': False, 'shape': (9, 9), }",
      164, "resource read", "truncated");
  refuse_npy ("{'descr': '<f4', 'fortran_order': False, 'shape': (1,3,3), }",
      164, "stream format", "axes");
  refuse_npy ("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }",
      164, "stream format", "empty");
  refuse_npy ("{'descr': '<f4', 'fortran_order': False, 'shape': "
              "(9999999999, 9999999999), }",
      164, "library settings", "coefficients");
  refuse_npy ("nonsense", 164, "resource read", "damaged");
}

GST_END_TEST;

GST_START_TEST (test_file_of_wrong_magic)
{
  refuse_file ("something else", 14, "", "stream format", "NIfTI");
  refuse_file ("", 0, "", "stream format", NULL);
  refuse_file ("\x93NUMPX\x01\x00 and on", 16, "", "stream format", NULL);
}

GST_END_TEST;

GST_START_TEST (test_raw_file_of_wrong_size)
{
  gfloat samples[9] = {
    0,
  };

  refuse_file (samples, 35, ",size=3:3", "resource read", "36");
  refuse_file (samples, 36, ",size=3:2", "resource read", "24");
  samples[4] = 0.0 / 0.0;
  refuse_file (samples, 36, ",size=3:3", "library settings", "finite");
}

GST_END_TEST;

GST_START_TEST (test_nifti_truncated)
{
  guint8 header[352] = {
    0,
  };
  gint32 size = 348;
  const gint16 dim[8] = { 2, 3, 3, 1, 1, 1, 1, 1 };
  const gint16 type = 16, bits = 32;
  const gfloat offset = 352, scale = 1;

  memcpy (header, &size, 4);
  memcpy (header + 40, dim, 16);
  memcpy (header + 70, &type, 2);
  memcpy (header + 72, &bits, 2);
  memcpy (header + 108, &offset, 4);
  memcpy (header + 112, &scale, 4);
  memcpy (header + 344, "n+1", 4);
  refuse_file (header, 352, "", "resource read", NULL);
  /* Truncated before the magic, the file has no known format. */
  refuse_file (header, 200, "", "stream format", "NIfTI");
}

GST_END_TEST;

/* Caps */

static void
refuse_caps (const gchar *caps, const gchar *kind, const gchar *word)
{
  static const gchar *const factories[] = { "ndconv2d", "ndconv3d",
    "ndconv4dtemporal" };

  for (guint i = 0; i < G_N_ELEMENTS (factories); i++)
    refuse (stream_new (factories[i], NULL, "filter", "box,size=3", NULL), caps,
        kind, word, NULL);
}

GST_START_TEST (test_caps_of_unsupported_type)
{
  refuse_caps (VOLUMES "types=int64,dimensions=(string)1:3:2:2",
      "stream format", "int64");
  refuse_caps (VOLUMES "types=uint64,dimensions=(string)1:3:2:2",
      "stream format", "uint64");
  refuse_caps (VOLUMES "dimensions=(string)1:3:2:2", "stream format", "types");
}

GST_END_TEST;

GST_START_TEST (test_caps_of_unsupported_rank)
{
  refuse_caps (FLOATS "dimensions=(string)1:3:2:2:1:2", "stream format",
      "dimensions");
  refuse_caps (FLOATS "dimensions=(string)0:3:2:2", "stream format",
      "dimensions");
  refuse_caps (FLOATS "dimensions=(string)1:0:2:2", "stream format",
      "dimensions");
  refuse_caps (FLOATS "dimensions=(string)1:3:-2:2", "stream format",
      "dimensions");
  refuse_caps (FLOATS "dimensions=(string)1:three", "stream format",
      "dimensions");
  refuse_caps (FLOATS "dimensions=(string)\"\"", "stream format", "dimensions");
  refuse_caps ("other/tensors,format=static,num_tensors=1,types=float32,"
               "framerate=10/1",
      "stream format", "dimensions");
  refuse_caps (FLOATS "dimensions=(string)1:3:2:2:4", "stream format", "bank");
}

GST_END_TEST;

GST_START_TEST (test_caps_of_several_tensors)
{
  refuse_caps ("other/tensors,format=static,num_tensors=2,types=float32,"
               "dimensions=(string)1:3:2:2,framerate=10/1",
      "stream format", "num_tensors");
  refuse_caps ("other/tensors,format=static,num_tensors=2,"
               "types=\"float32,float32\",dimensions=\"1:3:2:2,1:3:2:2\","
               "framerate=10/1",
      "stream format", "num_tensors");
}

GST_END_TEST;

GST_START_TEST (test_caps_of_flexible_format)
{
  refuse_caps ("other/tensors,format=flexible,framerate=10/1", "stream format",
      "flexible");
}

GST_END_TEST;

GST_START_TEST (test_dimensions_that_overflow)
{
  refuse_caps (FLOATS "dimensions=(string)1:4294967295:4294967295:4294967295",
      "stream format", "dimensions");
  refuse_caps (FLOATS "dimensions=(string)1:4294967296:1:1", "stream format",
      "dimensions");
  refuse_caps (FLOATS "dimensions=(string)2:4294967295:2147483647:1",
      "stream format", "dimensions");
}

GST_END_TEST;

GST_START_TEST (test_dimensions_beyond_memory)
{
  refuse_caps (FLOATS "dimensions=(string)1:1048576:1048576:262144",
      "resource failed", "bytes");
  /* One long axis: no step may take time proportional to its length. */
  refuse_caps (FLOATS "dimensions=(string)1:4294967295:64:64",
      "resource failed", "bytes");
  refuse_caps (FLOATS "dimensions=(string)1:64:64:4294967295",
      "resource failed", "bytes");
}

GST_END_TEST;

/* Planes of several sizes are kept. */
GST_START_TEST (test_planar_video_for_a_bank)
{
  const gchar *caps = "video/x-raw,format=I420,width=16,height=8,"
                      "framerate=10/1";

  refuse (stream_new ("ndconv2d", NULL, "filter", "box,size=3; laplace", NULL),
      caps, "stream format", "bank", "GRAY8");
  refuse (stream_new ("ndconv2d", NULL, "filter", "box,size=3", "output-type",
              "float32", NULL),
      caps, "stream format", "output-type", "GRAY8");
}

GST_END_TEST;

/* The volume fits in memory, 65 responses of float32 do not. */
GST_START_TEST (test_output_beyond_a_pool)
{
  GString *filters = g_string_new ("box,size=1");
  Stream *s;

  for (guint i = 1; i < 65; i++)
    g_string_append (filters, ";box,size=1");
  s = stream_new ("ndconv2d", NULL, "filter", filters->str, "output-type",
      "float32", NULL);
  g_string_free (filters, TRUE);
  refuse (s, VOLUMES "types=uint8,dimensions=(string)1:4096:4096",
      "resource failed", "4 GiB", NULL);
}

GST_END_TEST;

/* Data */

static void
refuse_buffer (const gchar *factory, const gchar *caps, gsize size)
{
  Stream *s = stream_new (factory, NULL, "filter", "box,size=3", NULL);
  g_autofree gchar *bytes = g_strdup_printf ("%" G_GSIZE_FORMAT, size);

  fail_unless (play (s));
  send_caps (s, caps);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (gst_harness_push (s->h,
                                gst_buffer_new_and_alloc (size)),
        GST_FLOW_ERROR);
  stream_eos (s);
  stream_expect_none (s);
  expect_error (s, "stream wrong-type", "buffer", bytes);
  mend (s);
}

GST_START_TEST (test_buffer_of_another_size)
{
  refuse_buffer ("ndconv4dtemporal", GOOD, 47);
  refuse_buffer ("ndconv4dtemporal", GOOD, 49);
  refuse_buffer ("ndconv3d", GOOD, 1);
  refuse_buffer ("ndconv2d", GOOD, 0);
  refuse_buffer ("ndconv2d",
      "video/x-raw,format=GRAY8,width=8,height=8,"
      "framerate=10/1",
      63);
  refuse_buffer ("ndconv2d",
      "video/x-raw,format=I420,width=16,height=16,"
      "framerate=10/1",
      300);
}

GST_END_TEST;

GST_START_TEST (test_segment_not_in_time)
{
  Stream *s = stream_new ("ndconv3d", NULL, "filter", "box,size=3", NULL);
  GstSegment segment;

  fail_unless (play (s));
  send_caps (s, GOOD);
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (s->h, gst_event_new_segment (&segment));
  for (gint i = 0; i < 3; i++)
    fail_if (stream_push (s, i) == GST_FLOW_OK);
  stream_eos (s);
  expect_error (s, "stream format", "segment", "time");
  mend (s);
}

GST_END_TEST;

static Suite *
errors_suite (void)
{
  Suite *suite = suite_create ("errors");
  TCase *tc = tcase_create ("settings");
  TCase *files = tcase_create ("files");
  TCase *data = tcase_create ("caps and data");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_filter_missing);
  tcase_add_test (tc, test_filter_unparsable);
  tcase_add_test (tc, test_filter_unknown);
  tcase_add_test (tc, test_filter_nan);
  tcase_add_test (tc, test_filter_wrong_number_of_values);
  tcase_add_test (tc, test_filter_wrong_size);
  tcase_add_test (tc, test_zero_sum_with_normalize);
  tcase_add_test (tc, test_wrong_origin);
  tcase_add_test (tc, test_wrap_in_time);
  tcase_add_test (tc, test_separable_method_for_another_filter);
  tcase_add_test (tc, test_tensor_method_without_a_gpu);
  tcase_add_test (tc, test_cuda_without_its_module);
  suite_add_tcase (suite, files);
  tcase_add_checked_fixture (files, make_folder, remove_folder);
  tcase_add_test (files, test_file_missing);
  tcase_add_test (files, test_npy);
  tcase_add_test (files, test_file_of_wrong_magic);
  tcase_add_test (files, test_raw_file_of_wrong_size);
  tcase_add_test (files, test_nifti_truncated);
  suite_add_tcase (suite, data);
  tcase_add_test (data, test_caps_of_unsupported_type);
  tcase_add_test (data, test_caps_of_unsupported_rank);
  tcase_add_test (data, test_caps_of_several_tensors);
  tcase_add_test (data, test_caps_of_flexible_format);
  tcase_add_test (data, test_dimensions_that_overflow);
  tcase_add_test (data, test_dimensions_beyond_memory);
  tcase_add_test (data, test_planar_video_for_a_bank);
  tcase_add_test (data, test_output_beyond_a_pool);
  tcase_add_test (data, test_buffer_of_another_size);
  tcase_add_test (data, test_segment_not_in_time);
  return suite;
}

GST_CHECK_MAIN (errors);
