/* Magnitudes, phases and other values of responses, row by row.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/combine.h"

#include "core/threads.h"
#include "cpu/kernels.h"
#include "filters/tensor.h"

#include <string.h>
#include <tgmath.h>

typedef struct
{
  const NdJob *job;
  const NdReal *responses;
  const NdScale *scale;
  const NdSamples *out;
  const NdKernels *kernels;

  guint n;         /* responses */
  gsize volume;    /* floats from one response to the next */
  gsize step;      /* floats from one real part to the next */
  gsize imaginary; /* floats from a real to its imaginary part; 0: real */
  gsize row;       /* floats of a row of a response */
  gsize values;    /* floats of a row of the output */
  NdReal *scratch; /* three rows of values for each thread */
  const NdTensorRecipe *recipe; /* of ND_RESPONSE_TENSOR */
} Combine;

typedef void (*Combiner) (const Combine *c, const NdReal *re, NdReal *values);

#define EACH(value_of_re_and_im)                       \
  const NdReal *in = re + c->imaginary;                \
  if (c->imaginary) {                                  \
    for (gsize i = 0; i < c->values; i++) {            \
      NdReal a = re[i * c->step], b = in[i * c->step]; \
      values[i] = value_of_re_and_im;                  \
    }                                                  \
  } else {                                             \
    for (gsize i = 0; i < c->values; i++) {            \
      NdReal a = re[i], b = 0;                         \
      values[i] = value_of_re_and_im;                  \
    }                                                  \
  }

static void
take_magnitude (const Combine *c, const NdReal *re, NdReal *values)
{
  EACH (sqrt (a * a + b * b));
}

static void
take_energy (const Combine *c, const NdReal *re, NdReal *values)
{
  EACH (a * a + b * b);
}

static void
take_phase (const Combine *c, const NdReal *re, NdReal *values)
{
  EACH (atan2 (b, a));
}

static void
take_real (const Combine *c, const NdReal *re, NdReal *values)
{
  EACH (((void) b, a));
}

static void
take_imaginary (const Combine *c, const NdReal *re, NdReal *values)
{
  EACH (((void) a, b));
}

/* Interleaves real and imaginary parts. */
static void
take_all (const Combine *c, const NdReal *re, NdReal *values)
{
  const NdReal *im = re + c->imaginary;

  for (gsize i = 0; i < c->values / 2; i++) {
    values[2 * i] = re[i];
    values[2 * i + 1] = im[i];
  }
}

static const Combiner combiners[] = {
  [ND_RESPONSE_ALL] = take_all,
  [ND_RESPONSE_MAGNITUDE] = take_magnitude,
  [ND_RESPONSE_PHASE] = take_phase,
  [ND_RESPONSE_REAL] = take_real,
  [ND_RESPONSE_IMAGINARY] = take_imaginary,
  [ND_RESPONSE_ENERGY] = take_energy,
};

/* Comparisons with NaN are false, so that a magnitude of NaN is never the
 * largest. */
static void
reduce (const Combine *c, const NdReal *re, NdReal *values, NdReal *magnitudes)
{
  gboolean index = c->job->response == ND_RESPONSE_ARGMAX;
  NdReal *largest = index ? magnitudes + c->values : values;

  for (gsize i = 0; i < c->values; i++) {
    values[i] = 0;
    largest[i] = 0;
  }
  for (guint k = 0; k < c->n; k++) {
    take_magnitude (c, re + k * c->volume, magnitudes);
    switch (c->job->response) {
      case ND_RESPONSE_SUM:
        for (gsize i = 0; i < c->values; i++)
          values[i] += magnitudes[i];
        break;
      case ND_RESPONSE_MAX:
        for (gsize i = 0; i < c->values; i++)
          values[i] = magnitudes[i] > values[i] ? magnitudes[i] : values[i];
        break;
      case ND_RESPONSE_ARGMAX:
        for (gsize i = 0; i < c->values; i++) {
          values[i] = magnitudes[i] > largest[i] ? k : values[i];
          largest[i] = magnitudes[i] > largest[i] ? magnitudes[i] : largest[i];
        }
        break;
      case ND_RESPONSE_ALL:
      case ND_RESPONSE_MAGNITUDE:
      case ND_RESPONSE_PHASE:
      case ND_RESPONSE_REAL:
      case ND_RESPONSE_IMAGINARY:
      case ND_RESPONSE_ENERGY:
      case ND_RESPONSE_TENSOR:
        g_return_if_reached (); /* these do not combine responses */
    }
  }
}

