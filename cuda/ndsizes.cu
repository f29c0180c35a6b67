/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndsizes.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/ndcache.h"
#include "ndcufft.h"
#include "ndtimer.cuh"

namespace nd
{

namespace
{

/* The next size from @n on without prime factors above 7, which cuFFT has
 * kernels for; even ones for x. */
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

/* Of a transform and back; infinite where it does not fit. */
double
seconds_of (const int size[3], cudaStream_t stream)
{
  try {
    const size_t row = size[0] / 2 + 1;
    const size_t n = multiply (multiply (row, size[1]), size[2]);
    Memory<float> samples (multiply (2, n));
    Memory<float2> spectrum (n);
    Transform transform (size, stream);

    return Timer (stream).seconds (4, [&] {
      transform.forward (samples.get (), spectrum.get ());
      transform.inverse (spectrum.get (), samples.get ());
    });
  } catch (const Error &e) {
    if (e.code != ND_ERROR_NO_SPACE)
      throw;
  }
  return INFINITY;
}

} // namespace

/* Axis by axis, the two next larger sizes: more factors of two and fewer
 * passes can be worth more than fewer samples. */
void
choose_sizes (int size[3], cudaStream_t stream)
{
  const std::string device = current_device_name ();
  const std::string key = "transform of " + std::to_string (size[0]) + "x"
      + std::to_string (size[1]) + "x" + std::to_string (size[2]);
  double numbers[3], best;

  if (nd_cache_get (device.c_str (), key.c_str (), numbers, 3)) {
    bool usable = true;

    for (int a = 0; a < 3; a++)
      usable = usable && numbers[a] >= size[a] && numbers[a] < 2 * size[a] + 2
          && numbers[a] == next_smooth (numbers[a], a == 0);
    if (usable) {
      std::copy (numbers, numbers + 3, size);
      return;
    }
  }
  for (int a = 0; a < 3; a++)
    size[a] = next_smooth (size[a], a == 0);
  if (Count::current)
    return;
  best = seconds_of (size, stream);
  for (int a = 0; a < 3; a++) {
    int tried[3] = { size[0], size[1], size[2] };

    for (int i = 0; i < 2 && size[a] > 1; i++) {
      tried[a] = next_smooth (tried[a] + 1, a == 0);
      const double seconds = seconds_of (tried, stream);

      if (seconds < 0.98 * best) {
        best = seconds;
        size[a] = tried[a];
      }
    }
  }
  if (!std::isfinite (best))
    return;
  std::copy (size, size + 3, numbers);
  nd_cache_set (device.c_str (), key.c_str (), numbers, 3);
}

} // namespace nd
