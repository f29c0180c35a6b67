/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/samples.cuh"

namespace nd
{

Pad
make_pad (const RingJob &job, const NdReach &reach)
{
  Pad pad = {};

  for (int a = 0; a < 3; a++) {
    pad.shape[a] = job.shape.size[a];
    pad.before[a] = -reach.low[a];
    pad.size[a] = pad.full[a] = pad.shape[a] + reach.high[a] - reach.low[a];
  }
  pad.border = job.border;
  pad.border_value = job.border_value;
  return pad;
}

Store
make_store (const NdSamples &out, NdSampleType type, const NdScale &scale,
    size_t component, size_t response)
{
  return Store{ out.data + response * out.response
        + component * nd_sample_size (type),
    out.sample, out.row, out.slice, type, scale.gain != 1 || scale.offset != 0,
    scale.gain, scale.offset };
}

template <typename T, typename R>
struct PadArguments
{
  Pad pad;
  const unsigned char *in; /* this component; nullptr: border volume */
  size_t sample, row, slice;
  R *out;
  NonFiniteList non_finite;
};

/* Loads four samples of a padded row, the first at (x0, y, z). Those after the
 * border are @level. */
template <typename T, typename R>
__device__ static void
load_at_edge (const PadArguments<T, R> &a, R level, int x0, int y, int z,
    R (&four)[4])
{
  const Pad &pad = a.pad;
  const bool inside = y < pad.size[1] && z < pad.size[2];
  const bool anywhere = pad.border == BORDER_IN_MEMORY;
  const int sy = border_index (pad.border, y - pad.before[1], pad.shape[1]);
  const int sz = border_index (pad.border, z - pad.before[2], pad.shape[2]);

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int x = x0 + i;
    R value = pad.border_value;

    if (!inside || x >= pad.size[0]) {
      four[i] = level;
      continue;
    }
    if (a.in && (anywhere || (sy >= 0 && sz >= 0))) {
      const int sx = border_index (pad.border, x - pad.before[0], pad.shape[0]);

      if (anywhere || sx >= 0)
        value = *(const T *) (a.in + sx * a.sample + sy * a.row + sz * a.slice);
    }
    four[i] = value;
  }
}

/* Writes four numbers to an address that is a multiple of 16 bytes. */
__device__ static void
put_four (float *to, const float (&v)[4])
{
  *(float4 *) to = make_float4 (v[0], v[1], v[2], v[3]);
}

__device__ static void
put_four (double *to, const double (&v)[4])
{
  ((double2 *) to)[0] = make_double2 (v[0], v[1]);
  ((double2 *) to)[1] = make_double2 (v[2], v[3]);
}

/* Each thread writes four padded samples of a row. Only threads at an edge
 * compute border indices. */
template <typename T, typename R>
__global__ void
pad_volume_kernel (const __grid_constant__ PadArguments<T, R> a)
{
  const Pad &pad = a.pad;
  const unsigned quads = (pad.full[0] + 3) / 4;
  const R level = pad.level ? *pad.level : 0;
  const size_t all = (size_t) quads * pad.full[1] * pad.full[2];
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < all;
       i += step) {
    const unsigned line = i / quads;
    const int x = 4 * (i - (size_t) line * quads);
    const int y = line % pad.full[1], z = line / pad.full[1];
    const int sx = x - pad.before[0], sy = y - pad.before[1];
    const int sz = z - pad.before[2];
    R *out = a.out + z * pad.slice + y * pad.row + x;
    R four[4];

    if (a.in && sx >= 0 && sx + 3 < pad.shape[0] && sy >= 0 && sy < pad.shape[1]
        && sz >= 0 && sz < pad.shape[2]) {
      const unsigned char *in =
          a.in + sx * a.sample + sy * a.row + sz * a.slice;

#pragma unroll
      for (int j = 0; j < 4; j++)
        four[j] = *(const T *) (in + j * a.sample);
    } else {
      load_at_edge (a, level, x, y, z, four);
    }
    if (a.non_finite.count) {
#pragma unroll
      for (int j = 0; j < 4; j++) {
        if (isfinite (four[j]))
          continue;
        add_non_finite (a.non_finite, x + j, y, z, four[j]);
        four[j] = level;
      }
    }
    if (((size_t) out & 15) == 0 && x + 3 < pad.full[0]) {
      const R values[4] = { four[0] - level, four[1] - level, four[2] - level,
        four[3] - level };

      put_four (out, values);
      continue;
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
      if (x + j < pad.full[0])
        out[j] = four[j] - level;
    }
  }
}

template <typename T, typename R>
static void
launch_pad (const Pad &pad, const NdSamples *volume, size_t component, R *out,
    const NonFiniteList &non_finite, cudaStream_t stream)
{
  PadArguments<T, R> a = {};
  const size_t quads =
      (size_t) ((pad.full[0] + 3) / 4) * pad.full[1] * pad.full[2];
  const size_t blocks = quads / 256 + 1 < 65535 ? quads / 256 + 1 : 65535;

  a.pad = pad;
  a.out = out;
  a.non_finite = non_finite;
  if (volume) {
    a.in = volume->data + component * sizeof (T);
    a.sample = volume->sample;
    a.row = volume->row;
    a.slice = volume->slice;
  }
  pad_volume_kernel<T, R><<<blocks, 256, 0, stream>>> (a);
  ND_CUDA_LAUNCHED (pad_volume_kernel);
}

template <typename R>
void
pad_volume (const Pad &pad, const NdSamples *volume, NdSampleType type,
    size_t component, R *out, const NonFiniteList &non_finite,
    cudaStream_t stream)
{
  visit_sample_type_of<R> (type, [&] (auto sample) {
    launch_pad<typename decltype (sample)::Type> (pad, volume, component, out,
        non_finite, stream);
  });
}

template void pad_volume (const Pad &pad, const NdSamples *volume,
    NdSampleType type, size_t component, float *out,
    const NonFiniteList &non_finite, cudaStream_t stream);
template void pad_volume (const Pad &pad, const NdSamples *volume,
    NdSampleType type, size_t component, double *out,
    const NonFiniteList &non_finite, cudaStream_t stream);

} // namespace nd
