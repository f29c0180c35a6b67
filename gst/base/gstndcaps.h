/* Caps of volumes: other/tensors, the convention of NNStreamer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include "formats/metadata.h"
#include "formats/recording.h"
#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_ND_TENSORS "other/tensors"

/* For pad templates: host memory, and device memory. */
#define GST_ND_TENSORS_CAPS                                           \
  GST_ND_TENSORS GST_ND_TENSORS_FIELDS (                              \
      "uint8, int16, uint16, float32, int8, int32, uint32, float16, " \
      "float64")
#define GST_ND_TENSORS_FIELDS(types)                    \
  ", format = (string) static, num_tensors = (int) 1, " \
  "types = (string) { " types " }, "                    \
  "framerate = (fraction) [ 0/1, 2147483647/1 ]"

/* Types that are converted are in host memory only. */
#define GST_ND_TENSORS_CUDA_CAPS                               \
  GST_ND_TENSORS "(memory:CUDAMemory)" GST_ND_TENSORS_FIELDS ( \
      "uint8, int16, uint16, float32")
#define GST_ND_TENSORS_CUDA_DOUBLE_CAPS                        \
  GST_ND_TENSORS "(memory:CUDAMemory)" GST_ND_TENSORS_FIELDS ( \
      "uint8, int16, uint16, float32, float64")

/* The contents of caps; the field volumes is 0. */
typedef NdRecording GstNdVolumeInfo;

/* Parses fixed @caps as NNStreamer does: sizes innermost first, C:X:Y:Z[:K];
 * trailing 0 and 1, spaces and case are ignored, and format defaults to static.
 * Error: ND_ERROR_FORMAT. */
gboolean gst_nd_volume_info_from_caps (GstNdVolumeInfo *info,
    const GstCaps *caps, GError **error);

/* Caps with both spellings of the dimensions: the exact one first, then the one
 * padded to rank 4, if different. The fields `spacing`, `origin` and
 * `directions` (numbers separated by ':') hold the geometry. In caps that are
 * parsed, origin and directions may be missing. The field `beams` says that
 * volumes are in beam space (core/beams.h). */
GstCaps *gst_nd_volume_info_to_caps (const GstNdVolumeInfo *info);

/* Sets the field `dimensions`: one string, or a list of both spellings. */
void gst_nd_structure_set_dimensions (GstStructure *structure,
    const NdShape *shape, guint responses);

/* Whether @caps begin with video of interlace-mode=alternate, which has a caps
 * feature of its own. */
gboolean gst_nd_caps_have_alternate_fields (const GstCaps *caps);

/* Bytes of one buffer: all responses of one volume. */
gsize gst_nd_volume_info_size (const GstNdVolumeInfo *info);

/* The choice of output caps, and their change while the stream plays.
 */

/* fixate_caps() of all elements. If the source pad is not linked and several
 * output caps are possible, the base class takes the input caps for the output
 * caps; this returns caps that the element makes of them. */
GstCaps *gst_nd_downstream_fixate (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *other);

/* Whether downstream accepts those of @possible that negotiation would choose.
 * They are the output caps that new settings allow. ND_ERROR_FORMAT if not. */
gboolean gst_nd_downstream_accepts (GstBaseTransform *trans, GstCaps *possible,
    GError **error);

/* The result @ret of outputs that new settings end. If another element has been
 * linked that does not take the caps of these outputs, the stream goes on: the
 * base class negotiates before the next output. */
GstFlowReturn gst_nd_downstream_result (GstBaseTransform *trans,
    GstFlowReturn ret);

/* The metadata of a recording, in an event before the first volume. All
 * elements between the file that is read and the file that is written pass it
 * on. The event is not sticky, because gdppay stores only 16 bits of the type
 * of an event: after gdpdepay a sticky event would be one that must not come
 * before caps.
 */

/* Times and origin in @metadata refer to timestamps of the stream. @volumes:
 * the length of the stream, 0 if unknown. */
GstEvent *gst_nd_metadata_to_event (const NdMetadata *metadata,
    guint64 volumes);

/* NULL if @event is another one. */
NdMetadata *gst_nd_metadata_from_event (GstEvent *event, guint64 *volumes);

/* The same for the next volume of a live stream. The fields are added to those
 * of earlier events. The origin is that of the whole stream. */
GstEvent *gst_nd_metadata_to_live_event (const NdMetadata *metadata);

/* The same for an event that gst_nd_metadata_from_event() has read. */
gboolean gst_nd_metadata_is_live (GstEvent *event);

G_END_DECLS
