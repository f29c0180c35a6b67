/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconv.h"

#include "gst/base/gstndcuda.h"
#include "gst/base/gstndformat.h"

/* Tensors are float32, whatever the input is. */
static gboolean
changes_type (const GstNdConvSettings *settings)
{
  return settings->conv.output_type != ND_SAMPLE_SAME
      || settings->conv.response == ND_RESPONSE_TENSOR;
}

/* FALSE if the dimensions of @s are not one valid string. */
static gboolean
get_dimensions (const GstStructure *s, GstNdVolumeInfo *info)
{
  g_autoptr (GstCaps) caps = NULL;
  GstStructure *fixed;

  if (!gst_structure_has_field_typed (s, "dimensions", G_TYPE_STRING))
    return FALSE;
  fixed = gst_structure_new (GST_ND_TENSORS, "types", G_TYPE_STRING, "uint8",
      "dimensions", G_TYPE_STRING, gst_structure_get_string (s, "dimensions"),
      NULL);
  caps = gst_caps_new_full (fixed, NULL);
  return gst_nd_volume_info_from_caps (info, caps, NULL);
}

gboolean
gst_nd_conv_get_shape (const GstStructure *s, NdShape *shape)
{
  GstNdVolumeInfo info;
  gint width, height;

  if (gst_structure_has_name (s, GST_ND_TENSORS)) {
    if (!get_dimensions (s, &info))
      return FALSE;
    *shape = info.shape;
    return TRUE;
  }
  if (!gst_structure_get_int (s, "width", &width)
      || !gst_structure_get_int (s, "height", &height))
    return FALSE;
  *shape = (NdShape){ 1, { width, height, 1 } };
  return TRUE;
}

/* Offers both spellings of the dimensions, whichever the input has. */
static void
set_output_dimensions (GstStructure *s, const GstNdConvSettings *settings,
    const NdBankInfo *bank)
{
  GstNdVolumeInfo info;

  if (!get_dimensions (s, &info)) {
    gst_structure_remove_field (s, "dimensions");
    return;
  }
  info.shape.components = nd_output_components (settings->conv.response,
      bank->is_complex, bank->tensor_axes, info.shape.components);
  gst_nd_structure_set_dimensions (s, &info.shape,
      nd_response_count (settings->conv.response, bank->n_responses));
}

/* FALSE if no input of this number of @components gives this output. */
static gboolean
set_input_dimensions (GstStructure *s, const GstNdConvSettings *settings,
    const NdBankInfo *bank, gsize components)
{
  GstNdVolumeInfo info;

  if (!get_dimensions (s, &info)) {
    gst_structure_remove_field (s, "dimensions");
    return TRUE;
  }
  if (info.responses
          != nd_response_count (settings->conv.response, bank->n_responses)
      || info.shape.components
          != nd_output_components (settings->conv.response, bank->is_complex,
              bank->tensor_axes, components))
    return FALSE;
  info.shape.components = components;
  gst_nd_structure_set_dimensions (s, &info.shape, 1);
  return TRUE;
}

static gboolean
allows_type (const GstStructure *s, NdSampleType type)
{
  const GValue *types = gst_structure_get_value (s, "types");
  g_auto (GValue) name = G_VALUE_INIT;

  g_value_init (&name, G_TYPE_STRING);
  g_value_set_static_string (&name, nd_sample_name (type));
  return !types || gst_value_intersect (NULL, types, &name);
}

static void
set_any_type (GstStructure *s)
{
  g_auto (GValue) list = G_VALUE_INIT;
  g_auto (GValue) name = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  g_value_init (&name, G_TYPE_STRING);
  for (guint i = 0; i < ND_STREAM_TYPES; i++) {
    if (!nd_sample_name (i))
      continue;
    g_value_set_static_string (&name, nd_sample_name (i));
    gst_value_list_append_value (&list, &name);
  }
  gst_structure_set_value (s, "types", &list);
}

static gsize
count_components (const GstStructure *s)
{
  GstNdVolumeInfo info;

  return get_dimensions (s, &info) ? info.shape.components : 0;
}

