/* Sends a small stream of float32 volumes through one of the three filters and
 * compares the output with a model: plain sums in double precision over
 * integers, so that results must be equal.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <string.h>

#define MAX_TAPS 256

/* Volumes with these numbers and above are NaN everywhere. */
#define POISON 1000

/* A filter and its borders, with the names of the properties. */
typedef struct
{
  guint size[4];
  gint origin[4];
  gdouble values[MAX_TAPS]; /* x fastest, t slowest */
  const gchar *border;
  const gchar *time_border;
  gdouble border_value;
  gdouble gain, offset;
} Model;

/* A filter of @x:@y:@z:@t integers from @r, or 1, 2, 3, ... if @r is NULL. */
Model model_new (GRand *r, guint x, guint y, guint z, guint t);

/* 1, 2, 3, ... along time; border-value is 7. */
Model model_temporal (guint size, const gchar *time_border);

/* Text for the property `filter`. */
gchar *model_filter (const Model *model);

/* The volumes that an output reads before and after its anchor, and the largest
 * number of volumes that it waits for. */
guint model_before (const Model *model);
guint model_ahead (const Model *model);
guint model_delay (const Model *model);

/* The position of sample @i of @n by the border of this name; -1 for the border
 * value. */
gint model_index (const gchar *border, gint i, gint n);

/* Output @i of a stream of @n volumes of @dims samples, components first. */
void model_respond (const Model *model, const gdouble *const *volumes, guint n,
    guint i, const guint dims[4], gdouble *out);

typedef struct
{
  GstElement *element;
  GstHarness *h; /* valid after stream_start() */
  GstBus *bus;
  Model model;   /* of the element's properties */
  guint dims[4]; /* components, x, y, z */
  gsize samples;
  gint rate; /* volumes per second; 0: variable */
  GstClockTime duration;
  gdouble tolerance; /* largest error of a sample; 0: exact */
  gboolean not_live; /* outputs on a device then come from another thread */
} Stream;

#define FFT_TOLERANCE 1e-4 /* for sums of samples of stream_sample() */

/* Creates an element with the properties of @model and those given by name and
 * text, ending with NULL. Volumes are 1:3:2:2 at 10 per second. The environment
 * variable ND_DEVICES is the value of `devices`. */
Stream *stream_new (const gchar *factory, const Model *model,
    ...) G_GNUC_NULL_TERMINATED;
void stream_free (Stream *stream);

/* Sets the properties of @model. */
void stream_set_model (Stream *stream, const Model *model);
void stream_set_size (Stream *stream, guint x, guint y, guint z);
GstCaps *stream_caps (const Stream *stream);

/* Sets the element to PLAYING and sends stream-start, caps and segment. */
void stream_start (Stream *stream);
Stream *stream_started (const gchar *factory, const Model *model);

/* Makes volume @number with PTS number / rate. */
GstBuffer *stream_buffer (const Stream *stream, gint number);
GstFlowReturn stream_push (Stream *stream, gint number);
GstFlowReturn stream_push_flagged (Stream *stream, gint number, guint flags);

/* Pushes volumes @start to @last, which must succeed; last < start counts
 * down. */
void stream_push_range (Stream *stream, gint start, gint last);

/* Sends caps again, possibly different ones. */
void stream_send_caps (Stream *stream);
void stream_event (Stream *stream, GstEvent *event);
void stream_eos (Stream *stream);
void stream_segment (Stream *stream, gdouble rate, GstClockTime start,
    GstClockTime stop);

/* Sends flush-start and flush-stop, and the same segment again. */
void stream_flush (Stream *stream);

/* Pulls outputs @from to @to (exclusive) and compares them with those of a
 * stream of volumes @start to @start + @n - 1. from > to counts down and
 * includes @to. */
void stream_expect (Stream *stream, gint start, guint n, gint from, gint to);

/* Compares one @output and releases it. */
void stream_check (const Stream *stream, GstBuffer *output, gint start, guint n,
    gint i);

/* Expects all @n outputs, and no more. */
void stream_expect_all (Stream *stream, gint start, guint n);

/* Pulls one output, which must be there. */
GstBuffer *stream_pull (Stream *stream);
void stream_expect_none (Stream *stream);

/* Takes messages of @type off the bus and returns their number; the last one
 * goes to @message if not NULL. Older messages of other types are dropped. */
guint stream_messages (Stream *stream, GstMessageType type,
    GstMessage **message);

/* A counter of `stats`. */
guint64 stream_stat (const Stream *stream, const gchar *name);

/* Queries the source pad; FALSE if there is no answer. */
gboolean stream_latency (const Stream *stream, gboolean *live,
    GstClockTime *min, GstClockTime *max);

/* Sample @i of volume @number, an integer from -20 to 20. */
gdouble stream_sample (gint number, gsize i);

/* Sample @i of samples of @type: int and uint of 8, 16 and 32 bits, float16,
 * float32 and float64. Values set in integers are rounded half to even and
 * saturated; NaN becomes 0. */
gsize type_size (const gchar *type);
gdouble type_get (const gchar *type, gconstpointer data, gsize i);
void type_set (const gchar *type, gpointer data, gsize i, gdouble value);

/* One twentieth under a sanitizer, one thousandth under valgrind. */
guint test_count (guint count);

/* Prints and uses the seed in ND_SEED, or a new one. */
GRand *test_rand (void);
