/* Results of the three filters: types, banks, components, axes, methods, and
 * every value of every property.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include <math.h>

static const gchar *const factories[] = { "ndconv2d", "ndconv3d",
  "ndconv4dtemporal" };
static const gchar *const types[] = { "uint8", "int16", "uint16", "float32",
  "int8", "int32", "uint32", "float16", "float64" };
#define N_COMPUTED 4 /* the others are converted */

static const gchar *const methods[] = { "direct", "separable", "fft",
  "reference" };

/* Samples that reach both ends of @type, and whose float32 sums are exact. */
static gdouble
random_sample (GRand *r, const gchar *type)
{
  gint kind = g_rand_int_range (r, 0, 8);

  if (strcmp (type, "float16") == 0)
    return g_rand_int_range (r, -2000, 2000) / 16.0;
  if (strcmp (type, "int8") == 0)
    return kind == 0 ? -128 : kind == 1 ? 127 : g_rand_int_range (r, -30, 30);
  if (strcmp (type, "int32") == 0 || strcmp (type, "uint32") == 0)
    return g_rand_int_range (r, type[0] == 'i' ? -90000 : 0, 90000);
  if (type[0] == 'f')
    return g_rand_int_range (r, -70000, 70000);
  if (strcmp (type, "uint8") == 0)
    return kind == 0 ? 255 : g_rand_int_range (r, 0, 256);
  if (type[0] == 'i')
    return kind == 0 ? -32768
        : kind == 1  ? 32767
                     : g_rand_int_range (r, -300, 300);
  return kind == 0 ? 65535 : g_rand_int_range (r, 0, 600);
}

/* Every type to every type: a gain of 1/2 tests rounding to even, and the
 * samples saturation. */
static void
check_types (GRand *r, const gchar *factory, const gchar *in_type,
    const gchar *out_type, const gchar *method)
{
  guint dims[4] = { 1, 11, 5, 3 };
  Model model = model_new (r, 3, 2, 1, 1);
  Stream *s;
  g_autofree gchar *caps = g_strdup_printf (
      "other/tensors,format=static,"
      "num_tensors=1,types=%s,dimensions=1:11:5:3,framerate=10/1",
      in_type);
  gdouble in[165], want[165];
  const gdouble *volume = in;
  guint8 wanted[8 * 165];
  GstBuffer *buffer, *output;
  GstMapInfo map;

  model.gain = 0.5;
  model.offset = in_type[0] == 'i' ? 3 : 0;
  model.border = "reflect";
  s = stream_new (factory, &model, "method", method, "output-type", out_type,
      NULL);
  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_src_caps_str (s->h, caps);
  buffer = gst_buffer_new_and_alloc (165 * type_size (in_type));
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (guint i = 0; i < 165; i++) {
    in[i] = random_sample (r, in_type);
    type_set (in_type, map.data, i, in[i]);
  }
  gst_buffer_unmap (buffer, &map);
  fail_unless_equals_int (gst_harness_push (s->h, buffer), GST_FLOW_OK);
  output = stream_pull (s);
  model_respond (&model, &volume, 1, 0, dims, want);
  for (guint i = 0; i < 165; i++)
    type_set (out_type, wanted, i, want[i]);
  fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
  fail_unless_equals_uint64 (map.size, 165 * type_size (out_type));
  for (guint i = 0; i < 165; i++)
    fail_unless (type_get (out_type, map.data, i)
            == type_get (out_type, wanted, i),
        "%s from %s to %s, sample %u: %g, not %g", factory, in_type, out_type,
        i, type_get (out_type, map.data, i), want[i]);
  gst_buffer_unmap (output, &map);
  gst_buffer_unref (output);
  stream_free (s);
}

