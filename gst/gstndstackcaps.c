/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/gstndstackcaps.h"

#include "gst/base/gstndcaps.h"
#include <gst/video/video.h>

#define GRAY16 GST_VIDEO_NE (GRAY16)

static const struct
{
  const gchar *type, *format;
  gsize components;
} video_types[] = { { "uint8", "GRAY8", 1 }, { "uint16", GRAY16, 1 },
  { "uint8", "RGB", 3 }, { "uint8", "RGBA", 4 } };

#define MAX_COMPONENTS 4

/* The fields of a recording that name the poses of its frames. */
#define POSE_NAME "DefaultFrameTransformName"
#define POSE_NAMES "CustomFrameFieldNames"

/* Sets the framerate of @to to that of @from times @numerator / @denominator.
 * If the result is not a fraction, any rate. */
static void
scale_rate (GstStructure *to, const GstStructure *from, gint numerator,
    gint denominator)
{
  const GValue *rate = gst_structure_get_value (from, "framerate");
  gint n, d;

  if (rate && GST_VALUE_HOLDS_FRACTION (rate)
      && gst_util_fraction_multiply (gst_value_get_fraction_numerator (rate),
          gst_value_get_fraction_denominator (rate), numerator, denominator, &n,
          &d))
    gst_structure_set (to, "framerate", GST_TYPE_FRACTION, n, d, NULL);
  else
    gst_structure_set (to, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT,
        1, NULL);
}

/* FALSE if @s does not fix the dimensions. */
static gboolean
get_info (const GstStructure *s, GstNdVolumeInfo *info)
{
  g_autoptr (GstCaps) caps = NULL;

  if (!gst_structure_has_field (s, "dimensions"))
    return FALSE;
  /* Both spellings of the dimensions are equal, and types and rates do not
   * matter here. */
  caps = gst_caps_fixate (gst_caps_new_full (gst_structure_copy (s), NULL));
  return gst_nd_volume_info_from_caps (info, caps, NULL);
}

static GstStructure *
new_tensors (const GValue *types)
{
  GstStructure *s = gst_structure_new (GST_ND_TENSORS, "format", G_TYPE_STRING,
      "static", "num_tensors", G_TYPE_INT, 1, NULL);

  if (types)
    gst_structure_set_value (s, "types", types);
  return s;
}

/* Copies the geometry: all fields but types, dimensions and framerate. */
static gboolean
copy_geometry (GQuark field, const GValue *value, gpointer to)
{
  const gchar *name = g_quark_to_string (field);

  if (!g_str_equal (name, "types") && !g_str_equal (name, "dimensions")
      && !g_str_equal (name, "framerate"))
    gst_structure_id_set_value (to, field, value);
  return TRUE;
}

static gboolean
field_allows (const GstStructure *s, const gchar *field, const gchar *text)
{
  g_auto (GValue) value = G_VALUE_INIT;
  const GValue *allowed = gst_structure_get_value (s, field);

  g_value_init (&value, G_TYPE_STRING);
  g_value_set_string (&value, text);
  return !allowed || gst_value_intersect (NULL, allowed, &value);
}

/* The volumes of the formats of @s that have @components, if there are any. */
static void
append_volumes_of_video (GstCaps *caps, const GstStructure *s, guint slices,
    gsize components)
{
  GstNdVolumeInfo info = { .shape.components = components, .responses = 1 };
  g_auto (GValue) types = G_VALUE_INIT;
  GstStructure *volumes;
  gint width, height;

  g_value_init (&types, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS (video_types); i++) {
    if (video_types[i].components == components
        && field_allows (s, "format", video_types[i].format)) {
      g_auto (GValue) name = G_VALUE_INIT;

      g_value_init (&name, G_TYPE_STRING);
      g_value_set_static_string (&name, video_types[i].type);
      gst_value_list_append_value (&types, &name);
    }
  }
  if (gst_value_list_get_size (&types) == 0)
    return;
  volumes = new_tensors (&types);
  scale_rate (volumes, s, 1, slices);
  if (gst_structure_get_int (s, "width", &width)
      && gst_structure_get_int (s, "height", &height)) {
    info.shape.size[0] = width;
    info.shape.size[1] = height;
    info.shape.size[2] = slices;
    gst_nd_structure_set_dimensions (volumes, &info.shape, 1);
  }
  gst_caps_append_structure (caps, volumes);
}

