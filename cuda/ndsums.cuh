/* The product spectra of a window that moves: sums over its volumes of the
 * volume's spectrum times the filter's.
 *
 * Such a pass reads every spectrum of the ring, and memory is what it waits
 * for. So the pass for one output also begins the sums of the next ones, as far
 * as the ring holds what they need; each of them is then finished with the few
 * volumes that came since. All sums run from the oldest volume to the newest,
 * so that every output is the same to the last bit whichever way it was made.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <vector>

#include "ndcuda.h"

namespace nd
{

/* Spectra of one filter and one component. */
struct WindowSpectra
{
  const float2 *ring;           /* of slot 0 */
  size_t ring_stride;           /* numbers from slot to slot */
  const void *filter;           /* [t][filter_numbers] of float2, or float */
  size_t filter_numbers;        /* even; a volume's repeat them */
  bool columns;                 /* as ndblocks.cu has them */
  bool real;                    /* the filter's spectra are float */
};

/* Whether number @i of a block's spectrum is two real numbers. */
__host__ __device__ inline bool
holds_two_real (size_t i)
{
  return i / 512 % 16 == 0 && (i % 512 == 480 || i % 512 == 496);
}

/* sum + a * b; @two_real: of either part. */
__device__ __forceinline__ float2
multiply_number (float2 sum, float2 a, float2 b, bool two_real)
{
  if (two_real)
    return make_float2 (fmaf (a.x, b.x, sum.x), fmaf (a.y, b.y, sum.y));
  return make_float2 (fmaf (-a.y, b.y, fmaf (a.x, b.x, sum.x)),
      fmaf (a.y, b.x, fmaf (a.x, b.y, sum.y)));
}

class WindowSums
{
public:
  /* A window is one filter's over one component; volumes have @numbers, an
   * even number. */
  WindowSums (const NdJob &job, const NdReach &reach, size_t numbers,
      cudaStream_t stream);
  size_t bytes () const { return sums.bytes (); }

  void pushed (unsigned slot) { generations[slot]++; }

  /* A sum over slots[0] to slots[first - 1]: the others are to be added. */
  struct Start
  {
    float2 *sum;
    unsigned first;
  };
  Start start (const int *slots, size_t window, const WindowSpectra &spectra);

  /* Adds them. */
  float2 *finish (const int *slots, const Start &start,
      const WindowSpectra &spectra);

private:
  bool goes_on (const int *slots, size_t window, int used) const;
  struct SumArguments arguments_for (const int *slots,
      const WindowSpectra &spectra) const;

  struct Begun
  {
    int used = 0;               /* outputs since */
    std::vector<int> slots;
    std::vector<unsigned> generations;
  };
  const NdReach reach;
  const size_t numbers;
  const cudaStream_t stream;
  const int ahead;              /* sums begun at once */
  Memory<float2> sums;          /* [window][ahead] */
  std::vector<Begun> begun;
  std::vector<unsigned> generations;    /* of each slot: pushes so far */
};

} // namespace nd
