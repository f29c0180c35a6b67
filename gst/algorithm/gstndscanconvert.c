/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-ndscanconvert
 * @title: ndscanconvert
 *
 * Converts volumes or frames of beams to Cartesian ones, and with inverse=true
 * back. The geometry comes from the properties or, with geometry=auto, from the
 * field "beams" of the caps, which has values of the same properties, as in
 * beams="geometry=phased,depth=120,angle=75". docs/algorithms.md has the
 * formulas.
 *
 * Samples of a beam lie along x, unless depth-axis says otherwise; the next
 * axes are the beams of a plane and the planes. The output has x lateral, y
 * depth and z elevation, and its spacing and origin in the caps: mm from the
 * middle of the probe's face. Without spacing and size it covers the beams with
 * about as many samples as they have, equally spaced.
 *
 * Volumes keep their type and components. The table of samples is computed once
 * for a geometry. The element computes on the CPU, and takes volumes in memory
 * of the system only: put cudadownload before it.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 ndtestsrc pattern=rf volume-size=512:128:1 num-buffers=1 ! ndbmode ! ndscanconvert ! ndview ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 ndfilesrc location=beams.mha ! ndscanconvert geometry=curvilinear depth=150 radius=60 angle=58 spacing=0.3 ! ndfilesink location=sector.nrrd
 * ]|
 *
 * Since: 0.9
 */

#include "engine/settings.h"
#include "gst/algorithm/gstndalgorithm.h"
#include "gst/base/gstnderror.h"
#include "gst/gstndelements.h"

#include <string.h>

G_DECLARE_FINAL_TYPE (GstNdScanConvert, gst_nd_scan_convert, GST,
    ND_SCAN_CONVERT, GstNdTemporal)

typedef struct
{
  GstNdTemporalSettings base;
  NdBeams beams;
  NdScanSettings scan;
} Settings;

struct _GstNdScanConvert
{
  GstNdTemporal parent;
};

G_DEFINE_TYPE (GstNdScanConvert, gst_nd_scan_convert, GST_TYPE_ND_TEMPORAL);
GST_ELEMENT_REGISTER_DEFINE (ndscanconvert, "ndscanconvert", GST_RANK_NONE,
    gst_nd_scan_convert_get_type ());

