/* Volumes in slabs, on a double of a device with little memory: random streams
 * give what whole volumes give, on the CPU. Sums are integers and therefore
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

#define JOBS 300

/* Returns whether a plane was cut into slabs. */
static gboolean
check (guint job, GRand *r)
{
  const guint n = g_rand_int_range (r, 1, 7);
  const StreamEvents events = { .change = g_rand_int_range (r, 1, 12),
    .waits = g_rand_boolean (r) };
  const StreamEvents none = { 0 };
  g_autoptr (NdConvolver) whole = NULL, same = NULL, slabs = NULL;
  g_autoptr (GPtrArray) want = NULL, got = NULL;
  g_autoptr (GError) error = NULL;
  gboolean cut = FALSE;
  gsize limit;
  Stream s;

  stream_init (&s, r);
  whole = stream_convolver (&s, "double", 0, &error);
  g_assert_no_error (error);
  limit = nd_convolver_bytes (whole) * g_rand_double_range (r, 0.1, 0.9);
  slabs = stream_convolver (&s, "double", MAX (1, limit), &error);
  if (slabs) {
    same = stream_convolver (&s, "cpu", 0, NULL);
    g_assert_cmpuint (nd_convolver_bytes (slabs), <=, MAX (1, limit));
    want = stream_run (&s, same, NULL, n, &none);
    got = stream_run (&s, slabs, whole, n, &events);
    g_assert_cmpuint (got->len, ==, want->len);
    for (guint i = 0; i < got->len; i++) {
      if (memcmp (got->pdata[i], want->pdata[i],
              s.out_bytes[i % s.settings.n_planes])
          != 0)
        g_error ("job %u: plane %u of output %u differs: %s", job,
            i % s.settings.n_planes, i / s.settings.n_planes,
            nd_convolver_plan (slabs, i % s.settings.n_planes)->reason);
    }
    for (guint p = 0; p < s.settings.n_planes; p++) {
      const NdPlan *plan = nd_convolver_plan (slabs, p);

      cut |= plan->executor->funcs->in_slabs;
      if (plan->executor->funcs->in_slabs)
        g_assert_nonnull (strstr (plan->reason, " slabs of "));
    }
  } else {
    g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
    g_assert_nonnull (strstr (error->message, "bytes are needed"));
  }
  nd_bank_free (s.bank);
  return cut;
}

static void
test_random (void)
{
  const guint32 seed = g_test_rand_int ();
  guint cut = 0;

  g_test_message ("seed %u", seed);
  for (guint i = 0; i < JOBS; i++) {
    const guint32 seeds[2] = { seed, i };
    g_autoptr (GRand) r = g_rand_new_with_seed_array (seeds, 2);

    cut += check (i, r);
  }
  g_test_message ("%u of %u jobs in slabs", cut, JOBS);
  g_assert_cmpuint (cut, >, JOBS / 4);
  g_assert_cmpint (slab_double.blocks, ==, 0);
}

/* Neighbours share samples on the device: each is uploaded once. */
static void
test_uploads (void)
{
  const StreamEvents none = { 0 };
  const NdShape shape = { 1, { 8, 8, 100 } };
  const gsize size[ND_AXES] = { 3, 3, 7, 1 };
  g_autoptr (NdConvolver) c = NULL;
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (GError) error = NULL;
  Stream s;

  stream_init_box (&s, &shape, size);
  c = stream_convolver (&s, "double", 5 * 40 * 8 * 8 * 4, &error);
  g_assert_no_error (error);
  slab_double.uploaded = 0;
  outputs = stream_run (&s, c, NULL, 3, &none);
  g_assert_cmpuint (outputs->len, ==, 3);
  g_assert_cmpuint (slab_double.uploaded, ==, 3 * 100);
  nd_bank_free (s.bank);
}

