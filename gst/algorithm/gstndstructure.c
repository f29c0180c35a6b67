/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-ndstructure
 * @title: ndstructure
 *
 * Takes a stream of orientation tensors, as the filters give them with
 * response=tensor, averages them over a Gaussian window in space and time, and
 * gives measures of the local structure: the tensor itself, its eigenvalues,
 * the orientation, a certainty, the shares of lines, planes and points, and the
 * velocity. docs/algorithms.md has the formulas and the order of components.
 *
 * Tensors are float32 of 3 components (over x, y), 6 (over x, y, t for frames
 * and x, y, z for volumes) or 10 (over x, y, z, t). The velocity needs t. The
 * output is float32. N volumes in give N volumes out, each with the timestamp
 * of its input; the window reaches 2 sigma in time, which is reported as
 * latency.
 *
 * If a tensor is degenerate, or not finite, all measures are 0, the certainty
 * among them.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 ndtestsrc pattern=heart ! ndconv4dtemporal filter="monomial-bank,size=9,order=2.0" response=tensor ! ndstructure output=velocity ! ndfilesink location=velocity.nrrd
 * ]|
 *
 * Since: 0.9
 */

#include "gst/algorithm/gstndalgorithm.h"
#include "gst/base/gstnderror.h"
#include "gst/gstndelements.h"

G_DECLARE_FINAL_TYPE (GstNdStructure, gst_nd_structure, GST, ND_STRUCTURE,
    GstNdTemporal)

typedef struct
{
  GstNdTemporalSettings base;
  NdStructurerSettings own;

  /* Derived from these, but for its speed. */
  NdStructureSettings structure;
} Settings;

struct _GstNdStructure
{
  GstNdTemporal parent;
};

G_DEFINE_TYPE (GstNdStructure, gst_nd_structure, GST_TYPE_ND_TEMPORAL);
GST_ELEMENT_REGISTER_DEFINE (ndstructure, "ndstructure", GST_RANK_NONE,
    gst_nd_structure_get_type ());

/* Reads the property `output`. */
static gboolean
parse_output (const gchar *text, NdStructureSettings *structure, GError **error)
{
  static const gchar *const names[] = {
    [ND_STRUCTURE_TENSOR] = "tensor",
    [ND_STRUCTURE_EIGENVALUES] = "eigenvalues",
    [ND_STRUCTURE_ORIENTATION] = "orientation",
    [ND_STRUCTURE_CERTAINTY] = "certainty",
    [ND_STRUCTURE_ANISOTROPY] = "anisotropy",
    [ND_STRUCTURE_VELOCITY] = "velocity",
  };
  g_auto (GStrv) parts = g_strsplit (text ? text : "", ";", -1);

  structure->n_structures = 0;
  for (guint i = 0; parts[i]; i++) {
    guint k = 0;

    g_strstrip (parts[i]);
    while (k < G_N_ELEMENTS (names)
        && g_ascii_strcasecmp (parts[i], names[k]) != 0)
      k++;
    if (k == G_N_ELEMENTS (names)
        || structure->n_structures == ND_MAX_STRUCTURES) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "output is \"%s\", but it must be one or several, up to %d, of "
          "tensor, eigenvalues, orientation, certainty, anisotropy and "
          "velocity, separated by ';'",
          text ? text : "", ND_MAX_STRUCTURES);
      return FALSE;
    }
    structure->structures[structure->n_structures++] = k;
  }
  return TRUE;
}

static const Settings *
structure_settings (const GstNdTemporalSettings *settings)
{
  return (const Settings *) settings;
}

static gboolean
gst_nd_structure_derive (GstNdTemporal *self, GstNdTemporalSettings *base,
    const GstNdFormat *in, GError **error)
{
  Settings *settings = (Settings *) base;

  settings->structure.model = settings->own.model;
  settings->structure.sigma = settings->own.sigma;
  return parse_output (settings->own.output, &settings->structure, error);
}

static gboolean
check_velocity (const GstNdFormat *in, const Settings *settings, GError **error)
{
  const guint axes = nd_tensor_axes (in->planes[0].components);

  if (axes < 3 || (axes == 3 && in->planes[0].size[2] > 1)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The tensors have %u components, but output=velocity needs them over "
        "time: use ndconv4dtemporal for volumes, or ndconv3d over x, y and t "
        "for frames",
        (guint) in->planes[0].components);
    return FALSE;
  }
  if (settings->own.units == ND_UNITS_PHYSICAL
      && (!in->tensors.geometry.known || in->rate_n <= 0)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "units=physical needs a spacing and a framerate in the caps, and the "
        "input has %s: use units=samples",
        in->rate_n > 0 ? "no spacing" : "no framerate");
    return FALSE;
  }
  return TRUE;
}

static gboolean
gst_nd_structure_check_input (GstNdTemporal *self,
    const GstNdTemporalSettings *base, const GstNdFormat *in, GError **error)
{
  const Settings *settings = structure_settings (base);

  if (in->is_video || in->type != ND_FLOAT32 || in->responses != 1
      || nd_tensor_axes (in->planes[0].components) == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "ndstructure needs tensors, float32 of 3, 6 or 10 components, and the "
        "input has %u of %s: use a filter with response=tensor before it",
        (guint) in->planes[0].components * in->responses,
        nd_sample_name (in->type));
    return FALSE;
  }
  return !nd_structure_has_velocity (&settings->structure)
      || check_velocity (in, settings, error);
}

