/* Registration: the motion that takes one volume to another.
 *
 * A reference R and a volume M are compared on a pyramid of smoothed volumes,
 * each half as large as the one before. The motion T takes positions of R to
 * positions of M. With the gradient g of R, the basis B of the model and a
 * smooth factor of R and an offset, the parameters q, s and t of
 *
 *   M (T x) - R (x) = g (x)^T B (x) q + R (x) sum_m s_m m (x) + t
 *
 * are found by least squares, T becomes T exp (q)^-1, and so on until it stands
 * still: the inverse compositional method of Gauss and Newton (S. Baker,
 * I. Matthews, "Lucas-Kanade 20 Years On", Int. J. Comput. Vis. 56(3), 2004),
 * whose matrix needs the gradient of R only. The factor and the offset are the
 * linear appearance variation of that article's part 3 (CMU-RI-TR-03-35, 2003).
 * Here m are the monomials up to degree 2 on the finest level, and 1 on the
 * others. Lengths are millimetres, so that a rigid motion is rigid if samples
 * are not cubes.
 *
 * The phase goes on from there, on the finest level. With the responses p of R
 * and q of M (T x) to a quadrature filter, the difference of their phases is
 *
 *   arg (conj (p) q) = grad phi (x)^T B (x) q
 *
 * for each filter, one along each axis, with the weight |p q| cos^2 of half the
 * difference. The gradient of the phase phi along an axis with the unit vector
 * e is arg sum_p,q p (x + e) conj (p (x)) + p (x) conj (p (x - e)), along all
 * axes. M (T x) is filtered again in each iteration. A gain or an offset that
 * varies slowly has no phase. (M. Hemmendorff, M. Andersson, T. Kronander,
 * H. Knutsson, "Phase-based multidimensional volume registration", IEEE Trans.
 * Med. Imaging 21(12), 2002; A. Eklund, M. Andersson, H. Knutsson, "Phase based
 * volume registration using CUDA", ICASSP 2010.)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The numbers are public, as values of a property, and never change. */
typedef enum
{
  ND_REGISTER_TRANSLATION = 0,
  ND_REGISTER_RIGID = 1,
  ND_REGISTER_AFFINE = 2
} NdRegisterModel;

typedef enum
{
  ND_REGISTER_AUTO = 0, /* phase if intensities leave much unexplained */
  ND_REGISTER_PHASE = 1,
  ND_REGISTER_INTENSITY = 2
} NdRegisterMethod;

typedef enum
{
  ND_INTERPOLATION_LINEAR = 0,
  ND_INTERPOLATION_CUBIC = 1 /* nd_cubic_weights() */
} NdInterpolation;

/* The reference of a stream. Volumes are counted from 0. */
typedef enum
{
  ND_REFERENCE_NUMBER,  /* volume @number, or the next one that has structure */
  ND_REFERENCE_MEAN,    /* the mean of the first @number volumes, moved */
  ND_REFERENCE_RUNNING, /* the mean of the last volumes, moved */
  ND_REFERENCE_PREVIOUS /* the volume before; motions are composed */
} NdReferenceKind;

typedef struct
{
  NdReferenceKind kind;
  guint64 number;
} NdReference;

/* Parses "first", a number, "mean" (of 10 volumes) or "mean:N", "running" or
 * "previous". ND_ERROR_SETTINGS. */
gboolean nd_reference_parse (const gchar *text, NdReference *reference,
    GError **error);

#define ND_REGISTER_MAX_LEVELS 5
#define ND_REGISTER_MAX_ITERATIONS 100

typedef struct
{
  NdRegisterModel model;
  guint levels;     /* the most, 1 to ND_REGISTER_MAX_LEVELS */
  guint iterations; /* the most on a level, 1 to ND_REGISTER_MAX_ITERATIONS */
  gboolean nonzero; /* samples that are 0 are not measured */
  NdRegisterMethod method;
} NdRegisterSettings;

/* A map x -> A x + b: the rows of A, each with its element of b. */
typedef struct
{
  gdouble m[3][4];
} NdAffine;

