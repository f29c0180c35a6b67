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
 * noise=poisson and noise=rician turn samples into numbers whose noise is the
 * same everywhere, and the denoised numbers back, without a bias. Gain, offset
 * and read noise, or sigma, are estimated unless properties give them. There is
 * no CUDA version of these two yet, nor of noise=correlated and sigma-map.
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

#include "filters/text.h"
#include "gst/algorithm/gstndalgorithm.h"
#include "gst/base/gstndcuda.h"
#include "gst/base/gstnderror.h"
#include "gst/gstndelements.h"

#include <string.h>

G_DECLARE_FINAL_TYPE (GstNdDenoise, gst_nd_denoise, GST, ND_DENOISE,
    GstNdTemporal)

typedef struct
{
  GstNdTemporalSettings base;
  NdDenoiserSettings own;
} Settings;

struct _GstNdDenoise
{
  GstNdTemporal parent;

  /* Of the last output; protected by the object lock. */
  gdouble sigma;
  NdNoiseFound found;
  gboolean has_certainty;
};

G_DEFINE_TYPE (GstNdDenoise, gst_nd_denoise, GST_TYPE_ND_TEMPORAL);
GST_ELEMENT_REGISTER_DEFINE (nddenoise, "nddenoise", GST_RANK_NONE,
    gst_nd_denoise_get_type ());

static const Settings *
denoise_settings (const GstNdTemporalSettings *settings)
{
  return (const Settings *) settings;
}

/* Whether the map is a file. */
static gboolean
has_map_file (const NdDenoiserSettings *settings)
{
  return nd_denoiser_has_map (settings)
      && strcmp (settings->sigma_map, "auto") != 0;
}

/* Whether the noise is estimated from the stream. */
static gboolean
estimates (const NdDenoiserSettings *settings)
{
  const NdDenoiseSettings *denoise = &settings->denoise;

  if (nd_denoiser_has_map (settings))
    return !has_map_file (settings);
  if (denoise->noise == ND_NOISE_POISSON)
    return denoise->gain == 0;
  return denoise->noise == ND_NOISE_CORRELATED || denoise->sigma == 0;
}

static gboolean
gst_nd_denoise_derive (GstNdTemporal *self, GstNdTemporalSettings *settings,
    const GstNdFormat *in, GError **error)
{
  return nd_denoiser_check (&denoise_settings (settings)->own, error);
}

static gboolean
gst_nd_denoise_check_input (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, const GstNdFormat *in,
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
  else if (has_map_file (&denoise_settings (settings)->own) && in->n_planes > 1
      && memcmp (in->planes[0].size, in->planes[1].size,
             sizeof (in->planes[0].size))
          != 0)
    g_set_error_literal (error, ND_ERROR, ND_ERROR_FORMAT,
        "sigma-map=FILE needs planes of one size: put videoconvert before "
        "nddenoise, or use sigma-map=auto");
  else
    return TRUE;
  return FALSE;
}

static GstCaps *
gst_nd_denoise_transform_caps (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, GstPadDirection direction,
    const GstCaps *caps, gboolean device, const GstCaps *template)
{
  return gst_nd_algorithm_transform_caps (settings, direction, caps, device,
      template, NULL);
}

/* Volumes with the components of orientation tensors may be others. Those of 3
 * components are more often colours or velocities. */
static void
warn_of_tensors (GstNdTemporal *self, const GstNdFormat *in)
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

/* The file of sigma-map, of volumes of @size. */
static NdBank *
load_map (const gchar *location, const gsize size[3], GError **error)
{
  const NdAxes axes = { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z } };
  g_autoptr (GString) text = g_string_new ("file,location=\"");
  g_autoptr (NdBank) bank = NULL;
  const NdFilter *filter, *imaginary;

  for (const gchar *c = location; *c; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_c (text, '\\');
    g_string_append_c (text, *c);
  }
  g_string_append_c (text, '"');
  bank = nd_bank_from_text (text->str, &axes, NULL, FALSE, FALSE, NULL, error);
  if (!bank)
    return NULL;
  nd_bank_get_filter (bank, 0, &filter, &imaginary);
  if (imaginary || nd_bank_responses (bank) != 1 || filter->size[3] != 1
      || memcmp (filter->size, size, 3 * sizeof (gsize)) != 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "sigma-map=%s has %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT " samples, but volumes have %" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT,
        location, filter->size[0], filter->size[1], filter->size[2], size[0],
        size[1], size[2]);
    return NULL;
  }
  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++) {
    /* Neither samples divided by it nor numbers times it leave the range of
     * floats. */
    if (filter->coefficients[i] >= ND_DENOISE_MIN_SIGMA
        && filter->coefficients[i] <= 1 / ND_DENOISE_MIN_SIGMA)
      continue;
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "sigma-map=%s has %g at sample %" G_GSIZE_FORMAT
        ": use values above 0, from %g to %g",
        location, filter->coefficients[i], i, ND_DENOISE_MIN_SIGMA,
        1 / ND_DENOISE_MIN_SIGMA);
    return NULL;
  }
  return g_steal_pointer (&bank);
}

