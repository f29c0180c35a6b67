/* Method `separable` in double precision: a pass along x, and one along each
 * other axis that the filter extends along. The result along x, y and z of each
 * volume of a window is in the ring. If the window has one volume, there is no
 * ring.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"
#include "cuda/direct/double.h"
#include "cuda/direct/doublestencil.cuh"
#include "cuda/direct/time.cuh"

#include <algorithm>
#include <cmath>

namespace nd
{

namespace
{

/* The passes of one filter. */
struct DoublePasses
{
  DoubleStencil x;
  std::vector<DoubleLine> lines; /* along y and z */
  std::vector<double> time;      /* weights, the oldest volume first */
  int first;                     /* the slot of the window of the first one */
};

/* The sum over border values, in the order of the kernels. */
double
sum_of_border (const double *factor, size_t n, double value)
{
  double sum = 0;

  for (size_t k = n; k-- > 0;)
    sum = factor[k] != 0 ? std::fma (factor[k], value, sum) : sum;
  return sum;
}

SumLayout
make_layout (const size_t size[3])
{
  SumLayout layout;

  layout.row = (size[0] + 3) / 4 * 4;
  layout.slice = multiply (layout.row, size[1]);
  layout.volume = multiply (layout.slice, size[2]);
  return layout;
}

class DoubleSeparable : public Method
{
public:
  DoubleSeparable (const RingJob &job, const ComputeStreams &streams);
  size_t bytes_needed () const override;
  void save_memory () { sums.save_memory (); }
  void allocate () override;
  bool pushes_ahead () const override { return has_ring; }
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void add_filter (const NdFilter *f);
  DoubleVolumes input_of (const NdSamples *volume, size_t component,
      cudaStream_t stream) const;
  DoubleVolumes volumes_of (double *volume, const double *outside) const;
  Store store_of (double *volume) const;
  void run (size_t k, DoubleVolumes from, const Store &out,
      cudaStream_t stream) const;
  size_t in_ring (size_t slot, size_t component, size_t k) const;

  const RingJob job;
  const NdReach reach;
  const ComputeStreams streams;
  const bool has_ring;
  const bool converts; /* samples are converted to float64 first */
  const SumLayout layout;
  NdSamples last;
  std::vector<DoublePasses> filters;
  std::vector<double> values; /* of outside */
  Memory<double> outside;     /* [filter][pass]: the border of its input */
  Memory<double> between[3];  /* converted samples, and sums */
  Memory<double> ring;        /* [slot][component][filter] */
  TimeSums<double> sums;
};

DoubleSeparable::DoubleSeparable (const RingJob &job,
    const ComputeStreams &streams)
    : job (job), reach (nd_job_reach (&job)), streams (streams),
      has_ring (reach.slots > 1 || job.border_volumes),
      converts (job.in_type != ND_FLOAT64 || job.border_volumes),
      layout (make_layout (job.shape.size)),
      sums (job, layout, job.bank->n_filters * job.shape.components)
{
  size_t lines = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    add_filter (job.bank->filters[k]);
    lines = std::max (lines, filters.back ().lines.size ());
  }
  outside.plan (values);
  if (converts)
    between[0].plan (layout.volume);
  for (size_t i = 1; i <= lines; i++)
    between[i].plan (layout.volume);
  if (has_ring)
    ring.plan (multiply (layout.volume,
        multiply (job.bank->n_filters,
            multiply (ahead_slots (job), job.shape.components))));
}

void
DoubleSeparable::add_filter (const NdFilter *f)
{
  const bool finite =
      !nd_sample_is_float (job.in_type) && std::isfinite (job.border_value);
  const size_t row[ND_AXES] = { f->size[0], 1, 1, 1 };
  double *factors[ND_AXES], value = job.border_value;
  int low[ND_AXES], high[ND_AXES];

  /* separable_cost () has refused other filters. */
  if (!nd_filter_separate_in (f, ND_PRECISION_DOUBLE, factors))
    throw Error (ND_ERROR_SETTINGS, "A filter is not separable");
  nd_filter_reach (f, low, high);
  const int row_low[ND_AXES] = { low[0], 0, 0, 0 };

  filters.push_back (DoublePasses{
      DoubleStencil (factors[0], row, row_low, 0, finite), {},
      { factors[3], factors[3] + f->size[3] }, low[3] - reach.low[3] });
  DoublePasses &passes = filters.back ();

  std::reverse (passes.time.begin (), passes.time.end ());
  for (int a = 0; a < 3; a++) {
    values.push_back (value);
    value = sum_of_border (factors[a], f->size[a], value);
    /* The only factor of an axis of size 1 is 1. */
    if (a > 0 && (f->size[a] > 1 || low[a] != 0))
      passes.lines.emplace_back ((NdAxis) a, factors[a], f->size[a], low[a]);
  }
  for (double *factor : factors)
    g_free (factor);
}

