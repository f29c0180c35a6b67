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
#include "gst/algorithm/gstndstructure.h"

#include "analysis/structurewindow.h"
#include "core/threads.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndproperties.h"
#include "gst/conv/gstndconvsettings.h"
#include "gst/gstndelements.h"

/* The numbers are public, as values of properties, and never change. */
typedef enum
{
  GST_ND_UNITS_SAMPLES = 0,
  GST_ND_UNITS_PHYSICAL = 1
} GstNdUnits;

typedef struct
{
  gchar *output;
  NdMotion model;
  gdouble sigma;
  GstNdUnits units;
  GstNdResources resources;
} Settings;

struct _GstNdStructure
{
  GstNdAlgorithm parent;

  /* Protected by the object lock. */
  Settings settings, active;
  NdStructureSettings structure; /* of active; its speed is set by build() */
  guint64 bytes;
};

G_DEFINE_TYPE (GstNdStructure, gst_nd_structure, GST_TYPE_ND_ALGORITHM);
GST_ELEMENT_REGISTER_DEFINE (ndstructure, "ndstructure", GST_RANK_NONE,
    GST_TYPE_ND_STRUCTURE);

static GType
model_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_MOTION_CONSTANT, "One velocity in the window", "constant" },
    { ND_MOTION_AFFINE, "A velocity that varies linearly in the window",
        "affine" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdMotion", values);
}

static GType
units_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { GST_ND_UNITS_SAMPLES, "Samples per volume", "samples" },
    { GST_ND_UNITS_PHYSICAL,
        "mm/s; the caps must have a spacing and a framerate", "physical" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdUnits", values);
}

static const GstNdProperty rows[] = {
  /* Since: 0.9 */
  { "output", "Output",
      "Measures, separated by ';': tensor, eigenvalues, orientation, "
      "certainty, anisotropy, velocity. The output has their components in "
      "this order",
      GST_ND_STRING (Settings, output, "velocity"), GST_ND_PLAYING },
  { "model", "Model", "How the velocity varies in the window",
      GST_ND_ENUM (Settings, model, NdMotion, model_type, ND_MOTION_CONSTANT),
      GST_ND_PLAYING },
  { "sigma", "Sigma",
      "Standard deviation of the window, in samples and volumes; 0: no window",
      GST_ND_DOUBLE (Settings, sigma, 0, ND_STRUCTURE_MAX_SIGMA, 2.5),
      GST_ND_PLAYING },
  { "units", "Units", "Units of the velocity",
      GST_ND_ENUM (Settings, units, GstNdUnits, units_type,
          GST_ND_UNITS_SAMPLES),
      GST_ND_PLAYING },
  { "backend", "Back end", "Device to compute on",
      GST_ND_ENUM (Settings, resources.backend, GstNdBackendKind,
          gst_nd_backend_get_type, GST_ND_BACKEND_AUTO),
      GST_ND_READY },
  { "device-id", "Device ID",
      "GPU to compute on, counted from 0; -1: the GPU of the neighbouring "
      "elements, or the first one",
      GST_ND_INT (Settings, resources.device_id, -1, G_MAXINT, -1),
      GST_ND_READY },
  { "n-threads", "Threads",
      "Threads that compute; 0: the cores that the process may use, or the "
      "environment variable NDCONV_THREADS",
      GST_ND_UINT (Settings, resources.n_threads, 0, ND_MAX_THREADS, 0),
      GST_ND_READY },
};
#define N_ROWS G_N_ELEMENTS (rows)
#define PROP_STATS (N_ROWS + 1)

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

