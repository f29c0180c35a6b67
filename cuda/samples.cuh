/* Conversion of samples of any type to padded float32 or float64, and of
 * responses to samples of any type.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/method.h"
#include "cuda/sampletypes.cuh"

namespace nd
{

/* The layout of one component of a volume with the border around it. Indices
 * are x, y, z. */
struct Pad
{
  int shape[3];      /* samples of the volume */
  int before[3];     /* samples of the border before the volume */
  int size[3];       /* samples of the volume with its border */
  int full[3];       /* the same with the zeros after the border */
  size_t row, slice; /* numbers of the padded volume */
  int border;        /* NdBorder */
  double border_value;
  const double *level; /* subtracted from every sample; nullptr: 0 */
};

Pad make_pad (const RingJob &job, const NdReach &reach);

/* A sample that is not finite. One such sample would spoil a whole spectrum. */
struct NonFinite
{
  int x, y, z; /* in the padded volume */
  float value;
};
constexpr unsigned MAX_NON_FINITE = 1 << 12;

/* If the list is full, further samples are marked in a bit map, which has two
 * bits for each padded sample. */
enum NonFiniteMark
{
  NON_FINITE_PLUS = 1,                                 /* +Inf */
  NON_FINITE_MINUS = 2,                                /* -Inf */
  NON_FINITE_NAN = NON_FINITE_PLUS | NON_FINITE_MINUS, /* also Inf - Inf */
};
constexpr int MARKS_PER_WORD = 16;

struct NonFiniteList
{
  unsigned *count;    /* nullptr: no samples are listed */
  NonFinite *samples; /* MAX_NON_FINITE */
  unsigned *marks;    /* [z][y][x], MARKS_PER_WORD in a word */
  int size[2];        /* of x and y */
};

/* Adds a sample to @list, or marks it if the list is full. A full list is not
 * counted further, because threads would wait for one another at the counter if
 * many samples are not finite. */
__device__ __noinline__ inline void
add_non_finite (const NonFiniteList &list, int x, int y, int z, float value)
{
  unsigned n = *(volatile unsigned *) list.count;

  if (n <= MAX_NON_FINITE)
    n = atomicAdd (list.count, 1u);
  if (n < MAX_NON_FINITE) {
    list.samples[n] = NonFinite{ x, y, z, value };
  } else {
    const size_t i = ((size_t) z * list.size[1] + y) * list.size[0] + x;
    unsigned mark = NON_FINITE_NAN;

    if (value > 0)
      mark = NON_FINITE_PLUS;
    else if (value < 0)
      mark = NON_FINITE_MINUS;

    atomicOr (list.marks + i / MARKS_PER_WORD, mark << i % MARKS_PER_WORD * 2);
  }
}

/* Writes @volume, which is on the device, with its border to @out, of size
 * pad.full. If @volume is nullptr, writes the border volume. R is float or
 * double. */
template <typename R>
void pad_volume (const Pad &pad, const NdSamples *volume, NdSampleType type,
    size_t component, R *out, const NonFiniteList &non_finite,
    cudaStream_t stream);

/* The value of Pad::border if memory around the volume holds the border. */
constexpr int BORDER_IN_MEMORY = -1;

/* nd_border_index_int(), or @i for BORDER_IN_MEMORY. */
__device__ inline int
border_index (int border, int i, int n)
{
  return border == BORDER_IN_MEMORY
      ? i
      : nd_border_index_int ((NdBorder) border, i, n);
}

/* How a kernel stores its responses. */
struct Store
{
  unsigned char *out;        /* the first sample of a response's component */
  size_t sample, row, slice; /* bytes */
  int type;                  /* NdSampleType */
  bool scaled;               /* gain is not 1 or offset is not 0 */
  double gain, offset;
};

Store make_store (const NdSamples &out, NdSampleType type, const NdScale &scale,
    size_t component, size_t response);

__device__ inline int
saturate (double value, int low, int high)
{
  if (value != value)
    return 0;
  return __double2int_rn (fmin (fmax (value, (double) low), (double) high));
}

/* The same for the range from 0 to @high. */
__device__ inline int
saturate (float value, int high)
{
  return min (max (__float2int_rn (value), 0), high);
}

template <typename R>
__device__ __forceinline__ void
store_sample (const Store &s, R response, size_t x, size_t y, size_t z)
{
  unsigned char *p = s.out + x * s.sample + y * s.row + z * s.slice;
  double value = response;

  if (s.scaled)
    value = s.gain * value + s.offset;
  visit_sample_type_of<R> (s.type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    if constexpr (is_integer<T>)
      *(T *) p = saturate (value, lowest<T>, highest<T>);
    else
      *(T *) p = (T) value;
  });
}

/* Stores @n of four responses side by side, of any type. Not inlined, because
 * kernels would become larger. */
template <typename R>
__device__ __noinline__ void
store_singles (const Store &s, R first, R second, R third, R fourth, int n,
    size_t x, size_t y, size_t z)
{
  store_sample (s, first, x, y, z);
  if (n > 1)
    store_sample (s, second, x + 1, y, z);
  if (n > 2)
    store_sample (s, third, x + 2, y, z);
  if (n > 3)
    store_sample (s, fourth, x + 3, y, z);
}

/* Stores four responses side by side, of which @n are inside the volume. */
__device__ inline void
store_four (const Store &s, const float *response, int n, size_t x, size_t y,
    size_t z)
{
  unsigned char *p = s.out + x * s.sample + y * s.row + z * s.slice;
  const float4 four =
      make_float4 (response[0], response[1], response[2], response[3]);

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
  store_singles (s, four.x, four.y, four.z, four.w, n, x, y, z);
}

__device__ inline void
store_four (const Store &s, const double *response, int n, size_t x, size_t y,
    size_t z)
{
  unsigned char *p = s.out + x * s.sample + y * s.row + z * s.slice;

  if (n >= 4 && s.type == ND_FLOAT64 && !s.scaled && s.sample == 8
      && ((size_t) p & 15) == 0) {
    ((double2 *) p)[0] = make_double2 (response[0], response[1]);
    ((double2 *) p)[1] = make_double2 (response[2], response[3]);
    return;
  }
  store_singles (s, response[0], response[1], response[2], response[3], n, x, y,
      z);
}

} // namespace nd
