/* Kernels of method `tensor` for sm_90.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndtensorkernel.cuh"

namespace nd
{

template <typename S> static TensorKernel
kernel ()
{
  return TensorKernel { tensor_kernel<S, true>, S::KY, S::WINDOW, S::UNIT,
    S::COLUMNS, S::PIECES, S::PIECES * S::tile_bytes (S::KY) };
}

template <int KY, int WINDOW> static TensorKernel
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
    case 211:
      return kernel<TensorShape<float, KY, WINDOW, 1, 1>> ();
    case 221:
      return kernel<TensorShape<float, KY, WINDOW, 1, 2>> ();
    default:
      return TensorKernel {};
  }
}

TensorKernel
find_wgmma_kernel (int unit, int window, int ky, int columns, int pieces)
{
  switch (window * 100 + ky) {
#define ND_CASE(KY, WINDOW) \
    case WINDOW * 100 + KY: \
      return find<KY, WINDOW> (unit, columns, pieces);
    ND_CASE (3, 16)
    ND_CASE (5, 16)
    ND_CASE (7, 16)
    ND_CASE (9, 16)
    ND_CASE (17, 32)
#undef ND_CASE
    default:
      return TensorKernel {};
  }
}

} // namespace nd