/* The number before the first ':' of the dimensions is replaced. */
static void
append_with_components (GstCaps *to, const GstStructure *from,
    const gchar *dimensions, guint components)
{
  const gchar *rest = strchr (dimensions, ':');
  g_autofree gchar *text =
      g_strdup_printf ("%u%s", components, rest ? rest : "");
  GstStructure *s = gst_structure_copy (from);

  gst_structure_set (s, "dimensions", G_TYPE_STRING, text, "types",
      G_TYPE_STRING, "float32", NULL);
  gst_caps_append_structure (to, s);
}

static void
transform_structure (const GstNdTemporalSettings *settings,
    GstPadDirection direction, const GstStructure *from, GstCaps *to)
{
  const NdStructureSettings *structure =
      &structure_settings (settings)->structure;
  const gchar *dimensions = NULL;

  if (gst_structure_has_field_typed (from, "dimensions", G_TYPE_STRING))
    dimensions = gst_structure_get_string (from, "dimensions");
  if (!dimensions) {
    GstStructure *s = gst_structure_copy (from);

    gst_structure_remove_field (s, "dimensions");
    gst_structure_set (s, "types", G_TYPE_STRING, "float32", NULL);
    gst_caps_append_structure (to, s);
    return;
  }
  for (guint axes = 2; axes <= ND_TENSOR_MAX_AXES; axes++) {
    const guint tensor = nd_tensor_components (axes);
    const guint output = nd_structure_output_components (structure, axes);
    const guint given = g_ascii_strtoull (dimensions, NULL, 10);

    if (direction == GST_PAD_SINK && given == tensor)
      append_with_components (to, from, dimensions, output);
    else if (direction == GST_PAD_SRC && given == output)
      append_with_components (to, from, dimensions, tensor);
  }
}

static GstCaps *
gst_nd_structure_transform_caps (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, GstPadDirection direction,
    const GstCaps *caps, gboolean device, const GstCaps *template)
{
  return gst_nd_algorithm_transform_caps (settings, direction, caps, device,
      template, transform_structure);
}

static gboolean
gst_nd_structure_keeps_caps (const GstNdTemporalSettings *settings,
    const GstNdFormat *in, const GstNdFormat *out)
{
  return nd_structure_output_components (&structure_settings (settings)
                                              ->structure,
             nd_tensor_axes (in->planes[0].components))
      == out->planes[0].components;
}

static gboolean
gst_nd_structure_same_units (const GstNdTemporalSettings *settings,
    const GstNdFormat *a, const GstNdFormat *b)
{
  gboolean same =
      (gint64) a->rate_n * b->rate_d == (gint64) b->rate_n * a->rate_d;

  for (guint i = 0; i < 3; i++)
    same &= a->tensors.geometry.spacing[i] == b->tensors.geometry.spacing[i];
  return same || structure_settings (settings)->own.units == ND_UNITS_SAMPLES;
}

static NdAlgorithm *
structure_make_plane (const GstNdTemporalBuild *build,
    const NdAlgorithmFuncs *funcs, gint device_id, guint plane, GError **error)
{
  const Settings *settings = structure_settings (build->settings);
  NdStructureSettings structure = settings->structure;
  const GstNdFormat *in = &build->in;

  for (guint a = 0; a < 3; a++)
    structure.speed[a] = settings->own.units == ND_UNITS_PHYSICAL
        ? in->tensors.geometry.spacing[a] * in->rate_n / in->rate_d
        : 1;
  return funcs->structure_new (&structure, &in->planes[plane], device_id,
      error);
}

static GstNdProcessor *
gst_nd_structure_build (GstNdTemporal *self, GstNdTemporalBuild *build,
    GError **error)
{
  GstNdAlgorithm *structure = gst_nd_algorithm_new (self, build,
      build->in.n_planes, structure_make_plane, error);
  guint reach;

  if (!structure)
    return NULL;
  reach = nd_structure_window_reach (structure_settings (build->settings)
                                         ->own.sigma);
  gst_nd_algorithm_set_window (structure, reach, reach, 0);
  return &structure->processor;
}

static void
gst_nd_structure_init (GstNdStructure *self)
{
}

static void
gst_nd_structure_class_init (GstNdStructureClass *klass)
{
  static GstStaticPadTemplate sink_template =
      GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
          GST_STATIC_CAPS (GST_ND_TENSORS_CAPS "; " GST_ND_TENSORS_CUDA_CAPS));
  static GstStaticPadTemplate src_template =
      GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
          GST_STATIC_CAPS (GST_ND_TENSORS_CAPS "; " GST_ND_TENSORS_CUDA_CAPS));
  const GstNdTemporalPart parts[] = {
    { nd_structurer_settings, nd_n_structurer_settings,
        G_STRUCT_OFFSET (Settings, own) },
  };
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNdTemporalClass *temporal_class = GST_ND_TEMPORAL_CLASS (klass);

  gst_nd_temporal_class_install (temporal_class, parts, G_N_ELEMENTS (parts), 0,
      sizeof (Settings), G_STRUCT_OFFSET (Settings, structure),
      "backend (string); " GST_ND_TEMPORAL_STATS);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Local structure and velocity", "Filter/Analyzer/Video",
      "Averages orientation tensors and gives eigenvalues, orientation and "
      "velocity",
      "the ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndtestsrc volume-size=48:48:48 num-buffers=20 ! "
      "ndconv4dtemporal filter=\"monomial-bank,size=7\" response=tensor ! "
      "ndstructure ! fakesink");

  temporal_class->derive = gst_nd_structure_derive;
  temporal_class->check_input = gst_nd_structure_check_input;
  temporal_class->transform_caps = gst_nd_structure_transform_caps;
  temporal_class->keeps_caps = gst_nd_structure_keeps_caps;
  temporal_class->same_units = gst_nd_structure_same_units;
  temporal_class->build = gst_nd_structure_build;
}
