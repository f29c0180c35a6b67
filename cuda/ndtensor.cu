/* Method `tensor`: the sum over all taps by the matrix units, on a ring of
 * padded volumes in the form that they read (ndtensor.cuh).
 *
 * Coefficients of integer samples become integers of up to 23 bits and sign,
 * times a power of two, in one to three signed bytes: as many as are exact, or
 * three (accuracy fast: two). What is lost in rounding one is added to the
 * next, so that the sum of the filter stays what it was: the error does not
 * grow with the mean of the samples.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndtensor.cuh"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <vector>

#include "ndlaunch.cuh"
#include "ndtensoredges.cuh"
#include "ndtensorpad.cuh"

namespace nd
{

namespace
{

constexpr int MAX_SIZE = 17;            /* of a filter in x and y */
constexpr size_t MAX_TAPS = 30000;      /* for sums in int32 */
/* Behind the last coefficients: compute-sanitizer knows of the columns that
 * wgmma reads how many there are, not that they overlap. */
constexpr size_t SLACK = 4096;
constexpr int HALF_BITS = 13;           /* coefficients in fp16 are below */

/* A filter's coefficients as the products take them. */
struct Pieces
{
  int exponent;                 /* coefficient = integer * 2^exponent */
  int bytes;                    /* 0: halves */
  bool exact;
  std::vector<int> integers;    /* in the order of NdFilter */
};

/* What a filter's coefficients are below. */
int
filter_exponent (const NdFilter *f)
{
  double largest = 0;
  int exponent;

  for (size_t i = 0; i < nd_filter_count (f); i++)
    largest = fmax (largest, fabs (f->coefficients[i]));
  frexp (largest, &exponent);
  return largest > 0 ? exponent : 0;
}

/* In signed bytes from high to low. */
int
byte_of (int integer, int bytes, int which)
{
  for (int i = bytes - 1; i > which; i--)
    integer = (integer - (signed char) integer) / 256;
  return (signed char) integer;
}

Pieces
make_integers (const NdFilter *f, int bytes)
{
  const int largest = bytes == 1 ? 127 : bytes == 2 ? 32639 : 8355711;
  Pieces made = { filter_exponent (f) - 8 * bytes, bytes, false, {} };

  for (;; made.exponent++) {
    double lost = 0;
    bool fits = true;

    made.integers.clear ();
    made.exact = true;
    for (size_t i = 0; i < nd_filter_count (f); i++) {
      const double w = ldexp (f->coefficients[i], -made.exponent);
      const double rounded = rint (w + lost);

      made.exact &= rounded == w;
      lost += w - rounded;
      fits &= fabs (rounded) <= largest;
      made.integers.push_back ((int) rounded);
    }
    if (fits)
      return made;
  }
}

Pieces
make_pieces (const NdFilter *f, TensorForm form, NdAccuracy accuracy)
{
  const int most = accuracy == ND_ACCURACY_FAST ? 2 : 3;

  if (form == TENSOR_HALVES)
    return Pieces { filter_exponent (f) - HALF_BITS, 0, false, {} };
  for (int bytes = 1;; bytes++) {
    Pieces made = make_integers (f, bytes);

    if (made.exact || bytes == most)
      return made;
  }
}

/* The form that holds samples and border value of a job. */
TensorForm
job_form (const NdJob &job, int *offset)
{
  const bool border = job.border == ND_BORDER_CONSTANT || job.border_volumes;
  const double v = border ? job.border_value : 0;

  *offset = 0;
  if (job.in_type == ND_FLOAT32 || v != rint (v))
    return TENSOR_HALVES;
  if (job.in_type == ND_UINT8 && v >= 0 && v <= 255)
    return TENSOR_BYTES;
  if (job.in_type == ND_UINT16 && v >= 0 && v <= 65535)
    return TENSOR_WORDS;
  if (job.in_type != ND_INT16 || v < -32768 || v > 32767)
    return TENSOR_HALVES;
  *offset = 32768;
  return TENSOR_WORDS;
}

} // namespace

/* One filter of the bank, made ready. */
class TensorFilter
{
public:
  TensorFilter (const NdJob &job, const NdFilter *filter,
      const NdReach &reach, bool bare, TensorForm form, int offset,
      FindTensorKernel *find_kernel);

  void run (TensorArguments a, cudaStream_t stream) const;
  size_t
  bytes () const
  {
    return planes.bytes () + weights.bytes () + coefficients.bytes ();
  }

private:
  int coefficient (const Pieces &pieces, const NdFilter *filter, int set,
      int column, size_t at, unsigned char *to) const;
  void pack (const NdFilter *filter, const Pieces &pieces, TensorForm form,
      int offset, int first_z, int first_slot);
  void choose_launch (const NdJob &job);

