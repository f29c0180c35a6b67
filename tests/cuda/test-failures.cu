/* CUDA calls of an algorithm fail, 60 random ones or with -m slow each one,
 * after work was enqueued that goes on for a while. When push or respond
 * returns the error, that work is complete, because the caller may free its
 * memory. The algorithm then repeats the error until it is reset, and computes
 * the same outputs as before.
 *
 * The linker passes calls of some functions to the functions __wrap_... below.
 * Exit code 77 if there is no GPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/adaptive.h"
#include "cuda/error.h"
#include "engine/backend.h"

#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <glib.h>
#include <vector>

extern "C" const NdBackend *nd_backend_module (void);

namespace
{

constexpr int NONE = -1;
constexpr gsize SIZE[3] = { 13, 10, 9 };
constexpr gsize SAMPLES = SIZE[0] * SIZE[1] * SIZE[2];
constexpr int VOLUMES = 6;
constexpr int CALLS = 60; /* that fail, of each algorithm */

int fails_at = NONE; /* the number of a call that is checked */
int n_checked;
bool has_failed;
cudaStream_t last_stream; /* that work was enqueued on */
std::atomic<bool> is_complete;

void CUDART_CB
work_long (void *)
{
  g_usleep (3000);
  is_complete = true;
}

void
fail ()
{
  has_failed = true;
  is_complete = !last_stream;
  if (last_stream)
    g_assert_cmpint (cudaLaunchHostFunc (last_stream, work_long, nullptr), ==,
        cudaSuccess);
}

} // namespace

#define CHECK _ZN2nd5checkE9cudaErrorPKc
#define JOIN(a, b) a##b
#define NAME(prefix, function) JOIN (prefix, function)

extern "C" {

void NAME (__real_, CHECK) (cudaError_t, const char *);
cudaError_t __real_cudaMemcpyAsync (void *, const void *, size_t,
    cudaMemcpyKind, cudaStream_t);
cudaError_t __real_cudaLaunchKernelExC (const cudaLaunchConfig_t *,
    const void *, void **);

void
NAME (__wrap_, CHECK) (cudaError_t result, const char *call)
{
  if (n_checked++ == fails_at) {
    fail ();
    result = cudaErrorUnknown;
  }
  NAME (__real_, CHECK) (result, call);
}

cudaError_t
__wrap_cudaMemcpyAsync (void *to, const void *from, size_t bytes,
    cudaMemcpyKind kind, cudaStream_t stream)
{
  last_stream = stream;
  return __real_cudaMemcpyAsync (to, from, bytes, kind, stream);
}

cudaError_t
__wrap_cudaLaunchKernelExC (const cudaLaunchConfig_t *config,
    const void *kernel, void **arguments)
{
  last_stream = config->stream;
  return __real_cudaLaunchKernelExC (config, kernel, arguments);
}
}

