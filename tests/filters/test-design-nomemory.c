/* Each allocation of a design that grows with the size of the filter fails
 * once. That is an error, ends no process and leaks nothing; then the same
 * design works. Sanitizers have a malloc of their own, which never fails.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/filters/designs.h"
#include "tests/fuzz/memory.h"

/* Smaller allocations are texts and lists of parameters. */
#define LARGE 4096

/* Of GLib's own caches, and of threads. */
#define SMALL_LEAK 16384

static const struct
{
  const gchar *name;
  const NdAxes *axes;
  const gchar *text;
} cases[] = {
  { "gaussian", &axes_xy, "sigma=150:0" },
  { "gaussian", &axes_xyz, "sigma=150:0:1" },
  { "log", &axes_xy, "sigma=150:0" },
  { "dog", &axes_xy, "sigma=150:0" },
  { "gaussian-derivative", &axes_xy, "sigma=150:1" },
  { "box", &axes_xy, "size=40" },
  { "gabor", &axes_xy, "size=41" },
  { "wiener", &axes_xy, "sigma=2 size=15" },
  { "monomial", &axes_xy, "size=401:1" },
  { "monomial-bank", &axes_xy, "size=11 order=1" },
  { "riesz", &axes_xy, "size=11" },
  { "quadrature", &axes_xy, "size=11" },
  { "quadrature-bank", &axes_xy, "size=9" },
  { "motion", &axes_xyt, "size=3 velocity=1:0" },
  { "exponential", &axes_xyt, "tau=150" },
  { "causal-derivative", &axes_xyt, "tau=150" },
  { "gaussian", &axes_xyt, "sigma=0:0:20 size=1:1:601 lag=3" },
  { "gaussian", &axes_xyt, "sigma=4:4:2 lag=3" },
};

static void
test_case (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  const gchar *name = cases[i].name, *text = cases[i].text;
  const NdAxes *axes = cases[i].axes;
  gboolean failed = TRUE;
  guint errors = 0, n;

  for (n = 1; failed; n++) {
    g_autoptr (NdParameters) parameters = make_parameters (text);
    g_autoptr (GError) error = NULL;
    NdBank *bank;

    memory_begin ();
    memory_fail (n, LARGE);
    bank = nd_design (name, parameters, axes, &error);
    failed = memory_has_failed ();
    memory_fail (0, 0);
    g_assert_true (!bank == !!error);
    if (!bank) {
      g_assert_true (failed);
      g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
      g_assert_nonnull (strstr (error->message, "ot enough memory"));
      errors++;
      g_clear_error (&error);
      g_assert_cmpint (memory_now (), <=, SMALL_LEAK);
    }
    nd_bank_free (bank);
  }
  g_test_message ("%s %s: %u errors", name, text, errors);
  g_assert_true (errors > 0 || n == 2);
  nd_bank_free (make_bank (name, axes, text));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/design-nomemory/%u-%s", i, cases[i].name);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_case);
  }
  return g_test_run ();
}
