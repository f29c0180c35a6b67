/* Why this shape: an SM does 128 multiply-adds a clock but reads 32 words of
 * shared memory. A thread computes four outputs side by side (one LDS.128 feeds
 * them) in several rows and for several filters, so that each word it loads is
 * used many times; coefficients are read as broadcasts, four at a time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndstencil.cuh"

#include <cstring>
#include <cuda_pipeline.h>

namespace nd
{

constexpr int THREADS = 128;

__host__ __device__ constexpr int
round_up (int n, int step)
{
  return (n + step - 1) / step * step;
}

struct Arguments
{
  const float *volumes;
  size_t volume_floats;
  int slots[MAX_SLOTS];
  const Plane *planes;
  int n_planes;
  int max_ny;
  const float *weights;
  size_t row, slice;
  int size[3];
  Store stores[MAX_FILTERS];
};

/* Adds row @i of the tile to the sums of ROWS rows. @tile is the thread's first
 * sample; CHECK where a row may lie outside the box of @ny rows of KX
 * coefficients. */
template <int KX, int ROWS, int FILTERS, bool SKIP, bool CHECK>
__device__ __forceinline__ void
add_row (float (&sum)[FILTERS][ROWS][4], const float *tile, const float *w,
    int ny, int i)
{
  constexpr int SPAN = round_up (KX + 3, 4), PITCH = round_up (KX, 4);
  float v[SPAN];

#pragma unroll
  for (int x = 0; x < SPAN; x += 4) {
    const float4 four = *(const float4 *) (tile + x);

    v[x] = four.x;
    v[x + 1] = four.y;
    v[x + 2] = four.z;
    v[x + 3] = four.w;
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const int k = i - r;

    if (CHECK && (k < 0 || k >= ny))
      continue;
#pragma unroll
    for (int f = 0; f < FILTERS; f++) {
      const float *wk = w + (f * ny + k) * PITCH;
      float c[PITCH];

#pragma unroll
      for (int x = 0; x < PITCH; x += 4) {
        const float4 four = *(const float4 *) (wk + x);

        c[x] = four.x;
        c[x + 1] = four.y;
        c[x + 2] = four.z;
        c[x + 3] = four.w;
      }
#pragma unroll
      for (int x = 0; x < KX; x++) {
        if (SKIP && c[x] == 0)
          continue;
#pragma unroll
        for (int j = 0; j < 4; j++)
          sum[f][r][j] = fmaf (c[x], v[x + j], sum[f][r][j]);
      }
    }
  }
}

/* KY 0: any number of rows. A known one is unrolled, and the compiler keeps a
 * plane's weights in registers: 7 x 7 x 7 goes from 15 to 22 TMAC/s. */
template <int KX, int KY, int ROWS, int FILTERS, bool SKIP>
__device__ __forceinline__ void
add_plane (float (&sum)[FILTERS][ROWS][4], const float *tile, int pitch,
    const float *w, int ny)
{
  if (KY > 0) {
#pragma unroll
    for (int i = 0; i < KY + ROWS - 1; i++)
      add_row<KX, ROWS, FILTERS, SKIP, true> (sum, tile + i * pitch, w, KY, i);
    return;
  }
  const int head = min (ROWS - 1, ny + ROWS - 1);
  int i = 0;

#pragma unroll 1
  for (; i < head; i++)
    add_row<KX, ROWS, FILTERS, SKIP, true> (sum, tile + i * pitch, w, ny, i);
#pragma unroll 1
  for (; i < ny; i++)
    add_row<KX, ROWS, FILTERS, SKIP, false> (sum, tile + i * pitch, w, ny, i);
#pragma unroll 1
  for (; i < ny + ROWS - 1; i++)
    add_row<KX, ROWS, FILTERS, SKIP, true> (sum, tile + i * pitch, w, ny, i);
}

/* What a kernel is compiled for. */
template <int KX_, int KY_, int NARROW_, int ROWS_, int FILTERS_, bool SKIP_,
    int ACROSS_>
