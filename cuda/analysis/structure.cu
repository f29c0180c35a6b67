/* Local structure and velocity on the device: cpu/structure.c with volumes on
 * the device. The measures of a sample are the same functions in double
 * precision (analysis/structureinline.h).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/algorithm.h"

#include "analysis/structureinline.h"
#include "analysis/structurewindow.h"
#include "cuda/launch.cuh"

#include <algorithm>

namespace nd
{

namespace
{

constexpr int MAX_CHANNELS = ND_MAX_MOMENTS + 1;
constexpr int MAX_SLOTS_IN_TIME = 2 * ND_STRUCTURE_MAX_TIME_REACH + 1;
constexpr int THREADS = 256;
/* Channels whose sums along x and y are in memory together. */
constexpr int BATCH = 12;

unsigned
count_blocks (size_t n)
{
  return (unsigned) std::max<size_t> (1,
      std::min<size_t> ((n + THREADS - 1) / THREADS, 1 << 16));
}

#define FOR_EACH(i, n)                                                  \
  for (size_t i = (size_t) blockIdx.x * THREADS + threadIdx.x; i < (n); \
       i += (size_t) gridDim.x * THREADS)

/* Volumes in */

struct Split
{
  const unsigned char *data;
  size_t sample, row, slice; /* bytes */
  size_t width, height, samples;
  bool has_velocity;
  float *out; /* the components and, with the velocity, the isotropic part */
};

/* Separates the components. If the velocity is wanted, subtracts the isotropic
 * part, which is the least eigenvalue. */
template <int AXES>
__global__ void
split_kernel (const __grid_constant__ Split a)
{
  FOR_EACH (i, a.samples)
  {
    const float *from = (const float *) (a.data + i % a.width * a.sample
        + i / a.width % a.height * a.row + i / a.width / a.height * a.slice);
    double tensor[ND_TENSOR_MAX_COMPONENTS], values[ND_TENSOR_MAX_AXES];

#pragma unroll
    for (int c = 0; c < AXES * (AXES + 1) / 2; c++) {
      tensor[c] = from[c];
      a.out[c * a.samples + i] = from[c];
    }
    if (!a.has_velocity)
      continue;
    if (!nd_inline_tensor_eigen (AXES, tensor, values, nullptr))
      values[AXES - 1] = NAN;
    const float least = (float) values[AXES - 1];

    a.out[AXES * (AXES + 1) / 2 * a.samples + i] = least;
#pragma unroll
    for (int k = 0; k < AXES; k++) {
      const size_t c = nd_inline_tensor_index (AXES, k, k);

      a.out[c * a.samples + i] = (float) tensor[c] - least;
    }
  }
}

/* Sums along one axis of the channels of a batch. */
struct AxisSum
{
  size_t samples;
  int n_channels;
  size_t step; /* samples between neighbours along the axis */
  int n;       /* samples along the axis */
  int radius;
  const float *scale;          /* of each sample of the axis */
  const float *weights[BATCH]; /* of the neighbour -radius on */
  const float *in[BATCH];
  float *out[BATCH];
};

__global__ void
axis_kernel (const __grid_constant__ AxisSum a)
{
  const float *const weights = a.weights[blockIdx.y];
  const float *const in = a.in[blockIdx.y];

  FOR_EACH (i, a.samples)
  {
    const int at = (int) (i / a.step % a.n);
    const int first = max (-a.radius, -at);
    const int last = min (a.radius, a.n - 1 - at);
    const float *from = in + i + (ptrdiff_t) first * (ptrdiff_t) a.step;
    float sum = 0;

    for (int u = first; u <= last; u++, from += a.step)
      sum = fmaf (weights[u + a.radius], *from, sum);
    a.out[blockIdx.y][i] = sum * a.scale[at];
  }
}

/* Outputs */

struct Respond
{
  NdStructureSettings settings;
  NdMotionPlan plan;
  size_t samples, width, height;
  int n_channels, n_slots;
  bool has_velocity;
  const float *slots[MAX_SLOTS_IN_TIME]; /* n_channels planes each */
  float weights[MAX_SLOTS_IN_TIME];
  unsigned char *data;
  size_t sample, row, slice;
};

/* The sum of channel @channel over the window in time. */
__device__ __forceinline__ float
sum_slots (const Respond &a, int channel, size_t i)
{
  float sum = 0;

  for (int s = 0; s < a.n_slots; s++)
    sum = fmaf (a.weights[s], a.slots[s][channel * a.samples + i], sum);
  return sum;
}

