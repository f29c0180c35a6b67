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

/* A design of one real filter. */
typedef NdFilter *NdDesignFunction (const NdParameters * parameters,
    const NdAxes * axes, GError ** error);

NdDesignFunction nd_design_box;
NdDesignFunction nd_design_coefficients;
NdDesignFunction nd_design_dog;
NdDesignFunction nd_design_ellipsoid;
NdDesignFunction nd_design_gaussian;
NdDesignFunction nd_design_gaussian_derivative;
NdDesignFunction nd_design_laplace;
NdDesignFunction nd_design_log;
NdDesignFunction nd_design_monomial;
NdDesignFunction nd_design_psf;
NdDesignFunction nd_design_riesz;
NdDesignFunction nd_design_scharr;
NdDesignFunction nd_design_sobel;
NdDesignFunction nd_design_sphere;
NdDesignFunction nd_design_wiener;

/* A design of a complex filter, or of several. */
typedef NdBank *NdBankFunction (const NdParameters * parameters,
    const NdAxes * axes, GError ** error);

NdBankFunction nd_design_file;
NdBankFunction nd_design_gabor;
NdBankFunction nd_design_monomial_bank;
NdBankFunction nd_design_motion;
NdBankFunction nd_design_quadrature;
NdBankFunction nd_design_quadrature_bank;

/* How many filters such a design has, without making them. */
typedef gboolean NdCountFunction (const NdParameters * parameters,
    const NdAxes * axes, NdResponses * responses, GError ** error);

NdCountFunction nd_count_file;
NdCountFunction nd_count_monomial_bank;
NdCountFunction nd_count_quadrature_bank;

/* A bank of the complex filter @real + i @imaginary, which it takes. */
NdBank *nd_bank_new_complex (NdFilter * real, NdFilter * imaginary);

/* Whether a filter may be so large. */
gboolean nd_design_check_size (const gsize size[ND_AXES], GError ** error);

/* nd_filter_new(), where NULL comes with an error that says why. */
NdFilter *nd_design_new_filter (const gchar * design,
    const gsize size[ND_AXES], GError ** error);

/* nd_filter_new_product() likewise. */
NdFilter *nd_design_new_product (const gchar * design,
    const gsize size[ND_AXES], gdouble * const factors[ND_AXES],
    GError ** error);

G_END_DECLS
