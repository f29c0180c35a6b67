/* Random sequences of pushes, filter changes, skips and resets. Each output is
 * compared with a sum over the stretch of volumes since the last reset. The
 * sums are integers and therefore exact.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "cpu/cpu.h"
#include "engine/convolver.h"
#include "tests/sanitizers.h"

#define SAMPLES 6 /* of plane 0; plane 1 has half as many */
#define MAX_VOLUMES 64

typedef struct
{
  NdBank *bank;
  NdBorder border;
  gboolean reverse;
  NdConvolver *convolver;
  gint stretch[MAX_VOLUMES]; /* numbers of the volumes since the last reset */
  guint pushed;
  guint out; /* outputs of the stretch, including skipped ones */
} Walk;

static const gdouble border_value = 3;

static gfloat
sample (gint number, guint plane, guint i)
{
  return (gint) (number * 37 + plane * 11 + i * 5) % 23 - 11;
}

static NdBank *
new_bank (gsize t, gint origin, GRand *r)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  const gsize size[ND_AXES] = { 1, 1, 1, t };
  NdFilter *f = nd_filter_new ("test", size);

  f->origin[ND_AXIS_T] = origin;
  for (gsize i = 0; i < t; i++)
    f->coefficients[i] = r ? g_rand_int_range (r, 1, 9) : (gint) i + 1;
  g_ptr_array_add (filters, f);
  return nd_bank_new (filters);
}

