/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/algorithm.h"

#include "cuda/guarded.h"

namespace nd
{

static Algorithm *
cast (NdAlgorithm *algorithm)
{
  return static_cast<Algorithm *> (algorithm);
}

static const Algorithm *
cast (const NdAlgorithm *algorithm)
{
  return static_cast<const Algorithm *> (algorithm);
}

/* Runs @work, which reads or writes memory of the caller. If it fails, waits
 * for copies and kernels that it has enqueued. */
template <typename F>
static gboolean
run (Algorithm *algorithm, GError **error, F work)
{
  return guarded (error, [&] {
    const ScopedContext entered (*algorithm->context);

    if (algorithm->failure)
      std::rethrow_exception (algorithm->failure);
    try {
      work ();
    } catch (...) {
      algorithm->failure = std::current_exception ();
      cudaDeviceSynchronize ();
      cudaGetLastError ();
      throw;
    }
  });
}

static gboolean
cuda_algorithm_push (NdAlgorithm *self, const NdSamples *volume, GError **error)
{
  return run (cast (self), error, [&] { cast (self)->push (*volume); });
}

static gboolean
cuda_algorithm_ready (const NdAlgorithm *self)
{
  return cast (self)->ready ();
}

static gboolean
cuda_algorithm_respond (NdAlgorithm *self, const NdSamples *out, GError **error)
{
  return run (cast (self), error, [&] { cast (self)->respond (out); });
}

static void
cuda_algorithm_end (NdAlgorithm *self)
{
  cast (self)->end ();
}

static void
cuda_algorithm_reset (NdAlgorithm *self)
{
  cast (self)->failure = nullptr;
  cast (self)->reset ();
}

static void
cuda_algorithm_free (NdAlgorithm *self)
{
  const ContextPointer context = cast (self)->context;
  const ScopedContext entered (*context);

  delete cast (self);
  cudaGetLastError ();
}

static gsize
cuda_algorithm_bytes (const NdAlgorithm *self)
{
  return cast (self)->bytes ();
}

static void
cuda_algorithm_set_strength (NdAlgorithm *self,
    const NdDenoiseSettings *settings)
{
  cast (self)->set_strength (*settings);
}

static gdouble
cuda_algorithm_sigma (const NdAlgorithm *self)
{
  return cast (self)->sigma ();
}

static NdAlgorithmClass
make_class ()
{
  NdAlgorithmClass c = {};

  c.backend = "cuda";
  c.push = cuda_algorithm_push;
  c.ready = cuda_algorithm_ready;
  c.respond = cuda_algorithm_respond;
  c.end = cuda_algorithm_end;
  c.reset = cuda_algorithm_reset;
  c.free = cuda_algorithm_free;
  c.bytes = cuda_algorithm_bytes;
  c.set_strength = cuda_algorithm_set_strength;
  c.sigma = cuda_algorithm_sigma;
  return c;
}

Algorithm::Algorithm (ContextPointer context) : context (std::move (context))
{
  static const NdAlgorithmClass algorithm_class = make_class ();

  klass = &algorithm_class;
}

Transfer::Transfer (const NdShape &shape, NdSampleType type)
    : shape (shape), type (type)
{
}

/* Allocated at the first need. */
NdSamples
Transfer::samples ()
{
  NdSamples s = nd_samples_dense (nullptr, &shape, type);

  if (!memory.count ())
    memory = Memory<unsigned char> (multiply (s.slice, shape.size[2]));
  s.data = memory.get ();
  return s;
}

NdSamples
Transfer::bring_in (const Context &context, const NdSamples &volume,
    cudaStream_t stream)
{
  if (context.can_access (volume.data))
    return volume;
  const NdSamples here = samples ();

  copy_volume (here, volume, shape, here.row, stream);
  return here;
}

NdSamples
Transfer::place (const Context &context, const NdSamples &out)
{
  return context.can_access (out.data) ? out : samples ();
}

void
Transfer::send_out (const Context &context, const NdSamples &out,
    cudaStream_t stream)
{
  if (context.can_access (out.data))
    return;
  const NdSamples here = samples ();

  copy_volume (out, here, shape, here.row, stream);
}

/* Logs, and gives the object to the caller. */
static NdAlgorithm *
hand_over (std::unique_ptr<Algorithm> algorithm, const char *name)
{
  ND_INFO ("%s on device %d: %" G_GSIZE_FORMAT " bytes", name,
      algorithm->context->device, algorithm->bytes ());
  return algorithm.release ();
}

static NdAlgorithm *
cuda_denoise_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const NdShape *shape, NdSampleType type,
    guint64 kept, gint device_id, GError **error)
{
  NdAlgorithm *algorithm = nullptr;

  guarded (error, [&] {
    if (nd_denoise_has_step (settings))
      throw Error (ND_ERROR_SETTINGS,
          "nddenoise on the GPU has noise=additive and speckle only: use "
          "backend=cpu or auto");

    const ContextPointer context = Context::get (device_id);
    const ScopedContext entered (*context);

    algorithm = hand_over (make_denoise (*settings, *borders, *shape, type,
                               kept, context),
        "denoising");
  });
  return algorithm;
}

static NdAlgorithm *
cuda_structure_new (const NdStructureSettings *settings, const NdShape *shape,
    gint device_id, GError **error)
{
  NdAlgorithm *algorithm = nullptr;

  guarded (error, [&] {
    const ContextPointer context = Context::get (device_id);
    const ScopedContext entered (*context);

    algorithm =
        hand_over (make_structure (*settings, *shape, context), "structure");
  });
  return algorithm;
}

const NdAlgorithmFuncs algorithm_funcs = { cuda_denoise_new,
  cuda_structure_new };

} // namespace nd