static void
stackcaps_append_volumes (GstCaps *caps, const GstStructure *s, guint slices)
{
  GstStructure *volumes;
  GstNdVolumeInfo info;
  gboolean known;

  if (!gst_structure_has_name (s, GST_ND_TENSORS)) {
    for (gsize components = 1; components <= MAX_COMPONENTS; components++)
      append_volumes_of_video (caps, s, slices, components);
    return;
  }
  volumes = new_tensors (gst_structure_get_value (s, "types"));
  gst_structure_foreach (s, copy_geometry, volumes);
  known = get_info (s, &info) && info.responses == 1;
  scale_rate (volumes, s, 1, slices);
  if (known
      && g_size_checked_mul (&info.shape.size[2], info.shape.size[2], slices))
    gst_nd_structure_set_dimensions (volumes, &info.shape, 1);
  gst_caps_append_structure (caps, volumes);
}

static void
append_frames (GstCaps *caps, const GstStructure *s, guint slices)
{
  GstNdVolumeInfo info;
  gboolean known = get_info (s, &info);
  GstStructure *tensors;

  if (known && (info.responses != 1 || info.shape.size[2] % slices != 0))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (video_types); i++) {
    GstStructure *video;

    if (!field_allows (s, "types", video_types[i].type))
      continue;
    if (known
        && (info.shape.components != video_types[i].components
            || info.shape.size[2] != slices || info.shape.size[0] > G_MAXINT
            || info.shape.size[1] > G_MAXINT))
      continue;
    video = gst_structure_new ("video/x-raw", "format", G_TYPE_STRING,
        video_types[i].format, NULL);
    if (known)
      gst_structure_set (video, "width", G_TYPE_INT, (gint) info.shape.size[0],
          "height", G_TYPE_INT, (gint) info.shape.size[1], NULL);
    else
      gst_structure_set (video, "width", GST_TYPE_INT_RANGE, 1, G_MAXINT,
          "height", GST_TYPE_INT_RANGE, 1, G_MAXINT, NULL);
    scale_rate (video, s, slices, 1);
    gst_caps_append_structure (caps, video);
  }
  tensors = new_tensors (gst_structure_get_value (s, "types"));
  gst_structure_foreach (s, copy_geometry, tensors);
  scale_rate (tensors, s, slices, 1);
  if (known) {
    info.shape.size[2] /= slices;
    gst_nd_structure_set_dimensions (tensors, &info.shape, 1);
  }
  gst_caps_append_structure (caps, tensors);
}

GstCaps *
gst_nd_stack_caps_of_volumes (GstCaps *frames, guint slices)
{
  GstCaps *volumes = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (frames); i++)
    stackcaps_append_volumes (volumes, gst_caps_get_structure (frames, i),
        slices);
  return volumes;
}

GstCaps *
gst_nd_stack_caps_of_frames (GstCaps *volumes, guint slices)
{
  GstCaps *frames = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (volumes); i++)
    append_frames (frames, gst_caps_get_structure (volumes, i), slices);
  return frames;
}

static gboolean
is_pose (const gchar *key)
{
  return g_str_has_suffix (key, "Transform")
      || g_str_has_suffix (key, "TransformStatus")
      || strcmp (key, POSE_NAME) == 0 || strcmp (key, POSE_NAMES) == 0;
}

/* Removes the fields that belong to poses from @fields. */
static void
remove_poses (NdList *fields)
{
  NdField *all = (NdField *) fields->data;
  guint kept = 0;

  for (guint i = 0; i < fields->len; i++) {
    if (!is_pose (all[i].key))
      all[kept++] = all[i];
  }
  fields->len = kept;
}

NdMetadata *
gst_nd_stack_metadata (const NdMetadata *frames, guint slices,
    const gchar **pose)
{
  NdMetadata *volumes = nd_metadata_slice (frames, 0, G_MAXUINT64, slices);
  const NdField *all = (const NdField *) frames->volume_fields->data;

  *pose = NULL;
  for (guint i = 0; i < frames->volume_fields->len && !*pose; i++) {
    if (g_str_has_suffix (all[i].key, "Transform"))
      *pose = all[i].key;
  }
  if (*pose) {
    remove_poses (volumes->fields);
    remove_poses (volumes->volume_fields);
  }
  return volumes;
}
