/* Denoising of streams by a sliding 4D DCT: settings, constants, and the
 * reference in double precision. docs/algorithms.md has the formulas.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  ND_DENOISE_TRANSFORM,
  ND_DENOISE_ADAPTIVE
} NdDenoiseMethod;

typedef enum
{
  ND_NOISE_ADDITIVE,
  ND_NOISE_SPECKLE
} NdNoise;

typedef enum
{
  ND_QUALITY_FAST,
  ND_QUALITY_BEST
} NdDenoiseQuality;

#define ND_DENOISE_MAX_LATENCY 5
#define ND_DENOISE_MAX_STRENGTH 4

/* The noise level is the median of so many volumes' estimates. */
#define ND_DENOISE_MAX_ESTIMATES 15

typedef struct
{
  NdDenoiseMethod method;
  NdNoise noise;
  NdDenoiseQuality quality;
  guint latency;    /* volumes, up to ND_DENOISE_MAX_LATENCY */
  gdouble sigma;    /* of the noise; 0: it is estimated */
  gdouble strength; /* factor of sigma */
} NdDenoiseSettings;

/* Coefficients up to this many sigma are set to 0 in stage 1. */
#define ND_DENOISE_THRESHOLD 2.8
/* The noise's part in stage 2's factors P^2 / (P^2 + ND_DENOISE_WIENER s^2). */
#define ND_DENOISE_WIENER 0.75
/* Sigma below this is none. */
#define ND_DENOISE_MIN_SIGMA 1e-12

/* How the latency is divided. Block t covers volumes t to t + n_time - 1.
 * Stage 1 makes the pilot of volume u of blocks u - n_time + 1 to
 * u - n_time + 1 + pilot_latency, stage 2 its result of blocks u - n_time + 1
 * to u - n_time + 1 + latency - pilot_latency. */
typedef struct
{
  guint n_time;
  guint pilot_latency;
  guint latency;
} NdDenoiseSchedule;

NdDenoiseSchedule nd_denoise_schedule (const NdDenoiseSettings *settings);

/* By how much the noise of an axis of @n samples grows in a block of @block,
 * since samples stand in it more than once; 1 for n >= block. */
gdouble nd_denoise_axis_gain (gsize n, guint block);

/* The same over time, for a stream of @n_volumes so far: 1 unless it has @ended
 * before its first output, since outputs of equal volumes shall be equal. */
gdouble nd_denoise_time_gain (const NdDenoiseSchedule *schedule,
    gsize n_volumes, gboolean ended);

/* Volumes with a shorter axis, if not 1, have no coarse scale. */
#define ND_DENOISE_MIN_COARSE 8
gboolean nd_denoise_has_coarse_scale (const gsize size[3]);

/* sigma from median |HHH|, the orthonormal Haar difference along all axes. */
#define ND_NOISE_MEDIAN 0.67448975019608171

/* Samples that were clipped to @low and @high after noise of @sigma was added
 * have another mean than before. The mean of clipped samples whose mean was
 * @value. */
gdouble nd_clipped_mean (gdouble value, gdouble sigma, gdouble low,
    gdouble high);

/* The standard deviation of clipped samples, @value being the mean before. */
gdouble nd_clipped_deviation (gdouble value, gdouble sigma, gdouble low,
    gdouble high);

/* The inverse of nd_clipped_mean(), between @low and @high. */
gdouble nd_unclipped_mean (gdouble mean, gdouble sigma, gdouble low,
    gdouble high);

/* The same for means low + i * span / n, i from 0 to @n, relative to @low, into
 * @table[n + 1]; what would be below @low is 0. */
void nd_unclip_table (gdouble sigma, gdouble low, gdouble high, gdouble span,
    guint n, gfloat *table);

/* Where index @i of an axis of @n samples is found, -1 for @border_value. */
typedef gint64 (*NdExtend) (gint64 i, gint64 n, gpointer data);

typedef struct
{
  NdExtend space, time;
  gpointer space_data, time_data;
  gdouble border_value;
} NdExtension;

/* All volumes of a stream at once, @in and @out having @n_volumes of @size
 * samples: both stages, both scales, each block transformed by itself in double
 * precision. @sigma[n] is the noise's standard deviation at the arrival of
 * volume n, strength included, after the stream's end the last one. */
void nd_denoise_reference (const NdDenoiseSchedule *schedule,
    const NdExtension *extension, const gsize size[3], gsize n_volumes,
    const gdouble *in, const gdouble *sigma, gdouble *out);

G_END_DECLS
