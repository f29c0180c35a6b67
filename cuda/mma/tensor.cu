/* Method `tensor`: the sum over all taps by the matrix units, from a ring of
 * padded volumes in the form that they read (cuda/mma/tensor.cuh), or from one
 * unpadded volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/tensor.cuh"

#include "core/log.h"
#include "cuda/cost.h"
#include "cuda/device.h"
#include "cuda/mma/edges.cuh"
#include "cuda/mma/filter.cuh"
#include "cuda/mma/pad.cuh"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace nd
{

namespace
{

constexpr int MAX_SIZE = 17;       /* of a filter in x and y */
constexpr size_t MAX_TAPS = 30000; /* for sums in int32 */

/* Unpadded volumes of at least so many samples are pushed while a response is
 * computed. For smaller volumes, waiting between CUDA streams costs more than
 * that saves. */
constexpr size_t LARGE = 1 << 22;

/* The reach of padded volumes. Along x they begin up to three samples before
 * the first sample that filters read, at a multiple of four samples from the
 * volume, so that four samples can be copied at once. If that would require a
 * wider window, they begin at the first sample that filters read. */
NdReach
padded_reach (const RingJob &job)
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

/* Whether volumes are read unpadded. Each filter then takes longer than with a
 * padded volume, so that only jobs with one or two filters and windows of one
 * volume become faster. The windows of samples then begin at multiples of four
 * samples of the volume; that must not require a wider window. */
bool
reads_unpadded (const RingJob &job)
{
  if (nd_job_reach (&job).slots > 1 || job.bank->n_filters > 2
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
  Tensor (const RingJob &job, const ComputeStreams &streams);
  size_t bytes_needed () const override;
  void allocate () override;
  bool pushes_ahead () const override { return ahead; }
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void make_ring ();

  const RingJob job;
  const NdReach reach;
  const ComputeStreams streams;
  bool ahead = true;
  size_t row, slice, volume;          /* bytes */
  std::unique_ptr<TensorEdges> edges; /* if volumes are read unpadded */
  std::unique_ptr<TensorPad> pad;
  Memory<unsigned char> ring; /* [slot][component] */
  std::vector<TensorFilter> filters;
};

/* The kernels for the current device. Only compute capability 9.0 has wgmma.
 * For tests, the environment variable NDCONV_TENSOR=mma selects the kernels of
 * other devices. */
FindTensorKernel *
choose_kernels ()
{
#ifdef ND_WGMMA
  const char *variable = getenv ("NDCONV_TENSOR");

  if (compute_capability () == 90
      && !(variable && strcmp (variable, "mma") == 0))
    return find_wgmma_kernel;
#endif
  return find_mma_kernel;
}

Tensor::Tensor (const RingJob &job, const ComputeStreams &streams)
    : job (job), reach (padded_reach (job)), streams (streams)
{
  FindTensorKernel *const find_kernel = choose_kernels ();

  const auto add_filters = [&] (bool unpadded) {
    filters.clear ();
    for (unsigned k = 0; k < job.bank->n_filters; k++)
      filters.emplace_back (job, job.bank->filters[k], reach, unpadded,
          find_kernel);
  };
  bool unpadded = reads_unpadded (job);

  add_filters (unpadded);
  /* If planes are copied for each output again, copies from a padded volume are
   * faster. */
  for (unsigned k = 0; unpadded && k < filters.size (); k++) {
    if (!filters[k].is_z_sliding ())
      add_filters (unpadded = false);
  }
  if (unpadded) {
    ahead = job.shape.size[0] * job.shape.size[1] * job.shape.size[2] >= LARGE;
    edges = std::make_unique<TensorEdges> (job, ahead ? 2 : 1);
  } else {
    make_ring ();
  }
}

void
Tensor::make_ring ()
{
  size_t size[3];

  for (int a = 0; a < 3; a++)
    size[a] = job.shape.size[a] + reach.high[a] - reach.low[a];
  /* Memory has room for whole tiles. Windows begin at a multiple of 8 samples
   * and end up to 24 samples beyond a tile; the rows that a kernel reads end up
   * to 2 beyond those of the filter. */
  row = (job.shape.size[0] + TENSOR_WIDTH - 1) / TENSOR_WIDTH * TENSOR_WIDTH
      + (size[0] - job.shape.size[0]) / 16 * 16 + 32;
  slice = multiply (row, size[1]);
  volume = multiply (slice, size[2]) + row * (TENSOR_HEIGHT + 4);
  pad = std::make_unique<TensorPad> (job, reach, row);
  /* The second plane of a pair may lie after the last plane. */
  ring.plan (multiply (volume,
                 multiply (ahead_slots (job), job.shape.components))
      + slice);
}

size_t
Tensor::bytes_needed () const
{
  size_t bytes = edges ? edges->bytes () : total_bytes (ring, *pad);

  for (const TensorFilter &f : filters)
    bytes += f.bytes ();
  return bytes;
}

void
Tensor::allocate ()
{
  ND_INFO ("%s kernels, %s volumes",
      choose_kernels () == find_mma_kernel ? "mma" : "wgmma",
      edges ? "unpadded" : "padded");
  if (edges)
    edges->allocate ();
  else
    allocate_all (ring, *pad);
  for (TensorFilter &f : filters)
    f.allocate ();
}

void
Tensor::push (unsigned slot, const NdSamples *samples)
{
  const size_t components = job.shape.components;

  if (edges) {
    edges->fill (slot, *samples, ahead ? streams.push : streams.respond);
    return;
  }
  for (size_t c = 0; c < components; c++) {
    const size_t i = slot * components + c;

    pad->fill (samples, c, ring.get () + i * volume, streams.push);
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
      edges->set (slots[0], a);
    } else {
      a.volumes = ring.get () + c * volume;
      a.volume = components * volume;
      a.row = row;
      a.slice = slice;
    }
    memcpy (a.slots, slots, reach.slots * sizeof (int));
    for (int axis = 0; axis < 3; axis++)
      a.size[axis] = job.shape.size[axis];
    for (unsigned k = 0; k < filters.size (); k++) {
      a.store = make_store (out, job.out_type, scale, c, k);
      a.paired = stored_in_twos (a.store, a.size[0]);
      filters[k].run (a, streams.respond);
    }
  }
}

