/* Method `direct` in double precision: from a ring of padded volumes, or from
 * one volume of float64 that is read in place.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/direct/double.h"

#include "core/log.h"
#include "cuda/direct/doublestencil.cuh"

namespace nd
{

namespace
{

class DoubleDirect : public Method
{
public:
  DoubleDirect (const RingJob &job, const ComputeStreams &streams);
  size_t bytes_needed () const override;
  void allocate () override;
  bool pushes_ahead () const override { return !in_place; }
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  DoubleVolumes volumes_of (size_t component) const;

  const RingJob job;
  const NdReach reach;
  const ComputeStreams streams;
  const bool in_place; /* the last volume is read, there is no ring */
  NdSamples last;
  Pad pad;
  size_t volume;          /* numbers of a padded volume */
  Memory<double> ring;    /* [slot][component] */
  Memory<double> outside; /* the border value */
  std::vector<DoubleStencil> stencils;
};

DoubleDirect::DoubleDirect (const RingJob &job, const ComputeStreams &streams)
    : job (job), reach (nd_job_reach (&job)), streams (streams),
      in_place (reads_double_in_place (job)), pad (make_pad (job, reach))
{
  const bool finite = !nd_sample_is_float (job.in_type);

  /* Rows begin at multiples of 16 bytes. */
  pad.row = ((size_t) pad.size[0] + 3) / 4 * 4;
  pad.slice = multiply (pad.row, pad.size[1]);
  volume = multiply (pad.slice, pad.size[2]);
  if (!in_place)
    ring.plan (multiply (volume,
        multiply (ahead_slots (job), job.shape.components)));
  outside.plan (std::vector<double> (1, job.border_value));
  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *const f = job.bank->filters[k];
    int low[ND_AXES], high[ND_AXES];

    nd_filter_reach (f, low, high);
    stencils.emplace_back (f->coefficients, f->size, low, reach.low[3], finite);
  }
}

size_t
DoubleDirect::bytes_needed () const
{
  size_t bytes = total_bytes (ring, outside);

  for (const DoubleStencil &s : stencils)
    bytes += s.bytes ();
  return bytes;
}

void
DoubleDirect::allocate ()
{
  ND_INFO ("double precision, %s", in_place ? "volumes in place" : "a ring");
  allocate_all (ring, outside);
  for (DoubleStencil &s : stencils)
    s.allocate ();
}

void
DoubleDirect::push (unsigned slot, const NdSamples *samples)
{
  const size_t components = job.shape.components;

  if (in_place) {
    last = *samples;
    return;
  }
  for (size_t c = 0; c < components; c++)
    pad_volume (pad, samples, job.in_type, c,
        ring.get () + (slot * components + c) * volume, NonFiniteList{},
        streams.push);
}

DoubleVolumes
DoubleDirect::volumes_of (size_t component) const
{
  if (in_place)
    return read_in_place (last, component, job.border, outside.get ());
  return DoubleVolumes{ ring.get () + component * volume
        + pad.before[2] * pad.slice + pad.before[1] * pad.row + pad.before[0],
    1, pad.row, pad.slice, job.shape.components * volume, BORDER_IN_MEMORY,
    outside.get () };
}

void
DoubleDirect::respond (const int *slots, const NdScale &scale,
    const NdSamples &out)
{
  for (size_t c = 0; c < job.shape.components; c++)
    for (size_t k = 0; k < stencils.size (); k++)
      stencils[k].run (volumes_of (c), slots, job.shape.size,
          make_store (out, job.out_type, scale, c, k), streams.respond);
}

} // namespace

std::unique_ptr<Method>
make_double_direct (const RingJob &job, const ComputeStreams &streams)
{
  return std::make_unique<DoubleDirect> (job, streams);
}

} // namespace nd
