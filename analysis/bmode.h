/* B-mode of the lines of a probe: RF or IQ to a complex signal, its envelope,
 * and its logarithm.
 *
 * The complex signal z of a line of RF x is the analytic signal, with the
 * Hilbert transform by a filter of 2 / (pi m) at odd m; or, with a centre
 * frequency f and the sampling frequency s, the low-pass of
 * 2 x[n] exp (-2 pi i n f / s). Of IQ it is the line as it is, shifted by f. A
 * grey is white (1 + (20 log10 (|z| / full scale) + gain + tgc) / range).
 * Filters are Kaiser windows (J. F. Kaiser, "Nonrecursive digital filter design
 * using the I0-sinh window function", ISCAS 1974). Samples beyond the ends of a
 * line are 0.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

G_BEGIN_DECLS

/* Numbers are public and never change. */
typedef enum
{
  ND_BMODE_GREY = 0,
  ND_BMODE_ENVELOPE = 1,
  ND_BMODE_IQ = 2
} NdBmodeOutput;

typedef struct
{
  gdouble center_frequency, sampling_frequency; /* Hz */
  guint decimation;
  gdouble dynamic_range, gain; /* dB */
  gchar *tgc; /* dB from the first to the last sample, "A:B:C"; "": 0 */
  NdBmodeOutput output;
  NdSampleType output_type; /* of greys; others are float32 */
} NdBmodeSettings;

/* Taps on each side of a filter's middle. */
#define ND_BMODE_REACH 64
#define ND_BMODE_TAPS (2 * ND_BMODE_REACH + 1)

/* How lines along x are converted. */
typedef struct
{
  NdBmodeOutput output;
  NdShape in, out;
  guint decimation;
  gboolean is_complex;         /* the input */
  gboolean mixes;              /* multiplied by `mixer` */
  gboolean filters;            /* by `taps`, otherwise not at all */
  gboolean hilbert;            /* `taps` give the imaginary part */
  gdouble taps[ND_BMODE_TAPS]; /* sum of taps[k] x[n + k - REACH] */
  gdouble *mixer;              /* re, im for each input sample */
  gdouble *gain;  /* dB for each output sample, with the full scale */
  gdouble middle; /* of unsigned samples */
  gdouble white, dynamic_range;
} NdBmode;

/* The greatest amplitude of samples of @type, and the sample that is 0. */
gdouble nd_bmode_full_scale (NdSampleType type, gdouble *middle);

/* ND_ERROR_SETTINGS, ND_ERROR_FORMAT, ND_ERROR_MEMORY; then @bmode needs no
 * clear. @type: of samples of the stream. */
gboolean nd_bmode_init (NdBmode *bmode, const NdBmodeSettings *settings,
    const NdShape *in, NdSampleType type, GError **error);
void nd_bmode_clear (NdBmode *bmode);

/* Whether nd_bmode_init() takes the settings; needs no memory for lines. */
gboolean nd_bmode_check (const NdBmodeSettings *settings, const NdShape *in,
    GError **error);

/* The shape of the output; @in must have 1 or 2 components. */
NdShape nd_bmode_shape (const NdBmodeSettings *settings, const NdShape *in);

/* The reference: a line of all components. */
void nd_bmode_reference (const NdBmode *bmode, const gdouble *in, gdouble *out);

G_END_DECLS
