/* Settings of nddenoise. The sliding 4D DCT: constants, and the reference in
 * double precision. docs/algorithms.md has the formulas.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The numbers of these enums are public, as values of properties, and never
 * change. */
typedef enum
{
  ND_DENOISE_TRANSFORM = 0,
  ND_DENOISE_ADAPTIVE = 1
} NdDenoiseMethod;

typedef enum
{
  ND_NOISE_ADDITIVE = 0,
  ND_NOISE_SPECKLE = 1,
  ND_NOISE_POISSON = 2,
  ND_NOISE_RICIAN = 3,
  ND_NOISE_CORRELATED = 4
} NdNoise;

typedef enum
{
  ND_QUALITY_FAST = 0,
  ND_QUALITY_BEST = 1
} NdDenoiseQuality;

/* The axes that method=adaptive filters. */
typedef enum
{
  ND_AXES_SPACE_TIME = 0,
  ND_AXES_SPACE = 1
} NdDenoiseAxes;

#define ND_DENOISE_MAX_LATENCY 5
#define ND_DENOISE_MAX_STRENGTH 4

/* The noise level is the median of the estimates of the last volumes, at most
 * this number. */
#define ND_DENOISE_MAX_ESTIMATES 15

/* How the eigenvalues l1 >= l2 >= ... of the structure tensor become those of
 * the control tensor: c1 = m (l1), ck = c(k-1) mu (lk / l(k-1)) (Granlund and
 * Knutsson, Signal Processing for Computer Vision, 1995, chapter 10).
 *   m (x)  = (x^beta / (x^(beta + alpha) + sigma^beta))^(1 / j)
 *   mu (x) = ((x (1 - alpha))^beta
 *             / ((x (1 - alpha))^beta + (alpha (1 - x))^beta))^(1 / j) */
typedef struct
{
  gdouble m_sigma, m_alpha, m_beta, m_j;
  gdouble mu_alpha, mu_beta, mu_j;
} NdAdaptiveRemap;

/* The defaults; the other parameters are 0 (alpha of m) and 1 (j). */
#define ND_M_SIGMA 4.6
#define ND_M_BETA 3.0
#define ND_MU_ALPHA .02
#define ND_MU_BETA 2.25
#define ND_ADAPTIVE_REMAP \
  { ND_M_SIGMA, 0, ND_M_BETA, 1, ND_MU_ALPHA, ND_MU_BETA, 1 }

typedef struct
{
  NdDenoiseMethod method;
  NdNoise noise;
  NdDenoiseQuality quality;
  guint latency;    /* volumes, up to ND_DENOISE_MAX_LATENCY */
  gdouble sigma;    /* of the noise; 0: it is estimated */
  gdouble strength; /* factor of sigma */

  /* ND_NOISE_POISSON: the sample value of a count (0: all three are estimated),
   * that of no count, and the standard deviation of the noise without counts.
   */
  gdouble gain, offset, read_noise;

  /* ND_NOISE_ADDITIVE: whether sigma differs from place to place. @map has that
   * of each sample and is read while the algorithm is made; NULL: it is
   * estimated. */
  gboolean has_map;
  const gdouble *map;

  /* For ND_DENOISE_TRANSFORM with ND_NOISE_ADDITIVE: a third stage along the
   * flow, and `quality` does not count. */
  gboolean motion;

  /* For ND_DENOISE_ADAPTIVE. ND_NOISE_SPECKLE is also filtered with them, along
   * space, whatever the method. */
  NdDenoiseAxes axes;
  NdAdaptiveRemap remap;
} NdDenoiseSettings;

/* Coefficients up to this many sigma are set to 0 in stage 1. */
#define ND_DENOISE_THRESHOLD 3.0
/* Stage 2 multiplies coefficients by P^2 / (P^2 + ND_DENOISE_WIENER
 * sigma^2). */
#define ND_DENOISE_WIENER 0.75
/* ND_QUALITY_BEST has blocks of 8 volumes from this latency on. */
#define ND_DENOISE_LONG_LATENCY 5
/* A sigma below this counts as no noise. */
#define ND_DENOISE_MIN_SIGMA 1e-12

/* The share of the two stages in the latency. Block t covers volumes t to
 * t + n_time - 1. Stage 1 computes the pilot of volume u from the blocks
 * u - n_time + 1 to u - n_time + 1 + pilot_latency. Stage 2 computes the result
 * of volume u from the blocks u - n_time + 1 to
 * u - n_time + 1 + latency - pilot_latency. */