static NdAlgorithm *
denoise_make_plane (const GstNdTemporalBuild *build,
    const NdAlgorithmFuncs *funcs, gint device_id, guint plane, GError **error)
{
  const Settings *settings = denoise_settings (build->settings);
  const NdDenoiseBorders borders = { settings->own.border,
    settings->own.time_border, settings->own.border_value };
  NdDenoiseSettings denoise = settings->own.denoise;
  g_autoptr (NdBank) bank = NULL;

  denoise.has_map = nd_denoiser_has_map (&settings->own);
  if (has_map_file (&settings->own)) {
    bank =
        load_map (settings->own.sigma_map, build->in.planes[plane].size, error);
    if (!bank)
      return NULL;
    denoise.map = bank->filters[0]->coefficients;
  }
  return funcs->denoise_new (&denoise, &borders, &build->in.planes[plane],
      build->in.computed, gst_nd_format_kept (&build->in, plane), device_id,
      error);
}

/* If the noise is estimated, an output uses the estimates of many volumes. */
static void
set_window (GstNdAlgorithm *denoise, const Settings *settings)
{
  guint before, after;

  nd_denoise_window (&settings->own.denoise, &before, &after);
  gst_nd_algorithm_set_window (denoise, before, after,
      estimates (&settings->own) ? ND_DENOISE_MAX_ESTIMATES : 0);
}

static GstNdProcessor *
gst_nd_denoise_build (GstNdTemporal *self, GstNdTemporalBuild *build,
    GError **error)
{
  const Settings *settings = denoise_settings (build->settings);
  GstNdAlgorithm *denoise = gst_nd_algorithm_new (self, build,
      build->in.n_planes, denoise_make_plane, error);

  if (!denoise)
    return NULL;
  set_window (denoise, settings);
  if (settings->own.denoise.sigma == 0)
    warn_of_tensors (self, &build->in);
  return &denoise->processor;
}

static void
gst_nd_denoise_use (GstNdTemporal *self, GstNdProcessor *processor,
    const GstNdTemporalSettings *settings)
{
  GstNdAlgorithm *denoise = (GstNdAlgorithm *) processor;

  set_window (denoise, denoise_settings (settings));
  for (guint p = 0; p < denoise->n_planes; p++)
    nd_algorithm_set_strength (denoise->planes[p],
        &denoise_settings (settings)->own.denoise);
}

static void
gst_nd_denoise_responded (GstNdTemporal *self, GstNdProcessor *processor)
{
  GstNdDenoise *denoise = GST_ND_DENOISE (self);
  const NdAlgorithm *algorithm = ((GstNdAlgorithm *) processor)->planes[0];

  denoise->sigma = nd_algorithm_sigma (algorithm);
  denoise->found = nd_algorithm_found (algorithm);
  denoise->has_certainty = algorithm->klass->found != NULL;
}

static void
gst_nd_denoise_add_stats (GstNdTemporal *self,
    const GstNdTemporalSettings *active, GstStructure *stats)
{
  const NdDenoiseSettings *denoise = &denoise_settings (active)->own.denoise;
  const NdNoiseFound *found = &GST_ND_DENOISE (self)->found;

  gst_structure_set (stats, "method", G_TYPE_STRING,
      denoise->method == ND_DENOISE_ADAPTIVE
              || denoise->noise == ND_NOISE_SPECKLE
          ? "adaptive"
          : "transform",
      "sigma", G_TYPE_DOUBLE, GST_ND_DENOISE (self)->sigma, NULL);
  /* The model of one sigma has none. */
  if (GST_ND_DENOISE (self)->has_certainty)
    gst_structure_set (stats, "certainty", G_TYPE_DOUBLE, found->certainty,
        NULL);
  if (denoise->noise == ND_NOISE_POISSON)
    gst_structure_set (stats, "gain", G_TYPE_DOUBLE, found->gain,
        "variance-of-zero", G_TYPE_DOUBLE, found->constant, NULL);
}

static void
gst_nd_denoise_init (GstNdDenoise *self)
{
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
  const GstNdTemporalPart parts[] = {
    { nd_denoiser_settings, nd_n_denoiser_settings,
        G_STRUCT_OFFSET (Settings, own) },
  };
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNdTemporalClass *temporal_class = GST_ND_TEMPORAL_CLASS (klass);

  gst_nd_temporal_class_install (temporal_class, parts, G_N_ELEMENTS (parts), 0,
      sizeof (Settings), sizeof (Settings),
      "backend, method (strings); of the last output sigma and, with "
      "noise=poisson, rician and correlated and with sigma-map, certainty from "
      "0, nothing found, to 1, given or exact; with noise=poisson "
      "gain and variance-of-zero: the variance of a sample x is gain x + "
      "variance-of-zero (doubles); " GST_ND_TEMPORAL_STATS);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Denoising of volumes and frames", "Filter/Effect/Video",
      "Takes noise out of a stream by a sliding 4D DCT",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndtestsrc pattern=heart noise=8 ! nddenoise ! ndview "
      "! videoconvert ! autovideosink");

  temporal_class->derive = gst_nd_denoise_derive;
  temporal_class->check_input = gst_nd_denoise_check_input;
  temporal_class->transform_caps = gst_nd_denoise_transform_caps;
  temporal_class->build = gst_nd_denoise_build;
  temporal_class->use = gst_nd_denoise_use;
  temporal_class->responded = gst_nd_denoise_responded;
  temporal_class->add_stats = gst_nd_denoise_add_stats;
}