GST_START_TEST (test_types)
{
  g_autoptr (GRand) r = test_rand ();

  for (guint f = 0; f < G_N_ELEMENTS (factories); f++)
    for (guint i = 0; i < G_N_ELEMENTS (types); i++)
      for (guint o = 0; o < G_N_ELEMENTS (types); o++) {
        if ((i >= N_COMPUTED || o >= N_COMPUTED)
            && f != (guint) g_rand_int_range (r, 0, 3))
          continue;
        check_types (r, factories[f], types[i], types[o], "direct");
        check_types (r, factories[f], types[i], types[o], "reference");
      }
}

GST_END_TEST;

/* The third of an integer and sums beyond 2^24 keep the digits of float64 by
 * each method, from and to each type that holds them. */
GST_START_TEST (test_double_precision)
{
  static const gchar *const wide[] = { "float64", "int32" };
  static const gint32 whole[12] = { G_MAXINT32, G_MININT32, 16777217, -3, 0, 1,
    2, 3, 4, 5, 6, 7 };

  for (guint i = 0; i < G_N_ELEMENTS (wide); i++) {
    for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
      const gsize size = type_size (wide[i]);
      guint8 in[12 * 8];
      Stream *s = stream_new ("ndconv3d", NULL, "filter",
          "coefficients,size=3:1:1,values=<1.0,0.0,0.3333333333333333>",
          "output-type", "float64", "precision", "double", "method", methods[m],
          "border", "constant", NULL);
      g_autofree gchar *caps =
          g_strdup_printf ("other/tensors,format=static,num_tensors=1,types=%s,"
                           "dimensions=1:12:1:1,framerate=10/1",
              wide[i]);
      GstBuffer *output;
      GstMapInfo map;

      for (guint x = 0; x < 12; x++)
        type_set (wide[i], in, x, whole[x]);
      s->h = gst_harness_new_with_element (s->element, "sink", "src");
      gst_harness_set_src_caps_str (s->h, caps);
      fail_unless_equals_int (gst_harness_push (s->h,
                                  gst_buffer_new_memdup (in, 12 * size)),
          GST_FLOW_OK);
      output = stream_pull (s);
      fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
      fail_unless_equals_uint64 (map.size, 12 * 8);
      for (guint x = 0; x < 12; x++) {
        const gdouble after = x < 11 ? whole[x + 1] : 0;
        const gdouble before = x > 0 ? whole[x - 1] : 0;
        const gdouble want = after + before * 0.3333333333333333;
        const gdouble got = type_get ("float64", map.data, x);

        fail_unless (fabs (got - want) <= 1e-14 * G_MAXINT32,
            "%s by %s, sample %u: %.17g, not %.17g", wide[i], methods[m], x,
            got, want);
      }
      gst_buffer_unmap (output, &map);
      gst_buffer_unref (output);
      stream_free (s);
    }
  }
}

GST_END_TEST;

/* Halves, both ends, NaN and infinity, in the type of the output. */
GST_START_TEST (test_rounding)
{
  static const gfloat in[12] = { 0.5, 1.5, 2.5, -0.5, -1.5, 254.5, 255.5, 1e9,
    -1e9, NAN, INFINITY, -INFINITY };

  for (guint o = 0; o < 3; o++) {
    for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
      Stream *s;
      GstBuffer *output;
      GstMapInfo map;

      /* A transform spreads NaN over the volume. */
      if (strcmp (methods[m], "fft") == 0)
        continue;
      s = stream_new ("ndconv3d", NULL, "filter",
          "coefficients,size=1,values=<1.0>", "output-type", types[o], "method",
          methods[m], NULL);
      stream_start (s);
      fail_unless_equals_int (gst_harness_push (s->h,
                                  gst_buffer_new_memdup (in, sizeof (in))),
          GST_FLOW_OK);
      output = stream_pull (s);
      fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
      for (guint i = 0; i < 12; i++) {
        guint8 want[2];

        type_set (types[o], want, 0, in[i]);
        fail_unless (type_get (types[o], map.data, i)
                == type_get (types[o], want, 0),
            "%s, %s: %g became %g", types[o], methods[m], in[i],
            type_get (types[o], map.data, i));
      }
      gst_buffer_unmap (output, &map);
      gst_buffer_unref (output);
      stream_free (s);
    }
  }
}

