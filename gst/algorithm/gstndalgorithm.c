/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/algorithm/gstndalgorithm.h"

#include "core/threads.h"
#include "gst/base/gstndbackends.h"
#include "gst/base/gstnderror.h"

GST_DEBUG_CATEGORY_EXTERN (gst_nd_temporal_debug);
#define GST_CAT_DEFAULT gst_nd_temporal_debug

/* Processor */

static void
algorithm_free (GstNdProcessor *processor)
{
  GstNdAlgorithm *self = (GstNdAlgorithm *) processor;

  for (guint p = 0; p < self->n_planes; p++)
    nd_algorithm_free (self->planes[p]);
  g_free (self);
}

static gboolean
algorithm_push (GstNdProcessor *processor, const NdSamples *volume,
    GError **error)
{
  GstNdAlgorithm *self = (GstNdAlgorithm *) processor;
  const guint before = nd_threads_enter (self->n_threads);
  gboolean ok = TRUE;

  for (guint p = 0; p < self->n_planes && ok; p++)
    ok = nd_algorithm_push (self->planes[p], &volume[p], error);
  nd_threads_leave (before);
  return ok;
}

static gboolean
algorithm_ready (GstNdProcessor *processor)
{
  return nd_algorithm_ready (((GstNdAlgorithm *) processor)->planes[0]);
}

static gboolean
algorithm_respond (GstNdProcessor *processor, const NdSamples *out,
    GError **error)
{
  GstNdAlgorithm *self = (GstNdAlgorithm *) processor;
  const guint before = nd_threads_enter (self->n_threads);
  gboolean ok = TRUE;

  for (guint p = 0; p < self->n_planes && ok; p++)
    ok = nd_algorithm_respond (self->planes[p], out ? &out[p] : NULL, error);
  nd_threads_leave (before);
  return ok;
}

static void
algorithm_end (GstNdProcessor *processor)
{
  GstNdAlgorithm *self = (GstNdAlgorithm *) processor;

  for (guint p = 0; p < self->n_planes; p++)
    nd_algorithm_end (self->planes[p]);
}

static void
algorithm_reset (GstNdProcessor *processor)
{
  GstNdAlgorithm *self = (GstNdAlgorithm *) processor;

  for (guint p = 0; p < self->n_planes; p++)
    nd_algorithm_reset (self->planes[p]);
}

static gsize
algorithm_bytes (GstNdProcessor *processor)
{
  GstNdAlgorithm *self = (GstNdAlgorithm *) processor;
  gsize bytes = 0;

  for (guint p = 0; p < self->n_planes; p++)
    bytes += nd_algorithm_bytes (self->planes[p]);
  return bytes;
}

static const GstNdProcessorClass algorithm_class = {
  .free = algorithm_free,
  .push = algorithm_push,
  .ready = algorithm_ready,
  .respond = algorithm_respond,
  .end = algorithm_end,
  .reset = algorithm_reset,
  .bytes = algorithm_bytes,
};

/* The back end */

static GstNdAlgorithm *
make_on (const GstNdTemporalBuild *build, const NdBackend *backend,
    gint device_id, guint n_threads, guint n, GstNdAlgorithmNew make,
    GError **error)
{
  GstNdAlgorithm *self;

  if (!backend->algorithms) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The back end '%s' has filters only: use backend=cpu or auto",
        backend->name);
    return NULL;
  }
  self = g_new0 (GstNdAlgorithm, 1);
  self->processor.klass = &algorithm_class;
  self->processor.backend = backend;
  self->processor.turns = 1;
  self->n_threads = n_threads;
  for (guint p = 0; p < n; p++) {
    self->planes[p] = make (build, backend->algorithms, device_id, p, error);
    if (!self->planes[p]) {
      algorithm_free (&self->processor);
      return NULL;
    }
    self->n_planes++;
  }
  return self;
}

static GstNdAlgorithm *
make_on_device (GstNdTemporal *self, const GstNdTemporalBuild *build,
    guint n_threads, guint n, GstNdAlgorithmNew make, GError **error)
{
  const NdBackend *backend =
      gst_nd_device_backend (gst_nd_temporal_device (self), error);
  GstNdAlgorithm *algorithm;

  if (!backend)
    return NULL;
  gst_nd_cuda_enter (build->context);
  algorithm = make_on (build, backend, build->settings->device.device_id,
      n_threads, n, make, error);
  gst_nd_cuda_leave (build->context);
  return algorithm;
}

static GstNdAlgorithm *
make_on_cpu (GstNdTemporal *self, const GstNdTemporalBuild *build,
    guint n_threads, guint n, GstNdAlgorithmNew make, GError **error)
{
  const NdBackend *backend = nd_backend_find ("cpu", -1, error);
  GstNdAlgorithm *algorithm;
  guint before;

  if (!backend)
    return NULL;
  GST_INFO_OBJECT (self, "computing on the CPU with %u threads", n_threads);
  before = nd_threads_enter (n_threads);
  algorithm = make_on (build, backend, -1, n_threads, n, make, error);
  nd_threads_leave (before);
  return algorithm;
}

