/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
/**
 * SECTION:element-ndtestsrc
 * @title: ndtestsrc
 *
 * Produces test volumes: a beating heart as a 4D ultrasound probe sees it, and
 * simple patterns with known samples. Volume n depends only on the properties
 * and on n, so that seeks and runs repeat exactly, on any machine (except that
 * floating point may round the last bit of the heart differently).
 *
 * If downstream caps fix another type, size or rate than the properties, the
 * caps take precedence.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 ndtestsrc volume-size=96:96:96 is-live=true ! ndview ! videoconvert ! autovideosink
 * ]| The middle slice of a beating heart, live.
 * |[
 * gst-launch-1.0 ndtestsrc pattern=noise num-buffers=20 ! other/tensors,types=float32,dimensions=1:64:64:32 ! ndfilesink location=noise.nii
 * ]| Twenty volumes of noise in a file; the caps select type and size.
 *
 * Since: 0.1
 */
#include "gst/base/gstndcaps.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndpool.h"
#include "gst/gstndelements.h"
#include "gst/gstndtestsrcsettings.h"

#include <gst/base/gstpushsrc.h>
#include <string.h>

#define GST_TYPE_ND_TEST_SRC (gst_nd_test_src_get_type ())
G_DECLARE_FINAL_TYPE (GstNdTestSrc, gst_nd_test_src, GST, ND_TEST_SRC,
    GstPushSrc)

GST_DEBUG_CATEGORY_STATIC (nd_test_src_debug);
#define GST_CAT_DEFAULT nd_test_src_debug

/* Timestamps are computed from the rate, so it must not be 0. */
#define CAPS                                                           \
  GST_ND_TENSORS ", format = (string) static, num_tensors = (int) 1, " \
                 "types = (string) { uint8, int16, uint16, float32, "  \
                 "int8, int32, uint32, float16, float64 }, "           \
                 "framerate = (fraction) [ 1/2147483647, 2147483647/1 ]"

struct _GstNdTestSrc
{
  GstPushSrc parent;

  /* Protected by the object lock. */
  GstNdTestSrcSettings settings;
  gsize volume_size[3]; /* parsed in start() */

  /* From the caps, and 0 before caps. The object lock protects rate and size,
   * which queries read in other threads. */
  gint rate_n, rate_d;
  gsize size;
  NdPattern *pattern;

  guint64 next; /* the next volume is this, or next - 1 if backwards */
  gboolean backwards;
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

G_DEFINE_TYPE (GstNdTestSrc, gst_nd_test_src, GST_TYPE_PUSH_SRC);
GST_ELEMENT_REGISTER_DEFINE (ndtestsrc, "ndtestsrc", GST_RANK_NONE,
    GST_TYPE_ND_TEST_SRC);

#define PROP_IS_LIVE (GST_ND_TEST_SRC_ROWS + 1)

static void
gst_nd_test_src_set_property (GObject *object, guint id, const GValue *value,
    GParamSpec *pspec)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (object);