GST_END_TEST;

GST_START_TEST (test_components)
{
  for (guint c = 1; c <= 4; c++) {
    Model model = model_new (NULL, 3, 2, 2, 3);
    Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);

    s->dims[0] = c;
    stream_set_size (s, 5, 4, 3);
    stream_start (s);
    stream_push_range (s, 0, 4);
    stream_eos (s);
    stream_expect_all (s, 0, 5);
    stream_free (s);
  }
}

GST_END_TEST;

/* Odd and even sizes, also longer than the axis, each with every origin in
 * x. */
GST_START_TEST (test_sizes_and_origins)
{
  g_autoptr (GRand) r = test_rand ();
  static const guint sizes[][4] = { { 1, 1, 1, 1 }, { 2, 2, 2, 2 },
    { 4, 3, 2, 1 }, { 5, 1, 1, 4 }, { 1, 6, 5, 2 }, { 31, 1, 1, 2 },
    { 3, 3, 3, 3 } };
  static const gchar *const borders[] = { "constant", "nearest", "reflect",
    "mirror", "wrap" };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    for (guint b = 0; b < G_N_ELEMENTS (borders); b++) {
      const guint *k = sizes[i];
      Model model = model_new (r, k[0], k[1], k[2], k[3]);

      model.border = borders[b];
      model.time_border = borders[b % 4];
      model.border_value = 5;
      for (gint o = -(gint) (k[0] / 2); o <= ((gint) k[0] - 1) / 2; o += 4) {
        Stream *s;

        model.origin[0] = o;
        s = stream_new ("ndconv4dtemporal", &model, NULL);
        stream_set_size (s, 7, 5, 2);
        stream_start (s);
        stream_push_range (s, 0, 3);
        stream_eos (s);
        stream_expect_all (s, 0, 4);
        stream_free (s);
      }
    }
  }
}

GST_END_TEST;

/* A filter with a single 1 shifts by that amount along x, y, z and t. */
GST_START_TEST (test_delta_shifts)
{
  const gint n = 4, sx = 5, sy = 4, sz = 3;

  for (guint tap = 0; tap < 81; tap++) {
    const gint d[4] = { 1 - (gint) tap % 3, 1 - (gint) tap / 3 % 3,
      1 - (gint) tap / 9 % 3, 1 - (gint) tap / 27 };
    Model model = model_new (NULL, 3, 3, 3, 3);
    Stream *s;

    memset (model.values, 0, sizeof (model.values));
    model.values[tap] = 1;
    model.border = model.time_border = "constant";
    model.border_value = -99;
    s = stream_new ("ndconv4dtemporal", &model, NULL);
    stream_set_size (s, sx, sy, sz);
    stream_start (s);
    stream_push_range (s, 0, n - 1);
    stream_eos (s);
    for (gint t = 0; t < n; t++) {
      g_autoptr (GstBuffer) output = stream_pull (s);
      GstMapInfo map;

      fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
      for (gint i = 0; i < sx * sy * sz; i++) {
        gint x = i % sx + d[0], y = i / sx % sy + d[1], z = i / sx / sy + d[2];
        gboolean inside = x >= 0 && x < sx && y >= 0 && y < sy && z >= 0
            && z < sz && t + d[3] >= 0 && t + d[3] < n;

        fail_unless (((gfloat *) map.data)[i]
                == (inside ? stream_sample (t + d[3], (z * sy + y) * sx + x)
                           : -99),
            "tap %u, volume %d, sample %d", tap, t, i);
      }
      gst_buffer_unmap (output, &map);
    }
    stream_free (s);
  }
}

GST_END_TEST;

