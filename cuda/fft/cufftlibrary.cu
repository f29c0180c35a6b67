/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/cufftlibrary.h"

#include "cuda/sampletypes.cuh"

#include <dlfcn.h>

namespace nd
{

namespace
{

/* The libraries of CUDA 13, of CUDA 12 and of any other release, in this order.
 * The functions below have the same interface in all of them. */
constexpr const char *names[] = { "libcufft.so.12", "libcufft.so.11",
  "libcufft.so" };

template <typename R>
constexpr cufftType types[2] = { CUFFT_R2C, CUFFT_C2R };
template <>
constexpr cufftType types<double>[2] = { CUFFT_D2Z, CUFFT_Z2D };
template <typename R>
constexpr cufftType complex_type = is_double<R> ? CUFFT_Z2Z : CUFFT_C2C;

struct Cufft
{
  decltype (&cufftCreate) create;
  decltype (&cufftEstimate3d) estimate;
  decltype (&cufftMakePlan3d) make_plan;
  decltype (&cufftSetStream) set_stream;
  decltype (&cufftExecR2C) forward;
  decltype (&cufftExecC2R) inverse;
  decltype (&cufftExecD2Z) double_forward;
  decltype (&cufftExecZ2D) double_inverse;
  decltype (&cufftExecC2C) complex;
  decltype (&cufftExecZ2Z) double_complex;
  decltype (&cufftDestroy) destroy;
};

template <typename F>
void
resolve (void *library, const char *name, F *function)
{
  *function = reinterpret_cast<F> (dlsym (library, name));
  if (!*function)
    throw Error (ND_ERROR_INIT,
        std::string ("cuFFT lacks the function ") + name
            + ": install the cuFFT of CUDA 12 or later");
}

Cufft
open_library ()
{
  void *library = nullptr;
  Cufft cufft;

  for (const char *name : names) {
    if (!library)
      library = dlopen (name, RTLD_NOW | RTLD_LOCAL);
  }
  if (!library)
    throw Error (ND_ERROR_INIT,
        "cuFFT (libcufft.so.12) is not installed in a folder that the loader "
        "searches: install the libraries of the CUDA toolkit, or use "
        "backend=cpu");
  resolve (library, "cufftCreate", &cufft.create);
  resolve (library, "cufftEstimate3d", &cufft.estimate);
  resolve (library, "cufftMakePlan3d", &cufft.make_plan);
  resolve (library, "cufftSetStream", &cufft.set_stream);
  resolve (library, "cufftExecR2C", &cufft.forward);
  resolve (library, "cufftExecC2R", &cufft.inverse);
  resolve (library, "cufftExecD2Z", &cufft.double_forward);
  resolve (library, "cufftExecZ2D", &cufft.double_inverse);
  resolve (library, "cufftExecC2C", &cufft.complex);
  resolve (library, "cufftExecZ2Z", &cufft.double_complex);
  resolve (library, "cufftDestroy", &cufft.destroy);
  return cufft;
}

const Cufft &
library ()
{
  static const Cufft cufft = open_library ();

  return cufft;
}

void
check_cufft (cufftResult result, const char *call)
{
  if (result == CUFFT_SUCCESS)
    return;
  if (result == CUFFT_ALLOC_FAILED)
    throw Error (ND_ERROR_MEMORY,
        std::string ("Not enough memory on the GPU: ") + call
            + "; smaller volumes need less, backend=cpu needs none");
  throw Error (ND_ERROR_FAILED,
      std::string ("cuFFT failed: ") + call + " returned code "
          + std::to_string (result) + ": use backend=cpu or method=direct");
}

/* Makes a plan of @type for @stream. Returns the bytes of its work area. */
size_t
make_plan (cufftHandle *plan, int nx, int ny, int nz, cufftType type,
    cudaStream_t stream)
{
  size_t bytes;

  check_cufft (library ().create (plan), "cufftCreate");
  check_cufft (library ().make_plan (*plan, nz, ny, nx, type, &bytes),
      "cufftMakePlan3d");
  check_cufft (library ().set_stream (*plan, stream), "cufftSetStream");
  return bytes;
}

/* If cuFFT has no estimate, it returns 0; make_plan() fails and says why. */
size_t
estimate (int nx, int ny, int nz, cufftType type)
{
  size_t bytes;

  return library ().estimate (nz, ny, nx, type, &bytes) == CUFFT_SUCCESS ? bytes
                                                                         : 0;
}

void
execute (cufftHandle plan, float2 *numbers, int direction)
{
  check_cufft (library ().complex (plan, numbers, numbers, direction),
      "cufftExecC2C");
}

void
execute (cufftHandle plan, double2 *numbers, int direction)
{
  check_cufft (library ().double_complex (plan, numbers, numbers, direction),
      "cufftExecZ2Z");
}

} // namespace

void
open_cufft ()
{
  library ();
}

template <typename R>
Transform<R>::Transform (const int size[3], cudaStream_t stream)
    : nx (size[0]), ny (size[1]), nz (size[2]), stream (stream)
{
  for (cufftType type : types<R>)
    work += estimate (nx, ny, nz, type);
}

template <typename R>
void
Transform<R>::allocate ()
{
  work = 0;
  for (int i = 0; i < 2; i++)
    work += make_plan (&plans[i].handle, nx, ny, nz, types<R>[i], stream);
}

template <typename R>
Transform<R>::Plan::~Plan ()
{
  if (handle != -1)
    library ().destroy (handle);
}

template <>
void
Transform<float>::forward (float *samples, float2 *spectrum) const
{
  check_cufft (library ().forward (plans[0].handle, samples, spectrum),
      "cufftExecR2C");
}

template <>
void
Transform<float>::inverse (float2 *spectrum, float *samples) const
{
  check_cufft (library ().inverse (plans[1].handle, spectrum, samples),
      "cufftExecC2R");
}

template <>
void
Transform<double>::forward (double *samples, double2 *spectrum) const
{
  check_cufft (library ().double_forward (plans[0].handle, samples, spectrum),
      "cufftExecD2Z");
}

template <>
void
Transform<double>::inverse (double2 *spectrum, double *samples) const
{
  check_cufft (library ().double_inverse (plans[1].handle, spectrum, samples),
      "cufftExecZ2D");
}

template <typename R>
ComplexTransform<R>::ComplexTransform (const int size[3], cudaStream_t stream)
    : nx (size[0]), ny (size[1]), nz (size[2]), stream (stream),
      work (estimate (nx, ny, nz, complex_type<R>))
{
}

template <typename R>
ComplexTransform<R>::~ComplexTransform ()
{
  if (handle != -1)
    library ().destroy (handle);
}

template <typename R>
void
ComplexTransform<R>::allocate ()
{
  work = make_plan (&handle, nx, ny, nz, complex_type<R>, stream);
}

template <typename R>
void
ComplexTransform<R>::forward (Number<R> *numbers) const
{
  execute (handle, numbers, CUFFT_FORWARD);
}

template <typename R>
void
ComplexTransform<R>::inverse (Number<R> *numbers) const
{
  execute (handle, numbers, CUFFT_INVERSE);
}

template class Transform<float>;
template class Transform<double>;
template class ComplexTransform<float>;
template class ComplexTransform<double>;

} // namespace nd
