/* Several devices, doubles over the CPU: random streams give what a CPU gives,
 * bit for bit, however the work is divided. Sums are integers and therefore
 * exact.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "cpu/cpu.h"
#include "tests/engine/randomstream.h"
#include "tests/engine/slabdouble.h"

#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARE 3
#else
#define SHARE 1
#endif

#define JOBS (600 / SHARE)
#define LONG (100000u / SHARE) /* volumes */

static const StreamEvents no_events;

static void
reset_double (gint devices)
{
  g_assert_cmpint (slab_double.blocks, ==, 0);
  slab_double = (SlabDouble){
    .fail_at = -1, .devices = devices, .fails = -1, .memory_fails_on = -1
  };
}

static const gchar *
reason (NdConvolver *c, guint p)
{
  return nd_convolver_plan (c, p)->reason;
}

static void
expect_in_reason (NdConvolver *c, const gchar *text)
{
  if (!strstr (reason (c, 0), text))
    g_error ("no '%s' in: %s", text, reason (c, 0));
}

static void
expect_equal (const Stream *s, const GPtrArray *got, const GPtrArray *want,
    const gchar *what)
{
  g_assert_cmpuint (got->len, ==, want->len);
  for (guint i = 0; i < got->len; i++) {
    if (memcmp (got->pdata[i], want->pdata[i],
            s->out_bytes[i % s->settings.n_planes])
        != 0)
      g_error ("plane %u of output %u differs: %s", i % s->settings.n_planes,
          i / s->settings.n_planes, what);
  }
}

/* A list of 1, 2, 3 or 5 of 8 devices, in any order. Free it with g_free(). */
static gchar *
random_devices (GRand *r)
{
  static const guint counts[] = { 1, 2, 3, 5 };
  const guint n = counts[g_rand_int_range (r, 0, 4)];
  GString *text = g_string_new (NULL);
  gint ids[8];

  for (gint i = 0; i < 8; i++) {
    const gint k = g_rand_int_range (r, 0, i + 1);

    ids[i] = ids[k];
    ids[k] = i;
  }
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%d", i > 0 ? "," : "", ids[i]);
  return g_string_free (text, FALSE);
}

enum
{
  ROUND,
  SLABS,
  ROWS, /* slabs of rows of all slices */
  FILTERS,
  LIMITED,
  KINDS
};

/* The two ways to divide have other names in the reason. */
static void
count_kinds (NdConvolver *c, guint n_planes, guint seen[KINDS])
{
  for (guint p = 0; p < n_planes; p++) {
    const NdJob *job = &nd_convolver_plan (c, p)->job;

    seen[ROUND] += strstr (reason (c, p), "volumes go round devices") != NULL;
    seen[SLABS] += strstr (reason (c, p), "; slabs of ") != NULL;
    seen[ROWS] += strstr (reason (c, p), " rows on devices") != NULL
        && job->shape.size[2] > 1;
    seen[FILTERS] += strstr (reason (c, p), " filters on devices") != NULL;
    seen[LIMITED] += strstr (reason (c, p), "shared by neighbours") != NULL
        && strstr (reason (c, p), "on devices") != NULL;
  }
}

