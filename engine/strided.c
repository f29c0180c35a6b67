/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/strided.h"

#include "core/convert.h"
#include "core/threads.h"

#include <string.h>

NdStrided
nd_strided (const NdSamples *samples, NdSampleType type)
{
  return (NdStrided){ .data = samples->data,
    .component = nd_sample_size (type),
    .sample = samples->sample,
    .row = samples->row,
    .slice = samples->slice,
    .response = samples->response };
}

/* Strides of axes with one sample are not used. */
static gboolean
has_dense_rows (const NdStrided *s, const NdShape *shape, NdSampleType type)
{
  const gssize size = nd_sample_size (type);

  return (s->component == size || shape->components == 1)
      && (s->sample == size * (gssize) shape->components
          || shape->size[0] == 1);
}

gboolean
nd_strided_has_rows (const NdStrided *s, const NdShape *shape, guint responses,
    NdSampleType type, NdSamples *samples)
{
  const NdSamples dense = nd_samples_dense (s->data, shape, type);
  gssize row, slice, response;

  row = shape->size[1] > 1 ? s->row : (gssize) dense.row;
  slice = shape->size[2] > 1 ? s->slice : row * (gssize) shape->size[1];
  response = responses > 1 ? s->response : slice * (gssize) shape->size[2];
  *samples = (NdSamples){ s->data, dense.sample, row, slice, response };
  return has_dense_rows (s, shape, type) && row >= (gssize) dense.row
      && slice >= row * (gssize) shape->size[1]
      && response >= slice * (gssize) shape->size[2];
}

#define COPY_SAMPLES(type, to, to_c, to_x, from, from_c, from_x)       \
  G_STMT_START                                                         \
  {                                                                    \
    for (gsize x = 0; x < shape->size[0]; x++)                         \
      for (gsize c = 0; c < shape->components; c++)                    \
        *(type *) ((to) + (gssize) c * (to_c) + (gssize) x * (to_x)) = \
            *(const type *) ((from) + (gssize) c * (from_c)            \
                + (gssize) x * (from_x));                              \
  }                                                                    \
  G_STMT_END

/* Copies a row between memory with strides and dense memory, or back. */
static void
strided_copy_row (const NdStrided *s, const NdShape *shape, NdSampleType type,
    guint8 *strided, guint8 *dense, gboolean to_dense)
{
  const gssize size = nd_sample_size (type);
  const gssize step = size * (gssize) shape->components;

  if (size == 1 && to_dense)
    COPY_SAMPLES (guint8, dense, size, step, strided, s->component, s->sample);
  else if (size == 1)
    COPY_SAMPLES (guint8, strided, s->component, s->sample, dense, size, step);
  else if (size == 2 && to_dense)
    COPY_SAMPLES (guint16, dense, size, step, strided, s->component, s->sample);
  else if (size == 2)
    COPY_SAMPLES (guint16, strided, s->component, s->sample, dense, size, step);
  else if (size == 4 && to_dense)
    COPY_SAMPLES (guint32, dense, size, step, strided, s->component, s->sample);
  else if (size == 4)
    COPY_SAMPLES (guint32, strided, s->component, s->sample, dense, size, step);
  else if (to_dense)
    COPY_SAMPLES (guint64, dense, size, step, strided, s->component, s->sample);
  else
    COPY_SAMPLES (guint64, strided, s->component, s->sample, dense, size, step);
}

/* The numbers of a row that are copied at a time. */
#define PIECE 2048

/* Converts a row whose samples are not side by side, by way of dense memory of
 * a fixed size: rows may be longer than the memory. */
static gsize
convert_pieces (const NdStrided *s, const NdShape *shape, NdSampleType type,
    NdPrecision precision, guint8 *theirs, guint8 *ours, gboolean gather)
{
  guint64 dense[PIECE];
  guint8 *piece = (guint8 *) dense;
  const gsize computed = nd_sample_size (nd_sample_computed (type, precision));
  NdShape part = *shape;
  gsize saturated = 0;

  for (gsize x = 0; x < shape->size[0]; x += part.size[0]) {
    part.size[0] = MIN (MAX (PIECE / shape->components, 1), shape->size[0] - x);
    for (gsize c = 0; c < shape->components; c += part.components) {
      guint8 *strided =
          theirs + (gssize) x * s->sample + (gssize) c * s->component;
      guint8 *to = ours + (x * shape->components + c) * computed;
      gsize n;

      part.components = MIN (PIECE, shape->components - c);
      n = part.components * part.size[0];
      if (gather) {
        strided_copy_row (s, &part, type, strided, piece, TRUE);
        nd_convert_to_computed (type, precision, piece, n, to);
      } else {
        saturated += nd_convert_from_computed (type, precision, to, n, piece);
        strided_copy_row (s, &part, type, strided, piece, FALSE);
      }
    }
  }
  return saturated;
}

static gsize
strided_convert (const NdStrided *s, const NdSamples *computed,
    const NdShape *shape, guint responses, NdSampleType type,
    NdPrecision precision, gboolean gather)
{
  const gsize n = shape->components * shape->size[0];
  const gboolean dense = has_dense_rows (s, shape, type);
  gsize saturated = 0;

  for (gsize k = 0; k < responses; k++) {
    for (gsize z = 0; z < shape->size[2]; z++) {
      for (gsize y = 0; y < shape->size[1] && !nd_threads_cancelled (); y++) {
        guint8 *theirs = s->data + (gssize) k * s->response
            + (gssize) z * s->slice + (gssize) y * s->row;
        guint8 *ours = computed->data + k * computed->response
            + z * computed->slice + y * computed->row;

        if (!dense)
          saturated +=
              convert_pieces (s, shape, type, precision, theirs, ours, gather);
        else if (gather)
          nd_convert_to_computed (type, precision, theirs, n, ours);
        else
          saturated +=
              nd_convert_from_computed (type, precision, ours, n, theirs);
      }
    }
  }
  return saturated;
}

void
nd_samples_gather (const NdStrided *from, const NdShape *shape, guint responses,
    NdSampleType type, NdPrecision precision, const NdSamples *computed)
{
  strided_convert (from, computed, shape, responses, type, precision, TRUE);
}

gsize
nd_samples_scatter (const NdSamples *computed, const NdShape *shape,
    guint responses, NdSampleType type, NdPrecision precision,
    const NdStrided *to)
{
  return strided_convert (to, computed, shape, responses, type, precision,
      FALSE);
}
