/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-ndrank
 * @title: ndrank
 *
 * Sorts the samples under a footprint in space and time, and puts out the one
 * at a rank: a median, percentile, minimum or maximum. With the minimum
 * (erosion) and the maximum (dilation) it also computes the opening, the
 * closing, their differences from the input (top-hat, black-hat) and the
 * morphological gradient. A median removes impulses and keeps edges; a median
 * over time is the background of what moves; a top-hat removes a background.
 *
 * The footprint is a box, a ball, a cross, a file, or any other filter: the
 * samples count whose coefficient is not 0. It is not flipped, as in
 * scipy.ndimage; dilation alone negates its offsets.
 *
 * N volumes in give N volumes out, with the timestamps and the type of the
 * input. Integers are exact; differences are saturated to the type of the
 * input. NaN counts as larger than all other samples: a maximum is NaN if one
 * sample is, a minimum if all are. An output waits for the later volumes of the
 * footprint, which is reported as latency; opening and closing wait for twice
 * as many. Each of erosion and dilation reads the border of its own input.
 *
 * Components and planes are sorted separately. Alpha stays as it is.
 * Differences of YUV video are refused, because its chroma has no order.
 *
 * The element computes on the CPU, and takes volumes in memory of the system
 * only: put cudadownload before it.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 ndfilesrc location=heart.nii.gz ! ndrank footprint=3:3:3:3 ! ndfilesink location=clean.nii.gz
 * ]|
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! video/x-raw,format=GRAY8 ! ndrank operation=tophat footprint=ball,radius=12 ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.9
 */

#include "engine/window.h"
#include "gst/algorithm/gstndalgorithm.h"
#include "gst/base/gstnderror.h"
#include "gst/gstndelements.h"

G_DECLARE_FINAL_TYPE (GstNdRank, gst_nd_rank, GST, ND_RANK, GstNdTemporal)

typedef struct
{
  GstNdTemporalSettings base;
  NdRankerSettings own;
} Settings;

struct _GstNdRank
{
  GstNdTemporal parent;
};

G_DEFINE_TYPE (GstNdRank, gst_nd_rank, GST_TYPE_ND_TEMPORAL);
GST_ELEMENT_REGISTER_DEFINE (ndrank, "ndrank", GST_RANK_NONE,
    gst_nd_rank_get_type ());

static const NdRankerSettings *
rank_settings (const GstNdTemporalSettings *settings)
{
  return &((const Settings *) settings)->own;
}

static gboolean
gst_nd_rank_derive (GstNdTemporal *self, GstNdTemporalSettings *settings,
    const GstNdFormat *in, GError **error)
{
  const NdRankerSettings *own = rank_settings (settings);

  if (own->time_border != ND_BORDER_WRAP)
    return nd_footprint_check_text (own->footprint, error);
  g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
      "time-border=wrap would need the whole stream: use constant, nearest, "
      "reflect or mirror");
  return FALSE;
}

static gboolean
gst_nd_rank_check_input (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, const GstNdFormat *in,
    GError **error)
{
  const NdRankPlan plan =
      nd_rank_plan (rank_settings (settings)->operation, 0, 1);

  if (in->responses > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %u responses of a bank, but ndrank takes volumes of "
        "one: put ndrank before the bank",
        in->responses);
  else if (gst_nd_format_has_fields (in))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The video is interlaced, and its fields show different times: put "
        "'deinterlace' before ndrank");
  else if (plan.result != ND_RANK_LAST && in->is_video
      && GST_VIDEO_INFO_IS_YUV (&in->video))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Differences of chroma are no colours: convert the video to GRAY8 or "
        "RGB before ndrank, or use an operation other than tophat, blackhat "
        "and gradient");
  else if (settings->device.backend == ND_BACKEND_GPU)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "backend=cuda cannot sort samples yet: use backend=cpu or auto");
  else
    return TRUE;
  return FALSE;
}

static GstCaps *
gst_nd_rank_transform_caps (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, GstPadDirection direction,
    const GstCaps *caps, gboolean device, const GstCaps *template)
{
  return gst_nd_algorithm_transform_caps (settings, direction, caps, device,
      template, NULL);
}

static gboolean
gst_nd_rank_may_use_device (const GstNdTemporalSettings *settings)
{
  return FALSE;
}

/* Outputs are samples of the input, or their differences. */
static NdPrecision
gst_nd_rank_find_precision (const GstNdTemporalSettings *settings,
    NdSampleType type)
{
  return type == ND_FLOAT64 ? ND_PRECISION_DOUBLE
                            : nd_sample_precision (type, ND_PRECISION_SINGLE);
}

