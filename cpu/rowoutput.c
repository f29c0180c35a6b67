/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/rowoutput.h"

#include "core/memory.h"
#include "cpu/pad.h"

#include <string.h>
#include <tgmath.h>

#define ALIGN 64

/* The outputs whose components are put side by side before they are stored. */
#define PIECE 64

static guint
count_parts (const NdJob *job)
{
  return nd_job_combines (job)
          && (job->bank->is_complex || job->shape.components == 2)
      ? 2
      : 1;
}

guint
nd_output_layers (const NdJob *job)
{
  const guint parts = count_parts (job);

  switch (job->response) {
    case ND_RESPONSE_TENSOR:
      return nd_bank_responses (job->bank) + parts - 1;
    case ND_RESPONSE_ARGMAX:
      return parts + 2;
    case ND_RESPONSE_MAX:
    case ND_RESPONSE_SUM:
      return parts + 1;
    case ND_RESPONSE_ALL:
    case ND_RESPONSE_MAGNITUDE:
    case ND_RESPONSE_PHASE:
    case ND_RESPONSE_REAL:
    case ND_RESPONSE_IMAGINARY:
    case ND_RESPONSE_ENERGY:
      break;
  }
  return parts;
}

gboolean
nd_output_init (NdRowOutput *o, const NdJob *job, gsize floats, guint n_workers,
    GError **error)
{
  gsize components = job->shape.components;

  o->job = *job;
  o->kernels = nd_kernels ();
  o->combines = nd_job_combines (job);
  o->parts = count_parts (job);
  o->group = o->parts == 2 && !job->bank->is_complex ? 2 : 1;
  o->n = nd_bank_responses (job->bank);
  o->layers = nd_output_layers (job);
  o->floats = floats;
  /* Cannot fail, because the plan has refused banks that make no tensor. */
  if (job->response == ND_RESPONSE_TENSOR
      && !nd_tensor_recipe (job->bank, &o->recipe, NULL))
    g_return_val_if_reached (FALSE);
  if (o->combines)
    components = nd_output_components (job->response, job->bank->is_complex,
        o->recipe.axes, components);
  o->bytes = nd_sample_size (job->out_type);
  o->sample = components * o->bytes;
  if (!g_size_checked_add (&o->total,
          nd_size_mul (floats, o->layers, n_workers), ALIGN / sizeof (NdReal)))
    o->total = G_MAXSIZE;
  o->memory = nd_floats_new (o->total, error);
  o->start = (NdReal *) (((guintptr) o->memory + ALIGN - 1) / ALIGN * ALIGN);
  return o->memory != NULL;
}

void
nd_output_clear (NdRowOutput *o)
{
  g_clear_pointer (&o->memory, g_free);
}

gsize
nd_output_bytes (const NdRowOutput *o)
{
  return o->total * sizeof (NdReal);
}

/* The number of the part of a response, and of the response. */
static guint
part_of (const NdRowOutput *o, guint filter, gsize component)
{
  return o->parts == 1 ? 0 : o->group == 2 ? component : filter % 2;
}

static guint
row_output_response_of (const NdRowOutput *o, guint filter)
{
  return o->job.bank->is_complex ? filter / 2 : filter;
}

/* A tensor needs all responses at the same time, other values need one after
 * the other. */
static guint
layer_of (const NdRowOutput *o, guint filter, gsize component)
{
  const guint part = part_of (o, filter, component);

  if (o->job.response != ND_RESPONSE_TENSOR)
    return part;
  return part > 0 ? o->n : row_output_response_of (o, filter);
}

NdReal *
nd_output_layer (const NdRowOutput *o, guint worker, guint filter,
    gsize component)
{
  return o->start
      + ((gsize) worker * o->layers + layer_of (o, filter, component))
      * o->floats;
}

#define EACH(value_of_re_and_im)         \
  if (im) {                              \
    for (gsize i = 0; i < n; i++) {      \
      const NdReal a = re[i], b = im[i]; \
      re[i] = value_of_re_and_im;        \
    }                                    \
  } else {                               \
    for (gsize i = 0; i < n; i++) {      \
      const NdReal a = re[i], b = 0;     \
      re[i] = value_of_re_and_im;        \
    }                                    \
  }

