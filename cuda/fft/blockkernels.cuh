/* The arguments of the kernels for FFT blocks of 32 samples along each axis,
 * and their loads and stores of samples. `Blocks` also describes wide
 * and deep blocks.
 *
 * The product of the spectra of a block and of a filter is the spectrum of a
 * circular convolution: at the edges of the block, outputs sum samples of the
 * opposite edge. They are not stored. The other outputs are called valid, and
 * blocks overlap so that each output is valid in one of them (overlap-save;
 * Karas and Svoboda 2011). Filters have up to 17 samples along each axis, which
 * leaves at least half of the outputs of a block along an axis. A block is
 * transformed, multiplied and transformed back in registers and shared memory,
 * so that device memory is read and written once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/nonfinite.cuh"
#include "cuda/fft/overlaps.h"
#include "cuda/fft/spectrum.cuh"
#include "cuda/fft/sums.cuh"
#include "cuda/fft/transform32.cuh"

namespace nd
{

constexpr int BLOCK = 32; /* samples of a block along an axis */
constexpr int PITCH = 33; /* of rows in shared memory, without bank conflicts */

/* How blocks cover a component of a volume. */
struct Blocks
{
  int shape[3];   /* of the volume */
  int first[3];   /* the first output */
  int outputs[3]; /* along each axis */
  int low[3];     /* the offset of block 0 from the volume: the lowest that
                   * filters read */
  int padded[3];  /* the samples that the filters read for the outputs */
  int valid[3];   /* outputs of a block along each axis */
  int count[3];
  int border; /* NdBorder */
  float border_value;

  /* Whether blocks have one plane, because no filter reads along z. */
  bool is_flat () const { return valid[2] == 1 && padded[2] == outputs[2]; }
};

/* @size: samples of a block along x and y. */
Blocks make_blocks (const RingJob &job, const NdReach &reach, int size = BLOCK);

/* One component of a volume. */
struct BlockInput
{
  const unsigned char *in;   /* device; nullptr: the border volume */
  size_t sample, row, slice; /* bytes */
  NonFiniteList non_finite;
};

/* How a launch computes the responses of a bank. A unit is the blocks that a
 * thread block computes. Strides are from one filter to the next. */
struct BankArguments
{
  int n_filters;
  int n_units;
  size_t filter_stride, sum_stride; /* numbers */
  size_t response_stride;           /* bytes */
  /* The first @whole thread blocks of BankKernels::filter each compute all
   * responses of a unit. Those of the other units are divided into @parts. */
  int whole, parts, filters_of_part;
  int wave; /* units that BankKernels::respond filters before the next filter */
  const unsigned *only_if; /* BankKernels::filter ends at once if it is 0, or
                            * nullptr */
  unsigned *again; /* becomes 1 if a volume has samples that are not finite; or
                    * nullptr */
};

struct BlockArguments
{
  Blocks blocks;
  BlockInput in;
  float2 *spectra;       /* slot 0: [group][numbers] */
  size_t spectra_stride; /* numbers from slot to slot */
  float *levels;         /* slot 0: [block]; nullptr: none is subtracted, as in
                          * windows of one volume without a ring */
  size_t levels_stride;
  const float2 *filter;      /* [t][numbers] */
  const double *filter_sums; /* [t] */
  Store store;
  const float2 *sum; /* over the slots before @first; or nullptr */
  int first;
  int n_slots;
  int slots[MAX_SLOTS];
  int begin;          /* Begin, of the lean kernel */
  NonFiniteWork work; /* of the lean kernel */
  BankArguments bank; /* @filter, @filter_sums, @store and @sum are those of
                       * filter 0 */
};

/* Kernels that take BlockArguments. They transform a group of blocks
 * together. */
struct BlockKernels
{
  const void *filter;  /* volume to response, for windows of one volume */
  const void *push;    /* volume to spectra and levels */
  const void *respond; /* spectra and levels of the window to response */
  int threads;
  size_t shared;  /* bytes */
  int group;      /* blocks */
  size_t numbers; /* of the spectrum of a group, or of a filter */
};

BlockKernels block_kernels (NdSampleType type);
BlockKernels plane_kernels (NdSampleType type);

/* The same as block_kernels () for aligned volumes (cuda/fft/volumelean.cu). A
 * thread block computes several blocks. */
