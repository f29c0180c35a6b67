/* Sizes of transforms: among sizes at least as large as needed, the one that
 * is measured to be the fastest on the device. Results are remembered across
 * runs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <cuda_runtime.h>

namespace nd
{

/* @size: on entry the size needed, on return the size to transform: the one
 * that was measured before, or a good guess. */
void guess_sizes (int size[3]);

/* The same, but measures if nothing is remembered. */
void choose_sizes (int size[3], cudaStream_t stream);

} // namespace nd
