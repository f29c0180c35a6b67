/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/recording.h"

#include <string.h>

gboolean
nd_recording_init_raw (NdRecording *recording, const gchar *sizes,
    gsize components, NdSampleType type)
{
  gsize numbers[4] = { 1, 1, 1, 1 };

  memset (recording, 0, sizeof (*recording));
  recording->type = type;
  recording->rate_d = 1;
  recording->shape.components = components;
  if (nd_parse_sizes (sizes, numbers, 4) < 2 || numbers[3] > G_MAXUINT)
    return FALSE;
  memcpy (recording->shape.size, numbers, sizeof (recording->shape.size));
  recording->responses = numbers[3];
  return TRUE;
}

gsize
nd_recording_volume_size (const NdRecording *recording)
{
  gsize size;

  if (!nd_shape_samples (&recording->shape, &size)
      || !g_size_checked_mul (&size, size, recording->responses)
      || !g_size_checked_mul (&size, size, nd_sample_size (recording->type))
      || size > G_MAXSSIZE)
    return 0;
  return size;
}

gboolean
nd_recording_is_named (const gchar *path)
{
  static const gchar *const endings[] = { ".nii", ".nii.gz", ".hdr", ".nrrd",
    ".nhdr", ".mha", ".mhd", ".npy", ".npz", ".tif", ".tiff", ".stk", ".dcm",
    ".ims", ".h5", ".hdf5", ".uff", ".zarr" };
  g_autofree gchar *name = g_ascii_strdown (path, -1);

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    if (g_str_has_suffix (name, endings[i]))
      return TRUE;
  }
  return FALSE;
}
