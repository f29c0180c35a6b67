/* Local structure and velocity on the device: cpu/structurestream.c with
 * volumes on the device. The measures of a sample are the same functions in
 * double precision (analysis/structureinline.h).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/algorithm.h"

#include "cuda/analysis/velocity.cuh"
#include "cuda/analysis/window.cuh"
#include "cuda/launch.cuh"

#include <algorithm>
#include <type_traits>

namespace nd
{

namespace
{

constexpr int MAX_SLOTS_IN_TIME = 2 * ND_STRUCTURE_MAX_TIME_REACH + 1;
constexpr int THREADS = 256;

unsigned
count_blocks (size_t n)
{
  return (unsigned) std::max<size_t> (1,
      std::min<size_t> ((n + THREADS - 1) / THREADS, 1 << 16));
}

#define FOR_EACH(i, n)                                                  \
  for (size_t i = (size_t) blockIdx.x * THREADS + threadIdx.x; i < (n); \
       i += (size_t) gridDim.x * THREADS)

/* Sums in time */

/* Sums of this and later outputs that are begun together, so that the volumes
 * of the ring are read once for all of them. */
constexpr int BEGUN = 4;
/* With fewer volumes in the window the sums are not begun ahead. */
constexpr int LEAST_SLOTS = 7;

struct Begin
{
  size_t samples; /* of all channels */
  int n_slots;
  const float *slots[MAX_SLOTS_IN_TIME];
  float weights[MAX_SLOTS_IN_TIME];
  float *out; /* BEGUN sums */
};

/* Volume s of this output is volume s - g of the output after g more. A thread
 * sums WIDTH samples that are side by side. */
template <int WIDTH>
__global__ void __launch_bounds__ (THREADS)
structure_begin_kernel (const __grid_constant__ Begin a)
{
  using Samples = std::conditional_t<WIDTH == 4, float4, float>;

  FOR_EACH (i, a.samples / WIDTH)
  {
    float sums[BEGUN][WIDTH] = {};

#pragma unroll 4
    for (int s = 0; s < a.n_slots; s++) {
      const Samples samples = __ldcs ((const Samples *) a.slots[s] + i);
      const float *const v = (const float *) &samples;

#pragma unroll
      for (int g = 0; g < BEGUN; g++) {
#pragma unroll
        for (int k = 0; k < WIDTH; k++) {
          if (s >= g)
            sums[g][k] = fmaf (a.weights[s - g], v[k], sums[g][k]);
        }
      }
    }
#pragma unroll
    for (int g = 0; g < BEGUN; g++) {
      Samples samples;

#pragma unroll
      for (int k = 0; k < WIDTH; k++)
        ((float *) &samples)[k] = sums[g][k];
      ((Samples *) (a.out + g * a.samples))[i] = samples;
    }
  }
}

/* Outputs */

struct Respond
{
  NdStructureSettings settings;
  const NdMotionPlan *plan; /* on the device; read for the affine model only */
  size_t samples, width, height;
  int n_channels, n_slots;
  bool has_isotropic; /* the last channel */
  /* A sum that was begun, and volumes; n_channels planes each. */
  const float *slots[MAX_SLOTS_IN_TIME];
  float weights[MAX_SLOTS_IN_TIME];
  unsigned char *data;
  size_t sample, row, slice;
  bool dense;   /* no bytes between samples, rows and slices */
  bool aligned; /* samples begin at multiples of 16 bytes */
};

/* The measures that a kernel can give: the velocity alone, all with a constant
 * velocity, all with the affine model. */
enum Measures
{
  VELOCITY,
  CONSTANT,
  AFFINE
};

/* Divisions take a noticeable part of the time. */
__device__ __forceinline__ float *
find_output (const Respond &a, size_t i)
{
  return (float *) (a.data
      + (a.dense ? i * a.sample
                 : i % a.width * a.sample + i / a.width % a.height * a.row
                  + i / a.width / a.height * a.slice));
}