static void
check (GRand *r, guint seen[KINDS])
{
  const guint n = g_rand_int_range (r, 1, 9);
  const StreamEvents events = { .change = g_rand_int_range (r, 1, 14),
    .flush = g_rand_int_range (r, 1, 14),
    .repeat = g_rand_int_range (r, 1, 14),
    .skip = g_rand_boolean (r) ? 0 : g_rand_int_range (r, 1, 4),
    .hold = g_rand_int_range (r, 1, 5),
    .waits = g_rand_boolean (r) };
  StreamEvents same = events;
  g_autoptr (NdConvolver) one = NULL, many = NULL, next = NULL, cpu = NULL;
  g_autoptr (GPtrArray) want = NULL, got = NULL;
  g_autofree gchar *devices = random_devices (r), *others = random_devices (r);
  g_autoptr (GError) error = NULL;
  gsize limit = 0;
  Stream s;

  reset_double (8);
  for (guint i = 0; i < 8; i++)
    slab_double.slowness[i] =
        g_rand_boolean (r) ? 1 : g_rand_int_range (r, 1, 4);
  slab_double.pageable = g_rand_boolean (r);
  stream_init (&s, r);
  one = stream_convolver (&s, "double", 0, NULL);
  if (g_rand_int_range (r, 0, 3) == 0)
    limit = nd_convolver_bytes (one) * g_rand_double_range (r, 0.05, 0.9) + 1;
  s.settings.devices = devices;
  s.settings.waits = g_rand_boolean (r);
  s.settings.volumes = g_rand_boolean (r) ? 0 : n;
  many = stream_convolver (&s, "double", limit, &error);
  s.settings.devices = others;
  next = stream_convolver (&s, "double", 0, NULL);
  if (many) {
    cpu = stream_convolver (&s, "cpu", 0, NULL);
    same.change = same.hold = 0;
    want = stream_run (&s, cpu, NULL, n, &same);
    got = stream_run (&s, many, next, n, &events);
    expect_equal (&s, got, want, reason (many, 0));
    count_kinds (many, s.settings.n_planes, seen);
  } else {
    g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
    g_assert_cmpuint (limit, >, 0);
  }
  nd_bank_free (s.bank);
}

static void
test_random (void)
{
  const guint32 seed = g_test_rand_int ();
  guint seen[KINDS] = { 0 };

  g_test_message ("seed %u", seed);
  for (guint i = 0; i < JOBS; i++) {
    const guint32 seeds[2] = { seed, i };
    g_autoptr (GRand) r = g_rand_new_with_seed_array (seeds, 2);

    check (r, seen);
  }
  g_test_message ("%u planes go round, %u in slabs, %u of them of rows, %u by "
                  "filters, %u limited",
      seen[ROUND], seen[SLABS], seen[ROWS], seen[FILTERS], seen[LIMITED]);
  for (guint i = 0; i < KINDS; i++)
    g_assert_cmpuint (seen[i], >, JOBS / 100);
}

/* Outputs of a box over @n volumes of @shape, which are those of the CPU. */
static void
expect_box (const NdShape *shape, const gsize size[ND_AXES], NdBorder border,
    const gchar *devices, gboolean waits, guint n, const gchar *text)
{
  g_autoptr (NdConvolver) c = NULL, cpu = NULL;
  g_autoptr (GPtrArray) got = NULL, want = NULL;
  g_autoptr (GError) error = NULL;
  Stream s;

  stream_init_box (&s, shape, size);
  s.settings.jobs[0].border = border;
  s.settings.devices = devices;
  s.settings.waits = waits;
  c = stream_convolver (&s, "double", 0, &error);
  g_assert_no_error (error);
  cpu = stream_convolver (&s, "cpu", 0, NULL);
  expect_in_reason (c, text);
  slab_double.uploaded = 0;
  got = stream_run (&s, c, NULL, n, &no_events);
  want = stream_run (&s, cpu, NULL, n, &no_events);
  expect_equal (&s, got, want, reason (c, 0));
  nd_bank_free (s.bank);
}

/* Each volume is uploaded once, to one device. */
static void
test_round (void)
{
  const NdShape shape = { 1, { 4, 4, 10 } };
  const gsize size[ND_AXES] = { 3, 3, 3, 1 };

  reset_double (3);
  expect_box (&shape, size, ND_BORDER_MIRROR, "all", FALSE, 12,
      "volumes go round devices 0, 1, 2");
  g_assert_cmpuint (slab_double.uploaded, ==, 12 * 10);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (slab_double.works[i], ==, 2 * 4);

  /* A device of half the speed gets half as many. */
  reset_double (2);
  slab_double.slowness[1] = 2;
  expect_box (&shape, size, ND_BORDER_MIRROR, "1,0", FALSE, 12,
      "volumes go round devices 1, 0");
  g_assert_cmpint (slab_double.works[0], ==, 2 * 8);
  g_assert_cmpint (slab_double.works[1], ==, 2 * 4);
}

