/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include "tests/sanitizers.h"
#include <math.h>
#include <stdlib.h>

/* The model */

Model
model_new (GRand *r, guint x, guint y, guint z, guint t)
{
  Model model = { .size = { x, y, z, t },
    .border = "nearest",
    .time_border = "nearest",
    .gain = 1 };

  g_assert (x * y * z * t <= MAX_TAPS);
  for (guint i = 0; i < x * y * z * t; i++)
    model.values[i] = r ? g_rand_int_range (r, -5, 6) : (gint) i + 1;
  return model;
}

Model
model_temporal (guint size, const gchar *time_border)
{
  Model model = model_new (NULL, 1, 1, 1, size);

  model.time_border = time_border;
  model.border_value = 7;
  return model;
}

gchar *
model_filter (const Model *model)
{
  guint n = model->size[0] * model->size[1] * model->size[2] * model->size[3];
  GString *text = g_string_new ("coefficients,size=");

  g_string_append_printf (text, "%u:%u:%u:%u,values=<", model->size[0],
      model->size[1], model->size[2], model->size[3]);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, i ? ",%.1f" : "%.1f", model->values[i]);
  g_string_append_c (text, '>');
  return g_string_free (text, FALSE);
}

guint
model_ahead (const Model *model)
{
  return model->size[3] / 2 + model->origin[3];
}

guint
model_before (const Model *model)
{
  return model->size[3] - 1 - model_ahead (model);
}

guint
model_delay (const Model *model)
{
  guint before = model_before (model), reflected = 0;

  if (model->time_border[0] == 'm')
    reflected = before;
  else if (model->time_border[0] == 'r' && before > 0)
    reflected = before - 1;
  return MAX (model_ahead (model), reflected);
}

gint
model_index (const gchar *border, gint i, gint n)
{
  while (i < 0 || i >= n) {
    switch (border[0]) {
      case 'c':
        return -1;
      case 'n':
        i = i < 0 ? 0 : n - 1;
        break;
      case 'r':
        i = i < 0 ? -1 - i : 2 * n - 1 - i;
        break;
      case 'm':
        i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
        break;
      default:
        i += i < 0 ? n : -n;
        break;
    }
  }
  return i;
}

static gdouble
model_sample (const Model *model, const gdouble *const *volumes, guint n,
    const guint dims[4], guint c, const gint at[4])
{
  gint t = model_index (model->time_border, at[3], n), x, y, z;

  if (t < 0)
    return model->border_value;
  x = model_index (model->border, at[0], dims[1]);
  y = model_index (model->border, at[1], dims[2]);
  z = model_index (model->border, at[2], dims[3]);
  if (x < 0 || y < 0 || z < 0)
    return model->border_value;
  return volumes[t][((z * dims[2] + y) * dims[1] + x) * dims[0] + c];
}

void
model_respond (const Model *model, const gdouble *const *volumes, guint n,
    guint i, const guint dims[4], gdouble *out)
{
  const guint *k = model->size;
  guint taps = k[0] * k[1] * k[2] * k[3];

  for (guint s = 0; s < dims[0] * dims[1] * dims[2] * dims[3]; s++) {
    guint c = s % dims[0], point = s / dims[0];
    gint here[4] = { point % dims[1], point / dims[1] % dims[2],
      point / dims[1] / dims[2], i };

    out[s] = 0;
    for (guint tap = 0; tap < taps; tap++) {
      guint m[4] = { tap % k[0], tap / k[0] % k[1], tap / k[0] / k[1] % k[2],
        tap / k[0] / k[1] / k[2] };
      gint at[4];

      for (guint a = 0; a < 4; a++)
        at[a] = here[a] + (gint) (k[a] / 2) + model->origin[a] - (gint) m[a];
      out[s] +=
          model->values[tap] * model_sample (model, volumes, n, dims, c, at);
    }
    out[s] = model->gain * out[s] + model->offset;
  }
}

/* The stream */