/* Throws Error if the method cannot do the job. */
void
check_tensor (const RingJob &job)
{
  if (job.precision == ND_PRECISION_DOUBLE)
    throw Error (ND_ERROR_SETTINGS,
        "method=tensor computes in single precision only: use method=auto, "
        "direct, separable or fft with precision=double");
  if (!nd_job_has_bytes (&job, job.border_volumes))
    throw Error (ND_ERROR_SETTINGS,
        "method=tensor filters uint8 samples with a border-value from 0 to "
        "255: use method=auto, direct or fft");
  if (compute_capability () < 80)
    throw Error (ND_ERROR_SETTINGS,
        "method=tensor needs a GPU of compute capability 8.0 (Ampere) or "
        "later: use method=auto, direct or fft");
  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *f = job.bank->filters[k];

    if (f->size[0] > MAX_SIZE || f->size[1] > MAX_SIZE
        || nd_filter_count (f) > MAX_TAPS)
      throw Error (ND_ERROR_SETTINGS,
          std::string ("Filter '") + f->name
              + "' is too large for method=tensor, which takes up to 17 "
                "samples in x and y and 30000 coefficients: use method=auto, "
                "direct or fft");
    if (abs (filter_exponent (f)) > 60)
      throw Error (ND_ERROR_SETTINGS,
          std::string ("The coefficients of filter '") + f->name
              + "' are too small or too large for method=tensor: use "
                "method=auto, direct or fft");
    if (make_pieces (f).error > MAX_PIECES_ERROR)
      throw Error (ND_ERROR_SETTINGS,
          std::string ("method=tensor cannot represent the coefficients of "
                       "filter '")
              + f->name
              + "' with a relative error of 2e-6: use method=auto, direct or "
                "fft");
  }
}

/* The clock cycles of a multiprocessor for the products of one tile and one
 * plane of a filter: those of the matrix units or of shared memory, whichever
 * takes longer. */
double
plane_clocks (const NdFilter *f)
{
  const bool wide = f->size[0] > 9;
  const double rows = TENSOR_ROWS + f->size[1];
  const int columns = make_pieces (f).bytes;

  return 2 * (wide ? rows : rows / 2) * fmax (16 * columns, 16 + 8 * columns);
}

} // namespace

/* The products, the time between the products of two tiles, the padded copy,
 * and launches. The constants are fitted to an H100 80GB HBM3 with wgmma
 * (cuda/cost.h); mma takes twice as long there. */
double
tensor_cost (const RingJob &job)
{
  check_tensor (job);
  constexpr double CLOCKS = 132 * 1.75e9; /* cycles per second of all
                                           * multiprocessors */
  constexpr double TILE = 1600;           /* cycles between two tiles */
  constexpr double STREAMED = 1.6; /* factor if planes are copied per output */
  constexpr double PAD_RATE = 1.7e12; /* bytes per second of the padded copy */
  const Rates rates = device_rates ();
  const bool has_wgmma = choose_kernels () != find_mma_kernel;
  const double tiles = ceil (job.shape.size[0] / (double) TENSOR_WIDTH)
      * ceil (job.shape.size[1] / (double) TENSOR_HEIGHT) * job.shape.size[2]
      * job.shape.components;
  double clocks = 0, bytes = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *f = job.bank->filters[k];
    const double planes = (double) f->size[2] * f->size[3];
    const bool streamed = planes > 1 && (f->size[3] > 1 || planes > 7);

    clocks += tiles
        * (TILE + planes * plane_clocks (f) * (streamed ? STREAMED : 1))
        * (has_wgmma && f->size[1] <= WGMMA_ROWS ? 1 : 2);
  }
  if (!reads_unpadded (job))
    bytes = count_samples (job) * 2;
  return clocks / CLOCKS / rates.products + bytes / PAD_RATE / rates.bytes
      + (1 + job.bank->n_filters) * LAUNCH;
}

std::unique_ptr<Method>
make_tensor (const RingJob &job, const ComputeStreams &streams, size_t)
{
  check_tensor (job);
  return std::make_unique<Tensor> (job, streams);
}

} // namespace nd