/* The third axis is z or time, depending on the property and the caps. */
GST_START_TEST (test_axes)
{
  static const gchar *const axes[] = { "auto", "xyz", "xyt" };

  for (guint i = 0; i < G_N_ELEMENTS (axes); i++) {
    gboolean temporal = i == 2;
    Model model =
        temporal ? model_new (NULL, 2, 1, 1, 3) : model_new (NULL, 2, 1, 3, 1);
    Stream *s = stream_new ("ndconv3d", NULL, "filter",
        "coefficients,size=2:1:3,values=<1.0,2.0,3.0,4.0,5.0,6.0>", "axes",
        axes[i], NULL);

    s->model = model;
    stream_set_size (s, 4, 3, 5);
    stream_start (s);
    stream_push_range (s, 0, 5);
    if (temporal) {
      stream_expect (s, 0, 6, 0, 5);
      stream_expect_none (s);
      stream_eos (s);
      stream_expect (s, 0, 6, 5, 6);
    } else {
      stream_expect_all (s, 0, 6);
    }
    stream_free (s);
  }
}

GST_END_TEST;

/* The responses of a bank follow each other, dimensions C:X:Y:Z:K. */
GST_START_TEST (test_bank)
{
  g_autoptr (GRand) r = test_rand ();

  for (guint k = 2; k <= 5; k++) {
    GString *filters = g_string_new (NULL);
    Model models[5];
    Stream *s;
    g_autoptr (GstCaps) caps = NULL;
    g_autofree gchar *dimensions = g_strdup_printf ("2:5:4:3:%u", k);

    for (guint i = 0; i < k; i++) {
      g_autofree gchar *filter = NULL;

      models[i] = model_new (r, 1 + i, 2, 3 - i % 3, 1 + i);
      filter = model_filter (&models[i]);
      g_string_append_printf (filters, i ? "; %s" : "%s", filter);
    }
    s = stream_new ("ndconv4dtemporal", NULL, "filter", filters->str, NULL);
    g_string_free (filters, TRUE);
    s->dims[0] = 2;
    stream_set_size (s, 5, 4, 3);
    stream_start (s);
    caps = gst_pad_get_current_caps (s->h->sinkpad);
    fail_unless_equals_string (
        gst_structure_get_string (gst_caps_get_structure (caps, 0),
            "dimensions"),
        dimensions);
    stream_push_range (s, 0, 6);
    stream_eos (s);
    for (gint n = 0; n < 7; n++) {
      g_autoptr (GstBuffer) all = stream_pull (s);
      gsize size = s->samples * sizeof (gfloat);

      fail_unless_equals_uint64 (gst_buffer_get_size (all), k * size);
      for (guint i = 0; i < k; i++) {
        GstBuffer *one = gst_buffer_copy_region (all, GST_BUFFER_COPY_MEMORY,
            i * size, size);

        GST_BUFFER_PTS (one) = GST_BUFFER_PTS (all);
        s->model = models[i];
        stream_check (s, one, 0, 7, n);
      }
    }
    stream_expect_none (s);
    stream_free (s);
  }
}

GST_END_TEST;

static gchar *
used (Stream *s, const gchar *what)
{
  GstStructure *stats;
  gchar *value;

  g_object_get (s->element, "stats", &stats, NULL);
  value = g_strdup (gst_structure_get_string (stats, what));
  gst_structure_free (stats);
  return value;
}

/* All outputs of one stream by @method, in sequence. */
static GArray *
all_outputs (const gchar *factory, const gchar *filter, const gchar *method)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (gfloat));
  Stream *s = stream_new (factory, NULL, "filter", filter, "method", method,
      "border", "mirror", NULL);
  g_autofree gchar *name = NULL;
  GstBuffer *output;

  stream_set_size (s, 19, 13, 6);
  stream_start (s);
  name = used (s, "method");
  fail_unless_equals_string (name, method);
  stream_push_range (s, 0, 5);
  stream_eos (s);
  while ((output = gst_harness_try_pull (s->h))) {
    GstMapInfo map;

    fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
    g_array_append_vals (all, map.data, map.size / sizeof (gfloat));
    gst_buffer_unmap (output, &map);
    gst_buffer_unref (output);
  }
  fail_unless_equals_int (all->len, 6 * s->samples);
  stream_free (s);
  return all;
}

