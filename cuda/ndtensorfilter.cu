/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndtensorfilter.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <cuda_fp16.h>
#include <utility>

#include "ndlaunch.cuh"

namespace nd
{

/* Behind the last coefficients: compute-sanitizer knows of the columns that
 * wgmma reads how many there are, not that they overlap. */
constexpr size_t SLACK = 4096;
constexpr int HALF_BITS = 13;           /* coefficients in fp16 are below */
/* Beside samples in fp16, which err by 4.9e-4 alike where all are one value,
 * a sum of coefficients may err by 8e-6, where noise allows them 4e-4. */
constexpr double HALF_SUMS = 50;
constexpr int HALF_UNITS = 1024;        /* tried for that */

static double
largest_coefficient (const NdFilter *f)
{
  double largest = 0;

  for (size_t i = 0; i < nd_filter_count (f); i++)
    largest = fmax (largest, fabs (f->coefficients[i]));
  return largest;
}

int
filter_exponent (const NdFilter *f)
{
  const double largest = largest_coefficient (f);
  int exponent;

  frexp (largest, &exponent);
  return largest > 0 ? exponent : 0;
}

namespace
{

/* In signed bytes from high to low. */
int
byte_of (int integer, int bytes, int which)
{
  for (int i = bytes - 1; i > which; i--)
    integer = (integer - (signed char) integer) / 256;
  return (signed char) integer;
}

double
round_half (double w)
{
  return __half2float (__float2half_rn ((float) w));
}

/* Coefficients in units as @values, with what that errs; that of their sum
 * counts @sums times. */
Pieces
measured (const NdFilter *f, double unit, int bytes,
    std::vector<double> values, double sums = 1)
{
  double lost = 0, error2 = 0, norm2 = 0, sum = 0;

  for (size_t i = 0; i < values.size (); i++) {
    const double w = f->coefficients[i] / unit;

    lost += w - values[i];
    sum += w;
    error2 += (values[i] - w) * (values[i] - w);
    norm2 += w * w;
  }
  return Pieces { unit, bytes, norm2 > 0 ? fmax (sqrt (error2 / norm2),
        sums * fabs (lost) / fmax (fabs (sum), sqrt (norm2))) : 0,
    std::move (values) };
}

/* To the nearest integer, but for those nearest to the next one where the sum
 * needs them; among equal ones, scattered. What is 0 stays that. */
std::vector<double>
round_integers (const NdFilter *f, double unit)
{
  std::vector<double> values (nd_filter_count (f)), rest (values.size ());
  std::vector<uint32_t> order;
  double lost = 0;

  for (uint32_t i = 0; i < values.size (); i++) {
    const double w = f->coefficients[i] / unit;

    values[i] = rint (w);
    rest[i] = w - values[i];
    lost += rest[i];
    if (w != 0)
      order.push_back (i);
  }
  const double step = lost < 0 ? -1 : 1;
  const size_t moved = std::min<size_t> (rint (fabs (lost)), order.size ());

  std::nth_element (order.begin (), order.begin () + moved, order.end (),
      [&] (uint32_t i, uint32_t j) {
        const double more = step * (rest[i] - rest[j]);

        return more != 0 ? more > 0 : i * 2654435761u < j * 2654435761u;
      });
  for (size_t k = 0; k < moved; k++)
    values[order[k]] += step;
  return values;
}

Pieces
make_integers (const NdFilter *f, int bytes)
{
  const int largest = bytes == 1 ? 127 : bytes == 2 ? 32639 : 8355711;

  for (int exponent = filter_exponent (f) - 8 * bytes;; exponent++) {
    const double unit = ldexp (1, exponent);
    std::vector<double> values = round_integers (f, unit);
    bool fits = true;

    for (double value : values)
      fits &= fabs (value) <= largest;
    if (fits)
      return measured (f, unit, bytes, std::move (values));
  }
}

/* With what the one before lost, or without. */
std::vector<double>
round_halves (const NdFilter *f, double unit, bool carry)
{
  std::vector<double> values;
  double lost = 0;

  for (size_t i = 0; i < nd_filter_count (f); i++) {
    const double w = f->coefficients[i] / unit;

    values.push_back (w == 0 ? 0 : round_half (carry ? w + lost : w));
    lost += w - values[i];
  }
  return values;
}

/* One fp16 each: as they are, or as parts of the largest, so that equal ones
 * are exact; where neither serves, in other units, until one does. */
Pieces
make_halves (const NdFilter *f)
{
  const double largest = largest_coefficient (f);
  std::vector<double> units = { ldexp (1, filter_exponent (f) - HALF_BITS) };
  Pieces best = { 1, 0, INFINITY, {} };

  for (int k = 0; k < HALF_UNITS && largest > 0; k++)
    units.push_back (ldexp (largest, 1 - HALF_BITS)
        * (1 - 0.5 * k / HALF_UNITS));
  for (size_t k = 0; k < units.size (); k++) {
    for (bool carry : { true, false }) {
      Pieces made = measured (f, units[k], 0,
          round_halves (f, units[k], carry), HALF_SUMS);

      if (made.error < best.error)
        best = std::move (made);
    }
    if (k > 0 && best.error <= most_error (ND_ACCURACY_FAST))
      break;
  }
  return best;
}

/* A high and a low fp16 each, which coefficient() takes apart. */
Pieces
make_pairs (const NdFilter *f)
{
  const double unit = ldexp (1, filter_exponent (f) - HALF_BITS);
  Pieces made = { unit, 0, 0, {} };

  for (size_t i = 0; i < nd_filter_count (f); i++)
    made.values.push_back (f->coefficients[i] / unit);
  return made;
}

} // namespace

double
most_error (NdAccuracy accuracy)
{
  return accuracy == ND_ACCURACY_FAST ? 4e-4 : 1.8e-6;
}

Pieces
make_pieces (const NdFilter *f, TensorForm form, NdAccuracy accuracy)
{
  const bool fast = accuracy == ND_ACCURACY_FAST;

  if (form == TENSOR_HALVES)
    return fast ? make_halves (f) : make_pairs (f);
  for (int bytes = 1;; bytes++) {
    const Pieces made = make_integers (f, bytes);

    if (made.error == 0 || bytes == 3
        || (fast && made.error <= most_error (accuracy)))
      return made;
  }
}

TensorFilter::TensorFilter (const NdJob &job, const NdFilter *f,
    const NdReach &reach, bool bare, TensorForm form, int offset,
    FindTensorKernel *find_kernel)
{
  const Pieces pieces = make_pieces (f, form, job.accuracy);
  const int ky = f->size[1] < 3 ? 3 : f->size[1] | 1;
  int low[ND_AXES], high[ND_AXES], columns = 1, n_pieces = 1;

  nd_filter_reach (f, low, high);
  x = bare ? low[0] & ~3 : (low[0] - reach.low[0]) & ~7;
  y = bare ? low[1] : low[1] - reach.low[1];
  shift = (bare ? low[0] : low[0] - reach.low[0]) - x;
  end = job.shape.size[0] + high[0];
  coefficient_row = shift + f->size[0];
  if (form == TENSOR_BYTES)
    columns = pieces.bytes;
  else if (form == TENSOR_WORDS)
    columns = pieces.bytes + 1;
  if (form == TENSOR_WORDS || (form == TENSOR_HALVES
          && job.accuracy == ND_ACCURACY_SINGLE))
    n_pieces = 2;
  if (form == TENSOR_HALVES)
    columns = n_pieces;
  kernel = find_kernel (form == TENSOR_HALVES ? 2 : 1,
      shift + f->size[0] + 7 <= 16 ? 16 : 32, ky, columns, n_pieces);
  if (!kernel.function)
    throw Error (ND_ERROR_FAILED, "no kernel of method tensor for that "
        "filter");
  scale = pieces.unit;
  depth = f->size[2];
  duration = f->size[3];
  pack (f, pieces, form, offset, bare ? low[2] : low[2] - reach.low[2],
      low[3] - reach.low[3]);
  choose_launch (job, bare);
}

/* Writes what a product of @set multiplies in @column; returns the integer. */
int
TensorFilter::coefficient (const Pieces &p, int set, int column, size_t at,
    unsigned char *to) const
{
  if (p.bytes == 0) {
    const double w = p.values[at];
    const __half value = __float2half_rn ((float) (column == 0 ? w
            : w - round_half (w)));

    memcpy (to, &value, sizeof (value));
    return 0;
  }
  /* Low bytes of samples weigh 2^8 less: a column further. */
  const int which = column - set;
  const int value = which < 0 || which >= p.bytes ? 0
      : byte_of ((int) p.values[at], p.bytes, which);

  *to = (unsigned char) value;
  return value;
}

void
TensorFilter::pack (const NdFilter *f, const Pieces &pieces, TensorForm form,
    int offset, int first_z, int first_slot)
{
  const int unit = kernel.unit, samples = 16 / unit;
  const int zeros = TENSOR_ROWS - 1;
  const int bytes = tensor_weight_bytes (kernel);
  const int nx = f->size[0], ny = f->size[1];
  const size_t plane_taps = (size_t) nx * ny;
  std::vector<unsigned char> packed;
  std::vector<float> values;
  std::vector<TensorPlane> made;

  for (size_t p = 0; p < f->size[2] * f->size[3]; p++) {
    /* Coefficients run against offsets: the last reads the least. */
    const size_t z = p % f->size[2], t = p / f->size[2];
    const size_t last = plane_taps * ((f->size[3] - t) * f->size[2] - z) - 1;
    bool any = f->size[3] == 1;

    for (size_t i = 0; i < plane_taps; i++)
      any |= f->coefficients[last - i] != 0;
    if (!any && !(made.empty () && p + 1 == f->size[2] * f->size[3]))
      continue;
    made.push_back (TensorPlane { first_slot + (int) t, first_z + (int) z });
    packed.resize (packed.size () + bytes);
    unsigned char *to = packed.data () + packed.size () - bytes;

    for (int set = 0; set < tensor_sets (kernel); set++)
      for (int m = 0; m < kernel.window / samples; m++)
        for (int d = -zeros; d < kernel.ky + zeros; d++)
          for (int column = 0; column < kernel.columns; column++)
            for (int c = 0; c < 8; c++)
              for (int k = 0; k < samples; k++, to += unit) {
                const int i = m * samples + k - c - shift;

                if (i < 0 || i >= nx || d < 0 || d >= ny)
                  continue;
                const int value = coefficient (pieces, set, column,
                    last - ((size_t) d * nx + i), to);

                if (c == 0 && set == 0)
                  start[column] -= offset / 256 * value;
              }
    for (int d = 0; form == TENSOR_HALVES && d < kernel.ky; d++)
      for (int i = -shift; i < nx; i++)
        values.push_back (i < 0 || d >= ny ? 0
            : f->coefficients[last - ((size_t) d * nx + i)]);
  }
  first = made[0];
  planes = Memory<TensorPlane> (made.size ());
  planes.upload (made.data (), made.size ());
  weights = Memory<unsigned char> (packed.size ());
  weights.upload (packed.data (), packed.size ());
  coefficients = Memory<float> (values.size ());
  coefficients.upload (values.data (), values.size ());
}

/* Planes and coefficients stay in shared memory for the next output plane where
 * two blocks find room on a multiprocessor, so that one computes while another
 * waits (of float32, one). Otherwise planes are copied for each output, several
 * at once, as a copy waits long: for two output planes where all coefficients
 * find room beside them. Volumes are cut along z such that all multiprocessors
 * have as much to do. */
void
TensorFilter::choose_launch (const NdJob &job, bool bare)
{
  const size_t plane_count = planes.count ();
  const size_t weight_bytes = tensor_weight_bytes (kernel);
  const size_t all_weights = plane_count * weight_bytes;
  const size_t marching = all_weights + (plane_count + 2) * kernel.load_bytes;
  const size_t streaming = 2 * (kernel.load_bytes + weight_bytes);
  const size_t tiles = ((job.shape.size[0] + TENSOR_WIDTH - 1) / TENSOR_WIDTH)
      * ((job.shape.size[1] + TENSOR_HEIGHT - 1) / TENSOR_HEIGHT);
  int device, processors, room, most, resident;
  size_t best = SIZE_MAX;

  ND_CUDA (cudaGetDevice (&device));
  ND_CUDA (cudaDeviceGetAttribute (&processors,
          cudaDevAttrMultiProcessorCount, device));
  ND_CUDA (cudaDeviceGetAttribute (&room,
          cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  ND_CUDA (cudaDeviceGetAttribute (&most,
          cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const size_t half = room / 2 - 1024;

  /* Planes without coefficients were left out, if there are not all. */
  if (duration == 1 && marching <= (kernel.unit == 2 ? (size_t) most : half)) {
    way = MARCH;
    kept_bytes = all_weights;
    copied = 1;
    ring_planes = plane_count + 2;
    shared_bytes = marching;
  } else if (kernel.pairs && !bare && plane_count == depth * duration
      && job.shape.size[2] > 1
      && all_weights + 4 * kernel.load_bytes <= (size_t) most) {
    const size_t fit = (most - all_weights) / (2 * kernel.load_bytes);

    way = PAIRS;
    kept_bytes = all_weights;
    kernel.function = kernel.pairs;
    copied = std::min<size_t> (fit, 8);
    ring_planes = 2 * copied;
    shared_bytes = all_weights + ring_planes * kernel.load_bytes;
  } else {
    const size_t fit = (half - SLACK) / streaming;

    copied = fit > 4 ? 4 : fit > 1 ? fit : 1;
    ring_planes = 2 * copied;
    shared_bytes = copied * streaming + SLACK;
  }
  if (shared_bytes > (size_t) most)
    throw Error (ND_ERROR_SETTINGS, "The GPU has too little shared memory for "
        "method=tensor with that filter: use method=auto, direct or fft");
  ND_CUDA (cudaFuncSetAttribute (kernel.function,
          cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  ND_CUDA (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&resident,
          kernel.function, threads (), shared_bytes));

  const size_t at_once = (size_t) processors * (resident > 0 ? resident : 1);
  const size_t outputs = job.shape.size[2], step = way == PAIRS ? 2 : 1;

  for (size_t n = 1; n <= outputs; n++) {
    const size_t each = ((outputs + n - 1) / n + step - 1) / step * step;
    const size_t items = tiles * ((outputs + each - 1) / each);
    /* A new run first fills the ring. */
    const size_t time = (items + at_once - 1) / at_once
        * (8 * each + (way == MARCH ? 2 * (plane_count - 1) : 0) + 1);

    if (time < best) {
      best = time;
      length = each;
      blocks = items < at_once ? items : at_once;
    }
  }
}

void
TensorFilter::run (TensorArguments a, cudaStream_t stream) const
{
  a.planes = planes.get ();
  a.n_planes = planes.count () + (way == PAIRS ? planes.count () / depth : 0);
  a.march = way == MARCH;
  a.kept_bytes = kept_bytes;
  a.first = first;
  a.depth = depth;
  a.duration = duration;
  a.copied = copied;
  a.ring_planes = ring_planes;
  a.weights = weights.get ();
  a.weight_bytes = tensor_weight_bytes (kernel);
  a.ky = kernel.ky;
  a.coefficients = coefficients.get ();
  a.coefficient_row = coefficient_row;
  a.x = x;
  a.y = y;
  a.bare.end = end;
  a.bare.eight &= x % 8 == 0;
  a.length = length;
  memcpy (a.start, start, sizeof (start));
  a.scale = scale;
  launch_early (kernel.function, blocks, threads (), shared_bytes, stream, a);
}

int
tensor_weight_bytes (const TensorKernel &k)
{
  return tensor_sets (k) * (k.window * k.unit / 16)
      * (k.ky + 2 * (TENSOR_ROWS - 1)) * k.columns * 128;
}

} // namespace nd
