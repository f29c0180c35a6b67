/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-nddenoise
 * @title: nddenoise
 *
 * Takes noise out of a stream of volumes or frames. method=transform shrinks
 * the coefficients of the DCT of all blocks of 4 x 4 x 4 samples and 4 volumes,
 * twice: first it sets small coefficients to 0, then it weights each by its
 * energy in the first result. It keeps edges and thin structures that a
 * Gaussian filter blurs. docs/algorithms.md has formulas and figures.
 *
 * method=adaptive keeps the high frequencies only in the directions in which a
 * structure tensor finds structure. It is the method of Eklund and others.
 *
 * noise=speckle is for log-compressed ultrasound. It filters mostly in space,
 * whatever the method, and measures the noise.
 *
 * N volumes in give N volumes out, with the timestamps and the type of the
 * input. An output waits for 'latency' further volumes, which is reported as
 * latency; with more of them the result is better. quality=best computes each
 * output anew with all volumes that have arrived. The noise must be white and
 * additive. Its standard deviation is estimated from the last volumes unless
 * 'sigma' gives it; 'strength' multiplies it. If noise exceeds the range of an
 * integer type, clipping shifts the mean: the element undoes this if as many
 * samples are clipped as the noise explains.
 *
 * motion=true adds a third stage. It estimates the flow from the output to the
 * 3 volumes before it and up to 3 after it, moves them along the flow, and
 * shrinks the blocks of the moved volumes.
 *
 * On a GPU volumes stay in memory of the device between elements.
 *
 * Components and planes are denoised separately, each with its own estimate of
 * the noise: red, green and blue, the channels of a microscope, or the
 * components of a velocity. Orientation tensors, as response=tensor gives them,
 * are not suited, because their noise is neither white nor additive, and the
 * results are no tensors. Put the element before the filter, and smooth tensors
 * by the property sigma of ndstructure. The caps do not tell tensors from other
 * volumes, so that a warning tells this for 6 and 10 components of float32
 * unless 'sigma' is set. Alpha stays as it is. NaN and
 * infinite samples reach two blocks far or, with method=adaptive, 12 samples
 * and 3 volumes, and no further. With motion=true they reach 40 samples and 9
 * volumes.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 ndtestsrc pattern=heart noise=6 ! nddenoise ! ndview ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 ndfilesrc location=heart.nii.gz ! nddenoise latency=5 strength=1.2 ! ndfilesink location=clean.nii.gz
 * ]|
 *
 * Since: 0.9
 */
#include "gst/algorithm/gstnddenoise.h"

#include "analysis/structure.h"
#include "core/threads.h"
#include "gst/base/gstndcuda.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndproperties.h"
#include "gst/conv/gstndconvsettings.h"
#include "gst/gstndelements.h"

typedef struct
{
  NdDenoiseSettings denoise;
  NdBorder border, time_border;
  gdouble border_value;
  GstNdResources resources;
} Settings;

struct _GstNdDenoise
{
  GstNdAlgorithm parent;

  /* Protected by the object lock. */
  Settings settings, active;
  gdouble sigma; /* of the last output */
  guint64 bytes;
};

G_DEFINE_TYPE (GstNdDenoise, gst_nd_denoise, GST_TYPE_ND_ALGORITHM);
GST_ELEMENT_REGISTER_DEFINE (nddenoise, "nddenoise", GST_RANK_NONE,
    GST_TYPE_ND_DENOISE);

static GType
method_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_DENOISE_TRANSFORM,
        "Makes the small coefficients of a sliding 4D DCT "
        "smaller",
        "transform" },
    { ND_DENOISE_ADAPTIVE,
        "Filters across edges and lines less than along them, controlled by "
        "the structure tensor",
        "adaptive" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdDenoiseMethod", values);
}

static GType
noise_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_NOISE_ADDITIVE, "White, the same everywhere", "additive" },
    { ND_NOISE_SPECKLE,
        "Speckle of ultrasound after log compression: filters in space, "
        "whatever the method",
        "speckle" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdNoise", values);
}