GST_START_TEST (test_methods_agree)
{
  static const gchar *const filters[] = { "gaussian,sigma=0.8", "laplace",
    "box,size=2", "log,sigma=0.7", "sobel,direction=y" };

  for (guint e = 0; e < G_N_ELEMENTS (factories); e++) {
    for (guint f = 0; f < G_N_ELEMENTS (filters); f++) {
      g_autoptr (GArray) want =
          all_outputs (factories[e], filters[f], "reference");
      gdouble norm = 0;

      for (guint i = 0; i < want->len; i++)
        norm += pow (g_array_index (want, gfloat, i), 2);
      fail_unless (norm > 0);
      for (guint m = 0; m < 3; m++) {
        g_autoptr (GArray) got = NULL;
        gdouble error = 0;

        /* Sums of separable filters are not separable. */
        if (m == 1 && f % 2 == 1)
          continue;
        got = all_outputs (factories[e], filters[f], methods[m]);
        for (guint i = 0; i < want->len; i++)
          error += pow (g_array_index (got, gfloat, i)
                  - g_array_index (want, gfloat, i),
              2);
        /* Responses that cancel are small compared with the summed terms. */
        fail_unless (sqrt (error / norm) < (f % 2 == 0 && f < 4 ? 1e-6 : 1e-5),
            "%s of %s by %s: relative error %g", factories[e], filters[f],
            methods[m], sqrt (error / norm));
      }
    }
  }
}

GST_END_TEST;

/* No running sum is used: equal inputs give equal outputs from the first to the
 * last, bit by bit. */
static void
check_equal_frames (const gchar *method)
{
  Stream *s = stream_new ("ndconv4dtemporal", NULL, "filter",
      "gaussian,sigma=0.4,size=3", "method", method, NULL);
  GstBuffer *frame = stream_buffer (s, 1), *output;
  g_autoptr (GstBuffer) first = NULL;
  guint n = test_count (100000), got = 0;
  GstMapInfo map, want;

  GST_BUFFER_PTS (frame) = GST_CLOCK_TIME_NONE;
  stream_start (s);
  for (guint i = 0; i <= n; i++) {
    if (i == n)
      stream_eos (s);
    else
      ck_assert (gst_harness_push (s->h, gst_buffer_ref (frame))
          == GST_FLOW_OK);
    while ((output = gst_harness_try_pull (s->h))) {
      if (!first) {
        first = gst_buffer_copy_deep (output);
        fail_unless (gst_buffer_map (first, &want, GST_MAP_READ));
      }
      fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
      fail_unless (map.size == want.size
              && memcmp (map.data, want.data, map.size) == 0,
          "%s: output %u differs from the first", method, got);
      gst_buffer_unmap (output, &map);
      gst_buffer_unref (output);
      got++;
    }
  }
  gst_buffer_unmap (first, &want);
  fail_unless_equals_int (got, n);
  gst_buffer_unref (frame);
  stream_free (s);
}

GST_START_TEST (test_100000_equal_frames)
{
  check_equal_frames (methods[__i__]);
}

GST_END_TEST;

