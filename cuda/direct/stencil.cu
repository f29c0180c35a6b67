/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"
#include "cuda/device.h"
#include "cuda/direct/stencilkernel.cuh"

#include <algorithm>
#include <cstring>

namespace nd
{

static void
dispatch (int wide, int narrow, bool skip, unsigned filters, const Arguments &a,
    cudaStream_t stream)
{
  if (narrow >= 0)
    return run_general (narrow, skip, a, stream);
  switch (wide) {
    case 3:
      return run_common<3> (filters, a, stream);
    case 5:
      return run_common<5> (filters, a, stream);
    case 7:
      return run_common<7> (filters, a, stream);
    case 9:
      return run_common<9> (filters, a, stream);
    case 11:
      return run_common<11> (filters, a, stream);
    case 13:
      return run_common<13> (filters, a, stream);
    case 15:
      return run_common<15> (filters, a, stream);
    case 17:
      return run_common<17> (filters, a, stream);
  }
  throw no_stencil_kernel ();
}

Strides
make_strides (const size_t size[3], size_t width, size_t height)
{
  Strides s;
  /* The largest tiles have 128 x 64 outputs. */
  const size_t more_x = size[0] - width, more_y = size[1] - height;
  const size_t tiles_x = (width + 127) / 128 * 128;

  s.row = (tiles_x + more_x + 32 + 31) / 32 * 32;
  s.slice = multiply (s.row, size[1]);
  s.volume = multiply (s.slice, size[2]) + multiply (s.row, 64 + more_y + 1);
  return s;
}

static bool
is_common (size_t width)
{
  return width >= 3 && width <= 17 && width % 2 == 1;
}

/* The coefficient of @f that reads offset @at; 0 if there is none. */
static double
coefficient (const NdFilter *f, const int at[ND_AXES])
{
  int low[ND_AXES], high[ND_AXES];
  size_t i = 0;

  nd_filter_reach (f, low, high);
  for (int axis = ND_AXES - 1; axis >= 0; axis--) {
    if (at[axis] < low[axis] || at[axis] > high[axis])
      return 0;
    i = i * f->size[axis] + (high[axis] - at[axis]);
  }
  return f->coefficients[i];
}

/* Whether a kernel is compiled for the width of @f and gives correct results.
 * It also multiplies by coefficients of 0, which gives NaN for samples that are
 * not finite. */
static bool
is_full (const NdFilter *f, bool finite)
{
  for (size_t i = 0; !finite && i < nd_filter_count (f); i++) {
    if (f->coefficients[i] == 0)
      return false;
  }
  return is_common (f->size[0]);
}

/* Whether tiles of the kernel for width @nx begin at a multiple of four samples
 * of a row. Rows begin at offset @from, the filter's box at @low. */
static bool
is_aligned (int low, int nx, int from)
{
  const int before = low - lead_of (nx) - from;

  return before >= 0 && before % 4 == 0;
}

/* The most rows of a plane of coefficients with which both stages of the
 * pipeline fit in shared memory, for any width up to 17. A stage has a plane of
 * coefficients of each filter and the samples of a tile. */
static int
most_rows (size_t filters)
{
  const int pitch = 128 + 20, width = 20;
  const int height = THREADS / 32 * group_rows (filters);

  return (max_dynamic_shared () / (2 * (int) sizeof (float))
             - (height - 1) * pitch)
      / (pitch + (int) filters * width);
}

bool
Stencil::fit_together (const std::vector<const NdFilter *> &filters,
    bool finite, const int from[ND_AXES])
{
  const NdFilter *first = filters[0];
  int low[ND_AXES], high[ND_AXES];

  nd_filter_reach (first, low, high);
  for (const NdFilter *f : filters) {
    if (memcmp (f->size, first->size, sizeof (f->size)) != 0
        || memcmp (f->origin, first->origin, sizeof (f->origin)) != 0
        || !is_full (f, finite))
      return false;
  }
  return is_aligned (low[0], first->size[0], from[0])
      && first->size[1] <= (size_t) most_rows (filters.size ());
}

/* Whether a filter has a coefficient of 0 in its box of @nx x @ny per plane. */
static bool
has_zeros (const std::vector<const NdFilter *> &bank, int nx, int ny)
{
  bool zeros = false;

  for (const NdFilter *f : bank) {
    zeros |= f->size[0] != (size_t) nx || f->size[1] != (size_t) ny;
    for (size_t i = 0; i < nd_filter_count (f); i++)
      zeros |= f->coefficients[i] == 0;
  }
  return zeros;
}

/* Chooses the kernel for columns from @low to @high. Returns the offset in x
 * from which tiles are read. */
int
Stencil::choose_kernel (int low, int high, int from, bool zeros, bool finite)
{
  const int nx = high - low + 1;

  skip_zeros = zeros && !finite;
  if (is_common (nx) && !skip_zeros && is_aligned (low, nx, from)) {
    wide = nx;
    narrow = -1;
    return low - lead_of (nx);
  }
  const int begin = low - (low - from) % 4;

  wide = 8;
  narrow = (high - begin + 1) % 8;
  skip_zeros |= begin < low && !finite;
  return begin;
}

Stencil::Stencil (const std::vector<const NdFilter *> &bank,
    const int low[ND_AXES], const int high[ND_AXES], bool finite,
    const int from[ND_AXES])
    : filters (bank.size ()), first_slot (low[3] - from[3]),
      n_slots (high[3] - low[3] + 1)
{
  const int nx = high[0] - low[0] + 1, ny = high[1] - low[1] + 1;
  const int most = most_rows (filters), strips = (ny + most - 1) / most;
  std::vector<Plane> made;
  std::vector<float> values;

  /* A plane with more rows than fit is cut into strips of equal height. The
   * last strip ends with the plane and may overlap the one before; rows that
   * overlap have coefficients of 0 there. */
  max_ny = (ny + strips - 1) / strips;
  const bool zeros = has_zeros (bank, nx, ny) || max_ny * strips != ny;
  const int begin = choose_kernel (low[0], high[0], from[0], zeros, finite);

  ND_DEBUG ("%u filters, kernel of width %d%s", filters, wide,
      skip_zeros ? ", skipping zeros" : "");

  const auto add_plane = [&] (int t, int z, int first_y, int x) {
    const int begin_y = std::min (first_y, ny - max_ny);
    const bool is_narrow = high[0] - x + 1 < wide;
    const int width = is_narrow ? narrow : wide;
    const int pitch = round_up (width, 4);
    Plane plane = { t - low[3], z - from[2], low[1] + begin_y - from[1],
      (narrow < 0 ? begin : x) - from[0], is_narrow,
      (unsigned) values.size () };
    bool any = false;

    for (const NdFilter *f : bank) {
      for (int y = begin_y; y < begin_y + max_ny; y++) {
        for (int i = 0; i < pitch; i++) {
          const int at[ND_AXES] = { x + i, low[1] + y, z, t };
          const double w = i < width && y >= first_y ? coefficient (f, at) : 0;

          any |= w != 0;
          values.push_back (w);
        }
      }
    }
    if (any)
      made.push_back (plane);
    else
      values.resize (plane.weights);
  };

  for (int t = low[3]; t <= high[3]; t++)
    for (int z = low[2]; z <= high[2]; z++)
      for (int y = 0; y < ny; y += max_ny)
        for (int x = narrow < 0 ? low[0] : begin; x <= high[0]; x += wide)
          add_plane (t, z, y, x);
  planes.plan (std::move (made));
  values.resize (values.size () + 4); /* threads read four at a time */
  weights.plan (std::move (values));
}

int
Stencil::lead (const NdFilter *f, bool finite)
{
  return is_full (f, finite) ? lead_of (f->size[0]) : 0;
}

NdReach
reach_of_tiles (const RingJob &job)
{
  NdReach reach = nd_job_reach (&job);

  reach.low[0] -=
      Stencil::lead (job.bank->filters[0], job.in_type != ND_FLOAT32);
  return reach;
}

void
Stencil::run (Arguments &a, const size_t size[3], const Store *stores,
    cudaStream_t stream) const
{
  a.planes = planes.get ();
  a.n_planes = planes.count ();
  a.max_ny = max_ny;
  a.weights = weights.get ();
  for (int axis = 0; axis < 3; axis++)
    a.size[axis] = size[axis];
  for (unsigned f = 0; f < filters; f++)
    a.stores[f] = stores[f];
  dispatch (wide, narrow, skip_zeros, filters, a, stream);
}

void
Stencil::run (const float *volumes, const int *slots, size_t volume_floats,
    const Strides &strides, const size_t size[3], const Store *stores,
    cudaStream_t stream) const
{
  Arguments a = {};

  a.volumes = volumes;
  a.volume_floats = volume_floats;
  memcpy (a.slots, slots + first_slot, n_slots * sizeof (int));
  a.row = strides.row;
  a.slice = strides.slice;
  run (a, size, stores, stream);
}

void
Stencil::run (const Unpadded &unpadded, const size_t size[3],
    const Store *stores, cudaStream_t stream) const
{
  Arguments a = {};

  a.unpadded = unpadded;
  run (a, size, stores, stream);
}

} // namespace nd