static GType
quality_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_QUALITY_FAST, "Each block of 4 volumes is computed once", "fast" },
    { ND_QUALITY_BEST,
        "Each output is computed from all its blocks with all that is known: "
        "slower. With latency=5, blocks have 8 volumes",
        "best" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdDenoiseQuality", values);
}

static GType
axes_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_AXES_SPACE_TIME, "Space and time", "space-time" },
    { ND_AXES_SPACE, "Space: each volume by itself", "space" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdDenoiseAxes", values);
}

static const GstNdProperty rows[] = {
  /* Since: 0.9 */
  { "method", "Method", "Method of denoising",
      GST_ND_ENUM (Settings, denoise.method, NdDenoiseMethod, method_type,
          ND_DENOISE_TRANSFORM),
      GST_ND_PLAYING },
  { "sigma", "Sigma",
      "Standard deviation of the noise, in sample values; 0: it is estimated "
      "from the last 15 volumes; stats has the estimate",
      GST_ND_DOUBLE (Settings, denoise.sigma, 0, G_MAXFLOAT, 0),
      GST_ND_PLAYING },
  { "noise", "Noise", "Kind of the noise",
      GST_ND_ENUM (Settings, denoise.noise, NdNoise, noise_type,
          ND_NOISE_ADDITIVE),
      GST_ND_PLAYING },
  { "latency", "Latency",
      "Number of later volumes that an output waits for; more of them improve "
      "the result",
      GST_ND_UINT (Settings, denoise.latency, 0, ND_DENOISE_MAX_LATENCY, 3),
      GST_ND_PLAYING },
  { "quality", "Quality", "Speed or quality",
      GST_ND_ENUM (Settings, denoise.quality, NdDenoiseQuality, quality_type,
          ND_QUALITY_FAST),
      GST_ND_PLAYING },
  { "motion", "Motion",
      "Move the volumes around an output along their flow and denoise them "
      "again, which keeps more of moving structures and takes about 5 times "
      "the time; for method=transform and noise=additive, with which quality "
      "then does not count",
      GST_ND_BOOLEAN (Settings, denoise.motion, FALSE), GST_ND_PLAYING },
  { "strength", "Strength",
      "Factor of sigma: 0 changes nothing, values above 1 smooth more than "
      "the noise requires",
      GST_ND_DOUBLE (Settings, denoise.strength, 0, ND_DENOISE_MAX_STRENGTH, 1),
      GST_ND_PLAYING },
  { "axes", "Axes",
      "Axes along which method=adaptive filters. With space each volume is "
      "filtered by itself, and outputs wait for no other volume",
      GST_ND_ENUM (Settings, denoise.axes, NdDenoiseAxes, axes_type,
          ND_AXES_SPACE_TIME),
      GST_ND_PLAYING },
  { "m-sigma", "Sigma of m",
      "method=adaptive: m is the share of the high frequencies that is kept in "
      "the strongest direction. It is 1/2 for structure that is stronger than "
      "noise by this factor; larger values smooth more",
      GST_ND_DOUBLE (Settings, denoise.remap.m_sigma, 1e-3, 1e6, ND_M_SIGMA),
      GST_ND_PLAYING },
  { "m-alpha", "Alpha of m",
      "method=adaptive: if it is above 0, m decreases for strong structure",
      GST_ND_DOUBLE (Settings, denoise.remap.m_alpha, 0, 10, 0),
      GST_ND_PLAYING },
  { "m-beta", "Beta of m",
      "method=adaptive: how steeply m rises from noise to structure",
      GST_ND_DOUBLE (Settings, denoise.remap.m_beta, .1, 20, ND_M_BETA),
      GST_ND_PLAYING },
  { "m-j", "J of m",
      "method=adaptive: m is the root of this order; above 1, "
      "more is kept",
      GST_ND_DOUBLE (Settings, denoise.remap.m_j, .1, 20, 1), GST_ND_PLAYING },
  { "mu-alpha", "Alpha of mu",
      "method=adaptive: mu is the share that is kept in a direction, relative "
      "to the next stronger direction. It is 1/2 if the strengths have this "
      "ratio",
      GST_ND_DOUBLE (Settings, denoise.remap.mu_alpha, 0, .99, ND_MU_ALPHA),
      GST_ND_PLAYING },
  { "mu-beta", "Beta of mu",
      "method=adaptive: how steeply mu rises with that ratio",
      GST_ND_DOUBLE (Settings, denoise.remap.mu_beta, .1, 20, ND_MU_BETA),
      GST_ND_PLAYING },
  { "mu-j", "J of mu",
      "method=adaptive: mu is the root of this order; above "
      "1, more is kept",
      GST_ND_DOUBLE (Settings, denoise.remap.mu_j, .1, 20, 1), GST_ND_PLAYING },
  { "border", "Border", "Samples beyond the edges in x, y and z",
      GST_ND_ENUM (Settings, border, NdBorder, gst_nd_border_get_type,
          ND_BORDER_MIRROR),
      GST_ND_PLAYING },
  { "border-value", "Border value",
      "Sample value for border=constant and time-border=constant",
      GST_ND_DOUBLE (Settings, border_value, -G_MAXFLOAT, G_MAXFLOAT, 0),
      GST_ND_PLAYING },
  { "time-border", "Time border",
      "Volumes before the first and after the last one of a stretch; nearest "
      "and reflect repeat the noise of a volume, so that more of it remains; "
      "wrap is refused",
      GST_ND_ENUM (Settings, time_border, NdBorder, gst_nd_border_get_type,
          ND_BORDER_MIRROR),
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

static gboolean
gst_nd_denoise_check_settings (GstNdAlgorithm *algorithm, GError **error)
{
  GstNdDenoise *self = GST_ND_DENOISE (algorithm);
  const gchar *text = NULL;
  Settings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  if (settings.time_border == ND_BORDER_WRAP)
    text = "time-border=wrap would need the whole stream: use constant, "
           "nearest, reflect or mirror";
  if (text) {
    g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS, text);
    return FALSE;
  }
  return TRUE;
}

static gboolean
gst_nd_denoise_check_input (GstNdAlgorithm *algorithm, const GstNdFormat *in,
    GError **error)
{
  if (in->responses > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %u responses of a bank, but nddenoise takes volumes of "
        "one: put nddenoise before the bank",
        in->responses);
  else if (gst_nd_format_has_fields (in))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The video is interlaced, and fields are not denoised: put "
        "'deinterlace' before nddenoise");
  else
    return TRUE;
  return FALSE;
}

