/* What is refused, and what is left of it. Needs no GPU, and the cuFFT of
 * cufftdouble.c.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <dlfcn.h>
#include <glib.h>
#include <string.h>

#include "cuda/ndcufft.h"
#include "engine/ndbackend.h"

using namespace nd;

extern "C" const NdBackend *nd_backend_module (void);

/* By every method, before a device is looked for. */
static void
test_window ()
{
  const gsize size[ND_AXES] = { 1, 1, 1, MAX_SLOTS + 1 };
  GPtrArray *filters = g_ptr_array_new ();
  NdJob job = {};

  g_ptr_array_add (filters, nd_filter_new ("long", size));
  NdBank *const bank = nd_bank_new (filters);
  g_ptr_array_free (filters, TRUE);
  job.shape = { 1, { 4, 4, 4 } };
  job.in_type = job.out_type = ND_FLOAT32;
  job.bank = bank;
  for (int m = 0; m < ND_METHOD_REFERENCE; m++) {
    GError *error = nullptr;

    g_assert_false (std::isfinite (nd_backend_module ()->cost (&job,
                (NdMethod) m, -1, &error)));
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    g_assert_nonnull (strstr (error->message, "256 volumes, not 257"));
    g_clear_error (&error);
    g_assert_null (nd_backend_module ()->ring_new (&job, (NdMethod) m, -1,
            &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    g_clear_error (&error);
  }
  nd_bank_free (bank);
}

static int *
of_cufft (const char *name)
{
  void *const library = dlopen ("libcufft.so.12", RTLD_NOW | RTLD_LOCAL);

  g_assert_nonnull (library);
  return static_cast<int *> (dlsym (library, name));
}

/* Of both ways' plans the first goes where there is no memory for the second.
 */
static void
test_plans ()
{
  const int size[3] = { 8, 8, 8 };
  int *const plans = of_cufft ("cufft_double_plans");
  int *const succeed = of_cufft ("cufft_double_succeed");

  g_assert_true (plans && succeed);
  for (int n = 0; n <= 2; n++) {
    int code = -1, during = 0;

    *succeed = n;
    try {
      const Transform transform (size, nullptr);

      during = *plans;
    } catch (const Error &error) {
      code = error.code;
    }
    g_assert_cmpint (code, ==, n < 2 ? (int) ND_ERROR_NO_SPACE : -1);
    g_assert_cmpint (during, ==, n < 2 ? 0 : 2);
    g_assert_cmpint (*plans, ==, 0);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/refusals/window", test_window);
  g_test_add_func ("/refusals/plans", test_plans);
  return g_test_run ();
}
