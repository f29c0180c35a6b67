/* Long designs end soon after another thread cancels them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "filters/text.h"

/* Each takes many seconds on one core. */
static const gchar *const slow[] = {
  "quadrature-bank,size=13,center-frequency=1.05,bandwidth=2.0",
  "monomial-bank,size=13,order=1:2:3",
  "motion,velocity=1:0:0,size=13",
  "psf,model=airy,wavelength=500,aperture=1.2,sampling=20:20:50,index=1.5,"
  "size=201:201:201",
  "gaussian,sigma=1; quadrature-bank,size=13,center-frequency=1.0",
};

static const NdAxes axes = { 4, { 0, 1, 2, 3 } };

typedef struct
{
  const gchar *text;
  gint started, cancelled;
  GError *error;
} Design;

static gpointer
run (gpointer data)
{
  Design *design = data;
  NdBank *bank;

  g_atomic_int_set (&design->started, 1);
  bank = nd_bank_from_text (design->text, &axes, NULL, FALSE, FALSE,
      &design->cancelled, &design->error);
  g_assert_null (bank);
  return NULL;
}

static void
test_cancel_while_designing (gconstpointer data)
{
  for (guint i = 0; i < 4; i++) {
    Design design = { .text = data };
    GThread *thread = g_thread_new ("design", run, &design);

    while (!g_atomic_int_get (&design.started))
      g_thread_yield ();
    g_usleep (g_test_rand_int_range (0, 200000));
    g_atomic_int_set (&design.cancelled, 1);
    g_thread_join (thread);
    g_assert_error (design.error, ND_ERROR, ND_ERROR_CANCELLED);
    g_clear_error (&design.error);
  }
}

static void
test_cancelled_before (void)
{
  g_autoptr (GError) error = NULL;
  gint cancelled = 1;

  g_assert_null (nd_bank_from_text ("box,size=3", &axes, NULL, FALSE, FALSE,
      &cancelled, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cancel/before", test_cancelled_before);
  for (guint i = 0; i < G_N_ELEMENTS (slow); i++) {
    g_autofree gchar *path = g_strdup_printf ("/cancel/design/%u", i);

    g_test_add_data_func (path, slow[i], test_cancel_while_designing);
  }
  return g_test_run ();
}