/* A copy with the type spelled like in the templates. */
static GstStructure *
copy_with_type (const GstStructure *from)
{
  GstStructure *s = gst_structure_copy (from);
  const gchar *name = gst_structure_get_string (from, "types");
  NdSampleType type;

  if (name && nd_sample_from_name (name, &type))
    gst_structure_set (s, "types", G_TYPE_STRING, nd_sample_name (type), NULL);
  return s;
}

static GstStructure *
tensors_to_source (const GstStructure *from, const GstNdConvSettings *settings,
    const NdBankInfo *bank)
{
  GstStructure *s = copy_with_type (from);

  set_output_dimensions (s, settings, bank);
  if (changes_type (settings))
    gst_structure_set (s, "types", G_TYPE_STRING,
        nd_sample_name (gst_nd_conv_settings_type (settings, ND_UINT8)), NULL);
  return s;
}

/* NULL if no input of @components gives @from. */
static GstStructure *
tensors_to_sink (const GstStructure *from, const GstNdConvSettings *settings,
    const NdBankInfo *bank, gsize components)
{
  g_autoptr (GstStructure) s = copy_with_type (from);

  if (!set_input_dimensions (s, settings, bank, components))
    return NULL;
  if (changes_type (settings)) {
    if (!allows_type (s, gst_nd_conv_settings_type (settings, ND_UINT8)))
      return NULL;
    set_any_type (s);
  }
  return g_steal_pointer (&s);
}

/* The output for a video frame: a frame if video can hold it, otherwise a
 * volume of one slice. NULL for planes of several sizes, which a volume cannot
 * hold. */
static GstStructure *
video_to_source (const GstStructure *from, const GstNdConvSettings *settings,
    const NdBankInfo *bank)
{
  g_autoptr (GstCaps) caps =
      gst_caps_new_full (gst_structure_copy (from), NULL);
  g_autoptr (GstCaps) out = NULL;
  GstNdVolumeInfo info = {
    .responses = nd_response_count (settings->conv.response, bank->n_responses)
  };
  gboolean one = info.responses == 1
      && settings->conv.response != ND_RESPONSE_TENSOR
      && !(bank->is_complex && settings->conv.response == ND_RESPONSE_ALL);
  GstNdFormat format;
  GstStructure *s;

  if (one && !changes_type (settings))
    return gst_structure_copy (from);
  if (!gst_caps_is_fixed (caps)
      || !gst_nd_format_from_caps (&format, caps, NULL)) {
    /* Without a format, any volume is possible. */
    s = gst_structure_new_from_string (GST_ND_TENSORS_CAPS);
    if (changes_type (settings))
      gst_structure_set (s, "types", G_TYPE_STRING,
          nd_sample_name (gst_nd_conv_settings_type (settings, ND_UINT8)),
          NULL);
    return s;
  }
  info.type = gst_nd_conv_settings_type (settings, format.type);
  if (one && info.type == format.type)
    return gst_structure_copy (from);
  if (one && GST_VIDEO_INFO_N_COMPONENTS (&format.video) == 1
      && (info.type == ND_UINT8 || info.type == ND_UINT16)) {
    s = gst_structure_copy (from);
    gst_structure_set (s, "format", G_TYPE_STRING,
        info.type == ND_UINT8 ? "GRAY8" : "GRAY16_LE", NULL);
    return s;
  }
  if (format.n_planes > 1 || gst_nd_format_has_fields (&format))
    return NULL;
  info.shape = format.planes[0];
  info.shape.components = nd_output_components (settings->conv.response,
      bank->is_complex, bank->tensor_axes, info.shape.components);
  info.rate_n = format.rate_n;
  info.rate_d = format.rate_d;
  out = gst_nd_volume_info_to_caps (&info);
  return gst_structure_copy (gst_caps_get_structure (out, 0));
}

/* The input for a frame is a frame of the same size, perhaps gray of another
 * depth. */
static GstStructure *
video_to_sink (const GstStructure *from, const GstNdConvSettings *settings)
{
  GstStructure *s = gst_structure_copy (from);

  if (changes_type (settings))
    gst_structure_remove_field (s, "format");
  return s;
}

