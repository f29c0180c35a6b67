/* What ndstack makes of caps: frames are grey video or other/tensors, volumes
 * other/tensors with slices times their size in z and 1 / slices times their
 * rate. Spacing, origin and directions go along as they are: the spacing in z
 * of a frame is the distance to the next slice.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Caps need not be fixed; what they leave open stays open. */
GstCaps *gst_nd_stack_caps_of_volumes (GstCaps * frames, guint slices);

/* Empty where no frames stack up to such volumes: a size in z that @slices does
 * not divide, or responses of a bank. */
GstCaps *gst_nd_stack_caps_of_frames (GstCaps * volumes, guint slices);

G_END_DECLS