struct LeanKernels
{
  const void *filter, *push;
  size_t filter_shared, push_shared; /* bytes */
};

LeanKernels lean_kernels (NdSampleType type);

/* Whether a job reads its last volume in place, without a ring. */
bool reads_in_place (const RingJob &job);

/* The kernels of banks, in thread blocks of as many threads. They read the
 * spectra that BlockKernels::push writes. */
struct BankKernels
{
  const void *filter;  /* volume to responses, for windows of one volume */
  const void *respond; /* spectra and levels of the window to responses; uses
                        * BlockKernels::shared */
  size_t shared;       /* bytes, of @filter */
  int resident; /* thread blocks of @filter that a multiprocessor holds */
};

BankKernels block_bank_kernels (NdSampleType type);
BankKernels plane_bank_kernels (NdSampleType type);

/* The first sample of a block, as indices in the padded volume; and its first
 * output, counted from Blocks::first. */
struct Corner
{
  int x, y, z;
};

__device__ inline Corner
corner_of (const Blocks &b, int i)
{
  return Corner{ i % b.count[0] * b.valid[0],
    i / b.count[0] % b.count[1] * b.valid[1],
    i / b.count[0] / b.count[1] * b.valid[2] };
}

/* The index in the volume of the sample at index @i of the padded volume, along
 * an axis; -1 for the border value, or NOTHING if no filter reads there. */
constexpr int NOTHING = -2;

__device__ inline int
padded_index (const Blocks &b, int axis, int i)
{
  return i >= b.padded[axis]
      ? NOTHING
      : border_index (b.border, i + b.low[axis], b.shape[axis]);
}

/* Whether the volume has the sample at index @i of the padded volume, along an
 * axis. Indices that no filter reads count as the last one that they read. */
__device__ __forceinline__ bool
is_in_volume (const Blocks &b, int axis, int i)
{
  const int index = min (i, b.padded[axis] - 1) + b.low[axis];

  return index >= 0 && index < b.shape[axis];
}

__device__ inline float
beyond (const Blocks &b, int x, int y, int z, float level)
{
  return x == NOTHING || y == NOTHING || z == NOTHING ? level : b.border_value;
}

/* A level near the mean of a block of @nz planes, computed from 32 samples. It
 * is the same in all warps. It is subtracted, because errors of transforms grow
 * with the samples. */
template <typename T>
__device__ inline float
block_level (const Blocks &b, const BlockInput &in, Corner at, int nz)
{
  const int lane = threadIdx.x % 32;
  const int x = padded_index (b, 0, at.x + (lane * 11 + 5) % BLOCK);
  const int y = padded_index (b, 1, at.y + (lane * 7 + 3) % BLOCK);
  const int z = padded_index (b, 2, at.z + lane % nz);
  bool counts = in.in && x >= 0 && y >= 0 && z >= 0;
  float value = 0;

  if (counts)
    value = *(const T *) (in.in + x * in.sample + y * in.row + z * in.slice);
  counts = counts && fabsf (value) < 1e30f;
  if (!counts)
    value = 0;
  for (int step = 16; step > 0; step /= 2)
    value += __shfl_xor_sync (~0u, value, step);
  return value / max (__popc (__ballot_sync (~0u, counts)), 1);
}

/* Stores the first @n of 32 responses along y. */
template <typename OUT, bool SCALED, typename F>
__device__ __forceinline__ void
put_responses (const Store &s, unsigned char *out, int n, float level,
    F response)
{
#pragma unroll
  for (int y = 0; y < BLOCK; y++) {
    const float r = response (y) + level;
    const double value = SCALED ? s.gain * r + s.offset : 0;
    OUT *const to = (OUT *) (out + y * s.row);

    if (y >= n)
      break;
    if constexpr (!is_integer<OUT>)
      *to = SCALED ? (OUT) value : (OUT) r;
    else
      *to = SCALED ? saturate (value, lowest<OUT>, highest<OUT>)
                   : (int) rintf (fminf (fmaxf (r, lowest<OUT>), highest<OUT>));
  }
}

