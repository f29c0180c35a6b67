/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-ndregister
 * @title: ndregister
 *
 * Moves each volume or frame of a stream to a reference, so that what they show
 * stays in its place: motion correction. The motion is a translation, rigid or
 * affine. It is found from the intensities of smoothed volumes on 3 levels by
 * the inverse compositional method of Gauss and Newton, together with a gain
 * that may vary in space (up to a polynomial of degree 2) and an offset.
 * docs/algorithms.md has formulas and figures.
 *
 * N volumes in give N volumes out, at once, with the timestamps and the type of
 * the input. The search begins with the motion of the last volume. If too much
 * remains unexplained, it begins afresh from the coarse level. A volume for
 * which nothing can be measured, such as an empty one, passes unmoved.
 *
 * Each output has a GstCustomMeta with the name GstNdRegistrationMeta. Its
 * structure has the fields "matrix", 12 doubles, the rows of the 3 x 4 matrix
 * that takes positions in the reference to positions in the volume; "measured"
 * (boolean), FALSE if the volume passed unmoved; "residual" (double), the root
 * mean square of what the motion does not explain, in sample values of smoothed
 * volumes; "unexplained" (double), its square as a share of the variance;
 * "overlap" (double), the share of the reference that lies in the volume;
 * "iterations" (uint); and "restarted" (boolean). Positions are in mm to the
 * right, anterior and superior if the caps have a geometry. Otherwise they are
 * in samples.
 *
 * The property channel says what is measured; all components and planes are
 * moved. The reference stays after gaps, seeks and flushes. It changes when the
 * caps, method, reference, channel, backend or n-threads change.
 *
 * The element computes on the CPU, and takes volumes in memory of the system
 * only: put cudadownload before it.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 ndfilesrc location=fmri.nii.gz ! ndregister ! ndfilesink location=corrected.nii.gz
 * ]|
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! video/x-raw,format=GRAY8 ! ndregister model=translation reference=running border=nearest ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.9
 */

#include "gst/algorithm/gstndalgorithm.h"
#include "gst/base/gstnderror.h"
#include "gst/gstndelements.h"

#include <string.h>

#define META "GstNdRegistrationMeta"

G_DECLARE_FINAL_TYPE (GstNdRegister, gst_nd_register, GST, ND_REGISTER,
    GstNdTemporal)

/* The values of properties. Numbers are public and never change. */
typedef enum
{
  OUTPUT_VOLUME = 0,
  OUTPUT_NONE = 1
} Output;

typedef struct
{
  GstNdTemporalSettings base;
  NdRegistrarSettings own;
  Output output;

  NdReference parsed; /* derived */
} Settings;

struct _GstNdRegister
{
  GstNdTemporal parent;

  /* Protected by the object lock. */
  NdRegistration last;
  NdAffine matrix;    /* of the last output */
  guint64 unmeasured; /* outputs that passed unmoved */
  guint64 restarts;
};

G_DEFINE_TYPE (GstNdRegister, gst_nd_register, GST_TYPE_ND_TEMPORAL);
GST_ELEMENT_REGISTER_DEFINE (ndregister, "ndregister", GST_RANK_NONE,
    gst_nd_register_get_type ());

static ND_DEFINE_ENUM (output_enum, "GstNdRegisterOutput",
    { OUTPUT_VOLUME, "The volumes, moved to the reference", "volume" },
    { OUTPUT_NONE, "The volumes as they are, with the motion in their meta",
        "none" });

static const NdSetting rows[] = {
  /* Since: 0.9 */
  { "output", "Output", "What is put out",
      ND_FIELD_ENUM (Settings, output, Output, output_enum, OUTPUT_VOLUME),
      ND_OF_STREAM },
};

static const Settings *
register_settings (const GstNdTemporalSettings *settings)
{
  return (const Settings *) settings;
}

static NdRegisterOptions
register_make_options (const Settings *settings)
{
  return (NdRegisterOptions){
    .settings = { settings->own.model, settings->own.levels,
        settings->own.iterations, settings->own.mask == ND_MASK_NONZERO,
        settings->own.method },
    .reference = settings->parsed,
    .channel = settings->own.channel,
    .passes = settings->output == OUTPUT_NONE,
    .interpolation = settings->own.interpolation,
    .border = settings->own.border,
    .border_value = settings->own.border_value,
  };
}

static gboolean
gst_nd_register_derive (GstNdTemporal *self, GstNdTemporalSettings *base,
    const GstNdFormat *in, GError **error)
{
  Settings *settings = (Settings *) base;

  return nd_reference_parse (settings->own.reference ? settings->own.reference
                                                     : "",
      &settings->parsed, error);
}

static gboolean
gst_nd_register_check_input (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, const GstNdFormat *in,
    GError **error)
{
  const gint channel = register_settings (settings)->own.channel;

  if (in->responses > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %u responses of a bank, but ndregister takes volumes of "
        "one: put ndregister before the bank",
        in->responses);
  else if (gst_nd_format_has_fields (in))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The video is interlaced, and its fields show different times: put "
        "'deinterlace' before ndregister");
  else if (channel >= 0 && (gsize) channel >= in->planes[0].components)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "channel is %d, but the first plane of the input has the components 0 "
        "to %u: use one of them, or -1 for the mean of all",
        channel, (guint) in->planes[0].components - 1);
  else if (settings->device.backend == ND_BACKEND_GPU)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "backend=cuda cannot register volumes yet: use backend=cpu or auto");
  else
    return TRUE;
  return FALSE;
}

