/* Caps and metadata of ndstack: frames are grey video or other/tensors; volumes
 * are other/tensors with @slices times the size in z and 1 / @slices times the
 * rate of the frames. Spacing, origin and directions stay equal, because the
 * spacing in z of a frame is the distance to the next slice.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/metadata.h"

#include <gst/gst.h>

G_BEGIN_DECLS

/* The caps need not be fixed; open fields stay open. */
GstCaps *gst_nd_stack_caps_of_volumes (GstCaps *frames, guint slices);

/* Empty if no frames stack to such volumes: @slices must divide the size in z,
 * and responses of a bank are not supported. */
GstCaps *gst_nd_stack_caps_of_frames (GstCaps *volumes, guint slices);

/* The metadata of volumes of @slices frames: the fields and times of each first
 * frame, without the poses of frames (`…Transform`, as PLUS names them), which
 * are not those of a volume. @pose: the name of a pose that was left out, which
 * lives as long as @frames; NULL if there was none. */
NdMetadata *gst_nd_stack_metadata (const NdMetadata *frames, guint slices,
    const gchar **pose);

G_END_DECLS