/* The footprint for the volumes of plane 0. */
static NdFootprint *
make_footprint (const GstNdTemporalBuild *build, GError **error)
{
  const NdRankerSettings *own = rank_settings (build->settings);
  gboolean single[ND_AXES] = { FALSE };

  for (guint a = 0; a < 3; a++)
    single[a] = build->in.planes[0].size[a] == 1;
  return nd_footprint_from_text (own->footprint, own->origin, own->causal,
      single, &build->cancelled, error);
}

static NdRankOptions
rank_options (const NdRankerSettings *own, const NdFootprint *footprint)
{
  return (NdRankOptions){
    .operation = own->operation,
    .percentile = own->percentile,
    .footprint = footprint,
    .border = own->border,
    .time_border = own->time_border,
    .border_value = own->border_value,
  };
}

static NdAlgorithm *
rank_make_plane (const GstNdTemporalBuild *build, const NdAlgorithmFuncs *funcs,
    gint device_id, guint plane, GError **error)
{
  g_autoptr (NdFootprint) footprint = NULL;
  NdRankOptions options;

  if (!funcs->rank_new) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The back end cannot sort samples: use backend=cpu or auto");
    return NULL;
  }
  footprint = make_footprint (build, error);
  if (!footprint)
    return NULL;
  options = rank_options (rank_settings (build->settings), footprint);
  return funcs->rank_new (&options, &build->in.planes[plane],
      build->in.computed, gst_nd_format_kept (&build->in, plane), device_id,
      error);
}

/* Volumes of two sorts, one after the other or side by side. */
static guint
join (guint a, guint b, gboolean chained)
{
  return chained ? a + b : MAX (a, b);
}

static void
rank_set_window (GstNdProcessor *processor, const NdRankOptions *options)
{
  const gint *low = options->footprint->low, *high = options->footprint->high;
  const NdRankPlan plan = nd_rank_plan (options->operation, options->percentile,
      options->footprint->n);

  for (guint i = 0; i < plan.n_passes; i++) {
    const gboolean negated = plan.passes[i].negated;
    NdWindow window;

    nd_window_init (&window, negated ? high[ND_AXIS_T] : -low[ND_AXIS_T],
        negated ? -low[ND_AXIS_T] : high[ND_AXIS_T], options->time_border);
    processor->before = join (processor->before, window.before, plan.chained);
    processor->after = join (processor->after, window.after, plan.chained);
    processor->delay =
        join (processor->delay, nd_window_delay (&window), plan.chained);
    processor->back =
        join (processor->back, nd_window_back (&window), plan.chained);
  }
  processor->ahead = processor->delay;
}

static GstNdProcessor *
gst_nd_rank_build (GstNdTemporal *self, GstNdTemporalBuild *build,
    GError **error)
{
  g_autoptr (NdFootprint) footprint = make_footprint (build, error);
  GstNdAlgorithm *algorithm;
  NdRankOptions options;

  if (!footprint)
    return NULL;
  options = rank_options (rank_settings (build->settings), footprint);
  algorithm = gst_nd_algorithm_new (self, build, build->in.n_planes,
      rank_make_plane, error);
  if (!algorithm)
    return NULL;
  rank_set_window (&algorithm->processor, &options);
  return &algorithm->processor;
}

static void
gst_nd_rank_init (GstNdRank *self)
{
}

static void
gst_nd_rank_class_init (GstNdRankClass *klass)
{
  static GstStaticPadTemplate sink_template =
      GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
          GST_STATIC_CAPS (GST_ND_TENSORS_CAPS "; " GST_ND_VIDEO_CAPS));
  static GstStaticPadTemplate src_template =
      GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
          GST_STATIC_CAPS (GST_ND_TENSORS_CAPS "; " GST_ND_VIDEO_CAPS));
  const GstNdTemporalPart parts[] = {
    { nd_ranker_settings, nd_n_ranker_settings,
        G_STRUCT_OFFSET (Settings, own) },
  };
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNdTemporalClass *temporal_class = GST_ND_TEMPORAL_CLASS (klass);

  gst_nd_temporal_class_install (temporal_class, parts, G_N_ELEMENTS (parts), 0,
      sizeof (Settings), sizeof (Settings),
      "backend (string); " GST_ND_TEMPORAL_STATS);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Median, percentile and morphology of volumes and frames",
      "Filter/Effect/Video",
      "Sorts the samples under a footprint in space and time",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndtestsrc pattern=heart noise=8 ! ndrank "
      "footprint=3:3:3:3 ! ndview ! videoconvert ! autovideosink");

  temporal_class->derive = gst_nd_rank_derive;
  temporal_class->check_input = gst_nd_rank_check_input;
  temporal_class->transform_caps = gst_nd_rank_transform_caps;
  temporal_class->find_precision = gst_nd_rank_find_precision;
  temporal_class->may_use_device = gst_nd_rank_may_use_device;
  temporal_class->build = gst_nd_rank_build;
}
