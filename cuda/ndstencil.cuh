/* A bank of filters made ready for padded volumes, and the kernel that runs it:
 * register-blocked, tiles and coefficients staged in shared memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <vector>

#include "ndsamples.cuh"

namespace nd
{

/* How padded samples lie in memory, in floats. */
struct Strides
{
  size_t row;
  size_t slice;
  size_t volume;                /* with room for tiles that reach beyond */
};

/* Strides for padded @size of an output @width x @height, so that every tile
 * can be copied whole. */
Strides make_strides (const size_t size[3], size_t width, size_t height);

/* A volume that is not padded: its border is written as tiles are staged. */
struct Bare
{
  const float *in;              /* nullptr: padded volumes are read */
  size_t row, slice;            /* floats */
  int before[3];                /* samples that padding would put before it */
  int after;                    /* and behind a row */
  int border;                   /* NdBorder */
  const float *outside;         /* OUTSIDE times the border value */
  bool aligned;                 /* every fourth sample to 16 bytes */
};

/* As many as a row of a tile. */
constexpr int OUTSIDE = 160;

/* One plane (time, z) of coefficients, or a part of one: a box of as many rows
 * as all have, and of as many columns as the kernel's width, at an offset from
 * the output. */
struct Plane
{
  int slot;
  int z, y, x;                  /* of the tile; x a multiple of four */
  int narrow;                   /* the kernel's second width */
  unsigned weights;             /* first of n_filters * max_ny rows */
};

class Stencil
{
public:
  /* @filters share the box [low, high] of offsets; the padded volumes begin at
   * offset @from, for the kernels of one width at lead() and a multiple of four
   * samples before low. Only where all samples are @finite are zeros inside the
   * box multiplied. */
  Stencil (const std::vector<const NdFilter *> &filters,
      const int low[ND_AXES], const int high[ND_AXES], bool finite,
      const int from[ND_AXES]);

  /* Whether one kernel may run @filters: they share a box, all of it is used by
   * each, and a kernel is compiled for it. Only such may be more than one. */
  static bool fit_together (const std::vector<const NdFilter *> &filters,
      bool finite, const int from[ND_AXES]);

  /* How many samples before its box the tiles of @f should begin: those of
   * centred filters then begin at multiples of four. */
  static int lead (const NdFilter *f, bool finite);

  /* volume(slot) = @volumes + slots[slot] * @volume_floats. One Store for each
   * filter. */
  void run (const float *volumes, const int *slots, size_t volume_floats,
      const Strides &strides, const size_t size[3], const Store *stores,
      cudaStream_t stream) const;

  /* The same on one volume that is not padded. */
  void run (const Bare &bare, const size_t size[3], const Store *stores,
      cudaStream_t stream) const;

  size_t bytes () const { return planes.bytes () + weights.bytes (); }
  unsigned n_filters () const { return filters; }

private:
  void run (struct Arguments &arguments, const size_t size[3],
      const Store *stores, cudaStream_t stream) const;

  unsigned filters;
  int wide, narrow;             /* widths of the kernel; narrow < 0: of
                                 * one for that width alone */
  bool skip_zeros;
  int max_ny;
  int first_slot, n_slots;
  Memory<Plane> planes;
  Memory<float> weights;
};

/* What the job's padded volumes reach, begun by the lead of its first
 * filter. */
NdReach reach_of_tiles (const NdJob &job);

/* Filters that one kernel takes at most. */
constexpr unsigned MAX_FILTERS = 12;

} // namespace nd
