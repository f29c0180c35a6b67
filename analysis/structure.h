/* Local structure: what the eigenvalues and eigenvectors of an orientation
 * tensor say, and the velocity in one over space and time. Numbers of one
 * voxel, in double precision. docs/algorithms.md has the formulas.
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

/* 2, 3 or 4 axes for 3, 6 or 10 components; 0 for other numbers. */
guint nd_tensor_axes (gsize components);
guint nd_tensor_components (guint axes);

/* The component of row @i and column @j. */
guint nd_tensor_index (guint axes, guint i, guint j);

/* Eigenvalues, the largest first, and if @vectors is not NULL the unit
 * eigenvectors vectors[k], by Jacobi's rotations (Golub and Van Loan, Matrix
 * Computations, 8.5). FALSE if a component is not finite. */
gboolean nd_tensor_eigen (guint axes, const gdouble *tensor, gdouble *values,
    gdouble vectors[][ND_TENSOR_MAX_AXES]);

typedef enum
{
  ND_STRUCTURE_TENSOR,      /* as the input */
  ND_STRUCTURE_EIGENVALUES, /* n, the largest first */
  ND_STRUCTURE_ORIENTATION, /* n: the first eigenvector, whose component of
                             * largest magnitude is positive */
  ND_STRUCTURE_CERTAINTY,   /* 1: (l1 - ln) / l1 */
  ND_STRUCTURE_ANISOTROPY,  /* n: of structures with dimension 1 to n - 1, then
                             * 0: (l[n - d] - l[n - d + 1]) / l1, and ln / l1 */
  ND_STRUCTURE_VELOCITY     /* n: samples a volume along the n - 1 axes of
                             * space, and a certainty from 0 to 1 */
} NdStructure;

typedef enum
{
  ND_MOTION_CONSTANT,
  ND_MOTION_AFFINE
} NdMotion;

guint nd_structure_components (NdStructure structure, guint axes);

/* What @tensor gives but for the velocity, into nd_structure_components()
 * numbers. 0 everywhere if there is none: the trace is not above 0, or not
 * finite. */
void nd_structure_from_tensor (NdStructure structure, guint axes,
    const gdouble *tensor, gdouble *out);

/* Moments of tensors about a voxel: sums over its window of
 * w(u) T[component] u_x^p[0] u_y^p[1] u_z^p[2]. */
typedef struct
{
  guint component;
  guint p[3];
} NdMoment;

#define ND_MAX_MOMENTS 73
#define ND_MAX_UNKNOWNS 12 /* 1, x, y and z for 3 axes */

/* Which moments a model needs, and where they stand in its equations. */
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

void nd_motion_plan_init (NdMotionPlan *plan, NdMotion model, guint axes);

/* The velocity v at the voxel that minimizes the sum over the window of
 * w (v, 1)^T T (v, 1), after Farnebäck, Fast and accurate motion estimation
 * using orientation tensors and parametric motion models, ICPR 2000: v is
 * constant, or v + A u over the window. Writes axes - 1 components and the
 * certainty. */
void nd_motion_solve (const NdMotionPlan *plan, const gdouble *moments,
    gdouble *out);

G_END_DECLS