void
stream_set_model (Stream *s, const Model *model)
{
  g_autofree gchar *filter = model_filter (model);
  g_autofree gchar *origin = g_strdup_printf ("%d:%d:%d:%d", model->origin[0],
      model->origin[1], model->origin[2], model->origin[3]);

  s->model = *model;
  g_object_set (s->element, "filter", filter, "origin", origin, "border-value",
      model->border_value, "gain", model->gain, "offset", model->offset, NULL);
  gst_util_set_object_arg (G_OBJECT (s->element), "border", model->border);
  gst_util_set_object_arg (G_OBJECT (s->element), "time-border",
      model->time_border);
}

Stream *
stream_new (const gchar *factory, const Model *model, ...)
{
  Stream *s = g_new0 (Stream, 1);
  const gchar *name;
  va_list args;

  s->element = gst_element_factory_make (factory, NULL);
  fail_unless (s->element != NULL, "no element %s", factory);
  gst_object_ref_sink (s->element);
  s->bus = gst_bus_new ();
  gst_element_set_bus (s->element, s->bus);
  s->rate = 10;
  s->duration = GST_SECOND / 10;
  s->dims[0] = 1;
  stream_set_size (s, 3, 2, 2);
  /* Sums of integers that are exact; on a device, auto may choose fft. */
  gst_util_set_object_arg (G_OBJECT (s->element), "method", "direct");
  /* Slow machines must not add to the latency that tests expect. */
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (s->element),
          "compute-latency"))
    gst_util_set_object_arg (G_OBJECT (s->element), "compute-latency", "never");
  if (g_getenv ("ND_DEVICES"))
    g_object_set (s->element, "devices", g_getenv ("ND_DEVICES"), NULL);
  if (model)
    stream_set_model (s, model);
  va_start (args, model);
  while ((name = va_arg (args, const gchar *))) {
    const gchar *value = va_arg (args, const gchar *);

    if (strcmp (name, "filter") == 0 || strcmp (name, "origin") == 0)
      g_object_set (s->element, name, value, NULL);
    else
      gst_util_set_object_arg (G_OBJECT (s->element), name, value);
  }
  va_end (args);
  return s;
}

void
stream_set_size (Stream *s, guint x, guint y, guint z)
{
  s->dims[1] = x;
  s->dims[2] = y;
  s->dims[3] = z;
  s->samples = s->dims[0] * x * y * z;
}

GstCaps *
stream_caps (const Stream *s)
{
  g_autofree gchar *text = g_strdup_printf (
      "other/tensors,format=static,"
      "num_tensors=1,types=float32,dimensions=%u:%u:%u:%u,framerate=%d/1",
      s->dims[0], s->dims[1], s->dims[2], s->dims[3], s->rate);

  return gst_caps_from_string (text);
}

void
stream_start (Stream *s)
{
  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_live (s->h, !s->not_live);
  gst_harness_set_src_caps (s->h, stream_caps (s));
}

Stream *
stream_started (const gchar *factory, const Model *model)
{
  Stream *s = stream_new (factory, model, NULL);

  stream_start (s);
  return s;
}

void
stream_free (Stream *s)
{
  if (s->h)
    gst_harness_teardown (s->h);
  gst_element_set_state (s->element, GST_STATE_NULL);
  gst_element_set_bus (s->element, NULL);
  gst_bus_set_flushing (s->bus, TRUE);
  gst_object_unref (s->bus);
  gst_object_unref (s->element);
  g_free (s);
}

/* Integers, so that sums are exact. */
gdouble
stream_sample (gint number, gsize i)
{
  guint32 hash = (guint32) number * 2654435761u + (guint32) i * 2246822519u;

  if (number >= POISON)
    return NAN;
  hash = (hash ^ (hash >> 15)) * 2246822519u;
  return (gdouble) ((hash >> 20) % 41) - 20;
}

GstBuffer *
stream_buffer (const Stream *s, gint number)
{
  GstBuffer *buffer = gst_buffer_new_and_alloc (s->samples * sizeof (gfloat));
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < s->samples; i++)
    ((gfloat *) map.data)[i] = stream_sample (number, i);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * s->duration;
  GST_BUFFER_DURATION (buffer) = s->duration;
  GST_BUFFER_OFFSET (buffer) = number;
  return buffer;
}

GstFlowReturn
stream_push (Stream *s, gint number)
{
  return gst_harness_push (s->h, stream_buffer (s, number));
}

