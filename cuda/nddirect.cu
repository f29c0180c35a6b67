/* Method `direct`: the sum over all taps, on a ring of padded volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <cstring>

#include "ndstencil.cuh"

namespace nd
{

namespace
{

/* A padded copy costs as much as reading and writing the volume once more, as
 * long as half of a small filter takes. A volume that is pushed for one output
 * does not need it. */
bool
reads_bare (const NdJob &job, const NdReach &reach)
{
  return reach.slots == 1 && job.in_type == ND_FLOAT32
      && job.shape.components == 1 && !job.border_volumes
      && job.shape.size[0] % 4 == 0 && reach.low[0] % 4 == 0;
}

class Direct : public Method
{
public:
  Direct (const NdJob &job, const ComputeStreams &streams);
  size_t bytes () const override;
  bool pushes_ahead () const override { return !bare; }
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void add_stencils ();
  Bare make_bare () const;

  const NdJob job;
  const NdReach reach;
  const ComputeStreams streams;
  Pad pad;
  Strides strides;
  const bool bare;              /* no ring: the last volume is read in place */
  NdSamples last;
  Memory<float> ring;           /* [slot][component] */
  Memory<float> outside;        /* border values, where there is no ring */
  std::vector<Stencil> stencils;
};

/* Filters of one shape go together, up to as many as the kernel takes. */
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

Direct::Direct (const NdJob &job, const ComputeStreams &streams)
  : job (job), reach (reach_of_tiles (job)), streams (streams),
    pad (make_pad (job, reach)), bare (reads_bare (job, reach))
{
  const size_t size[3] = { (size_t) pad.size[0], (size_t) pad.size[1],
    (size_t) pad.size[2] };

  strides = make_strides (size, job.shape.size[0], job.shape.size[1]);
  pad.row = strides.row;
  pad.slice = strides.slice;
  if (bare) {
    const std::vector<float> values (OUTSIDE, (float) job.border_value);

    outside = Memory<float> (values.size ());
    outside.upload (values.data (), values.size ());
  } else {
    ring = Memory<float> (multiply (strides.volume, multiply
            (ahead_slots (job), job.shape.components)));
  }
  add_stencils ();
}

size_t
Direct::bytes () const
{
  size_t bytes = ring.bytes () + outside.bytes ();

  for (const Stencil &s : stencils)
    bytes += s.bytes ();
  return bytes;
}

void
Direct::push (unsigned slot, const NdSamples *volume)
{
  const size_t components = job.shape.components;

  if (bare) {
    last = *volume;
    return;
  }
  for (size_t c = 0; c < components; c++)
    pad_volume (pad, volume, job.in_type, c, ring.get ()
        + (slot * components + c) * strides.volume, WildList {}, streams.push);
}

Bare
Direct::make_bare () const
{
  Bare b = { (const float *) last.data, last.row / 4, last.slice / 4 };

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
      if (bare) {
        s.run (make_bare (), job.shape.size, stores, streams.respond);
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
make_direct (const NdJob &job, const ComputeStreams &streams)
{
  return std::make_unique<Direct> (job, streams);
}

} // namespace nd
