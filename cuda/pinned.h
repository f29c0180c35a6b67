/* Page-locked memory of the host.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"

namespace nd
{

template <typename T>
class Pinned
{
public:
  explicit Pinned (size_t n) { grow (n); }
  Pinned () = default;
  ~Pinned () { cudaFreeHost (data); }
  Pinned (const Pinned &) = delete;

  /* Makes room for @count; the contents are lost if it did not fit. */
  void grow (size_t count)
  {
    if (count <= n)
      return;
    cudaFreeHost (data);
    data = nullptr;
    n = 0;
    ND_CUDA (cudaMallocHost ((void **) &data, multiply (count, sizeof (T))));
    n = count;
  }
  T *get () const { return data; }

private:
  T *data = nullptr;
  size_t n = 0;
};

} // namespace nd
