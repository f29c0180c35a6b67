/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define ND_FLOW_KERNELS nd_flow_kernels_avx512
#define ND_KERNELS_NAME "avx512"
#define ND_VECTOR 16
#include "cpu/flowkernels_tmpl.h"