struct Shape
{
  static constexpr int KX = KX_;        /* columns of a plane */
  static constexpr int KY = KY_;        /* rows; 0: any number */
  static constexpr int NARROW = NARROW_;        /* columns of some; 0: none */
  static constexpr int ROWS = ROWS_;    /* of outputs, of a thread */
  static constexpr int FILTERS = FILTERS_;
  static constexpr bool SKIP = SKIP_;   /* zeros are not multiplied */
  static constexpr int ACROSS = ACROSS_;        /* threads side by side */

  static constexpr int WIDTH = 4 * ACROSS;
  static constexpr int HEIGHT = THREADS / ACROSS * ROWS;
  static constexpr int PITCH = WIDTH + round_up (KX - 1, 4);
  static constexpr int WEIGHTS = round_up (KX, 4);
};

/* Planes go through two stages of shared memory: one is copied while the other
 * is used. */
template <typename S> __global__ void __launch_bounds__ (THREADS)
stencil_kernel (const __grid_constant__ Arguments a)
{
  extern __shared__ float4 shared[];
  const int tile_floats = (S::HEIGHT + a.max_ny - 1) * S::PITCH;
  const int stage_floats = tile_floats + S::FILTERS * a.max_ny * S::WEIGHTS;
  float *const stages = (float *) shared;
  const int tx = threadIdx.x % S::ACROSS, ty = threadIdx.x / S::ACROSS;
  const int x0 = blockIdx.x * S::WIDTH, y0 = blockIdx.y * S::HEIGHT;

  const auto copy = [&] (int p, int z) {
    const Plane plane = a.planes[p];
    const float *from = a.volumes + a.slots[plane.slot] * a.volume_floats
        + (z + plane.z) * a.slice + (size_t) (y0 + plane.y) * a.row
        + x0 + plane.x;
    float *const tile = stages + (p & 1) * stage_floats;
    const int rows = S::HEIGHT + plane.ny - 1;
    const int pitch = plane.narrow ? round_up (S::NARROW, 4) : S::WEIGHTS;

    for (int i = threadIdx.x; i < rows * (S::PITCH / 4); i += THREADS) {
      const int y = i / (S::PITCH / 4), x = i % (S::PITCH / 4) * 4;

      __pipeline_memcpy_async (tile + y * S::PITCH + x, from + y * a.row + x,
          16);
    }
    for (int i = threadIdx.x * 4; i < S::FILTERS * plane.ny * pitch;
        i += THREADS * 4)
      __pipeline_memcpy_async (tile + tile_floats + i,
          a.weights + plane.weights + i, 16);
  };

  for (int z = blockIdx.z; z < a.size[2]; z += gridDim.z) {
    float sum[S::FILTERS][S::ROWS][4] = {};

    if (a.n_planes > 0)
      copy (0, z);
    __pipeline_commit ();
    for (int p = 0; p < a.n_planes; p++) {
      const float *const stage = stages + (p & 1) * stage_floats;
      const float *const tile = stage + ty * S::ROWS * S::PITCH + tx * 4;
      const float *const w = stage + tile_floats;
      const int ny = a.planes[p].ny;

      if (p + 1 < a.n_planes)
        copy (p + 1, z);
      __pipeline_commit ();
      __pipeline_wait_prior (1);
      __syncthreads ();
      if (S::NARROW > 0 && a.planes[p].narrow)
        add_plane<S::NARROW ? S::NARROW : 1, 0, S::ROWS, S::FILTERS,
            S::SKIP> (sum, tile, S::PITCH, w, ny);
      else
        add_plane<S::KX, S::KY, S::ROWS, S::FILTERS, S::SKIP> (sum, tile,
            S::PITCH, w, ny);
      __syncthreads ();
    }
    const int x = x0 + tx * 4;

#pragma unroll
    for (int r = 0; r < S::ROWS; r++) {
      const int y = y0 + ty * S::ROWS + r;

      if (x >= a.size[0] || y >= a.size[1])
        continue;
#pragma unroll
      for (int f = 0; f < S::FILTERS; f++)
        store_four (a.stores[f], sum[f][r], a.size[0] - x, x, y, z);
    }
  }
}