static void
gst_nd_denoise_transform_structure (GstNdAlgorithm *algorithm,
    GstPadDirection direction, const GstStructure *from, GstCaps *to)
{
  gst_caps_append_structure (to, gst_structure_copy (from));
}

static void
gst_nd_denoise_activate (GstNdAlgorithm *algorithm)
{
  GstNdDenoise *self = GST_ND_DENOISE (algorithm);

  self->active = self->settings;
}

static void
gst_nd_denoise_revert (GstNdAlgorithm *algorithm)
{
  GstNdDenoise *self = GST_ND_DENOISE (algorithm);
  const GstNdResources resources = self->settings.resources;

  self->settings = self->active;
  self->settings.resources = resources;
}

/* Volumes with the components of orientation tensors may be others. Those of 3
 * components are more often colours or velocities. */
static void
warn_of_tensors (GstNdDenoise *self, const GstNdFormat *in)
{
  const gsize components = in->planes[0].components;

  if (in->is_video || in->type != ND_FLOAT32 || components == 3
      || nd_tensor_axes (components) == 0)
    return;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("The input has %u components of float32, as orientation tensors have. "
       "The noise of tensors is not white: put nddenoise before the filter "
       "with response=tensor. For other volumes set sigma",
          (guint) components),
      ("Each component is denoised separately"));
}