  if (id == PROP_IS_LIVE) {
    gst_base_src_set_live (GST_BASE_SRC (self), g_value_get_boolean (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_set (gst_nd_test_src_rows, GST_ND_TEST_SRC_ROWS,
          &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_test_src_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (object);

  if (id == PROP_IS_LIVE) {
    g_value_set_boolean (value, gst_base_src_is_live (GST_BASE_SRC (self)));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_get (gst_nd_test_src_rows, GST_ND_TEST_SRC_ROWS,
          &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_test_src_finalize (GObject *object)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (object);

  g_clear_pointer (&self->pattern, nd_pattern_free);
  nd_settings_clear (gst_nd_test_src_rows, GST_ND_TEST_SRC_ROWS,
      &self->settings);
  G_OBJECT_CLASS (gst_nd_test_src_parent_class)->finalize (object);
}

/* The pattern that the properties describe. */
static NdPatternSettings
get_wanted (GstNdTestSrc *self)
{
  NdPatternSettings wanted;

  GST_OBJECT_LOCK (self);
  wanted = gst_nd_test_src_settings_pattern (&self->settings);
  memcpy (wanted.shape.size, self->volume_size, sizeof (wanted.shape.size));
  GST_OBJECT_UNLOCK (self);
  return wanted;
}

/* Not in GstBaseSrc::start: if that fails, the base class posts a second
 * error. */
static gboolean
start (GstNdTestSrc *self)
{
  g_autoptr (GError) error = NULL;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  ok = gst_nd_test_src_settings_parse_size (&self->settings, self->volume_size,
      &error);
  GST_OBJECT_UNLOCK (self);
  if (!ok)
    gst_nd_element_error (GST_ELEMENT (self), error);
  self->next = 0;
  self->backwards = FALSE;
  return ok;
}

static GstStateChangeReturn
gst_nd_test_src_change_state (GstElement *element, GstStateChange transition)
{
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED
      && !start (GST_ND_TEST_SRC (element)))
    return GST_STATE_CHANGE_FAILURE;
  return GST_ELEMENT_CLASS (gst_nd_test_src_parent_class)
      ->change_state (element, transition);
}

static gboolean
gst_nd_test_src_stop (GstBaseSrc *src)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);

  GST_OBJECT_LOCK (self);
  self->rate_n = 0;
  self->size = 0;
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&self->pattern, nd_pattern_free);
  return TRUE;
}

static gboolean
copy_field (GQuark field, const GValue *value, gpointer structure)
{
  gst_structure_id_set_value (structure, field, value);
  return TRUE;
}

/* Fields that @caps leave open come from the properties. */
static GstCaps *
gst_nd_test_src_fixate (GstBaseSrc *src, GstCaps *caps)
{
  NdPatternSettings settings = get_wanted (GST_ND_TEST_SRC (src));
  GstNdVolumeInfo info = { .type = settings.type,
    .shape = settings.shape,
    .rate_n = settings.rate_n,
    .rate_d = settings.rate_d,
    .responses = 1 };
  g_autoptr (GstCaps) wanted = gst_nd_volume_info_to_caps (&info);
  g_autoptr (GError) error = NULL;
  GstCaps *fixed = gst_caps_intersect (wanted, caps), *full;
  GstStructure *s;

  if (gst_caps_is_empty (fixed)) {
    const GstStructure *w = gst_caps_get_structure (wanted, 0);

    gst_caps_replace (&fixed, caps);
    fixed = gst_caps_truncate (fixed);
    fixed = gst_caps_make_writable (fixed);
    s = gst_caps_get_structure (fixed, 0);
    gst_structure_fixate_field_string (s, "types",
        gst_structure_get_string (w, "types"));
    gst_structure_fixate_field_nearest_fraction (s, "framerate",
        settings.rate_n, settings.rate_d);
    if (!gst_structure_has_field (s, "dimensions"))
      gst_nd_structure_set_dimensions (s, &settings.shape, 1);
  }
  gst_caps_unref (caps);
  fixed = gst_caps_fixate (fixed);

  /* The geometry depends on the size. Geometry in caps takes precedence.
   * set_caps() reports invalid caps. */
  if (!gst_nd_volume_info_from_caps (&info, fixed, &error))
    return fixed;
  settings.shape = info.shape;
  nd_pattern_geometry (&settings, &info.geometry);
  nd_pattern_beams (&settings, info.beams);
  full = gst_nd_volume_info_to_caps (&info);
  gst_structure_foreach (gst_caps_get_structure (fixed, 0), copy_field,
      gst_caps_get_structure (full, 0));
  gst_caps_unref (fixed);
  return full;
}

static gboolean
gst_nd_test_src_set_caps (GstBaseSrc *src, GstCaps *caps)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);
  NdPatternSettings settings = get_wanted (self);
  g_autoptr (GError) error = NULL;
  GstNdVolumeInfo info;

  GST_INFO_OBJECT (self, "caps %" GST_PTR_FORMAT, caps);
  if (!gst_nd_volume_info_from_caps (&info, caps, &error))
    goto failed;
  if (info.responses != 1) {
    g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT,
        "The caps require %u responses in a volume: ndtestsrc produces one, "
        "with dimensions components:x:y:z",
        info.responses);
    goto failed;
  }
  settings.type = info.type;
  settings.shape = info.shape;
  settings.rate_n = info.rate_n;
  settings.rate_d = info.rate_d;
  g_clear_pointer (&self->pattern, nd_pattern_free);
  self->pattern = nd_pattern_new (&settings, &error);
  if (!self->pattern)
    goto failed;
  GST_OBJECT_LOCK (self);
  self->rate_n = info.rate_n;
  self->rate_d = info.rate_d;
  self->size = gst_nd_volume_info_size (&info);
  GST_OBJECT_UNLOCK (self);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_latency (GST_OBJECT (self)));
  return TRUE;

failed:
  gst_nd_element_error (GST_ELEMENT (self), error);
  return FALSE;
}