  TensorKernel kernel;
  int x, y, shift;              /* of its box in the padded volume; of its
                                 * first column behind x */
  int end;                      /* behind what it reads of a row */
  bool march;
  int copied, ring_planes;
  size_t shared_bytes;
  int blocks, length;
  int coefficient_row;
  int start[4] = {};
  float scale;
  Memory<TensorPlane> planes;
  Memory<unsigned char> weights;
  Memory<float> coefficients;
};

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
  scale = ldexp (1, pieces.exponent);
  pack (f, pieces, form, offset, bare ? low[2] : low[2] - reach.low[2],
      low[3] - reach.low[3]);
  march = f->size[3] == 1;
  choose_launch (job);
}

/* Writes what a product of @set multiplies in @column; returns the integer. */
int
TensorFilter::coefficient (const Pieces &p, const NdFilter *f, int set,
    int column, size_t at, unsigned char *to) const
{
  if (p.bytes == 0) {
    const double w = ldexp (f->coefficients[at], -p.exponent);
    const __half high = __float2half_rn ((float) w);
    const __half value = column == 0 ? high
        : __float2half_rn ((float) (w - __half2float (high)));

    memcpy (to, &value, sizeof (value));
    return 0;
  }
  /* Low bytes of samples weigh 2^8 less: a column further. */
  const int which = column - set;
  const int value = which < 0 || which >= p.bytes ? 0
      : byte_of (p.integers[at], p.bytes, which);

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
                const int value = coefficient (pieces, f, set, column,
                    last - ((size_t) d * nx + i), to);

                if (c == 0 && set == 0)
                  start[column] -= offset / 256 * value;
              }
    for (int d = 0; form == TENSOR_HALVES && d < kernel.ky; d++)
      for (int i = -shift; i < nx; i++)
        values.push_back (i < 0 || d >= ny ? 0
            : f->coefficients[last - ((size_t) d * nx + i)]);
  }
  planes = Memory<TensorPlane> (made.size ());
  planes.upload (made.data (), made.size ());
  weights = Memory<unsigned char> (packed.size ());
  weights.upload (packed.data (), packed.size ());
  coefficients = Memory<float> (values.size ());
  coefficients.upload (values.data (), values.size ());
}

/* Planes and coefficients stay in shared memory for the next output plane where
 * two blocks find room on a multiprocessor, so that one computes while another
 * waits (of float32, one). Otherwise they are copied for each output, several
 * at once, as a copy waits long. Volumes are cut along z such that all
 * multiprocessors have as much to do. */
void
TensorFilter::choose_launch (const NdJob &job)
{
  const size_t weight_bytes = tensor_weight_bytes (kernel);
  const size_t plane_count = planes.count ();
  const size_t marching = plane_count * weight_bytes
      + (plane_count + 2) * kernel.load_bytes;
  const size_t streaming = 2 * (kernel.load_bytes + weight_bytes);
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

  march = march && marching <= (kernel.unit == 2 ? (size_t) most : half);
  if (march) {
    copied = 1;
    ring_planes = plane_count + 2;
    shared_bytes = marching;
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
          kernel.function, TENSOR_THREADS, shared_bytes));

  const size_t at_once = (size_t) processors * (resident > 0 ? resident : 1);
  const size_t tiles = ((job.shape.size[0] + TENSOR_WIDTH - 1) / TENSOR_WIDTH)
      * ((job.shape.size[1] + TENSOR_HEIGHT - 1) / TENSOR_HEIGHT);
  const size_t depth = job.shape.size[2];

  for (size_t n = 1; n <= depth; n++) {
    const size_t each = (depth + n - 1) / n;
    const size_t items = tiles * ((depth + each - 1) / each);
    /* A new run first fills the ring. */
    const size_t time = (items + at_once - 1) / at_once
        * (8 * each + (march ? 2 * (plane_count - 1) : 0) + 1);

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
  a.n_planes = planes.count ();
  a.march = march;
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
  launch_early (kernel.function, blocks, TENSOR_THREADS, shared_bytes, stream,
      a);
}

namespace
{

/* What padded volumes hold before the first sample in x: as much as the filters
 * read, and up to three samples more, so that four samples lie side by side in
 * both volumes; not where that would make a window wider. */
NdReach
padded_reach (const NdJob &job)
{
  const NdReach reach = nd_job_reach (&job);
  NdReach padded = reach;

  padded.low[0] -= (4 + reach.low[0] % 4) % 4;
  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    int low[ND_AXES], high[ND_AXES];

    nd_filter_reach (job.bank->filters[k], low, high);
    const int columns = job.bank->filters[k]->size[0] + 7;

    if (((low[0] - reach.low[0]) & 7) + columns <= 16
        && ((low[0] - padded.low[0]) & 7) + columns > 16)
      return reach;
  }
  return padded;
}