/* Neighbours both get the samples around the cut. */
static void
test_slabs (void)
{
  const NdShape shape = { 1, { 4, 4, 40 } }, frame = { 1, { 4, 40, 1 } };
  const gsize size[ND_AXES] = { 3, 3, 5, 1 }, flat[ND_AXES] = { 3, 5, 1, 1 };

  reset_double (5);
  expect_box (&shape, size, ND_BORDER_NEAREST, "0,1", TRUE, 3,
      "slabs of 22, 22 slices on devices 0, 1");
  g_assert_cmpuint (slab_double.uploaded, ==, 3 * 44);
  expect_box (&frame, flat, ND_BORDER_NEAREST, "4,2", TRUE, 3,
      "slabs of 22, 22 rows on devices 4, 2");
  slab_double.slowness[3] = 3;
  expect_box (&shape, size, ND_BORDER_REFLECT, "3,1", TRUE, 3,
      "slabs of 12, 32 slices on devices 3, 1");
}

/* Few slices and a filter that reads most of them: rows have less work. Slabs
 * of rows that are too large for a device cannot be cut again. */
static void
test_rows (void)
{
  const NdShape shape = { 1, { 4, 40, 12 } };
  const gsize size[ND_AXES] = { 3, 3, 5, 1 };
  g_autoptr (NdConvolver) c = NULL, whole = NULL;
  Stream s;

  reset_double (2);
  expect_box (&shape, size, ND_BORDER_NEAREST, "0,1", TRUE, 3,
      "slabs of 21, 21 rows on devices 0, 1");
  expect_box (&shape, size, ND_BORDER_WRAP, "0,1", TRUE, 3,
      "slabs of 22, 22 rows on devices 0, 1");
  stream_init_box (&s, &shape, size);
  s.settings.devices = "0,1";
  s.settings.waits = TRUE;
  whole = stream_convolver (&s, "double", 0, NULL);
  c = stream_convolver (&s, "double", nd_convolver_bytes (whole) * 9 / 20,
      NULL);
  g_assert_nonnull (c);
  expect_in_reason (c, "shared by neighbours");
  expect_in_reason (c, " slices on devices 0, 1");
  nd_bank_free (s.bank);
}

/* Volumes thinner than there are devices, and halos larger than slabs. */
static void
test_thin (void)
{
  const NdBorder borders[] = { ND_BORDER_CONSTANT, ND_BORDER_NEAREST,
    ND_BORDER_REFLECT, ND_BORDER_MIRROR, ND_BORDER_WRAP };
  guint cut = 0;

  reset_double (5);
  for (guint b = 0; b < G_N_ELEMENTS (borders); b++) {
    for (gsize z = 2; z < 16; z++) {
      for (gsize k = 1; k < 14; k += 3) {
        const NdShape shape = { 1, { 3, 2, z } };
        const gsize size[ND_AXES] = { 3, 1, k, 1 };

        slab_double.uploaded = 0;
        expect_box (&shape, size, borders[b], "0,1,2,3,4", TRUE, 2, "devices");
        cut += slab_double.works[4] > 0;
        slab_double.works[4] = 0;
      }
    }
  }
  g_assert_cmpuint (cut, >, 0);
}

/* Runs a bank of @n filters of @size over few slices, which is divided by its
 * filters. Coefficient k of filter i is coefficient (i, k). @part is in the
 * reason for the choice. The method is that which the first device has. */