static gboolean
gst_nd_test_src_decide_allocation (GstBaseSrc *src, GstQuery *query)
{
  return gst_nd_query_set_pool (query, GST_ND_TEST_SRC (src)->size);
}

/* After an error the stream ends with FLUSHING: with ERROR the base class would
 * post a second error and send EOS. */
static GstFlowReturn
gst_nd_test_src_alloc (GstPushSrc *src, GstBuffer **buffer)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);
  g_autoptr (GstBufferPool) pool = NULL;
  GstFlowReturn ret = GST_FLOW_ERROR;

  if (!self->pattern)
    return GST_FLOW_NOT_NEGOTIATED;
  pool = gst_base_src_get_buffer_pool (GST_BASE_SRC (src));
  if (pool) {
    ret = gst_buffer_pool_acquire_buffer (pool, buffer, NULL);
  } else if ((*buffer = gst_nd_buffer_new (self->size))) {
    ret = GST_FLOW_OK;
  }
  if (ret == GST_FLOW_ERROR) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("No memory for a volume of %" G_GSIZE_FORMAT
         " bytes: set a smaller volume-size",
            self->size),
        (NULL));
    return GST_FLOW_FLUSHING;
  }
  return ret;
}

/* The timestamp of volume @n. */
static GstClockTime
volume_time (GstNdTestSrc *self, guint64 n)
{
  return gst_util_uint64_scale (n, self->rate_d * GST_SECOND, self->rate_n);
}

static GstFlowReturn
gst_nd_test_src_fill (GstPushSrc *src, GstBuffer *buffer)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);
  GstMapInfo map;
  guint64 n;

  if (self->backwards && self->next == 0)
    return GST_FLOW_EOS;
  n = self->backwards ? --self->next : self->next++;

  if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE) || map.size < self->size) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("A buffer cannot be mapped for writing: the pool from downstream must "
         "have system memory, and %" G_GSIZE_FORMAT " bytes in a buffer",
            self->size),
        (NULL));
    return GST_FLOW_FLUSHING;
  }
  nd_pattern_volume (self->pattern, n, map.data);
  gst_buffer_unmap (buffer, &map);

  GST_BUFFER_PTS (buffer) = volume_time (self, n);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) =
      volume_time (self, n + 1) - GST_BUFFER_PTS (buffer);
  GST_BUFFER_OFFSET (buffer) = n;
  GST_BUFFER_OFFSET_END (buffer) = n + 1;
  GST_LOG_OBJECT (self, "volume %" G_GUINT64_FORMAT ": %" GST_PTR_FORMAT, n,
      buffer);
  return GST_FLOW_OK;
}

static void
gst_nd_test_src_get_times (GstBaseSrc *src, GstBuffer *buffer,
    GstClockTime *start, GstClockTime *end)
{
  *start = *end = GST_CLOCK_TIME_NONE;
  if (gst_base_src_is_live (src)) {
    *start = GST_BUFFER_PTS (buffer);
    *end = *start + GST_BUFFER_DURATION (buffer);
  }
}

static gboolean
gst_nd_test_src_is_seekable (GstBaseSrc *src)
{
  return !gst_base_src_is_live (src);
}

static gboolean
gst_nd_test_src_do_seek (GstBaseSrc *src, GstSegment *segment)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);
  NdPatternSettings wanted = get_wanted (self);
  gint rate_n = self->rate_n ? self->rate_n : wanted.rate_n;
  gint rate_d = self->rate_n ? self->rate_d : wanted.rate_d;
  guint64 scale_d = rate_d * GST_SECOND;

  self->backwards = segment->rate < 0;
  if (self->backwards) {
    /* The volume shown just before the position. */
    self->next =
        gst_util_uint64_scale_ceil (segment->position, rate_n, scale_d);
  } else {
    self->next = gst_util_uint64_scale (segment->position, rate_n, scale_d);
    /* Timestamps are rounded down to ns, so the position may be one volume
     * later than the division says. */
    if (gst_util_uint64_scale (self->next + 1, scale_d, rate_n)
        <= segment->position)
      self->next++;
    segment->position = gst_util_uint64_scale (self->next, scale_d, rate_n);
    segment->time = segment->start;
  }
  /* num-buffers is the length of the stream, also after a seek. */
  if (src->num_buffers >= 0) {
    self->next = MIN (self->next, (guint64) src->num_buffers);
    src->num_buffers_left = self->backwards
        ? (gint) self->next
        : src->num_buffers - (gint) self->next;
  }
  GST_INFO_OBJECT (self, "starts at volume %" G_GUINT64_FORMAT "%s", self->next,
      self->backwards ? ", backwards" : "");
  return TRUE;
}

