/* Method `separable` with as few passes as possible: x, y and z together, or x
 * and y of each plane and z, and t. The result along x, y and z of each volume
 * of a window is in the ring. If the window has one volume, there is no ring,
 * and the volume is read in place.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/direct/fused.h"

#include "core/log.h"
#include "cuda/direct/passes.cuh"
#include "cuda/direct/time.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nd
{

namespace
{

/* The numbers of a volume from which run_few_depth () takes less time: 128^3
 * takes up to a tenth more, 256^3 and 512^3 up to a twentieth less (H200). */
constexpr size_t WORTH_FEW_DEPTH = 6 << 20;

/* The passes of one filter. */
struct Passes
{
  Factor factors[ND_AXES];
  size_t offsets[ND_AXES]; /* of the weights in Fused::weights */
  int rows;                /* plane_rows () */
  FewTaps few[3];          /* along x, y and z */
  int strip_rows;          /* strip_rows () */
  bool deep;               /* there is a pass along z */
  int planes;              /* depth_planes (), if it is deep */
  float outside;           /* the sum along x and y of border values */
  int taps;                /* of the kernel for x, y and z; 0: not possible */
  float together[3][MAX_SLIDING_TAPS]; /* its weights */
};

SumLayout
make_layout (const size_t size[3])
{
  SumLayout layout;

  layout.row = (size[0] + STRIP - 1) / STRIP * STRIP;
  layout.slice = multiply (layout.row, size[1]);
  layout.volume = multiply (layout.slice, size[2]);
  return layout;
}

/* Whether @value is one of the values of samples of @type. */
bool
is_sample (NdSampleType type, double value)
{
  return visit_sample_type (type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    if constexpr (is_integer<T>)
      return value >= lowest<T> && value <= highest<T>
          && value == std::trunc (value);
    else
      return true;
  });
}

class Fused : public Method
{
public:
  Fused (const RingJob &job, const ComputeStreams &streams);
  bool fits () const;
  size_t bytes_needed () const override
  {
    return total_bytes (weights, between, ring, sums);
  }
  void save_memory () { sums.save_memory (); }
  void allocate () override;
  bool pushes_ahead () const override { return !in_place; }
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void add_filter (const NdFilter *f);
  void add_factor (Passes &passes, int axis, const double *factor, int low,
      int n);
  FewTaps make_few_taps (int axis, const double *factor, int low, int n) const;
  float sum_of_border (const Passes &passes) const;
  int put_together (float (*weights)[MAX_SLIDING_TAPS], double *const *factors,
      const int *low, const size_t *n) const;
  void run_plane (const Passes &passes, const NdSamples *volume,
      size_t component, const Store &out, cudaStream_t stream) const;
  void run (const Passes &passes, const NdSamples *volume, size_t component,
      const Store &out, cudaStream_t stream) const;
  size_t in_ring (size_t slot, size_t component, size_t k) const;

  const RingJob job;
  const NdReach reach;
  const ComputeStreams streams;
  const bool in_place; /* the last volume is read in place, there is no ring */
  const bool all_finite; /* samples and border values */
  const SumLayout layout;
  NdSamples last;
  std::vector<Passes> filters;
  std::vector<float> values; /* of all weights */
  Memory<float> weights;
  Memory<float> between; /* sums along x and y */
  Memory<float> ring;    /* [slot][component][filter] */
  TimeSums<float> sums;
};

Fused::Fused (const RingJob &job, const ComputeStreams &streams)
    : job (job), reach (nd_job_reach (&job)), streams (streams),
      in_place (reach.slots == 1 && !job.border_volumes),
      all_finite (job.in_type != ND_FLOAT32
          && std::isfinite (job.border_value)),
      layout (make_layout (job.shape.size)),
      sums (job, layout, job.bank->n_filters * job.shape.components)
{
  bool deep = false;

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    add_filter (job.bank->filters[k]);
    deep |= filters.back ().deep && filters.back ().taps == 0;
  }
  weights.plan (values);
  if (deep)
    between.plan (layout.volume);
  if (!in_place)
    ring.plan (multiply (layout.volume,
        multiply (job.bank->n_filters,
            multiply (ahead_slots (job), job.shape.components))));
}

/* Adds the taps along @axis, of which the first has offset @low. Those along x
 * begin at a multiple of four samples. */
