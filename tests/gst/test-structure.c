/* response=tensor and ndstructure: velocity and orientation of known textures,
 * and the settings that are refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/random.h"
#include "tests/gst/run.h"

#include <gst/check/gstharness.h>
#include <math.h>

#define WAVES 24
#define DURATION (100 * GST_MSECOND)

/* A sum of waves of wavelengths 6 to 14 that moves. */
typedef struct
{
  gsize size[3];
  gdouble k[WAVES][3], phase[WAVES];
  gdouble velocity[3];
} Texture;

static Texture
texture_new (GRand *rand, gsize x, gsize y, gsize z, gdouble speed)
{
  Texture texture = { .size = { x, y, z } };
  gdouble norm = 0;

  for (guint a = 0; a < 3; a++) {
    texture.velocity[a] = z > 1 || a < 2 ? g_rand_double (rand) - .5 : 0;
    norm += texture.velocity[a] * texture.velocity[a];
  }
  for (guint a = 0; a < 3; a++)
    texture.velocity[a] *= speed / sqrt (norm);
  for (guint w = 0; w < WAVES; w++) {
    const gdouble wave = 2 * G_PI / (6 + 8 * g_rand_double (rand));

    norm = 0;
    for (guint a = 0; a < 3; a++) {
      texture.k[w][a] = z > 1 || a < 2 ? g_rand_double (rand) - .5 : 0;
      norm += texture.k[w][a] * texture.k[w][a];
    }
    for (guint a = 0; a < 3; a++)
      texture.k[w][a] *= wave / sqrt (norm);
    texture.phase[w] = 2 * G_PI * g_rand_double (rand);
  }
  return texture;
}

static GstBuffer *
texture_buffer (const Texture *texture, guint t)
{
  const gsize *size = texture->size, n = size[0] * size[1] * size[2];
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, n * sizeof (gfloat), NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < n; i++) {
    const gdouble at[3] = { i % size[0], i / size[0] % size[1],
      i / size[0] / size[1] };
    gdouble sum = 0;

    for (guint w = 0; w < WAVES; w++) {
      gdouble phase = texture->phase[w];

      for (guint a = 0; a < 3; a++)
        phase += texture->k[w][a] * (at[a] - texture->velocity[a] * t);
      sum += 10 * sin (phase);
    }
    ((gfloat *) map.data)[i] = 128 + sum;
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = t * DURATION;
  GST_BUFFER_DURATION (buffer) = DURATION;
  return buffer;
}

/* The mean of all components but the last over the middle of output @number of
 * a stream of 15. */
static void
measure (const Texture *texture, const gchar *launch, guint number,
    guint components, gdouble *mean)
{
  const gsize *size = texture->size;
  GstHarness *h = gst_harness_new_parse (launch);
  g_autofree gchar *caps = g_strdup_printf (
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=1:%zu:%zu:%zu,framerate=10/1",
      size[0], size[1], size[2]);
  g_autoptr (GstBuffer) buffer = NULL;
  GstMapInfo map;
  guint n = 0;

  gst_harness_set_src_caps_str (h, caps);
  for (guint t = 0; t < 15; t++)
    gst_harness_push (h, texture_buffer (texture, t));
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_received (h), 15);
  for (guint t = 0; t <= number; t++) {
    gst_clear_buffer (&buffer);
    buffer = gst_harness_pull (h);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), t * DURATION);
  }
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless_equals_uint64 (map.size,
      size[0] * size[1] * size[2] * components * sizeof (gfloat));
  memset (mean, 0, components * sizeof (gdouble));
  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++) {
    const gsize at[3] = { i % size[0], i / size[0] % size[1],
      i / size[0] / size[1] };
    gboolean inside = TRUE;

    for (guint a = 0; a < 3; a++)
      inside &= size[a] == 1
          || (at[a] >= size[a] / 4 && at[a] < size[a] - size[a] / 4);
    if (!inside)
      continue;
    n++;
    for (guint c = 0; c < components; c++)
      mean[c] += ((gfloat *) map.data)[i * components + c];
  }
  for (guint c = 0; c < components; c++)
    mean[c] /= n;
  gst_buffer_unmap (buffer, &map);
  gst_harness_teardown (h);
}