/* Sums in time of the first N of @n channels. */
template <int N>
__device__ __forceinline__ void
sum_in_time (const Respond &a, size_t i, int n, float (&sums)[N])
{
#pragma unroll
  for (int c = 0; c < N; c++)
    sums[c] = 0;
#pragma unroll(N == MAX_CHANNELS ? 1 : 2)
  for (int s = 0; s < a.n_slots; s++) {
    const float *const from = a.slots[s] + i;

#pragma unroll
    for (int c = 0; c < N; c++) {
      if (c < n)
        sums[c] = fmaf (a.weights[s], from[c * a.samples], sums[c]);
    }
  }
}

template <int AXES>
__device__ __forceinline__ void
write_velocity (const Respond &a, size_t i, const double *values)
{
  float *const out = find_output (a, i);
  float rounded[AXES];

#pragma unroll
  for (int k = 0; k < AXES; k++)
    rounded[k] =
        (float) (k + 1 < AXES ? values[k] * a.settings.speed[k] : values[k]);
  if (AXES == 4 && a.aligned) {
    *(float4 *) out =
        make_float4 (rounded[0], rounded[1], rounded[2], rounded[3]);
  } else {
#pragma unroll
    for (int k = 0; k < AXES; k++)
      out[k] = rounded[k];
  }
}

/* Not inlined, because few tensors need it, and its registers would limit all
 * threads. */
template <int AXES>
__device__ __noinline__ void
respond_slowly (const Respond &a, size_t i)
{
  float sums[AXES * (AXES + 1) / 2];
  double values[AXES];

  sum_in_time (a, i, AXES * (AXES + 1) / 2, sums);
  solve_constant<AXES> (sums, values);
  write_velocity<AXES> (a, i, values);
}

template <int AXES, Measures MEASURES>
__device__ __forceinline__ void
write_measures (const Respond &a, const float *sums, int n_channels, float *out)
{
  constexpr int COMPONENTS = AXES * (AXES + 1) / 2;
  constexpr int CHANNELS = MEASURES == AFFINE ? MAX_CHANNELS : COMPONENTS + 1;
  double exact[CHANNELS], tensor[COMPONENTS];
  double values[ND_TENSOR_MAX_COMPONENTS];

#pragma unroll
  for (int c = 0; c < CHANNELS; c++)
    exact[c] = sums[c];
  const double isotropic = a.has_isotropic ? exact[n_channels - 1] : 0;

#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    tensor[c] = exact[c];
#pragma unroll
  for (int k = 0; k < AXES; k++)
    tensor[nd_inline_tensor_index (AXES, k, k)] += isotropic;
  for (unsigned s = 0; s < a.settings.n_structures; s++) {
    const NdStructure structure = a.settings.structures[s];
    const int n = nd_inline_structure_components (structure, AXES);

    if (structure == ND_STRUCTURE_VELOCITY) {
      if (MEASURES == AFFINE)
        nd_inline_motion_solve (a.plan, exact, values);
      else
        solve_constant<AXES> (sums, values);
#pragma unroll
      for (int k = 0; k + 1 < AXES; k++)
        values[k] *= a.settings.speed[k];
    } else {
      nd_inline_structure_from_tensor (structure, AXES, tensor, values);
    }
    for (int c = 0; c < n; c++)
      *out++ = (float) values[c];
  }
}

/* Without the affine model all channels but the isotropic part are components,
 * whose number is known. */
template <int AXES, Measures MEASURES>
__global__ void __launch_bounds__ (THREADS,
    MEASURES == VELOCITY       ? 4
        : MEASURES == CONSTANT ? 2
                               : 1)
structure_respond_kernel (const __grid_constant__ Respond a)
{
  constexpr int COMPONENTS = AXES * (AXES + 1) / 2;
  constexpr int CHANNELS = MEASURES == AFFINE ? MAX_CHANNELS
      : MEASURES == CONSTANT                  ? COMPONENTS + 1
                                              : COMPONENTS;
  const int n_channels = MEASURES == VELOCITY ? COMPONENTS : a.n_channels;

  const size_t i = (size_t) blockIdx.x * THREADS + threadIdx.x;
  float sums[CHANNELS];

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (i >= a.samples)
    return;
  sum_in_time (a, i, n_channels, sums);
  if constexpr (MEASURES != VELOCITY) {
    write_measures<AXES, MEASURES> (a, sums, n_channels, find_output (a, i));
  } else {
    double values[AXES];

    if (solve_quickly<AXES> (sums, values))
      write_velocity<AXES> (a, i, values);
    else
      respond_slowly<AXES> (a, i);
  }
}

