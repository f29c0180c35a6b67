/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ndtestsrc
 * @title: ndtestsrc
 *
 * Makes volumes to test with: a beating heart as a 4D ultrasound probe sees
 * it, and plain patterns whose every sample is known. Volume n depends on the
 * properties and on n only: the same after a seek, in any run, on any machine
 * (of the heart, floating point may round the last bit differently).
 *
 * The properties say what is made unless downstream caps ask for another type,
 * size or rate: caps win.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 ndtestsrc volume-size=96:96:96 is-live=true ! ndview ! videoconvert ! autovideosink
 * ]| A beating heart, its middle slice live.
 * |[
 * gst-launch-1.0 ndtestsrc pattern=noise num-buffers=20 ! other/tensors,types=float32,dimensions=1:64:64:32 ! ndfilesink location=noise.nii
 * ]| Twenty volumes of noise in a file; here caps say of which type and size.
 */
#include "gstndtestsrc.h"

#include <string.h>
#include "gstndcaps.h"
#include "gstndelements.h"
#include "gstnderror.h"
#include "gstndsampletype.h"
#include "ndpattern.h"

GST_DEBUG_CATEGORY_STATIC (nd_test_src_debug);
#define GST_CAT_DEFAULT nd_test_src_debug

/* A test source has a rate: timestamps come from it. */
#define CAPS \
  GST_ND_TENSORS ", format = (string) static, num_tensors = (int) 1, " \
  "types = (string) { uint8, int16, uint16, float32 }, " \
  "framerate = (fraction) [ 1/2147483647, 2147483647/1 ]"

#define DEFAULT_VOLUME_SIZE "64:64:64"

enum
{
  PROP_0,
  PROP_PATTERN,
  PROP_VOLUME_SIZE,
  PROP_COMPONENTS,
  PROP_TYPE,
  PROP_FRAMERATE,
  PROP_SEED,
  PROP_NOISE,
  PROP_HEART_RATE,
  PROP_VALUE,
  PROP_IMPULSE_PERIOD,
  PROP_IS_LIVE
};

struct _GstNdTestSrc
{
  GstPushSrc parent;

  /* Properties, under the object lock. The shape in @wanted is read from
   * @volume_size in start(). */
  NdPatternSettings wanted;
  gchar *volume_size;

  /* What the caps say, and what makes it. Rate and size are 0 before caps;
   * they are read by queries from other threads, under the object lock. */
  gint rate_n, rate_d;
  gsize size;
  NdPattern *pattern;

  guint64 next;                 /* backwards: the one before it comes next */
  gboolean backwards;
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

G_DEFINE_TYPE (GstNdTestSrc, gst_nd_test_src, GST_TYPE_PUSH_SRC);
GST_ELEMENT_REGISTER_DEFINE (ndtestsrc, "ndtestsrc", GST_RANK_NONE,
    GST_TYPE_ND_TEST_SRC);

#define GST_TYPE_ND_TEST_SRC_PATTERN (gst_nd_test_src_pattern_get_type ())
static GType
gst_nd_test_src_pattern_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {ND_PATTERN_HEART, "Beating heart in 4D ultrasound, four chambers from the "
          "apex, with speckle; depth along y, black outside the pyramid",
        "heart"},
    {ND_PATTERN_NOISE, "Independent uniform random numbers over the whole "
          "range of the type (float32: 0 to 1)", "noise"},
    {ND_PATTERN_RAMP, "component + x + y + z + n, beginning at 0 again after "
          "255 (uint8), 32767 (int16), 65535 (uint16), 16777215 (float32)",
        "ramp"},
    {ND_PATTERN_IMPULSE, "'value' at index size/2 on every axis, every "
          "'impulse-period' volumes, and 0 elsewhere", "impulse"},
    {ND_PATTERN_CONSTANT, "'value' everywhere", "constant"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstNdTestSrcPattern", values));
  return type;
}

static void
gst_nd_test_src_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (object);
  NdPatternSettings *wanted = &self->wanted;

