/* Adds the responses to listed samples that are not finite
 * (cuda/fft/nonfinite.cuh), in a kernel of its own or at the end of the kernel
 * that lists them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

namespace nd
{

/* The responses of a filter. */
struct NonFiniteResponses
{
  const float *weights; /* [z][y][x], in the order of samples */
  int taps[3];
  int padded[2]; /* x and y of the marked volume */
  int size[3];   /* of the responses */
  unsigned char *out;
  size_t sample, row, slice; /* bytes */
  float gain;
};

template <typename R>
__device__ R *
response_at (const NonFiniteResponses &a, int x, int y, int z)
{
  return (R *) (a.out + x * a.sample + y * a.row + z * a.slice);
}

/* The marks of MARKS_PER_WORD samples from @sample on. */
__device__ inline unsigned
marks_from (const unsigned *marks, size_t sample)
{
  const unsigned *const two = marks + sample / MARKS_PER_WORD;

  return __funnelshift_r (two[0], two[1], sample % MARKS_PER_WORD * 2);
}

/* The marks of MARKS_PER_WORD responses side by side. The sum of +Inf and -Inf
 * is NaN, which has the bits of both, so that OR adds marks. A negative weight
 * exchanges +Inf and -Inf. */
__device__ inline unsigned
marks_under (const NonFiniteResponses &a, const unsigned *marks, int x, int y,
    int z)
{
  constexpr unsigned ALL_PLUS = 0x55555555; /* NON_FINITE_PLUS in each mark */
  const float *weights = a.weights;
  unsigned sum = 0;

  for (int tz = 0; tz < a.taps[2]; tz++) {
    for (int ty = 0; ty < a.taps[1]; ty++, weights += a.taps[0]) {
      const size_t row =
          ((size_t) (z + tz) * a.padded[1] + y + ty) * a.padded[0] + x;
      const size_t last =
          (row + a.taps[0] + MARKS_PER_WORD - 2) / MARKS_PER_WORD;
      unsigned any = 0;

      for (size_t i = row / MARKS_PER_WORD; i <= last; i++)
        any |= marks[i];
      for (int tx = 0; any && tx < a.taps[0]; tx++) {
        const unsigned under = marks_from (marks, row + tx);

        if (weights[tx] > 0)
          sum |= under;
        else if (weights[tx] < 0)
          sum |= (under & ALL_PLUS) << 1 | (under >> 1 & ALL_PLUS);
      }
      if (sum == ~0u)
        return sum;
    }
  }
  return sum;
}

__device__ inline float
value_of (unsigned mark)
{
  if (mark == NON_FINITE_PLUS)
    return INFINITY;
  return mark == NON_FINITE_MINUS ? -INFINITY : NAN;
}

/* The words of marks of all responses. */
__device__ inline size_t
count_words (const NonFiniteResponses &a)
{
  return (size_t) ((a.size[0] + MARKS_PER_WORD - 1) / MARKS_PER_WORD)
      * a.size[1] * a.size[2];
}

/* Adds the marks of responses that belong to words @i to @end - 1 of them. */
template <typename R>
__device__ __noinline__ void
add_marked (const NonFiniteResponses &a, const unsigned *marks, size_t i,
    size_t end, size_t step)
{
  const size_t line = (a.size[0] + MARKS_PER_WORD - 1) / MARKS_PER_WORD;

  for (; i < end; i += step) {
    const int x = i % line * MARKS_PER_WORD, y = i / line % a.size[1];
    const int z = i / line / a.size[1];
    unsigned sum = marks_under (a, marks, x, y, z);

    for (int k = 0; sum && x + k < a.size[0]; k++, sum >>= 2) {
      const unsigned mark = sum & NON_FINITE_NAN;

      if (mark)
        atomicAdd (response_at<R> (a, x + k, y, z),
            (R) (a.gain * value_of (mark)));
    }
  }
}

/* Adds products @i to @end - 1 of the samples in @list and the weights. */
template <typename R>
__device__ __forceinline__ void
add_listed (const NonFiniteResponses &a, const NonFinite *list, size_t i,
    size_t end, size_t step)
{
  const int taps = a.taps[0] * a.taps[1] * a.taps[2];

  for (; i < end; i += step) {
    const NonFinite non_finite = list[i / taps];
    const int tap = i % taps;
    const int x = non_finite.x - tap % a.taps[0];
    const int y = non_finite.y - tap / a.taps[0] % a.taps[1];
    const int z = non_finite.z - tap / a.taps[0] / a.taps[1];
    const float weight = a.weights[tap];

    if (weight != 0 && x >= 0 && x < a.size[0] && y >= 0 && y < a.size[1]
        && z >= 0 && z < a.size[2])
      atomicAdd (response_at<R> (a, x, y, z),
          (R) (a.gain * (weight * non_finite.value)));
  }
}

/* Empties a list and, if it overflowed, its @n words of marks. Called by one
 * thread block. */