/* Within 3 % and 2 degrees. */
static void
check_velocity (const Texture *texture, const gchar *launch, guint dims)
{
  gdouble mean[4], product = 0, speed = 0, truth = 0, degrees;

  measure (texture, launch, 7, dims + 1, mean);
  for (guint a = 0; a < dims; a++) {
    product += mean[a] * texture->velocity[a];
    speed += mean[a] * mean[a];
    truth += texture->velocity[a] * texture->velocity[a];
  }
  speed = sqrt (speed);
  truth = sqrt (truth);
  degrees = 180 / G_PI * acos (MIN (product / (speed * truth), 1));
  GST_INFO ("speed %.4f instead of %.4f, %.2f degrees, certainty %.2f", speed,
      truth, degrees, mean[dims]);
  fail_unless (fabs (speed / truth - 1) < .03, "speed %.4f instead of %.4f",
      speed, truth);
  fail_unless (degrees < 2, "%.2f degrees", degrees);
  fail_unless (mean[dims] > 0 && mean[dims] <= 1);
}

/* The number of threads does not matter to the output. */
GST_START_TEST (test_threads)
{
  g_autoptr (GRand) rand = new_rand ();
  const Texture texture = texture_new (rand, 24, 20, 1, 1);
  gdouble one[3], several[3];

  measure (&texture,
      "ndconv3d axes=xyt filter=\"monomial-bank,size=5\" response=tensor "
      "n-threads=1 ! ndstructure n-threads=1",
      7, 3, one);
  measure (&texture,
      "ndconv3d axes=xyt filter=\"monomial-bank,size=5\" response=tensor "
      "n-threads=3 ! ndstructure n-threads=5",
      7, 3, several);
  for (guint c = 0; c < 3; c++)
    fail_unless (one[c] == several[c]);
}
GST_END_TEST;

GST_START_TEST (test_frames)
{
  static const gdouble speeds[] = { .1, .5, 1, 1.5 };
  g_autoptr (GRand) rand = new_rand ();

  for (guint s = 0; s < G_N_ELEMENTS (speeds); s++) {
    const Texture texture = texture_new (rand, 48, 40, 1, speeds[s]);

    check_velocity (&texture,
        "ndconv3d axes=xyt filter=\"monomial-bank,size=9,order=2.0\" "
        "response=tensor backend=cpu ! ndstructure",
        2);
    check_velocity (&texture,
        "ndconv3d axes=xyt filter=\"monomial-bank,size=9,order=2.0\" "
        "response=tensor backend=cpu ! ndstructure model=affine",
        2);
  }
}
GST_END_TEST;

GST_START_TEST (test_volumes)
{
  static const gdouble speeds[] = { .2, 1.2 };
  g_autoptr (GRand) rand = new_rand ();

  for (guint s = 0; s < G_N_ELEMENTS (speeds); s++) {
    const Texture texture = texture_new (rand, 24, 22, 20, speeds[s]);

    check_velocity (&texture,
        "ndconv4dtemporal filter=\"monomial-bank,size=9,order=2.0\" "
        "response=tensor backend=cpu ! ndstructure",
        3);
  }
}
GST_END_TEST;

/* A textured plane that comes closer and turns: velocity at p is
 * growth (p - centre) + turn (p - centre) x z. */
typedef struct
{
  gdouble growth, turn, centre[2];
} Plane;

static GstBuffer *
plane_buffer (const Texture *texture, const Plane *plane, guint t)
{
  const gsize *size = texture->size;
  const gdouble at = t - 7., scale = exp (-plane->growth * at);
  const gdouble c = scale * cos (plane->turn * at);
  const gdouble s = scale * sin (plane->turn * at);
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, size[0] * size[1] * sizeof (gfloat), NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < size[0] * size[1]; i++) {
    const gdouble x = i % size[0] - plane->centre[0];
    const gdouble y = i / size[0] - plane->centre[1];
    gdouble sum = 0;

    for (guint w = 0; w < WAVES; w++)
      sum += 10
          * sin (texture->k[w][0] * (c * x + s * y)
              + texture->k[w][1] * (c * y - s * x) + texture->phase[w]);
    ((gfloat *) map.data)[i] = 128 + sum;
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = t * DURATION;
  GST_BUFFER_DURATION (buffer) = DURATION;
  return buffer;
}

/* The mean angle in degrees between (v, 1) and the truth, over all samples of
 * the middle one of 15 frames. */
