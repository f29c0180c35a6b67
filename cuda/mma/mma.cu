/* Kernels of method `tensor` for sm_80 and later, for any number of rows.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/kernel.cuh"

namespace nd
{

template <typename T, int WINDOW, int COLUMNS, int PIECES>
static TensorKernel
kernel (int ky)
{
  using S = TensorShape<T, 0, WINDOW, COLUMNS, PIECES>;

  return TensorKernel{ tensor_kernel<S, false, false>, ky, WINDOW, S::UNIT,
    COLUMNS, PIECES, PIECES * S::tile_bytes (ky), nullptr };
}

template <int WINDOW>
static TensorKernel
find (int unit, int ky, int columns, int pieces)
{
  switch (100 * unit + 10 * pieces + columns) {
    case 111:
      return kernel<int, WINDOW, 1, 1> (ky);
    case 112:
      return kernel<int, WINDOW, 2, 1> (ky);
    case 113:
      return kernel<int, WINDOW, 3, 1> (ky);
    case 122:
      return kernel<int, WINDOW, 2, 2> (ky);
    case 123:
      return kernel<int, WINDOW, 3, 2> (ky);
    case 124:
      return kernel<int, WINDOW, 4, 2> (ky);
    case 211:
      return kernel<float, WINDOW, 1, 1> (ky);
    case 222:
      return kernel<float, WINDOW, 2, 2> (ky);
    default:
      return TensorKernel{};
  }
}

TensorKernel
find_mma_kernel (int unit, int window, int ky, int columns, int pieces)
{
  return window == 16 ? find<16> (unit, ky, columns, pieces)
                      : find<32> (unit, ky, columns, pieces);
}

} // namespace nd
