/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndrecording.h"

gsize
nd_recording_volume_size (const NdRecording * recording)
{
  gsize size;

  if (!nd_shape_samples (&recording->shape, &size)
      || !g_size_checked_mul (&size, size, recording->responses)
      || !g_size_checked_mul (&size, size, nd_sample_size (recording->type))
      || size > G_MAXSSIZE)
    return 0;
  return size;
}
