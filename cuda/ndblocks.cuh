/* The FFT method in overlapping blocks (overlap-save; Karas and Svoboda 2011):
 * a block is transformed, multiplied and transformed back in registers and
 * shared memory, so that device memory is read and written once. For filters
 * that are small beside a block.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndsums.cuh"
#include "ndtransform32.cuh"
#include "ndwild.cuh"

namespace nd
{

constexpr int BLOCK = 32;       /* samples of a block along an axis */
constexpr int PITCH = 33;       /* of shared memory: no bank conflicts */

/* How blocks cover a component of a volume. */
struct Blocks
{
  int shape[3];                 /* of the volume */
  int low[3];                   /* of the filters: a block begins there */
  int padded[3];                /* shape and what filters read around it */
  int valid[3];                 /* outputs of a block along each axis */
  int count[3];
  int border;                   /* NdBorder */
  float border_value;

  /* Planes: no filter reads along z. */
  bool is_flat () const { return valid[2] == 1 && padded[2] == shape[2]; }
};

Blocks make_blocks (const NdJob &job, const NdReach &reach);

/* One component of a volume. */
struct BlockInput
{
  const unsigned char *in;      /* device; nullptr: the border volume */
  size_t sample, row, slice;    /* bytes */
  WildList wild;
};

struct BlockArguments
{
  Blocks blocks;
  BlockInput in;
  float2 *spectra;              /* of slot 0: [group][numbers] */
  size_t spectra_stride;        /* numbers from slot to slot */
  float *levels;                /* of slot 0: [block]; nullptr: none taken */
  size_t levels_stride;
  const float2 *filter;         /* [t][numbers] */
  const double *filter_sums;    /* [t] */
  Store store;
  const float2 *sum;            /* over slots before @first; or nullptr */
  int first;
  int n_slots;
  int slots[MAX_SLOTS];
};

/* Kernels that take BlockArguments. A group of blocks goes together. */
struct BlockKernels
{
  const void *filter;           /* for windows of one volume: all of it */
  const void *push;             /* a volume's spectra and levels */
  const void *respond;          /* a response from those of the window */
  int threads;
  size_t shared;                /* bytes */
  int group;                    /* blocks */
  size_t numbers;               /* of a group's spectrum, and a filter's */
};

BlockKernels block_kernels (NdSampleType type);
BlockKernels plane_kernels (NdSampleType type);

/* Padded coordinates where a block begins. */
struct Corner
{
  int x, y, z;
};

__device__ inline Corner
corner_of (const Blocks &b, int i)
{
  return Corner { i % b.count[0] * b.valid[0],
    i / b.count[0] % b.count[1] * b.valid[1],
    i / b.count[0] / b.count[1] * b.valid[2] };
}

/* What stands at padded @i of an axis: a sample of the volume, BORDER for the
 * border value, NOTHING where no filter reads. */
constexpr int NOTHING = -2;

__device__ inline int
padded_index (const Blocks &b, int axis, int i)
{
  return i >= b.padded[axis] ? NOTHING
      : border_index (b.border, i + b.low[axis], b.shape[axis]);
}

__device__ inline float
beyond (const Blocks &b, int x, int y, int z, float level)
{
  return x == NOTHING || y == NOTHING || z == NOTHING ? level
      : b.border_value;
}

/* A level near the mean of a block of @nz planes, from 32 of its samples and
 * the same in every warp. A transform of small samples has small errors. */
template <typename T> __device__ inline float
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

/* Puts 32 responses that follow each other along y, of which @n are wanted. */
template <typename OUT, bool SCALED, typename F> __device__ __forceinline__
void
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
    if (sizeof (OUT) == 4)
      *to = SCALED ? (OUT) value : (OUT) r;
    else if (sizeof (OUT) == 1)
      *to = SCALED ? saturate (value, 0, 255)
          : (int) rintf (fminf (fmaxf (r, 0), 255));
    else if ((OUT) -1 < (OUT) 0)
      *to = SCALED ? saturate (value, -32768, 32767)
          : (int) rintf (fminf (fmaxf (r, -32768), 32767));
    else
      *to = SCALED ? saturate (value, 0, 65535)
          : (int) rintf (fminf (fmaxf (r, 0), 65535));
  }
}

template <bool SCALED, typename F> __device__ __forceinline__ void
put_scaled (const Store &s, unsigned char *out, int n, float level, F response)
{
  switch (s.type) {
    case ND_UINT8:
      return put_responses<unsigned char, SCALED> (s, out, n, level, response);
    case ND_INT16:
      return put_responses<short, SCALED> (s, out, n, level, response);
    case ND_UINT16:
      return put_responses<unsigned short, SCALED> (s, out, n, level,
          response);
    default:
      return put_responses<float, SCALED> (s, out, n, level, response);
  }
}