  if (id == PROP_IS_LIVE) {
    gst_base_src_set_live (GST_BASE_SRC (self), g_value_get_boolean (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_PATTERN:
      wanted->kind = g_value_get_enum (value);
      break;
    case PROP_VOLUME_SIZE:
      g_free (self->volume_size);
      self->volume_size = g_value_dup_string (value);
      break;
    case PROP_COMPONENTS:
      wanted->shape.components = g_value_get_uint (value);
      break;
    case PROP_TYPE:
      wanted->type = g_value_get_enum (value);
      break;
    case PROP_FRAMERATE:
      wanted->rate_n = gst_value_get_fraction_numerator (value);
      wanted->rate_d = gst_value_get_fraction_denominator (value);
      break;
    case PROP_SEED:
      wanted->seed = g_value_get_uint (value);
      break;
    case PROP_NOISE:
      wanted->noise = g_value_get_double (value);
      break;
    case PROP_HEART_RATE:
      wanted->heart_rate = g_value_get_double (value);
      break;
    case PROP_VALUE:
      wanted->value = g_value_get_double (value);
      break;
    case PROP_IMPULSE_PERIOD:
      wanted->period = g_value_get_uint (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_test_src_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (object);
  const NdPatternSettings *wanted = &self->wanted;

  if (id == PROP_IS_LIVE) {
    g_value_set_boolean (value, gst_base_src_is_live (GST_BASE_SRC (self)));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_PATTERN:
      g_value_set_enum (value, wanted->kind);
      break;
    case PROP_VOLUME_SIZE:
      g_value_set_string (value, self->volume_size);
      break;
    case PROP_COMPONENTS:
      g_value_set_uint (value, wanted->shape.components);
      break;
    case PROP_TYPE:
      g_value_set_enum (value, wanted->type);
      break;
    case PROP_FRAMERATE:
      gst_value_set_fraction (value, wanted->rate_n, wanted->rate_d);
      break;
    case PROP_SEED:
      g_value_set_uint (value, wanted->seed);
      break;
    case PROP_NOISE:
      g_value_set_double (value, wanted->noise);
      break;
    case PROP_HEART_RATE:
      g_value_set_double (value, wanted->heart_rate);
      break;
    case PROP_VALUE:
      g_value_set_double (value, wanted->value);
      break;
    case PROP_IMPULSE_PERIOD:
      g_value_set_uint (value, wanted->period);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_test_src_finalize (GObject * object)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (object);

  g_clear_pointer (&self->pattern, nd_pattern_free);
  g_free (self->volume_size);
  G_OBJECT_CLASS (gst_nd_test_src_parent_class)->finalize (object);
}

static NdPatternSettings
get_wanted (GstNdTestSrc * self)
{
  NdPatternSettings wanted;

  GST_OBJECT_LOCK (self);
  wanted = self->wanted;
  GST_OBJECT_UNLOCK (self);
  return wanted;
}

/* Not in GstBaseSrc::start, whose failure makes the base class post an error
 * beside ours. */
static gboolean
start (GstNdTestSrc * self)
{
  g_autoptr (GError) error = NULL;
  NdShape *shape = &self->wanted.shape;
  gsize samples;

  GST_OBJECT_LOCK (self);
  shape->size[0] = shape->size[1] = shape->size[2] = 1;
  if (!self->volume_size || nd_parse_sizes (self->volume_size, shape->size, 3)
      < 2)
    g_set_error (&error, ND_ERROR, ND_ERROR_SETTINGS, "Property 'volume-size' "
        "is \"%s\": it must be X:Y:Z or X:Y, whole numbers of 1 or more",
        self->volume_size ? self->volume_size : "");
  else if (!nd_shape_samples (shape, &samples))
    g_set_error (&error, ND_ERROR, ND_ERROR_SETTINGS, "Property 'volume-size' "
        "is \"%s\": a volume so large does not fit in memory",
        self->volume_size);
  GST_OBJECT_UNLOCK (self);
  if (error) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  self->next = 0;
  self->backwards = FALSE;
  return TRUE;
}

static GstStateChangeReturn
gst_nd_test_src_change_state (GstElement * element, GstStateChange transition)
{
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED
      && !start (GST_ND_TEST_SRC (element)))
    return GST_STATE_CHANGE_FAILURE;
  return GST_ELEMENT_CLASS (gst_nd_test_src_parent_class)->change_state
      (element, transition);
}

static gboolean
gst_nd_test_src_stop (GstBaseSrc * src)
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
copy_field (GQuark field, const GValue * value, gpointer structure)
{
  gst_structure_id_set_value (structure, field, value);
  return TRUE;
}

/* What the properties say where @caps leave it open. */
static GstCaps *
gst_nd_test_src_fixate (GstBaseSrc * src, GstCaps * caps)
{
  NdPatternSettings settings = get_wanted (GST_ND_TEST_SRC (src));
  GstNdVolumeInfo info = {
    .type = settings.type,.shape = settings.shape,
    .rate_n = settings.rate_n,.rate_d = settings.rate_d,.responses = 1
  };
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

  /* The place in space depends on the size; it is not for us to choose where
   * caps ask for one. Caps that make no sense are refused in set_caps(). */
  if (!gst_nd_volume_info_from_caps (&info, fixed, &error))
    return fixed;
  settings.shape = info.shape;
  nd_pattern_geometry (&settings, &info.geometry);
  full = gst_nd_volume_info_to_caps (&info);
  gst_structure_foreach (gst_caps_get_structure (fixed, 0), copy_field,
      gst_caps_get_structure (full, 0));
  gst_caps_unref (fixed);
  return full;
}

static gboolean
gst_nd_test_src_set_caps (GstBaseSrc * src, GstCaps * caps)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);
  NdPatternSettings settings = get_wanted (self);
  g_autoptr (GError) error = NULL;
  GstNdVolumeInfo info;

  GST_DEBUG_OBJECT (self, "caps %" GST_PTR_FORMAT, caps);
  if (!gst_nd_volume_info_from_caps (&info, caps, &error))
    goto failed;
  if (info.responses != 1) {
    g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT, "Caps ask for %u responses "
        "a volume: ndtestsrc makes one, dimensions components:x:y:z",
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

/* A pool of our own where downstream has none: fresh memory for each volume
 * would cost more than most patterns. */
static gboolean
gst_nd_test_src_decide_allocation (GstBaseSrc * src, GstQuery * query)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);
  g_autoptr (GstBufferPool) pool = NULL;
  guint size, min = 0, max = 0;

  if (self->size <= G_MAXUINT) {
    if (gst_query_get_n_allocation_pools (query) > 0) {
      gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
      if (!pool)
        pool = gst_buffer_pool_new ();
      gst_query_set_nth_allocation_pool (query, 0, pool, self->size, min, max);
    } else {
      pool = gst_buffer_pool_new ();
      gst_query_add_allocation_pool (query, pool, self->size, min, max);
    }
  }
  return GST_BASE_SRC_CLASS
      (gst_nd_test_src_parent_class)->decide_allocation (src, query);
}

/* After an error of our own the stream ends with FLUSHING: for ERROR the base
 * class would post a second one, and send an EOS. */
static GstFlowReturn
gst_nd_test_src_alloc (GstPushSrc * src, GstBuffer ** buffer)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);
  g_autoptr (GstBufferPool) pool = NULL;
  GstFlowReturn ret = GST_FLOW_ERROR;
  gpointer data;

