/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/filter.cuh"

#include "core/log.h"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace nd
{

/* Unused bytes of shared memory after the last coefficients. The columns that
 * wgmma reads overlap. compute-sanitizer does not know that, and would report
 * reads beyond the end. */
constexpr size_t SLACK = 4096;

namespace
{

/* Splits @integer into @bytes signed bytes, and returns byte @number, counted
 * from the high one. */
int
byte_of (int integer, int bytes, int number)
{
  for (int i = bytes - 1; i > number; i--)
    integer = (integer - (signed char) integer) / 256;
  return (signed char) integer;
}

/* The bytes of shared memory of a thread block that keeps the coefficients of
 * @n planes, and these planes for the next output plane. */
size_t
sliding_bytes (const TensorKernel &kernel, size_t n)
{
  return n * tensor_weight_bytes (kernel) + (n + 2) * kernel.load_bytes;
}

/* The same of one that copies @n planes at a time, with their coefficients. */
size_t
streaming_bytes (const TensorKernel &kernel, size_t n)
{
  return 2 * n * (kernel.load_bytes + tensor_weight_bytes (kernel)) + SLACK;
}

/* The kernel for @f, whose coefficients are @pieces. @shift: the number of
 * zeros before each row of the filter. */
TensorKernel
choose_tensor_kernel (const NdFilter *f, const Pieces &pieces, int shift,
    FindTensorKernel *find_kernel)
{
  const int ky = f->size[1] < 3 ? 3 : f->size[1] | 1;

  return find_kernel (shift + f->size[0] + 7 <= 16 ? 16 : 32, ky, pieces.bytes);
}

} // namespace

size_t
least_shared_bytes (const TensorKernel &kernel)
{
  return streaming_bytes (kernel, 1); /* as in choose_way() */
}

TensorFilter::TensorFilter (const RingJob &job, const NdFilter *f,
    const NdReach &reach, bool unpadded, FindTensorKernel *find_kernel)
{
  const Pieces pieces = make_pieces (f);
  int low[ND_AXES], high[ND_AXES];

  nd_filter_reach (f, low, high);
  shift = unpadded ? low[0] & 3 : (low[0] - reach.low[0]) % 8;
  x = (unpadded ? low[0] : low[0] - reach.low[0]) - shift;
  y = unpadded ? low[1] : low[1] - reach.low[1];
  end = job.shape.size[0] + high[0];
  kernel = choose_tensor_kernel (f, pieces, shift, find_kernel);
  scale = pieces.unit;
  depth = f->size[2];
  duration = f->size[3];
  pack (f, pieces, unpadded ? low[2] : low[2] - reach.low[2],
      low[3] - reach.low[3]);
  choose_launch (job, unpadded);
}

/* Writes a matrix for the row of @nx coefficients that ends with coefficient
 * @last, in reverse order: for each of the 8 outputs of an octet, the 16 bytes
 * from byte @begin of the window on. Each is byte @column of a coefficient. */
void
TensorFilter::pack_matrix (const Pieces &p, int column, size_t last, int nx,
    int begin, unsigned char *to) const
{
  for (int output = 0; output < 8; output++) {
    for (int k = 0; k < 16; k++, to++) {
      const int i = begin + k - output - shift;

      if (i >= 0 && i < nx)
        *to =
            (unsigned char) byte_of ((int) p.values[last - i], p.bytes, column);
    }
  }
}

/* Writes the plane of coefficients that ends with coefficient @last, in the
 * order of tensor_weight_bytes(). */
void
TensorFilter::pack_plane (const NdFilter *f, const Pieces &pieces, size_t last,
    unsigned char *to) const
{
  constexpr int ZEROS = TENSOR_ROWS - 1, MATRIX = 128;
  const int nx = f->size[0], ny = f->size[1];

  for (int begin = 0; begin < kernel.window; begin += 16) {
    for (int y = -ZEROS; y < kernel.ky + ZEROS; y++) {
      for (int column = 0; column < kernel.columns; column++, to += MATRIX) {
        if (y >= 0 && y < ny)
          pack_matrix (pieces, column, last - (size_t) y * nx, nx, begin, to);
      }
    }
  }
}

static bool
has_coefficients (const NdFilter *f, size_t last)
{
  for (size_t i = 0; i < f->size[0] * f->size[1]; i++) {
    if (f->coefficients[last - i] != 0)
      return true;
  }
  return false;
}

void
TensorFilter::pack (const NdFilter *f, const Pieces &pieces, int first_z,
    int first_slot)
{
  const size_t bytes = tensor_weight_bytes (kernel);
  const size_t plane_taps = f->size[0] * f->size[1];
  const size_t n_planes = f->size[2] * f->size[3];
  std::vector<unsigned char> packed;
  std::vector<TensorPlane> made;

  for (size_t p = 0; p < n_planes; p++) {
    /* The order of coefficients is opposite to that of the offsets that they
     * read: the last one of a plane reads the first sample. */
    const size_t z = p % f->size[2], t = p / f->size[2];
    const size_t last = plane_taps * ((f->size[3] - t) * f->size[2] - z) - 1;
    const bool needed = f->size[3] == 1 || has_coefficients (f, last)
        || (made.empty () && p + 1 == n_planes);

    if (!needed)
      continue;
    made.push_back (TensorPlane{ first_slot + (int) t, first_z + (int) z });
    packed.resize (packed.size () + bytes);
    pack_plane (f, pieces, last, packed.data () + packed.size () - bytes);
  }
  first = made[0];
  planes.plan (std::move (made));
  weights.plan (std::move (packed));
}

/* Chooses whether planes and coefficients stay in shared memory. @most: the
 * bytes of shared memory that a thread block may have, @room: those of a
 * multiprocessor.
 *
 * Z_SLIDING is chosen if two thread blocks fit on a multiprocessor, so that one
 * computes while the other waits. PAIRS is chosen otherwise if its kernel
 * exists, and all coefficients fit beside 4 planes. STREAM is chosen otherwise.
 * It copies several planes at a time, because copies have a long latency. */
void
TensorFilter::choose_way (const RingJob &job, bool unpadded, size_t most,
    size_t room)
{
  const size_t plane_count = planes.count ();
  const size_t weight_bytes = tensor_weight_bytes (kernel);
  const size_t all_weights = plane_count * weight_bytes;
  const size_t sliding = sliding_bytes (kernel, plane_count);
  const size_t half = room / 2 - 1024;

  /* pack() leaves out planes without coefficients only if duration > 1. */
  if (duration == 1 && sliding <= half) {
    way = Z_SLIDING;
    kept_bytes = all_weights;
    copied = 1;
    ring_planes = plane_count + 2;
    shared_bytes = sliding;
  } else if (kernel.pairs && !unpadded && plane_count == depth * duration
      && job.shape.size[2] > 1 && all_weights + 4 * kernel.load_bytes <= most) {
    const size_t fit = (most - all_weights) / (2 * kernel.load_bytes);

    way = PAIRS;
    kept_bytes = all_weights;
    kernel.function = kernel.pairs;
    copied = std::min<size_t> (fit, 8);
    ring_planes = 2 * copied;
    shared_bytes = all_weights + ring_planes * kernel.load_bytes;
  } else {
    for (copied = 4; copied > 1 && streaming_bytes (kernel, copied) > half;)
      copied--;
    ring_planes = 2 * copied;
    shared_bytes = streaming_bytes (kernel, copied);
  }
}

/* Cuts volumes along z into items, so that the @at_once thread blocks that run
 * at the same time have equal work. */
void
TensorFilter::choose_length (const RingJob &job, size_t at_once)
{
  const size_t tiles = ((job.shape.size[0] + TENSOR_WIDTH - 1) / TENSOR_WIDTH)
      * ((job.shape.size[1] + TENSOR_HEIGHT - 1) / TENSOR_HEIGHT);
  const size_t outputs = job.shape.size[2], step = way == PAIRS ? 2 : 1;
  size_t best = SIZE_MAX;

  for (size_t n = 1; n <= outputs; n++) {
    const size_t each = ((outputs + n - 1) / n + step - 1) / step * step;
    const size_t items = tiles * ((outputs + each - 1) / each);
    /* In units of an eighth of an output plane. An item first fills the
     * ring. */
    const size_t time = (items + at_once - 1) / at_once
        * (8 * each + (way == Z_SLIDING ? 2 * (planes.count () - 1) : 0) + 1);

    if (time < best) {
      best = time;
      length = each;
      blocks = items < at_once ? items : at_once;
    }
  }
}

void
TensorFilter::choose_launch (const RingJob &job, bool unpadded)
{
  const int processors = device_attribute (cudaDevAttrMultiProcessorCount);
  const int most = device_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  int resident;

  choose_way (job, unpadded, most,
      device_attribute (cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  ND_CUDA (cudaFuncSetAttribute (kernel.function,
      cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  ND_CUDA (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&resident,
      kernel.function, threads (), shared_bytes));
  choose_length (job, (size_t) processors * std::max (resident, 1));
  ND_DEBUG ("%zu planes of %d rows, %s; %d thread blocks with %zu bytes of "
            "shared memory, %d output planes each",
      planes.count (), kernel.ky,
      way == Z_SLIDING   ? "z-sliding"
          : way == PAIRS ? "in pairs"
                         : "streamed",
      blocks, shared_bytes, length);
}

void
TensorFilter::run (TensorArguments a, cudaStream_t stream) const
{
  a.planes = planes.get ();
  a.n_planes = planes.count () + (way == PAIRS ? planes.count () / depth : 0);
  a.z_sliding = way == Z_SLIDING;
  a.kept_bytes = kept_bytes;
  a.first = first;
  a.depth = depth;
  a.duration = duration;
  a.copied = copied;
  a.ring_planes = ring_planes;
  a.weights = weights.get ();
  a.weight_bytes = tensor_weight_bytes (kernel);
  a.ky = kernel.ky;
  a.x = x;
  a.y = y;
  a.unpadded.end = end;
  a.unpadded.eight &= x % 8 == 0;
  a.length = length;
  a.scale = scale;
  launch_early (kernel.function, blocks, threads (), shared_bytes, stream, a);
}

int
tensor_weight_bytes (const TensorKernel &k)
{
  return (k.window / 16) * (k.ky + 2 * (TENSOR_ROWS - 1)) * k.columns * 128;
}

} // namespace nd
