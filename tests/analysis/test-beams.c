/* Beams: geometry, scan conversion and B-mode of the CPU back end against the
 * references in double precision and against formulas.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/convert.h"
#include "core/error.h"
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

/* Has the defaults, which own no memory. */
static NdBeams
beams_of (const gchar *text)
{
  NdBeams beams = { 0 };
  GError *error = NULL;

  nd_settings_init (nd_beams_settings, nd_n_beams_settings, &beams);
  nd_beams_parse (text, &beams, &error);
  g_assert_no_error (error);
  return beams;
}

static void
clear_beams (NdBeams *beams)
{
  nd_settings_clear (nd_beams_settings, nd_n_beams_settings, beams);
}

static const struct
{
  const gchar *text;
  gsize size[3];
} probes[] = {
  { "geometry=linear,depth=50,width=38,start-depth=4", { 40, 24, 1 } },
  { "geometry=linear,depth=50,width=38,elevation-width=30", { 30, 14, 9 } },
  { "geometry=phased,depth=120,angle=90", { 40, 30, 1 } },
  { "geometry=phased,depth=90,angle=350,elevation-width=20", { 30, 40, 5 } },
  { "geometry=curvilinear,depth=140,radius=60,angle=58,start-depth=10",
      { 30, 32, 1 } },
  { "geometry=curvilinear,depth=80,radius=10,angle=200,elevation-width=25",
      { 20, 40, 6 } },
  { "geometry=matrix,depth=120,angle=72,elevation-angle=60", { 30, 16, 12 } },
  { "geometry=wobbler,depth=100,radius=40,angle=64,elevation-radius=27,"
    "elevation-angle=70",
      { 30, 16, 12 } },
  { "geometry=wobbler,depth=100,radius=0,angle=64,elevation-radius=0,"
    "plane-angles=-30:-12:-5:1:22",
      { 30, 16, 5 } },
  { "geometry=wobbler,depth=100,radius=40,angle=64,elevation-radius=27,"
    "plane-angles=31:12:5:-1:-22",
      { 30, 16, 5 } },
};

/* Places have the index that they come from, and lie in the box. */
static void
test_places (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (probes); i++) {
    NdBeams beams = beams_of (probes[i].text), again = { 0 };
    g_autoptr (NdBeamSpace) space =
        nd_beam_space_new (&beams, probes[i].size, NULL);
    gchar text[ND_BEAMS_TEXT];
    gdouble low[3], high[3];

    g_assert_nonnull (space);
    nd_beam_space_box (space, low, high);
    for (guint k = 0; k < 500; k++) {
      gdouble index[3], place[3], back[3];

      for (guint a = 0; a < 3; a++)
        index[a] = g_test_rand_double_range (0, 1) * (probes[i].size[a] - 1);
      index[0] = MAX (index[0], 0.1);
      nd_beam_space_position (space, index, place);
      g_assert_true (nd_beam_space_index (space, place, back));
      for (guint a = 0; a < 3; a++) {
        g_assert_cmpfloat_with_epsilon (index[a], back[a], 1e-9);
        g_assert_true (place[a] >= low[a] - 0.05);
        g_assert_true (place[a] <= high[a] + 0.05);
      }
    }
    g_assert_true (nd_beams_to_text (&beams, text, NULL));
    again = beams_of (text);
    for (guint r = 0; r < nd_n_beams_settings; r++)
      g_assert_true (nd_setting_is_equal (&nd_beams_settings[r], &beams,
          &again));
    clear_beams (&beams);
    clear_beams (&again);
  }
}

/* A wobbler of 100 planes with many digits comes back; more than caps take is
 * refused. */
static void
test_long_text (void)
{
  for (guint n = 100; n <= 300; n += 200) {
    g_autoptr (GString) text = g_string_new ("geometry=wobbler,plane-angles=");
    g_autofree gchar *angles = NULL;
    NdBeams beams = beams_of ("geometry=wobbler"), again;
    gchar out[ND_BEAMS_TEXT];
    g_autoptr (GError) error = NULL;

    for (guint i = 0; i < n; i++)
      g_string_append_printf (text, i ? ":%.14f" : "%.14f", i / 7. - 10);
    angles = g_strdup (strrchr (text->str, '=') + 1);
    g_free (beams.plane_angles);
    beams.plane_angles = g_strdup (angles);
    g_assert_cmpint (nd_beams_to_text (&beams, out, &error), ==, n == 100);
    if (n == 100) {
      again = beams_of (out);
      g_assert_cmpstr (again.plane_angles, ==, angles);
      clear_beams (&again);
    } else {
      g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
      g_assert_cmpstr (out, ==, "");
    }
    clear_beams (&beams);
  }
}