typedef struct
{
  guint n_time; /* 0 without blocks */
  guint pilot_latency;
  guint latency;

  /* With ND_QUALITY_BEST, stage 1 adds each block to the pilots of all its
   * volumes, and stage 2 computes the result of volume u anew from the blocks
   * u - n_time + 1 to u - n_time + n_blocks, with the pilots at that time.
   * pilot_latency is then the latency. Otherwise 0: each block is computed
   * once. */
  guint n_blocks;

  /* With motion, stage 2 adds each block to the results of all its volumes as
   * stage 1 does, and stage 3 computes volume u anew from its n_blocks blocks,
   * with the results of stage 2 at that time as pilots. It moves the volumes
   * u - n_time + 1 to u - n_time + n_blocks along the flow to u first. */
  gboolean motion;
} NdDenoiseSchedule;

/* The standard deviations of the coefficients x + 4 y + 16 z of the orthonormal
 * DCT of blocks of noise, on the fine and on the coarse scale. */
#define ND_SPECTRUM_COEFFICIENTS 64
typedef struct
{
  gdouble sigma[2][ND_SPECTRUM_COEFFICIENTS];
} NdNoiseSpectrum;

/* What is known of the noise of a stream. The variance of ND_NOISE_POISSON is
 * gain x + constant. */
typedef struct
{
  NdNoise noise;
  gdouble gain, constant;
  gdouble sigma;     /* the root mean square of a map or of coefficients */
  gdouble certainty; /* of the estimates, 0 to 1; 1 if they were given */
} NdNoiseFound;

/* Whether samples become other numbers before they are denoised. */
gboolean nd_denoise_has_step (const NdDenoiseSettings *settings);

/* The schedule of @settings. */
NdDenoiseSchedule nd_denoise_schedule (const NdDenoiseSettings *settings);

/* With n_blocks: whether the block that begins with volume @first counts if the
 * stream has @known volumes. Noise that the border repeats in a block is not
 * white, so that blocks beyond the ends of the stream count only if it is
 * shorter than a block: the one that ends with its last volume. */
gboolean nd_denoise_block_counts (const NdDenoiseSchedule *schedule,
    gint64 first, gint64 known);

/* The numbers of volumes before and after its anchor on which an output
 * depends. */
void nd_denoise_window (const NdDenoiseSettings *settings, guint *before,
    guint *after);

/* The factor by which the noise of an axis of @n samples grows in a block of
 * @block samples. It is 1 if n >= block, and larger in shorter axes, because
 * the border repeats samples in the block. */
gdouble nd_denoise_axis_gain (gsize n, guint block);

/* The same over time, for a stream of @n_volumes volumes that have arrived. It
 * is 1 unless the stream @ended before its first output, so that outputs of
 * equal volumes are equal. */
gdouble nd_denoise_time_gain (const NdDenoiseSchedule *schedule,
    gsize n_volumes, gboolean ended);

/* A volume has no coarse scale if an axis has more than one sample but less
 * than this. */
#define ND_DENOISE_MIN_COARSE 8
gboolean nd_denoise_has_coarse_scale (const gsize size[3]);

/* The median of |HHH| for noise with sigma = 1. HHH is the orthonormal Haar
 * difference along all axes. */
#define ND_NOISE_MEDIAN 0.67448975019608171

/* Functions of the normal distribution. */
gdouble nd_normal_density (gdouble x);
gdouble nd_normal_probability (gdouble x);

/* The mean of samples that are clipped to @low and @high after noise of @sigma
 * was added to @value. */
gdouble nd_clipped_mean (gdouble value, gdouble sigma, gdouble low,
    gdouble high);

/* The inverse of nd_clipped_mean(), between @low and @high. */
gdouble nd_unclipped_mean (gdouble mean, gdouble sigma, gdouble low,
    gdouble high);

/* Fills @table[n + 1] with nd_unclipped_mean() - low of the means
 * low + i * span / n. Negative results become 0. */
void nd_unclip_table (gdouble sigma, gdouble low, gdouble high, gdouble span,
    guint n, gfloat *table);

/* The index of the sample that replaces sample @i of an axis of @n samples; -1
 * for the border value. */
typedef gint64 (*NdBorderFunction) (gint64 i, gint64 n, gpointer data);

typedef struct
{
  NdBorderFunction space, time;
  gpointer space_data, time_data;
  gdouble border_value;
  const NdNoiseSpectrum *spectrum; /* NULL for white noise of `sigma` = 1 */
} NdReferenceBorders;

/* Denoises all volumes of a stream at once, with both stages and both scales,
 * each block by itself, in double precision. @in and @out have @n_volumes of
 * @size samples. @sigma[n] is the standard deviation of the noise, times the
 * strength, when volume n arrives. After the end of the stream the last one is
 * used. */
void nd_denoise_reference (const NdDenoiseSchedule *schedule,
    const NdReferenceBorders *borders, const gsize size[3], gsize n_volumes,
    const gdouble *in, const gdouble *sigma, gdouble *out);

G_END_DECLS