void
Fused::add_factor (Passes &passes, int axis, const double *factor, int low,
    int n)
{
  Factor &f = passes.factors[axis];
  const int lead = axis == 0 ? (low % 4 + 4) % 4 : 0;

  f.low = low - lead;
  f.n = (lead + n + 3) / 4 * 4;
  f.check = false;
  passes.offsets[axis] = values.size ();
  for (int k = 0; k < f.n; k++) {
    const bool used = k >= lead && k < lead + n;

    /* The tap at the highest offset is the first coefficient. */
    values.push_back (used ? (float) factor[n - 1 - (k - lead)] : 0);
    f.check |= !all_finite && values.back () == 0;
  }
}

/* Taps before and after those of the filter are 0. */
FewTaps
Fused::make_few_taps (int axis, const double *factor, int low, int n) const
{
  FewTaps taps = {};

  taps.low = low;
  taps.n = few_taps (&taps.low, n, axis);
  for (int k = 0; k < taps.n; k++) {
    const int i = n - 1 - (k - (low - taps.low));
    const bool used = i >= 0 && i < n;

    taps.weights[k] = used ? (float) factor[i] : 0;
    taps.check |= !all_finite && taps.weights[k] == 0;
  }
  return taps;
}

void
Fused::add_filter (const NdFilter *f)
{
  double *factors[ND_AXES];
  int low[ND_AXES], high[ND_AXES];
  Passes passes = {};

  /* separable_cost () has refused other filters. */
  if (!nd_filter_separate (f, factors))
    throw Error (ND_ERROR_SETTINGS, "A filter is not separable");
  nd_filter_reach (f, low, high);
  passes.taps = put_together (passes.together, factors, low, f->size);
  for (int a = 0; a < ND_AXES; a++) {
    add_factor (passes, a, factors[a], low[a], f->size[a]);
    if (a < 3)
      passes.few[a] = make_few_taps (a, factors[a], low[a], f->size[a]);
    g_free (factors[a]);
  }
  passes.deep = low[2] != 0 || high[2] != 0;
  passes.outside = sum_of_border (passes);
  passes.rows =
      plane_rows (job.shape.size, passes.factors[0], passes.factors[1]);
  passes.strip_rows = strip_rows (job.shape.size, passes.few[1]);
  if (passes.deep)
    passes.planes = depth_planes (job.shape.size, passes.factors[2]);
  filters.push_back (passes);
}

/* Fills @weights with those of the kernel for x, y and z, and returns its taps,
 * or 0. Taps are padded with zeros only if all samples are finite, and border
 * values have to be samples of the volume's type. */
int
Fused::put_together (float (*weights)[MAX_SLIDING_TAPS], double *const *factors,
    const int *low, const size_t *n) const
{
  const size_t most = *std::max_element (n, n + 3);
  const int taps = most > MAX_SLIDING_TAPS
      ? 0
      : sliding_taps (job.in_type, (int) most, job.shape);
  const int lead = low[0] + taps / 2;
  const bool is_float = job.in_type == ND_FLOAT32;

  if (taps == 0 || *std::min_element (n, n + 3) == 1 || lead < 0
      || lead + (int) n[0] > taps
      || (!is_float && !is_sample (job.in_type, job.border_value)))
    return 0;
  for (int axis = 0; axis < 3; axis++) {
    const int begin = axis == 0 ? lead : 0;

    for (int k = 0; k < taps; k++) {
      const int i = (int) n[axis] - 1 - (k - begin);
      const bool used = i >= 0 && i < (int) n[axis];

      weights[axis][k] = used ? (float) factors[axis][i] : 0;
      if (is_float && weights[axis][k] == 0)
        return 0;
    }
  }
  return taps;
}

/* The sum along x and y in a volume of border values, rounded as the kernels
 * round it. */
float
Fused::sum_of_border (const Passes &passes) const
{
  float value = job.border_value;

  for (int axis = 0; axis < 2; axis++) {
    const float *w = values.data () + passes.offsets[axis];
    float sum = 0;

    for (int k = 0; k < passes.factors[axis].n; k++)
      sum = w[k] != 0 ? std::fma (w[k], value, sum) : sum;
    value = sum;
  }
  return value;
}

/* A grid has up to 65535 thread blocks along y, each of Passes::planes. */
bool
Fused::fits () const
{
  for (const Passes &p : filters) {
    if (p.taps > 0)
      continue;
    if (p.rows == 0
        || (p.deep && job.shape.size[2] > (size_t) p.planes * 65535))
      return false;
  }
  return true;
}