static NdConvolver *
new_convolver (NdBank *bank, NdBorder border, gboolean reverse)
{
  NdConvolverSettings settings = { .n_planes = 2,
    .time_border = border,
    .reverse = reverse,
    .backend = "cpu",
    .device_id = -1,
    .method = ND_METHOD_DIRECT };
  g_autoptr (GError) error = NULL;
  NdConvolver *c;

  for (guint p = 0; p < 2; p++) {
    settings.jobs[p] = (NdJob){ .shape = { 1, { 3, 2 - p, 1 } },
      .in_type = ND_FLOAT32,
      .out_type = ND_FLOAT32,
      .border = ND_BORDER_NEAREST,
      .border_value = border_value,
      .bank = bank };
  }
  c = nd_convolver_new (&settings, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (nd_convolver_bytes (c), >, 0);
  return c;
}

static gint64
walk_back (NdBorder border, gint64 i, gint64 n)
{
  while (i < 0 || i >= n) {
    if (border == ND_BORDER_CONSTANT)
      return -1;
    if (border == ND_BORDER_NEAREST)
      i = i < 0 ? 0 : n - 1;
    else if (border == ND_BORDER_REFLECT)
      i = i < 0 ? -1 - i : 2 * n - 1 - i;
    else
      i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
  }
  return i;
}

static gdouble
expected (const Walk *w, guint plane, guint i)
{
  const NdFilter *f = w->bank->filters[0];
  gint k = f->size[ND_AXIS_T];
  gdouble sum = 0;

  for (gint m = 0; m < k; m++) {
    gint offset = k / 2 + f->origin[ND_AXIS_T] - m;
    gint64 at = walk_back (w->border,
        (gint64) w->out + (w->reverse ? -offset : offset), w->pushed);

    sum += f->coefficients[m]
        * (at < 0 ? border_value : sample (w->stretch[at], plane, i));
  }
  return sum;
}

static void
respond (Walk *w)
{
  const NdScale scale[ND_MAX_PLANES] = { { 2, 1 }, { 1, 0 } };
  const NdShape shapes[2] = { { 1, { 3, 2, 1 } }, { 1, { 3, 1, 1 } } };
  gfloat got[2][SAMPLES];
  NdSamples out[ND_MAX_PLANES];
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (nd_convolver_window (w->convolver)->anchor, ==, w->out);
  for (guint p = 0; p < 2; p++)
    out[p] = nd_samples_dense (got[p], &shapes[p], ND_FLOAT32);
  g_assert_true (nd_convolver_respond (w->convolver, scale, out, &error));
  g_assert_no_error (error);
  for (guint p = 0; p < 2; p++)
    for (guint i = 0; i < SAMPLES / (1 + p); i++)
      g_assert_cmpfloat (got[p][i], ==,
          scale[p].gain * expected (w, p, i) + scale[p].offset);
  w->out++;
}

static void
respond_while_ready (Walk *w, GRand *r)
{
  while (nd_convolver_ready (w->convolver)) {
    if (r && g_rand_int_range (r, 0, 8) == 0) {
      nd_convolver_skip (w->convolver);
      w->out++;
    } else {
      respond (w);
    }
  }
}

static void
push (Walk *w, gint number, GRand *r)
{
  const NdShape shapes[2] = { { 1, { 3, 2, 1 } }, { 1, { 3, 1, 1 } } };
  gfloat in[2][SAMPLES];
  NdSamples volume[ND_MAX_PLANES];

  for (guint p = 0; p < 2; p++) {
    for (guint i = 0; i < SAMPLES; i++)
      in[p][i] = sample (number, p, i);
    volume[p] = nd_samples_dense (in[p], &shapes[p], ND_FLOAT32);
  }
  w->stretch[w->pushed++] = number;
  g_assert_true (nd_convolver_push (w->convolver, volume, NULL));
  respond_while_ready (w, r);
}

static void
finish (Walk *w, GRand *r)
{
  nd_convolver_end (w->convolver);
  respond_while_ready (w, r);
  g_assert_cmpint (w->out, ==, w->pushed);
  nd_convolver_reset (w->convolver);
  w->pushed = w->out = 0;
}

/* Returns TRUE if the window was kept. */
static gboolean
change (Walk *w, NdBank *bank, NdBorder border, GRand *r)
{
  g_autoptr (NdConvolver) old = w->convolver;
  NdConvolver *next = new_convolver (bank, border, w->reverse);
  gboolean kept = nd_convolver_continue (next, old);
  g_autoptr (GError) error = NULL;

  if (!kept)
    finish (w, r);
  nd_bank_free (w->bank);
  w->bank = bank;
  w->border = border;
  w->convolver = next;
  if (kept) {
    guint pushed = w->pushed;

    /* The model knows only the volumes that were copied to the new window. */
    while (nd_convolver_replay (next, old, &error)) {
      w->pushed = nd_convolver_window (next)->pushed;
      respond_while_ready (w, r);
    }
    g_assert_no_error (error);
    w->pushed = pushed;
    respond_while_ready (w, r);
    g_assert_cmpint (nd_convolver_window (next)->pushed, ==, pushed);
  }
  return kept;
}

static void
walk_init (Walk *w, NdBank *bank, NdBorder border, gboolean reverse)
{
  memset (w, 0, sizeof (*w));
  w->bank = bank;
  w->border = border;
  w->reverse = reverse;
  w->convolver = new_convolver (bank, border, reverse);
}

static void
walk_clear (Walk *w)
{
  nd_convolver_free (w->convolver);
  nd_bank_free (w->bank);
}

/* A part of @runs for slow tools. */
static guint
runs_of (guint runs)
{
  const gchar *divisor = g_getenv ("ND_JOBS_DIVISOR");

  return runs / (divisor ? MAX (1, atoi (divisor)) : 1);
}

static void
test_walks (void)
{
  const guint walks = runs_of (3000);
  guint kept = 0, anew = 0;

  for (guint n = 0; n < walks; n++) {
    GRand *r = g_rand_new_with_seed (g_test_rand_int ());
    gboolean reverse = g_rand_int_range (r, 0, 4) == 0;
    Walk w;

    walk_init (&w, new_bank (3, 0, r), ND_BORDER_NEAREST, reverse);
    for (gint number = 0; number < 40; number++) {
      gint action = g_rand_int_range (r, 0, 20);

      if (action < 5) {
        gint t = g_rand_int_range (r, 1, 8);
        gint origin = g_rand_int_range (r, -(t / 2), (t - 1) / 2 + 1);

        if (change (&w, new_bank (t, origin, r),
                g_rand_int_range (r, 0, ND_BORDER_WRAP), r))
          kept++;
        else
          anew++;
      } else if (action == 5) {
        finish (&w, r);
      } else {
        push (&w, number, r);
      }
    }
    finish (&w, r);
    walk_clear (&w);
    g_rand_free (r);
  }
  g_test_message ("window kept by %u changes, restarted by %u", kept, anew);
  g_assert_cmpuint (kept, >, walks / 3);
  g_assert_cmpuint (anew, >, walks / 3);
}

/* Changes that keep the window: a shorter filter, the same filter, and back
 * from a causal filter. */
static void
test_kept (void)
{
  Walk w;

  walk_init (&w, new_bank (5, 0, NULL), ND_BORDER_NEAREST, FALSE);
  for (gint i = 0; i < 10; i++)
    push (&w, i, NULL);
  g_assert_true (change (&w, new_bank (5, 0, NULL), ND_BORDER_CONSTANT, NULL));
  g_assert_true (change (&w, new_bank (3, 0, NULL), ND_BORDER_NEAREST, NULL));
  g_assert_cmpint (w.out, ==, 9);
  /* A filter of five volumes needs volume 7, which the filter of three did not
   * keep. */
  g_assert_false (change (&w, new_bank (7, 0, NULL), ND_BORDER_NEAREST, NULL));
  walk_clear (&w);
}

/* A window of one volume keeps nothing and needs nothing. */
static void
test_single (void)
{
  Walk w;

  walk_init (&w, new_bank (1, 0, NULL), ND_BORDER_MIRROR, FALSE);
  push (&w, 4, NULL);
  g_assert_true (change (&w, new_bank (1, 0, NULL), ND_BORDER_MIRROR, NULL));
  push (&w, 5, NULL);
  g_assert_cmpint (w.out, ==, 2);
  g_assert_true (change (&w, new_bank (3, 1, NULL), ND_BORDER_NEAREST, NULL));
  g_assert_false (nd_convolver_can_repeat (w.convolver));
  push (&w, 6, NULL);
  g_assert_cmpint (w.out, ==, 2);
  finish (&w, NULL);
  walk_clear (&w);
}

static void
test_reverse (void)
{
  for (NdBorder b = ND_BORDER_CONSTANT; b < ND_BORDER_WRAP; b++) {
    Walk w;

    walk_init (&w, new_bank (4, 1, NULL), b, FALSE);
    for (guint turn = 0; turn < 4; turn++) {
      for (gint i = 0; i < 9; i++)
        push (&w, i, NULL);
      finish (&w, NULL);
      w.reverse = !w.reverse;
      nd_convolver_set_reverse (w.convolver, w.reverse);
    }
    walk_clear (&w);
  }
}

#define BEGUN_SHAPE \
  {                 \
    1,              \
    {               \
      37, 9, 4      \
    }               \
  }
#define BEGUN_SAMPLES (37 * 9 * 4)

/* With taps enough for sums that are begun. */
static NdConvolver *
new_begun_convolver (GRand *r, NdBorder border, gboolean reverse,
    gboolean ahead)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  g_autoptr (NdBank) bank = NULL;
  const gsize t = g_rand_int_range (r, 1, 7);
  const gint origin = g_rand_int_range (r, -(gint) (t / 2), (t + 1) / 2);
  NdConvolverSettings settings = { .n_planes = 1,
    .time_border = border,
    .reverse = reverse,
    .ahead = ahead,
    .backend = "cpu",
    .device_id = -1,
    .method = ND_METHOD_DIRECT };
  NdConvolver *c;

  for (guint k = 0; k < 2; k++) {
    const gsize size[ND_AXES] = { 5, 3, 1 + k, t };
    NdFilter *f = nd_filter_new ("begun", size);

    for (gsize i = 0; i < nd_filter_count (f); i++)
      f->coefficients[i] = g_rand_double_range (r, -1, 1);
    f->origin[ND_AXIS_T] = origin;
    g_ptr_array_add (filters, f);
  }
  bank = nd_bank_new (filters);
  settings.jobs[0] = (NdJob){ .shape = BEGUN_SHAPE,
    .in_type = ND_FLOAT32,
    .out_type = ND_FLOAT32,
    .border = ND_BORDER_MIRROR,
    .border_value = border_value,
    .bank = bank };
  c = nd_convolver_new (&settings, NULL);
  g_assert_nonnull (c);
  return c;
}