GstNdAlgorithm *
gst_nd_algorithm_new (GstNdTemporal *self, const GstNdTemporalBuild *build,
    guint n, GstNdAlgorithmNew make, GError **error)
{
  const guint n_threads = nd_threads_start (build->settings->device.n_threads);
  g_autoptr (GError) why = NULL;
  GstNdAlgorithm *algorithm;

  if (build->settings->device.backend != ND_BACKEND_CPU) {
    algorithm = make_on_device (self, build, n_threads, n, make, &why);
    if (algorithm)
      return algorithm;
    if (build->settings->device.backend == ND_BACKEND_GPU
        || (build->beside
            && g_error_matches (why, ND_ERROR, ND_ERROR_MEMORY))) {
      g_propagate_error (error, g_steal_pointer (&why));
      return NULL;
    }
    GST_INFO_OBJECT (self, "computing on the CPU: %s", why->message);
  }
  return make_on_cpu (self, build, n_threads, n, make, error);
}

/* Borders may mirror time at both ends. */
void
gst_nd_algorithm_set_window (GstNdAlgorithm *self, guint before, guint after,
    guint memory)
{
  self->processor.before = before;
  self->processor.after = self->processor.delay = after;
  self->processor.ahead = MAX (before, after);
  self->processor.back = self->processor.ahead + memory;
}

GstCaps *
gst_nd_algorithm_transform_caps (const GstNdTemporalSettings *settings,
    GstPadDirection direction, const GstCaps *caps, gboolean device,
    const GstCaps *template, GstNdAlgorithmCaps transform)
{
  g_autoptr (GstCaps) all = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    guint k = gst_caps_get_size (all);

    if (transform)
      transform (settings, direction, gst_caps_get_structure (caps, i), all);
    else
      gst_caps_append_structure (all,
          gst_structure_copy (gst_caps_get_structure (caps, i)));
    for (; k < gst_caps_get_size (all); k++)
      gst_caps_set_features (all, k,
          gst_caps_features_copy (gst_caps_get_features (caps, i)));
  }
  if (device)
    gst_nd_cuda_add_caps (all);
  else
    gst_nd_cuda_remove_caps (all);
  return gst_caps_intersect_full (all, (GstCaps *) template,
      GST_CAPS_INTERSECT_FIRST);
}

/* Outputs of another shape */

static const gchar *const places[] = { "dimensions", "spacing", "origin",
  "directions", "beams" };

gboolean
gst_nd_algorithm_read_info (const GstStructure *s, GstNdVolumeInfo *info)
{
  g_autoptr (GstCaps) caps = NULL;

  if (!gst_structure_has_field (s, "dimensions"))
    return FALSE;
  /* Both spellings of the dimensions are equal, and rates do not matter. */
  caps = gst_caps_fixate (gst_caps_new_full (gst_structure_copy (s), NULL));
  return gst_nd_volume_info_from_caps (info, caps, NULL);
}

void
gst_nd_algorithm_append_info (GstCaps *to, const GstStructure *from,
    const GstNdVolumeInfo *info)
{
  g_autoptr (GstCaps) caps = info ? gst_nd_volume_info_to_caps (info) : NULL;
  const GstStructure *all = caps ? gst_caps_get_structure (caps, 0) : NULL;
  GstStructure *s = gst_structure_copy (from);

  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    const GValue *value = all ? gst_structure_get_value (all, places[i]) : NULL;

    if (value)
      gst_structure_set_value (s, places[i], value);
    else
      gst_structure_remove_field (s, places[i]);
  }
  gst_caps_append_structure (to, s);
}

gboolean
gst_nd_algorithm_same_place (const GstNdVolumeInfo *a, const GstNdVolumeInfo *b)
{
  const NdGeometry *g = &a->geometry, *h = &b->geometry;
  gboolean same = a->shape.components == b->shape.components
      && g->known == h->known && g_str_equal (a->beams, b->beams);

  for (guint i = 0; i < 3 && same; i++)
    same = a->shape.size[i] == b->shape.size[i]
        && (!g->known
            || (g->spacing[i] == h->spacing[i]
                && g->origin[i] == h->origin[i]));
  for (guint i = 0; i < 9 && same && g->known; i++)
    same = g->directions[i] == h->directions[i];
  return same;
}

gboolean
gst_nd_algorithm_check_plain (const GstNdTemporalSettings *settings,
    const GstNdFormat *in, const gchar *element, GError **error)
{
  if (in->responses > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %u responses of a bank, but %s takes volumes of one: "
        "put %s before the bank",
        in->responses, element, element);
  else if (settings->device.backend == ND_BACKEND_GPU)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "backend=cuda has no %s yet: use backend=cpu or auto", element);
  else
    return TRUE;
  return FALSE;
}
