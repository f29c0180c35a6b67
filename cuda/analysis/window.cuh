/* Sums over the window of ndstructure in space: a filter of rank 1 for each
 * channel. One kernel makes the sums along z from the tensors, and another one
 * the sums along x and y from those.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/structure.h"
#include "cuda/memory.h"
#include "engine/algorithm.h"

#include <vector>

namespace nd
{

/* ceil (3 sigma). */
constexpr int MAX_WINDOW_RADIUS = 3 * ND_STRUCTURE_MAX_SIGMA;
constexpr int MAX_CHANNELS = ND_MAX_MOMENTS + 1;
/* Pairs of a component and a power of z, and the isotropic part. */
constexpr int MAX_DEEP = 3 * ND_TENSOR_MAX_COMPONENTS + 1;

/* Volumes of sums along z, numbers of samples. Threads read rows beside a
 * plane, and find zeros there. */
struct DeepLayout
{
  size_t margin, end; /* before the first row, and after the last one */
  size_t slice, volume;
};

struct DeepSum
{
  const unsigned char *data;
  size_t sample, row, slice; /* bytes */
  int size[3];
  bool has_velocity;  /* subtract the isotropic part, the least eigenvalue */
  bool has_isotropic; /* it is a component too, the last one */
  int radius;
  /* From the neighbour -radius on, times u^0, u^1 and u^2. */
  float weights[3][2 * MAX_WINDOW_RADIUS + 1];
  int n_channels;
  struct
  {
    unsigned char component, power;
  } channels[MAX_DEEP];
  float *out;
  DeepLayout layout;
  int chunk, lead, planes; /* these are set by sum_deep () */
  bool paired;
};

struct PlaneSum
{
  const float *in;
  DeepLayout layout;
  int size[3];
  int radius;
  float along_x[2 * MAX_WINDOW_RADIUS + 1], along_y[2 * MAX_WINDOW_RADIUS + 1];
  const float *scale[3]; /* of each column, row and slice */
  int n_channels;
  struct
  {
    unsigned char from, to; /* volumes of @in and @out */
  } channels[MAX_CHANNELS];
  float *out;
  int lead, strips, tiles; /* set by sum_planes () */
};

/* @axes: of the tensors. */
DeepLayout make_deep_layout (const size_t size[3], int radius);
void sum_deep (DeepSum a, unsigned axes, cudaStream_t stream);
void sum_planes (PlaneSum a, cudaStream_t stream);

/* The sums of all channels of a volume. */
class SpaceSums
{
public:
  SpaceSums (const NdStructureSettings &settings, const NdMotionPlan &plan,
      const NdShape &shape);

  size_t channels () const { return n_channels; }
  size_t bytes () const
  {
    return total_bytes (between, scales[0], scales[1], scales[2]);
  }
  void allocate () { allocate_all (between, scales[0], scales[1], scales[2]); }

  /* Enqueues the sums of @volume along z. */
  void begin (const NdSamples &volume, cudaStream_t stream) const;
  /* Enqueues the sums along x and y: a volume for each moment, and if other
   * measures are wanted beside the velocity, one for the isotropic part. */
  void end (float *out, cudaStream_t stream) const;

private:
  size_t find_deep (unsigned component, unsigned power);

  const unsigned axes;
  size_t n_channels;
  DeepSum deep = {};
  std::vector<PlaneSum> planes; /* one for each pair of powers of x and y */
  Memory<float> between;
  Memory<float> scales[3];
};

} // namespace nd
