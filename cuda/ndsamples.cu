/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndsamples.cuh"

namespace nd
{

Pad
make_pad (const NdJob &job, const NdReach &reach)
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
  return Store { out.data + response * out.response
      + component * nd_sample_size (type), out.sample, out.row, out.slice,
    type, scale.gain != 1 || scale.offset != 0, scale.gain, scale.offset };
}

/* nd_border_index() on the device. */
__device__ static int
border_index (int border, int i, int n)
{
  int period, j;

  if (i >= 0 && i < n)
    return i;
  switch (border) {
    case ND_BORDER_CONSTANT:
      return -1;
    case ND_BORDER_NEAREST:
      return i < 0 ? 0 : n - 1;
    case ND_BORDER_REFLECT:
      period = 2 * n;
      j = (i % period + period) % period;
      return j < n ? j : period - 1 - j;
    case ND_BORDER_MIRROR:
      if (n == 1)
        return 0;
      period = 2 * n - 2;
      j = (i % period + period) % period;
      return j < n ? j : period - j;
    default:
      return (i % n + n) % n;
  }
}

template <typename T> struct PadArguments
{
  Pad pad;
  const unsigned char *in;      /* of this component; nullptr: border volume */
  size_t sample, row, slice;
  float *out;
  WildList wild;
};

/* Each thread writes four padded samples of a row. */
template <typename T> __global__ void
pad_kernel (const PadArguments<T> a)
{
  const Pad &pad = a.pad;
  const int x0 = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const float level = pad.level ? *pad.level : 0;

  if (x0 >= pad.full[0] || y >= pad.full[1])
    return;
  for (int z = blockIdx.z; z < pad.full[2]; z += gridDim.z) {
    const bool inside = y < pad.size[1] && z < pad.size[2];
    const int sy = border_index (pad.border, y - pad.before[1], pad.shape[1]);
    const int sz = border_index (pad.border, z - pad.before[2], pad.shape[2]);
    const unsigned char *in = a.in ? a.in + sy * a.row + sz * a.slice : nullptr;
    float *out = a.out + z * pad.slice + y * pad.row;

#pragma unroll
    for (int x = x0; x < x0 + 4; x++) {
      float value = pad.border_value;

      if (x >= pad.full[0])
        break;
      if (!inside || x >= pad.size[0]) {
        out[x] = 0;
        continue;
      }
      if (in && sy >= 0 && sz >= 0) {
        int sx = border_index (pad.border, x - pad.before[0], pad.shape[0]);

        if (sx >= 0)
          value = *(const T *) (in + sx * a.sample);
      }
      if (a.wild.count && !isfinite (value)) {
        unsigned i = atomicAdd (a.wild.count, 1u);

        if (i < MAX_WILD)
          a.wild.samples[i] = Wild { x, y, z, value };
        value = level;
      }
      out[x] = value - level;
    }
  }
}

template <typename T> static void
launch_pad (const Pad &pad, const NdSamples *volume, size_t component,
    float *out, const WildList &wild, cudaStream_t stream)
{
  PadArguments<T> a = {};
  const dim3 threads (32, 4);
  const dim3 blocks ((pad.full[0] + 127) / 128, (pad.full[1] + 3) / 4,
      pad.full[2] < 65535 ? pad.full[2] : 65535);

  a.pad = pad;
  a.out = out;
  a.wild = wild;
  if (volume) {
    a.in = volume->data + component * sizeof (T);
    a.sample = volume->sample;
    a.row = volume->row;
    a.slice = volume->slice;
  }
  pad_kernel<T><<<blocks, threads, 0, stream>>> (a);
  ND_CUDA_LAUNCHED (pad_kernel);
}

void
pad_volume (const Pad &pad, const NdSamples *volume, NdSampleType type,
    size_t component, float *out, const WildList &wild, cudaStream_t stream)
{
  switch (type) {
    case ND_UINT8:
      launch_pad<unsigned char> (pad, volume, component, out, wild, stream);
      break;
    case ND_INT16:
      launch_pad<short> (pad, volume, component, out, wild, stream);
      break;
    case ND_UINT16:
      launch_pad<unsigned short> (pad, volume, component, out, wild, stream);
      break;
    default:
      launch_pad<float> (pad, volume, component, out, wild, stream);
      break;
  }
}

} // namespace nd
