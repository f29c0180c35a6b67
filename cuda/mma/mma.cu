/* Kernels of method `tensor` for sm_80 and later, for any number of rows.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/kernel.cuh"

namespace nd
{

template <int WINDOW, int COLUMNS>
static TensorKernel
kernel (int ky)
{
  using S = TensorShape<0, WINDOW, COLUMNS>;

  return TensorKernel{ tensor_filter_kernel<S, false, false>, ky, WINDOW,
    COLUMNS, S::tile_bytes (ky), nullptr };
}

template <int WINDOW>
static TensorKernel
find_columns (int ky, int columns)
{
  switch (columns) {
    case 1:
      return kernel<WINDOW, 1> (ky);
    case 2:
      return kernel<WINDOW, 2> (ky);
    case 3:
      return kernel<WINDOW, 3> (ky);
    default:
      return TensorKernel{};
  }
}

TensorKernel
find_mma_kernel (int window, int ky, int columns)
{
  return window == 16 ? find_columns<16> (ky, columns)
                      : find_columns<32> (ky, columns);
}

} // namespace nd
