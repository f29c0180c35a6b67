/* Local structure: measures from the eigenvalues and eigenvectors of an
 * orientation tensor, and the velocity from a tensor over space and time. The
 * functions compute one sample, in double precision. docs/algorithms.md has the
 * formulas.
 *
 * A tensor over n axes has n (n + 1) / 2 components, row by row from the
 * diagonal on: xx xy yy; xx xy xz yy yz zz; xx xy xz xt yy yz yt zz zt tt.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_TENSOR_MAX_AXES 4
#define ND_TENSOR_MAX_COMPONENTS 10

/* The axes of a tensor: 2, 3 or 4 for 3, 6 or 10 components, otherwise 0. */
guint nd_tensor_axes (gsize components);

/* axes (axes + 1) / 2 */
guint nd_tensor_components (guint axes);

/* The index of the component in row @i and column @j. */
guint nd_tensor_index (guint axes, guint i, guint j);

/* Finds the eigenvalues, the largest first, and if @vectors is not NULL the
 * unit eigenvectors vectors[k], with Jacobi rotations (Golub and Van Loan,
 * Matrix Computations, 8.5). FALSE if a component is not finite. */
gboolean nd_tensor_eigen (guint axes, const gdouble *tensor, gdouble *values,
    gdouble vectors[][ND_TENSOR_MAX_AXES]);

typedef enum
{
  ND_STRUCTURE_TENSOR,      /* as the input */
  ND_STRUCTURE_EIGENVALUES, /* n, the largest first */
  ND_STRUCTURE_ORIENTATION, /* n: the first eigenvector, whose first component
                             * of 0.99 of the largest magnitude is positive */
  ND_STRUCTURE_CERTAINTY,   /* 1: (l1 - ln) / l1 */
  ND_STRUCTURE_ANISOTROPY,  /* n: of structures with dimension 1 to n - 1, then
                             * 0: (l[n - d] - l[n - d + 1]) / l1, and ln / l1 */
  ND_STRUCTURE_VELOCITY     /* n: samples a volume along the n - 1 axes of
                             * space, and a certainty from 0 to 1 */
} NdStructure;

/* The numbers are public, as values of properties, and never change. */
typedef enum
{
  ND_MOTION_CONSTANT = 0,
  ND_MOTION_AFFINE = 1
} NdMotion;

/* The components of @structure for a tensor over @axes. */
guint nd_structure_components (NdStructure structure, guint axes);

/* Writes the nd_structure_components() of @structure, which is not the
 * velocity, to @out. All are 0 if the trace of @tensor is not above 0 or not
 * finite. */
void nd_structure_from_tensor (NdStructure structure, guint axes,
    const gdouble *tensor, gdouble *out);

#define ND_MAX_STRUCTURES 6

/* The measures of a stream of tensors, which are averaged over a window
 * (analysis/structure.h). */
typedef struct
{
  NdStructure structures[ND_MAX_STRUCTURES]; /* in the order of the output */
  guint n_structures;
  NdMotion model;
  gdouble sigma;    /* of the window, samples and volumes; 0: no window */
  gdouble speed[3]; /* factors of the velocity along x, y and z */
} NdStructureSettings;

/* The components of the output for a tensor over @axes. */
guint nd_structure_output_components (const NdStructureSettings *settings,
    guint axes);

/* Whether the velocity is among the measures. */
gboolean nd_structure_has_velocity (const NdStructureSettings *settings);

/* A moment of the tensors around a sample: the sum over its window of
 * w(u) T[component] u_x^p[0] u_y^p[1] u_z^p[2]. */
typedef struct
{
  guint component;
  guint p[3];
} NdMoment;

#define ND_MAX_MOMENTS 73
#define ND_MAX_UNKNOWNS 12 /* 1, x, y and z for 3 axes */

/* The moments that a model needs, and their places in its equations. */
typedef struct
{
  guint axes; /* the last one is time */
  guint n_moments;
  NdMoment moments[ND_MAX_MOMENTS]; /* first those of order 0, in the order of
                                     * the components */
  guint n_unknowns;                 /* of the velocity, axis by axis */
  guint8 matrix[ND_MAX_UNKNOWNS][ND_MAX_UNKNOWNS];
  guint8 right[ND_MAX_UNKNOWNS];
} NdMotionPlan;

/* Fills @plan for tensors over @axes, 2 to 4. */
void nd_motion_plan_init (NdMotionPlan *plan, NdMotion model, guint axes);

/* Finds the velocity v of a sample that minimizes the sum over the window of
 * w (v, 1)^T T (v, 1). The velocity in the window is v, or v + A u if the model
 * is affine. Writes the axes - 1 components of v and the certainty. Source:
 * Farnebäck, Fast and accurate motion estimation using orientation tensors and
 * parametric motion models, ICPR 2000. */
void nd_motion_solve (const NdMotionPlan *plan, const gdouble *moments,
    gdouble *out);

#define ND_STRUCTURE_MAX_SIGMA 10
#define ND_STRUCTURE_MAX_TIME_REACH (2 * ND_STRUCTURE_MAX_SIGMA)

/* The window that tensors are averaged over: a Gaussian, cut off at 3 sigma in
 * space and at 2 sigma in time. */
typedef struct
{
  gsize size[3];
  gint radius;
  gfloat *weights;  /* of -radius to radius, times u^0, u^1 and u^2 */
  gfloat *scale[3]; /* of each sample of an axis: 1 / the sum of the weights
                     * inside the volume */
  gfloat time[2 * ND_STRUCTURE_MAX_TIME_REACH + 1];
} NdStructureWindow;

/* The volumes of the window before, and after, the anchor. */
guint nd_structure_window_reach (gdouble sigma);

/* Allocates the arrays of @window, which nd_structure_window_clear() frees, for
 * volumes of @size. @sigma: 0 to ND_STRUCTURE_MAX_SIGMA samples. FALSE without
 * memory; then it must be cleared, too. */
gboolean nd_structure_window_init (NdStructureWindow *window, gdouble sigma,
    const gsize size[3]);
void nd_structure_window_clear (NdStructureWindow *window);

G_END_DECLS
