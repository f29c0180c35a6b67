/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/methods/outputs.h"

#include "filters/tensor.h"

#include <math.h>
#include <string.h>

const guint output_kinds[OUTPUTS] = { 0, 1, 2, 0, 1 };

guint
output_volume (const Case *c, guint i)
{
  return output_kinds[i] == 1 ? c->reach.slots : 0;
}

NdScale
output_scale (const Case *c, guint i)
{
  NdScale scale = c->scale;

  if (output_kinds[i] == 2)
    scale.gain /= 2;
  return scale;
}

gsize
output_at (guint i, gsize bytes)
{
  return GUARD + i * (bytes + GUARD);
}

/* The axes of the tensors of a bank; 0: it makes none. */
static guint
tensor_axes (const NdBank *bank)
{
  NdTensorRecipe recipe;

  return nd_tensor_recipe (bank, &recipe, NULL) ? recipe.axes : 0;
}

/* The shape of an output. */
static NdShape
made_shape (const NdJob *job)
{
  NdShape shape = job->shape;

  if (job->response == ND_RESPONSE_TENSOR)
    shape.components = ND_TENSOR_COMPONENTS (tensor_axes (job->bank));
  return shape;
}

NdSamples
outputs_place (const Case *c, const NdJob *job)
{
  const gsize sample = nd_sample_size (job->out_type);
  const NdShape shape = made_shape (job);
  NdSamples place = nd_samples_dense (NULL, &shape, job->out_type);

  place.row += c->pads[0] * sample;
  place.slice = place.row * job->shape.size[1] + c->pads[1] * sample;
  place.response = place.slice * job->shape.size[2];
  return place;
}

gsize
outputs_bytes (const NdSamples *place, const NdJob *job)
{
  return place->response
      * nd_response_count (job->response, nd_bank_responses (job->bank));
}

/* Calls @visit for the rows of each output, in @memory and in @packed, without
 * the samples after rows and slices. */
static void
for_each_row (const Case *c, const NdJob *job, guint8 *memory, guint8 *packed,
    void (*visit) (guint8 *row, guint8 *packed, gsize bytes))
{
  const NdSamples place = outputs_place (c, job);
  const NdShape shape = made_shape (job);
  const NdSamples dense = nd_samples_dense (NULL, &shape, job->out_type);
  const gsize each = outputs_bytes (&place, job);
  const gsize slices = each / place.slice;
  const gsize bytes = slices * dense.slice;

  for (guint i = 0; i < c->outputs; i++) {
    for (gsize z = 0; z < slices; z++) {
      guint8 *row = memory + output_at (i, each) + z * place.slice;
      guint8 *to = packed + output_at (i, bytes) + z * dense.slice;

      for (gsize y = 0; y < job->shape.size[1]; y++) {
        visit (row, to, dense.row);
        row += place.row;
        to += dense.row;
      }
    }
  }
}

static void
clear_row (guint8 *row, guint8 *packed, gsize bytes)
{
  memset (row, 0xff, bytes); /* NaN in floats */
}

/* Then guard bytes are left. */
static void
take_row (guint8 *row, guint8 *packed, gsize bytes)
{
  memcpy (packed, row, bytes);
  memset (row, GUARD_BYTE, bytes);
}

guint8 *
outputs_new (const Case *c, const NdJob *job)
{
  const NdSamples place = outputs_place (c, job);
  const gsize all = output_at (c->outputs, outputs_bytes (&place, job));
  guint8 *memory = g_malloc (all);

  memset (memory, GUARD_BYTE, all);
  for_each_row (c, job, memory, memory, clear_row);
  return memory;
}

guint8 *
outputs_pack (const Case *c, const NdJob *job, guint8 *memory, gsize *bytes)
{
  const NdSamples place = outputs_place (c, job);
  const gsize all = output_at (c->outputs, outputs_bytes (&place, job));
  guint8 *packed;

  *bytes = c->samples / job->shape.components * made_shape (job).components
      * nd_sample_size (job->out_type)
      * nd_response_count (job->response, nd_bank_responses (job->bank));
  packed = g_malloc0 (output_at (c->outputs, *bytes));
  for_each_row (c, job, memory, packed, take_row);
  for (gsize i = 0; i < all; i++)
    g_assert_cmpuint (memory[i], ==, GUARD_BYTE);
  g_free (memory);
  return packed;
}

/* The bound of the error of an output, for each of a response. Elements of
 * tensors of monomials are sums of products of responses. */
static gdouble
error_of_response (const Case *c, gdouble largest)
{
  if (c->job.response == ND_RESPONSE_ALL)
    return 1;
  if (c->job.response != ND_RESPONSE_TENSOR || c->bank->is_complex)
    return c->bank->n_filters;
  return 2 * (tensor_axes (c->bank) + 1) * largest;
}

