/* cuFFT. It is opened at run time, so that the module loads on machines that
 * lack it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"
#include "cuda/fft/spectrum.cuh"

#include <cufft.h>

namespace nd
{

/* Forward and inverse transform of size[0] x size[1] x size[2] real samples, x
 * fastest. A row of the spectrum has size[0] / 2 + 1 complex numbers. R is
 * float or double. */
template <typename R>
class Transform
{
public:
  Transform (const int size[3], cudaStream_t stream);
  Transform (const Transform &) = delete;

  /* The bytes of cuFFT's work areas: an estimate before allocate(), exact
   * afterwards. */
  size_t bytes () const { return work; }
  void allocate ();

  void forward (R *samples, Number<R> *spectrum) const;

  /* Transforms @spectrum, which is overwritten, to @samples: the original ones
   * times their count. */
  void inverse (Number<R> *spectrum, R *samples) const;

private:
  /* A plan is also destroyed if making the other one fails. */
  struct Plan
  {
    cufftHandle handle = -1;
    ~Plan ();
  };

  const int nx, ny, nz;
  const cudaStream_t stream;
  Plan plans[2]; /* forward, inverse */
  size_t work = 0;
};

/* Forward and inverse transform of complex numbers in place. */
template <typename R>
class ComplexTransform
{
public:
  ComplexTransform (const int size[3], cudaStream_t stream);
  ComplexTransform (const ComplexTransform &) = delete;
  ~ComplexTransform ();

  /* As those of Transform. */
  size_t bytes () const { return work; }
  void allocate ();

  void forward (Number<R> *numbers) const;
  void inverse (Number<R> *numbers) const;

private:
  const int nx, ny, nz;
  const cudaStream_t stream;
  cufftHandle handle = -1;
  size_t work = 0;
};

} // namespace nd