/* The transform that moves nothing. */
NdAffine nd_affine_identity (void);

/* x -> a (b (x)) */
NdAffine nd_affine_compose (const NdAffine *a, const NdAffine *b);

/* FALSE if there is no inverse. */
gboolean nd_affine_invert (const NdAffine *a, NdAffine *inverse);

/* FALSE if a number is not finite, or if it is too large for any volume. */
gboolean nd_affine_is_possible (const NdAffine *motion);

/* From indices of samples to positions. */
NdAffine nd_affine_of_samples (const gdouble spacing[3],
    const gdouble origin[3]);

/* What was found for one volume. */
typedef struct
{
  /* From positions in the reference to positions in the volume, in millimetres
   * from the centre of the samples along x, y, z. */
  NdAffine motion;
  gboolean measured; /* FALSE: nothing could be compared; no motion */
  gboolean converged;
  guint iterations;    /* on all levels */
  gdouble residual;    /* root mean square of what the equation above leaves, of
                        * smoothed samples on the finest level */
  gdouble unexplained; /* its square as a share of the variance, 0 to 1 */
  gdouble overlap;     /* share of the reference that lies in the volume */
  gboolean waits;      /* the volume that is the reference has not come */
  gboolean restarted;  /* the last motion was no help: nd_register_follow() */
} NdRegistration;

/* Sums */

/* What the columns of the equation are made of: the derivatives of R along x,
 * y, z in 1/mm, R, and 1, times a monomial. */
#define ND_REGISTER_KINDS 5
#define ND_REGISTER_MAX_COLUMNS 23

typedef struct
{
  guint kind, monomial;
} NdRegisterColumn;

/* Exponents of x, y, z in the order of their sum. The first
 * nd_register_monomial_count[d] are those up to degree d. */
#define ND_REGISTER_MAX_DEGREE 4
#define ND_REGISTER_MONOMIALS 35
extern const guint8 nd_register_monomials[ND_REGISTER_MONOMIALS][3];
extern const guint nd_register_monomial_count[ND_REGISTER_MAX_DEGREE + 1];

/* The normal equations of the columns, summed over all samples in the overlap
 * with their weights, 0 or 1. Position u of the monomials is -1 to 1 along each
 * axis (nd_register_unit()). */
typedef struct
{
  gdouble a[ND_REGISTER_MAX_COLUMNS][ND_REGISTER_MAX_COLUMNS];
  gdouble b[ND_REGISTER_MAX_COLUMNS];
  gdouble squares; /* of the difference M (T x) - R (x) */
} NdRegisterSums;

typedef struct
{
  gsize size[3];
  guint factor[3];    /* samples of the volume from one to the next */
  gdouble spacing[3]; /* mm */
  guint margin[3];    /* samples at both ends that have the weight 0 */
  guint n_columns;
  NdRegisterColumn columns[ND_REGISTER_MAX_COLUMNS];
  guint factor_column, offset_column; /* R, 1 */
} NdRegisterLevel;

typedef struct
{
  NdRegisterSettings settings;
  gdouble half[3]; /* extent of a volume from its centre, mm */
  gdouble spacing[3], centre[3];
  guint n_levels;
  NdRegisterLevel levels[ND_REGISTER_MAX_LEVELS]; /* the finest first */
} NdRegisterPlan;

/* Volumes of @size samples, which are @spacing mm apart. */
void nd_register_plan_init (NdRegisterPlan *plan,
    const NdRegisterSettings *settings, const gsize size[3],
    const gdouble spacing[3]);

/* The unit u of sample 0 of @axis of a level, and the step to the next. */
void nd_register_unit (const NdRegisterPlan *plan, guint level, guint axis,
    gdouble *first, gdouble *step);

/* The Gaussian before volumes are compared, of standard deviation 1 sample, and
 * that before every second sample is taken, of 0.8. Samples beyond an edge are
 * those at the edge. An axis of one sample is not filtered. */
#define ND_REGISTER_RADIUS 3
#define ND_REGISTER_HALF_RADIUS 2
void nd_register_taps (gdouble sigma, guint radius, gdouble *taps);
#define ND_REGISTER_SIGMA 1.0
#define ND_REGISTER_HALF_SIGMA 0.8

