/* A volume that is pushed again is copied from the buffer of its upload. That
 * buffer keeps it until the copy is complete, also if the copy is late and the
 * caller is several volumes ahead.
 *
 * The linker passes calls of cudaMemcpyAsync to __wrap_cudaMemcpyAsync. Exit
 * code 77 if there is no GPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/backend.h"

#include <cstdlib>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <vector>

extern "C" const NdBackend *nd_backend_module (void);

namespace
{

constexpr gsize SIZE[3] = { 64, 20, 5 };
constexpr gsize SAMPLES = SIZE[0] * SIZE[1] * SIZE[2];
constexpr gsize BYTES = SAMPLES * sizeof (float);
constexpr int VOLUMES = 40;
constexpr gsize ALL = (VOLUMES * BYTES + 4095) / 4096 * 4096; /* whole pages */
constexpr int EVERY = 4; /* as many volumes as a ring of two has buffers */

int n_late; /* copies on the device */

void CUDART_CB
be_late (void *)
{
  g_usleep (10000);
}

bool
is_on_device (const void *memory)
{
  cudaPointerAttributes attributes;

  return cudaPointerGetAttributes (&attributes, memory) == cudaSuccess
      && attributes.type == cudaMemoryTypeDevice;
}

} // namespace

extern "C" {

cudaError_t __real_cudaMemcpyAsync (void *, const void *, size_t,
    cudaMemcpyKind, cudaStream_t);

cudaError_t
__wrap_cudaMemcpyAsync (void *to, const void *from, size_t bytes,
    cudaMemcpyKind kind, cudaStream_t stream)
{
  if (is_on_device (to) && is_on_device (from)) {
    n_late++;
    g_assert_cmpint (cudaLaunchHostFunc (stream, be_late, nullptr), ==,
        cudaSuccess);
  }
  return __real_cudaMemcpyAsync (to, from, bytes, kind, stream);
}
}

namespace
{

/* Each output is the sum of the last two volumes, of which all samples are
 * equal. */
void
test_method (gconstpointer data)
{
  const NdBackend *const b = nd_backend_module ();
  const NdMethod method = (NdMethod) GPOINTER_TO_INT (data);
  const NdShape shape = { 1, { SIZE[0], SIZE[1], SIZE[2] } };
  const gsize sizes[ND_AXES] = { 1, 1, 1, 2 };
  const NdScale scale = { 1, 0 };
  GPtrArray *const filters = g_ptr_array_new ();
  NdFilter *const f = nd_filter_new ("sum", sizes);
  NdRingOptions options = {};
  NdJob job = {};
  NdTimes times;
  GError *error = nullptr;
  int values[2] = { 0, 0 };
  std::vector<int> sums;
  std::vector<float> got (SAMPLES);

  f->coefficients[0] = f->coefficients[1] = 1;
  g_ptr_array_add (filters, f);
  NdBank *const bank = nd_bank_new (filters);

  g_ptr_array_unref (filters);
  job.shape = shape;
  job.in_type = job.out_type = ND_FLOAT32;
  job.bank = bank;
  options.keep = TRUE;
  NdRing *const ring = b->ring_new (&job, &options, method, -1, &error);

  g_assert_no_error (error);
  float *const volumes = (float *) aligned_alloc (4096, ALL);
  guint8 *const outputs =
      (guint8 *) b->memory->alloc (-1, VOLUMES * BYTES, &error);

  g_assert_no_error (error);
  b->memory->pin (-1, volumes, ALL, &error);
  g_assert_no_error (error);
  for (int i = 0; i < VOLUMES; i++)
    for (gsize k = 0; k < SAMPLES; k++)
      volumes[i * SAMPLES + k] = i * i + 1;
  n_late = 0;
  for (int i = 0; i < VOLUMES; i++) {
    const gint slots[2] = { (i + 1) % 2, i % 2 };
    const NdSamples out =
        nd_samples_dense (outputs + i * BYTES, &shape, ND_FLOAT32);
    NdSamples volume =
        nd_samples_dense (volumes + i * SAMPLES, &shape, ND_FLOAT32);

    values[0] = values[1];
    if (i % EVERY == 2)
      volume = b->kept (ring, (i + 1) % 2);
    else
      values[1] = i * i + 1;
    sums.push_back (values[0] + values[1]);
    b->push (ring, i % 2, &volume, &error);
    g_assert_no_error (error);
    if (i == 0)
      continue;
    b->respond (ring, slots, &scale, &out, &error);
    g_assert_no_error (error);
  }
  NdEvent *const event = b->events->record (ring, &error);

  g_assert_no_error (error);
  b->events->synchronize (event, &times, &error);
  g_assert_no_error (error);
  b->events->destroy (event);
  g_assert_cmpint (n_late, ==, VOLUMES / EVERY);
  for (int i = 1; i < VOLUMES; i++) {
    b->memory->copy (got.data (), outputs + i * BYTES, BYTES, &error);
    g_assert_no_error (error);
    for (gsize k = 0; k < SAMPLES; k++) {
      if (ABS (got[k] - sums[i]) > 1e-3 * sums[i])
        g_error ("output %d, sample %" G_GSIZE_FORMAT ": %g, not %d", i, k,
            got[k], sums[i]);
    }
  }
  b->ring_free (ring);
  b->memory->unpin (volumes);
  b->memory->free (outputs);
  free (volumes);
  nd_bank_free (bank);
}

} // namespace

int
main (int argc, char **argv)
{
  GError *error = nullptr;

  g_test_init (&argc, &argv, NULL);
  if (!nd_backend_module ()->available (-1, &error)) {
    g_print ("1..0 # SKIP %s\n", error->message);
    /* An unusable device is a failure. */
    return open ("/dev/nvidiactl", O_RDONLY) >= 0 ? 1 : 77;
  }
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    const NdMethod method = nd_auto_methods[i];
    char *const path =
        g_strconcat ("/repeats/", nd_method_name (method), nullptr);

    if (method != ND_METHOD_TENSOR)
      g_test_add_data_func (path, GINT_TO_POINTER (method), test_method);
    g_free (path);
  }
  return g_test_run ();
}
