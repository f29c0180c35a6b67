/* Frames of every video format, and the expected outputs of a filter, component
 * by component.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tests/gst/harness.h"

#include <gst/video/video.h>

#define MAX_FORMATS 128

/* A format and a size, at 10 frames per second. */
void video_info (GstVideoInfo *info, GstVideoFormat format, guint width,
    guint height);

/* An element for frames with the properties of @model and one more. */
Stream *video_start (const gchar *factory, const GstVideoInfo *info,
    const Model *model, const gchar *property, const gchar *value);

/* Random bytes everywhere, including the padding, which has so many bytes more
 * in each row. Samples have no more bits than the format allows. */
GstBuffer *video_buffer (const GstVideoInfo *info, guint padding, GRand *r);

/* Samples of component @c as numbers. */
gdouble *video_component (GstBuffer *buffer, const GstVideoInfo *info, guint c);

gboolean video_is_chroma (const GstVideoInfo *info, guint c);
gboolean video_is_alpha (guint c);

/* Output @i of @inputs, component by component. Chroma is filtered relative to
 * half of its range; border-value and offset do not apply to it. Alpha is that
 * of input @i. Fields are filtered apart. Bytes between samples are 0. */
void video_check (const Model *model, const GstVideoInfo *info,
    GstBuffer **inputs, guint n, guint i, GstBuffer *output);

/* All formats of the pad template in host memory. */
guint video_formats (const gchar *factory, GstVideoFormat formats[MAX_FORMATS]);