GstFlowReturn
stream_push_flagged (Stream *s, gint number, guint flags)
{
  GstBuffer *buffer = stream_buffer (s, number);

  GST_BUFFER_FLAG_SET (buffer, flags);
  return gst_harness_push (s->h, buffer);
}

void
stream_push_range (Stream *s, gint start, gint last)
{
  gint step = last < start ? -1 : 1;

  for (gint i = start; i != last + step; i += step)
    fail_unless_equals_int (stream_push (s, i), GST_FLOW_OK);
}

void
stream_event (Stream *s, GstEvent *event)
{
  fail_unless (gst_harness_push_event (s->h, event));
}

void
stream_send_caps (Stream *s)
{
  g_autoptr (GstCaps) caps = stream_caps (s);

  stream_event (s, gst_event_new_caps (caps));
}

void
stream_eos (Stream *s)
{
  stream_event (s, gst_event_new_eos ());
}

void
stream_segment (Stream *s, gdouble rate, GstClockTime start, GstClockTime stop)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.start = start;
  segment.time = start;
  segment.stop = stop;
  segment.position = rate < 0 ? stop : start;
  stream_event (s, gst_event_new_segment (&segment));
}

void
stream_flush (Stream *s)
{
  stream_event (s, gst_event_new_flush_start ());
  stream_event (s, gst_event_new_flush_stop (TRUE));
  stream_segment (s, 1, 0, GST_CLOCK_TIME_NONE);
}

GstBuffer *
stream_pull (Stream *s)
{
  GstBuffer *buffer = gst_harness_try_pull (s->h);

  fail_unless (buffer != NULL, "an output is missing");
  return buffer;
}

void
stream_expect_none (Stream *s)
{
  fail_unless_equals_int (gst_harness_buffers_in_queue (s->h), 0);
}

void
stream_check (const Stream *s, GstBuffer *output, gint start, guint n, gint i)
{
  g_autofree gdouble *samples = g_new (gdouble, n * s->samples);
  g_autofree const gdouble **volumes = g_new (const gdouble *, n);
  g_autofree gdouble *want = g_new (gdouble, s->samples);
  GstMapInfo map;

  for (guint v = 0; v < n; v++) {
    volumes[v] = samples + v * s->samples;
    for (gsize k = 0; k < s->samples; k++)
      samples[v * s->samples + k] = stream_sample (start + v, k);
  }
  model_respond (&s->model, volumes, n, i, s->dims, want);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (output),
      (start + i) * s->duration);
  fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
  fail_unless_equals_uint64 (map.size, s->samples * sizeof (gfloat));
  for (gsize k = 0; k < s->samples; k++) {
    gfloat got = ((const gfloat *) map.data)[k];

    fail_unless (fabs (got - (gfloat) want[k]) <= s->tolerance,
        "output %d of "
        "%d to %d, sample %d: %.9g, not %g",
        i, start, start + n - 1, (gint) k, got, want[k]);
  }
  gst_buffer_unmap (output, &map);
  gst_buffer_unref (output);
}

void
stream_expect (Stream *s, gint start, guint n, gint from, gint to)
{
  if (from <= to) {
    for (gint i = from; i < to; i++)
      stream_check (s, stream_pull (s), start, n, i);
  } else {
    for (gint i = from; i >= to; i--)
      stream_check (s, stream_pull (s), start, n, i);
  }
}

void
stream_expect_all (Stream *s, gint start, guint n)
{
  stream_expect (s, start, n, 0, n);
  stream_expect_none (s);
}

guint
stream_messages (Stream *s, GstMessageType type, GstMessage **message)
{
  GstMessage *next, *last = NULL;
  guint n = 0;

  while ((next = gst_bus_pop_filtered (s->bus, type))) {
    gst_message_replace (&last, next);
    gst_message_unref (next);
    n++;
  }
  if (message)
    *message = last;
  else if (last)
    gst_message_unref (last);
  return n;
}

