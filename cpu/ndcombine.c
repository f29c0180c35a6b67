/* Magnitudes, phases and so on, of rows of responses.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndcombine.h"

#include <math.h>
#include "ndpad.h"
#include "ndthreads.h"

typedef struct
{
  const NdJob *job;
  const gfloat *responses;
  NdSampleType type;
  const NdScale *scale;
  const NdSamples *out;

  guint n;                      /* responses */
  gsize volume;                 /* floats from one to the next */
  gsize step;                   /* from one real part to the next */
  gsize imaginary;              /* from a real part to the imaginary one; 0:
                                 * there is none */
  gsize row;                    /* floats of a row, and values that it makes */
  gsize values;
  gfloat *scratch;              /* three rows of values for each thread */
} Combine;

typedef void (*Combiner) (const Combine * c, const gfloat * re,
    gfloat * values);

#define EACH(value_of_re_and_im) \
  const gfloat *in = re + c->imaginary; \
  if (c->imaginary) { \
    for (gsize i = 0; i < c->values; i++) { \
      gfloat a = re[i * c->step], b = in[i * c->step]; \
      values[i] = value_of_re_and_im; \
    } \
  } else { \
    for (gsize i = 0; i < c->values; i++) { \
      gfloat a = re[i], b = 0; \
      values[i] = value_of_re_and_im; \
    } \
  }

static void
take_magnitude (const Combine * c, const gfloat * re, gfloat * values)
{
  EACH (sqrtf (a * a + b * b));
}

static void
take_energy (const Combine * c, const gfloat * re, gfloat * values)
{
  EACH (a * a + b * b);
}

static void
take_phase (const Combine * c, const gfloat * re, gfloat * values)
{
  EACH (atan2f (b, a));
}

static void
take_real (const Combine * c, const gfloat * re, gfloat * values)
{
  EACH (((void) b, a));
}

static void
take_imaginary (const Combine * c, const gfloat * re, gfloat * values)
{
  EACH (((void) a, b));
}

/* Real and imaginary parts behind each other. */
static void
take_all (const Combine * c, const gfloat * re, gfloat * values)
{
  const gfloat *im = re + c->imaginary;

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

/* A magnitude that is no number is never the largest. */
static void
reduce (const Combine * c, const gfloat * re, gfloat * values,
    gfloat * magnitudes)
{
  gboolean index = c->job->response == ND_RESPONSE_ARGMAX;
  gfloat *largest = index ? magnitudes + c->values : values;

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
      default:
        for (gsize i = 0; i < c->values; i++) {
          values[i] = magnitudes[i] > largest[i] ? k : values[i];
          largest[i] = magnitudes[i] > largest[i] ? magnitudes[i]
              : largest[i];
        }
        break;
    }
  }
}

static void
combine_row (gsize index, guint worker, gpointer data)
{
  const Combine *c = data;
  gsize ny = c->job->shape.size[1];
  const gfloat *re = c->responses + index * c->row;
  gfloat *values = c->scratch + 3 * worker * c->values;
  guint8 *to = c->out->data + index % ny * c->out->row
      + index / ny * c->out->slice;
  guint n = nd_response_count (c->job->response, c->n);

  for (guint k = 0; k < n; k++) {
    if (c->job->response >= ND_RESPONSE_MAX)
      reduce (c, re, values, values + c->values);
    else
      combiners[c->job->response] (c, re + k * c->volume, values);
    nd_store_row (values, c->values, c->scale, c->type,
        to + k * c->out->response, nd_sample_size (c->type));
  }
}

void
nd_cpu_combine (const NdJob * job, const gfloat * responses,
    NdSampleType type, const NdScale * scale, const NdSamples * out)
{
  const NdShape *shape = &job->shape;
  gsize samples = shape->size[0] * shape->size[1] * shape->size[2];
  Combine c = {.job = job,.responses = responses,.type = type,
    .scale = scale,.out = out,.n = nd_bank_responses (job->bank),
    .volume = samples * shape->components,.step = 1,
    .row = shape->size[0] * shape->components
  };

  if (job->bank->is_complex) {
    c.imaginary = c.volume;
    c.volume *= 2;
  } else if (shape->components == 2) {
    c.imaginary = 1;
    c.step = 2;
  }
  c.values = shape->size[0] * nd_response_components (job->response,
      job->bank->is_complex, shape->components);
  c.scratch = g_new (gfloat, 3 * c.values * nd_threads ());
  nd_parallel_for (shape->size[1] * shape->size[2], combine_row, &c);
  g_free (c.scratch);
}