/* By hand. */
static void
test_known (void)
{
  static const struct
  {
    const gchar *text;
    gsize size[3];
    gdouble index[3], place[3];
  } cases[] = {
    { "geometry=linear,depth=30,width=20", { 4, 3, 1 }, { 1, 0, 0 },
        { -10, 10, 0 } },
    { "geometry=phased,depth=30,angle=90", { 4, 3, 1 }, { 3, 2, 0 },
        { 21.213203435596427, 21.213203435596427, 0 } },
    { "geometry=curvilinear,depth=40,start-depth=10,radius=60,angle=60",
        { 4, 3, 1 }, { 0, 0, 0 }, { -35, 0.62177826491070524, 0 } },
    { "geometry=matrix,depth=30,angle=90,elevation-angle=90", { 4, 3, 3 },
        { 3, 2, 0 },
        { 17.320508075688775, 17.320508075688775, -17.320508075688775 } },
    { "geometry=wobbler,depth=30,radius=0,angle=90,elevation-radius=20,"
      "elevation-angle=60",
        { 4, 3, 3 }, { 3, 1, 2 }, { 0, 23.301270189221931, 25 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    NdBeams beams = beams_of (cases[i].text);
    g_autoptr (NdBeamSpace) space =
        nd_beam_space_new (&beams, cases[i].size, NULL);
    gdouble place[3];

    nd_beam_space_position (space, cases[i].index, place);
    for (guint a = 0; a < 3; a++)
      g_assert_cmpfloat_with_epsilon (place[a], cases[i].place[a], 1e-12);
    clear_beams (&beams);
  }
}

/* A volume of random samples of @type, and as doubles. */
static gpointer
random_volume (gsize n, NdSampleType type, gdouble *values)
{
  guint8 *data = g_malloc0 (n * nd_sample_size (type) + 1);

  for (gsize i = 0; i < n; i++) {
    const gint v = g_test_rand_int_range (0, 250);

    switch (type) {
      case ND_UINT8:
        data[i] = v;
        break;
      case ND_INT16:
        ((gint16 *) data)[i] = 9 * v - 900;
        break;
      case ND_UINT16:
        ((guint16 *) data)[i] = 250 * v;
        break;
      default:
        ((gfloat *) data)[i] = v / 200.0f - 0.5f;
    }
    values[i] = nd_sample_value (data, i, type);
  }
  return data;
}

/* Runs the algorithm twice, because it is used again. */
static void
run_algorithm (NdAlgorithm *algorithm, const NdSamples *in,
    const NdSamples *out)
{
  for (guint i = 0; i < 2; i++) {
    g_assert_false (nd_algorithm_ready (algorithm));
    g_assert_true (nd_algorithm_push (algorithm, in, NULL));
    g_assert_true (nd_algorithm_ready (algorithm));
    g_assert_true (nd_algorithm_respond (algorithm, i ? out : NULL, NULL));
  }
  g_assert_cmpuint (nd_algorithm_bytes (algorithm), >, 0);
  nd_algorithm_reset (algorithm);
}

static gsize
count (const NdShape *shape)
{
  return shape->components * shape->size[0] * shape->size[1] * shape->size[2];
}

/* Largest difference of the CPU to the reference; integers are rounded. */
static void
check_scan (const NdScan *scan, NdSampleType type)
{
  const gdouble step = type == ND_FLOAT32 ? 1e-4 : 0.5 + 0.02;
  const gsize n_in = count (&scan->in), n_out = count (&scan->out);
  g_autofree gdouble *values = g_new (gdouble, n_in);
  g_autofree gdouble *wanted = g_new (gdouble, n_out);
  g_autofree gpointer in = random_volume (n_in, type, values);
  g_autofree gpointer out = g_malloc (n_out * nd_sample_size (type));
  const NdSamples from = nd_samples_dense (in, &scan->in, type);
  const NdSamples to = nd_samples_dense (out, &scan->out, type);
  const gdouble low = type == ND_INT16 ? -32768 : type == ND_FLOAT32 ? -9 : 0;
  const gdouble high = type == ND_UINT8 ? 255 : type == ND_FLOAT32 ? 99 : 65535;
  const gdouble range = type == ND_UINT16 ? 65535 : type == ND_INT16 ? 2300 : 0;
  GError *error = NULL;
  g_autoptr (NdAlgorithm) algorithm = nd_cpu_scan_new (scan, type, -1, &error);

  g_assert_no_error (error);
  run_algorithm (algorithm, &from, &to);
  nd_scan_reference (scan, values, wanted);
  for (gsize i = 0; i < n_out; i++) {
    const gdouble value = nd_sample_value (out, i, type);

    /* Shares have 16 bits. */
    g_assert_cmpfloat_with_epsilon (value, CLAMP (wanted[i], low, high),
        step + 8e-5 * range);
  }
}

static void
test_scan (void)
{
  static const NdSampleType types[] = { ND_UINT8, ND_INT16, ND_UINT16,
    ND_FLOAT32 };

  for (guint i = 0; i < G_N_ELEMENTS (probes) * 4; i++) {
    const gsize *n = probes[i / 4].size;
    NdBeams beams = beams_of (probes[i / 4].text);
    NdScanSettings settings = { .interpolation = i % 2,
      .border_value = 7,
      .depth_axis = n[2] > 1 ? i % 3 : i % 2 };
    NdShape in = { 1 + i % 2, { 0 } };
    NdGeometry geometry;
    GError *error = NULL;
    NdScan scan;

    for (guint a = 0; a < 3; a++)
      in.size[a] = n[a == settings.depth_axis ? 0
              : a < settings.depth_axis       ? a + 1
                                              : a];
    g_assert_true (nd_scan_init (&scan, &beams, &settings, &in, &geometry,
        &error));
    g_assert_no_error (error);
    g_assert_cmpuint (count (&scan.out), >, count (&in) / 2);
    g_assert_cmpuint (count (&scan.out), <, count (&in) * 2);
    check_scan (&scan, types[i % 4]);

    /* And back. */
    geometry = scan.grid;
    in.components = 1;
    memcpy (in.size, scan.out.size, sizeof (in.size));
    nd_scan_clear (&scan);
    settings.inverse = TRUE;
    settings.size = n[2] == 1 ? "12:9" : n[2] == 5 ? "9:7:5" : "9:7:6";
    settings.depth_axis = ND_AXIS_X;
    g_assert_true (nd_scan_init (&scan, &beams, &settings, &in, &geometry,
        &error));
    check_scan (&scan, types[i / 4 % 4]);
    nd_scan_clear (&scan);
    clear_beams (&beams);
  }
}

/* Rows of 37 samples, the last of which fill no vector. */
static void
test_scan_width (void)
{
  static const NdSampleType types[] = { ND_UINT8, ND_FLOAT32 };

  for (guint i = 0; i < G_N_ELEMENTS (probes) * 4; i++) {
    const gsize *n = probes[i / 4].size;
    const gboolean is_flat = n[2] == 1;
    NdBeams beams = beams_of (probes[i / 4].text);
    NdScanSettings settings = { .interpolation = i % 2,
      .border_value = 7,
      .size = is_flat ? "37:11" : "37:11:5" };
    NdShape in = { 1 + i / 2 % 2, { n[0], n[1], n[2] } };
    NdGeometry geometry;
    NdScan scan;

    g_assert_true (nd_scan_init (&scan, &beams, &settings, &in, NULL, NULL));
    check_scan (&scan, types[i / 2 % 2]);
    geometry = scan.grid;
    in = scan.out;
    nd_scan_clear (&scan);
    settings.inverse = TRUE;
    g_assert_true (nd_scan_init (&scan, &beams, &settings, &in, &geometry,
        NULL));
    check_scan (&scan, types[i / 2 % 2]);
    nd_scan_clear (&scan);
    clear_beams (&beams);
  }
}

/* NaN and infinity count only where their weight is not 0, as in the reference:
 * indices are multiples of 1/2. */
static void
test_scan_nan (void)
{
  static const gchar *const spacings[] = { "1", "0.5", "0.5:1:1", "1:0.5:1",
    "1:1:0.5" };

  for (guint i = 0; i < G_N_ELEMENTS (spacings) * 4; i++) {
    const gboolean is_flat = i / 2 % 2;
    NdBeams beams =
        beams_of ("geometry=linear,depth=8,width=8,elevation-width=4");
    const NdScanSettings settings = { .interpolation = i % 2,
      .spacing = (gchar *) spacings[i / 4] };
    const NdShape in = { 1, { 9, 9, is_flat ? 1 : 5 } };
    const gsize n = count (&in);
    g_autofree gfloat *data = g_new (gfloat, n);
    g_autofree gdouble *values = g_new (gdouble, n);
    g_autofree gfloat *out = NULL;
    g_autofree gdouble *wanted = NULL;
    const NdSamples from = nd_samples_dense (data, &in, ND_FLOAT32);
    g_autoptr (NdAlgorithm) algorithm = NULL;
    gsize finite = 0;
    NdSamples to;
    NdScan scan;

    for (gsize k = 0; k < n; k++)
      values[k] = data[k] = k % 7 == 3 ? NAN
          : k % 11 == 5                ? INFINITY
                                       : g_test_rand_int_range (0, 99);
    g_assert_true (nd_scan_init (&scan, &beams, &settings, &in, NULL, NULL));
    algorithm = nd_cpu_scan_new (&scan, ND_FLOAT32, -1, NULL);
    out = g_new (gfloat, count (&scan.out));
    wanted = g_new (gdouble, count (&scan.out));
    to = nd_samples_dense (out, &scan.out, ND_FLOAT32);
    run_algorithm (algorithm, &from, &to);
    nd_scan_reference (&scan, values, wanted);
    for (gsize k = 0; k < count (&scan.out); k++) {
      g_assert_cmpint (isfinite (out[k]), ==, isfinite (wanted[k]));
      if (!isfinite (wanted[k]))
        continue;
      finite++;
      g_assert_cmpfloat_with_epsilon (out[k], wanted[k], 5e-3);
    }
    g_assert_cmpuint (finite, >, 0);
    nd_scan_clear (&scan);
    clear_beams (&beams);
  }
}

/* The directions of the input count: a linear function of the place, sampled on
 * a turned and mirrored grid, is the same function along the beams. */
static void
test_directions (void)
{
  const gdouble c = cos (.4), s = sin (.4);
  NdBeams beams = beams_of ("geometry=matrix,depth=20,angle=60,"
                            "elevation-angle=50");
  const NdScanSettings settings = {
    .inverse = TRUE, .size = "12:9:8", .border_value = -999
  };
  NdGeometry geometry = { .known = TRUE,
    .spacing = { 1, 2, 1.5 },
    .origin = { 16, -14, 12 },
    .directions = { -c, s, 0, s, c, 0, 0, 0, -1 } };
  const NdShape in = { 1, { 33, 22, 17 } };
  g_autofree gdouble *from = g_new (gdouble, count (&in));
  gdouble to[12 * 9 * 8];
  guint inside = 0;
  g_autoptr (GError) error = NULL;
  NdScan scan;

  for (gsize k = 0; k < count (&in); k++) {
    const gdouble at[3] = { 1. * (k % 33), 2. * (k / 33 % 22),
      1.5 * (k / (33 * 22)) };
    gdouble place[3];

    for (guint a = 0; a < 3; a++) {
      place[a] = geometry.origin[a];
      for (guint b = 0; b < 3; b++)
        place[a] += geometry.directions[3 * a + b] * at[b];
    }
    from[k] = 3 * place[0] - 2 * place[1] + 5 * place[2] + 1;
  }
  g_assert_true (nd_scan_init (&scan, &beams, &settings, &in, &geometry, NULL));
  nd_scan_reference (&scan, from, to);
  for (guint k = 0; k < 12 * 9 * 8; k++) {
    const gdouble index[3] = { k % 12, k / 12 % 9, k / 108 };
    gdouble place[3];

    if (to[k] == -999)
      continue;
    inside++;
    nd_beam_space_position (scan.space, index, place);
    g_assert_cmpfloat_with_epsilon (to[k],
        3 * place[0] - 2 * place[1] + 5 * place[2] + 1, 1e-9);
  }
  g_assert_cmpuint (inside, >, 400);
  nd_scan_clear (&scan);
  memcpy (geometry.directions + 3, geometry.directions, 3 * sizeof (gdouble));
  g_assert_false (nd_scan_init (&scan, &beams, &settings, &in, &geometry,
      &error));
  g_assert_nonnull (strstr (error->message, "independent axes"));
  clear_beams (&beams);
}

static gdouble
phantom (const gdouble place[3])
{
  return 128 + 60 * sin (place[0] / 18) * cos (place[1] / 18)
      + 30 * cos (place[2] / 20);
}

/* The largest error of uint8 greys of a smooth body, in samples that are not
 * at the edge. */
static gdouble
phantom_error (const NdScan *scan)
{
  const gsize n_in = count (&scan->in);
  g_autofree guint8 *in = g_malloc (n_in);
  g_autofree guint8 *out = g_malloc (count (&scan->out));
  const NdSamples from = nd_samples_dense (in, &scan->in, ND_UINT8);
  const NdSamples to = nd_samples_dense (out, &scan->out, ND_UINT8);
  g_autoptr (NdAlgorithm) algorithm =
      nd_cpu_scan_new (scan, ND_UINT8, -1, NULL);
  gdouble largest = 0;
  gsize i = 0;

  for (gsize k = 0; k < n_in; k++) {
    const gdouble index[3] = { k % scan->in.size[0],
      k / scan->in.size[0] % scan->in.size[1],
      k / scan->in.size[0] / scan->in.size[1] };
    gdouble place[3];

    nd_beam_space_position (scan->space, index, place);
    in[k] = phantom (place) + 0.5;
  }
  run_algorithm (algorithm, &from, &to);
  for (gsize z = 0; z < scan->out.size[2]; z++)
    for (gsize y = 0; y < scan->out.size[1]; y++)
      for (gsize x = 0; x < scan->out.size[0]; x++, i++) {
        const gdouble place[3] = { scan->grid.origin[0]
              + x * scan->grid.spacing[0],
          scan->grid.origin[1] + y * scan->grid.spacing[1],
          scan->grid.origin[2] + z * scan->grid.spacing[2] };
        const gsize at[3] = { x, y, z };
        gdouble index[3];

        if (nd_scan_index (scan, at, index))
          largest = MAX (largest, fabs (out[i] - phantom (place)));
      }
  return largest;
}

/* Rounding takes up to half a grey at both ends. */
static void
test_phantom (void)
{
  static const gsize sizes[][3] = { { 256, 200, 1 }, { 96, 64, 64 } };
  static const gchar *const texts[] = {
    "geometry=curvilinear,depth=100,radius=50,angle=60",
    "geometry=matrix,depth=100,angle=60,elevation-angle=60"
  };

  for (guint i = 0; i < 2; i++) {
    NdBeams beams = beams_of (texts[i]);
    NdScanSettings settings = { .interpolation = ND_INTERPOLATION_CUBIC };
    const NdShape in = { 1, { sizes[i][0], sizes[i][1], sizes[i][2] } };
    NdScan scan;
    gdouble error;

    g_assert_true (nd_scan_init (&scan, &beams, &settings, &in, NULL, NULL));
    error = phantom_error (&scan);
    g_test_message ("%s: error %.3f greys, rounded twice", texts[i], error);
    g_assert_cmpfloat (error, <, 1.3);
    nd_scan_clear (&scan);
    clear_beams (&beams);
  }
}

/* Without rounding the error of interpolation remains. */
static void
test_interpolation (void)
{
  for (guint i = 0; i < 2; i++) {
    NdBeams beams =
        beams_of ("geometry=matrix,depth=100,angle=60,elevation-angle=60");
    NdScanSettings settings = { .interpolation = i };
    const NdShape in = { 1, { 96, 64, 64 } };
    g_autofree gdouble *from = g_new (gdouble, count (&in));
    gdouble largest = 0;
    NdScan scan;
    g_autofree gdouble *to = NULL;

    g_assert_true (nd_scan_init (&scan, &beams, &settings, &in, NULL, NULL));
    to = g_new (gdouble, count (&scan.out));
    for (gsize k = 0; k < count (&in); k++) {
      const gdouble index[3] = { k % 96, k / 96 % 64, k / 96 / 64 };
      gdouble place[3];

      nd_beam_space_position (scan.space, index, place);
      from[k] = phantom (place);
    }
    nd_scan_reference (&scan, from, to);
    for (gsize k = 0; k < count (&scan.out); k++) {
      const gsize *n = scan.out.size;
      const gsize at[3] = { k % n[0], k / n[0] % n[1], k / n[0] / n[1] };
      gdouble index[3], place[3];

      if (!nd_scan_index (&scan, at, index))
        continue;
      for (guint a = 0; a < 3; a++)
        place[a] = scan.grid.origin[a] + at[a] * scan.grid.spacing[a];
      largest = MAX (largest, fabs (to[k] - phantom (place)));
    }
    g_test_message ("interpolation %u: error %.3f greys", i, largest);
    g_assert_cmpfloat (largest, <, 0.5);
    nd_scan_clear (&scan);
    clear_beams (&beams);
  }
}

static const struct
{
  const gchar *text, *size, *spacing, *sentence;
  gsize in[3];
  gboolean inverse;
} refused[] = {
  { "geometry=phased,depth=0", "", "", "depth must be larger", { 9, 9, 1 } },
  { "geometry=phased,depth=9,start-depth=9", "", "", "depth must be larger",
      { 9, 9, 1 } },
  { "geometry=phased,angle=0", "", "", "above 0 and below 360", { 9, 9, 1 } },
  { "geometry=phased,angle=360", "", "", "above 0 and below 360", { 9, 9, 1 } },
  { "geometry=linear,width=0", "", "", "width above 0", { 9, 9, 1 } },
  { "geometry=linear,elevation-width=0", "", "", "elevation-width",
      { 9, 9, 4 } },
  { "geometry=curvilinear,radius=0", "", "", "geometry=phased", { 9, 9, 1 } },
  { "geometry=matrix,angle=180", "", "", "below 180", { 9, 9, 9 } },
  { "geometry=matrix,elevation-angle=0", "", "", "below 180", { 9, 9, 9 } },
  { "geometry=matrix", "", "", "2 or more along each", { 9, 9, 1 } },
  { "geometry=wobbler,elevation-angle=360", "", "", "plane-angles",
      { 9, 9, 9 } },
  { "geometry=wobbler,plane-angles=1:2", "", "", "one for each plane",
      { 9, 9, 3 } },
  { "geometry=wobbler,plane-angles=1:3:2", "", "", "rise, or fall",
      { 9, 9, 3 } },
  { "geometry=wobbler,plane-angles=1:2:180", "", "", "from -180 to 180",
      { 9, 9, 3 } },
  { "geometry=wobbler,plane-angles=1:2:x", "", "", "from -180 to 180",
      { 9, 9, 3 } },
  { "geometry=phased", "", "", "2 or more", { 1, 9, 1 } },
  { "geometry=phased", "", "", "2 or more", { 9, 1, 1 } },
  { "geometry=phased", "5", "", "must be X:Y:Z", { 9, 9, 1 } },
  { "geometry=phased", "5:5:5", "", "one plane", { 9, 9, 1 } },
  { "geometry=phased", "", "0", "numbers above 0", { 9, 9, 1 } },
  { "geometry=matrix", "", "1e-3", "larger spacing", { 9, 9, 9 } },
  { "geometry=matrix", "", "1e-300", "larger spacing", { 9, 9, 9 } },
  { "geometry=matrix", "3000:3000:3000", "", "larger spacing", { 9, 9, 9 } },
  { "geometry=matrix", "4294967295:4294967295:4294967295", "", "larger spacing",
      { 9, 9, 9 } },
  { "geometry=matrix", "", "", "inverse=true needs size", { 9, 9, 9 }, TRUE },
};

static void
test_refused (void)
{
  static const gchar *const texts[] = { "", "depth=3", "geometry=square",
    "geometry=linear,color=3", "geometry=linear,depth=x",
    "geometry=linear,depth", "geometry=linear,depth=nan", "too long" };
  NdBeams beams = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    const NdScanSettings settings = { .inverse = refused[i].inverse,
      .size = (gchar *) refused[i].size,
      .spacing = (gchar *) refused[i].spacing };
    const NdGeometry geometry = { .known = TRUE,
      .spacing = { 1, 1, 1 },
      .directions = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
    NdShape in = { .components = 1 };
    g_autoptr (GError) error = NULL;
    NdScan scan;

    memcpy (in.size, refused[i].in, sizeof (in.size));
    beams = beams_of (refused[i].text);
    g_assert_false (nd_scan_init (&scan, &beams, &settings, &in, &geometry,
        &error));
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, refused[i].sentence));
    clear_beams (&beams);
  }
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;

    nd_settings_init (nd_beams_settings, nd_n_beams_settings, &beams);
    g_assert_false (nd_beams_parse (texts[i], &beams, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
    clear_beams (&beams);
  }
}

/* B-mode */

static const struct
{
  NdBmodeSettings settings;
  gsize components;
} modes[] = {
  { { .decimation = 1, .dynamic_range = 60 }, 1 },
  { { .decimation = 1, .dynamic_range = 40, .gain = 10, .tgc = "0:6:-3" }, 1 },
  { { .decimation = 1, .dynamic_range = 60, .output = ND_BMODE_IQ }, 1 },
  { { .decimation = 1, .dynamic_range = 60, .output = ND_BMODE_ENVELOPE }, 1 },
  { { 5e6, 20e6, 1, 60, .output = ND_BMODE_IQ }, 1 },
  { { 5e6, 40e6, 4, 60, .output = ND_BMODE_ENVELOPE, .tgc = "3" }, 1 },
  { { 5e6, 40e6, 3, 70, .gain = 4 }, 1 },
  { { .decimation = 1, .dynamic_range = 60 }, 2 },
  { { .decimation = 2, .dynamic_range = 60, .output = ND_BMODE_ENVELOPE }, 2 },
  { { 1e6, 40e6, 5, 60, .output = ND_BMODE_IQ, .gain = -7 }, 2 },
};

static void
check_bmode (const NdBmodeSettings *settings, const NdShape *in,
    NdSampleType type, gdouble tolerance)
{
  const gboolean is_grey = settings->output == ND_BMODE_GREY;
  const gsize lines = in->size[1] * in->size[2];
  const gsize line = in->components * in->size[0];
  g_autofree gdouble *values = g_new (gdouble, count (in));
  g_autofree gpointer data = random_volume (count (in), type, values);
  const NdSamples from = nd_samples_dense (data, in, type);
  g_autofree gdouble *wanted = NULL;
  g_autofree gfloat *out = NULL;
  GError *error = NULL;
  g_autoptr (NdAlgorithm) algorithm = NULL;
  gdouble scale = 0;
  NdSamples to;
  NdBmode bmode;

  nd_bmode_init (&bmode, settings, in, type, &error);
  g_assert_no_error (error);
  algorithm = nd_cpu_bmode_new (&bmode, type, ND_FLOAT32, -1, &error);
  g_assert_no_error (error);
  out = g_new (gfloat, count (&bmode.out));
  wanted = g_new (gdouble, count (&bmode.out));
  to = nd_samples_dense (out, &bmode.out, ND_FLOAT32);
  run_algorithm (algorithm, &from, &to);
  for (gsize i = 0; i < lines; i++)
    nd_bmode_reference (&bmode, values + i * line,
        wanted + i * bmode.out.size[0] * bmode.out.components);
  for (gsize i = 0; i < count (&bmode.out); i++)
    scale = MAX (scale, fabs (wanted[i]));
  for (gsize i = 0; i < count (&bmode.out); i++)
    g_assert_cmpfloat_with_epsilon (out[i] / scale, wanted[i] / scale,
        is_grey ? 20 * tolerance : tolerance);
  nd_bmode_clear (&bmode);
}

static void
test_bmode (void)
{
  static const NdSampleType types[] = { ND_FLOAT32, ND_UINT8, ND_INT16,
    ND_UINT16 };
  static const gsize lengths[] = { 300, 128, 17, 5 };

  for (guint i = 0; i < G_N_ELEMENTS (modes) * 4; i++) {
    const NdShape in = { modes[i / 4].components, { lengths[i % 4], 3, 2 } };

    check_bmode (&modes[i / 4].settings, &in, types[(i + i / 4) % 4], 1e-5);
  }
}

/* The analytic signal of SciPy's hilbert(): the discrete Fourier transform
 * without negative frequencies. Pulses are far from the ends. */
static void
test_hilbert (void)
{
  enum
  {
    N = 512
  };
  const NdBmodeSettings settings = {
    .decimation = 1, .dynamic_range = 60, .output = ND_BMODE_IQ
  };
  const NdShape in = { 1, { N, 1, 1 } };
  g_autofree gfloat *data = g_new (gfloat, N);
  g_autofree gfloat *out = g_new (gfloat, 2 * N);
  const NdSamples from = nd_samples_dense (data, &in, ND_FLOAT32);
  g_autoptr (NdAlgorithm) algorithm = NULL;
  NdSamples to;
  NdBmode bmode;

  for (guint n = 0; n < N; n++) {
    const gdouble u = (n - 200.) / 18, v = (n - 300.) / 11;

    data[n] = exp (-u * u / 2) * cos (0.9 * n)
        + 0.4 * exp (-v * v / 2) * sin (1.7 * n);
  }
  g_assert_true (nd_bmode_init (&bmode, &settings, &in, ND_FLOAT32, NULL));
  algorithm = nd_cpu_bmode_new (&bmode, ND_FLOAT32, ND_FLOAT32, -1, NULL);
  to = nd_samples_dense (out, &bmode.out, ND_FLOAT32);
  run_algorithm (algorithm, &from, &to);
  for (guint n = 64; n < N - 64; n += 3) {
    gdouble sum = 0;

    /* The imaginary part: the convolution with cot (pi m / N) at odd m. */
    for (guint k = 0; k < N; k++) {
      const gint m = (gint) n - (gint) k;

      if (m % 2)
        sum += 2. / N / tan (G_PI * m / N) * data[k];
    }
    g_assert_cmpfloat_with_epsilon (out[2 * n], data[n], 1e-7);
    g_assert_cmpfloat_with_epsilon (out[2 * n + 1], sum, 1e-5);
  }
  nd_bmode_clear (&bmode);
}

/* Demodulation finds the amplitude and the phase of a tone; greys are those of
 * the formula; what is not a number is black. */
static void
test_tone (void)
{
  static const gdouble amplitudes[] = { 1, 0.1, 1e-3, 1e-9, 0, NAN, INFINITY };
  const NdShape in = { 1, { 600, 1, 1 } }, pairs = { 2, { 7, 1, 1 } };
  const NdBmodeSettings iq = { 5e6, 40e6, 4, 60, .output = ND_BMODE_IQ };
  const NdBmodeSettings grey = { .decimation = 1, .dynamic_range = 60 };
  gfloat data[600], out[600];
  NdSamples from = nd_samples_dense (data, &in, ND_FLOAT32), to;
  NdAlgorithm *algorithm;
  NdBmode bmode;

  for (guint n = 0; n < 600; n++)
    data[n] = 0.5 * cos (2 * G_PI * n / 8 + 0.6);
  g_assert_true (nd_bmode_init (&bmode, &iq, &in, ND_FLOAT32, NULL));
  g_assert_cmpuint (bmode.out.size[0], ==, 150);
  algorithm = nd_cpu_bmode_new (&bmode, ND_FLOAT32, ND_FLOAT32, -1, NULL);
  to = nd_samples_dense (out, &bmode.out, ND_FLOAT32);
  run_algorithm (algorithm, &from, &to);
  for (guint i = 20; i < 130; i++) {
    g_assert_cmpfloat_with_epsilon (out[2 * i], 0.5 * cos (0.6), 1e-4);
    g_assert_cmpfloat_with_epsilon (out[2 * i + 1], 0.5 * sin (0.6), 1e-4);
  }
  nd_algorithm_free (algorithm);
  nd_bmode_clear (&bmode);

  for (guint i = 0; i < G_N_ELEMENTS (amplitudes); i++) {
    data[2 * i] = amplitudes[i] * 0.6;
    data[2 * i + 1] = amplitudes[i] * 0.8;
  }
  g_assert_true (nd_bmode_init (&bmode, &grey, &pairs, ND_FLOAT32, NULL));
  algorithm = nd_cpu_bmode_new (&bmode, ND_FLOAT32, ND_FLOAT32, -1, NULL);
  from = nd_samples_dense (data, &pairs, ND_FLOAT32);
  to = nd_samples_dense (out, &bmode.out, ND_FLOAT32);
  run_algorithm (algorithm, &from, &to);
  g_assert_cmpfloat_with_epsilon (out[0], 255, 1e-3);
  g_assert_cmpfloat_with_epsilon (out[1], 170, 1e-3);
  for (guint i = 2; i < 6; i++)
    g_assert_cmpfloat_with_epsilon (out[i], 0, 1e-3);
  g_assert_cmpfloat (out[6], ==, 255);
  nd_algorithm_free (algorithm);
  nd_bmode_clear (&bmode);
}

static void
test_bmode_refused (void)
{
  static const struct
  {
    NdBmodeSettings settings;
    gsize components;
    const gchar *sentence;
  } cases[] = {
    { { .decimation = 1 }, 3, "RF of one" },
    { { .decimation = 2 }, 1, "needs center-frequency" },
    { { .center_frequency = 5e6, .decimation = 1 }, 1, "sampling-frequency" },
    { { 5e6, 10e6, 1 }, 1, "twice" },
    { { 1e6, 10e6, 65 }, 1, "larger than" },
    { { .decimation = 1, .tgc = "1:x" }, 1, "gains in dB" },
    { { .decimation = 1, .tgc = "1::2" }, 1, "gains in dB" },
    { { .decimation = 1, .tgc = "nan" }, 1, "gains in dB" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const NdShape in = { cases[i].components, { 64, 2, 2 } };
    g_autoptr (GError) error = NULL;
    NdBmode bmode;

    g_assert_false (nd_bmode_init (&bmode, &cases[i].settings, &in, ND_FLOAT32,
        &error));
    g_assert_nonnull (strstr (error->message, cases[i].sentence));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/beams/places", test_places);
  g_test_add_func ("/beams/known", test_known);
  g_test_add_func ("/beams/scan", test_scan);
  g_test_add_func ("/beams/scan-width", test_scan_width);
  g_test_add_func ("/beams/scan-nan", test_scan_nan);
  g_test_add_func ("/beams/directions", test_directions);
  g_test_add_func ("/beams/long-text", test_long_text);
  g_test_add_func ("/beams/phantom", test_phantom);
  g_test_add_func ("/beams/interpolation", test_interpolation);
  g_test_add_func ("/beams/refused", test_refused);
  g_test_add_func ("/bmode/reference", test_bmode);
  g_test_add_func ("/bmode/hilbert", test_hilbert);
  g_test_add_func ("/bmode/tone", test_tone);
  g_test_add_func ("/bmode/refused", test_bmode_refused);
  return g_test_run ();
}
