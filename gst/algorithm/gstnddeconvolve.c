/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-nddeconvolve
 * @title: nddeconvolve
 *
 * Removes the blur of a known point spread function from each volume or frame
 * of a stream, by the method of Richardson and Lucy, with total variation as an
 * option. docs/algorithms.md has the formulas.
 *
 * N volumes in give N volumes out, at once, with the timestamps and the type of
 * the input. Each component is deconvolved by itself; alpha and chroma, which
 * are no intensities, pass unchanged. Samples below 0 count as 0, and samples
 * that are not finite are missing.
 *
 * The property psf is a filter text of one real filter without negative
 * coefficients along x, y and z, as in the filters; it is scaled to sum 1. A
 * point spread function that was measured is psf,location=FILE.
 *
 * The element computes on the CPU, and takes volumes in memory of the system
 * only: put cudadownload before it.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 ndfilesrc location=cells.npy ! nddeconvolve psf="psf,wavelength=520nm,aperture=0.8,sampling=80nm:80nm:200nm" iterations=20 ! ndfilesink location=sharp.npy
 * ]|
 * |[
 * gst-launch-1.0 ndfilesrc location=cells.npy ! nddeconvolve psf="psf,location=bead.npy" tv=0.002 tolerance=0.001 iterations=100 ! ndfilesink location=sharp.npy
 * ]|
 *
 * Since: 0.9
 */

#include "filters/text.h"
#include "filters/units.h"
#include "gst/algorithm/gstndalgorithm.h"
#include "gst/base/gstnderror.h"
#include "gst/gstndelements.h"

#include <string.h>

G_DECLARE_FINAL_TYPE (GstNdDeconvolve, gst_nd_deconvolve, GST, ND_DECONVOLVE,
    GstNdTemporal)

typedef struct
{
  GstNdTemporalSettings base;
  NdDeconvolverSettings own;
  gchar *psf;

  gboolean derived; /* no field is */
} Settings;

struct _GstNdDeconvolve
{
  GstNdTemporal parent;

  NdDeconvolution last; /* protected by the object lock */
};

G_DEFINE_TYPE (GstNdDeconvolve, gst_nd_deconvolve, GST_TYPE_ND_TEMPORAL);
GST_ELEMENT_REGISTER_DEFINE (nddeconvolve, "nddeconvolve", GST_RANK_NONE,
    gst_nd_deconvolve_get_type ());

static const NdSetting rows[] = {
  /* Since: 0.9 */
  { "psf", "Point spread function",
      "The blur, a filter along x, y and z as in the property filter of "
      "ndconv3d: \"psf,location=bead.npy\", \"gaussian,sigma=1.5\". It is "
      "scaled to sum 1",
      ND_FIELD_STRING (Settings, psf, NULL), ND_PLAYING },
};

static const Settings *
deconvolve_settings (const GstNdTemporalSettings *settings)
{
  return (const Settings *) settings;
}

/* The distance of samples in mm; 0: unknown. */
static void
deconvolve_get_steps (const GstNdFormat *in, gdouble step[ND_AXES])
{
  for (guint a = 0; a < ND_AXES; a++)
    step[a] = a == ND_AXIS_T || in->is_video || !in->tensors.geometry.known
        ? 0
        : in->tensors.geometry.spacing[a];
}

/* @in: NULL if it is unknown. */
static NdAxes
deconvolve_find_axes (const GstNdFormat *in)
{
  NdAxes axes = { .n = 3, .axis = { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z } };

  if (!in)
    return axes;
  for (guint a = 0; a < ND_AXIS_T; a++)
    axes.single[a] = in->planes[0].size[a] == 1;
  deconvolve_get_steps (in, axes.step);
  return axes;
}

