/* Streams of other/tensors that are more than one static tensor: one tensor of
 * several, and format=flexible, whose buffers have headers with type and size.
 * A probe on the sink pad makes streams of one static tensor of them, before
 * the element sees events and buffers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  /* Functions of the element. get_index() returns the number of the tensor,
   * counted from 0, or -1 for the only one; fail() posts an ND_ERROR. */
  gint (*get_index) (GstElement *element);
  void (*fail) (GstElement *element, const GError *error);

  /* Used by the streaming thread only. */
  guint n_tensors;     /* of each buffer; 0: a stream of one static tensor */
  gboolean flexible;   /* then any number */
  GstStructure *other; /* flexible: fields of the caps that do not change */
  GstCaps *caps;       /* flexible: those that were sent last */
  GQueue held;         /* flexible: events before the first caps */
} GstNdTensors;

/* @tensors must stay valid as long as @pad. */
void gst_nd_tensors_install (GstNdTensors *tensors, GstPad *pad);
void gst_nd_tensors_clear (GstNdTensors *tensors);

/* @caps of a stream, where streams of several tensors and flexible ones are
 * replaced by those of the one tensor that the element sees. */
GstCaps *gst_nd_tensors_select (const GstNdTensors *tensors,
    GstElement *element, const GstCaps *caps);

/* Adds streams of several tensors and flexible ones to @caps, which are taken,
 * if there are tensors in them. */
GstCaps *gst_nd_tensors_extend (GstCaps *caps);

/* To be added to the template of the pad. */
#define GST_ND_SEVERAL_TENSORS_CAPS                                          \
  "other/tensors, format = (string) static, num_tensors = (int) [ 2, 16 ]; " \
  "other/tensors, format = (string) flexible"

G_END_DECLS