/* The arguments are larger than those of a kernel may be on older devices.
 * Without the affine model all channels but the isotropic part are components,
 * whose number is known. */
template <int AXES, bool AFFINE>
__global__ void
respond_kernel (const Respond *__restrict__ job)
{
  constexpr int COMPONENTS = AXES * (AXES + 1) / 2;
  const Respond &a = *job;

  FOR_EACH (i, a.samples)
  {
    double sums[AFFINE ? MAX_CHANNELS : COMPONENTS + 1];
    double tensor[COMPONENTS], values[ND_TENSOR_MAX_COMPONENTS];
    float *out = (float *) (a.data + i % a.width * a.sample
        + i / a.width % a.height * a.row + i / a.width / a.height * a.slice);
    double isotropic = 0;

    if (AFFINE) {
      for (int c = 0; c < a.n_channels; c++)
        sums[c] = sum_slots (a, c, i);
      isotropic = sums[a.n_channels - 1];
    } else {
#pragma unroll
      for (int c = 0; c < COMPONENTS; c++)
        sums[c] = sum_slots (a, c, i);
      if (a.has_velocity)
        isotropic = sum_slots (a, COMPONENTS, i);
    }
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
      tensor[c] = sums[c];
#pragma unroll
    for (int k = 0; k < AXES; k++)
      tensor[nd_inline_tensor_index (AXES, k, k)] += isotropic;
    for (unsigned s = 0; s < a.settings.n_structures; s++) {
      const NdStructure structure = a.settings.structures[s];
      const int n = nd_inline_structure_components (structure, AXES);

      if (structure == ND_STRUCTURE_VELOCITY) {
        if (AFFINE)
          nd_inline_motion_solve (&a.plan, sums, values);
        else
          nd_inline_motion_solve_constant (AXES, sums, values);
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
}

template <int AXES>
void
launch_axes (const Split *split, const Respond *job, bool affine,
    size_t samples, cudaStream_t stream)
{
  const dim3 blocks (count_blocks (samples)), threads (THREADS);

  if (split)
    launch (split_kernel<AXES>, blocks, threads, 0, stream, *split);
  else if (affine)
    launch (respond_kernel<AXES, true>, blocks, threads, 0, stream, job);
  else
    launch (respond_kernel<AXES, false>, blocks, threads, 0, stream, job);
}

/* Launches the kernel for tensors over @axes: of @split or, if that is nullptr,
 * of @job, which is on the device. */
void
launch_kernel (unsigned axes, const Split *split, const Respond *job,
    bool affine, size_t samples, cudaStream_t stream)
{
  if (axes == 2)
    launch_axes<2> (split, job, affine, samples, stream);
  else if (axes == 3)
    launch_axes<3> (split, job, affine, samples, stream);
  else
    launch_axes<4> (split, job, affine, samples, stream);
}

/* The window, which the host computes. */
struct Window : NdStructureWindow
{
  Window (double sigma, const size_t size[3])
  {
    nd_structure_window_init (this, sigma, size);
  }
  ~Window () { nd_structure_window_clear (this); }
  Window (const Window &) = delete;
};

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
  void sum_batch (int first, int n, float *slot);

  const NdStructureSettings settings;
  const NdShape shape;
  const unsigned axes;
  const bool has_velocity;
  const NdMotionPlan plan;
  const int n_channels;
  const Window window;
  const int reach, n_slots;
  const size_t samples;
  const Stream stream;
  Transfer uploads, downloads;

  Memory<float> ring;    /* n_slots volumes of n_channels planes */
  Memory<float> input;   /* components, and the isotropic part */
  Memory<float> scratch; /* two volumes for each channel of a batch */
  Memory<float> weights, scales[3];
  Memory<Respond> job;

  int64_t pushed = 0, next = 0;
  bool ended = false;
};

Structure::Structure (const NdStructureSettings &settings, const NdShape &shape,
    const ContextPointer &context)
    : Algorithm (context), settings (settings), shape (shape),
      axes (nd_tensor_axes (shape.components)),
      has_velocity (nd_structure_has_velocity (&settings)),
      plan (make_plan (settings, axes)),
      n_channels (plan.n_moments + (has_velocity ? 1 : 0)),
      window (settings.sigma, shape.size),
      reach (nd_structure_window_reach (settings.sigma)),
      n_slots (2 * reach + 1),
      samples (multiply (multiply (shape.size[0], shape.size[1]),
          shape.size[2])),
      uploads (shape, ND_FLOAT32),
      downloads (output_shape (settings, shape), ND_FLOAT32)
{
  const size_t taps = 2 * window.radius + 1;

  ring.plan (multiply (samples, (size_t) n_slots * n_channels));
  input.plan (multiply (samples, shape.components + 1));
  scratch.plan (multiply (samples, 2 * std::min (BATCH, n_channels)));
  weights.plan (std::vector<float> (window.weights, window.weights + 3 * taps));
  for (int a = 0; a < 3; a++)
    scales[a].plan (std::vector<float> (window.scale[a],
        window.scale[a] + shape.size[a]));
  job.plan (1);
  expect_free (bytes ());
  allocate_all (ring, input, scratch, weights, scales[0], scales[1], scales[2],
      job);
}

size_t
Structure::bytes () const
{
  return total_bytes (ring, input, scratch, weights, scales[0], scales[1],
      scales[2], job);
}

void
Structure::reset ()
{
  pushed = next = 0;
  ended = false;
}

bool
Structure::ready () const
{
  return next < pushed && (ended || pushed > next + reach);
}

/* Sums channels @first to @first + @n - 1 along x, y and z. */
void
Structure::sum_batch (int first, int n, float *slot)
{
  const size_t steps[3] = { 1, shape.size[0], shape.size[0] * shape.size[1] };
  const int taps = 2 * window.radius + 1;

  for (int axis = 0; axis < 3; axis++) {
    AxisSum a = {};

    a.samples = samples;
    a.n_channels = n;
    a.step = steps[axis];
    a.n = (int) shape.size[axis];
    a.radius = window.radius;
    a.scale = scales[axis].get ();
    for (int i = 0; i < n; i++) {
      const int channel = first + i;
      const bool is_isotropic = channel == (int) plan.n_moments;
      const NdMoment &moment = plan.moments[is_isotropic ? 0 : channel];
      float *const along_x = scratch.get () + 2 * i * samples;
      const size_t component =
          is_isotropic ? shape.components : moment.component;

      a.weights[i] =
          weights.get () + (is_isotropic ? 0 : moment.p[axis]) * taps;
      a.in[i] = axis == 0 ? input.get () + component * samples
          : axis == 1     ? along_x
                          : along_x + samples;
      a.out[i] = axis == 0 ? along_x
          : axis == 1      ? along_x + samples
                           : slot + channel * samples;
    }
    launch (axis_kernel, dim3 (count_blocks (samples), n), dim3 (THREADS), 0,
        stream, a);
  }
}

void
Structure::push (const NdSamples &volume)
{
  g_return_if_fail (!ready ());
  const NdSamples here = uploads.bring_in (*context, volume, stream);
  float *const slot =
      ring.get () + pushed % n_slots * (size_t) n_channels * samples;
  const Split split = { here.data, here.sample, here.row, here.slice,
    shape.size[0], shape.size[1], samples, has_velocity, input.get () };

  launch_kernel (axes, &split, nullptr, false, samples, stream);
  for (int first = 0; first < n_channels; first += BATCH)
    sum_batch (first, std::min (BATCH, n_channels - first), slot);
  ND_CUDA (cudaStreamSynchronize (stream));
  pushed++;
}

void
Structure::respond (const NdSamples *out)
{
  g_return_if_fail (ready ());
  if (out) {
    const NdSamples there = downloads.place (*context, *out);
    Respond a = {};

    a.settings = settings;
    a.plan = plan;
    a.samples = samples;
    a.width = shape.size[0];
    a.height = shape.size[1];
    a.n_channels = n_channels;
    a.n_slots = n_slots;
    a.has_velocity = has_velocity;
    a.data = there.data;
    a.sample = there.sample;
    a.row = there.row;
    a.slice = there.slice;
    /* The first and the last volume replace those beyond the ends. */
    for (int i = 0; i < n_slots; i++) {
      const int64_t position = std::max<int64_t> (0,
          std::min<int64_t> (next + i - reach, pushed - 1));

      a.slots[i] =
          ring.get () + position % n_slots * (size_t) n_channels * samples;
      a.weights[i] = window.time[i];
    }
    job.upload (&a, 1);
    launch_kernel (axes, nullptr, job.get (),
        has_velocity && settings.model == ND_MOTION_AFFINE, samples, stream);
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
