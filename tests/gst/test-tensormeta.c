/* GstTensorMeta on volumes, with GStreamer 1.26.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"
#include <gst/analytics/gsttensormeta.h>

static void
expect_tensor (GstBuffer *buffer)
{
  GstTensorMeta *meta = gst_buffer_get_tensor_meta (buffer);
  GstTensor *tensor;

  fail_unless (meta != NULL);
  fail_unless_equals_int (meta->num_tensors, 1);
  tensor = meta->tensors[0];
  fail_unless_equals_string (g_quark_to_string (tensor->id), "ndconv-volume");
  fail_unless_equals_int (tensor->data_type, GST_TENSOR_DATA_TYPE_FLOAT32);
  fail_unless_equals_int (tensor->dims_order, GST_TENSOR_DIM_ORDER_ROW_MAJOR);
  fail_unless_equals_int (tensor->num_dims, 4);
  fail_unless (gst_buffer_peek_memory (tensor->data, 0)
      == gst_buffer_peek_memory (buffer, 0));
}

/* Each output has the tensor of its own samples, also after a filter whose
 * input had one. */
GST_START_TEST (test_volumes)
{
  GstHarness *h = gst_harness_new_parse (
      "ndconv4dtemporal filter=box,size=1:1:1:3 ! ndconv4dtemporal "
      "filter=box,size=3:1:1:1");

  gst_harness_set_src_caps_str (h,
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=1:5:4:3,framerate=10/1");
  for (guint i = 0; i < 20; i++) {
    GstBuffer *volume = gst_buffer_new_allocate (NULL, 5 * 4 * 3 * 4, NULL);

    gst_buffer_memset (volume, 0, 0, -1);
    GST_BUFFER_PTS (volume) = i * GST_SECOND / 10;
    fail_unless_equals_int (gst_harness_push (h, volume), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint i = 0; i < 20; i++) {
    g_autoptr (GstBuffer) output = gst_harness_pull (h);

    expect_tensor (output);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
tensor_meta_suite (void)
{
  Suite *suite = suite_create ("tensor-meta");
  TCase *tc = tcase_create ("tensor-meta");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_volumes);
  return suite;
}

GST_CHECK_MAIN (tensor_meta);
