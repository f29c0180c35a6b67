/* Streams for the tests of nddenoise's methods, and the references' borders.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"
#include "engine/algorithm.h"

typedef struct
{
  NdDenoiseSettings settings;
  NdDenoiseBorders borders;
  gsize size[3];
  gsize n_volumes;
  gdouble ball; /* added to the samples in the ball */
} Case;

/* The number of samples of a volume. */
gsize case_samples (const Case *c);

/* A ball that moves, on a slope, and noise of standard deviation 20. */
gfloat *case_stream (const Case *c, GRand *rand);

/* The outputs of the CPU back end for a stream of float32. Each has to come as
 * soon as the latency allows. */
gfloat *case_run (const Case *c, const gfloat *stream);

/* The same for volumes of @type: float32 or uint8. */
gfloat *case_run_type (const Case *c, const gfloat *stream, NdSampleType type);

/* Valid as long as @c. */
NdReferenceBorders case_borders (const Case *c);

/* Near a normal distribution with standard deviation 1. */
gdouble case_noise (GRand *rand);

/* The divisor of repetitions for slow tools, such as the sanitizers; else 1. */
guint case_divisor (void);

/* The seed is printed; ND_SEED sets it. */
GRand *case_rand (void);