__device__ inline void
empty_list (unsigned *count, unsigned *marks, size_t n)
{
  const bool is_marked = *(volatile unsigned *) count > MAX_NON_FINITE;

  __syncthreads ();
  for (size_t i = threadIdx.x; is_marked && i < n / 4; i += blockDim.x)
    ((uint4 *) marks)[i] = uint4{};
  if (threadIdx.x == 0)
    *count = 0;
}

/* The work that is left when a kernel has stored its responses. */
struct NonFiniteWork
{
  NonFiniteList list; /* count is nullptr: nothing is left */
  size_t n_marks;     /* words */
  NonFiniteResponses responses;
  unsigned *blocks, *parts; /* see below; 0 before and after */
};

/* In NonFiniteWork::blocks: thread blocks that have stored their responses,
 * those that help, and whether the work may begin. */
constexpr unsigned NON_FINITE_STORED = 1;
constexpr unsigned NON_FINITE_HELPS = 1 << 12;
constexpr unsigned NON_FINITE_GO = 1 << 24;

/* The part of a thread block in the work. */
enum NonFinitePart : unsigned
{
  HAS_NO_PART,
  GAVE_UP, /* it counts as one that helps, and has waited in vain */
  WORKS,   /* all thread blocks have stored their responses */
};

/* A thread block that helps waits a while until all have stored their
 * responses. It may wait in vain, because others may not have begun. The last
 * one always works. Called by one thread. */
__device__ inline NonFinitePart
join_work (const NonFiniteWork &w)
{
  constexpr long long MOST = 1 << 20; /* clocks */
  const volatile unsigned *const listed = w.list.count;
  const bool any = *listed > 0;
  unsigned before;

  __threadfence ();
  before =
      atomicAdd (w.blocks, NON_FINITE_STORED + (any ? NON_FINITE_HELPS : 0));
  if (before % NON_FINITE_HELPS == gridDim.x - 1) {
    __threadfence ();
    if (*listed == 0) {
      *w.blocks = 0;
      return HAS_NO_PART;
    }
    atomicAdd (w.blocks, NON_FINITE_GO + (any ? 0 : NON_FINITE_HELPS));
    return WORKS;
  }
  if (!any)
    return HAS_NO_PART;
  for (const long long begin = clock64 ();
       *(volatile unsigned *) w.blocks < NON_FINITE_GO;) {
    if (clock64 () - begin > MOST)
      return GAVE_UP;
    __nanosleep (200);
  }
  __threadfence ();
  return WORKS;
}

/* All threads of the thread block work on parts of the work, one after another,
 * with as many threads as possible. compute-sanitizer 13.0 reports races of
 * `shared` after the kernel for wide blocks that loads float32, although there
 * is a barrier between each write and each read. */
__device__ __noinline__ inline void
do_work (const NonFiniteWork &w)
{
  constexpr size_t TURNS = 4; /* of a thread in a part */
  __shared__ unsigned shared;

  __syncthreads ();
  if (threadIdx.x == 0)
    shared = join_work (w);
  __syncthreads ();
  const unsigned joined = shared;

  if (joined == HAS_NO_PART)
    return;

  /* The list does not change any more if the thread block works. */
  const unsigned count = *(volatile unsigned *) w.list.count;
  const NonFiniteResponses &r = w.responses;
  const size_t n = TURNS * blockDim.x;
  const size_t words = count > MAX_NON_FINITE ? count_words (r) : 0;
  const size_t products =
      (size_t) min (count, MAX_NON_FINITE) * r.taps[0] * r.taps[1] * r.taps[2];
  const unsigned word_parts = (words + n - 1) / n;
  const unsigned parts = word_parts + (products + n - 1) / n;

  while (joined == WORKS) {
    __syncthreads ();
    if (threadIdx.x == 0)
      shared = atomicAdd (w.parts, 1u);
    __syncthreads ();
    const unsigned part = shared;

    if (part >= parts)
      break;
    if (part < word_parts)
      add_marked<float> (r, w.list.marks, part * n + threadIdx.x,
          min ((part + 1) * n, words), blockDim.x);
    else
      add_listed<float> (r, w.list.samples,
          (part - word_parts) * n + threadIdx.x,
          min ((part - word_parts + 1) * n, products), blockDim.x);
  }

  __syncthreads ();
  if (threadIdx.x == 0) {
    __threadfence ();
    shared = atomicSub (w.blocks, NON_FINITE_HELPS)
        == NON_FINITE_GO + NON_FINITE_HELPS + gridDim.x;
  }
  __syncthreads ();
  if (!shared)
    return;
  empty_list (w.list.count, w.list.marks, w.n_marks);
  if (threadIdx.x == 0)
    *w.blocks = *w.parts = 0;
}

/* Adds the responses to all samples that the grid has listed, and empties the
 * list. All threads of the grid call this when they have stored their responses
 * and all kernels before it are complete. */
__device__ __forceinline__ void
add_non_finite_responses (const NonFiniteWork &w)
{
  if (w.list.count)
    do_work (w);
}

} // namespace nd
