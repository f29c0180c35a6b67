/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/combine.cuh"

#include "cuda/launch.cuh"

#include <algorithm>

namespace nd
{

namespace
{

constexpr int THREADS = 256;

template <typename R>
struct Arguments
{
  const R *responses;
  size_t volume;    /* numbers from one response to the next */
  size_t imaginary; /* numbers from a real part to its imaginary part; 0 if
                     * responses are real */
  int n_responses;
  int kind;          /* NdResponse */
  size_t components; /* of a sample of a response */
  size_t values;     /* of a sample of the output */
  size_t size[3];
  Store store;           /* of the first value */
  size_t value_bytes;    /* from one value to the next */
  size_t response_bytes; /* from one response to the next */
  double threshold;      /* of ND_RESPONSE_ARGMAX; 0: none */
  R none;                /* the label below it, which is not scaled */
  const unsigned *only_if;
};

template <typename R>
struct Complex
{
  R x, y;
};

template <typename R>
__device__ R
magnitude (Complex<R> r)
{
  return r.y == 0 ? fabs (r.x) : sqrt (r.x * r.x + r.y * r.y);
}

static_assert (ND_RESPONSE_END == ND_RESPONSE_TENSOR + 1,
    "value_of() or combined() lacks a response");

/* The output of the kinds before ND_RESPONSE_MAX, which have one for each
 * response. */
template <typename R>
__device__ R
value_of (int kind, Complex<R> r)
{
  switch (kind) {
    case ND_RESPONSE_MAGNITUDE:
      return magnitude (r);
    case ND_RESPONSE_PHASE:
      return atan2 (r.y, r.x);
    case ND_RESPONSE_IMAGINARY:
      return r.y;
    case ND_RESPONSE_ENERGY:
      return r.x * r.x + r.y * r.y;
    case ND_RESPONSE_ALL:
    case ND_RESPONSE_REAL:
    default:
      return r.x;
  }
}

/* The output of the kinds from ND_RESPONSE_MAX on but ND_RESPONSE_TENSOR, which
 * have one for all responses. @index: of the largest magnitude. */
template <typename R>
__device__ R
combined (int kind, R largest, int index, R sum)
{
  switch (kind) {
    case ND_RESPONSE_MAX:
      return largest;
    case ND_RESPONSE_SUM:
      return sum;
    case ND_RESPONSE_ARGMAX:
    default:
      return index;
  }
}

template <typename R>
__device__ void
put (const Arguments<R> &a, R value, size_t index, size_t response, size_t x,
    size_t y, size_t z, bool is_label = false)
{
  Store store = a.store;

  store.scaled = store.scaled && !is_label;
  store.out += index * a.value_bytes + response * a.response_bytes;
  store_sample (store, value, x, y, z);
}

/* The place of a value in an output volume. */
struct Place
{
  size_t sample, c, x, y, z;
};

/* I: of the index. 64 bit divisions would take longer than the memory. */
template <typename I, typename R>
__device__ __forceinline__ Place
place_of (const Arguments<R> &a, I i)
{
  const I values = a.values, nx = a.size[0], ny = a.size[1];
  const I sample = i / values, row = sample / nx, z = row / ny;

  return Place{ sample, i - sample * values, sample - row * nx, row - z * ny,
    z };
}

/* Outputs of the kinds before ND_RESPONSE_MAX, one for each response. */
template <typename R>
__device__ void
put_each (const Arguments<R> &a, const R *real, const Place &p)
{
  for (int k = 0; k < a.n_responses; k++) {
    const R *const re = real + k * a.volume;
    const Complex<R> r = { *re, a.imaginary ? re[a.imaginary] : 0 };

    if (a.kind == ND_RESPONSE_ALL) {
      put (a, r.x, 2 * p.c, k, p.x, p.y, p.z);
      put (a, r.y, 2 * p.c + 1, k, p.x, p.y, p.z);
    } else {
      put (a, value_of (a.kind, r), p.c, k, p.x, p.y, p.z);
    }
  }
}

/* Numbers side by side, which are loaded together. */
template <typename R, int RUN>
struct alignas (RUN == 1 ? sizeof (R) : 16) Run
{
  R values[RUN];
};

/* Outputs of the other kinds, of RUN samples side by side. A magnitude that is
 * NaN is never the largest. */
template <int RUN, typename R>
__device__ void
put_combined (const Arguments<R> &a, const R *real, const Place &p)
{
  typedef Run<R, RUN> Numbers;
  R largest[RUN] = {}, sum[RUN] = {}, values[RUN];
  int index[RUN] = {};

#pragma unroll 4
  for (int k = 0; k < a.n_responses; k++) {
    const R *const re = real + k * a.volume;
    const Numbers x = *(const Numbers *) re;
    Numbers y = {};

    if (a.imaginary)
      y = *(const Numbers *) (re + a.imaginary);
#pragma unroll
    for (int i = 0; i < RUN; i++) {
      const R m = magnitude (Complex<R>{ x.values[i], y.values[i] });

      sum[i] += m;
      if (m > largest[i]) {
        largest[i] = m;
        index[i] = k;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < RUN; i++)
    values[i] = a.kind == ND_RESPONSE_ARGMAX && largest[i] < a.threshold
        ? a.none
        : combined (a.kind, largest[i], index[i], sum[i]);
  if constexpr (RUN == 1)
    put (a, values[0], p.c, 0, p.x, p.y, p.z,
        a.kind == ND_RESPONSE_ARGMAX && largest[0] < a.threshold);
  else
    store_four (a.store, values, RUN, p.x, p.y, p.z);
}

/* A thread computes RUN values side by side, each of an output sample, or one
 * for each response, from all responses. */
template <typename I, typename R, int RUN>
__global__ void
combine_responses_kernel (const __grid_constant__ Arguments<R> a)
{
  const I all = a.size[0] * a.values * a.size[1] * a.size[2];
  const I step = gridDim.x * blockDim.x * RUN;

  wait_on_dependent_grids ();
  if (a.only_if && *a.only_if == 0)
    return;
  for (I i = ((I) blockIdx.x * blockDim.x + threadIdx.x) * RUN; i < all;
       i += step) {
    const Place p = place_of (a, i);
    const R *const real = a.responses + p.sample * a.components + p.c;

    if (RUN == 1 && a.kind < ND_RESPONSE_MAX)
      put_each (a, real, p);
    else
      put_combined<RUN> (a, real, p);
  }
}

/* Sample @i of response @k. */
template <typename R>
__device__ __forceinline__ R
read_response (const Arguments<R> &a, int k, size_t i)
{
  return a.responses[k * a.volume + i];
}

/* T = A A^T + b b^T of the monomials' responses (filters/tensor.h). */
template <int AXES, typename R>
__device__ __forceinline__ void
multiply_monomials (const Arguments<R> &a, const NdTensorRecipe &recipe,
    size_t i, R *tensor)
{
  R first[AXES], second[AXES][AXES];

#pragma unroll
  for (int j = 0; j < AXES; j++) {
    first[j] = recipe.first[j] >= 0 ? read_response (a, recipe.first[j], i) : 0;
#pragma unroll
    for (int k = j; k < AXES; k++)
      second[j][k] = second[k][j] = recipe.second[j][k] >= 0
          ? read_response (a, recipe.second[j][k], i)
          : 0;
  }
#pragma unroll
  for (int j = 0; j < AXES; j++) {
#pragma unroll
    for (int k = j; k < AXES; k++) {
      R sum = first[j] * first[k];

#pragma unroll
      for (int l = 0; l < AXES; l++)
        sum = fma (second[j][l], second[k][l], sum);
      *tensor++ = sum;
    }
  }
}

/* T = sum of |q_k| M_k of the magnitudes. */
template <int AXES, typename R>
__device__ __forceinline__ void
sum_duals (const Arguments<R> &a, const NdTensorRecipe &recipe, size_t i,
    R *tensor)
{
  constexpr int COMPONENTS = ND_TENSOR_COMPONENTS (AXES);

#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    tensor[c] = 0;
  for (int k = 0; k < a.n_responses; k++) {
    const R size = magnitude (Complex<R>{
        read_response (a, k, i), read_response (a, k, i + a.imaginary) });

#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
      tensor[c] = fma (size, (R) recipe.dual[k][c], tensor[c]);
  }
}

template <typename R>
struct TensorArguments
{
  Arguments<R> combine;
  NdTensorRecipe recipe;
};

/* Stores the tensors of @n samples side by side, the first one at (x, y, z).
 * Each lane of the warp has one. @memory: shared memory for 32 tensors, through
 * which they get to lanes that store side by side. */
template <int COMPONENTS, typename R>
__device__ __forceinline__ void
put_tensors (const Arguments<R> &a, R *memory, const R (&tensor)[COMPONENTS],
    int n, size_t x, size_t y, size_t z)
{
  const Store &s = a.store;
  const int lane = threadIdx.x % 32, numbers = n * COMPONENTS;
  R *const out = (R *) (s.out + x * s.sample + y * s.row + z * s.slice);

  if (s.type != (sizeof (R) == 4 ? ND_FLOAT32 : ND_FLOAT64) || s.scaled
      || s.sample != sizeof (tensor)) {
    for (int c = 0; lane < n && c < COMPONENTS; c++)
      put (a, tensor[c], c, 0, x + lane, y, z);
    return;
  }
  __syncwarp (); /* the tensors before have been stored */
#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    memory[lane * COMPONENTS + c] = tensor[c];
  __syncwarp ();
  if (((size_t) out | numbers * sizeof (R)) % sizeof (float4) == 0) {
    for (int i = lane; i < numbers * (int) sizeof (R) / 16; i += 32)
      ((float4 *) out)[i] = ((const float4 *) memory)[i];
  } else {
    for (int i = lane; i < numbers; i += 32)
      out[i] = memory[i];
  }
}

/* A warp computes the tensors of 32 samples of a row at a time. */
template <int AXES, typename R>
__global__ void __launch_bounds__ (THREADS)
combine_tensor_kernel (const __grid_constant__ TensorArguments<R> t)
{
  constexpr int COMPONENTS = ND_TENSOR_COMPONENTS (AXES);
  __shared__ alignas (16) R shared[THREADS / 32][32 * COMPONENTS];
  const Arguments<R> &a = t.combine;
  const size_t runs = (a.size[0] + 31) / 32;
  const size_t all = runs * a.size[1] * a.size[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  wait_on_dependent_grids ();
  if (a.only_if && *a.only_if == 0)
    return;
  for (size_t i = (size_t) blockIdx.x * (THREADS / 32) + warp; i < all;
       i += (size_t) gridDim.x * (THREADS / 32)) {
    const size_t row = i / runs, x = i % runs * 32;
    const size_t first = row * a.size[0] + x;
    const int n = min (a.size[0] - x, (size_t) 32);
    R tensor[COMPONENTS] = {};

    if (lane < n && t.recipe.is_quadratic)
      multiply_monomials<AXES> (a, t.recipe, first + lane, tensor);
    else if (lane < n)
      sum_duals<AXES> (a, t.recipe, first + lane, tensor);
    put_tensors (a, shared[warp], tensor, n, x, row % a.size[1],
        row / a.size[1]);
  }
}

template <typename R>
void
combine (const NdJob &job, const NdTensorRecipe &recipe, const R *responses,
    const NdScale &scale, const NdSamples &out, cudaStream_t stream,
    const unsigned *only_if)
{
  const NdShape &shape = job.shape;
  Arguments<R> a = { responses };
  size_t samples = 1;

  for (int axis = 0; axis < 3; axis++)
    samples *= a.size[axis] = shape.size[axis];
  a.volume = samples * shape.components;
  a.n_responses = nd_bank_responses (job.bank);
  a.kind = job.response;
  a.components = shape.components;
  a.values = shape.components;
  if (job.bank->is_complex) {
    a.imaginary = a.volume;
    a.volume *= 2;
  } else if (shape.components == 2) {
    a.imaginary = 1;
    a.values = 1;
  }
  a.store = make_store (out, job.out_type, scale, 0, 0);
  a.value_bytes = nd_sample_size (job.out_type);
  a.response_bytes = out.response;
  a.threshold = job.threshold;
  a.none = ND_LABEL_NONE (job.out_type);
  a.only_if = only_if;
  const bool in_runs = job.response >= ND_RESPONSE_MAX
      && job.response != ND_RESPONSE_TENSOR && shape.components == 1
      && shape.size[0] % 4 == 0 && !a.store.scaled;
  const size_t n = samples * a.values / (in_runs ? 4 : 1);
  /* If nothing is to be computed, fewer thread blocks end sooner. */
  const dim3 threads (THREADS),
      blocks (std::min<size_t> ((n + THREADS - 1) / THREADS,
          only_if ? 1 << 10 : 1 << 16));

  if (job.response != ND_RESPONSE_TENSOR) {
    /* The last index plus a grid must fit, too. */
    const bool small = samples * a.values < 1u << 31;

    launch_early (in_runs ? small ? combine_responses_kernel<unsigned, R, 4>
                                  : combine_responses_kernel<size_t, R, 4>
            : small ? combine_responses_kernel<unsigned, R, 1>
                          : combine_responses_kernel<size_t, R, 1>,
        blocks, threads, 0, stream, a);
    return;
  }
  const TensorArguments<R> t = { a, recipe };

  if (recipe.axes == 2)
    launch_early (combine_tensor_kernel<2, R>, blocks, threads, 0, stream, t);
  else if (recipe.axes == 3)
    launch_early (combine_tensor_kernel<3, R>, blocks, threads, 0, stream, t);
  else
    launch_early (combine_tensor_kernel<4, R>, blocks, threads, 0, stream, t);
}

} // namespace

void
combine_responses (const NdJob &job, const NdTensorRecipe &recipe,
    const void *responses, const NdScale &scale, const NdSamples &out,
    cudaStream_t stream, const unsigned *only_if)
{
  if (job.precision == ND_PRECISION_DOUBLE)
    combine (job, recipe, (const double *) responses, scale, out, stream,
        only_if);
  else
    combine (job, recipe, (const float *) responses, scale, out, stream,
        only_if);
}

} // namespace nd
