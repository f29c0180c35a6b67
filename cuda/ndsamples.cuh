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
constexpr unsigned MAX_WILD = 1 << 12;

/* Those that the list has no room for are marked, two bits a padded sample. */
enum WildMark
{
  WILD_PLUS = 1,                /* +Inf */
  WILD_MINUS = 2,               /* -Inf */
  WILD_NAN = WILD_PLUS | WILD_MINUS,    /* or the sum of both */
};
constexpr int WILD_MARKS = 16;  /* of a word */

struct WildList
{
  unsigned *count;              /* nullptr: do not look for them */
  Wild *samples;                /* MAX_WILD */
  unsigned *marks;              /* [z][y][x], WILD_MARKS in a word */
  int size[2];                  /* of x and y */
};

/* Once the list is full nothing is counted: with very many, threads would wait
 * for one another at the count. */
__device__ __noinline__ inline void
add_wild (const WildList &list, int x, int y, int z, float value)
{
  unsigned n = *(volatile unsigned *) list.count;

  if (n <= MAX_WILD)
    n = atomicAdd (list.count, 1u);
  if (n < MAX_WILD) {
    list.samples[n] = Wild { x, y, z, value };
  } else {
    const size_t i = ((size_t) z * list.size[1] + y) * list.size[0] + x;
    const unsigned mark = value > 0 ? WILD_PLUS : value < 0 ? WILD_MINUS
        : WILD_NAN;

    atomicOr (list.marks + i / WILD_MARKS, mark << i % WILD_MARKS * 2);
  }
}

/* Fills @out, pad.full large. @volume (device) nullptr: the border volume. */
void pad_volume (const Pad &pad, const NdSamples *volume, NdSampleType type,
    size_t component, float *out, const WildList &wild, cudaStream_t stream);

/* A border that lies around the volume in memory. */
constexpr int BORDER_IN_MEMORY = -1;

/* nd_border_index() on the device; most often one step over the border, which
 * needs no division. */
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
      j = (i < 0 ? 0 : 2 * n) - 1 - i;
      if (j >= 0 && j < n)
        return j;
      period = 2 * n;
      j = (i % period + period) % period;
      return j < n ? j : period - 1 - j;
    case ND_BORDER_MIRROR:
      j = (i < 0 ? 0 : 2 * n - 2) - i;
      if (j >= 0 && j < n)
        return j;
      if (n == 1)
        return 0;
      period = 2 * n - 2;
      j = (i % period + period) % period;
      return j < n ? j : period - j;
    default:
      j = i < 0 ? i + n : i - n;
      return j >= 0 && j < n ? j : (i % n + n) % n;
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

/* The same from 0 on, of a value that float32 holds. */
__device__ inline int
saturate (float value, int high)
{
  return min (max (__float2int_rn (value), 0), high);
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

/* Four responses side by side, of which @n lie inside the volume, not as
 * store_four () has it. Not inlined: kernels are large as it is. */
__device__ __noinline__ inline void
store_singles (const Store &s, float4 response, int n, size_t x, size_t y,
    size_t z)
{
  store_sample (s, response.x, x, y, z);
  if (n > 1)
    store_sample (s, response.y, x + 1, y, z);
  if (n > 2)
    store_sample (s, response.z, x + 2, y, z);
  if (n > 3)
    store_sample (s, response.w, x + 3, y, z);
}

/* Four responses side by side, of which @n lie inside the volume. */
__device__ inline void
store_four (const Store &s, const float *response, int n, size_t x, size_t y,
    size_t z)
{
  unsigned char *p = s.out + x * s.sample + y * s.row + z * s.slice;
  const float4 four = make_float4 (response[0], response[1], response[2],
      response[3]);

  if (n >= 4 && s.type == ND_FLOAT32 && !s.scaled && s.sample == 4
      && ((size_t) p & 15) == 0) {
    *(float4 *) p = four;
    return;
  }
  if (n >= 4 && s.type == ND_UINT8 && !s.scaled && s.sample == 1
      && ((size_t) p & 3) == 0) {
    *(uchar4 *) p = make_uchar4 (saturate (four.x, 255), saturate (four.y, 255),
        saturate (four.z, 255), saturate (four.w, 255));
    return;
  }
  store_singles (s, four, n, x, y, z);
}

} // namespace nd