static gboolean
gst_nd_deconvolve_derive (GstNdTemporal *self, GstNdTemporalSettings *base,
    const GstNdFormat *in, GError **error)
{
  const NdAxes axes = deconvolve_find_axes (in);
  NdBankInfo info;

  if (nd_bank_info_from_text (deconvolve_settings (base)->psf, &axes, &info,
          error)) {
    if (info.n_responses == 1 && !info.is_complex)
      return TRUE;
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The psf is %s; it must be one real filter",
        info.is_complex ? "complex" : "a bank of several filters");
  }
  g_prefix_error (error, "Property psf: ");
  return FALSE;
}

static gboolean
gst_nd_deconvolve_check_input (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, const GstNdFormat *in,
    GError **error)
{
  if (in->responses > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %u responses of a bank, but nddeconvolve takes volumes "
        "of one: put nddeconvolve before the bank",
        in->responses);
  else if (gst_nd_format_has_fields (in))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The video is interlaced, and fields are not deconvolved: put "
        "'deinterlace' before nddeconvolve");
  else if (settings->device.backend == ND_BACKEND_GPU)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "backend=cuda cannot deconvolve volumes yet: use backend=cpu or auto");
  else
    return TRUE;
  return FALSE;
}

static GstCaps *
gst_nd_deconvolve_transform_caps (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, GstPadDirection direction,
    const GstCaps *caps, gboolean device, const GstCaps *template)
{
  return gst_nd_algorithm_transform_caps (settings, direction, caps, device,
      template, NULL);
}

static gboolean
gst_nd_deconvolve_may_use_device (const GstNdTemporalSettings *settings)
{
  return FALSE;
}

static gboolean
gst_nd_deconvolve_same_units (const GstNdTemporalSettings *settings,
    const GstNdFormat *a, const GstNdFormat *b)
{
  const gchar *psf = deconvolve_settings (settings)->psf;
  gdouble p[ND_AXES], q[ND_AXES];

  deconvolve_get_steps (a, p);
  deconvolve_get_steps (b, q);
  return !psf || !nd_units_are_in (psf) || memcmp (p, q, sizeof (p)) == 0;
}

static NdAlgorithm *
deconvolve_make_plane (const GstNdTemporalBuild *build,
    const NdAlgorithmFuncs *funcs, gint device_id, guint plane, GError **error)
{
  const Settings *settings = deconvolve_settings (build->settings);
  const GstNdFormat *in = &build->in;
  const NdAxes axes = deconvolve_find_axes (in);
  const NdDeconvolveOptions options = { settings->own.deconvolve,
    settings->own.border, settings->own.border_value };
  const guint64 kept =
      gst_nd_format_is_alpha (in, plane) || gst_nd_format_zero (in, plane) != 0
      ? G_MAXUINT64
      : gst_nd_format_kept (in, plane);
  g_autoptr (NdBank) psf = NULL;
  NdAlgorithm *algorithm = NULL;

  if (!funcs->deconvolve_new) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The back end cannot deconvolve volumes: use backend=cpu or auto");
    return NULL;
  }
  psf = nd_bank_from_text (settings->psf, &axes, NULL, FALSE, FALSE,
      &build->cancelled, error);
  if (psf)
    algorithm = funcs->deconvolve_new (&options, psf, &in->planes[plane],
        in->computed, kept, device_id, error);
  if (!algorithm)
    g_prefix_error (error, "Property psf: ");
  return algorithm;
}

static GstNdProcessor *
gst_nd_deconvolve_build (GstNdTemporal *self, GstNdTemporalBuild *build,
    GError **error)
{
  GstNdAlgorithm *algorithm = gst_nd_algorithm_new (self, build,
      build->in.n_planes, deconvolve_make_plane, error);

  if (!algorithm)
    return NULL;
  gst_nd_algorithm_set_window (algorithm, 0, 0, 0);
  return &algorithm->processor;
}