static void
append (GstCaps *caps, GstStructure *s, const GstCapsFeatures *features)
{
  if (s)
    gst_caps_append_structure_full (caps, s, gst_caps_features_copy (features));
}

/* Appends the structures on the other pad for structure @i of @caps, with the
 * same memory. */
static void
append_transformed (GstCaps *other, GstPadDirection direction,
    const GstCaps *caps, guint i, const GstNdConvSettings *settings,
    const NdBankInfo *bank)
{
  const GstStructure *from = gst_caps_get_structure (caps, i);
  const GstCapsFeatures *features = gst_caps_get_features (caps, i);
  gboolean tensors = gst_structure_has_name (from, GST_ND_TENSORS);
  gsize components = tensors ? count_components (from) : 0;

  if (direction == GST_PAD_SINK) {
    append (other,
        tensors ? tensors_to_source (from, settings, bank)
                : video_to_source (from, settings, bank),
        features);
  } else if (!tensors) {
    append (other, video_to_sink (from, settings), features);
  } else {
    append (other,
        tensors_to_sink (from, settings, bank,
            bank->is_complex || settings->conv.response == ND_RESPONSE_TENSOR
                ? 1
                : components),
        features);
    /* One component can be combined from complex input, which has two. */
    if (!bank->is_complex && components == 1
        && settings->conv.response != ND_RESPONSE_ALL)
      append (other, tensors_to_sink (from, settings, bank, 2), features);
  }
}

/* Devices compute with float64 in double precision only. */
static GstCaps *
remove_double_on_device (GstCaps *caps)
{
  g_autoptr (GstCaps) single = gst_caps_from_string (GST_ND_TENSORS_CUDA_CAPS);
  GstCaps *kept = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCaps *one = gst_caps_copy_nth (caps, i);

    if (gst_nd_cuda_caps (one, 0)
        && gst_structure_has_name (gst_caps_get_structure (one, 0),
            GST_ND_TENSORS)) {
      GstCaps *both =
          gst_caps_intersect_full (one, single, GST_CAPS_INTERSECT_FIRST);

      gst_caps_unref (one);
      one = both;
    }
    gst_caps_append (kept, one);
  }
  gst_caps_unref (caps);
  return kept;
}

GstCaps *
gst_nd_conv_transform_caps (GstPadDirection direction, const GstCaps *caps,
    const GstNdConvSettings *settings, const NdBankInfo *bank, gboolean device,
    const GstCaps *template)
{
  g_autoptr (GstCaps) other = gst_caps_new_empty ();
  gboolean combines =
      bank->is_complex || settings->conv.response != ND_RESPONSE_ALL;
  gboolean volumes_from_video = FALSE;
  GstCaps *result;

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GstStructure *from = gst_caps_get_structure (caps, i);
    guint before = gst_caps_get_size (other);

    /* Combined responses are written to host memory. */
    if (direction == GST_PAD_SRC && combines && gst_nd_cuda_caps (caps, i))
      continue;
    append_transformed (other, direction, caps, i, settings, bank);
    volumes_from_video |= gst_caps_get_size (other) > before
        && direction == GST_PAD_SRC
        && gst_structure_has_name (from, GST_ND_TENSORS)
        && (bank->n_responses > 1 || bank->is_complex
            || changes_type (settings));
  }
  for (guint i = 0; i < gst_caps_get_size (template); i++) {
    const GstStructure *s = gst_caps_get_structure (template, i);

    if (volumes_from_video && !gst_structure_has_name (s, GST_ND_TENSORS)
        && !gst_nd_cuda_caps (template, i))
      gst_caps_append_structure (other, gst_structure_copy (s));
  }
  if (device)
    gst_nd_cuda_add_caps (other);
  if (!device || (direction == GST_PAD_SINK && combines))
    gst_nd_cuda_remove_caps (other);
  result = gst_caps_intersect_full (other, (GstCaps *) template,
      GST_CAPS_INTERSECT_FIRST);
  return settings->base.device.precision == ND_PRECISION_DOUBLE
      ? result
      : remove_double_on_device (result);
}
