/* A group of filters in the form that the kernels of
 * cuda/direct/stencilkernel.cu read, and the choice of the kernel.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

#include <vector>

namespace nd
{

/* The layout of a padded volume, in floats. */
struct Strides
{
  size_t row;
  size_t slice;
  size_t volume; /* including room for tiles that extend beyond the volume */
};

/* Strides of a volume of padded @size that has @width x @height outputs per
 * plane. The memory has room for tiles that extend beyond the volume. */
Strides make_strides (const size_t size[3], size_t width, size_t height);

/* A volume that is not padded. The border is added when tiles are copied to
 * shared memory. */
struct Unpadded
{
  const float *in;      /* nullptr: padded volumes are read */
  size_t row, slice;    /* floats */
  int before[3];        /* samples that padding would add before the volume */
  int after;            /* samples that padding would add after a row */
  int border;           /* NdBorder */
  const float *outside; /* OUTSIDE times the border value */
  bool aligned;         /* each row begins at a multiple of 16 bytes */
};

/* The border values in Unpadded::outside: at least the samples of a row of a
 * tile. */
constexpr int OUTSIDE = 160;

/* A plane (t, z) of coefficients. A plane with more rows or columns than a
 * kernel takes is cut into several, each of max_ny rows and the kernel's
 * width. */
struct Plane
{
  int slot;
  int z, y, x;      /* of the tile; x is a multiple of four */
  int narrow;       /* has the kernel's second width */
  unsigned weights; /* the first of n_filters * max_ny rows */
};

class Stencil
{
public:
  /* @filters have the same box of offsets, from @low to @high. Padded volumes
   * begin at offset @from. A kernel that is compiled for one width is chosen if
   * @low[0] - lead() - @from[0] is a multiple of four. If not all samples are
   * @finite, coefficients of 0 are skipped, because 0 times Inf is NaN. */
  Stencil (const std::vector<const NdFilter *> &filters, const int low[ND_AXES],
      const int high[ND_AXES], bool finite, const int from[ND_AXES]);

  /* Whether one kernel can run @filters together: they have the same box, a
   * kernel is compiled for its width, and, unless samples are @finite, no
   * coefficient is 0. */
  static bool fit_together (const std::vector<const NdFilter *> &filters,
      bool finite, const int from[ND_AXES]);

  /* The number of samples between the begin of a tile and the box of @f. With
   * it, the tiles of centred filters begin at multiples of four samples. */
  static int lead (const NdFilter *f, bool finite);

  /* Volume t of the window is at @volumes + slots[t] * @volume_floats. @stores
   * has one element for each filter. */
  void run (const float *volumes, const int *slots, size_t volume_floats,
      const Strides &strides, const size_t size[3], const Store *stores,
      cudaStream_t stream) const;

  /* The same for one unpadded volume. */
  void run (const Unpadded &unpadded, const size_t size[3], const Store *stores,
      cudaStream_t stream) const;

  size_t bytes () const { return total_bytes (planes, weights); }
  void allocate () { allocate_all (planes, weights); }
  unsigned n_filters () const { return filters; }

private:
  void run (struct Arguments &arguments, const size_t size[3],
      const Store *stores, cudaStream_t stream) const;

  int choose_kernel (int low, int high, int from, bool zeros, bool finite);

  unsigned filters;
  int wide, narrow; /* widths of the kernel; narrow < 0: one width only */
  bool skip_zeros;
  int max_ny;
  int first_slot, n_slots;
  Memory<Plane> planes;
  Memory<float> weights;
};

/* The reach of the job's padded volumes, including the lead of its first
 * filter. */
NdReach reach_of_tiles (const RingJob &job);

/* The most filters that one kernel takes. */
constexpr unsigned MAX_FILTERS = 12;

} // namespace nd