namespace
{

struct Case
{
  const char *name;
  NdAlgorithm *algorithm;
  NdShape in, out;
  NdSampleType type;
  std::vector<guint8> stream; /* VOLUMES volumes */
};

gsize
volume_bytes (const Case &c, const NdShape &shape)
{
  return SAMPLES * shape.components * nd_sample_size (c.type);
}

void
expect_failure (const char *name, const GError *error)
{
  g_assert_error (error, ND_ERROR, ND_ERROR_FAILED);
  if (!is_complete)
    g_error ("%s, call %d: returned before its work was complete: %s", name,
        fails_at, error->message);
}

/* Call @at fails, of those that are checked after reset. Returns whether there
 * is one. @outputs are those of the stream if none fails. */
bool
run (const Case &c, int at, std::vector<guint8> &outputs)
{
  NdAlgorithm *const a = c.algorithm;
  const gsize in_bytes = volume_bytes (c, c.in);
  const gsize out_bytes = volume_bytes (c, c.out);
  guint8 *made = outputs.data ();
  GError *error = nullptr, *again = nullptr;

  nd_algorithm_reset (a);
  fails_at = at;
  n_checked = 0;
  has_failed = false;
  last_stream = nullptr;
  for (int t = 0; t <= VOLUMES; t++) {
    if (t == VOLUMES) {
      nd_algorithm_end (a);
    } else {
      const NdSamples volume =
          nd_samples_dense (const_cast<guint8 *> (c.stream.data ())
                  + t * in_bytes,
              &c.in, c.type);

      nd_algorithm_push (a, &volume, &error);
    }
    while (!error && nd_algorithm_ready (a)) {
      const NdSamples out = nd_samples_dense (made, &c.out, c.type);

      if (nd_algorithm_respond (a, &out, &error))
        made += out_bytes;
    }
    if (!error)
      continue;
    expect_failure (c.name, error);
    const NdSamples volume =
        nd_samples_dense (const_cast<guint8 *> (c.stream.data ()), &c.in,
            c.type);
    const NdSamples out = nd_samples_dense (outputs.data (), &c.out, c.type);

    g_assert_false (nd_algorithm_push (a, &volume, &again));
    g_assert_cmpstr (again->message, ==, error->message);
    g_clear_error (&again);
    g_assert_false (nd_algorithm_respond (a, &out, &again));
    g_assert_cmpstr (again->message, ==, error->message);
    g_clear_error (&again);
    g_clear_error (&error);
    g_assert_true (has_failed);
    return true;
  }
  g_assert_false (has_failed);
  g_assert_true (made == outputs.data () + outputs.size ());
  return false;
}

void
test_case (gconstpointer data)
{
  const Case &c = *static_cast<const Case *> (data);
  std::vector<guint8> clean (VOLUMES * volume_bytes (c, c.out)), got (clean);

  /* The first stream allocates memory. */
  run (c, NONE, clean);
  run (c, NONE, clean);
  const int all = n_checked, calls = g_test_slow () ? all : CALLS;

  g_test_message ("%d calls", all);
  g_assert_cmpint (all, >, VOLUMES);
  for (int i = 0; i < calls; i++) {
    const int call = g_test_slow () ? i : g_test_rand_int_range (0, all);

    g_assert_true (run (c, call, got));
    memset (got.data (), 0, got.size ());
    g_assert_false (run (c, NONE, got));
    if (got != clean)
      g_error ("%s, call %d: other outputs than before", c.name, call);
  }
  nd_algorithm_free (c.algorithm);
}

void
add (const Case &c)
{
  char *const path = g_strconcat ("/failures/", c.name, nullptr);

  g_test_add_data_func_full (path, new Case (c), test_case,
      [] (gpointer data) { delete static_cast<Case *> (data); });
  g_free (path);
}

Case
make_case (const char *name, gsize components, NdSampleType type)
{
  Case c = { name, nullptr, { components, { SIZE[0], SIZE[1], SIZE[2] } }, {},
    type, {} };

  c.out = c.in;
  return c;
}

void
add_denoise (const char *name, NdDenoiseSettings settings)
{
  const NdDenoiseBorders borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 };
  GError *error = nullptr;
  Case c = make_case (name, 2, ND_UINT8);

  settings.strength = 1;
  settings.remap = ND_ADAPTIVE_REMAP;
  /* One component is kept. Dark samples are clipped. */
  c.algorithm = nd_backend_module ()->algorithms->denoise_new (&settings,
      &borders, &c.in, c.type, 2, -1, &error);
  g_assert_no_error (error);
  for (gsize i = 0; i < VOLUMES * volume_bytes (c, c.in); i++)
    c.stream.push_back (CLAMP (g_random_int_range (-40, 60), 0, 255));
  add (c);
}

void
add_structure ()
{
  NdStructureSettings settings = {};
  GError *error = nullptr;
  Case c = make_case ("structure", 10, ND_FLOAT32);

  settings.structures[0] = ND_STRUCTURE_VELOCITY;
  settings.n_structures = 1;
  settings.sigma = 1;
  settings.speed[0] = settings.speed[1] = settings.speed[2] = 1;
  c.out.components = 4;
  c.algorithm = nd_backend_module ()->algorithms->structure_new (&settings,
      &c.in, -1, &error);
  g_assert_no_error (error);
  c.stream.resize (VOLUMES * volume_bytes (c, c.in));
  for (gsize i = 0; i < c.stream.size () / sizeof (float); i++)
    reinterpret_cast<float *> (c.stream.data ())[i] = g_random_double ()
        + (i % 10 == 0 || i % 10 == 4 || i % 10 == 7 || i % 10 == 9);
  add (c);
}

} // namespace

int
main (int argc, char **argv)
{
  GError *error = nullptr;
  NdDenoiseSettings settings = {};

  g_test_init (&argc, &argv, NULL);
  if (!nd_backend_module ()->available (-1, &error)) {
    g_print ("1..0 # SKIP %s\n", error->message);
    /* An unusable device is a failure. */
    return open ("/dev/nvidiactl", O_RDONLY) >= 0 ? 1 : 77;
  }
  settings.latency = 3;
  add_denoise ("transform", settings);
  settings.quality = ND_QUALITY_BEST;
  add_denoise ("best", settings);
  settings.quality = {};
  settings.motion = true;
  add_denoise ("motion", settings);
  settings.motion = false;
  settings.method = ND_DENOISE_ADAPTIVE;
  add_denoise ("adaptive", settings);
  settings.noise = ND_NOISE_SPECKLE;
  add_denoise ("speckle", settings);
  add_structure ();
  return g_test_run ();
}