static NdMethod
expect_filters (guint n, const gsize size[ND_AXES],
    gdouble (*coefficient) (guint i, gsize k), NdMethod method,
    const gchar *part)
{
  const NdShape shape = { 1, { 16, 16, 3 } };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  g_autoptr (NdConvolver) c = NULL, cpu = NULL;
  g_autoptr (GPtrArray) got = NULL, want = NULL;
  Stream s;

  reset_double (2);
  stream_init_box (&s, &shape, size);
  nd_bank_free (s.bank);
  for (guint i = 0; i < n; i++) {
    NdFilter *f = nd_filter_new ("filter", size);

    for (gsize k = 0; k < nd_filter_count (f); k++)
      f->coefficients[k] = coefficient (i, k);
    g_ptr_array_add (filters, f);
  }
  s.bank = nd_bank_new (filters);
  s.settings.jobs[0].bank = s.bank;
  s.out_bytes[0] *= n;
  s.settings.devices = "0,1";
  s.settings.method = method;
  c = stream_convolver (&s, "double", 0, NULL);
  cpu = stream_convolver (&s, "cpu", 0, NULL);
  expect_in_reason (c, part);
  got = stream_run (&s, c, NULL, 4, &no_events);
  want = stream_run (&s, cpu, NULL, 4, &no_events);
  expect_equal (&s, got, want, reason (c, 0));
  nd_bank_free (s.bank);
  return nd_convolver_plan (c, 0)->method;
}

static gdouble
ramp (guint i, gsize k)
{
  return (k * (i + 1)) % 5;
}

static void
test_filters (void)
{
  const gsize size[ND_AXES] = { 3, 3, 5, 2 };

  expect_filters (6, size, ramp, ND_METHOD_DIRECT,
      " 3, 3 filters on devices 0, 1");
}

/* Only the filters of the first device are separable. */
static gdouble
box_or_ramp (guint i, gsize k)
{
  return i < 2 ? 1 : k % 5;
}

static void
test_methods (void)
{
  const gsize size[ND_AXES] = { 9, 9, 5, 1 };

  g_assert_cmpint (expect_filters (4, size, box_or_ramp, ND_METHOD_AUTO,
                       " 2, 2 filters on devices 0, 1"),
      ==, ND_METHOD_SEPARABLE);
}

/* "auto" uses the devices that help. */
static void
test_auto (void)
{
  const NdShape shape = { 1, { 4, 4, 40 } }, point = { 1, { 1, 1, 1 } };
  const gsize size[ND_AXES] = { 3, 3, 3, 2 }, one[ND_AXES] = { 1, 1, 1, 2 };

  reset_double (3);
  expect_box (&shape, size, ND_BORDER_NEAREST, "auto", FALSE, 3,
      "slabs of 14, 16, 14 slices on devices 0, 1, 2");
  expect_box (&point, one, ND_BORDER_NEAREST, "auto", FALSE, 3,
      "all work on device 0, estimated for a volume of a stream: one device");
  expect_box (&point, one, ND_BORDER_NEAREST, "2,1", FALSE, 3,
      "all work on device 2");
  slab_double.slowness[1] = slab_double.slowness[2] = 1000;
  expect_box (&shape, size, ND_BORDER_NEAREST, "auto", FALSE, 3,
      "all work on device 0");
}

/* Without devices, the CPU does the work and says so. */
static void
test_cpu (void)
{
  const NdShape shape = { 1, { 4, 4, 4 } };
  const gsize size[ND_AXES] = { 3, 3, 3, 1 };
  g_autoptr (NdConvolver) c = NULL;
  Stream s;

  reset_double (2);
  stream_init_box (&s, &shape, size);
  s.settings.devices = "0,1";
  s.settings.backend = "cpu";
  c = nd_convolver_new (&s.settings, NULL);
  expect_in_reason (c, "devices has no effect");
  nd_bank_free (s.bank);
}

