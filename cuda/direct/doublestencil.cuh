/* A filter in the form that the kernel of `direct` in double precision reads.
 * One kernel runs filters of any size, because multiply-adds of float64 take so
 * long that the instructions for loops cost nothing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

namespace nd
{

/* The volumes that a kernel reads. Strides are in numbers. */
struct DoubleVolumes
{
  const double *origin; /* sample (0, 0, 0) of slot 0 */
  size_t sample, row, slice;
  size_t volume;         /* from slot to slot */
  int border;            /* NdBorder or BORDER_IN_MEMORY */
  const double *outside; /* the border value, on the device */
};

/* One volume of float64 on the device, as it is. */
DoubleVolumes read_in_place (const NdSamples &volume, size_t component,
    int border, const double *outside);

/* A plane (t, z) of coefficients, or a part of one if the shared memory of the
 * device holds no whole one. */
struct DoublePlane
{
  int slot;         /* of the window */
  int x, y, z;      /* the offset that the first coefficient reads */
  int nx, ny;       /* coefficients */
  unsigned weights; /* the first one: ny rows of coefficients, each padded to a
                     * multiple of four */
};

class DoubleStencil
{
public:
  /* @coefficients: size[0] x size[1] x size[2] x size[3], the first of which
   * reads the highest offset (filters/filter.h); the lowest offset is @low.
   * @first: the offset in time of slot 0 of the window. If not all samples are
   * @finite, coefficients of 0 are skipped, because 0 times Inf is NaN. */
  DoubleStencil (const double *coefficients, const size_t size[ND_AXES],
      const int low[ND_AXES], int first, bool finite);

  /* Slot t of the window is volume slots[t]. */
  void run (const DoubleVolumes &volumes, const int *slots,
      const size_t size[3], const Store &store, cudaStream_t stream) const;

  size_t bytes () const { return total_bytes (planes, weights); }
  void allocate () { allocate_all (planes, weights); }

private:
  void add_plane (const double *w, const size_t size[ND_AXES],
      const DoublePlane &plane, const int at[2]);

  int first_slot, n_slots;
  int max_nx = 0, max_ny = 0; /* of the planes */
  bool skip_zeros;
  std::vector<DoublePlane> made;
  std::vector<double> values;
  Memory<DoublePlane> planes;
  Memory<double> weights;
};

/* A filter along y or z, the same way. */
class DoubleLine
{
public:
  DoubleLine (NdAxis axis, const double *coefficients, size_t n, int low);

  void run (const DoubleVolumes &volume, const size_t size[3],
      const Store &store, cudaStream_t stream) const;

  size_t bytes () const { return weights.bytes (); }
  void allocate () { weights.allocate (); }

  const NdAxis axis;

private:
  int n, low;
  Memory<double> weights;
};

} // namespace nd