  if (!self->pattern)
    return GST_FLOW_NOT_NEGOTIATED;
  pool = gst_base_src_get_buffer_pool (GST_BASE_SRC (src));
  if (pool) {
    ret = gst_buffer_pool_acquire_buffer (pool, buffer, NULL);
  } else if ((data = g_try_malloc (self->size))) {
    *buffer = gst_buffer_new_wrapped (data, self->size);
    ret = GST_FLOW_OK;
  }
  if (ret == GST_FLOW_ERROR) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("No memory for a "
            "volume: %" G_GSIZE_FORMAT " bytes are wanted", self->size),
        (NULL));
    return GST_FLOW_FLUSHING;
  }
  return ret;
}

/* Begin of volume @n. */
static GstClockTime
volume_time (GstNdTestSrc * self, guint64 n)
{
  return gst_util_uint64_scale (n, self->rate_d * GST_SECOND, self->rate_n);
}

static GstFlowReturn
gst_nd_test_src_fill (GstPushSrc * src, GstBuffer * buffer)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);
  GstMapInfo map;
  guint64 n;

  if (self->backwards && self->next == 0)
    return GST_FLOW_EOS;
  n = self->backwards ? --self->next : self->next++;

  if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE) || map.size < self->size) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("The memory for a volume "
            "cannot be written: it must be system memory of %" G_GSIZE_FORMAT
            " bytes", self->size), (NULL));
    return GST_FLOW_FLUSHING;
  }
  nd_pattern_volume (self->pattern, n, map.data);
  gst_buffer_unmap (buffer, &map);

  GST_BUFFER_PTS (buffer) = volume_time (self, n);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) = volume_time (self, n + 1)
      - GST_BUFFER_PTS (buffer);
  GST_BUFFER_OFFSET (buffer) = n;
  GST_BUFFER_OFFSET_END (buffer) = n + 1;
  return GST_FLOW_OK;
}

