/* What the tests on a GPU share. They are skipped, exit code 77, where there is
 * none, and skip nothing where there is one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/check/gstcheck.h>

/* Runs @suite in this process, a fork could not use the device; or returns 77.
 */
int gpu_main (int argc, char **argv, Suite * (*suite) (void));

/* Whether the device is the double of devicedouble.c: then there is no driver,
 * and GStreamer's CUDA elements are not there. */
gboolean gpu_is_double (void);

/* Bytes that are free on the first device. */
gsize gpu_free_bytes (void);

/* Whether no CUDA context is current in this thread. */
gboolean gpu_is_left (void);

/* The context that @element answers a query with, or NULL. */
GObject *gpu_context (GstElement * element);

/* Runs a kernel in @context that writes where nothing is, or traps: from then
 * on the context is lost. */
void gpu_spoil (GObject * context, gboolean trap);

/* All that comes out of "sink", an appsink, in @pipeline, a text for
 * gst_parse_launch(), until EOS: samples. Fails on an error. */
GPtrArray *gpu_run (const gchar * pipeline);

/* As gpu_run(), of a pipeline that is there; it is set to NULL then. */
GPtrArray *gpu_collect (GstElement * pipeline);

/* Fails where samples of @a and @b, of GstSample, differ by more than @most, in
 * time, or in number. Their caps must be of one kind, in host memory. */
void gpu_expect_equal (GPtrArray * a, GPtrArray * b, gdouble most);

/* Fails where caps of the pad of that element are not in device memory. */
void gpu_expect_device (GstElement * pipeline, const gchar * element,
    const gchar * pad);
