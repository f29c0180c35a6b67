/* Kernels of method `tensor` for sm_90.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/kernel.cuh"

namespace nd
{

template <typename S>
static TensorKernel
kernel ()
{
  TensorKernel k = { tensor_kernel<S, true, false>, S::KY, S::WINDOW, S::UNIT,
    S::COLUMNS, S::PIECES, S::PIECES * S::tile_bytes (S::KY), nullptr };

  if constexpr (S::UNPADDED)
    k.pairs = tensor_kernel<S, true, true>;
  return k;
}

template <int KY, int WINDOW>
static TensorKernel
find (int unit, int columns, int pieces)
{
  switch (100 * unit + 10 * pieces + columns) {
    case 111:
      return kernel<TensorShape<int, KY, WINDOW, 1, 1>> ();
    case 112:
      return kernel<TensorShape<int, KY, WINDOW, 2, 1>> ();
    case 113:
      return kernel<TensorShape<int, KY, WINDOW, 3, 1>> ();
    case 122:
      return kernel<TensorShape<int, KY, WINDOW, 2, 2>> ();
    case 123:
      return kernel<TensorShape<int, KY, WINDOW, 3, 2>> ();
    case 124:
      return kernel<TensorShape<int, KY, WINDOW, 4, 2>> ();
    case 211:
      return kernel<TensorShape<float, KY, WINDOW, 1, 1>> ();
    case 222:
      return kernel<TensorShape<float, KY, WINDOW, 2, 2>> ();
    default:
      return TensorKernel{};
  }
}

template <int WINDOW>
static TensorKernel
find_rows (int ky, int unit, int columns, int pieces)
{
  switch (ky) {
    case 3:
      return find<3, WINDOW> (unit, columns, pieces);
    case 5:
      return find<5, WINDOW> (unit, columns, pieces);
    case 7:
      return find<7, WINDOW> (unit, columns, pieces);
    case 9:
      return find<9, WINDOW> (unit, columns, pieces);
    case 11:
      return find<11, WINDOW> (unit, columns, pieces);
    case 13:
      return find<13, WINDOW> (unit, columns, pieces);
    case 15:
      return find<15, WINDOW> (unit, columns, pieces);
    case 17:
      return find<17, WINDOW> (unit, columns, pieces);
    default:
      return TensorKernel{};
  }
}

TensorKernel
find_wgmma_kernel (int unit, int window, int ky, int columns, int pieces)
{
  return window == 16 ? find_rows<16> (ky, unit, columns, pieces)
                      : find_rows<32> (ky, unit, columns, pieces);
}

} // namespace nd
