/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewcaps.h"

#include "gst/base/gstndcaps.h"
#include "gst/base/gstndcuda.h"
#include "view/picture.h"

/* Width divided by height of a pixel. FALSE if unknown or square. */
static gboolean
pixel_aspect (NdPictureMode mode, NdAxis axis, const NdGeometry *geometry,
    gint *n, gint *d)
{
  gdouble w = geometry->spacing[nd_picture_width_axis (axis)];
  gdouble h = geometry->spacing[nd_picture_height_axis (axis)];

  if (mode == ND_PICTURE_ORTHOGONAL || !geometry->known || !(w > 0) || !(h > 0)
      || !(w / h < 1000) || !(h / w < 1000))
    return FALSE;
  gst_util_double_to_fraction (w / h, n, d);
  return *n > 0 && *d > 0 && *n != *d;
}

/* Caps of pictures for one structure of volumes. */
static void
append_pictures (GstCaps *caps, const GstStructure *s,
    const GstNdViewSettings *settings)
{
  /* Plain pictures have the same numbers. */
  const NdPictureMode mode = (NdPictureMode) settings->mode;
  const NdAxis axis = settings->axis;
  GstStructure *picture = gst_structure_new_empty ("video/x-raw");
  const GValue *rate = gst_structure_get_value (s, "framerate");
  g_autoptr (GstCaps) volumes = NULL;
  GstNdVolumeInfo info;
  gint width, height, n, d;
  gboolean is_scene;

  if (rate)
    gst_structure_set_value (picture, "framerate", rate);
  if (!gst_structure_has_field (s, "dimensions")) {
    gst_caps_append_structure (caps, picture);
    return;
  }
  /* Both spellings of the dimensions are equal. */
  volumes = gst_caps_fixate (gst_caps_new_full (gst_structure_copy (s), NULL));
  if (!gst_nd_volume_info_from_caps (&info, volumes, NULL)) {
    gst_structure_free (picture);
    return;
  }
  is_scene = gst_nd_view_settings_are_scene (settings, &info);
  if (!(is_scene ? gst_nd_view_settings_size (settings, &info, &width, &height)
                 : nd_picture_size (mode, axis, info.shape.size, &width,
                       &height))) {
    gst_structure_free (picture);
    return;
  }
  gst_structure_set (picture, "format", G_TYPE_STRING,
      is_scene || nd_picture_channels (&info.shape) == 3 ? "RGB" : "GRAY8",
      "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  /* First, as a preference: some sinks support square pixels only. */
  if (!is_scene && pixel_aspect (mode, axis, &info.geometry, &n, &d)) {
    GstStructure *stretched = gst_structure_copy (picture);

    gst_structure_set (stretched, "pixel-aspect-ratio", GST_TYPE_FRACTION, n, d,
        NULL);
    gst_caps_append_structure (caps, stretched);
  }
  gst_structure_set (picture, "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1,
      NULL);
  gst_caps_append_structure (caps, picture);
}

/* Any volume can give a picture. */
static void
view_caps_append_volumes (GstCaps *caps, const GstStructure *s, gboolean device)
{
  const GValue *rate = gst_structure_get_value (s, "framerate");
  GstStructure *volume = gst_structure_new (GST_ND_TENSORS, "format",
      G_TYPE_STRING, "static", "num_tensors", G_TYPE_INT, 1, NULL);

  if (rate)
    gst_structure_set_value (volume, "framerate", rate);
  if (device)
    gst_caps_append_structure_full (caps, gst_structure_copy (volume),
        gst_caps_features_new_single (GST_ND_FEATURE_CUDA));
  gst_caps_append_structure (caps, volume);
}

GstCaps *
gst_nd_view_caps_of_pictures (GstCaps *volumes,
    const GstNdViewSettings *settings)
{
  GstCaps *pictures = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (volumes); i++)
    append_pictures (pictures, gst_caps_get_structure (volumes, i), settings);
  return pictures;
}

GstCaps *
gst_nd_view_caps_of_volumes (GstCaps *pictures, gboolean device)
{
  GstCaps *volumes = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (pictures); i++)
    view_caps_append_volumes (volumes, gst_caps_get_structure (pictures, i),
        device);
  return volumes;
}
