/* The designs; the table is in filters/design.c. Messages need not name the
 * design, because nd_design() prefixes its name.
 *
 * In a filter of size k, coefficient m is at x = m - (k - 1)/2: the positions
 * of even sizes are symmetric about 0, too. A design ignores axes of size 1.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/parameters.h"

G_BEGIN_DECLS

/* A design of one real filter. */
typedef NdFilter *NdDesignFunction (const NdParameters *parameters,
    const NdAxes *axes, GError **error);

NdDesignFunction nd_design_box;
NdDesignFunction nd_design_causal_derivative;
NdDesignFunction nd_design_coefficients;
NdDesignFunction nd_design_dog;
NdDesignFunction nd_design_ellipsoid;
NdDesignFunction nd_design_exponential;
NdDesignFunction nd_design_gamma;
NdDesignFunction nd_design_gaussian;
NdDesignFunction nd_design_gaussian_derivative;
NdDesignFunction nd_design_laplace;
NdDesignFunction nd_design_log;
NdDesignFunction nd_design_measured_psf; /* psf with location */
NdDesignFunction nd_design_monomial;
NdDesignFunction nd_design_psf;
NdDesignFunction nd_design_riesz;
NdDesignFunction nd_design_scharr;
NdDesignFunction nd_design_sobel;
NdDesignFunction nd_design_sphere;
NdDesignFunction nd_design_wiener;

/* A design of a complex filter, or of several. */
typedef NdBank *NdBankFunction (const NdParameters *parameters,
    const NdAxes *axes, GError **error);

NdBankFunction nd_design_file;
NdBankFunction nd_design_gabor;
NdBankFunction nd_design_monomial_bank;
NdBankFunction nd_design_motion;
NdBankFunction nd_design_quadrature;
NdBankFunction nd_design_quadrature_bank;

/* Finds the properties of the bank of such a design without designing it. */
typedef gboolean NdInfoFunction (const NdParameters *parameters,
    const NdAxes *axes, NdBankInfo *info, GError **error);

NdInfoFunction nd_info_file;
NdInfoFunction nd_info_monomial_bank;
NdInfoFunction nd_info_quadrature_bank;

/* A bank of one complex filter, @real + i @imaginary. Takes both. */
NdBank *nd_bank_new_complex (NdFilter *real, NdFilter *imaginary);

/* ND_ERROR_SETTINGS if a filter of this size has too many coefficients. */
gboolean nd_design_check_size (const gsize size[ND_AXES], GError **error);

/* nd_filter_new() that sets an error if it returns NULL. */
NdFilter *nd_design_new_filter (const gchar *design, const gsize size[ND_AXES],
    GError **error);

/* nd_filter_new_product() that sets an error if it returns NULL. */
NdFilter *nd_design_new_product (const gchar *design, const gsize size[ND_AXES],
    gdouble *const factors[ND_AXES], GError **error);

G_END_DECLS