/* Outputs written over the volumes that they are computed from. */
static void
test_in_place (void)
{
  const NdShape shape = { 1, { 8, 8, 20 } };
  const gsize sizes[][ND_AXES] = { { 3, 3, 7, 1 }, { 3, 3, 7, 3 } };
  const NdScale scale[ND_MAX_PLANES] = { { 1, 0 } };

  for (guint i = 0; i < 4 * G_N_ELEMENTS (sizes); i++) {
    g_autoptr (NdConvolver) c = NULL, cpu = NULL;
    g_autoptr (GPtrArray) want = NULL;
    guint8 *volumes[6];
    guint made = 0;
    Stream s;

    reset_double (3);
    stream_init_box (&s, &shape, sizes[i / 4]);
    s.settings.devices = "2,0,1";
    s.settings.waits = i % 2;
    cpu = stream_convolver (&s, "cpu", 0, NULL);
    want = stream_run (&s, cpu, NULL, 6, &no_events);
    c = stream_convolver (&s, "double", i % 4 < 2 ? 0 : 5 * 12 * 8 * 8 * 4,
        NULL);
    g_assert_nonnull (c);
    for (guint t = 0; t < 6; t++) {
      NdSamples planes[ND_MAX_PLANES];

      volumes[t] = stream_volume (&s, 0, t);
      planes[0] = nd_samples_dense (volumes[t], &shape, ND_FLOAT32);
      g_assert_true (nd_convolver_push (c, planes, NULL));
      if (t == 5)
        nd_convolver_end (c);
      while (nd_convolver_ready (c)) {
        planes[0].data = volumes[made++];
        g_assert_true (nd_convolver_respond (c, scale, planes, NULL));
      }
    }
    g_assert_cmpuint (made, ==, 6);
    g_assert_true (nd_convolver_synchronize (c, NULL));
    for (guint t = 0; t < 6; t++) {
      g_assert_cmpmem (volumes[t], s.out_bytes[0], want->pdata[t],
          s.out_bytes[0]);
      g_free (volumes[t]);
    }
    nd_bank_free (s.bank);
  }
}

/* Pushes volumes until a device fails. Returns FALSE if none does. */
static gboolean
fail (const Stream *s, gint device, gint after)
{
  g_autoptr (NdConvolver) c = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *name = g_strdup_printf ("Device %d: ", device);
  const NdScale scale[ND_MAX_PLANES] = { { 1, 0 } };
  gboolean ok = TRUE;

  reset_double (3);
  slab_double.fails = device;
  slab_double.fails_after = after;
  c = stream_convolver (s, "double", 0, NULL);
  for (guint t = 0; t < 6 && ok; t++) {
    g_autofree guint8 *volume = stream_volume (s, 0, t);
    g_autofree guint8 *out = g_malloc (s->out_bytes[0]);
    g_autoptr (NdFence) fence = NULL;
    NdSamples planes[ND_MAX_PLANES];

    planes[0] =
        nd_samples_dense (volume, &s->settings.jobs[0].shape, ND_FLOAT32);
    ok = nd_convolver_push (c, planes, &error);
    planes[0].data = out;
    if (ok && nd_convolver_ready (c))
      ok = nd_convolver_respond (c, scale, planes, &error);
    /* As elements: a fence, and if there is none, a wait. */
    if (ok)
      ok = nd_convolver_record (c, &fence, &error);
    if (fence)
      ok = nd_fence_synchronize (fence, NULL, &error);
    else
      g_assert_false (nd_convolver_synchronize (c, NULL));
    /* Nothing may use @volume and @out any more. */
    for (gint i = 0; i < 3; i++)
      g_assert_cmpint (i == device ? 0 : slab_double.waiting[i], ==, 0);
  }
  if (ok)
    return FALSE;
  g_assert_error (error, ND_ERROR, ND_ERROR_FAILED);
  g_assert_true (g_str_has_prefix (error->message, name));
  return TRUE;
}