template <bool SCALED, typename F>
__device__ __forceinline__ void
put_scaled (const Store &s, unsigned char *out, int n, float level, F response)
{
  visit_sample_type (s.type, [&] (auto sample) {
    put_responses<typename decltype (sample)::Type, SCALED> (s, out, n, level,
        response);
  });
}

/* Stores response (y) at (x, y0 + y, z), for y from 0 to n - 1. */
template <typename F>
__device__ __forceinline__ void
put_column (const Store &s, int x, int y0, int z, int n, float level,
    F response)
{
  unsigned char *const out = s.out + x * s.sample + y0 * s.row + z * s.slice;

  if (s.scaled)
    put_scaled<true> (s, out, n, level, response);
  else
    put_scaled<false> (s, out, n, level, response);
}

/* The two columns along y that a thread computes as one column of complex
 * numbers: the block of each, and the plane in that block. */
struct Columns
{
  Corner at[2];
  int plane[2];
};

/* Whether all samples of the warp's columns are inside the volume. */
__device__ __forceinline__ bool
is_inside (const Blocks &b, const Columns &c)
{
  bool inside = true;

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int first[3] = { c.at[i].x + b.low[0], c.at[i].y + b.low[1],
      c.at[i].z + b.low[2] + c.plane[i] };

    inside = inside && first[0] >= 0 && first[0] + BLOCK <= b.shape[0]
        && first[1] >= 0 && first[1] + BLOCK <= b.shape[1] && first[2] >= 0
        && first[2] < b.shape[2];
  }
  return inside;
}

template <typename T>
__device__ __forceinline__ void
load_inside (const BlockArguments &a, const Columns &c, float level0,
    float level1, float2 (&v)[BLOCK])
{
  const unsigned char *p[2];

#pragma unroll
  for (int i = 0; i < 2; i++)
    p[i] = a.in.in
        + (c.at[i].x + a.blocks.low[0] + threadIdx.x % 32) * a.in.sample
        + (c.at[i].y + a.blocks.low[1]) * a.in.row
        + (c.at[i].z + a.blocks.low[2] + c.plane[i]) * a.in.slice;
#pragma unroll
  for (int y = 0; y < BLOCK; y++) {
    v[y] = make_float2 (*(const T *) p[0] - level0, *(const T *) p[1] - level1);
    p[0] += a.in.row;
    p[1] += a.in.row;
  }
}

/* SAME: both columns are in one block. */
template <typename T, bool SAME>
__device__ __forceinline__ void
load_at_border (const BlockArguments &a, const Columns &c, float level0,
    float level1, float2 (&v)[BLOCK])
{
  const Blocks &b = a.blocks;
  const BlockInput &in = a.in;
  const int lane = threadIdx.x % 32;
  const int x0 = padded_index (b, 0, c.at[0].x + lane);
  const int x1 = SAME ? x0 : padded_index (b, 0, c.at[1].x + lane);
  const int y0 = padded_index (b, 1, c.at[0].y + lane);
  const int y1 = SAME ? y0 : padded_index (b, 1, c.at[1].y + lane);
  const int z0 = padded_index (b, 2, c.at[0].z + c.plane[0]);
  const int z1 = padded_index (b, 2, c.at[1].z + c.plane[1]);
  const bool inside0 = in.in && x0 >= 0 && z0 >= 0;
  const bool inside1 = in.in && x1 >= 0 && z1 >= 0;
  const unsigned char *const p0 = in.in + x0 * in.sample + z0 * in.slice;
  const unsigned char *const p1 = in.in + x1 * in.sample + z1 * in.slice;

#pragma unroll
  for (int i = 0; i < BLOCK; i++) {
    const int yi0 = __shfl_sync (~0u, y0, i);
    const int yi1 = SAME ? yi0 : __shfl_sync (~0u, y1, i);
    const float f0 = inside0 && yi0 >= 0 ? *(const T *) (p0 + yi0 * in.row)
                                         : beyond (b, x0, yi0, z0, level0);
    const float f1 = inside1 && yi1 >= 0 ? *(const T *) (p1 + yi1 * in.row)
                                         : beyond (b, x1, yi1, z1, level1);

    v[i] = make_float2 (f0 - level0, f1 - level1);
  }
}

/* Replaces the samples of a column that are not finite by the level. LISTS:
 * also lists them. Only the last block that contains a sample lists it. */