/* Whether a volume of bytes is read as it is: for one output, where windows of
 * samples that begin at multiples of four are as good as those of the padded
 * volume, which begin at multiples of eight of its own. */
bool
reads_bare (const NdJob &job, TensorForm form)
{
  if (form != TENSOR_BYTES || nd_job_reach (&job).slots > 1
      || job.shape.components > 1 || job.shape.size[0] % 4 != 0
      || job.border_volumes)
    return false;
  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    int low[ND_AXES], high[ND_AXES];

    nd_filter_reach (job.bank->filters[k], low, high);
    const int columns = job.bank->filters[k]->size[0] + 7;

    if (low[0] < -TENSOR_EDGE || high[0] > TENSOR_EDGE
        || (columns <= 16 && (low[0] & 3) + columns > 16))
      return false;
  }
  return true;
}

class Tensor : public Method
{
public:
  Tensor (const NdJob &job, cudaStream_t stream);
  size_t bytes () const override;
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void make_ring (TensorForm form, int offset);

  const NdJob job;
  const NdReach reach;
  const cudaStream_t stream;
  size_t row, slice, piece, volume;     /* bytes; pieces of one volume */
  std::unique_ptr<TensorEdges> edges;   /* where volumes are read as they are */
  std::unique_ptr<TensorPad> pad;
  Memory<unsigned char> ring;   /* [slot][component][piece] */
  Memory<float> scales;         /* [slot][component], of halves */
  std::vector<TensorFilter> filters;
};

/* wgmma is of compute capability 9.0 alone; NDCONV_TENSOR=mma takes what other
 * devices have, for tests. */
FindTensorKernel *
choose_kernels ()
{
#ifdef ND_WGMMA
  const char *asked = getenv ("NDCONV_TENSOR");

  if (compute_capability () == 90 && !(asked && strcmp (asked, "mma") == 0))
    return find_wgmma_kernel;
#endif
  return find_mma_kernel;
}

Tensor::Tensor (const NdJob &job, cudaStream_t stream)
  : job (job), reach (padded_reach (job)), stream (stream)
{
  int offset;
  const TensorForm form = job_form (job, &offset);
  FindTensorKernel *const find_kernel = choose_kernels ();

  if (compute_capability () < 80)
    throw Error (ND_ERROR_SETTINGS, "method=tensor needs a GPU of compute "
        "capability 8.0 (Ampere) or later: use method=auto, direct or fft");
  if (reads_bare (job, form))
    edges = std::make_unique<TensorEdges> (job);
  else
    make_ring (form, offset);
  for (unsigned k = 0; k < job.bank->n_filters; k++)
    filters.emplace_back (job, job.bank->filters[k], reach, (bool) edges, form,
        offset, find_kernel);
}

void
Tensor::make_ring (TensorForm form, int offset)
{
  const int unit = form == TENSOR_HALVES ? 2 : 1;
  const int pieces = form == TENSOR_WORDS || (form == TENSOR_HALVES
      && job.accuracy == ND_ACCURACY_SINGLE) ? 2 : 1;
  size_t size[3], volumes;

  for (int a = 0; a < 3; a++)
    size[a] = job.shape.size[a] + reach.high[a] - reach.low[a];
  /* Tiles are copied whole: windows begin at the filter's multiple of 8 and
   * reach up to 24 samples behind a tile, rows 2 behind the filter's. */
  row = ((job.shape.size[0] + TENSOR_WIDTH - 1) / TENSOR_WIDTH * TENSOR_WIDTH
      + (size[0] - job.shape.size[0]) / 16 * 16 + 32) * unit;
  slice = multiply (row, size[1]);
  piece = multiply (slice, size[2]) + row * (TENSOR_HEIGHT + 4);
  volume = multiply (piece, pieces);
  volumes = multiply (reach.slots + (job.border_volumes ? 1 : 0),
      job.shape.components);
  pad = std::make_unique<TensorPad> (job, reach, form, pieces, offset, row,
      piece);
  ring = Memory<unsigned char> (multiply (volume, volumes));
  if (form == TENSOR_HALVES)
    scales = Memory<float> (volumes);
}

size_t
Tensor::bytes () const
{
  size_t bytes = edges ? edges->bytes () : ring.bytes () + scales.bytes ()
      + pad->bytes ();

  for (const TensorFilter &f : filters)
    bytes += f.bytes ();
  return bytes;
}

void
Tensor::push (unsigned slot, const NdSamples *samples)
{
  const size_t components = job.shape.components;

  if (edges) {
    edges->fill (*samples, stream);
    return;
  }
  for (size_t c = 0; c < components; c++) {
    const size_t i = slot * components + c;

    pad->fill (samples, c, ring.get () + i * volume, scales.get () + i,
        stream);
  }
}