/* Replaces the numbers of responses whose magnitude is below the threshold. */
static void
label_none (const Combine *c, const NdReal *largest, guint8 *to)
{
  const NdSampleType type = c->job->out_type;
  const gsize bytes = nd_sample_size (type);
  const NdReal none = ND_LABEL_NONE (type);
  const NdScale scale = { 1, 0, NULL };
  NdReal label; /* has room for every type */

  c->kernels->store (&none, 1, &scale, type, (guint8 *) &label, bytes);
  for (gsize i = 0; i < c->values; i++) {
    if (largest[i] < c->job->threshold)
      memcpy (to + i * bytes, &label, bytes);
  }
}

/* T = A A^T + b b^T of the monomials' responses r. */
static void
multiply_monomials (const NdTensorRecipe *recipe, const NdReal *r, NdReal *out)
{
  for (guint i = 0; i < recipe->axes; i++) {
    for (guint j = i; j < recipe->axes; j++) {
      NdReal sum = 0;

      if (recipe->first[0] >= 0)
        sum = r[recipe->first[i]] * r[recipe->first[j]];
      for (guint k = 0; k < recipe->axes && recipe->second[0][0] >= 0; k++)
        sum += r[recipe->second[i][k]] * r[recipe->second[j][k]];
      *out++ = sum;
    }
  }
}

/* T = sum of |q_k| M_k of the magnitudes. */
static void
sum_duals (const NdTensorRecipe *recipe, guint n, const NdReal *magnitudes,
    NdReal *out)
{
  for (guint c = 0; c < ND_TENSOR_COMPONENTS (recipe->axes); c++) {
    NdReal sum = 0;

    for (guint k = 0; k < n; k++)
      sum += magnitudes[k] * (NdReal) recipe->dual[k][c];
    out[c] = sum;
  }
}

static void
make_tensors (const Combine *c, const NdReal *re, NdReal *values)
{
  const guint components = ND_TENSOR_COMPONENTS (c->recipe->axes);

  for (gsize x = 0; x < c->row; x++) {
    NdReal r[ND_MAX_TENSOR_RESPONSES];

    for (guint k = 0; k < c->n; k++) {
      const NdReal *at = re + k * c->volume + x;

      r[k] = c->recipe->is_quadratic
          ? *at
          : sqrt (at[0] * at[0] + at[c->imaginary] * at[c->imaginary]);
    }
    if (c->recipe->is_quadratic)
      multiply_monomials (c->recipe, r, values + x * components);
    else
      sum_duals (c->recipe, c->n, r, values + x * components);
  }
}

static void
combine_row (gsize index, guint worker, gpointer data)
{
  const Combine *c = data;
  gsize ny = c->job->shape.size[1];
  const NdReal *re = c->responses + index * c->row;
  NdReal *values = c->scratch + 3 * worker * c->values;
  guint8 *to =
      c->out->data + index % ny * c->out->row + index / ny * c->out->slice;
  guint n = nd_response_count (c->job->response, c->n);

  for (guint k = 0; k < n; k++) {
    if (c->job->response == ND_RESPONSE_TENSOR)
      make_tensors (c, re, values);
    else if (c->job->response >= ND_RESPONSE_MAX)
      reduce (c, re, values, values + c->values);
    else
      combiners[c->job->response](c, re + k * c->volume, values);
    c->kernels->store (values, c->values, c->scale, c->job->out_type,
        to + k * c->out->response, nd_sample_size (c->job->out_type));
    if (c->job->response == ND_RESPONSE_ARGMAX && c->job->threshold > 0)
      label_none (c, values + 2 * c->values, to);
  }
}

void
nd_cpu_combine (const NdJob *job, gconstpointer responses, const NdScale *scale,
    const NdSamples *out)
{
  const NdShape *shape = &job->shape;
  NdTensorRecipe recipe = { 0 };
  gsize samples = shape->size[0] * shape->size[1] * shape->size[2];
  Combine c = { .job = job,
    .responses = responses,
    .scale = scale,
    .out = out,
    .kernels = nd_kernels (),
    .n = nd_bank_responses (job->bank),
    .volume = samples * shape->components,
    .step = 1,
    .row = shape->size[0] * shape->components };

  if (job->bank->is_complex) {
    c.imaginary = c.volume;
    c.volume *= 2;
  } else if (shape->components == 2) {
    c.imaginary = 1;
    c.step = 2;
  }
  if (job->response == ND_RESPONSE_TENSOR) {
    /* Cannot fail, because the plan has refused banks that make no tensor. */
    if (!nd_tensor_recipe (job->bank, &recipe, NULL))
      g_return_if_reached ();
    c.recipe = &recipe;
  }
  c.values = shape->size[0]
      * nd_output_components (job->response, job->bank->is_complex, recipe.axes,
          shape->components);
  c.scratch = g_new (NdReal, 3 * c.values * nd_threads ());
  nd_parallel_for (shape->size[1] * shape->size[2], combine_row, &c);
  g_free (c.scratch);
}
