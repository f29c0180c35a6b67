/* The spectra of filters for planes of 64 x 64 samples: wide and deep blocks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/coefficients.h"

#include <complex>
#include <vector>

namespace nd
{

/* Adds the spectra of @slices slices of @filter to @numbers: for each slice, kx
 * and ky the number (kx, ky), for kx < @n_kx and ky < @n_ky. They contain the
 * scale of the inverse transform. A coefficient that reads offset d has index
 * low - d, so that output i of a block is number i of the inverse transform. */
inline void
add_plane_spectra (std::vector<float2> &numbers, const NdFilter *filter,
    const NdReach &reach, int slices, int n_kx, int n_ky)
{
  constexpr int N = 64;
  const int n_rows = reach.high[1] - reach.low[1] + 1;
  std::complex<double> turns[N]; /* exp (2 pi i k / N) */
  std::vector<std::complex<double>> rows ((size_t) slices * n_rows
      * n_kx); /* [z][y][kx] */

  for (int k = 0; k < N; k++)
    turns[k] = std::polar (1.0, 2 * G_PI * k / N);
  for_each_coefficient (filter, 0, reach, [&] (int x, int y, int z, double w) {
    for (int kx = 0; kx < n_kx; kx++)
      rows[((size_t) z * n_rows + y) * n_kx + kx] +=
          w / (N * N) * turns[kx * x % N];
  });
  for (int z = 0; z < slices; z++) {
    for (int kx = 0; kx < n_kx; kx++) {
      for (int ky = 0; ky < n_ky; ky++) {
        std::complex<double> sum = 0;

        for (int y = 0; y < n_rows; y++)
          sum +=
              rows[((size_t) z * n_rows + y) * n_kx + kx] * turns[ky * y % N];
        numbers.push_back (make_float2 (sum.real (), sum.imag ()));
      }
    }
  }
}

} // namespace nd