size_t
DoubleSeparable::bytes_needed () const
{
  size_t bytes =
      total_bytes (outside, between[0], between[1], between[2], ring, sums);

  for (const DoublePasses &p : filters) {
    bytes += p.x.bytes ();
    for (const DoubleLine &line : p.lines)
      bytes += line.bytes ();
  }
  return bytes;
}

void
DoubleSeparable::allocate ()
{
  ND_INFO ("double precision, %s", has_ring ? "with a ring" : "without a ring");
  allocate_all (outside, between[0], between[1], between[2], ring, sums);
  for (DoublePasses &p : filters) {
    p.x.allocate ();
    for (DoubleLine &line : p.lines)
      line.allocate ();
  }
}

DoubleVolumes
DoubleSeparable::volumes_of (double *volume, const double *outside) const
{
  return DoubleVolumes{ volume, 1, layout.row, layout.slice, 0, job.border,
    outside };
}

Store
DoubleSeparable::store_of (double *volume) const
{
  return Store{ (unsigned char *) volume, sizeof (double),
    layout.row * sizeof (double), layout.slice * sizeof (double), ND_FLOAT64,
    false, 1, 0 };
}

/* A component of @volume, or the border volume, as float64. */
DoubleVolumes
DoubleSeparable::input_of (const NdSamples *volume, size_t component,
    cudaStream_t stream) const
{
  Pad pad = make_pad (job, NdReach{});

  if (!converts)
    return read_in_place (*volume, component, job.border, nullptr);
  pad.row = layout.row;
  pad.slice = layout.slice;
  pad_volume (pad, volume, job.in_type, component, between[0].get (),
      NonFiniteList{}, stream);
  return volumes_of (between[0].get (), nullptr);
}

/* The passes along x, y and z of filter @k. */
void
DoubleSeparable::run (size_t k, DoubleVolumes from, const Store &out,
    cudaStream_t stream) const
{
  static const int first[1] = { 0 };
  const DoublePasses &p = filters[k];
  const size_t *const size = job.shape.size;
  const double *border = outside.get () + 3 * k;

  from.outside = border;
  p.x.run (from, first, size,
      p.lines.empty () ? out : store_of (between[1].get ()), stream);
  for (size_t i = 0; i < p.lines.size (); i++) {
    const bool is_last = i + 1 == p.lines.size ();

    from = volumes_of (between[i + 1].get (), border + p.lines[i].axis);
    p.lines[i].run (from, size,
        is_last ? out : store_of (between[i + 2].get ()), stream);
  }
}

size_t
DoubleSeparable::in_ring (size_t slot, size_t component, size_t k) const
{
  return ((slot * job.shape.components + component) * filters.size () + k)
      * layout.volume;
}

void
DoubleSeparable::push (unsigned slot, const NdSamples *volume)
{
  if (!has_ring) {
    last = *volume;
    return;
  }
  sums.pushed (slot);
  for (size_t c = 0; c < job.shape.components; c++) {
    const DoubleVolumes from = input_of (volume, c, streams.push);

    for (size_t k = 0; k < filters.size (); k++)
      run (k, from, store_of (ring.get () + in_ring (slot, c, k)),
          streams.push);
  }
}

void
DoubleSeparable::respond (const int *slots, const NdScale &scale,
    const NdSamples &out)
{
  sums.move (slots);
  for (size_t c = 0; c < job.shape.components; c++) {
    DoubleVolumes from = {};

    if (!has_ring)
      from = input_of (&last, c, streams.respond);
    for (size_t k = 0; k < filters.size (); k++) {
      const DoublePasses &p = filters[k];
      const Store store = make_store (out, job.out_type, scale, c, k);

      if (!has_ring) {
        run (k, from, store, streams.respond);
        continue;
      }
      const TimePass<double> time = { ring.get () + in_ring (0, c, k),
        in_ring (1, 0, 0), c * filters.size () + k, p.time.data (),
        (int) p.time.size (), p.first };

      sums.run (time, store, streams.respond);
    }
  }
}

} // namespace

std::unique_ptr<Method>
make_double_separable (const RingJob &job, const ComputeStreams &streams,
    size_t available)
{
  auto separable = std::make_unique<DoubleSeparable> (job, streams);

  if (separable->bytes_needed () > available)
    separable->save_memory ();
  return separable;
}

} // namespace nd