/* Each device fails after each number of works: an error that names it; the
 * others finish, nothing is leaked, and the next stream works. */
static void
test_failures (void)
{
  const NdShape shape = { 1, { 4, 4, 12 } };
  const gsize sizes[][ND_AXES] = { { 3, 3, 3, 1 }, { 3, 3, 3, 3 } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (sizes); i++) {
    Stream s;

    stream_init_box (&s, &shape, sizes[i / 2]);
    s.settings.devices = "all";
    s.settings.waits = i % 2;
    for (gint device = 0; device < 3; device++) {
      gint after = 0;

      while (fail (&s, device, after))
        after++;
      g_assert_cmpint (after, >=, i == 0 ? 4 : 10);
    }
    nd_bank_free (s.bank);
  }
  reset_double (3);
  expect_box (&shape, sizes[0], ND_BORDER_NEAREST, "all", TRUE, 3, "slabs of");
}

/* Each allocation fails in turn, and all of the second device. */
static void
test_allocations (void)
{
  const NdShape shape = { 1, { 4, 4, 30 } };
  const gsize size[ND_AXES] = { 3, 3, 3, 2 };
  g_autoptr (GError) error = NULL;
  guint failed = 0;
  Stream s;
  gint n = 0;

  stream_init_box (&s, &shape, size);
  s.settings.devices = "0,1,2";
  do {
    g_autoptr (NdConvolver) c = NULL;
    g_autoptr (GError) why = NULL;

    reset_double (3);
    slab_double.fail_at = n;
    slab_double.fail_on = n % 2;
    c = stream_convolver (&s, "double", 0, &why);
    if (!c) {
      g_assert_error (why, ND_ERROR, ND_ERROR_MEMORY);
      g_assert_nonnull (strstr (why->message, "bytes are needed"));
      g_assert_true (g_str_has_prefix (why->message, "Device "));
      g_assert_cmpint (slab_double.blocks, ==, 0);
      failed++;
    }
  } while (slab_double.allocated > n++);
  g_assert_cmpuint (failed, >, 3);

  reset_double (3);
  slab_double.memory_fails_on = 1;
  g_assert_null (stream_convolver (&s, "double", 0, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
  g_assert_true (g_str_has_prefix (error->message, "Device 1: "));
  g_assert_cmpint (slab_double.blocks, ==, 0);
  nd_bank_free (s.bank);
  reset_double (3);
  expect_box (&shape, size, ND_BORDER_NEAREST, "0,1,2", FALSE, 3, "slabs of");
}

/* Equal volumes give equal outputs from first to last, on all devices. */
static void
test_long (void)
{
  const NdShape shape = { 1, { 3, 2, 4 } };
  const gsize sizes[][ND_AXES] = { { 3, 1, 3, 1 }, { 1, 3, 3, 3 } };
  const NdScale scale[ND_MAX_PLANES] = { { 1, 0 } };

  for (guint k = 0; k < 2; k++) {
    g_autofree guint8 *volume = NULL, *out = NULL, *first = NULL;
    g_autoptr (NdConvolver) c = NULL;
    NdSamples in[ND_MAX_PLANES], to[ND_MAX_PLANES];
    guint outputs = 0;
    Stream s;

    reset_double (3);
    stream_init_box (&s, &shape, sizes[k]);
    s.settings.devices = "all";
    c = stream_convolver (&s, "double", 0, NULL);
    volume = stream_volume (&s, 0, 0);
    out = g_malloc0 (s.out_bytes[0]);
    in[0] = nd_samples_dense (volume, &shape, ND_FLOAT32);
    to[0] = nd_samples_dense (out, &shape, ND_FLOAT32);
    for (guint t = 0; t < LONG; t++) {
      g_assert_true (nd_convolver_push (c, in, NULL));
      if (!nd_convolver_ready (c))
        continue;
      memset (out, 0, s.out_bytes[0]);
      g_assert_true (nd_convolver_respond (c, scale, to, NULL));
      g_assert_true (nd_convolver_synchronize (c, NULL));
      if (outputs++ == 0)
        first = g_memdup2 (out, s.out_bytes[0]);
      if (memcmp (out, first, s.out_bytes[0]) != 0)
        g_error ("output %u differs from the first", t);
    }
    g_assert_cmpuint (outputs, ==, LONG - k);
    nd_bank_free (s.bank);
  }
}

static void
expect_devices_error (const gchar *text, gint device_id, const gchar *backend,
    const gchar *message)
{
  const NdShape shape = { 1, { 4, 4, 4 } };
  const gsize size[ND_AXES] = { 3, 3, 3, 1 };
  g_autoptr (GError) error = NULL;
  Stream s;

  stream_init_box (&s, &shape, size);
  s.settings.devices = text;
  s.settings.device_id = device_id;
  s.settings.backend = backend;
  g_assert_null (nd_convolver_new (&s.settings, &error));
  g_assert_nonnull (error);
  if (!strstr (error->message, message))
    g_error ("no '%s' in: %s", message, error->message);
  nd_bank_free (s.bank);
}

static void
test_lists (void)
{
  reset_double (3);
  expect_devices_error ("0,,1", -1, "double", "has an empty part");
  expect_devices_error ("0,1,", -1, "double", "has an empty part");
  expect_devices_error (" ", -1, "double", "has an empty part");
  expect_devices_error ("0,1,0", -1, "double", "names device 0 twice");
  expect_devices_error ("0,one", -1, "double",
      "\"one\" is not the number of a device: use \"all\"");
  expect_devices_error ("-1", -1, "double", "is not the number of a device");
  expect_devices_error ("0,all", -1, "double", "is not the number of a device");
  expect_devices_error ("0,3", -1, "double",
      "devices is \"0,3\", and device 3 cannot be used: There is no double "
      "with device-id=3: this machine has 3");
  expect_devices_error ("5", -1, "double", "device 5 cannot be used");
  expect_devices_error ("0,1", 2, "double",
      "device-id is 2, which is not one of the devices \"0,1\"");
  /* The CPU has no devices, but wrong text is wrong. */
  expect_devices_error ("0,,1", -1, "cpu", "has an empty part");
  expect_devices_error ("0", -1, "none", "'none' is not available");
}

/* device-id is the first one. */
static void
test_first (void)
{
  const NdShape shape = { 1, { 4, 4, 4 } };
  const gsize size[ND_AXES] = { 3, 3, 3, 1 };
  g_autoptr (NdConvolver) c = NULL;
  Stream s;

  reset_double (3);
  stream_init_box (&s, &shape, size);
  s.settings.devices = "all";
  s.settings.device_id = 2;
  c = stream_convolver (&s, "double", 0, NULL);
  expect_in_reason (c, "devices 2, 0, 1");
  nd_bank_free (s.bank);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  nd_backend_register (&nd_cpu_backend);
  slab_double_register ();
  g_test_add_func ("/spread/random", test_random);
  g_test_add_func ("/spread/round", test_round);
  g_test_add_func ("/spread/slabs", test_slabs);
  g_test_add_func ("/spread/rows", test_rows);
  g_test_add_func ("/spread/thin", test_thin);
  g_test_add_func ("/spread/filters", test_filters);
  g_test_add_func ("/spread/methods", test_methods);
  g_test_add_func ("/spread/auto", test_auto);
  g_test_add_func ("/spread/cpu", test_cpu);
  g_test_add_func ("/spread/in-place", test_in_place);
  g_test_add_func ("/spread/failures", test_failures);
  g_test_add_func ("/spread/allocations", test_allocations);
  g_test_add_func ("/spread/long", test_long);
  g_test_add_func ("/spread/lists", test_lists);
  g_test_add_func ("/spread/first", test_first);
  return g_test_run ();
}
