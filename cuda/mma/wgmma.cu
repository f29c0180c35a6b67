/* Kernels of method `tensor` for sm_90, for planes of up to WGMMA_ROWS rows:
 * with more, other methods take less time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/kernel.cuh"

namespace nd
{

template <int KY, int WINDOW, int COLUMNS>
static TensorKernel
kernel ()
{
  using S = TensorShape<KY, WINDOW, COLUMNS>;

  return TensorKernel{ tensor_filter_kernel<S, true, false>, KY, WINDOW,
    COLUMNS, S::tile_bytes (KY), tensor_filter_kernel<S, true, true> };
}

template <int KY, int WINDOW>
static TensorKernel
find_columns (int columns)
{
  switch (columns) {
    case 1:
      return kernel<KY, WINDOW, 1> ();
    case 2:
      return kernel<KY, WINDOW, 2> ();
    case 3:
      return kernel<KY, WINDOW, 3> ();
    default:
      return TensorKernel{};
  }
}

template <int WINDOW>
static TensorKernel
find_rows (int ky, int columns)
{
  switch (ky) {
    case 3:
      return find_columns<3, WINDOW> (columns);
    case 5:
      return find_columns<5, WINDOW> (columns);
    case 7:
      return find_columns<7, WINDOW> (columns);
    case WGMMA_ROWS:
      return find_columns<WGMMA_ROWS, WINDOW> (columns);
    default:
      return find_mma_kernel (WINDOW, ky, columns);
  }
}

TensorKernel
find_wgmma_kernel (int window, int ky, int columns)
{
  return window == 16 ? find_rows<16> (ky, columns)
                      : find_rows<32> (ky, columns);
}

} // namespace nd