static NdAlgorithm *
gst_nd_denoise_build (GstNdAlgorithm *algorithm, const NdAlgorithmFuncs *funcs,
    gint device_id, const GstNdFormat *in, const GstNdFormat *out, guint plane,
    GError **error)
{
  GstNdDenoise *self = GST_ND_DENOISE (algorithm);
  NdDenoiseBorders borders;
  NdAlgorithm *denoise;
  Settings active;

  GST_OBJECT_LOCK (self);
  active = self->active;
  GST_OBJECT_UNLOCK (self);
  borders = (NdDenoiseBorders){ active.border, active.time_border,
    active.border_value };
  denoise = funcs->denoise_new (&active.denoise, &borders, &in->planes[plane],
      in->computed, gst_nd_format_kept (in, plane), device_id, error);
  if (!denoise)
    return NULL;
  if (plane == 0 && active.denoise.sigma == 0)
    warn_of_tensors (self, in);
  GST_OBJECT_LOCK (self);
  self->bytes = (plane ? self->bytes : 0) + nd_algorithm_bytes (denoise);
  GST_OBJECT_UNLOCK (self);
  return denoise;
}

static GstNdResources
gst_nd_denoise_get_resources (GstNdAlgorithm *algorithm)
{
  GstNdDenoise *self = GST_ND_DENOISE (algorithm);
  GstNdResources resources;

  GST_OBJECT_LOCK (self);
  resources = self->settings.resources;
  GST_OBJECT_UNLOCK (self);
  return resources;
}

static void
gst_nd_denoise_get_window (GstNdAlgorithm *algorithm, guint *before,
    guint *after)
{
  GstNdDenoise *self = GST_ND_DENOISE (algorithm);

  GST_OBJECT_LOCK (self);
  nd_denoise_window (&self->active.denoise, before, after);
  GST_OBJECT_UNLOCK (self);
}

/* An output uses the estimates of the noise of this many volumes. */
static guint
gst_nd_denoise_get_memory (GstNdAlgorithm *algorithm)
{
  GstNdDenoise *self = GST_ND_DENOISE (algorithm);
  guint memory;

  GST_OBJECT_LOCK (self);
  memory = self->active.denoise.sigma == 0 ? ND_DENOISE_MAX_ESTIMATES : 0;
  GST_OBJECT_UNLOCK (self);
  return memory;
}

static GstNdChange
gst_nd_denoise_change (GstNdAlgorithm *algorithm, NdAlgorithm **algorithms,
    guint n)
{
  GstNdDenoise *self = GST_ND_DENOISE (algorithm);
  const Settings *a = &self->settings, *b = &self->active;

  if (a->denoise.method != b->denoise.method
      || a->denoise.noise != b->denoise.noise
      || a->denoise.quality != b->denoise.quality
      || a->denoise.latency != b->denoise.latency
      || a->denoise.axes != b->denoise.axes
      || memcmp (&a->denoise.remap, &b->denoise.remap, sizeof (NdAdaptiveRemap))
          != 0
      || a->denoise.motion != b->denoise.motion || a->border != b->border
      || a->time_border != b->time_border || a->border_value != b->border_value)
    return GST_ND_CHANGE_STREAM;
  self->active = self->settings;
  for (guint i = 0; i < n; i++)
    nd_algorithm_set_strength (algorithms[i], &self->active.denoise);
  return GST_ND_CHANGE_NONE;
}

static void
gst_nd_denoise_update_stats (GstNdAlgorithm *algorithm,
    NdAlgorithm **algorithms, guint n)
{
  GST_ND_DENOISE (algorithm)->sigma = nd_algorithm_sigma (algorithms[0]);
}

