/* Helpers of the GPU tests. The tests are skipped with exit code 77 if there is
 * no GPU, and skip nothing if there is one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/check/gstcheck.h>

/* Runs @suite in this process, because a fork could not use the device; returns
 * 77 without a GPU. */
int gpu_main (int argc, char **argv, Suite *(*suite) (void) );

/* Like gpu_main(), for tests that need several devices. */
int gpu_main_with (gint devices, int argc, char **argv,
    Suite *(*suite) (void) );

/* Whether the device is the double of devicedouble.c. */
gboolean gpu_is_double (void);

/* How often the double was asked for the device; -1 on a GPU. */
gint gpu_starts (void);

/* Whether compute-sanitizer runs the test: launches then take a hundred times
 * as long, and the tool uses memory of the device. */
gboolean gpu_is_checked (void);

/* Whether GStreamer's CUDA elements use the same device. With the double of the
 * device this needs the driver of driverdouble.c. */
gboolean gpu_has_elements (void);

/* Free bytes on the first device. */
gsize gpu_free_bytes (void);

/* The same as soon as it is @wanted or more, or after 20 s: a change of state
 * does not wait for the threads that free filters and rings. */
gsize gpu_wait_for_bytes (gsize wanted);

/* Whether no CUDA context is current in this thread. */
gboolean gpu_is_left (void);

/* The context in the answer of @element to a query, or NULL. */
GObject *gpu_context (GstElement *element);
GObject *gpu_context_at (GstElement *element, const gchar *pad);

/* Creates a context of the application, and the message that carries it. */
GObject *gpu_context_new (guint device);
GstContext *gpu_context_message (GObject *context);

/* A function of GStreamer's CUDA library, or NULL if its version lacks it. */
gpointer gpu_library_function (const gchar *name);

/* Enqueues work on @stream, of the driver, in @context: a kernel that takes 50
 * ms, or setting @n bytes at @memory to @value. */
void gpu_delay (GObject *context, gpointer stream);
void gpu_write (GObject *context, gpointer stream, gpointer memory, gsize n,
    guint8 value);

/* Runs a kernel in @context that writes to an illegal address, or traps. The
 * context is lost afterwards. */
void gpu_spoil (GObject *context, gboolean trap);

/* The double is lost at its next allocation. */
void gpu_spoil_at_memory (void);

/* The double has no memory for scenes. */
void gpu_refuse_scenes (gboolean refuse);

/* Runs @pipeline, a text for gst_parse_launch(), and returns all samples from
 * its appsink "sink" until EOS. Fails on an error. */
GPtrArray *gpu_run (const gchar *pipeline);

/* Like gpu_run(), for an existing pipeline, which it sets to NULL. */
GPtrArray *gpu_collect (GstElement *pipeline);

/* Fails if the GstSamples @a and @b differ by more than @most, in time or in
 * number. Their caps must be of the same kind and in host memory. */
void gpu_expect_equal (GPtrArray *a, GPtrArray *b, gdouble most);

/* Runs @format with "cuda" and with "cpu" in place of each BACKEND. The outputs
 * may differ by @most. */
void gpu_compare (const gchar *format, gdouble most);

/* @format with @name in place of each BACKEND. */
gchar *gpu_text (const gchar *format, const gchar *name);

/* Sets @pipeline to PAUSED and waits for its first buffer. */
void gpu_pause (GstElement *pipeline);

/* Fails if the caps of this pad of the element are not in device memory. */
void gpu_expect_device (GstElement *pipeline, const gchar *element,
    const gchar *pad);
