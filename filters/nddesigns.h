/* The designs, each in a file of its own; nddesign.c has their table. Messages
 * need not name the design: nd_design() puts its name in front.
 *
 * Inside a filter of size k, coefficient m stands at x = m - (k - 1)/2, so that
 * filters of even size are sampled symmetrically too. An axis of size 1 takes
 * no part in a design.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndparameters.h"

G_BEGIN_DECLS

typedef NdFilter *NdDesignFunction (const NdParameters * parameters,
    const NdAxes * axes, GError ** error);

NdDesignFunction nd_design_box;
NdDesignFunction nd_design_coefficients;
NdDesignFunction nd_design_file;
NdDesignFunction nd_design_gaussian;
NdDesignFunction nd_design_laplace;
NdDesignFunction nd_design_log;
NdDesignFunction nd_design_sobel;

/* nd_filter_new(), where NULL comes with an error that says why. */
NdFilter *nd_design_new_filter (const gchar * design,
    const gsize size[ND_AXES], GError ** error);

/* nd_filter_new_product() likewise. */
NdFilter *nd_design_new_product (const gchar * design,
    const gsize size[ND_AXES], gdouble * const factors[ND_AXES],
    GError ** error);

G_END_DECLS
