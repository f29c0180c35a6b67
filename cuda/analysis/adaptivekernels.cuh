/* The work of adaptive filtering on one band of frequencies at one time
 * (analysis/adaptive.h). All volumes are dense floats.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/adaptive.h"

#include <cuda_runtime.h>

namespace nd
{

constexpr int ADAPTIVE_GAUSSIANS = ND_ADAPTIVE_NODES + 1; /* the last: low */
/* Derivatives of order 0 to 2 over time of each node, and the low-pass
 * filter. */
constexpr int ADAPTIVE_SUMS = 3 * ND_ADAPTIVE_NODES + 1;

struct AdaptiveVolume
{
  int size[3];
  size_t samples;
  int border;
  bool is_deep, has_time; /* the axes beside x and y */
};

/* The low-pass filter, and B and its derivatives over time. A sum over time is
 * one of the derivatives of one node: there are ADAPTIVE_SUMS or, without time,
 * ADAPTIVE_GAUSSIANS. */
struct AdaptiveSmooth
{
  AdaptiveVolume volume;
  const float *in[ND_ADAPTIVE_TIMES]; /* nullptr: a volume of border_value */
  float border_value;
  int radius; /* of the widest Gaussian; the others have weights of 0 */
  /* By distance in time; derivatives of order 1 are odd. */
  float time[ADAPTIVE_SUMS][ND_ADAPTIVE_TIME_REACH + 1];
  float space[ADAPTIVE_GAUSSIANS][ND_ADAPTIVE_MAX_RADIUS + 1];
  float edges[ADAPTIVE_SUMS]; /* sums of a volume of border_value */
  float *sums;                /* a volume for each */
  float *base[3], *low;       /* the results */
};

/* The sums over time, x and y, and those over z. */
void smooth_adaptive_planes (const AdaptiveSmooth &a, cudaStream_t stream);
void smooth_adaptive_depth (const AdaptiveSmooth &a, cudaStream_t stream);

struct AdaptiveBand
{
  AdaptiveVolume volume;
  const float *base[3];
  float edge;            /* of B, with ND_BORDER_CONSTANT */
  float scale, gradient; /* T = scale^2 (H H^T + gradient b b^T) */
  int radius;            /* of the window, and its weights by distance */
  float window[ND_ADAPTIVE_MAX_RADIUS + 1];
  float *tensor; /* T, averaged along x and y: a volume for each component */
};
void make_adaptive_tensors (const AdaptiveBand &a, cudaStream_t stream);

/* The sum of the eigenvalues of T, averaged over the window. */
void trace_adaptive_tensors (const AdaptiveBand &a, float *trace,
    cudaStream_t stream);

/* NdAdaptiveRemap in single precision, with derived factors. */
struct AdaptiveControl
{
  AdaptiveBand band;
  /* The eigenvalues are multiplied by `scale` or, if `trace` is not nullptr,
   * divided by the noise: *trace times `speckle`, at least
   * ND_ADAPTIVE_MIN_NOISE. */
  float scale;
  const float *trace;
  float speckle;

  float floor, min_value;
  float m_beta, m_power, m_root; /* m_power = beta + alpha, m_root = 1 / j */
  float m_sigma;                 /* to the power of beta */
  float keep;                    /* ND_ADAPTIVE_KEEP m_sigma, likewise */
  float mu_alpha, mu_beta, mu_root;

  const float *above, *low;
  float *out;             /* the sum of the bands, to which this one is added */
  bool is_first, is_last; /* the last one adds `low` as well */
};
void add_adaptive_band (const AdaptiveControl &a, cudaStream_t stream);

} // namespace nd