/* @im NULL: 0. The values replace the real parts. */
static void
take_value (NdResponse response, NdReal *restrict re, const NdReal *restrict im,
    gsize n)
{
  switch (response) {
    case ND_RESPONSE_PHASE:
      /* -0 becomes 0, as in responses that are stored. */
      EACH (atan2 (b + (NdReal) 0, a + (NdReal) 0));
      break;
    case ND_RESPONSE_ENERGY:
      EACH (a * a + b * b);
      break;
    case ND_RESPONSE_IMAGINARY:
      EACH (((void) a, b));
      break;
    case ND_RESPONSE_MAGNITUDE:
    case ND_RESPONSE_MAX:
    case ND_RESPONSE_ARGMAX:
    case ND_RESPONSE_SUM:
    case ND_RESPONSE_TENSOR:
      EACH (sqrt (a * a + b * b));
      break;
    case ND_RESPONSE_ALL:
    case ND_RESPONSE_REAL:
      break;
  }
}

/* Stores @n numbers that are side by side in the output. */
static void
store (const NdRowOutput *o, const NdReal *numbers, gsize n, guint8 *to)
{
  o->kernels->store (numbers, n, o->scale, o->job.out_type, to, o->bytes);
}

static void
store_complex (const NdRowOutput *o, const NdReal *re, const NdReal *im,
    gsize n, guint8 *to)
{
  NdReal numbers[2 * PIECE];

  for (gsize x = 0; x < n; x += PIECE) {
    const gsize count = MIN (n - x, PIECE);

    for (gsize i = 0; i < count; i++) {
      numbers[2 * i] = re[x + i];
      numbers[2 * i + 1] = im[x + i];
    }
    store (o, numbers, 2 * count, to + x * o->sample);
  }
}

/* Adds the values of response @k to those of the responses before it.
 * Comparisons with NaN are false, so that a magnitude of NaN is never the
 * largest. */