static GstCaps *
gst_nd_register_transform_caps (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, GstPadDirection direction,
    const GstCaps *caps, gboolean device, const GstCaps *template)
{
  return gst_nd_algorithm_transform_caps (settings, direction, caps, device,
      template, NULL);
}

static gboolean
gst_nd_register_may_use_device (const GstNdTemporalSettings *settings)
{
  return FALSE;
}

/* The distance of samples in mm; of frames relative to that along y. */
static void
get_spacing (const GstNdFormat *in, gdouble spacing[3])
{
  for (guint a = 0; a < 3; a++)
    spacing[a] = in->is_video || !in->tensors.geometry.known
        ? 1
        : in->tensors.geometry.spacing[a];
  if (in->is_video)
    spacing[0] = (gdouble) GST_VIDEO_INFO_PAR_N (&in->video)
        / GST_VIDEO_INFO_PAR_D (&in->video);
}

static gboolean
gst_nd_register_same_units (const GstNdTemporalSettings *settings,
    const GstNdFormat *a, const GstNdFormat *b)
{
  gdouble p[3], q[3];

  get_spacing (a, p);
  get_spacing (b, q);
  return memcmp (p, q, sizeof (p)) == 0;
}

static NdAlgorithm *
make_algorithm (const GstNdTemporalBuild *build, const NdAlgorithmFuncs *funcs,
    gint device_id, guint plane, GError **error)
{
  const NdRegisterOptions options =
      register_make_options (register_settings (build->settings));
  const GstNdFormat *in = &build->in;
  gdouble spacing[3];

  if (!funcs->register_new) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The back end cannot register volumes: use backend=cpu or auto");
    return NULL;
  }
  get_spacing (in, spacing);
  return funcs->register_new (&options, in->planes, in->n_planes, in->computed,
      spacing, device_id, error);
}

static GstNdProcessor *
gst_nd_register_build (GstNdTemporal *self, GstNdTemporalBuild *build,
    GError **error)
{
  GstNdAlgorithm *algorithm =
      gst_nd_algorithm_new (self, build, 1, make_algorithm, error);

  if (!algorithm)
    return NULL;
  gst_nd_algorithm_set_window (algorithm, 0, 0, 0);
  return &algorithm->processor;
}

static void
gst_nd_register_use (GstNdTemporal *self, GstNdProcessor *processor,
    const GstNdTemporalSettings *settings)
{
  const NdRegisterOptions options =
      register_make_options (register_settings (settings));

  nd_algorithm_set_register (((GstNdAlgorithm *) processor)->planes[0],
      &options);
}

/* What was found */

/* From indices of samples to positions in space. */
static NdAffine
find_positions (const GstNdFormat *in)
{
  const NdGeometry *geometry = &in->tensors.geometry;
  NdAffine map = nd_affine_identity ();

  if (in->is_video || !geometry->known)
    return map;
  for (guint i = 0; i < 3; i++) {
    for (guint j = 0; j < 3; j++)
      map.m[i][j] = geometry->directions[3 * i + j] * geometry->spacing[j];
    map.m[i][3] = geometry->origin[i];
  }
  return map;
}

/* The motion between positions in space. */
static NdAffine
register_find_matrix (GstNdTemporal *self, const NdRegistration *found)
{
  const GstNdFormat *in = gst_nd_temporal_input (self);
  const NdAffine positions = find_positions (in);
  NdAffine centred, back, indices, map;
  gdouble spacing[3], origin[3];

  get_spacing (in, spacing);
  for (guint a = 0; a < 3; a++)
    origin[a] = -(in->planes[0].size[a] - 1.) / 2 * spacing[a];
  centred = nd_affine_of_samples (spacing, origin);
  nd_affine_invert (&centred, &back);
  map = nd_affine_compose (&found->motion, &centred);
  indices = nd_affine_compose (&back, &map);
  if (!nd_affine_invert (&positions, &back))
    return indices;
  map = nd_affine_compose (&indices, &back);
  return nd_affine_compose (&positions, &map);
}

static void
gst_nd_register_responded (GstNdTemporal *temporal, GstNdProcessor *processor)
{
  GstNdRegister *self = GST_ND_REGISTER (temporal);

  self->last =
      *nd_algorithm_registration (((GstNdAlgorithm *) processor)->planes[0]);
  self->matrix = self->last.measured
      ? register_find_matrix (temporal, &self->last)
      : nd_affine_identity ();
  self->unmeasured += !self->last.measured;
  self->restarts += self->last.restarted;
}