/* The same stream through two convolvers, the second of which begins outputs
 * at times. All bits must be equal. */
typedef struct
{
  NdConvolver *plain, *begun;
  guint outputs, begins;
} Pair;

static void
pair_respond (Pair *p, GRand *r)
{
  const NdShape shape = BEGUN_SHAPE;
  const NdScale scale[ND_MAX_PLANES] = { { 1, 0 } };
  g_autofree gfloat *want = g_new (gfloat, 2 * BEGUN_SAMPLES);
  g_autofree gfloat *got = g_new (gfloat, 2 * BEGUN_SAMPLES);
  const NdSamples to_want[ND_MAX_PLANES] = { nd_samples_dense (want, &shape,
      ND_FLOAT32) };
  const NdSamples to_got[ND_MAX_PLANES] = { nd_samples_dense (got, &shape,
      ND_FLOAT32) };

  while (nd_convolver_ready (p->plain)) {
    g_assert_true (nd_convolver_ready (p->begun));
    if (g_rand_int_range (r, 0, 8) == 0) {
      nd_convolver_skip (p->plain);
      nd_convolver_skip (p->begun);
      continue;
    }
    if (g_rand_int_range (r, 0, 4) == 0) /* an output that is ready */
      g_assert_false (nd_convolver_begin (p->begun));
    g_assert_true (nd_convolver_respond (p->plain, scale, to_want, NULL));
    g_assert_true (nd_convolver_respond (p->begun, scale, to_got, NULL));
    g_assert_cmpmem (got, 2 * BEGUN_SAMPLES * sizeof (gfloat), want,
        2 * BEGUN_SAMPLES * sizeof (gfloat));
    p->outputs++;
  }
  for (guint n = g_rand_int_range (r, 0, 3); n > 0; n--)
    p->begins += nd_convolver_begin (p->begun);
}