static gdouble
angular_error (const Texture *texture, const Plane *plane, const gchar *model)
{
  const gsize *size = texture->size;
  g_autofree gchar *launch = g_strdup_printf (
      "ndconv3d axes=xyt filter=\"monomial-bank,size=9\" response=tensor "
      "backend=cpu ! ndstructure sigma=3 model=%s",
      model);
  GstHarness *h = gst_harness_new_parse (launch);
  g_autofree gchar *caps = g_strdup_printf (
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=1:%zu:%zu:1,framerate=10/1",
      size[0], size[1]);
  g_autoptr (GstBuffer) buffer = NULL;
  gdouble sum = 0;
  GstMapInfo map;

  gst_harness_set_src_caps_str (h, caps);
  for (guint t = 0; t < 15; t++)
    gst_harness_push (h, plane_buffer (texture, plane, t));
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint t = 0; t <= 7; t++) {
    gst_clear_buffer (&buffer);
    buffer = gst_harness_pull (h);
  }
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (gsize i = 0; i < size[0] * size[1]; i++) {
    const gfloat *v = (gfloat *) map.data + 3 * i;
    const gdouble x = i % size[0] - plane->centre[0];
    const gdouble y = i / size[0] - plane->centre[1];
    const gdouble a = plane->growth * x - plane->turn * y;
    const gdouble b = plane->growth * y + plane->turn * x;
    const gdouble cosine = (v[0] * a + v[1] * b + 1)
        / sqrt ((v[0] * v[0] + v[1] * v[1] + 1) * (a * a + b * b + 1));

    sum += 180 / G_PI * acos (MIN (cosine, 1));
  }
  gst_buffer_unmap (buffer, &map);
  gst_harness_teardown (h);
  return sum / (size[0] * size[1]);
}

/* Planes that translate, come closer and turn: mean angular errors of 1.94 and
 * 1.40 degrees are those of Farneback's orientation tensors. Some textures are
 * easier for the constant model, so that the mean of several decides. */
GST_START_TEST (test_planes)
{
  static const Plane planes[] = { { .02, 0, { 48, 40 } },
    { .03, 0, { 38, 33 } }, { .02, .015, { 30, 60 } } };
  g_autoptr (GRand) rand = new_rand ();
  gdouble constant = 0, affine = 0;

  for (guint i = 0; i < G_N_ELEMENTS (planes); i++) {
    const Texture texture = texture_new (rand, 96, 80, 1, 0);

    constant += angular_error (&texture, &planes[i], "constant");
    affine += angular_error (&texture, &planes[i], "affine");
  }
  constant /= G_N_ELEMENTS (planes);
  affine /= G_N_ELEMENTS (planes);
  g_print ("# %.2f degrees, affine %.2f\n", constant, affine);
  fail_unless (constant < 1.94, "%.2f degrees", constant);
  fail_unless (affine < 1.40 && affine < constant, "%.2f degrees", affine);
}
GST_END_TEST;

/* Plane waves in 2D and 3D: the orientation is that of the wave, by both kinds
 * of bank. */
GST_START_TEST (test_orientation)
{
  static const gchar *const banks[] = { "monomial-bank,size=7",
    "quadrature-bank,size=7" };
  g_autoptr (GRand) rand = new_rand ();

  for (guint round = 0; round < 12; round++) {
    Texture texture = texture_new (rand, 20, 18, round % 4 < 2 ? 1 : 16, 0);
    const guint axes = texture.size[2] > 1 ? 3 : 2;
    g_autofree gchar *launch = g_strdup_printf (
        "ndconv%ud filter=\"%s\" response=tensor backend=cpu ! ndstructure "
        "sigma=1.5 output=\"orientation;certainty\"",
        axes, banks[round % 2]);
    gdouble mean[4], product = 0, norm = 0, wave = 0;

    memset (texture.velocity, 0, sizeof (texture.velocity));
    for (guint w = 1; w < WAVES; w++) {
      memcpy (texture.k[w], texture.k[0], sizeof (texture.k[0]));
      texture.phase[w] = texture.phase[0];
    }
    measure (&texture, launch, 7, axes + 1, mean);
    for (guint a = 0; a < axes; a++) {
      product += mean[a] * texture.k[0][a];
      norm += mean[a] * mean[a];
      wave += texture.k[0][a] * texture.k[0][a];
    }
    fail_unless (180 / G_PI
                * acos (MIN (fabs (product) / sqrt (norm * wave), 1))
            < 2,
        "%s: %f %f %f instead of %f %f %f", launch, mean[0], mean[1],
        axes == 3 ? mean[2] : 0, texture.k[0][0], texture.k[0][1],
        texture.k[0][2]);
    fail_unless (mean[axes] > .5, "certainty %f", mean[axes]);
  }
}
GST_END_TEST;