guint64
stream_stat (const Stream *s, const gchar *name)
{
  GstStructure *stats;
  guint64 value;

  g_object_get (s->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

gboolean
stream_latency (const Stream *s, gboolean *live, GstClockTime *min,
    GstClockTime *max)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  gboolean ok = gst_pad_peer_query (s->h->sinkpad, query);

  if (ok)
    gst_query_parse_latency (query, live, min, max);
  return ok;
}

/* Samples of any type */

gsize
type_size (const gchar *type)
{
  return g_str_has_suffix (type, "64") ? 8
      : g_str_has_suffix (type, "32")  ? 4
      : g_str_has_suffix (type, "16")  ? 2
                                       : 1;
}

/* IEEE 754 binary16. Clang 14 has no type for it on x86. */
static gdouble
half_get (guint16 half)
{
  const gint exponent = half >> 10 & 31;
  const gint mantissa = half & 1023;
  const gdouble sign = half >> 15 ? -1 : 1;

  if (exponent == 31)
    return mantissa ? NAN : sign * INFINITY;
  return sign
      * (exponent ? ldexp (1024 + mantissa, exponent - 25)
                  : ldexp (mantissa, -24));
}

static guint16
half_of (gdouble value)
{
  const guint16 sign = signbit (value) ? 0x8000 : 0;
  const gdouble size = fabs (value);
  const gint exponent = size < 0x1p-14 ? -14 : ilogb (size);

  if (isnan (value))
    return 0x7e00;
  /* The midpoint to the next power is rounded to infinity. */
  if (size >= 65520)
    return sign | 0x7c00;
  /* A mantissa that is rounded up to 2048 carries into the exponent. */
  return sign
      | (((exponent + 14) << 10) + (gint) rint (ldexp (size, 10 - exponent)));
}

gdouble
type_get (const gchar *type, gconstpointer data, gsize i)
{
  const gsize size = type_size (type);

  switch (type[0]) {
    case 'f':
      return size == 8 ? ((const gdouble *) data)[i]
          : size == 4  ? ((const gfloat *) data)[i]
                       : half_get (((const guint16 *) data)[i]);
    case 'i':
      return size == 1 ? ((const gint8 *) data)[i]
          : size == 2  ? ((const gint16 *) data)[i]
                       : ((const gint32 *) data)[i];
    default:
      return size == 1 ? ((const guint8 *) data)[i]
          : size == 2  ? ((const guint16 *) data)[i]
                       : ((const guint32 *) data)[i];
  }
}

void
type_set (const gchar *type, gpointer data, gsize i, gdouble value)
{
  const gsize size = type_size (type);
  const gdouble half = exp2 (8 * size - 1);
  gdouble whole = isnan (value) ? 0 : rint (value);

  if (type[0] == 'f') {
    if (size == 8)
      ((gdouble *) data)[i] = value;
    else if (size == 4)
      ((gfloat *) data)[i] = value;
    else
      ((guint16 *) data)[i] = half_of (value);
    return;
  }
  whole = type[0] == 'i' ? CLAMP (whole, -half, half - 1)
                         : CLAMP (whole, 0, 2 * half - 1);
  /* Two's complement has the same bits. */
  if (size == 1)
    ((guint8 *) data)[i] = (gint64) whole;
  else if (size == 2)
    ((guint16 *) data)[i] = (gint64) whole;
  else
    ((guint32 *) data)[i] = (gint64) whole;
}

/* Environment */

guint
test_count (guint count)
{
  const gchar *preload = g_getenv ("LD_PRELOAD");

  /* Under valgrind and under compute-sanitizer. */
  if ((preload && strstr (preload, "vgpreload"))
      || g_getenv ("NV_SANITIZER_INJECTION_PORT_BASE"))
    return MAX (1, count / 1000);
  /* A leak at each volume shows at the first ones. */
  if (g_getenv ("GST_TRACERS"))
    return MAX (1, count / 20);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return MAX (1, count / 20);
#else
  return count;
#endif
}

GRand *
test_rand (void)
{
  const gchar *text = g_getenv ("ND_SEED");
  guint32 seed =
      text ? (guint32) g_ascii_strtoull (text, NULL, 10) : g_random_int ();

  g_print ("# seed %u; ND_SEED=%u repeats the run\n", seed, seed);
  return g_rand_new_with_seed (seed);
}