template <typename S> static void
launch (const Arguments &a, cudaStream_t stream)
{
  const size_t bytes = 2 * sizeof (float) * ((S::HEIGHT + a.max_ny - 1)
      * S::PITCH + S::FILTERS * a.max_ny * S::WEIGHTS);
  const dim3 blocks ((a.size[0] + S::WIDTH - 1) / S::WIDTH,
      (a.size[1] + S::HEIGHT - 1) / S::HEIGHT,
      a.size[2] < 65535 ? a.size[2] : 65535);

  if (bytes > 48 << 10)
    ND_CUDA (cudaFuncSetAttribute (stencil_kernel<S>,
        cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  stencil_kernel<S><<<blocks, THREADS, bytes, stream>>> (a);
  ND_CUDA_LAUNCHED (stencil_kernel);
}

/* Narrow volumes would leave half of a wide block without work. */
template <int KX, int KY, int ROWS> static void
launch_single (const Arguments &a, cudaStream_t stream)
{
  if (a.size[0] > 64)
    launch<Shape<KX, KY, 0, ROWS, 1, false, 32>> (a, stream);
  else
    launch<Shape<KX, KY, 0, ROWS, 1, false, 16>> (a, stream);
}

/* Rows and filters share the registers. */
template <int KX> static void
launch_common (unsigned filters, const Arguments &a, cudaStream_t stream)
{
  if (filters == 12)
    launch<Shape<KX, 0, 0, 2, 12, false, 32>> (a, stream);
  else if (filters == 4)
    launch<Shape<KX, 0, 0, 4, 4, false, 32>> (a, stream);
  else if (KX <= 9 && a.max_ny == KX)
    launch_single<KX, KX <= 9 ? KX : 0, 8> (a, stream);
  else
    launch_single<KX, 0, 4> (a, stream);
}

template <int NARROW> static void
launch_general (bool skip, const Arguments &a, cudaStream_t stream)
{
  if (skip)
    launch<Shape<8, 0, NARROW, 4, 1, true, 32>> (a, stream);
  else
    launch<Shape<8, 0, NARROW, 4, 1, false, 32>> (a, stream);
}

static void
dispatch (int wide, int narrow, bool skip, unsigned filters,
    const Arguments &a, cudaStream_t stream)
{
  if (narrow < 0) {
    switch (wide) {
      case 3:
        return launch_common<3> (filters, a, stream);
      case 5:
        return launch_common<5> (filters, a, stream);
      case 7:
        return launch_common<7> (filters, a, stream);
      case 9:
        return launch_common<9> (filters, a, stream);
      case 11:
        return launch_common<11> (filters, a, stream);
      case 13:
        return launch_common<13> (filters, a, stream);
      case 15:
        return launch_common<15> (filters, a, stream);
      case 17:
        return launch_common<17> (filters, a, stream);
    }
  }
  switch (narrow) {
    case 0:
      return launch_general<0> (skip, a, stream);
    case 1:
      return launch_general<1> (skip, a, stream);
    case 2:
      return launch_general<2> (skip, a, stream);
    case 3:
      return launch_general<3> (skip, a, stream);
    case 4:
      return launch_general<4> (skip, a, stream);
    case 5:
      return launch_general<5> (skip, a, stream);
    case 6:
      return launch_general<6> (skip, a, stream);
    case 7:
      return launch_general<7> (skip, a, stream);
  }
  throw Error (ND_ERROR_FAILED, "no kernel for filters of that width");
}

Strides
make_strides (const size_t size[3], size_t width, size_t height)
{
  Strides s;
  /* Tiles are up to 128 x 64 outputs, and begin at their multiples. */
  const size_t more_x = size[0] - width, more_y = size[1] - height;
  const size_t tiles_x = (width + 127) / 128 * 128;

  s.row = (tiles_x + more_x + 32 + 31) / 32 * 32;
  s.slice = multiply (s.row, size[1]);
  s.volume = multiply (s.slice, size[2])
      + multiply (s.row, 64 + more_y + 1);
  return s;
}

static bool
is_common (size_t width)
{
  return width >= 3 && width <= 17 && width % 2 == 1;
}

/* The coefficient of @f that reads offset @at, 0 where it has none. */
static double
coefficient (const NdFilter *f, const int at[ND_AXES])
{
  int low[ND_AXES], high[ND_AXES];
  size_t i = 0;

  nd_filter_reach (f, low, high);
  for (int axis = ND_AXES - 1; axis >= 0; axis--) {
    if (at[axis] < low[axis] || at[axis] > high[axis])
      return 0;
    i = i * f->size[axis] + (high[axis] - at[axis]);
  }
  return f->coefficients[i];
}

bool
Stencil::fit_together (const std::vector<const NdFilter *> &filters,
    bool finite)
{
  const NdFilter *first = filters[0];

  for (const NdFilter *f : filters) {
    if (memcmp (f->size, first->size, sizeof (f->size)) != 0
        || memcmp (f->origin, first->origin, sizeof (f->origin)) != 0)
      return false;
    for (size_t i = 0; !finite && i < nd_filter_count (f); i++) {
      if (f->coefficients[i] == 0)
        return false;
    }
  }
  return is_common (first->size[0]);
}

Stencil::Stencil (const std::vector<const NdFilter *> &bank,
    const int low[ND_AXES], const int high[ND_AXES], bool finite,
    const int from[ND_AXES])
  : filters (bank.size ()), max_ny (high[1] - low[1] + 1),
    first_slot (low[3] - from[3]), n_slots (high[3] - low[3] + 1)
{
  const int nx = high[0] - low[0] + 1, ny = max_ny;
  std::vector<Plane> made;
  std::vector<float> values;
  bool zeros = false;

  if (n_slots > (int) MAX_SLOTS)
    throw Error (ND_ERROR_SETTINGS, "The direct method on the GPU takes "
        "windows of up to 256 volumes: use method=fft or backend=cpu");
  for (const NdFilter *f : bank)
    for (size_t i = 0; i < nd_filter_count (f); i++)
      zeros |= f->coefficients[i] == 0;
  for (const NdFilter *f : bank)
    zeros |= f->size[0] != (size_t) nx || f->size[1] != (size_t) ny;
  skip_zeros = zeros && !finite;
  if (is_common (nx) && !skip_zeros) {
    wide = nx;
    narrow = -1;
  } else {
    wide = 8;
    narrow = nx % 8;
  }

  for (int t = low[3]; t <= high[3]; t++) {
    for (int z = low[2]; z <= high[2]; z++) {
      for (int x = 0; x < nx; x += wide) {
        const bool is_narrow = nx - x < wide;
        const int width = is_narrow ? narrow : wide;
        const int pitch = round_up (width, 4);
        Plane plane = { t - low[3], z - from[2], low[1] - from[1],
          low[0] - from[0] + x, ny, is_narrow,
          (unsigned) values.size () };
        bool any = false;

        for (const NdFilter *f : bank) {
          for (int y = 0; y < ny; y++) {
            for (int i = 0; i < pitch; i++) {
              const int at[ND_AXES] = { low[0] + x + i, low[1] + y, z, t };
              const double w = i < width ? coefficient (f, at) : 0;

              any |= w != 0;
              values.push_back (w);
            }
          }
        }
        if (any)
          made.push_back (plane);
        else
          values.resize (plane.weights);
      }
    }
  }
  planes = Memory<Plane> (made.size ());
  planes.upload (made.data (), made.size ());
  weights = Memory<float> (values.size () + 4);
  weights.upload (values.data (), values.size ());
}

void
Stencil::run (const float *volumes, const int *slots, size_t volume_floats,
    const Strides &strides, const size_t size[3], const Store *stores,
    cudaStream_t stream) const
{
  Arguments a = {};

  a.volumes = volumes;
  a.volume_floats = volume_floats;
  memcpy (a.slots, slots + first_slot, n_slots * sizeof (int));
  a.planes = planes.get ();
  a.n_planes = planes.count ();
  a.max_ny = max_ny;
  a.weights = weights.get ();
  a.row = strides.row;
  a.slice = strides.slice;
  for (int axis = 0; axis < 3; axis++)
    a.size[axis] = size[axis];
  for (unsigned f = 0; f < filters; f++)
    a.stores[f] = stores[f];
  dispatch (wide, narrow, skip_zeros, filters, a, stream);
}

} // namespace nd
