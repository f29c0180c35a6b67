/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/sizes.cuh"

#include "core/log.h"
#include "cuda/device.h"
#include "cuda/fft/cufftlibrary.h"
#include "cuda/memory.h"
#include "cuda/sampletypes.cuh"
#include "cuda/timer.cuh"
#include "engine/autotune.h"

#include <algorithm>
#include <cmath>

namespace nd
{

namespace
{

/* The least size from @n on whose prime factors are at most 7: cuFFT has
 * kernels for these factors. */
int
next_smooth (int n, bool even)
{
  for (int m = std::max (n, even ? 2 : 1);; m++) {
    int left = m;

    for (int p : { 2, 3, 5, 7 })
      while (left % p == 0)
        left /= p;
    if (left == 1 && (!even || m % 2 == 0))
      return m;
  }
}

/* The time of a transform and its inverse; INFINITY if there is too little
 * memory. */
template <typename R>
double
seconds_of (const int size[3], cudaStream_t stream)
{
  try {
    const size_t row = size[0] / 2 + 1;
    const size_t n = multiply (multiply (row, size[1]), size[2]);
    Memory<R> samples (multiply (2, n));
    Memory<Number<R>> spectrum (n);
    Transform<R> transform (size, stream);

    transform.allocate ();

    return Timer (stream).seconds (4, [&] {
      transform.forward (samples.get (), spectrum.get ());
      transform.inverse (spectrum.get (), samples.get ());
    });
  } catch (const Error &e) {
    if (e.code != ND_ERROR_MEMORY)
      throw;
  }
  return INFINITY;
}

template <typename R>
std::string
key_of (const int size[3])
{
  return std::string (is_double<R> ? "float64 " : "") + "transform of "
      + std::to_string (size[0]) + "x" + std::to_string (size[1]) + "x"
      + std::to_string (size[2]);
}

/* Whether stored sizes can be right. The file may be damaged. */
bool
is_usable (const double found[3], const int size[3])
{
  bool usable = true;

  for (int a = 0; a < 3; a++)
    usable = usable && found[a] >= size[a] && found[a] < 2 * size[a] + 2
        && found[a] == next_smooth (found[a], a == 0);
  return usable;
}

/* Replaces @size by the stored size. Returns false if none is stored. */
template <typename R>
bool
recall_sizes (int size[3])
{
  double found[3];

  if (!nd_cache_get (device_name ().c_str (), key_of<R> (size).c_str (), found,
          3)
      || !is_usable (found, size))
    return false;
  std::copy (found, found + 3, size);
  return true;
}

void
smooth_sizes (int size[3])
{
  for (int a = 0; a < 3; a++)
    size[a] = next_smooth (size[a], a == 0);
}

} // namespace

template <typename R>
void
guess_sizes (int size[3])
{
  if (!recall_sizes<R> (size))
    smooth_sizes (size);
}

/* Measures the two next larger sizes of each axis too: more factors of two and
 * fewer passes can save more time than the additional samples take. */
template <typename R>
void
choose_sizes (int size[3], cudaStream_t stream)
{
  const std::string key = key_of<R> (size);

  if (recall_sizes<R> (size))
    return;
  smooth_sizes (size);
  double best = seconds_of<R> (size, stream);

  for (int a = 0; a < 3; a++) {
    int tried[3] = { size[0], size[1], size[2] };

    for (int i = 0; i < 2 && size[a] > 1; i++) {
      tried[a] = next_smooth (tried[a] + 1, a == 0);
      const double seconds = seconds_of<R> (tried, stream);

      ND_DEBUG ("transform of %dx%dx%d takes %.3f ms, best so far %.3f ms",
          tried[0], tried[1], tried[2], 1e3 * seconds, 1e3 * best);
      if (seconds < 0.98 * best) {
        best = seconds;
        size[a] = tried[a];
      }
    }
  }
  if (!std::isfinite (best))
    return;
  const double chosen[3] = { (double) size[0], (double) size[1],
    (double) size[2] };

  nd_cache_set (device_name ().c_str (), key.c_str (), chosen, 3);
}

template void guess_sizes<float> (int size[3]);
template void guess_sizes<double> (int size[3]);
template void choose_sizes<float> (int size[3], cudaStream_t stream);
template void choose_sizes<double> (int size[3], cudaStream_t stream);

} // namespace nd