static void
gst_nd_deconvolve_use (GstNdTemporal *self, GstNdProcessor *processor,
    const GstNdTemporalSettings *settings)
{
  const GstNdAlgorithm *algorithm = (GstNdAlgorithm *) processor;

  for (guint p = 0; p < algorithm->n_planes; p++)
    nd_algorithm_set_deconvolve (algorithm->planes[p],
        &deconvolve_settings (settings)->own.deconvolve);
}

static void
gst_nd_deconvolve_responded (GstNdTemporal *temporal, GstNdProcessor *processor)
{
  GstNdDeconvolve *self = GST_ND_DECONVOLVE (temporal);
  const GstNdAlgorithm *algorithm = (GstNdAlgorithm *) processor;

  self->last = (NdDeconvolution){ 0 };
  for (guint p = 0; p < algorithm->n_planes; p++) {
    const NdDeconvolution *plane =
        nd_algorithm_deconvolution (algorithm->planes[p]);

    self->last.iterations = MAX (self->last.iterations, plane->iterations);
    self->last.residue = MAX (self->last.residue, plane->residue);
  }
}

static void
gst_nd_deconvolve_add_stats (GstNdTemporal *temporal,
    const GstNdTemporalSettings *active, GstStructure *stats)
{
  const NdDeconvolution *last = &GST_ND_DECONVOLVE (temporal)->last;

  gst_structure_set (stats, "iterations", G_TYPE_UINT, last->iterations,
      "residue", G_TYPE_DOUBLE, last->residue, NULL);
}

static void
gst_nd_deconvolve_clear_stats (GstNdTemporal *temporal)
{
  GST_ND_DECONVOLVE (temporal)->last = (NdDeconvolution){ 0 };
}

static void
gst_nd_deconvolve_init (GstNdDeconvolve *self)
{
}

static void
gst_nd_deconvolve_class_init (GstNdDeconvolveClass *klass)
{
  static GstStaticPadTemplate sink_template =
      GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
          GST_STATIC_CAPS (GST_ND_TENSORS_CAPS "; " GST_ND_VIDEO_CAPS));
  static GstStaticPadTemplate src_template =
      GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
          GST_STATIC_CAPS (GST_ND_TENSORS_CAPS "; " GST_ND_VIDEO_CAPS));
  const GstNdTemporalPart parts[] = {
    { rows, G_N_ELEMENTS (rows), 0 },
    { nd_deconvolver_settings, nd_n_deconvolver_settings,
        G_STRUCT_OFFSET (Settings, own) },
  };
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNdTemporalClass *temporal_class = GST_ND_TEMPORAL_CLASS (klass);

  gst_nd_temporal_class_install (temporal_class, parts, G_N_ELEMENTS (parts), 0,
      sizeof (Settings), G_STRUCT_OFFSET (Settings, derived),
      "backend (string); of the last output, the largest of all components: "
      "iterations (uint); residue (double), the root of the squared "
      "differences between the input and the estimate blurred again, before "
      "the last iteration, as a share of the input; " GST_ND_TEMPORAL_STATS);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Deconvolution of volumes and frames", "Filter/Effect/Video",
      "Removes the blur of a point spread function from each volume",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndfilesrc location=cells.npy ! nddeconvolve "
      "psf=gaussian,sigma=1.5 iterations=20 ! ndfilesink location=sharp.npy");

  temporal_class->derive = gst_nd_deconvolve_derive;
  temporal_class->check_input = gst_nd_deconvolve_check_input;
  temporal_class->transform_caps = gst_nd_deconvolve_transform_caps;
  temporal_class->may_use_device = gst_nd_deconvolve_may_use_device;
  temporal_class->same_units = gst_nd_deconvolve_same_units;
  temporal_class->build = gst_nd_deconvolve_build;
  temporal_class->use = gst_nd_deconvolve_use;
  temporal_class->responded = gst_nd_deconvolve_responded;
  temporal_class->add_stats = gst_nd_deconvolve_add_stats;
  temporal_class->clear_stats = gst_nd_deconvolve_clear_stats;
}