static void
gst_nd_denoise_add_stats (GstNdAlgorithm *algorithm, GstStructure *stats)
{
  GstNdDenoise *self = GST_ND_DENOISE (algorithm);

  gst_structure_set (stats, "method", G_TYPE_STRING,
      self->active.denoise.method == ND_DENOISE_ADAPTIVE
              || self->active.denoise.noise == ND_NOISE_SPECKLE
          ? "adaptive"
          : "transform",
      "sigma", G_TYPE_DOUBLE, self->sigma, "bytes", G_TYPE_UINT64, self->bytes,
      NULL);
}

static void
gst_nd_denoise_set_property (GObject *object, guint id, const GValue *value,
    GParamSpec *pspec)
{
  GstNdDenoise *self = GST_ND_DENOISE (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_set (rows, N_ROWS, &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  gst_nd_algorithm_settings_changed (GST_ND_ALGORITHM (self));
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_denoise_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstNdDenoise *self = GST_ND_DENOISE (object);

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
gst_nd_denoise_init (GstNdDenoise *self)
{
  gst_nd_properties_init (rows, N_ROWS, &self->settings);
  self->active = self->settings;
}

#define DENOISE_CAPS                                           \
  GST_ND_TENSORS_CAPS                                          \
  "; " GST_ND_VIDEO_CAPS "; " GST_ND_TENSORS_CUDA_CAPS         \
  "; " GST_VIDEO_CAPS_MAKE_WITH_FEATURES (GST_ND_FEATURE_CUDA, \
      GST_ND_CUDA_VIDEO_FORMATS)

static void
gst_nd_denoise_class_init (GstNdDenoiseClass *klass)
{
  static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
      GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (DENOISE_CAPS));
  static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
      GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (DENOISE_CAPS));
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNdAlgorithmClass *algorithm_class = GST_ND_ALGORITHM_CLASS (klass);

  object_class->set_property = gst_nd_denoise_set_property;
  object_class->get_property = gst_nd_denoise_get_property;
  gst_nd_properties_install (object_class, rows, N_ROWS);
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "backend, method (strings); volumes-in, volumes-out, volumes-late "
          "(outputs that were not computed because they would be late), "
          "stretches (runs of volumes without a break in time), gaps (places "
          "in stretches at which volumes are missing), volumes-missing there, "
          "volumes-outside-segment (outputs outside the segment that a seek "
          "asked for), volumes-lost (downstream did not take their outputs), "
          "volumes-flushed (a flush or a state change discarded them) "
          "(uint64); seconds-min, seconds-mean, seconds-max of computing per "
          "volume; sigma of the last output (double); bytes of memory "
          "(uint64)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Denoising of volumes and frames", "Filter/Effect/Video",
      "Takes noise out of a stream by a sliding 4D DCT",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndtestsrc pattern=heart noise=8 ! nddenoise ! ndview "
      "! videoconvert ! autovideosink");

  algorithm_class->check_settings = gst_nd_denoise_check_settings;
  algorithm_class->check_input = gst_nd_denoise_check_input;
  algorithm_class->transform_structure = gst_nd_denoise_transform_structure;
  algorithm_class->activate = gst_nd_denoise_activate;
  algorithm_class->revert = gst_nd_denoise_revert;
  algorithm_class->build = gst_nd_denoise_build;
  algorithm_class->get_resources = gst_nd_denoise_get_resources;
  algorithm_class->get_window = gst_nd_denoise_get_window;
  algorithm_class->get_memory = gst_nd_denoise_get_memory;
  algorithm_class->change = gst_nd_denoise_change;
  algorithm_class->update_stats = gst_nd_denoise_update_stats;
  algorithm_class->add_stats = gst_nd_denoise_add_stats;
  gst_type_mark_as_plugin_api (method_type (), 0);
  gst_type_mark_as_plugin_api (noise_type (), 0);
  gst_type_mark_as_plugin_api (quality_type (), 0);
  gst_type_mark_as_plugin_api (axes_type (), 0);
}