static gboolean
convert (GstNdTestSrc *self, GstFormat from, gint64 value, GstFormat to,
    gint64 *result)
{
  guint64 second;
  gboolean ok = TRUE;

  if (from == to || value == -1 || value == 0) {
    *result = value;
    return TRUE;
  }
  GST_OBJECT_LOCK (self);
  second = self->rate_d * GST_SECOND;
  if (self->rate_n == 0 || value < 0)
    ok = FALSE;
  else if (from == GST_FORMAT_TIME && to == GST_FORMAT_DEFAULT)
    *result = gst_util_uint64_scale_round (value, self->rate_n, second);
  else if (from == GST_FORMAT_DEFAULT && to == GST_FORMAT_TIME)
    *result = gst_util_uint64_scale (value, second, self->rate_n);
  else
    ok = FALSE;
  GST_OBJECT_UNLOCK (self);
  return ok;
}

static gboolean
gst_nd_test_src_query (GstBaseSrc *src, GstQuery *query)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);
  GstFormat from, to;
  gint64 value, result;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CONVERT:
      gst_query_parse_convert (query, &from, &value, &to, &result);
      if (!convert (self, from, value, to, &result))
        return FALSE;
      gst_query_set_convert (query, from, value, to, result);
      return TRUE;
    case GST_QUERY_DURATION:
      gst_query_parse_duration (query, &to, NULL);
      if (src->num_buffers < 0
          || !convert (self, GST_FORMAT_DEFAULT, src->num_buffers, to, &result))
        break;
      gst_query_set_duration (query, to, result);
      return TRUE;
    case GST_QUERY_LATENCY:
      /* A live source reports the duration of a frame as latency, because a
       * real one has captured it at its end. */
      if (!convert (self, GST_FORMAT_DEFAULT, 1, GST_FORMAT_TIME, &result))
        return FALSE;
      gst_query_set_latency (query, gst_base_src_is_live (src), result,
          GST_CLOCK_TIME_NONE);
      return TRUE;
    default:
      break;
  }
  return GST_BASE_SRC_CLASS (gst_nd_test_src_parent_class)->query (src, query);
}

static void
gst_nd_test_src_class_init (GstNdTestSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);
  GstPushSrcClass *push_class = GST_PUSH_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (nd_test_src_debug, "ndtestsrc", 0,
      "source of test volumes");

  object_class->set_property = gst_nd_test_src_set_property;
  object_class->get_property = gst_nd_test_src_get_property;
  object_class->finalize = gst_nd_test_src_finalize;

  gst_nd_properties_install (object_class, gst_nd_test_src_rows,
      GST_ND_TEST_SRC_ROWS);
  g_object_class_install_property (object_class, PROP_IS_LIVE,
      g_param_spec_boolean ("is-live", "Is live",
          "Output each volume at its time, as a probe does, rather than as "
          "fast as downstream takes it; a live source cannot seek",
          FALSE,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_READY));

  element_class->change_state = gst_nd_test_src_change_state;
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Test volume source",
      "Source/Test",
      "Produces test volumes: a beating heart in 4D ultrasound, noise, ramps, "
      "impulses and constants, as other/tensors with dimensions "
      "components:x:y:z. Volume n depends only on the properties and n, so "
      "that runs and seeks repeat exactly",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndtestsrc volume-size=96:96:96 is-live=true ! "
      "ndview ! videoconvert ! autovideosink");

  base_class->stop = gst_nd_test_src_stop;
  base_class->fixate = gst_nd_test_src_fixate;
  base_class->set_caps = gst_nd_test_src_set_caps;
  base_class->decide_allocation = gst_nd_test_src_decide_allocation;
  base_class->get_times = gst_nd_test_src_get_times;
  base_class->is_seekable = gst_nd_test_src_is_seekable;
  base_class->do_seek = gst_nd_test_src_do_seek;
  base_class->query = gst_nd_test_src_query;
  push_class->alloc = gst_nd_test_src_alloc;
  push_class->fill = gst_nd_test_src_fill;
}

static void
gst_nd_test_src_init (GstNdTestSrc *self)
{
  nd_settings_init (gst_nd_test_src_rows, GST_ND_TEST_SRC_ROWS,
      &self->settings);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
