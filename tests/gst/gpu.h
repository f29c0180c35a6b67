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

/* As gpu_main(), of a test that needs so many devices. */
int gpu_main_with (gint devices, int argc, char **argv,
    Suite * (*suite) (void));

/* Whether the device is the double of devicedouble.c. */
gboolean gpu_is_double (void);

/* Whether compute-sanitizer looks on: then launches take a hundred times as
 * long, and memory of the device is the tool's as well. */
gboolean gpu_is_checked (void);

/* Whether GStreamer's CUDA elements work on the same device: with the double,
 * where the driver is that of driverdouble.c. */
gboolean gpu_has_elements (void);

/* Bytes that are free on the first device. */
gsize gpu_free_bytes (void);

/* Whether no CUDA context is current in this thread. */
gboolean gpu_is_left (void);

/* The context that @element answers a query with, or NULL. */
GObject *gpu_context (GstElement * element);
GObject *gpu_context_at (GstElement * element, const gchar * pad);

/* A context of an application's own, and the message that carries it. */
GObject *gpu_context_new (guint device);
GstContext *gpu_context_message (GObject * context);

/* A function of GStreamer's CUDA library, or NULL where its version has none.
 */
gpointer gpu_library_function (const gchar * name);

/* Enqueues on @stream, the driver's, in @context: a kernel that takes 50 ms; or
 * @value to @n bytes at @memory. */
void gpu_delay (GObject * context, gpointer stream);
void gpu_write (GObject * context, gpointer stream, gpointer memory, gsize n,
    guint8 value);

/* Runs a kernel in @context that writes where nothing is, or traps: from then
 * on the context is lost. */
void gpu_spoil (GObject * context, gboolean trap);

/* The double is lost when memory of it is wanted next. */
void gpu_spoil_at_memory (void);

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
