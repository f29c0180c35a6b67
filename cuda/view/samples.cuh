/* Values of the samples of a volume of any type, as view/scene.h defines
 * them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

#include <cuda_fp16.h>

namespace nd
{

/* A volume, whose samples are dense. */
struct Direct
{
  const void *data;
  int type; /* NdSampleType */
  int components;
  int channel; /* that is the value; -1: one value of all components */
  int size[3];
};

/* Number @i of the volume, counted through all components. */
__host__ __device__ inline float
number_at (const Direct &d, size_t i)
{
  switch (d.type) {
    case ND_UINT8:
      return ((const unsigned char *) d.data)[i];
    case ND_INT16:
      return ((const short *) d.data)[i];
    case ND_UINT16:
      return ((const unsigned short *) d.data)[i];
    case ND_INT8:
      return ((const signed char *) d.data)[i];
    case ND_INT32:
      return ((const int *) d.data)[i];
    case ND_UINT32:
      return ((const unsigned *) d.data)[i];
    case ND_FLOAT16:
      return __half2float (((const __half *) d.data)[i]);
    case ND_FLOAT64:
      return ((const double *) d.data)[i];
    case ND_FLOAT32:
    case ND_SAMPLE_SAME:
      break;
  }
  return ((const float *) d.data)[i];
}

/* The value of sample @i. */
__host__ __device__ inline float
value_at (const Direct &d, size_t i)
{
  i *= d.components;
  if (d.channel >= 0)
    return number_at (d, i + d.channel);
  if (d.components == 2)
    return hypotf (number_at (d, i), number_at (d, i + 1));
  if (d.components == 3)
    return ((double) number_at (d, i) + number_at (d, i + 1)
               + number_at (d, i + 2))
        / 3;
  return number_at (d, i);
}

/* Whether the value of a sample is one of its numbers. */
inline bool
is_one_number (const Direct &d)
{
  return d.channel >= 0 || (d.components != 2 && d.components != 3);
}

__host__ __device__ inline float
mix (float a, float b, float part)
{
  return a + part * (b - a);
}

/* The value at @at, which is between the first and the last sample. */
__host__ __device__ inline float
interpolated (const Direct &d, const float at[3])
{
  const int x = at[0], y = at[1], z = at[2];
  const float fx = at[0] - x, fy = at[1] - y, fz = at[2] - z;
  /* A sample of weight 0 may be beyond the last one, or NaN. */
  const size_t dx = fx > 0, dy = fy > 0 ? d.size[0] : 0;
  const size_t dz = fz > 0 ? (size_t) d.size[0] * d.size[1] : 0;
  const size_t p = ((size_t) z * d.size[1] + y) * d.size[0] + x, q = p + dz;

  return mix (mix (mix (value_at (d, p), value_at (d, p + dx), fx),
                  mix (value_at (d, p + dy), value_at (d, p + dy + dx), fx),
                  fy),
      mix (mix (value_at (d, q), value_at (d, q + dx), fx),
          mix (value_at (d, q + dy), value_at (d, q + dy + dx), fx), fy),
      fz);
}

} // namespace nd