/* Fixed caps of the input are possible if the tensor's are. */
GST_START_TEST (test_caps)
{
  GstHarness *h = gst_harness_new_parse (
      "ndconv4dtemporal filter=\"monomial-bank,size=5\" response=tensor "
      "backend=cpu ! ndstructure");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (h->element, "sink");
  g_autoptr (GstCaps) in = gst_caps_from_string (
      "other/tensors,format=static,num_tensors=1,types=uint8,"
      "dimensions=1:8:8:8,framerate=10/1");
  g_autoptr (GstCaps) possible = gst_pad_query_caps (pad, in);

  fail_unless (gst_caps_can_intersect (possible, in));
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  const gchar *source = "ndtestsrc num-buffers=2 volume-size=8:8:8";

  run_refused (launch ("%s ! ndstructure ! fakesink", source), 2,
      GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "3, 6 or 10");
  run_refused (launch ("%s ! ndstructure output=speed ! fakesink", source), 1,
      GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "anisotropy");
  run_refused (launch ("%s ! ndstructure backend=cuda ! fakesink", source), 1,
      GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT, "'cuda' is not available");
  run_refused (launch ("%s ! ndconv3d filter=\"monomial-bank,size=5\" "
                       "response=tensor ! ndstructure ! fakesink",
                   source),
      2, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "ndconv4dtemporal");
  run_refused (launch ("%s ! ndconv3d filter=\"monomial-bank,size=5\" "
                       "response=tensor ! ndconv3d "
                       "filter=\"monomial-bank,size=5\" response=tensor ! "
                       "fakesink",
                   source),
      2, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "one component");
  run_refused (launch ("%s ! ndconv3d filter=\"gaussian,sigma=1.0\" "
                       "response=tensor ! fakesink",
                   source),
      2, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "monomial-bank");
  run_refused (launch ("%s ! ndconv3d filter=\"monomial-bank,size=5\" "
                       "response=tensor output-type=uint8 ! fakesink",
                   source),
      2, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "float32");
}
GST_END_TEST;

/* Pushes tensors of zeros, and takes the messages that they cause. */
static GstMessage *
push_tensors (GstHarness *h, GstBus *bus, guint from, guint to)
{
  for (guint t = from; t < to; t++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 8 * 8 * 6 * 4, NULL);

    gst_buffer_memset (buffer, 0, 0, -1);
    GST_BUFFER_PTS (buffer) = t * DURATION;
    GST_BUFFER_DURATION (buffer) = DURATION;
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
  return gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
}

/* A back end waits for READY, and a warning tells that. Settings that the input
 * cannot have are refused with a warning, and the old ones stay in use. */
GST_START_TEST (test_changes_while_playing)
{
  GstElement *element = gst_element_factory_make ("ndstructure", NULL);
  GstHarness *h;
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) warning = NULL;
  gint units = -1;

  gst_util_set_object_arg (G_OBJECT (element), "backend", "cpu");
  gst_element_set_bus (element, bus);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (h,
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=6:8:8:1,framerate=10/1");
  fail_unless (push_tensors (h, bus, 0, 4) == NULL);
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cuda");
  warning = push_tensors (h, bus, 4, 8);
  fail_unless (warning && GST_MESSAGE_TYPE (warning) == GST_MESSAGE_WARNING);
  gst_clear_message (&warning);
  /* The algorithm is made anew. */
  g_object_set (element, "sigma", 1.5, NULL);
  fail_unless (push_tensors (h, bus, 8, 12) == NULL);
  gst_util_set_object_arg (G_OBJECT (element), "units", "physical");
  warning = push_tensors (h, bus, 12, 16);
  fail_unless (warning && GST_MESSAGE_TYPE (warning) == GST_MESSAGE_WARNING);
  g_object_get (element, "units", &units, NULL);
  fail_unless_equals_int (units, 0);
  fail_unless (push_tensors (h, bus, 16, 20) == NULL);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_received (h), 20);
  gst_element_set_bus (element, NULL);
  gst_harness_teardown (h);
  gst_object_unref (element);
}
GST_END_TEST;

static Suite *
structure_suite (void)
{
  Suite *suite = suite_create ("ndstructure");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_threads);
  tcase_add_test (tests, test_frames);
  tcase_add_test (tests, test_volumes);
  tcase_add_test (tests, test_planes);
  tcase_add_test (tests, test_orientation);
  tcase_add_test (tests, test_caps);
  tcase_add_test (tests, test_errors);
  tcase_add_test (tests, test_changes_while_playing);
  return suite;
}

GST_CHECK_MAIN (structure);
