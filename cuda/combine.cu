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

struct Arguments
{
  const float *responses;
  size_t volume;    /* floats from one response to the next */
  size_t imaginary; /* floats from a real part to its imaginary part; 0 if
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
  float none;            /* the label below it, which is not scaled */
};

__device__ float
magnitude (float2 r)
{
  return sqrtf (r.x * r.x + r.y * r.y);
}

static_assert (ND_RESPONSE_END == ND_RESPONSE_TENSOR + 1,
    "value_of() or combined() lacks a response");

/* The output of the kinds before ND_RESPONSE_MAX, which have one for each
 * response. */
__device__ float
value_of (int kind, float2 r)
{
  switch (kind) {
    case ND_RESPONSE_MAGNITUDE:
      return magnitude (r);
    case ND_RESPONSE_PHASE:
      return atan2f (r.y, r.x);
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
__device__ float
combined (int kind, float largest, int index, float sum)
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

__device__ void
put (const Arguments &a, float value, size_t index, size_t response, size_t x,
    size_t y, size_t z, bool is_label = false)
{
  Store store = a.store;

  store.scaled = store.scaled && !is_label;
  store.out += index * a.value_bytes + response * a.response_bytes;
  store_sample (store, value, x, y, z);
}

/* A thread computes one value of an output sample, or one for each response,
 * from all responses. A magnitude that is NaN is never the largest. */
__global__ void
combine_kernel (const __grid_constant__ Arguments a)
{
  const size_t row = a.size[0] * a.values;
  const size_t all = row * a.size[1] * a.size[2];
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < all;
       i += step) {
    const size_t c = i % a.values, x = i / a.values % a.size[0];
    const size_t y = i / row % a.size[1], z = i / row / a.size[1];
    const float *const real = a.responses + i / a.values * a.components + c;
    float largest = 0, sum = 0;
    int index = 0;

    for (int k = 0; k < a.n_responses; k++) {
      const float *const re = real + k * a.volume;
      const float2 r = make_float2 (*re, a.imaginary ? re[a.imaginary] : 0);

      if (a.kind < ND_RESPONSE_MAX) {
        if (a.kind == ND_RESPONSE_ALL) {
          put (a, r.x, 2 * c, k, x, y, z);
          put (a, r.y, 2 * c + 1, k, x, y, z);
        } else {
          put (a, value_of (a.kind, r), c, k, x, y, z);
        }
        continue;
      }
      const float m = magnitude (r);

      sum += m;
      if (m > largest) {
        largest = m;
        index = k;
      }
    }
    if (a.kind == ND_RESPONSE_ARGMAX && largest < a.threshold)
      put (a, a.none, c, 0, x, y, z, true);
    else if (a.kind >= ND_RESPONSE_MAX)
      put (a, combined (a.kind, largest, index, sum), c, 0, x, y, z);
  }
}

/* Sample @i of response @k. */
__device__ __forceinline__ float
read_response (const Arguments &a, int k, size_t i)
{
  return a.responses[k * a.volume + i];
}

/* T = A A^T + b b^T of the monomials' responses (filters/tensor.h). */
template <int AXES>
__device__ __forceinline__ void
multiply_monomials (const Arguments &a, const NdTensorRecipe &recipe, size_t i,
    float *tensor)
{
  float first[AXES], second[AXES][AXES];

#pragma unroll
  for (int j = 0; j < AXES; j++) {
    first[j] =
        recipe.first[j] >= 0 ? read_response (a, recipe.first[j], i) : 0.f;
#pragma unroll
    for (int k = j; k < AXES; k++)
      second[j][k] = second[k][j] = recipe.second[j][k] >= 0
          ? read_response (a, recipe.second[j][k], i)
          : 0.f;
  }
#pragma unroll
  for (int j = 0; j < AXES; j++) {
#pragma unroll
    for (int k = j; k < AXES; k++) {
      float sum = first[j] * first[k];

#pragma unroll
      for (int l = 0; l < AXES; l++)
        sum = fmaf (second[j][l], second[k][l], sum);
      *tensor++ = sum;
    }
  }
}

/* T = sum of |q_k| M_k of the magnitudes. */
template <int AXES>
__device__ __forceinline__ void
sum_duals (const Arguments &a, const NdTensorRecipe &recipe, size_t i,
    float *tensor)
{
  constexpr int COMPONENTS = ND_TENSOR_COMPONENTS (AXES);

#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    tensor[c] = 0;
  for (int k = 0; k < a.n_responses; k++) {
    const float size = magnitude (make_float2 (read_response (a, k, i),
        read_response (a, k, i + a.imaginary)));

#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
      tensor[c] = fmaf (size, (float) recipe.dual[k][c], tensor[c]);
  }
}

struct TensorArguments
{
  Arguments combine;
  NdTensorRecipe recipe;
};

/* A thread computes the tensor of one sample. */
template <int AXES>
__global__ void
tensor_kernel (const __grid_constant__ TensorArguments t)
{
  const Arguments &a = t.combine;
  const size_t all = a.size[0] * a.size[1] * a.size[2];
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < all;
       i += step) {
    const size_t x = i % a.size[0], y = i / a.size[0] % a.size[1];
    const size_t z = i / a.size[0] / a.size[1];
    float tensor[ND_TENSOR_COMPONENTS (AXES)];

    if (t.recipe.is_quadratic)
      multiply_monomials<AXES> (a, t.recipe, i, tensor);
    else
      sum_duals<AXES> (a, t.recipe, i, tensor);
#pragma unroll
    for (int c = 0; c < ND_TENSOR_COMPONENTS (AXES); c++)
      put (a, tensor[c], c, 0, x, y, z);
  }
}

} // namespace

void
combine_responses (const RingJob &job, const NdTensorRecipe &recipe,
    const float *responses, const NdScale &scale, const NdSamples &out,
    cudaStream_t stream)
{
  const NdShape &shape = job.shape;
  Arguments a = { responses };
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
  const dim3 threads (256),
      blocks (std::min<size_t> ((samples * a.values + 255) / 256, 1 << 16));

  if (job.response != ND_RESPONSE_TENSOR) {
    launch (combine_kernel, blocks, threads, 0, stream, a);
    return;
  }
  const TensorArguments t = { a, recipe };

  if (recipe.axes == 2)
    launch (tensor_kernel<2>, blocks, threads, 0, stream, t);
  else if (recipe.axes == 3)
    launch (tensor_kernel<3>, blocks, threads, 0, stream, t);
  else
    launch (tensor_kernel<4>, blocks, threads, 0, stream, t);
}

} // namespace nd