static void
pair_push (Pair *p, GRand *r)
{
  static const gfloat odd[] = { NAN, INFINITY, -INFINITY };
  const NdShape shape = BEGUN_SHAPE;
  g_autofree gfloat *in = g_new (gfloat, BEGUN_SAMPLES);
  const NdSamples volume[ND_MAX_PLANES] = { nd_samples_dense (in, &shape,
      ND_FLOAT32) };

  for (guint i = 0; i < BEGUN_SAMPLES; i++)
    in[i] = g_rand_int_range (r, 0, 2000) == 0
        ? odd[g_rand_int_range (r, 0, G_N_ELEMENTS (odd))]
        : g_rand_double_range (r, -100, 100);
  g_assert_true (nd_convolver_push (p->plain, volume, NULL));
  g_assert_true (nd_convolver_push (p->begun, volume, NULL));
}

static void
pair_end (Pair *p, GRand *r)
{
  if (g_rand_boolean (r)) {
    nd_convolver_end (p->plain);
    nd_convolver_end (p->begun);
    pair_respond (p, r);
    g_assert_false (nd_convolver_begin (p->begun));
  }
  nd_convolver_reset (p->plain);
  nd_convolver_reset (p->begun);
}

static void
pair_change (Pair *p, GRand *r, NdBorder border, gboolean reverse)
{
  g_autoptr (GRand) same = g_rand_copy (r);
  g_autoptr (NdConvolver) plain = p->plain;
  g_autoptr (NdConvolver) begun = p->begun;

  p->plain = new_begun_convolver (r, border, reverse, FALSE);
  p->begun = new_begun_convolver (same, border, reverse, TRUE);
  if (!nd_convolver_continue (p->plain, plain)) {
    g_assert_false (nd_convolver_continue (p->begun, begun));
    return;
  }
  g_assert_true (nd_convolver_continue (p->begun, begun));
  while (nd_convolver_replay (p->plain, plain, NULL)) {
    g_assert_true (nd_convolver_replay (p->begun, begun, NULL));
    pair_respond (p, r);
  }
  pair_respond (p, r);
}

