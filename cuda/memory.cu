/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/memory.h"

namespace nd
{

size_t
free_bytes ()
{
  size_t unused, all;

  ND_CUDA (cudaMemGetInfo (&unused, &all));
  return unused;
}

void
expect_free (size_t bytes)
{
  const size_t unused = free_bytes ();

  if (bytes > unused)
    throw Error (ND_ERROR_MEMORY,
        "Not enough memory on the GPU: " + std::to_string (bytes)
            + " bytes are needed, " + std::to_string (unused)
            + " are free; smaller volumes or a shorter filter in time need "
              "less, and backend=cpu needs none");
}

void *
allocate_zeroed (size_t bytes)
{
  void *data = nullptr;

  if (bytes == 0)
    return nullptr;
  expect_free (bytes);
  check (cudaMalloc (&data, bytes),
      ("cudaMalloc of " + std::to_string (bytes) + " bytes").c_str ());
  ND_CUDA (cudaMemsetAsync (data, 0, bytes, cudaStreamPerThread));
  ND_CUDA (cudaStreamSynchronize (cudaStreamPerThread));
  return data;
}

void
upload (void *to, const void *from, size_t bytes)
{
  ND_CUDA (cudaMemcpyAsync (to, from, bytes, cudaMemcpyHostToDevice,
      cudaStreamPerThread));
  ND_CUDA (cudaStreamSynchronize (cudaStreamPerThread));
}

} // namespace nd