bool
stored_in_twos (const Store &s, size_t width)
{
  const size_t bytes = nd_sample_size ((NdSampleType) s.type);

  return !s.scaled && s.sample == bytes && width % 2 == 0
      && ((size_t) s.out | s.row | s.slice) % (2 * bytes) == 0;
}

void
Tensor::respond (const int *slots, const NdScale &scale, const NdSamples &out)
{
  const size_t components = job.shape.components;

  for (size_t c = 0; c < components; c++) {
    TensorArguments a = {};

    if (edges) {
      edges->set (a);
    } else {
      a.volumes = ring.get () + c * volume;
      a.volume = components * volume;
      a.piece = piece;
      a.row = row;
      a.slice = slice;
    }
    memcpy (a.slots, slots, reach.slots * sizeof (int));
    for (int axis = 0; axis < 3; axis++)
      a.size[axis] = job.shape.size[axis];
    a.slot_scales = scales.get () + c;
    a.scale_step = components;
    for (unsigned k = 0; k < filters.size (); k++) {
      a.store = make_store (out, job.out_type, scale, c, k);
      a.paired = stored_in_twos (a.store, a.size[0]);
      filters[k].run (a, stream);
    }
  }
}

} // namespace

int
tensor_weight_bytes (const TensorKernel &k)
{
  return tensor_sets (k) * (k.window * k.unit / 16)
      * (k.ky + 2 * (TENSOR_ROWS - 1)) * k.columns * 128;
}

void
check_tensor (const NdJob &job)
{
  const NdReach reach = nd_job_reach (&job);

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *f = job.bank->filters[k];

    if (f->size[0] > MAX_SIZE || f->size[1] > MAX_SIZE
        || nd_filter_count (f) > MAX_TAPS || reach.slots > MAX_SLOTS)
      throw Error (ND_ERROR_SETTINGS, std::string ("Filter '") + f->name
          + "' is too large for method=tensor, which takes up to 17 samples "
          "in x and y, 256 volumes and 30000 coefficients: use method=auto, "
          "direct or fft");
    if (abs (filter_exponent (f)) > 60)
      throw Error (ND_ERROR_SETTINGS, std::string ("The coefficients of "
              "filter '") + f->name + "' are too small or too large for "
          "method=tensor: use method=auto, direct or fft");
  }
}

/* Clocks of a multiprocessor for the products of one plane of a filter, for a
 * tile: what the matrix units take, or shared memory to feed them. */
static double
plane_clocks (const NdFilter *f, TensorForm form, NdAccuracy accuracy)
{
  const bool wide = f->size[0] > 9;
  const double rows = TENSOR_ROWS + f->size[1];

  if (form == TENSOR_HALVES)
    return 2 * rows * (wide ? 2 : 1) * (accuracy == ND_ACCURACY_FAST ? 24 : 56);
  const int bytes = make_pieces (f, form, accuracy).bytes;
  const int columns = form == TENSOR_WORDS ? bytes + 1 : bytes;

  return 2 * (wide ? rows : rows / 2) * fmax (16 * columns, 16 + 8 * columns)
      * (form == TENSOR_WORDS ? 2 : 1);
}

/* Seconds: the products, what lies between those of two tiles, a padded copy,
 * and launches, at the rates of an H100 (docs/performance.md). */
double
tensor_cost (const NdJob &job)
{
  constexpr double CLOCKS = 132 * 1.75e9, TILE = 1600, STREAMED = 1.6;
  constexpr double BYTE_RATE = 1.7e12, LAUNCH = 3e-6;
  int offset;
  const TensorForm form = job_form (job, &offset);
  const double tiles = ceil (job.shape.size[0] / (double) TENSOR_WIDTH)
      * ceil (job.shape.size[1] / (double) TENSOR_HEIGHT) * job.shape.size[2]
      * job.shape.components;
  const double samples = (double) job.shape.size[0] * job.shape.size[1]
      * job.shape.size[2] * job.shape.components;
  double clocks = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *f = job.bank->filters[k];
    const double planes = (double) f->size[2] * f->size[3];
    const bool streamed = planes > 1 && (f->size[3] > 1 || planes > 7
        || form != TENSOR_BYTES);

    clocks += tiles * (TILE + planes * plane_clocks (f, form, job.accuracy)
        * (streamed ? STREAMED : 1));
  }
  if (!reads_bare (job, form))
    clocks += samples * 2 * nd_sample_size (job.in_type) / BYTE_RATE * CLOCKS;
  return clocks / CLOCKS + (1 + job.bank->n_filters) * LAUNCH;
}

std::unique_ptr<Method>
make_tensor (const NdJob &job, cudaStream_t stream)
{
  check_tensor (job);
  return std::make_unique<Tensor> (job, stream);
}

} // namespace nd