static void
test_begun (void)
{
  const guint walks = runs_of (200);
  guint outputs = 0, begins = 0;

  for (guint n = 0; n < walks; n++) {
    g_autoptr (GRand) r = g_rand_new_with_seed (g_test_rand_int ());
    g_autoptr (GRand) same = g_rand_copy (r);
    const NdBorder border = n % ND_BORDER_WRAP;
    const gboolean reverse = n % 7 == 0;
    Pair p = { new_begun_convolver (r, border, reverse, FALSE),
      new_begun_convolver (same, border, reverse, TRUE), 0, 0 };

    for (guint i = 0; i < 30; i++) {
      const gint action = g_rand_int_range (r, 0, 20);

      if (action == 0) {
        pair_end (&p, r);
      } else if (action == 1) {
        pair_change (&p, r, border, reverse);
      } else if (action == 2 && nd_convolver_can_repeat (p.plain)) {
        g_assert_true (nd_convolver_repeat (p.plain, NULL));
        g_assert_true (nd_convolver_repeat (p.begun, NULL));
      } else {
        pair_push (&p, r);
      }
      if (g_rand_int_range (r, 0, 6) > 0)
        pair_respond (&p, r);
    }
    outputs += p.outputs;
    begins += p.begins;
    g_assert_true (!reverse || p.begins == 0);
    nd_convolver_free (p.plain);
    nd_convolver_free (p.begun);
  }
  g_test_message ("%u outputs, %u times begun", outputs, begins);
  g_assert_cmpuint (begins, >, walks * 5);
}

static void
test_wrap_is_refused (void)
{
  g_autoptr (NdBank) bank = new_bank (3, 0, NULL);
  NdConvolverSettings settings = { .n_planes = 1,
    .time_border = ND_BORDER_WRAP,
    .backend = "cpu",
    .device_id = -1,
    .method = ND_METHOD_AUTO };
  g_autoptr (GError) error = NULL;

  settings.jobs[0] = (NdJob){ .shape = { 1, { 3, 2, 1 } },
    .in_type = ND_UINT8,
    .out_type = ND_UINT8,
    .bank = bank };
  g_assert_null (nd_convolver_new (&settings, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
  g_assert_nonnull (strstr (error->message, "time-border"));
}

/* The allocation must fail before it is tried: no machine has 2^59 bytes. */
static void
test_no_memory (void)
{
  g_autoptr (NdBank) bank = new_bank (3, 0, NULL);
  NdConvolverSettings settings = {
    .n_planes = 1, .backend = "cpu", .device_id = -1, .method = ND_METHOD_AUTO
  };
  g_autoptr (GError) error = NULL;

  settings.jobs[0] = (NdJob){
    .shape = { 1, { (gsize) 1 << 20, (gsize) 1 << 20, (gsize) 1 << 19 } },
    .in_type = ND_UINT8,
    .out_type = ND_UINT8,
    .bank = bank
  };
  g_assert_null (nd_convolver_new (&settings, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  nd_backend_register (&nd_cpu_backend);
  g_test_add_func ("/convolver/walks", test_walks);
  g_test_add_func ("/convolver/kept", test_kept);
  g_test_add_func ("/convolver/single", test_single);
  g_test_add_func ("/convolver/reverse", test_reverse);
  g_test_add_func ("/convolver/begun", test_begun);
  g_test_add_func ("/convolver/wrap", test_wrap_is_refused);
  g_test_add_func ("/convolver/no-memory", test_no_memory);
  return g_test_run ();
}
