/* Method `direct`: the sum over all taps, from a ring of padded volumes or from
 * one unpadded volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"
#include "cuda/direct/double.h"
#include "cuda/direct/stencil.cuh"

#include <cstring>

namespace nd
{

namespace
{

/* Whether volumes are read unpadded. A padded copy takes half as long as a
 * small filter, and is not needed if a volume is used for one output only. */
bool
reads_unpadded (const RingJob &job, const NdReach &reach)
{
  return reach.slots == 1 && job.in_type == ND_FLOAT32
      && job.shape.components == 1 && !job.border_volumes
      && job.shape.size[0] % 4 == 0 && reach.low[0] % 4 == 0;
}

class Direct : public Method
{
public:
  Direct (const RingJob &job, const ComputeStreams &streams);
  size_t bytes_needed () const override;
  void allocate () override;
  bool pushes_ahead () const override { return !unpadded; }
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void add_stencils ();
  Unpadded make_unpadded () const;

  const RingJob job;
  const NdReach reach;
  const ComputeStreams streams;
  Pad pad;
  Strides strides;
  const bool unpadded; /* the last volume is read in place, there is no ring */
  NdSamples last;
  Memory<float> ring;    /* [slot][component] */
  Memory<float> outside; /* border values, if there is no ring */
  std::vector<Stencil> stencils;
};

/* Groups filters that one kernel can run together. */
void
Direct::add_stencils ()
{
  const bool finite = job.in_type != ND_FLOAT32;
  const NdBank *bank = job.bank;
  unsigned k = 0;

  while (k < bank->n_filters) {
    std::vector<const NdFilter *> group;

    for (unsigned n : { 12u, 4u, 3u, 2u, 1u }) {
      if (k + n > bank->n_filters)
        continue;
      group.assign (bank->filters + k, bank->filters + k + n);
      if (n == 1 || Stencil::fit_together (group, finite, reach.low))
        break;
    }
    k += group.size ();
    int low[ND_AXES], high[ND_AXES];

    nd_filter_reach (group[0], low, high);
    stencils.emplace_back (group, low, high, finite, reach.low);
  }
}

Direct::Direct (const RingJob &job, const ComputeStreams &streams)
    : job (job), reach (reach_of_tiles (job)), streams (streams),
      pad (make_pad (job, reach)), unpadded (reads_unpadded (job, reach))
{
  const size_t size[3] = { (size_t) pad.size[0], (size_t) pad.size[1],
    (size_t) pad.size[2] };

  strides = make_strides (size, job.shape.size[0], job.shape.size[1]);
  pad.row = strides.row;
  pad.slice = strides.slice;
  if (unpadded) {
    outside.plan (std::vector<float> (OUTSIDE, (float) job.border_value));
  } else {
    ring.plan (multiply (strides.volume,
        multiply (ahead_slots (job), job.shape.components)));
  }
  add_stencils ();
}

size_t
Direct::bytes_needed () const
{
  size_t bytes = total_bytes (ring, outside);

  for (const Stencil &s : stencils)
    bytes += s.bytes ();
  return bytes;
}

void
Direct::allocate ()
{
  ND_INFO ("%zu groups of filters, %s volumes", stencils.size (),
      unpadded ? "unpadded" : "padded");
  allocate_all (ring, outside);
  for (Stencil &s : stencils)
    s.allocate ();
}

void
Direct::push (unsigned slot, const NdSamples *volume)
{
  const size_t components = job.shape.components;

  if (unpadded) {
    last = *volume;
    return;
  }
  for (size_t c = 0; c < components; c++)
    pad_volume (pad, volume, job.in_type, c,
        ring.get () + (slot * components + c) * strides.volume, NonFiniteList{},
        streams.push);
}

Unpadded
Direct::make_unpadded () const
{
  Unpadded b = { (const float *) last.data, last.row / 4, last.slice / 4 };

  memcpy (b.before, pad.before, sizeof (b.before));
  b.after = pad.size[0] - pad.shape[0] - pad.before[0];
  b.border = job.border;
  b.outside = outside.get ();
  b.aligned = ((size_t) last.data | last.row | last.slice) % 16 == 0;
  return b;
}

void
Direct::respond (const int *slots, const NdScale &scale, const NdSamples &out)
{
  const size_t components = job.shape.components;

  for (size_t c = 0; c < components; c++) {
    unsigned k = 0;

    for (const Stencil &s : stencils) {
      Store stores[MAX_FILTERS];

      for (unsigned f = 0; f < s.n_filters (); f++)
        stores[f] = make_store (out, job.out_type, scale, c, k++);
      if (unpadded) {
        s.run (make_unpadded (), job.shape.size, stores, streams.respond);
        continue;
      }
      s.run (ring.get () + c * strides.volume, slots,
          components * strides.volume, strides, job.shape.size, stores,
          streams.respond);
    }
  }
}

} // namespace

std::unique_ptr<Method>
make_direct (const RingJob &job, const ComputeStreams &streams, size_t)
{
  if (job.precision == ND_PRECISION_DOUBLE)
    return make_double_direct (job, streams);
  return std::make_unique<Direct> (job, streams);
}

} // namespace nd
