/* cuFFT, opened at run time: the module loads on machines that lack it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <cufft.h>

#include "ndcuda.h"

namespace nd
{

/* A real transform of size z * y * x (x fastest), both ways; the spectrum has
 * x / 2 + 1 numbers a row. */
class Transform
{
public:
  Transform (const int size[3], cudaStream_t stream);
  Transform (const Transform &) = delete;

  void forward (float *samples, float2 *spectrum) const;

  /* Not scaled; @spectrum is lost. */
  void inverse (float2 *spectrum, float *samples) const;

  size_t bytes () const { return work; }

private:
  struct Plan                   /* the first goes where the second fails */
  {
    cufftHandle handle = -1;
    ~Plan ();
  };

  Plan plans[2];
  size_t work = 0;
};

} // namespace nd
