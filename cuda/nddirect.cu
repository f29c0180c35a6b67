/* Method `direct`: the sum over all taps, on a ring of padded volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndstencil.cuh"

namespace nd
{

namespace
{

class Direct : public Method
{
public:
  Direct (const NdJob &job, cudaStream_t stream);
  size_t bytes () const override;
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void add_stencils ();

  const NdJob job;
  const NdReach reach;
  const cudaStream_t stream;
  Pad pad;
  Strides strides;
  Memory<float> ring;           /* [slot][component] */
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

    for (unsigned n : { 12u, 4u, 1u }) {
      if (k + n > bank->n_filters)
        continue;
      group.assign (bank->filters + k, bank->filters + k + n);
      if (n == 1 || Stencil::fit_together (group, finite))
        break;
    }
    k += group.size ();
    int low[ND_AXES], high[ND_AXES];

    /* The group reads from the bank's least offset, in the padded volume; in
     * x at a multiple of four behind it. */
    nd_filter_reach (group[0], low, high);
    low[0] -= (low[0] - reach.low[0]) % 4;
    stencils.emplace_back (group, low, high, finite, reach.low);
  }
}

Direct::Direct (const NdJob &job, cudaStream_t stream)
  : job (job), reach (nd_job_reach (&job)), stream (stream),
    pad (make_pad (job, reach))
{
  const size_t size[3] = { (size_t) pad.size[0], (size_t) pad.size[1],
    (size_t) pad.size[2] };

  strides = make_strides (size, job.shape.size[0], job.shape.size[1]);
  pad.row = strides.row;
  pad.slice = strides.slice;
  ring = Memory<float> (multiply (strides.volume, multiply (reach.slots
              + (job.border_volumes ? 1 : 0), job.shape.components)));
  add_stencils ();
}

size_t
Direct::bytes () const
{
  size_t bytes = ring.bytes ();

  for (const Stencil &s : stencils)
    bytes += s.bytes ();
  return bytes;
}

void
Direct::push (unsigned slot, const NdSamples *volume)
{
  const size_t components = job.shape.components;

  for (size_t c = 0; c < components; c++)
    pad_volume (pad, volume, job.in_type, c, ring.get ()
        + (slot * components + c) * strides.volume, WildList {}, stream);
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
      s.run (ring.get () + c * strides.volume, slots,
          components * strides.volume, strides, job.shape.size, stores,
          stream);
    }
  }
}

} // namespace

std::unique_ptr<Method>
make_direct (const NdJob &job, cudaStream_t stream)
{
  return std::make_unique<Direct> (job, stream);
}

} // namespace nd
