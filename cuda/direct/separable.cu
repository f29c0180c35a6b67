/* Method `separable`: filters of rank 1 as passes along the axes. Fused passes
 * (cuda/direct/fused.cu) do all filters that are not too long for shared
 * memory. The others have one pass per axis, by the kernels of `direct`: a push
 * makes the passes along x, y and z and stores the result in the ring, and a
 * response is the pass along t.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/direct/double.h"
#include "cuda/direct/fused.h"
#include "cuda/direct/stencil.cuh"

#include <cstring>

namespace nd
{

namespace
{

struct FilterDelete
{
  void operator() (NdFilter *f) const { nd_filter_free (f); }
};
using FilterPointer = std::unique_ptr<NdFilter, FilterDelete>;

/* The factor of a filter along one axis, as a filter of its own. */
FilterPointer
pass_filter (const NdFilter *f, int axis, const double *factor)
{
  size_t size[ND_AXES] = { 1, 1, 1, 1 };

  size[axis] = f->size[axis];
  FilterPointer pass (nd_filter_new (f->name, size));
  memcpy (pass->coefficients, factor, size[axis] * sizeof (double));
  pass->origin[axis] = f->origin[axis];
  return pass;
}

class Separable : public Method
{
public:
  Separable (const RingJob &job, const ComputeStreams &streams);
  size_t bytes_needed () const override;
  void allocate () override;
  bool pushes_ahead () const override { return true; }
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  const RingJob job;
  const NdReach reach;
  const ComputeStreams streams;
  Pad pad;
  Strides strides[4]; /* before the pass along axis a; [3]: after all */
  size_t sizes[4][3];
  Memory<float> padded, between[2];
  Memory<float> ring;          /* [slot][component][filter] */
  std::vector<Stencil> passes; /* [filter][axis] */
};

Separable::Separable (const RingJob &job, const ComputeStreams &streams)
    : job (job), reach (reach_of_tiles (job)), streams (streams),
      pad (make_pad (job, reach))
{
  const unsigned n = job.bank->n_filters;
  size_t size[3] = { (size_t) pad.size[0], (size_t) pad.size[1],
    (size_t) pad.size[2] };

  for (int a = 0; a <= 3; a++) {
    memcpy (sizes[a], size, sizeof (size));
    strides[a] = make_strides (size, a == 0 ? job.shape.size[0] : size[0],
        a <= 1 ? job.shape.size[1] : size[1]);
    if (a < 3)
      size[a] = job.shape.size[a];
  }
  pad.row = strides[0].row;
  pad.slice = strides[0].slice;
  padded.plan (strides[0].volume);
  between[0].plan (strides[1].volume);
  between[1].plan (strides[2].volume);
  ring.plan (multiply (strides[3].volume,
      multiply (n, multiply (ahead_slots (job), job.shape.components))));
  for (unsigned k = 0; k < n; k++) {
    const NdFilter *f = job.bank->filters[k];
    double *factors[ND_AXES];
    FilterPointer filters[ND_AXES];

    /* separable_cost () has refused other filters. */
    if (!nd_filter_separate (f, factors))
      throw Error (ND_ERROR_SETTINGS, "A filter is not separable");
    for (int a = 0; a < ND_AXES; a++) {
      filters[a] = pass_filter (f, a, factors[a]);
      g_free (factors[a]);
    }
    for (int a = 0; a < ND_AXES; a++) {
      int from[ND_AXES] = {}, low[ND_AXES], high[ND_AXES];

      from[a] = reach.low[a];
      nd_filter_reach (filters[a].get (), low, high);
      passes.emplace_back (std::vector<const NdFilter *>{ filters[a].get () },
          low, high, job.in_type != ND_FLOAT32, from);
    }
  }
}

size_t
Separable::bytes_needed () const
{
  size_t bytes = total_bytes (padded, between[0], between[1], ring);

  for (const Stencil &s : passes)
    bytes += s.bytes ();
  return bytes;
}

void
Separable::allocate ()
{
  allocate_all (padded, between[0], between[1], ring);
  for (Stencil &s : passes)
    s.allocate ();
}

void
Separable::push (unsigned slot, const NdSamples *volume)
{
  static const int first[1] = { 0 };
  const size_t components = job.shape.components;
  const unsigned n = job.bank->n_filters;

  for (size_t c = 0; c < components; c++) {
    pad_volume (pad, volume, job.in_type, c, padded.get (), NonFiniteList{},
        streams.push);
    for (unsigned k = 0; k < n; k++) {
      const float *in = padded.get ();
      float *const result =
          ring.get () + ((slot * components + c) * n + k) * strides[3].volume;

      for (int a = 0; a < 3; a++) {
        float *const to = a < 2 ? between[a].get () : result;
        const Store store = { (unsigned char *) to, 4, strides[a + 1].row * 4,
          strides[a + 1].slice * 4, ND_FLOAT32, false, 1, 0 };

        passes[k * ND_AXES + a].run (in, first, 0, strides[a], sizes[a + 1],
            &store, streams.push);
        in = to;
      }
    }
  }
}

void
Separable::respond (const int *slots, const NdScale &scale,
    const NdSamples &out)
{
  const size_t components = job.shape.components;
  const unsigned n = job.bank->n_filters;

  for (size_t c = 0; c < components; c++) {
    for (unsigned k = 0; k < n; k++) {
      const Store store = make_store (out, job.out_type, scale, c, k);

      passes[k * ND_AXES + 3].run (ring.get ()
              + (c * n + k) * strides[3].volume,
          slots, components * n * strides[3].volume, strides[3], sizes[3],
          &store, streams.respond);
    }
  }
}

} // namespace

std::unique_ptr<Method>
make_separable (const RingJob &job, const ComputeStreams &streams,
    size_t available)
{
  if (job.precision == ND_PRECISION_DOUBLE)
    return make_double_separable (job, streams, available);
  std::unique_ptr<Method> fused = make_fused (job, streams, available);

  if (fused)
    return fused;
  return std::make_unique<Separable> (job, streams);
}

} // namespace nd
