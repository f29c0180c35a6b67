/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/error.h"

#include "core/log.h"

namespace nd
{

std::atomic<cudaError_t> context_error{ cudaSuccess };

void
check (cudaError_t result, const char *call)
{
  size_t unused, all;

  if (result == cudaSuccess)
    return;
  cudaGetLastError ();
  if (result == cudaErrorMemoryAllocation)
    throw Error (ND_ERROR_MEMORY,
        std::string ("Not enough memory on the GPU: ") + call
            + "; smaller volumes or a shorter filter in time need less, "
              "backend=cpu needs none");
  if (cudaMemGetInfo (&unused, &all) == result) {
    context_error = result;
    ND_WARNING ("lost the GPU in %s: %s", call, cudaGetErrorString (result));
  }
  cudaGetLastError ();
  throw Error (ND_ERROR_FAILED,
      std::string ("The GPU failed: ") + call + ": "
          + cudaGetErrorString (result) + " (" + std::to_string (result)
          + "): set the pipeline to NULL and start it again; if the driver no "
            "longer offers a GPU, backend=auto falls back to the CPU");
}

size_t
multiply (size_t a, size_t b)
{
  size_t product;

  if (!g_size_checked_mul (&product, a, b))
    throw Error (ND_ERROR_MEMORY,
        "Not enough memory on the GPU: the job needs more bytes than any "
        "device has; smaller volumes or a shorter filter in time need less");
  return product;
}

} // namespace nd
