/* The output of a job: the responses of its filters or, if nd_job_combines(),
 * the values made of them.
 *
 * A method computes the responses of a tile at a time, for example of some
 * rows, so that responses that are combined need not leave the cache. The
 * memory of a tile consists of layers: one response, or one number per output
 * that is made of several, is in one layer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/kernels.h"
#include "filters/tensor.h"

G_BEGIN_DECLS

typedef struct
{
  NdJob job;
  const NdKernels *kernels;
  gboolean combines; /* nd_job_combines() */
  guint n;           /* responses, of one component or one complex number */
  guint parts;       /* 2: a response has a real and an imaginary part */
  gsize group;       /* components that make one response */
  guint layers;      /* of a tile */
  gsize floats;      /* of a layer */
  gsize bytes;       /* of a number of the output */
  gsize sample;      /* bytes from a value to the next one along x */
  NdReal *memory;    /* a tile for each worker */
  gsize total;       /* floats of the memory */
  NdReal *start;
  NdTensorRecipe recipe; /* of ND_RESPONSE_TENSOR */

  /* Those of respond(). */
  const NdScale *scale;
  const NdSamples *out;
} NdRowOutput;

/* The place in the output for response (x, y, z) of @filter and those after it
 * in the row, if the output is these numbers, unscaled. Otherwise NULL, also if
 * rows are not a multiple of numbers apart. A response of -0 is written as
 * 0. */
static inline NdReal *
nd_output_in_place (const NdRowOutput *output, guint filter, gsize x, gsize y,
    gsize z)
{
  const NdSamples *out = output->out;

  if (output->combines || output->job.out_type != ND_REAL_TYPE
      || out->sample != sizeof (NdReal) || output->scale->gain != 1
      || output->scale->offset != 0 || (gsize) out->data % sizeof (NdReal)
      || (out->row | out->slice | out->response) % sizeof (NdReal))
    return NULL;
  return (NdReal *) (out->data + filter * out->response + z * out->slice
             + y * out->row)
      + x;
}

/* The layers that a job needs. 1: each response is an output of its own, and
 * may be computed at any time. */
guint nd_output_layers (const NdJob *job);

/* @floats: of a layer. FALSE with ND_ERROR_MEMORY if there is not enough
 * memory. @output may be zeroed and cleared without this call. */
gboolean nd_output_init (NdRowOutput *output, const NdJob *job, gsize floats,
    guint n_workers, GError **error);
void nd_output_clear (NdRowOutput *output);
gsize nd_output_bytes (const NdRowOutput *output);

/* The memory of @worker for the response of @filter for @component. It is
 * aligned to 64 bytes if layers are multiples of 64 bytes. */
NdReal *nd_output_layer (const NdRowOutput *output, guint worker, guint filter,
    gsize component);

/* Inside of nd_output_row(): @to is the place of the first output. */
void nd_output_combine (const NdRowOutput *output, guint filter,
    gsize component, NdReal *row, gsize n, guint8 *to);

/* Takes the responses of @filter for @component, for outputs (x, y, z) to
 * (x + n - 1, y, z). @row may be changed. If there are several layers, it is in
 * that memory, and responses of a tile come in this order: for each group of
 * components all filters, for each filter the components of the group. May be
 * called from several threads. */
static inline void
nd_output_row (const NdRowOutput *output, guint filter, gsize component,
    NdReal *row, gsize n, gsize x, gsize y, gsize z)
{
  const NdSamples *out = output->out;
  guint8 *to = out->data + y * out->row + z * out->slice;

  if (output->combines)
    nd_output_combine (output, filter, component, row, n,
        to + x * output->sample);
  else
    output->kernels->store (row, n, output->scale, output->job.out_type,
        to + filter * out->response + component * output->bytes
            + x * out->sample,
        out->sample);
}

G_END_DECLS