template <bool LISTS>
__device__ __noinline__ static void
take_out_non_finite (const BlockArguments &a, const Corner &at, int plane,
    float (&column)[BLOCK])
{
  const Blocks &b = a.blocks;
  const int lane = threadIdx.x % 32;

  for (int i = 0; i < BLOCK; i++) {
    const int in_block[3] = { lane, i, plane };
    const int begin[3] = { at.x, at.y, at.z };
    bool last = LISTS && a.in.non_finite.count;

    if (isfinite (column[i]))
      continue;
    for (int axis = 0; axis < 3; axis++)
      last = last
          && (in_block[axis] < b.valid[axis]
              || begin[axis] + b.valid[axis] >= b.outputs[axis]);
    if (last)
      add_non_finite (a.in.non_finite, b.first[0] + at.x + lane,
          b.first[1] + at.y + i, b.first[2] + at.z + plane, column[i]);
    column[i] = 0;
  }
}

template <bool LISTS>
__device__ __forceinline__ void
take_out_non_finite (const BlockArguments &a, const Columns &c,
    float2 (&v)[BLOCK])
{
  float column[2][BLOCK];

#pragma unroll
  for (int i = 0; i < BLOCK; i++) {
    column[0][i] = v[i].x;
    column[1][i] = v[i].y;
  }
  take_out_non_finite<LISTS> (a, c.at[0], c.plane[0], column[0]);
  take_out_non_finite<LISTS> (a, c.at[1], c.plane[1], column[1]);
#pragma unroll
  for (int i = 0; i < BLOCK; i++)
    v[i] = make_float2 (column[0][i], column[1][i]);
}

/* Loads a thread's columns and transforms them along y. Number 0 of the result
 * is the sum of all samples. If it is not finite, the columns are loaded again
 * without the samples that are not finite. */
template <typename T, bool SAME>
__device__ __forceinline__ void
transform_columns (const BlockArguments &a, const Columns &c, float level0,
    float level1, float2 (&v)[BLOCK])
{
  const bool inside = a.in.in && is_inside (a.blocks, c);
  bool again = false;

#pragma unroll 1
  do {
    if (inside)
      load_inside<T> (a, c, level0, level1, v);
    else
      load_at_border<T, SAME> (a, c, level0, level1, v);
    if (again)
      take_out_non_finite<true> (a, c, v);
    transform32<false> (v);
    again = sizeof (T) == 4 && !again
        && __any_sync (~0u, !isfinite (v[0].x + v[0].y));
  } while (again);
}

/* Stores the valid responses of the block, with the level of each column
 * added. */
__device__ __forceinline__ void
store_columns (const BlockArguments &a, const Columns &c, float level0,
    float level1, const float2 (&v)[BLOCK])
{
  const Blocks &b = a.blocks;
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const Corner &at = c.at[i];

    if (lane < min (b.valid[0], b.outputs[0] - at.x)
        && c.plane[i] < min (b.valid[2], b.outputs[2] - at.z))
      put_column (a.store, at.x + lane, at.y, at.z + c.plane[i],
          min (b.valid[1], b.outputs[1] - at.y), i ? level1 : level0,
          [&] (int y) { return i ? v[y].y : v[y].x; });
  }
}

/* Exchanges the columns of a warp's threads for rows, and transforms these
 * along x. @plane: shared memory of the warp. */
__device__ __forceinline__ void
transform_plane (float2 *plane, float2 (&v)[BLOCK])
{
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int y = 0; y < BLOCK; y++)
    plane[y * PITCH + lane] = v[y];
  __syncwarp ();
#pragma unroll
  for (int x = 0; x < BLOCK; x++)
    v[x] = plane[lane * PITCH + x];
  transform32<false> (v);
}

/* The inverse of transform_plane () and of the transform along y. */
__device__ __forceinline__ void
restore_plane (float2 *plane, float2 (&v)[BLOCK])
{
  const int lane = threadIdx.x % 32;

  transform32<true> (v);
#pragma unroll
  for (int x = 0; x < BLOCK; x++)
    plane[lane * PITCH + x] = v[x];
  __syncwarp ();
#pragma unroll
  for (int y = 0; y < BLOCK; y++)
    v[y] = plane[y * PITCH + lane];
  transform32<true> (v);
}

} // namespace nd
