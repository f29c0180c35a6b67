/* Caps of volumes: other/tensors as NNStreamer spells them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>
#include "engine/ndshape.h"
#include "formats/ndrecording.h"

G_BEGIN_DECLS

#define GST_ND_TENSORS "other/tensors"

/* For pad templates, in host memory and on a device. Types are uint8, int16,
 * uint16, float32. */
#define GST_ND_TENSORS_CAPS GST_ND_TENSORS GST_ND_TENSORS_FIELDS
#define GST_ND_TENSORS_FIELDS \
  ", format = (string) static, num_tensors = (int) 1, " \
  "types = (string) { uint8, int16, uint16, float32 }, " \
  "framerate = (fraction) [ 0/1, 2147483647/1 ]"

#define GST_ND_TENSORS_CUDA_CAPS \
  GST_ND_TENSORS "(memory:CUDAMemory)" GST_ND_TENSORS_FIELDS

/* What the caps of a stream of volumes say. NdRecording's volumes is 0. */
typedef NdRecording GstNdVolumeInfo;

/* Reads @caps as NNStreamer does: sizes innermost first, C:X:Y:Z[:K], 0 and 1
 * at the end do not count, spaces and case neither, a missing format means
 * static. @caps must be fixed. ND_ERROR_FORMAT says what is wrong. */
gboolean gst_nd_volume_info_from_caps (GstNdVolumeInfo * info,
    const GstCaps * caps, GError ** error);

/* Caps with the exact spelling of the dimensions first, and the one padded to
 * rank 4 where it differs. Geometry goes along as the extra fields `spacing`,
 * `origin`, `directions` (numbers with ':' between). */
GstCaps *gst_nd_volume_info_to_caps (const GstNdVolumeInfo * info);

/* The `dimensions` field of @structure: one string, or a list of the two
 * spellings. */
void gst_nd_structure_set_dimensions (GstStructure * structure,
    const NdShape * shape, guint responses);

/* Bytes of one buffer: all responses of one volume. */
gsize gst_nd_volume_info_size (const GstNdVolumeInfo * info);

G_END_DECLS
