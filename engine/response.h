/* The kinds of output that a bank has.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

G_BEGIN_DECLS

/* Input with two components is complex; of other input, each component is
 * filtered separately. The response r of one filter is complex if the filter or
 * the input is complex. Otherwise its imaginary part is 0.
 *
 * Values from ND_RESPONSE_MAX on make one output from the responses of all
 * filters.
 *
 * The numbers are public, as values of a property, and never change. */
typedef enum
{
  ND_RESPONSE_ALL = 0,       /* r, complex as two components */
  ND_RESPONSE_MAGNITUDE = 1, /* |r| */
  ND_RESPONSE_PHASE = 2,     /* the argument of r, -pi to pi */
  ND_RESPONSE_REAL = 3,
  ND_RESPONSE_IMAGINARY = 4,
  ND_RESPONSE_ENERGY = 5, /* |r|^2 */
  ND_RESPONSE_MAX = 6,    /* the largest |r| */
  ND_RESPONSE_ARGMAX = 7, /* the number, from 0, of the first response with the
                             largest |r|; if that is below the job's
                             threshold, ND_LABEL_NONE (type), whatever the
                             scale is */
  ND_RESPONSE_SUM = 8,    /* the sum of |r| */
  ND_RESPONSE_TENSOR = 9  /* the orientation tensor (filters/tensor.h) */
} NdResponse;

/* Kinds of output are 0 to ND_RESPONSE_END - 1. */
#define ND_RESPONSE_END 10

/* The value of the property, for example "magnitude". */
const gchar *nd_response_name (NdResponse response);

/* The label of samples that belong to no response: 255 in types without a sign,
 * otherwise -1. */
#define ND_LABEL_NONE(type) \
  ((type) == ND_UINT8 || (type) == ND_UINT16 ? 255.0 : -1.0)

/* The number of outputs of a bank of @n filters. */
guint nd_response_count (NdResponse response, guint n);

/* The components of an output for an input of @components, for all values but
 * ND_RESPONSE_TENSOR. */
gsize nd_response_components (NdResponse response, gboolean is_complex,
    gsize components);

/* The same for all values. The bank's tensor has @tensor_axes. */
gsize nd_output_components (NdResponse response, gboolean is_complex,
    guint tensor_axes, gsize components);

/* Whether a bank can give @response for input of @components, in samples of
 * @out_type, with @threshold (NdJob). The bank is complex or not, and its
 * tensor has @tensor_axes (0: it makes no tensor). Otherwise FALSE with
 * ND_ERROR_FORMAT if other input would do, or ND_ERROR_SETTINGS. */
gboolean nd_response_check (NdResponse response, gboolean is_complex,
    guint tensor_axes, gsize components, NdSampleType out_type,
    gdouble threshold, GError **error);

G_END_DECLS
