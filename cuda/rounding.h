/* Sizes in steps.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <cstddef>

namespace nd
{

/* The steps that @n needs. */
constexpr size_t
divide_up (size_t n, size_t step)
{
  return (n + step - 1) / step;
}

/* The next multiple of @step from @n on. */
__host__ __device__ constexpr int
round_up (int n, int step)
{
  return (n + step - 1) / step * step;
}

} // namespace nd
