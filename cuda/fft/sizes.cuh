/* Sizes of transforms by cuFFT. A somewhat larger transform is often faster.
 * Several sizes are measured on the device, and the fastest one is stored
 * across runs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <cuda_runtime.h>

namespace nd
{

/* Replaces the least @size that a job needs by the size of the transform: the
 * stored one or, if none is stored, the least one that has only the prime
 * factors 2, 3, 5 and 7, and is even along x. R is float or double. */
template <typename R>
void guess_sizes (int size[3]);

/* The same, but measures several sizes if none is stored. Allocates memory and
 * waits for the device. */
template <typename R>
void choose_sizes (int size[3], cudaStream_t stream);

} // namespace nd