/* Outputs written over the volume that they are computed from. */
static void
test_in_place (void)
{
  const StreamEvents none = { 0 };
  const NdShape shape = { 1, { 8, 8, 100 } };
  const gsize size[ND_AXES] = { 3, 3, 7, 1 };
  const NdBorder borders[] = { ND_BORDER_NEAREST, ND_BORDER_MIRROR,
    ND_BORDER_WRAP };
  const NdScale scale[ND_MAX_PLANES] = { { 1, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (borders); i++) {
    g_autoptr (NdConvolver) c = NULL, cpu = NULL;
    g_autoptr (GPtrArray) want = NULL;
    g_autofree guint8 *volume = NULL;
    NdSamples planes[ND_MAX_PLANES];
    Stream s;

    stream_init_box (&s, &shape, size);
    s.settings.jobs[0].border = borders[i];
    cpu = stream_convolver (&s, "cpu", 0, NULL);
    want = stream_run (&s, cpu, NULL, 1, &none);
    c = stream_convolver (&s, "double", 5 * 40 * 8 * 8 * 4, NULL);
    volume = stream_volume (&s, 0, 0);
    planes[0] = nd_samples_dense (volume, &shape, ND_FLOAT32);
    g_assert_true (nd_convolver_push (c, planes, NULL));
    g_assert_true (nd_convolver_respond (c, scale, planes, NULL));
    g_assert_true (nd_convolver_synchronize (c, NULL));
    g_assert_cmpmem (volume, s.out_bytes[0], want->pdata[0], s.out_bytes[0]);
    nd_bank_free (s.bank);
  }
}

/* A window in time uploads each slab again for each output, but not at the slab
 * where it turns round. */
static void
test_window (void)
{
  const StreamEvents none = { 0 };
  const NdShape shape = { 1, { 8, 8, 20 } };
  const gsize size[ND_AXES] = { 1, 1, 1, 3 };
  g_autoptr (NdConvolver) c = NULL;
  g_autoptr (GPtrArray) outputs = NULL;
  Stream s;

  stream_init_box (&s, &shape, size);
  c = stream_convolver (&s, "double", 5 * 10 * 8 * 8 * 4, NULL);
  g_assert_nonnull (c);
  g_assert_nonnull (strstr (nd_convolver_plan (c, 0)->reason,
      "15360 bytes of the window in memory of the host"));
  slab_double.uploaded = 0;
  outputs = stream_run (&s, c, NULL, 10, &none);
  g_assert_cmpuint (outputs->len, ==, 10);
  g_assert_cmpuint (slab_double.uploaded, <, 10 * 3 * 20);
  nd_bank_free (s.bank);
}

/* The stream with the allocation @n failing, and all later ones if @on. Returns
 * FALSE if there were fewer. */
static gboolean
check_allocation (const Stream *s, gsize limit, gint n, gboolean on,
    guint *failed)
{
  const StreamEvents none = { 0 };
  g_autoptr (NdConvolver) c = NULL, cpu = NULL;
  g_autoptr (GPtrArray) got = NULL, want = NULL;
  g_autoptr (GError) error = NULL;

  slab_double.allocated = 0;
  slab_double.fail_at = n;
  slab_double.fail_on = on;
  c = stream_convolver (s, "double", limit, &error);
  slab_double.fail_at = -1;
  if (!c) {
    g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
    g_assert_nonnull (strstr (error->message, "bytes are needed"));
    g_assert_cmpint (slab_double.blocks, ==, 0);
    ++*failed;
    return TRUE;
  }
  cpu = stream_convolver (s, "cpu", 0, NULL);
  got = stream_run (s, c, NULL, 3, &none);
  want = stream_run (s, cpu, NULL, 3, &none);
  g_assert_cmpuint (got->len, ==, 3);
  for (guint k = 0; k < 3; k++)
    g_assert_cmpmem (got->pdata[k], s->out_bytes[0], want->pdata[k],
        s->out_bytes[0]);
  return slab_double.allocated > n;
}

/* Each allocation in turn fails, alone or with all later ones: an error, or
 * slabs that need less; nothing is leaked, and the next stream works. */
static void
test_allocations (void)
{
  const NdShape shape = { 1, { 4, 4, 30 } };
  const gsize size[ND_AXES] = { 3, 3, 3, 2 };
  const gsize limits[] = { 0, 5 * 8 * 4 * 4 * 4 };
  guint failed = 0;
  Stream s;

  stream_init_box (&s, &shape, size);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (limits); i++) {
    gint n = 0;

    while (check_allocation (&s, limits[i / 2], n, i % 2, &failed))
      n++;
    g_assert_cmpint (n, >, 0);
    g_assert_cmpint (slab_double.blocks, ==, 0);
  }
  g_assert_cmpuint (failed, >, 0);
  nd_bank_free (s.bank);
}

static void
expect_error (const NdShape *shape, const gsize size[ND_AXES], gsize limit,
    const gchar *text)
{
  g_autoptr (GError) error = NULL;
  Stream s;

  stream_init_box (&s, shape, size);
  g_assert_null (stream_convolver (&s, "double", limit, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
  if (!strstr (error->message, text))
    g_error ("no '%s' in: %s", text, error->message);
  nd_bank_free (s.bank);
}

/* The bytes that the smallest slab needs, or a whole volume if no slab would be
 * smaller. */
static void
test_errors (void)
{
  const NdShape volume = { 1, { 8, 8, 20 } }, frame = { 1, { 8, 20, 1 } };
  const gsize seven[ND_AXES] = { 1, 7, 7, 1 },
              long_one[ND_AXES] = { 1, 1, 20, 1 };

  expect_error (&volume, seven, 1000,
      "Not even slabs of 7 slices fit: 8960 bytes are needed, memory-limit "
      "allows 1000");
  expect_error (&frame, seven, 1000,
      "Not even slabs of 7 rows fit: 1120 bytes are needed");
  expect_error (&volume, long_one, 1000, "25600 bytes are needed");
  g_assert_cmpint (slab_double.blocks, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  nd_backend_register (&nd_cpu_backend);
  slab_double_register ();
  g_test_add_func ("/slabs/random", test_random);
  g_test_add_func ("/slabs/uploads", test_uploads);
  g_test_add_func ("/slabs/in-place", test_in_place);
  g_test_add_func ("/slabs/window", test_window);
  g_test_add_func ("/slabs/allocations", test_allocations);
  g_test_add_func ("/slabs/errors", test_errors);
  return g_test_run ();
}