static void
gst_nd_test_src_get_times (GstBaseSrc * src, GstBuffer * buffer,
    GstClockTime * start, GstClockTime * end)
{
  *start = *end = GST_CLOCK_TIME_NONE;
  if (gst_base_src_is_live (src)) {
    *start = GST_BUFFER_PTS (buffer);
    *end = *start + GST_BUFFER_DURATION (buffer);
  }
}

static gboolean
gst_nd_test_src_is_seekable (GstBaseSrc * src)
{
  return !gst_base_src_is_live (src);
}

static gboolean
gst_nd_test_src_do_seek (GstBaseSrc * src, GstSegment * segment)
{
  GstNdTestSrc *self = GST_ND_TEST_SRC (src);
  NdPatternSettings wanted = get_wanted (self);
  gint rate_n = self->rate_n ? self->rate_n : wanted.rate_n;
  gint rate_d = self->rate_n ? self->rate_d : wanted.rate_d;
  guint64 scale_d = rate_d * GST_SECOND;

  self->backwards = segment->rate < 0;
  if (self->backwards) {
    /* The volume that contains the moment before the position. */
    self->next = gst_util_uint64_scale_ceil (segment->position, rate_n,
        scale_d);
  } else {
    self->next = gst_util_uint64_scale (segment->position, rate_n, scale_d);
    /* The start of a volume, rounded down to ns, belongs to that volume. */
    if (gst_util_uint64_scale (self->next + 1, scale_d, rate_n)
        <= segment->position)
      self->next++;
    segment->position = gst_util_uint64_scale (self->next, scale_d, rate_n);
    segment->time = segment->start;
  }
  /* num-buffers is the length of the recording, however it is played. */
  if (src->num_buffers >= 0) {
    self->next = MIN (self->next, (guint64) src->num_buffers);
    src->num_buffers_left = self->backwards ? (gint) self->next :
        src->num_buffers - (gint) self->next;
  }
  return TRUE;
}