static ND_DEFINE_ENUM (axis_enum, "GstNdScanConvertAxis",
    { ND_AXIS_X, "Depth along x, lateral y, elevation z", "x" },
    { ND_AXIS_Y, "Lateral along x, depth y, elevation z", "y" },
    { ND_AXIS_Z, "Lateral along x, elevation y, depth z", "z" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (NdScanSettings, __VA_ARGS__)

static const NdSetting rows[] = {
  /* Since: 0.9 */
  { "inverse", "Inverse", "Whether Cartesian volumes are converted to beams",
      FIELD (BOOLEAN, inverse, FALSE) },
  { "depth-axis", "Depth axis",
      "The axis of volumes of beams that is the depth",
      FIELD (ENUM, depth_axis, NdAxis, axis_enum, ND_AXIS_X) },
  { "spacing", "Spacing",
      "Distance of Cartesian output samples in mm, one number or X:Y:Z; empty: "
      "chosen",
      FIELD (STRING, spacing, "") },
  { "size", "Size",
      "Samples of the output along x, y and z, X:Y:Z or X:Y; empty: chosen. "
      "inverse=true needs it",
      FIELD (STRING, size, "") },
  { "interpolation", "Interpolation", "Interpolation between samples",
      FIELD (ENUM, interpolation, NdInterpolation, nd_interpolation_enum,
          ND_INTERPOLATION_LINEAR) },
  { "border-value", "Border value",
      "Value of output samples outside of the input",
      FIELD (DOUBLE, border_value, -G_MAXFLOAT, G_MAXFLOAT, 0) },
};

static const Settings *
scan_settings (const GstNdTemporalSettings *settings)
{
  return (const Settings *) settings;
}

/* The conversion of volumes of @in. */
static gboolean
init_scan (const Settings *settings, const GstNdVolumeInfo *in, NdScan *scan,
    GError **error)
{
  NdBeams beams = { 0 };
  gboolean ok = TRUE;

  nd_settings_init (nd_beams_settings, nd_n_beams_settings, &beams);
  if (settings->beams.kind != ND_BEAMS_AUTO)
    nd_settings_assign (nd_beams_settings, nd_n_beams_settings, &beams,
        &settings->beams);
  else if (*in->beams && !settings->scan.inverse)
    ok = nd_beams_parse (in->beams, &beams, error);
  ok = ok
      && nd_scan_init (scan, &beams, &settings->scan, &in->shape, &in->geometry,
          error);
  nd_settings_clear (nd_beams_settings, nd_n_beams_settings, &beams);
  return ok;
}

static gboolean
scan_find_output (const Settings *settings, const GstNdVolumeInfo *in,
    GstNdVolumeInfo *out, GError **error)
{
  gboolean ok = TRUE;
  NdScan scan;

  if (!init_scan (settings, in, &scan, error))
    return FALSE;
  *out = *in;
  out->shape = scan.out;
  out->beams[0] = '\0';
  if (!settings->scan.inverse) {
    out->geometry = scan.grid;
  } else {
    out->geometry.known = FALSE;
    ok = nd_beams_to_text (&settings->beams, out->beams, error);
  }
  nd_scan_clear (&scan);
  return ok;
}

static gboolean
gst_nd_scan_convert_derive (GstNdTemporal *self,
    GstNdTemporalSettings *settings, const GstNdFormat *in, GError **error)
{
  return TRUE;
}

static gboolean
gst_nd_scan_convert_check_input (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, const GstNdFormat *in,
    GError **error)
{
  GstNdVolumeInfo out;

  if (!gst_nd_algorithm_check_plain (settings, in, "ndscanconvert", error))
    return FALSE;
  return scan_find_output (scan_settings (settings), &in->tensors, &out, error);
}

static void
scan_transform_structure (const GstNdTemporalSettings *settings,
    GstPadDirection direction, const GstStructure *from, GstCaps *to)
{
  GstNdVolumeInfo in, out;
  const GstNdVolumeInfo *info = NULL;

  /* If there is none, check_input() says why. */
  if (direction == GST_PAD_SINK && gst_nd_algorithm_read_info (from, &in))
    info = scan_find_output (scan_settings (settings), &in, &out, NULL) ? &out
                                                                        : &in;
  gst_nd_algorithm_append_info (to, from, info);
}

static GstCaps *
gst_nd_scan_convert_transform_caps (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, GstPadDirection direction,
    const GstCaps *caps, gboolean device, const GstCaps *template)
{
  return gst_nd_algorithm_transform_caps (settings, direction, caps, device,
      template, scan_transform_structure);
}

static gboolean
gst_nd_scan_convert_keeps_caps (const GstNdTemporalSettings *settings,
    const GstNdFormat *in, const GstNdFormat *out)
{
  GstNdVolumeInfo wanted;

  return !scan_find_output (scan_settings (settings), &in->tensors, &wanted,
             NULL)
      || gst_nd_algorithm_same_place (&wanted, &out->tensors);
}

static gboolean
gst_nd_scan_convert_may_use_device (const GstNdTemporalSettings *settings)
{
  return FALSE;
}

static gboolean
gst_nd_scan_convert_same_units (const GstNdTemporalSettings *settings,
    const GstNdFormat *a, const GstNdFormat *b)
{
  return gst_nd_algorithm_same_place (&a->tensors, &b->tensors);
}

static NdAlgorithm *
scan_make_algorithm (const GstNdTemporalBuild *build,
    const NdAlgorithmFuncs *funcs, gint device_id, guint plane, GError **error)
{
  NdAlgorithm *algorithm;
  NdScan scan;

  if (!funcs->scan_new) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The back end cannot convert beams: use backend=cpu or auto");
    return NULL;
  }
  if (!init_scan (scan_settings (build->settings), &build->in.tensors, &scan,
          error))
    return NULL;
  algorithm = funcs->scan_new (&scan, build->in.computed, device_id, error);
  nd_scan_clear (&scan);
  return algorithm;
}

static GstNdProcessor *
gst_nd_scan_convert_build (GstNdTemporal *self, GstNdTemporalBuild *build,
    GError **error)
{
  GstNdAlgorithm *algorithm =
      gst_nd_algorithm_new (self, build, 1, scan_make_algorithm, error);

  if (!algorithm)
    return NULL;
  gst_nd_algorithm_set_window (algorithm, 0, 0, 0);
  return &algorithm->processor;
}

static void
gst_nd_scan_convert_init (GstNdScanConvert *self)
{
}

static void
gst_nd_scan_convert_class_init (GstNdScanConvertClass *klass)
{
  static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
      GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_ND_TENSORS_CAPS));
  static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
      GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_ND_TENSORS_CAPS));
  const GstNdTemporalPart parts[] = {
    { nd_beams_settings, nd_n_beams_settings,
        G_STRUCT_OFFSET (Settings, beams) },
    { rows, G_N_ELEMENTS (rows), G_STRUCT_OFFSET (Settings, scan) },
  };
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNdTemporalClass *temporal_class = GST_ND_TEMPORAL_CLASS (klass);

  gst_nd_temporal_class_install (temporal_class, parts, G_N_ELEMENTS (parts), 0,
      sizeof (Settings), sizeof (Settings),
      "backend (string); " GST_ND_TEMPORAL_STATS);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Scan conversion",
      "Filter/Converter/Video",
      "Converts volumes of the beams of an ultrasound probe to Cartesian ones, "
      "and back",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndtestsrc pattern=beams volume-size=256:96:1 "
      "num-buffers=9 ! ndscanconvert ! fakesink");

  temporal_class->derive = gst_nd_scan_convert_derive;
  temporal_class->check_input = gst_nd_scan_convert_check_input;
  temporal_class->transform_caps = gst_nd_scan_convert_transform_caps;
  temporal_class->keeps_caps = gst_nd_scan_convert_keeps_caps;
  temporal_class->may_use_device = gst_nd_scan_convert_may_use_device;
  temporal_class->same_units = gst_nd_scan_convert_same_units;
  temporal_class->build = gst_nd_scan_convert_build;
}