void
Fused::allocate ()
{
  ND_INFO ("fused passes, %s", in_place ? "volumes in place" : "with a ring");
  allocate_all (weights, between, ring, sums);
  prepare_planes (job.in_type);
  prepare_depth ();
  for (Passes &p : filters) {
    for (int a = 0; a < ND_AXES; a++)
      p.factors[a].weights = weights.get () + p.offsets[a];
    if (p.taps > 0)
      prepare_sliding (job.in_type, p.taps);
  }
}

/* x and y of one component. */
void
Fused::run_plane (const Passes &p, const NdSamples *volume, size_t component,
    const Store &out, cudaStream_t stream) const
{
  const size_t *size = job.shape.size;

  if (p.few[0].n > 0 && p.few[1].n > 0
      && is_sample (job.in_type, job.border_value)) {
    const StripPass strip = { volume, job.in_type, component, job.border,
      (float) job.border_value, size, &p.few[0], &p.few[1], p.strip_rows };

    if (run_strips (strip, out, stream))
      return;
  }
  const PlanePass plane = { volume, job.in_type, component, job.border,
    (float) job.border_value, size, p.factors[0], p.factors[1], p.rows };

  run_planes (plane, out, stream);
}

/* x, y and z of one component. */
void
Fused::run (const Passes &p, const NdSamples *volume, size_t component,
    const Store &out, cudaStream_t stream) const
{
  const size_t *size = job.shape.size;

  if (p.taps > 0) {
    const VolumePass pass = { volume, job.in_type, component, job.border,
      (float) job.border_value, size, p.taps,
      { p.factors[1].low, p.factors[2].low },
      { p.together[0], p.together[1], p.together[2] } };

    run_sliding (pass, out, stream);
    return;
  }
  const Store store = { (unsigned char *) between.get (), sizeof (float),
    layout.row * sizeof (float), layout.slice * sizeof (float), ND_FLOAT32,
    false, 1, 0 };

  run_plane (p, volume, component, p.deep ? store : out, stream);
  if (p.deep) {
    const DepthPass depth = { between.get (), layout, job.border, p.outside,
      size, p.factors[2], p.planes };

    if (layout.volume < WORTH_FEW_DEPTH
        || !run_few_depth (depth, p.few[2], out, stream))
      run_depth (depth, out, stream);
  }
}

size_t
Fused::in_ring (size_t slot, size_t component, size_t k) const
{
  return ((slot * job.shape.components + component) * job.bank->n_filters + k)
      * layout.volume;
}

void
Fused::push (unsigned slot, const NdSamples *volume)
{
  if (in_place) {
    last = *volume;
    return;
  }
  sums.pushed (slot);
  for (size_t c = 0; c < job.shape.components; c++) {
    for (size_t k = 0; k < filters.size (); k++) {
      const Store store = { (unsigned char *) (ring.get ()
                                + in_ring (slot, c, k)),
        sizeof (float), layout.row * sizeof (float),
        layout.slice * sizeof (float), ND_FLOAT32, false, 1, 0 };

      run (filters[k], volume, c, store, streams.push);
    }
  }
}

void
Fused::respond (const int *slots, const NdScale &scale, const NdSamples &out)
{
  sums.move (slots);
  for (size_t c = 0; c < job.shape.components; c++) {
    for (size_t k = 0; k < filters.size (); k++) {
      const Store store = make_store (out, job.out_type, scale, c, k);
      const Factor &f = filters[k].factors[3];

      if (in_place) {
        run (filters[k], &last, c, store, streams.respond);
        continue;
      }
      const TimePass<float> time = { ring.get () + in_ring (0, c, k),
        in_ring (1, 0, 0), c * filters.size () + k,
        values.data () + filters[k].offsets[3], f.n, f.low - reach.low[3] };

      sums.run (time, store, streams.respond);
    }
  }
}

} // namespace

std::unique_ptr<Method>
make_fused (const RingJob &job, const ComputeStreams &streams, size_t available)
{
  auto fused = std::make_unique<Fused> (job, streams);

  if (!fused->fits ())
    return nullptr;
  if (fused->bytes_needed () > available)
    fused->save_memory ();
  return fused;
}

} // namespace nd