static void
add_fields (const GstNdRegister *self, GstStructure *structure)
{
  const NdRegistration *last = &self->last;
  GValue matrix = G_VALUE_INIT;

  gst_value_array_init (&matrix, 12);
  for (guint i = 0; i < 12; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_DOUBLE);
    g_value_set_double (&value, self->matrix.m[i / 4][i % 4]);
    gst_value_array_append_and_take_value (&matrix, &value);
  }
  gst_structure_take_value (structure, "matrix", &matrix);
  gst_structure_set (structure, "measured", G_TYPE_BOOLEAN, last->measured,
      "residual", G_TYPE_DOUBLE, last->residual, "unexplained", G_TYPE_DOUBLE,
      last->unexplained, "overlap", G_TYPE_DOUBLE, last->overlap, "iterations",
      G_TYPE_UINT, last->iterations, "restarted", G_TYPE_BOOLEAN,
      last->restarted, NULL);
}

static void
gst_nd_register_annotate (GstNdTemporal *temporal, GstNdProcessor *processor,
    GstBuffer *buffer)
{
  GstNdRegister *self = GST_ND_REGISTER (temporal);
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, META);

  if (!meta)
    meta = gst_buffer_add_custom_meta (buffer, META);
  if (meta)
    add_fields (self, gst_custom_meta_get_structure (meta));
}

static void
gst_nd_register_add_stats (GstNdTemporal *temporal,
    const GstNdTemporalSettings *active, GstStructure *stats)
{
  const GstNdRegister *self = GST_ND_REGISTER (temporal);

  add_fields (self, stats);
  gst_structure_set (stats, "volumes-unmeasured", G_TYPE_UINT64,
      self->unmeasured, "restarts", G_TYPE_UINT64, self->restarts, NULL);
}

static void
gst_nd_register_clear_stats (GstNdTemporal *temporal)
{
  GstNdRegister *self = GST_ND_REGISTER (temporal);

  self->last = (NdRegistration){ .motion = nd_affine_identity () };
  self->matrix = nd_affine_identity ();
  self->unmeasured = self->restarts = 0;
}

static gboolean
gst_nd_register_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNdRegister *self = GST_ND_REGISTER (trans);
  g_autofree gchar *reference = NULL;
  gboolean waits;

  GST_OBJECT_LOCK (self);
  waits = self->last.waits;
  GST_OBJECT_UNLOCK (self);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS && waits) {
    g_object_get (self, "reference", &reference, NULL);
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("The stream ended before volume %s, the reference, so volumes passed "
         "unmoved: set reference to the number of a volume of the stream, "
         "counted from 0",
            reference),
        (NULL));
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nd_register_parent_class)
      ->sink_event (trans, event);
}

static void
gst_nd_register_init (GstNdRegister *self)
{
  gst_nd_register_clear_stats (GST_ND_TEMPORAL (self));
}

static void
gst_nd_register_class_init (GstNdRegisterClass *klass)
{
  static const gchar *tags[] = { NULL };
  static GstStaticPadTemplate sink_template =
      GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
          GST_STATIC_CAPS (GST_ND_TENSORS_CAPS "; " GST_ND_VIDEO_CAPS));
  static GstStaticPadTemplate src_template =
      GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
          GST_STATIC_CAPS (GST_ND_TENSORS_CAPS "; " GST_ND_VIDEO_CAPS));
  const GstNdTemporalPart parts[] = {
    { nd_registrar_settings, nd_n_registrar_settings,
        G_STRUCT_OFFSET (Settings, own) },
    { rows, G_N_ELEMENTS (rows), 0 },
  };
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNdTemporalClass *temporal_class = GST_ND_TEMPORAL_CLASS (klass);

  gst_nd_temporal_class_install (temporal_class, parts, G_N_ELEMENTS (parts), 0,
      sizeof (Settings), G_STRUCT_OFFSET (Settings, parsed),
      "backend (string); of the last output, as in its meta: matrix (array of "
      "12 doubles), measured, restarted (booleans), residual, unexplained, "
      "overlap (doubles), iterations (uint); counts (uint64): "
      "volumes-unmeasured, outputs that were not moved because nothing could "
      "be measured; restarts, volumes for which the search began "
      "afresh; " GST_ND_TEMPORAL_STATS);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Motion correction of volumes and frames", "Filter/Effect/Video",
      "Moves each volume of a stream to a reference", "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndfilesrc location=fmri.nii.gz ! ndregister ! ndfilesink "
      "location=corrected.nii.gz");

  GST_BASE_TRANSFORM_CLASS (klass)->sink_event =
      GST_DEBUG_FUNCPTR (gst_nd_register_sink_event);
  temporal_class->derive = gst_nd_register_derive;
  temporal_class->check_input = gst_nd_register_check_input;
  temporal_class->transform_caps = gst_nd_register_transform_caps;
  temporal_class->may_use_device = gst_nd_register_may_use_device;
  temporal_class->same_units = gst_nd_register_same_units;
  temporal_class->build = gst_nd_register_build;
  temporal_class->use = gst_nd_register_use;
  temporal_class->responded = gst_nd_register_responded;
  temporal_class->annotate = gst_nd_register_annotate;
  temporal_class->add_stats = gst_nd_register_add_stats;
  temporal_class->clear_stats = gst_nd_register_clear_stats;
  gst_meta_register_custom (META, tags, NULL, NULL, NULL);
}
