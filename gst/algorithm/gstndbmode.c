/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-ndbmode
 * @title: ndbmode
 *
 * Makes B-mode volumes or frames of RF lines (1 component) or IQ lines (2
 * components, re and im) along x: the complex signal, its envelope, the
 * logarithm. docs/algorithms.md has the formulas.
 *
 * Without center-frequency, RF becomes its analytic signal; with it, RF is
 * demodulated, low-passed and decimated, and IQ is shifted by it. 0 dB is the
 * full scale of the input: 1 for floats. The middle of unsigned samples is 0.
 * White is 255 (uint8, floats), 127, 32767 or 65535.
 *
 * A field "beams" of the caps (see ndscanconvert) goes on to the output. The
 * element computes on the CPU, and takes volumes in memory of the system only:
 * put cudadownload before it.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 ndtestsrc pattern=rf volume-size=512:128:1 num-buffers=1 ! ndbmode ! ndscanconvert ! ndview ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 ndfilesrc location=rf.npy ! ndbmode center-frequency=5e6 sampling-frequency=40e6 decimation=4 gain=20 tgc=0:6:15 ! ndfilesink location=bmode.nrrd
 * ]|
 *
 * Since: 0.9
 */

#include "gst/algorithm/gstndalgorithm.h"
#include "gst/base/gstnderror.h"
#include "gst/gstndelements.h"

G_DECLARE_FINAL_TYPE (GstNdBmode, gst_nd_bmode, GST, ND_BMODE, GstNdTemporal)

typedef struct
{
  GstNdTemporalSettings base;
  NdBmodeSettings own;
} Settings;

struct _GstNdBmode
{
  GstNdTemporal parent;
};

G_DEFINE_TYPE (GstNdBmode, gst_nd_bmode, GST_TYPE_ND_TEMPORAL);
GST_ELEMENT_REGISTER_DEFINE (ndbmode, "ndbmode", GST_RANK_NONE,
    gst_nd_bmode_get_type ());