/* One value of one property, on a stream that accepts any value of it. */
static void
check_value (const gchar *factory, const gchar *property, const gchar *value)
{
  Model model = model_new (NULL, 2, 2, 1, 1);
  g_autofree gchar *method = NULL;
  Stream *s;

  for (guint i = 0; i < 4; i++)
    model.values[i] = 1;
  model.border_value = 3;
  if (strcmp (factory, "ndconv2d") != 0 && strcmp (property, "axes") != 0) {
    /* Axes x and t, or x and z. */
    gboolean four = strcmp (factory, "ndconv4dtemporal") == 0;

    model.size[1] = 1;
    model.size[four ? 3 : 2] = 2;
  }
  if (strcmp (property, "border") == 0)
    model.border = value;
  if (strcmp (property, "time-border") == 0)
    model.time_border = value;
  s = stream_new (factory, &model, property, value, NULL);
  stream_start (s);
  stream_push_range (s, 0, 4);
  stream_eos (s);
  method = used (s, "method");
  if (strcmp (method, "fft") == 0)
    s->tolerance = FFT_TOLERANCE;
  if (strcmp (property, "output-type") == 0 && strcmp (value, "same") != 0) {
    g_autoptr (GstCaps) caps = gst_pad_get_current_caps (s->h->sinkpad);

    fail_unless_equals_string (
        gst_structure_get_string (gst_caps_get_structure (caps, 0), "types"),
        value);
    fail_unless_equals_int (gst_harness_buffers_in_queue (s->h), 5);
  } else {
    stream_expect_all (s, 0, 5);
  }
  if (strcmp (property, "method") == 0 && strcmp (value, "auto") != 0)
    fail_unless_equals_string (method, value);
  if (strcmp (property, "backend") == 0) {
    g_autofree gchar *backend = used (s, "backend");

    fail_unless (strcmp (value, "auto") == 0 ? backend != NULL
                                             : g_strcmp0 (backend, value) == 0);
  }
  /* Samples below 0 do not fit in some types, which is a warning. A value that
   * has no effect is another one. */
  fail_unless_equals_int (stream_messages (s,
                              strcmp (property, "output-type") == 0
                                  ? GST_MESSAGE_ERROR
                                  : GST_MESSAGE_ERROR | GST_MESSAGE_WARNING,
                              NULL),
      strcmp (property, "accuracy") == 0 && strcmp (value, "fast") == 0);
  stream_free (s);
}

/* Applications look for filters of video by this. */
GST_START_TEST (test_klass)
{
  static const gchar *const video[] = { "ndconv2d", "ndconv3d", "nddenoise" };

  for (guint i = 0; i < G_N_ELEMENTS (video); i++) {
    g_autoptr (GstElementFactory) factory = gst_element_factory_find (video[i]);

    fail_unless_equals_string (gst_element_factory_get_metadata (factory,
                                   GST_ELEMENT_METADATA_KLASS),
        "Filter/Effect/Video");
    fail_unless (gst_element_factory_list_is_type (factory,
        GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO));
  }
}

GST_END_TEST;

/* All values; test-errors.c has those that are refused. */
GST_START_TEST (test_every_value_of_every_property)
{
  guint values = 0;

  for (guint f = 0; f < G_N_ELEMENTS (factories); f++) {
    GstElement *element = gst_element_factory_make (factories[f], NULL);
    g_autofree GParamSpec **specs = NULL;
    guint n;

    specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
    for (guint i = 0; i < n; i++) {
      const gchar *name = specs[i]->name;
      GEnumClass *klass;

      if (!G_IS_PARAM_SPEC_ENUM (specs[i]))
        continue;
      klass = G_PARAM_SPEC_ENUM (specs[i])->enum_class;
      for (guint v = 0; v < klass->n_values; v++) {
        const gchar *value = klass->values[v].value_nick;

        /* test-response tests these. */
        if (strcmp (name, "response") == 0 && v > 0)
          continue;
        /* And test-lag these. */
        if (strcmp (name, "stamp") == 0 && v > 0)
          continue;
        if ((strcmp (name, "time-border") == 0 && strcmp (value, "wrap") == 0)
            || (strcmp (name, "backend") == 0 && strcmp (value, "cuda") == 0)
            || strcmp (value, "tensor") == 0)
          continue;
        check_value (factories[f], name, value);
        values++;
      }
    }
    gst_object_unref (element);
  }
  /* border 5, time-border 4, output-type 10, backend 2, method 5, planes 2,
   * accuracy 2, precision 2, response 1, stamp 1; axes 3 */
  fail_unless_equals_int (values, 3 * 40 + 3);
}

GST_END_TEST;

