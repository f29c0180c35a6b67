/* What becomes of the responses of a bank.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A response r is complex where the filter is, or the input (two components).
 * That of a real filter to real input has imaginary part 0, and where there are
 * other than two components, each is by itself.
 *
 * Kinds from ND_RESPONSE_MAX on make one response of all K. */
typedef enum
{
  ND_RESPONSE_ALL,              /* r, complex as two components */
  ND_RESPONSE_MAGNITUDE,        /* |r| */
  ND_RESPONSE_PHASE,            /* the argument of r, -pi to pi */
  ND_RESPONSE_REAL,
  ND_RESPONSE_IMAGINARY,
  ND_RESPONSE_ENERGY,           /* |r|^2 */
  ND_RESPONSE_MAX,              /* the largest |r| */
  ND_RESPONSE_ARGMAX,           /* the first response with the largest |r|,
                                 * counted from 0 */
  ND_RESPONSE_SUM               /* the sum of |r| */
} NdResponse;

/* How many of them come out, of @n. */
guint nd_response_count (NdResponse response, guint n);

/* Components that come out for an input of @components. */
gsize nd_response_components (NdResponse response, gboolean is_complex,
    gsize components);

G_END_DECLS