static gboolean
compare_output (const Case *c, NdMethod method, const NdScale *scale,
    const guint8 *got, const guint8 *want, gsize bytes, gdouble largest)
{
  gsize taps = 0, step = nd_sample_size (c->job.out_type);
  gboolean integer = !nd_sample_is_float (c->job.out_type);
  gboolean is_double = c->job.precision == ND_PRECISION_DOUBLE;
  gdouble l2_bound = method == ND_METHOD_FFT ? 1e-6 : 2e-6;
  gboolean is_made = c->job.response != ND_RESPONSE_ALL;
  gboolean exact = c->exact && !is_made;
  const gboolean squares =
      c->job.response == ND_RESPONSE_TENSOR && !c->bank->is_complex;
  const gdouble factor = error_of_response (c, largest);
  gdouble typical = 0.1 * c->magnitude;
  gint digits = is_double ? -53 : -24;
  gdouble error2 = 0, norm2 = 0, bound, worst = 0;
  gsize n_other = 0;

  for (guint k = 0; k < c->bank->n_filters; k++)
    taps = MAX (taps, nd_filter_count (c->bank->filters[k]));
  /* The error of a sum grows with the root of the taps. */
  if (is_double)
    l2_bound =
        method == ND_METHOD_FFT ? 1e-13 : 1e-14 * MAX (1, sqrt (taps) / 25);
  /* The reference rounds its sums once. */
  bound = exact && method != ND_METHOD_FFT
      ? 0
      : (8 * sqrt (taps + 1) + 1) * ldexp (1, digits) * largest * scale->gain;
  if (method == ND_METHOD_TENSOR)
    bound *= 2;
  bound *= factor;
  if (integer && bound > 0)
    bound += 1; /* rounding may differ by one */
  if (is_double && c->job.out_type == ND_FLOAT32 && bound > 0)
    bound += ldexp (1, -23) * largest * scale->gain * factor; /* the same */
  for (gsize i = 0; i < bytes; i += step) {
    gdouble g = sample_at (got + i, c->job.out_type);
    gdouble w = sample_at (want + i, c->job.out_type);

    if (!isfinite (w) || !isfinite (g)) {
      if (isnan (w) ? !isnan (g) : w != g) {
        g_printerr ("# sample %" G_GSIZE_FORMAT ": %g, not %g\n", i / step, g,
            w);
        return FALSE;
      }
      continue;
    }
    n_other += g != w;
    worst = MAX (worst, fabs (g - w));
    error2 += (g - w) * (g - w);
    norm2 += w * w;
  }
  /* Labels may differ if two responses are nearly equal. */
  if (c->job.response == ND_RESPONSE_ARGMAX)
    return n_other <= bytes / step / 200
        || (g_printerr ("# %" G_GSIZE_FORMAT " other labels\n", n_other),
            FALSE);
  /* If a response cancels, its error is compared with a tenth of the response
   * without cancellation, because the error of a transform depends on all its
   * input. */
  if (squares && largest > 0) { /* it is 0 if all samples are */
    l2_bound *= factor / largest;
    typical *= typical;
  }
  norm2 = MAX (norm2, bytes / step * pow (typical * scale->gain, 2));
  if (c->job.out_type == ND_FLOAT64)
    return sqrt (error2) <= l2_bound * sqrt (norm2)
        || (g_printerr ("# relative L2 error %g\n", sqrt (error2 / norm2)),
            FALSE);
  if (!integer && !is_double
      && (method == ND_METHOD_FFT || (method == ND_METHOD_TENSOR && !exact)))
    return sqrt (error2) <= l2_bound * sqrt (norm2)
        || (g_printerr ("# relative L2 error %g\n", sqrt (error2 / norm2)),
            FALSE);
  if (worst > bound)
    g_printerr ("# error %g, bound %g\n", worst, bound);
  return worst <= bound;
}

gboolean
outputs_compare (const Case *c, NdMethod method, const guint8 *got,
    const guint8 *want, gsize bytes, gdouble largest)
{
  for (guint i = 0; i < c->outputs; i++) {
    const NdScale scale = output_scale (c, i);

    if (!compare_output (c, method, &scale, got + output_at (i, bytes),
            want + output_at (output_kinds[i], bytes), bytes, largest)) {
      g_printerr ("# in output %u of %u\n", i, c->outputs);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
outputs_are_equal (const Case *c, const guint8 *got, const guint8 *want,
    gsize bytes)
{
  const gsize step = nd_sample_size (c->job.out_type);

  for (gsize i = 0; i < c->outputs * bytes; i += step) {
    const gsize at = output_at (i / bytes, bytes) + i % bytes;
    const gdouble g = sample_at (got + at, c->job.out_type);
    const gdouble w = sample_at (want + at, c->job.out_type);

    if (g != w && !(isnan (g) && isnan (w))) {
      g_printerr ("# sample %" G_GSIZE_FORMAT ": %.9g, not %.9g\n", i / step, g,
          w);
      return FALSE;
    }
  }
  return TRUE;
}