/* Stores responses (y) for y from 0 to n - 1, at (x, y0 + y, z). */
template <typename F> __device__ __forceinline__ void
put_column (const Store &s, int x, int y0, int z, int n, float level,
    F response)
{
  unsigned char *const out = s.out + x * s.sample + y0 * s.row + z * s.slice;

  if (s.scaled)
    put_scaled<true> (s, out, n, level, response);
  else
    put_scaled<false> (s, out, n, level, response);
}

/* Two columns along y of a thread's lane, made one of complex numbers: blocks
 * and planes in them. */
struct Columns
{
  Corner at[2];
  int plane[2];
};

/* Whether every sample of the warp's columns lies inside the volume. */
__device__ __forceinline__ bool
is_inside (const Blocks &b, const Columns &c)
{
  bool inside = true;

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int first[3] = { c.at[i].x + b.low[0], c.at[i].y + b.low[1],
      c.at[i].z + b.low[2] + c.plane[i] };

    inside = inside && first[0] >= 0 && first[0] + BLOCK <= b.shape[0]
        && first[1] >= 0 && first[1] + BLOCK <= b.shape[1]
        && first[2] >= 0 && first[2] < b.shape[2];
  }
  return inside;
}

template <typename T> __device__ __forceinline__ void
load_inside (const BlockArguments &a, const Columns &c, float level0,
    float level1, float2 (&v)[BLOCK])
{
  const unsigned char *p[2];

#pragma unroll
  for (int i = 0; i < 2; i++)
    p[i] = a.in.in + (c.at[i].x + a.blocks.low[0] + threadIdx.x % 32)
        * a.in.sample + (c.at[i].y + a.blocks.low[1]) * a.in.row
        + (c.at[i].z + a.blocks.low[2] + c.plane[i]) * a.in.slice;
#pragma unroll
  for (int y = 0; y < BLOCK; y++) {
    v[y] = make_float2 (*(const T *) p[0] - level0,
        *(const T *) p[1] - level1);
    p[0] += a.in.row;
    p[1] += a.in.row;
  }
}

/* SAME: both columns in one block. */
template <typename T, bool SAME> __device__ __forceinline__ void
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

/* Lists the samples of a column that are not finite, and puts the level in
 * their place. Of overlapping blocks the first lists a sample. */
__device__ __noinline__ static void
take_out_wild (const BlockArguments &a, const Corner &at, int plane,
    float (&column)[BLOCK])
{
  const Blocks &b = a.blocks;
  const int lane = threadIdx.x % 32;

  for (int i = 0; i < BLOCK; i++) {
    const int in_block[3] = { lane, i, plane };
    const int begin[3] = { at.x, at.y, at.z };
    bool first = a.in.wild.count;

    if (isfinite (column[i]))
      continue;
    for (int axis = 0; axis < 3; axis++)
      first = first && (in_block[axis] < b.valid[axis]
          || begin[axis] + b.valid[axis] >= b.shape[axis]);
    if (first)
      add_wild (a.in.wild, at.x + lane, at.y + i, at.z + plane, column[i]);
    column[i] = 0;
  }
}

__device__ __forceinline__ void
take_out_wild (const BlockArguments &a, const Columns &c, float2 (&v)[BLOCK])
{
  float column[2][BLOCK];

#pragma unroll
  for (int i = 0; i < BLOCK; i++) {
    column[0][i] = v[i].x;
    column[1][i] = v[i].y;
  }
  take_out_wild (a, c.at[0], c.plane[0], column[0]);
  take_out_wild (a, c.at[1], c.plane[1], column[1]);
#pragma unroll
  for (int i = 0; i < BLOCK; i++)
    v[i] = make_float2 (column[0][i], column[1][i]);
}

/* The lane's columns, transformed along y. A sample that is not finite shows
 * in number 0, the sum of all: then the columns are loaded once more. */
template <typename T, bool SAME> __device__ __forceinline__ void
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
      take_out_wild (a, c, v);
    transform32<false> (v);
    again = sizeof (T) == 4 && !again
        && __any_sync (~0u, !isfinite (v[0].x + v[0].y));
  } while (again);
}

/* Stores the responses that are the block's own, with the level of either
 * column added. */
__device__ __forceinline__ void
store_columns (const BlockArguments &a, const Columns &c, float level0,
    float level1, const float2 (&v)[BLOCK])
{
  const Blocks &b = a.blocks;
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const Corner &at = c.at[i];

    if (lane < min (b.valid[0], b.shape[0] - at.x)
        && c.plane[i] < min (b.valid[2], b.shape[2] - at.z))
      put_column (a.store, at.x + lane, at.y, at.z + c.plane[i],
          min (b.valid[1], b.shape[1] - at.y), i ? level1 : level0,
          [&] (int y) { return i ? v[y].y : v[y].x; });
  }
}

/* A warp's columns, transformed along y, to rows along x, transformed. */
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

/* Whether all filters of the job fit blocks, and NaN can be followed. */
bool blocks_possible (const NdJob &job);
double blocks_cost (const NdJob &job);
MakeMethod make_fft_blocks;

} // namespace nd
