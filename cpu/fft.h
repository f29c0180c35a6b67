/* The two implementations of method `fft`.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/method.h"

G_BEGIN_DECLS

extern const NdCpuMethod nd_cpu_fft_blocks;
extern const NdCpuMethod nd_cpu_fft_whole;

G_END_DECLS