template <int AXES>
void
launch_respond (const Respond &a, Measures measures, cudaStream_t stream)
{
  launch_early (measures == AFFINE ? structure_respond_kernel<AXES, AFFINE>
          : measures == CONSTANT   ? structure_respond_kernel<AXES, CONSTANT>
                                   : structure_respond_kernel<AXES, VELOCITY>,
      dim3 ((a.samples + THREADS - 1) / THREADS), dim3 (THREADS), 0, stream, a);
}

NdMotionPlan
make_plan (const NdStructureSettings &settings, unsigned axes)
{
  NdMotionPlan plan;

  nd_motion_plan_init (&plan,
      nd_structure_has_velocity (&settings) ? settings.model
                                            : ND_MOTION_CONSTANT,
      axes);
  return plan;
}

/* The weights of the volumes of a window. */
std::vector<float>
weights_in_time (const NdStructureSettings &settings)
{
  static const size_t none[3] = {};
  NdStructureWindow window;

  nd_structure_window_init (&window, settings.sigma, none);
  nd_structure_window_clear (&window);
  return std::vector<float> (window.time,
      window.time + 2 * nd_structure_window_reach (settings.sigma) + 1);
}

NdShape
output_shape (const NdStructureSettings &settings, const NdShape &shape)
{
  NdShape out = shape;

  out.components = nd_structure_output_components (&settings,
      nd_tensor_axes (shape.components));
  return out;
}

class Structure : public Algorithm
{
public:
  Structure (const NdStructureSettings &settings, const NdShape &shape,
      const ContextPointer &context);

  void push (const NdSamples &volume) override;
  bool ready () const override;
  void respond (const NdSamples *out) override;
  void end () override { ended = true; }
  void reset () override;
  size_t bytes () const override;

private:
  const float *slot_at (int64_t position) const;
  void begin_sums ();

  static constexpr int64_t NONE = -BEGUN;

  const NdStructureSettings settings;
  const NdShape shape;
  const unsigned axes;
  const bool has_velocity, has_isotropic;
  const NdMotionPlan plan;
  SpaceSums sums;
  const size_t n_channels;
  const int reach, n_slots;
  std::vector<float> weights; /* in time */
  const size_t samples;
  const Stream stream;
  const Event was_read; /* the volume that was pushed last */
  Transfer uploads, downloads;

  Memory<float> ring;  /* n_slots volumes of n_channels planes */
  Memory<float> begun; /* BEGUN sums in time of n_channels planes each */
  Memory<NdMotionPlan> plan_there;

  int64_t pushed = 0, next = 0;
  int64_t begun_at = NONE; /* the first output of `begun` */
  bool ended = false;
};

Structure::Structure (const NdStructureSettings &settings, const NdShape &shape,
    const ContextPointer &context)
    : Algorithm (context), settings (settings), shape (shape),
      axes (nd_tensor_axes (shape.components)),
      has_velocity (nd_structure_has_velocity (&settings)),
      has_isotropic (has_velocity && settings.n_structures > 1),
      plan (make_plan (settings, axes)), sums (settings, plan, shape),
      n_channels (sums.channels ()),
      reach (nd_structure_window_reach (settings.sigma)),
      n_slots (2 * reach + 1), weights (weights_in_time (settings)),
      samples (multiply (multiply (shape.size[0], shape.size[1]),
          shape.size[2])),
      was_read (*context), uploads (shape, ND_FLOAT32),
      downloads (output_shape (settings, shape), ND_FLOAT32)
{
  ring.plan (multiply (samples, n_slots * n_channels));
  if (n_slots >= LEAST_SLOTS)
    begun.plan (multiply (samples, BEGUN * n_channels));
  plan_there.plan (std::vector<NdMotionPlan> (1, plan));
  expect_free (bytes ());
  allocate_all (ring, sums, begun, plan_there);
}

