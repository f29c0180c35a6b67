/* A small volume with known spacing, and the pictures that ndview makes of it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "view/scene.h"

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#define X 20
#define Y 16
#define Z 12
#define WIDTH 90
#define HEIGHT 70

#define CAPS                                                      \
  "other/tensors,format=static,num_tensors=1,types=uint8,"        \
  "dimensions=1:20:16:12,framerate=25/1,spacing=(string)1:1.5:2," \
  "origin=(string)0:0:0,directions=(string)1:0:0:0:1:0:0:0:1"

extern const NdSceneJob job;

/* A ball in the middle, a brighter one beside it. */
void fill_volume (guint8 *data);

/* The buffer of that volume with a number and its time. */
GstBuffer *new_volume (guint64 number);

/* ndview with @properties. */
GstHarness *new_harness (const gchar *properties);
GstElement *view_of (GstHarness *h);

/* The pixels of the next picture without padding. */
guint8 *pull (GstHarness *h, gint *width, gint *height);

/* Pushes volume @number, and pulls its picture. */
guint8 *show (GstHarness *h, guint64 number, gint *width, gint *height);

/* The element of a line, with the harness at its pad `sink`. */
GstHarness *new_first (const gchar *line);

/* Number of pixels in which two pictures, 4 WIDTH wide, differ inside of a
 * rectangle. */
guint count_changes (const guint8 *a, const guint8 *b, gint left, gint top,
    gint right, gint bottom);