static gboolean
convert (GstNdTestSrc * self, GstFormat from, gint64 value, GstFormat to,
    gint64 * result)
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
gst_nd_test_src_query (GstBaseSrc * src, GstQuery * query)
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
      if (src->num_buffers < 0 || !convert (self, GST_FORMAT_DEFAULT,
              src->num_buffers, to, &result))
        break;
      gst_query_set_duration (query, to, result);
      return TRUE;
    case GST_QUERY_LATENCY:
      /* A volume is made when its time begins, but whoever captures one has it
       * when its time ends. */
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
gst_nd_test_src_class_init (GstNdTestSrcClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);
  GstPushSrcClass *push_class = GST_PUSH_SRC_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_READY;

  GST_DEBUG_CATEGORY_INIT (nd_test_src_debug, "ndtestsrc", 0,
      "source of test volumes");

  object_class->set_property = gst_nd_test_src_set_property;
  object_class->get_property = gst_nd_test_src_get_property;
  object_class->finalize = gst_nd_test_src_finalize;

  g_object_class_install_property (object_class, PROP_PATTERN,
      g_param_spec_enum ("pattern", "Pattern", "What the volumes show",
          GST_TYPE_ND_TEST_SRC_PATTERN, ND_PATTERN_HEART, flags));
  g_object_class_install_property (object_class, PROP_VOLUME_SIZE,
      g_param_spec_string ("volume-size", "Volume size",
          "Samples in x, y and z, X:Y:Z, each 1 or more; X:Y is a frame, Z = 1;"
          " caps that downstream fixes win", DEFAULT_VOLUME_SIZE, flags));
  g_object_class_install_property (object_class, PROP_COMPONENTS,
      g_param_spec_uint ("components", "Components",
          "Numbers per sample, 1 to 4 (2: complex); caps win", 1, 4, 1, flags));
  g_object_class_install_property (object_class, PROP_TYPE,
      g_param_spec_enum ("type", "Type", "Type of the samples; caps win",
          GST_TYPE_ND_SAMPLE_TYPE, ND_UINT8, flags));
  g_object_class_install_property (object_class, PROP_FRAMERATE,
      gst_param_spec_fraction ("framerate", "Frame rate",
          "Volumes per second, above 0; caps win", 1, G_MAXINT, G_MAXINT, 1,
          25, 1, flags));
  g_object_class_install_property (object_class, PROP_SEED,
      g_param_spec_uint ("seed", "Seed", "Of the random numbers in heart and "
          "noise: equal seeds give equal volumes", 0, G_MAXUINT, 0, flags));
  g_object_class_install_property (object_class, PROP_NOISE,
      g_param_spec_double ("noise", "Noise", "Heart: amplitude of the "
          "electronic noise, which grows with depth; 1 is usual, 0 none, 10 "
          "(20 dB more) hides all that is deep", 0, 100, 1, flags));
  g_object_class_install_property (object_class, PROP_HEART_RATE,
      g_param_spec_double ("heart-rate", "Heart rate",
          "Heart: beats per minute; 0 stands still at the end of diastole",
          0, 1000, 72, flags));
  g_object_class_install_property (object_class, PROP_VALUE,
      g_param_spec_double ("value", "Value", "Impulse and constant: the number,"
          " which the type must hold; integers: rounded half to even",
          -G_MAXDOUBLE, G_MAXDOUBLE, 1, flags));
  g_object_class_install_property (object_class, PROP_IMPULSE_PERIOD,
      g_param_spec_uint ("impulse-period", "Impulse period",
          "Impulse: volumes from one impulse to the next; the first is in "
          "volume period/2, the middle as on the other axes", 1, G_MAXUINT, 1,
          flags));
  g_object_class_install_property (object_class, PROP_IS_LIVE,
      g_param_spec_boolean ("is-live", "Is live", "Give each volume at its time"
          " as a probe does, not as fast as it is taken; a live source cannot "
          "seek", FALSE, flags));

  element_class->change_state = gst_nd_test_src_change_state;
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Test volume source",
      "Source/Test", "Makes test volumes: a beating heart in 4D ultrasound, "
      "noise, ramps, impulses and constants, as other/tensors with dimensions "
      "components:x:y:z. Volume n depends on the properties and n only, so that"
      " runs and seeks repeat exactly", "The ndconv developers");
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
gst_nd_test_src_init (GstNdTestSrc * self)
{
  NdPatternSettings *wanted = &self->wanted;

  self->volume_size = g_strdup (DEFAULT_VOLUME_SIZE);
  wanted->kind = ND_PATTERN_HEART;
  wanted->type = ND_UINT8;
  wanted->shape.components = 1;
  wanted->rate_n = 25;
  wanted->rate_d = 1;
  wanted->noise = 1;
  wanted->heart_rate = 72;
  wanted->value = 1;
  wanted->period = 1;
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