/* Samples of the reference count if their gradient is at least this share of
 * the root mean square of all gradients. */
#define ND_REGISTER_MIN_GRADIENT 0.1

/* A sample is valid if its filters, which are applied to 1 for measured and 0
 * for other samples too, give at least this. */
#define ND_REGISTER_VALID 0.999

/* Sets @sums for @level and for @map from its indices to those of the volume.
 */
typedef void (*NdRegisterMeasure) (gpointer data, guint level,
    const NdAffine *map, NdRegisterSums *sums);

/* What measures a volume. */
typedef struct
{
  NdRegisterMeasure intensity;
  gpointer data;
  gdouble weight; /* sum of the weights of the finest level, of which the
                   * overlap is a share */

  /* Sets the sums of the phase for the finest level. Columns are gradients of
   * the phase, in 1/mm, times monomials; the difference is that of the phases,
   * and the only sum of the column of 1 is that of the weights. */
  NdRegisterMeasure phase; /* NULL: ND_REGISTER_INTENSITY */
  gpointer phase_data;
} NdRegisterMeter;

/* The motion, from @start on. */
void nd_register_estimate (const NdRegisterPlan *plan,
    const NdRegisterMeter *meter, const NdAffine *start, NdRegistration *out);

/* The same for the next volume of a stream, from the motion of the last one on.
 * If more is left unexplained than for the volumes before (@expected, which it
 * updates; 0 at the start of a stream), the motion is also searched from other
 * motions on the coarsest level, and the better result counts. */
void nd_register_follow (const NdRegisterPlan *plan,
    const NdRegisterMeter *meter, const NdAffine *last, gdouble *expected,
    NdRegistration *out);

/* The filters of the phase, of 2 ND_PHASE_RADIUS + 1 taps: their real and
 * imaginary parts along their own axis, and the Gaussian along the others. The
 * response at x is the sum over k of tap k times sample x + k - radius. Along
 * its own axis a filter is lognormal (H. Knutsson, 1982): its response to the
 * frequency u > 0, in radians a sample, is exp (-4/ln 2 ln^2 (u/u0)/B^2) before
 * it is cut off. */
#define ND_PHASE_RADIUS 4
#define ND_PHASE_TAPS (2 * ND_PHASE_RADIUS + 1)
#define ND_PHASE_REACH (ND_PHASE_RADIUS + 1) /* of the gradient of the phase */
typedef struct
{
  gdouble real[ND_PHASE_TAPS], imaginary[ND_PHASE_TAPS];
  gdouble across[ND_PHASE_TAPS];
} NdPhaseFilter;

/* Computes the coefficients of @filter, the same on each call. */
void nd_phase_filter_init (NdPhaseFilter *filter);

/* Samples at both ends of @axis that have no weight; 0 along an axis of one
 * sample, which has no filter. */
gsize nd_phase_margin (const NdRegisterPlan *plan, guint axis);

/* The motion in indices of samples of the volumes. */
NdAffine nd_register_indices (const NdRegisterPlan *plan,
    const NdAffine *motion);

/* The weights of the 4 samples around a position @at, 0 to 1, behind the
 * second: R. G. Keys, "Cubic Convolution Interpolation for Digital Image
 * Processing", IEEE Trans. Acoust. 29(6), 1981. */
static inline void
nd_cubic_weights (gdouble at, gdouble weights[4])
{
  weights[0] = ((2 - at) * at - 1) * at / 2;
  weights[1] = ((3 * at - 5) * at * at + 2) / 2;
  weights[2] = ((4 - 3 * at) * at + 1) * at / 2;
  weights[3] = (at - 1) * at * at / 2;
}

/* The reference in double precision */

/* Registers @volume to @reference, volumes of the size of @plan, from @start
 * on. Samples that are not finite are not measured. */
void nd_register_reference (const NdRegisterPlan *plan,
    const gdouble *reference, const gdouble *volume, const NdAffine *start,
    NdRegistration *out);

G_END_DECLS