static gboolean
gst_nd_structure_check_settings (GstNdAlgorithm *algorithm, GError **error)
{
  GstNdStructure *self = GST_ND_STRUCTURE (algorithm);
  g_autofree gchar *output = NULL;
  NdStructureSettings structure;

  GST_OBJECT_LOCK (self);
  output = g_strdup (self->settings.output);
  GST_OBJECT_UNLOCK (self);
  return parse_output (output, &structure, error);
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
  if (settings->units == GST_ND_UNITS_PHYSICAL
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
gst_nd_structure_check_input (GstNdAlgorithm *algorithm, const GstNdFormat *in,
    GError **error)
{
  GstNdStructure *self = GST_ND_STRUCTURE (algorithm);
  g_autofree gchar *output = NULL;
  NdStructureSettings structure;
  Settings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  output = g_strdup (settings.output);
  GST_OBJECT_UNLOCK (self);
  settings.output = output;
  if (!parse_output (output, &structure, error))
    return FALSE;
  if (in->is_video || in->type != ND_FLOAT32 || in->responses != 1
      || nd_tensor_axes (in->planes[0].components) == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "ndstructure needs tensors, float32 of 3, 6 or 10 components, and the "
        "input has %u of %s: use a filter with response=tensor before it",
        (guint) in->planes[0].components * in->responses,
        nd_sample_name (in->type));
    return FALSE;
  }
  return !nd_structure_has_velocity (&structure)
      || check_velocity (in, &settings, error);
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
gst_nd_structure_transform_structure (GstNdAlgorithm *algorithm,
    GstPadDirection direction, const GstStructure *from, GstCaps *to)
{
  GstNdStructure *self = GST_ND_STRUCTURE (algorithm);
  const gchar *dimensions = NULL;
  NdStructureSettings structure;

  GST_OBJECT_LOCK (self);
  structure = self->structure;
  GST_OBJECT_UNLOCK (self);
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
    const guint output = nd_structure_output_components (&structure, axes);
    const guint given = g_ascii_strtoull (dimensions, NULL, 10);

    if (direction == GST_PAD_SINK && given == tensor)
      append_with_components (to, from, dimensions, output);
    else if (direction == GST_PAD_SRC && given == output)
      append_with_components (to, from, dimensions, tensor);
  }
}

static void
gst_nd_structure_activate (GstNdAlgorithm *algorithm)
{
  GstNdStructure *self = GST_ND_STRUCTURE (algorithm);

  gst_nd_properties_copy (rows, N_ROWS, &self->active, &self->settings);
  self->structure.model = self->active.model;
  self->structure.sigma = self->active.sigma;
  parse_output (self->active.output, &self->structure, NULL);
}

static void
gst_nd_structure_revert (GstNdAlgorithm *algorithm)
{
  GstNdStructure *self = GST_ND_STRUCTURE (algorithm);

  const GstNdResources resources = self->settings.resources;

  gst_nd_properties_copy (rows, N_ROWS, &self->settings, &self->active);
  self->settings.resources = resources;
}

static void
gst_nd_structure_preview (GstNdAlgorithm *algorithm, gboolean begin)
{
  GstNdStructure *self = GST_ND_STRUCTURE (algorithm);

  parse_output (begin ? self->settings.output : self->active.output,
      &self->structure, NULL);
}

static NdAlgorithm *
gst_nd_structure_build (GstNdAlgorithm *algorithm,
    const NdAlgorithmFuncs *funcs, gint device_id, const GstNdFormat *in,
    const GstNdFormat *out, guint plane, GError **error)
{
  GstNdStructure *self = GST_ND_STRUCTURE (algorithm);
  NdStructureSettings structure;
  NdAlgorithm *built;
  gboolean physical;

  GST_OBJECT_LOCK (self);
  structure = self->structure;
  physical = self->active.units == GST_ND_UNITS_PHYSICAL;
  GST_OBJECT_UNLOCK (self);
  for (guint a = 0; a < 3; a++)
    structure.speed[a] = physical
        ? in->tensors.geometry.spacing[a] * in->rate_n / in->rate_d
        : 1;
  built = funcs->structure_new (&structure, &in->planes[0], device_id, error);
  if (!built)
    return NULL;
  GST_OBJECT_LOCK (self);
  self->bytes = nd_algorithm_bytes (built);
  GST_OBJECT_UNLOCK (self);
  return built;
}

static GstNdResources
gst_nd_structure_get_resources (GstNdAlgorithm *algorithm)
{
  GstNdStructure *self = GST_ND_STRUCTURE (algorithm);
  GstNdResources resources;

  GST_OBJECT_LOCK (self);
  resources = self->settings.resources;
  GST_OBJECT_UNLOCK (self);
  return resources;
}

static void
gst_nd_structure_get_window (GstNdAlgorithm *algorithm, guint *before,
    guint *after)
{
  GstNdStructure *self = GST_ND_STRUCTURE (algorithm);

  GST_OBJECT_LOCK (self);
  *before = *after = nd_structure_window_reach (self->structure.sigma);
  GST_OBJECT_UNLOCK (self);
}

static GstNdChange
gst_nd_structure_change (GstNdAlgorithm *algorithm, NdAlgorithm **algorithms,
    guint n)
{
  GstNdStructure *self = GST_ND_STRUCTURE (algorithm);

  if (g_strcmp0 (self->settings.output, self->active.output) != 0)
    return GST_ND_CHANGE_CAPS;
  for (guint i = 0; i < N_ROWS; i++) {
    if ((rows[i].flags & GST_PARAM_MUTABLE_PLAYING)
        && !gst_nd_property_is_equal (&rows[i], &self->settings, &self->active))
      return GST_ND_CHANGE_STREAM;
  }
  return GST_ND_CHANGE_NONE;
}

static void
gst_nd_structure_add_stats (GstNdAlgorithm *algorithm, GstStructure *stats)
{
  gst_structure_set (stats, "bytes", G_TYPE_UINT64,
      GST_ND_STRUCTURE (algorithm)->bytes, NULL);
}

static void
gst_nd_structure_set_property (GObject *object, guint id, const GValue *value,
    GParamSpec *pspec)
{
  GstNdStructure *self = GST_ND_STRUCTURE (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_set (rows, N_ROWS, &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  gst_nd_algorithm_settings_changed (GST_ND_ALGORITHM (self));
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_structure_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstNdStructure *self = GST_ND_STRUCTURE (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value,
        gst_nd_algorithm_stats (GST_ND_ALGORITHM (self)));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_get (rows, N_ROWS, &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_structure_finalize (GObject *object)
{
  GstNdStructure *self = GST_ND_STRUCTURE (object);

  gst_nd_properties_clear (rows, N_ROWS, &self->settings);
  gst_nd_properties_clear (rows, N_ROWS, &self->active);
  G_OBJECT_CLASS (gst_nd_structure_parent_class)->finalize (object);
}

static void
gst_nd_structure_init (GstNdStructure *self)
{
  gst_nd_properties_init (rows, N_ROWS, &self->settings);
  gst_nd_properties_init (rows, N_ROWS, &self->active);
  gst_nd_structure_activate (GST_ND_ALGORITHM (self));
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
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNdAlgorithmClass *algorithm_class = GST_ND_ALGORITHM_CLASS (klass);

  object_class->set_property = gst_nd_structure_set_property;
  object_class->get_property = gst_nd_structure_get_property;
  object_class->finalize = gst_nd_structure_finalize;
  gst_nd_properties_install (object_class, rows, N_ROWS);
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "backend (string); volumes-in, volumes-out, volumes-late (outputs "
          "that were not computed because they would be late), "
          "stretches (runs of volumes without a break in time), gaps (places "
          "in stretches at which volumes are missing), volumes-missing there, "
          "volumes-outside-segment (outputs outside the segment that a seek "
          "asked for), volumes-lost (downstream did not take their outputs), "
          "volumes-flushed (a flush or a state change discarded them) "
          "(uint64); seconds-min, seconds-mean, seconds-max of computing per "
          "volume (double); bytes of memory (uint64)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

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

  algorithm_class->check_settings = gst_nd_structure_check_settings;
  algorithm_class->check_input = gst_nd_structure_check_input;
  algorithm_class->transform_structure = gst_nd_structure_transform_structure;
  algorithm_class->activate = gst_nd_structure_activate;
  algorithm_class->revert = gst_nd_structure_revert;
  algorithm_class->preview = gst_nd_structure_preview;
  algorithm_class->build = gst_nd_structure_build;
  algorithm_class->get_resources = gst_nd_structure_get_resources;
  algorithm_class->get_window = gst_nd_structure_get_window;
  algorithm_class->change = gst_nd_structure_change;
  algorithm_class->add_stats = gst_nd_structure_add_stats;
  gst_type_mark_as_plugin_api (model_type (), 0);
  gst_type_mark_as_plugin_api (units_type (), 0);
}