size_t
Structure::bytes () const
{
  return total_bytes (ring, sums, begun, plan_there);
}

void
Structure::reset ()
{
  pushed = next = 0;
  begun_at = NONE;
  ended = false;
}

bool
Structure::ready () const
{
  return next < pushed && (ended || pushed > next + reach);
}

/* Returns when @volume is read. The sums go on. */
void
Structure::push (const NdSamples &volume)
{
  g_return_if_fail (!ready ());
  const NdSamples here = uploads.bring_in (*context, volume, stream);
  float *const slot = ring.get () + pushed % n_slots * n_channels * samples;

  sums.begin (here, stream);
  was_read.record (stream);
  sums.end (slot, stream);
  ND_CUDA (cudaEventSynchronize (was_read.get ()));
  pushed++;
}

/* The first and the last volume replace those beyond the ends. */
const float *
Structure::slot_at (int64_t position) const
{
  const int64_t there =
      std::max<int64_t> (0, std::min<int64_t> (position, pushed - 1));

  return ring.get () + there % n_slots * n_channels * samples;
}

/* Begins the sums of the next outputs. All volumes of the first one are in the
 * ring. */
void
Structure::begin_sums ()
{
  Begin a = {};

  a.samples = n_channels * samples;
  a.n_slots = n_slots;
  for (int i = 0; i < n_slots; i++) {
    a.slots[i] = slot_at (next + i - reach);
    a.weights[i] = weights[i];
  }
  a.out = begun.get ();
  const int width = a.samples % 4 == 0 ? 4 : 1;

  launch (width == 4 ? structure_begin_kernel<4> : structure_begin_kernel<1>,
      dim3 (count_blocks (a.samples / width)), dim3 (THREADS), 0, stream, a);
  begun_at = next;
}

void
Structure::respond (const NdSamples *out)
{
  g_return_if_fail (ready ());
  if (out) {
    const NdSamples there = downloads.place (*context, *out);
    Respond a = {};

    a.settings = settings;
    a.plan = plan_there.get ();
    a.samples = samples;
    a.width = shape.size[0];
    a.height = shape.size[1];
    a.n_channels = (int) n_channels;
    a.has_isotropic = has_isotropic;
    a.data = there.data;
    a.sample = there.sample;
    a.row = there.row;
    a.slice = there.slice;
    a.dense = there.row == a.width * there.sample
        && there.slice == a.height * there.row;
    a.aligned =
        ((size_t) a.data | there.sample | there.row | there.slice) % 16 == 0;
    if (begun.count () > 0 && next >= begun_at + BEGUN && pushed > next + reach)
      begin_sums ();
    int first = 0;

    if (next < begun_at + BEGUN) {
      first = n_slots - (int) (next - begun_at);
      a.slots[0] = begun.get () + (next - begun_at) * n_channels * samples;
      a.weights[0] = 1;
      a.n_slots = 1;
    }
    for (int i = first; i < n_slots; i++, a.n_slots++) {
      a.slots[a.n_slots] = slot_at (next + i - reach);
      a.weights[a.n_slots] = weights[i];
    }
    const Measures measures = has_velocity && settings.model == ND_MOTION_AFFINE
        ? AFFINE
        : has_velocity && settings.n_structures == 1 ? VELOCITY
                                                     : CONSTANT;

    if (axes == 2)
      launch_respond<2> (a, measures, stream);
    else if (axes == 3)
      launch_respond<3> (a, measures, stream);
    else
      launch_respond<4> (a, measures, stream);
    downloads.send_out (*context, *out, stream);
    ND_CUDA (cudaStreamSynchronize (stream));
  }
  next++;
}

} // namespace

std::unique_ptr<Algorithm>
make_structure (const NdStructureSettings &settings, const NdShape &shape,
    const ContextPointer &context)
{
  return std::make_unique<Structure> (settings, shape, context);
}

} // namespace nd
