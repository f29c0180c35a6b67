/* Sizes of transforms: which of those at least as large as asked for is the
 * fastest, by measurement on the device, remembered across runs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndcuda.h"

namespace nd
{

/* @size: what is needed on entry, what to transform on return. */
void choose_sizes (int size[3], cudaStream_t stream);

} // namespace nd
