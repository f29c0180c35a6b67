/* Samples of any type to float32 with the border written, and responses to
 * samples of any type.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndcuda.h"

namespace nd
{

/* Where to put one component of a volume, and what around it. */
struct Pad
{
  int shape[3];                 /* of the volume */
  int before[3];                /* padded samples before it */
  int size[3];                  /* with the border */
  int full[3];                  /* with zeros behind that */
  size_t row, slice;            /* floats, of the padded one */
  int border;                   /* NdBorder */
  float border_value;
  const float *level;           /* taken from every sample; nullptr: 0 */
};

Pad make_pad (const NdJob &job, const NdReach &reach);

/* A sample that is not finite, which a spectrum must not hold. */
struct Wild
{
  int x, y, z;                  /* padded */
  float value;
};
constexpr unsigned MAX_WILD = 1 << 16;

struct WildList
{
  unsigned *count;              /* nullptr: do not look for them */
  Wild *samples;                /* MAX_WILD */
};

/* Fills @out, pad.full large. @volume (device) nullptr: the border volume. */
void pad_volume (const Pad &pad, const NdSamples *volume, NdSampleType type,
    size_t component, float *out, const WildList &wild, cudaStream_t stream);

/* A border that lies around the volume in memory. */
constexpr int BORDER_IN_MEMORY = -1;

/* nd_border_index() on the device. */
__device__ inline int
border_index (int border, int i, int n)
{
  int period, j;

  if (i >= 0 && i < n)
    return i;
  switch (border) {
    case BORDER_IN_MEMORY:
      return i;
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

/* How a kernel stores its responses. */
struct Store
{
  unsigned char *out;           /* of this response and component */
  size_t sample, row, slice;    /* bytes */
  int type;                     /* NdSampleType */
  bool scaled;                  /* gain is not 1 or offset is not 0 */
  double gain, offset;
};

Store make_store (const NdSamples &out, NdSampleType type,
    const NdScale &scale, size_t component, size_t response);

__device__ inline int
saturate (double value, int low, int high)
{
  if (value != value)
    return 0;
  return __double2int_rn (fmin (fmax (value, (double) low), (double) high));
}

__device__ inline void
store_sample (const Store &s, float response, size_t x, size_t y, size_t z)
{
  unsigned char *p = s.out + x * s.sample + y * s.row + z * s.slice;
  double value = response;

  if (s.scaled)
    value = s.gain * value + s.offset;
  switch (s.type) {
    case ND_UINT8:
      *p = saturate (value, 0, 255);
      break;
    case ND_INT16:
      *(short *) p = saturate (value, -32768, 32767);
      break;
    case ND_UINT16:
      *(unsigned short *) p = saturate (value, 0, 65535);
      break;
    default:
      *(float *) p = (float) value;
      break;
  }
}

/* Four responses side by side, of which @n lie inside the volume. */
__device__ inline void
store_four (const Store &s, const float *response, int n, size_t x, size_t y,
    size_t z)
{
  unsigned char *p = s.out + x * s.sample + y * s.row + z * s.slice;

  if (n >= 4 && s.type == ND_FLOAT32 && !s.scaled && s.sample == 4
      && ((size_t) p & 15) == 0) {
    *(float4 *) p = make_float4 (response[0], response[1], response[2],
        response[3]);
    return;
  }
  if (n >= 4 && s.type == ND_UINT8 && s.sample == 1 && ((size_t) p & 3) == 0) {
    uchar4 packed;
    double v[4];

#pragma unroll
    for (int i = 0; i < 4; i++)
      v[i] = s.scaled ? s.gain * response[i] + s.offset : response[i];
    packed.x = saturate (v[0], 0, 255);
    packed.y = saturate (v[1], 0, 255);
    packed.z = saturate (v[2], 0, 255);
    packed.w = saturate (v[3], 0, 255);
    *(uchar4 *) p = packed;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (i < n)
      store_sample (s, response[i], x + i, y, z);
  }
}

} // namespace nd