static ND_DEFINE_ENUM (output_enum, "GstNdBmodeOutput",
    { ND_BMODE_GREY, "The logarithm of the envelope, of output-type", "bmode" },
    { ND_BMODE_ENVELOPE, "The envelope, float32", "envelope" },
    { ND_BMODE_IQ, "The complex signal, float32 of 2 components", "iq" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (NdBmodeSettings, __VA_ARGS__)

static const NdSetting rows[] = {
  /* Since: 0.9 */
  { "center-frequency", "Centre frequency",
      "Centre frequency of RF, or of the rest in IQ; 0: RF becomes its "
      "analytic signal, and IQ stays",
      FIELD (DOUBLE, center_frequency, 0, 1e12, 0), .unit = "Hz" },
  { "sampling-frequency", "Sampling frequency",
      "Samples of a line in a second; center-frequency needs it",
      FIELD (DOUBLE, sampling_frequency, 0, 1e12, 0), .unit = "Hz" },
  { "decimation", "Decimation",
      "Every how many samples an output is made, after a low-pass of half of "
      "that rate; RF needs center-frequency for it",
      FIELD (UINT, decimation, 1, 1024, 1) },
  { "dynamic-range", "Dynamic range", "Decibels from black to white",
      FIELD (DOUBLE, dynamic_range, 1, 1000, 60), .unit = "dB" },
  { "gain", "Gain", "Gain of all samples", FIELD (DOUBLE, gain, -1000, 1000, 0),
      .unit = "dB" },
  { "tgc", "Time gain compensation",
      "Gains from the first to the last sample of a line in dB, evenly spaced "
      "and separated by ':', with straight lines between them; empty: none",
      FIELD (STRING, tgc, "") },
  { "output", "Output", "What is put out",
      FIELD (ENUM, output, NdBmodeOutput, output_enum, ND_BMODE_GREY) },
  { "output-type", "Output type", "Sample type of output=bmode",
      FIELD (ENUM, output_type, NdSampleType, nd_sample_enum, ND_UINT8) },
};

static const Settings *
bmode_settings (const GstNdTemporalSettings *settings)
{
  return (const Settings *) settings;
}

/* The last sample is another one if only every @decimation-th stays. */
static gboolean
decimate_beams (gchar beams[ND_BEAMS_TEXT], gsize n, guint decimation,
    GError **error)
{
  const gsize last = (n - 1) / decimation * decimation;
  NdBeams geometry = { 0 };
  gboolean ok = TRUE;

  nd_settings_init (nd_beams_settings, nd_n_beams_settings, &geometry);
  if (*beams && n > 1 && nd_beams_parse (beams, &geometry, NULL)) {
    geometry.depth = geometry.start_depth
        + (geometry.depth - geometry.start_depth) * last / (n - 1.);
    ok = nd_beams_to_text (&geometry, beams, error);
  }
  nd_settings_clear (nd_beams_settings, nd_n_beams_settings, &geometry);
  return ok;
}

static gboolean
bmode_find_output (const NdBmodeSettings *settings, const GstNdVolumeInfo *in,
    GstNdVolumeInfo *out, GError **error)
{
  if (!nd_bmode_check (settings, &in->shape, error))
    return FALSE;
  *out = *in;
  out->shape = nd_bmode_shape (settings, &in->shape);
  out->type =
      settings->output == ND_BMODE_GREY ? settings->output_type : ND_FLOAT32;
  out->geometry.spacing[0] *= settings->decimation;
  if (settings->decimation > 1)
    return decimate_beams (out->beams, in->shape.size[0], settings->decimation,
        error);
  return TRUE;
}

static gboolean
gst_nd_bmode_derive (GstNdTemporal *self, GstNdTemporalSettings *settings,
    const GstNdFormat *in, GError **error)
{
  return TRUE;
}

static gboolean
gst_nd_bmode_check_input (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, const GstNdFormat *in,
    GError **error)
{
  GstNdVolumeInfo out;

  if (!gst_nd_algorithm_check_plain (settings, in, "ndbmode", error))
    return FALSE;
  return bmode_find_output (&bmode_settings (settings)->own, &in->tensors, &out,
      error);
}

static void
bmode_transform_structure (const GstNdTemporalSettings *settings,
    GstPadDirection direction, const GstStructure *from, GstCaps *to)
{
  const NdBmodeSettings *own = &bmode_settings (settings)->own;
  const NdSampleType type =
      own->output == ND_BMODE_GREY ? own->output_type : ND_FLOAT32;
  g_autoptr (GstStructure) typed = gst_structure_copy (from);
  const GstNdVolumeInfo *info = NULL;
  GstNdVolumeInfo in, out;

  /* If there is none, check_input() says why. */
  if (direction == GST_PAD_SINK && gst_nd_algorithm_read_info (from, &in))
    info = bmode_find_output (own, &in, &out, NULL) ? &out : &in;
  if (direction == GST_PAD_SINK)
    gst_structure_set (typed, "types", G_TYPE_STRING, nd_sample_name (type),
        NULL);
  else
    gst_structure_remove_field (typed, "types");
  gst_nd_algorithm_append_info (to, typed, info);
}

static GstCaps *
gst_nd_bmode_transform_caps (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, GstPadDirection direction,
    const GstCaps *caps, gboolean device, const GstCaps *template)
{
  return gst_nd_algorithm_transform_caps (settings, direction, caps, device,
      template, bmode_transform_structure);
}

static gboolean
gst_nd_bmode_keeps_caps (const GstNdTemporalSettings *settings,
    const GstNdFormat *in, const GstNdFormat *out)
{
  GstNdVolumeInfo wanted;

  return !bmode_find_output (&bmode_settings (settings)->own, &in->tensors,
             &wanted, NULL)
      || (wanted.type == out->tensors.type
          && gst_nd_algorithm_same_place (&wanted, &out->tensors));
}

static gboolean
gst_nd_bmode_may_use_device (const GstNdTemporalSettings *settings)
{
  return FALSE;
}

static NdAlgorithm *
bmode_make_algorithm (const GstNdTemporalBuild *build,
    const NdAlgorithmFuncs *funcs, gint device_id, guint plane, GError **error)
{
  const NdBmodeSettings *settings = &bmode_settings (build->settings)->own;
  const GstNdVolumeInfo *in = &build->in.tensors;
  const NdSampleType type =
      settings->output == ND_BMODE_GREY ? settings->output_type : ND_FLOAT32;
  NdAlgorithm *algorithm;
  NdBmode bmode;

  if (!funcs->bmode_new) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The back end cannot make B-mode: use backend=cpu or auto");
    return NULL;
  }
  if (!nd_bmode_init (&bmode, settings, &in->shape, in->type, error))
    return NULL;
  algorithm = funcs->bmode_new (&bmode, build->in.computed,
      nd_sample_computed (type, ND_PRECISION_SINGLE), device_id, error);
  nd_bmode_clear (&bmode);
  return algorithm;
}

static GstNdProcessor *
gst_nd_bmode_build (GstNdTemporal *self, GstNdTemporalBuild *build,
    GError **error)
{
  GstNdAlgorithm *algorithm =
      gst_nd_algorithm_new (self, build, 1, bmode_make_algorithm, error);

  if (!algorithm)
    return NULL;
  gst_nd_algorithm_set_window (algorithm, 0, 0, 0);
  return &algorithm->processor;
}

static void
gst_nd_bmode_init (GstNdBmode *self)
{
}

static void
gst_nd_bmode_class_init (GstNdBmodeClass *klass)
{
  static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
      GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_ND_TENSORS_CAPS));
  static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
      GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_ND_TENSORS_CAPS));
  const GstNdTemporalPart parts[] = {
    { rows, G_N_ELEMENTS (rows), G_STRUCT_OFFSET (Settings, own) },
  };
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNdTemporalClass *temporal_class = GST_ND_TEMPORAL_CLASS (klass);

  gst_nd_temporal_class_install (temporal_class, parts, G_N_ELEMENTS (parts), 0,
      sizeof (Settings), sizeof (Settings),
      "backend (string); " GST_ND_TEMPORAL_STATS);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "RF or IQ to B-mode",
      "Filter/Converter/Video",
      "Makes the envelope of RF or IQ lines along x, and its logarithm",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndtestsrc pattern=rf volume-size=512:96:1 num-buffers=9 "
      "! ndbmode dynamic-range=50 ! fakesink");

  temporal_class->derive = gst_nd_bmode_derive;
  temporal_class->check_input = gst_nd_bmode_check_input;
  temporal_class->transform_caps = gst_nd_bmode_transform_caps;
  temporal_class->keeps_caps = gst_nd_bmode_keeps_caps;
  temporal_class->may_use_device = gst_nd_bmode_may_use_device;
  temporal_class->build = gst_nd_bmode_build;
}