static void
reduce (const NdRowOutput *o, guint k, const NdReal *restrict magnitudes,
    gsize n, NdReal *restrict values, NdReal *restrict largest)
{
  if (k == 0)
    memset (values, 0, n * sizeof (NdReal));
  switch (o->job.response) {
    case ND_RESPONSE_SUM:
      for (gsize i = 0; i < n; i++)
        values[i] += magnitudes[i];
      break;
    case ND_RESPONSE_MAX:
      for (gsize i = 0; i < n; i++)
        values[i] = magnitudes[i] > values[i] ? magnitudes[i] : values[i];
      break;
    case ND_RESPONSE_ARGMAX:
      if (k == 0)
        memset (largest, 0, n * sizeof (NdReal));
      for (gsize i = 0; i < n; i++) {
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
      g_return_if_reached (); /* these do not reduce responses */
  }
}

/* Replaces the numbers of responses whose magnitude is below the threshold. */
static void
label_none (const NdRowOutput *o, const NdReal *largest, gsize n, guint8 *to)
{
  const NdSampleType type = o->job.out_type;
  const NdReal none = ND_LABEL_NONE (type);
  const NdScale scale = { 1, 0, NULL };
  NdReal label; /* has room for every type */

  o->kernels->store (&none, 1, &scale, type, (guint8 *) &label, o->bytes);
  for (gsize i = 0; i < n; i++) {
    if (largest[i] < o->job.threshold)
      memcpy (to + i * o->sample, &label, o->bytes);
  }
}

/* Component (i, j) of T = A A^T + b b^T of the monomials' responses. */
static void
multiply_monomials (const NdRowOutput *o, const NdReal *row, gsize n, guint i,
    guint j, NdReal sum[PIECE])
{
  const NdTensorRecipe *recipe = &o->recipe;

  memset (sum, 0, n * sizeof (NdReal));
  if (recipe->first[0] >= 0) {
    const NdReal *a = row + recipe->first[i] * o->floats;
    const NdReal *b = row + recipe->first[j] * o->floats;

    for (gsize x = 0; x < n; x++)
      sum[x] = a[x] * b[x];
  }
  for (guint k = 0; k < recipe->axes && recipe->second[0][0] >= 0; k++) {
    const NdReal *a = row + recipe->second[i][k] * o->floats;
    const NdReal *b = row + recipe->second[j][k] * o->floats;

    for (gsize x = 0; x < n; x++)
      sum[x] += a[x] * b[x];
  }
}

/* Component @c of T = sum of |q_k| M_k of the magnitudes. */
static void
sum_duals (const NdRowOutput *o, const NdReal *row, gsize n, guint c,
    NdReal sum[PIECE])
{
  memset (sum, 0, n * sizeof (NdReal));
  for (guint k = 0; k < o->n; k++) {
    const NdReal *magnitudes = row + k * o->floats;

    for (gsize x = 0; x < n; x++)
      sum[x] += magnitudes[x] * (NdReal) o->recipe.dual[k][c];
  }
}

static void
store_tensors (const NdRowOutput *o, const NdReal *row, gsize n, guint8 *to)
{
  const guint components = ND_TENSOR_COMPONENTS (o->recipe.axes);
  NdReal tensors[PIECE * ND_TENSOR_COMPONENTS (ND_AXES)], sum[PIECE];

  for (gsize first = 0; first < n; first += PIECE) {
    const gsize count = MIN (n - first, PIECE);
    guint c = 0;

    for (guint i = 0; i < o->recipe.axes; i++) {
      for (guint j = i; j < o->recipe.axes; j++, c++) {
        if (o->recipe.is_quadratic)
          multiply_monomials (o, row + first, count, i, j, sum);
        else
          sum_duals (o, row + first, count, c, sum);
        for (gsize x = 0; x < count; x++)
          tensors[x * components + c] = sum[x];
      }
    }
    store (o, tensors, count * components, to + first * o->sample);
  }
}

/* Combines response @k with those before it. @re and @im (NULL: 0) are its
 * parts, @values the layer after those of responses, @to the place of the value
 * in the first output. */
static void
row_output_combine (const NdRowOutput *o, guint k, NdReal *re, const NdReal *im,
    NdReal *values, gsize n, guint8 *to)
{
  const NdResponse response = o->job.response;

  if (response == ND_RESPONSE_ALL) {
    store_complex (o, re, im, n, to + k * o->out->response);
    return;
  }
  take_value (response, re, im, n);
  if (response < ND_RESPONSE_MAX) {
    o->kernels->store (re, n, o->scale, o->job.out_type,
        to + k * o->out->response, o->sample);
    return;
  }
  reduce (o, k, re, n, values, values + o->floats);
  if (k + 1 < o->n)
    return;
  o->kernels->store (values, n, o->scale, o->job.out_type, to, o->sample);
  if (response == ND_RESPONSE_ARGMAX && o->job.threshold > 0)
    label_none (o, values + o->floats, n, to);
}

/* Takes response @k of a tensor. @first is the layer of response 0. */
static void
combine_tensor (const NdRowOutput *o, guint k, NdReal *first, gsize n,
    guint8 *to)
{
  if (!o->recipe.is_quadratic)
    take_value (ND_RESPONSE_TENSOR, first + k * o->floats,
        o->parts == 2 ? first + o->n * o->floats : NULL, n);
  if (k + 1 == o->n)
    store_tensors (o, first, n, to);
}

void
nd_output_combine (const NdRowOutput *o, guint filter, gsize component,
    NdReal *row, gsize n, guint8 *to)
{
  if (part_of (o, filter, component) + 1 < o->parts)
    return;
  row -= layer_of (o, filter, component) * o->floats;
  to += o->group == 1 ? component * o->bytes : 0;
  if (o->job.response == ND_RESPONSE_TENSOR)
    combine_tensor (o, row_output_response_of (o, filter), row, n, to);
  else
    row_output_combine (o, row_output_response_of (o, filter), row,
        o->parts == 2 ? row + o->floats : NULL, row + o->parts * o->floats, n,
        to);
}
