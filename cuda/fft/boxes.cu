/* Method `fft` by boxes, if the spectra of whole volumes do not fit in memory.
 * The ring keeps padded volumes. Outputs are computed box by box, from
 * transforms of boxes that overlap (overlap-save; Karas and Svoboda 2011).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"
#include "cuda/fft/fft.cuh"
#include "cuda/samples.cuh"

#include <algorithm>
#include <cstring>
#include <vector>

namespace nd
{

namespace
{

template <typename R>
class FftBoxes : public Method
{
public:
  FftBoxes (const RingJob &job, const size_t box[3], cudaStream_t stream);
  size_t bytes_needed () const override
  {
    return ring.bytes () + inner->bytes_needed ();
  }
  void allocate () override;
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void respond_box (const int *slots, const NdScale &scale,
      const NdSamples &out, size_t component, const size_t at[3]);

  const RingJob job;
  const NdReach reach;
  const cudaStream_t stream;
  size_t box[3];
  Pad pad;
  size_t volume;          /* numbers of a padded volume */
  Memory<R> ring;         /* [slot][component] */
  std::vector<int> order; /* slots of the inner ring: 0, 1, 2, ... */
  std::unique_ptr<Method> inner;
};

template <typename R>
FftBoxes<R>::FftBoxes (const RingJob &job, const size_t wanted[3],
    cudaStream_t stream)
    : job (job), reach (nd_job_reach (&job)), stream (stream),
      pad (make_pad (job, reach)), order (reach.slots)
{
  RingJob in_box = job;

  pad.row = pad.size[0];
  pad.slice = multiply (pad.row, pad.size[1]);
  volume = multiply (pad.slice, pad.size[2]);
  ring.plan (multiply (volume,
      multiply (reach.slots + (job.border_volumes ? 1 : 0),
          job.shape.components)));
  for (int a = 0; a < 3; a++) {
    box[a] = in_box.shape.size[a] = std::min (wanted[a], job.shape.size[a]);
    in_box.wanted[a] = NdRange{};
  }
  for (unsigned t = 0; t < reach.slots; t++)
    order[t] = t;
  in_box.shape.components = 1;
  in_box.in_type = real_type<R>;
  in_box.border = (NdBorder) BORDER_IN_MEMORY;
  in_box.border_volumes = FALSE;
  inner = make_fft_whole (in_box, stream);
}

template <typename R>
void
FftBoxes<R>::allocate ()
{
  ND_INFO ("boxes of %zux%zux%zu, because spectra of whole volumes do not fit",
      box[0], box[1], box[2]);
  ring.allocate ();
  inner->allocate ();
}

template <typename R>
void
FftBoxes<R>::push (unsigned slot, const NdSamples *samples)
{
  const size_t components = job.shape.components;

  for (size_t c = 0; c < components; c++)
    pad_volume (pad, samples, job.in_type, c,
        ring.get () + (slot * components + c) * volume, NonFiniteList{},
        stream);
}

template <typename R>
void
FftBoxes<R>::respond_box (const int *slots, const NdScale &scale,
    const NdSamples &out, size_t component, const size_t at[3])
{
  const size_t offset = (at[2] + pad.before[2]) * pad.slice
      + (at[1] + pad.before[1]) * pad.row + at[0] + pad.before[0];
  NdSamples to = out;

  for (unsigned t = 0; t < reach.slots; t++) {
    R *const from = ring.get ()
        + (slots[t] * job.shape.components + component) * volume + offset;
    const NdSamples in = { (guint8 *) from, sizeof (R), sizeof (R) * pad.row,
      sizeof (R) * pad.slice };

    inner->push (t, &in);
  }
  to.data += component * nd_sample_size (job.out_type) + at[0] * out.sample
      + at[1] * out.row + at[2] * out.slice;
  inner->respond (order.data (), scale, to);
}

/* The last box along an axis ends at the end of the volume, and overlaps the
 * box before it. */
template <typename R>
void
FftBoxes<R>::respond (const int *slots, const NdScale &scale,
    const NdSamples &out)
{
  const size_t *const size = job.shape.size;

  for (size_t c = 0; c < job.shape.components; c++)
    for (size_t z = 0; z < size[2]; z += box[2])
      for (size_t y = 0; y < size[1]; y += box[1])
        for (size_t x = 0; x < size[0]; x += box[0]) {
          const size_t at[3] = { std::min (x, size[0] - box[0]),
            std::min (y, size[1] - box[1]), std::min (z, size[2] - box[2]) };

          respond_box (slots, scale, out, c, at);
        }
}

} // namespace

std::unique_ptr<Method>
make_fft_boxes (const RingJob &job, const size_t box[3], cudaStream_t stream)
{
  if (job.precision == ND_PRECISION_DOUBLE)
    return std::make_unique<FftBoxes<double>> (job, box, stream);
  return std::make_unique<FftBoxes<float>> (job, box, stream);
}

} // namespace nd