/* Numbers and switches, together. */
GST_START_TEST (test_numbers)
{
  Stream *s = stream_new ("ndconv2d", NULL, "filter",
      "coefficients,size=3:1,values=<2.0,2.0,2.0>", "normalize", "true", "gain",
      "12", "offset", "-4", "border", "constant", "border-value", "2.5", NULL);

  stream_start (s);
  stream_push_range (s, 0, 2);
  for (gint n = 0; n < 3; n++) {
    g_autoptr (GstBuffer) output = stream_pull (s);
    GstMapInfo map;

    fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
    for (gint i = 0; i < 12; i++) {
      gdouble left = i % 3 == 0 ? 2.5 : stream_sample (n, i - 1);
      gdouble right = i % 3 == 2 ? 2.5 : stream_sample (n, i + 1);
      gdouble want = 12 * (left + stream_sample (n, i) + right) / 3 - 4;

      fail_unless (fabs (((gfloat *) map.data)[i] - want) < 1e-4);
    }
    gst_buffer_unmap (output, &map);
  }
  stream_free (s);
}

GST_END_TEST;

/* A field of `stats` after preroll. @source is followed by a filter whose
 * method is @method. */
static gchar *
find_in_stats (const gchar *source, const gchar *method, const gchar *field)
{
  g_autofree gchar *text = g_strdup_printf (
      "%s ! queue ! ndconv3d name=f filter=box,size=3 method=%s backend=cpu ! "
      "fakesink",
      source, method);
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  g_autoptr (GstStructure) stats = NULL;
  gchar *found;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              GST_CLOCK_TIME_NONE),
      GST_STATE_CHANGE_SUCCESS);
  g_object_get (filter, "stats", &stats, NULL);
  found = g_strdup (gst_structure_get_string (stats, field));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return found;
}

GST_START_TEST (test_names_of_kernels)
{
  static const gchar *const methods[] = { "direct", "separable", "reference" };

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    g_autofree gchar *found =
        find_in_stats ("ndtestsrc num-buffers=1 volume-size=9:8:7", methods[i],
            "kernels");
    g_autofree gchar *wanted = g_strdup_printf ("cpu/%s.c, ", methods[i]);

    fail_unless (found && g_str_has_prefix (found, wanted), "%s", found);
  }
}

GST_END_TEST;

/* The plan counts the volumes that the source announces. */
GST_START_TEST (test_length_of_stream)
{
  g_autofree gchar *seven =
      find_in_stats ("ndtestsrc num-buffers=7 volume-size=9:8:7", "auto",
          "reason");
  g_autofree gchar *one =
      find_in_stats ("ndtestsrc num-buffers=1 volume-size=9:8:7", "auto",
          "reason");
  g_autofree gchar *endless =
      find_in_stats ("ndtestsrc volume-size=9:8:7", "auto", "reason");

  fail_unless (g_str_has_prefix (seven,
                   "least estimated time of 7 volumes: direct"),
      "%s", seven);
  fail_unless (g_str_has_prefix (one,
                   "least estimated time of 1 volume: direct"),
      "%s", one);
  fail_unless (g_str_has_prefix (endless, "least estimated time: direct"), "%s",
      endless);
}

GST_END_TEST;

static Suite *
conv_suite (void)
{
  Suite *suite = suite_create ("conv");
  TCase *tc = tcase_create ("responses");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_types);
  tcase_add_test (tc, test_double_precision);
  tcase_add_test (tc, test_rounding);
  tcase_add_test (tc, test_components);
  tcase_add_test (tc, test_sizes_and_origins);
  tcase_add_test (tc, test_delta_shifts);
  tcase_add_test (tc, test_axes);
  tcase_add_test (tc, test_bank);
  tcase_add_test (tc, test_methods_agree);
  tcase_add_loop_test (tc, test_100000_equal_frames, 0, G_N_ELEMENTS (methods));
  tcase_add_test (tc, test_klass);
  tcase_add_test (tc, test_every_value_of_every_property);
  tcase_add_test (tc, test_numbers);
  tcase_add_test (tc, test_length_of_stream);
  tcase_add_test (tc, test_names_of_kernels);
  return suite;
}

GST_CHECK_MAIN (conv);
