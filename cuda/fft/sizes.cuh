/* Sizes of transforms: the size that is measured to be the fastest on the
 * device, among sizes that are at least as large as needed. Results are stored
 * across runs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <cuda_runtime.h>

namespace nd
{

/* @size: on entry the size needed, on return the size to transform: the stored
 * one, or a good guess if none is stored. */
void guess_sizes (int size[3]);

/* The same, but measures if no size is stored. */
void choose_sizes (int size[3], cudaStream_t stream);

} // namespace nd
