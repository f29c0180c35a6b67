/* For any processor: vectors of 16 bytes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define ND_FLOW_KERNELS nd_flow_kernels_base
#ifdef __SSE2__
#define ND_KERNELS_NAME "sse2"
#else
#define ND_KERNELS_NAME "generic"
#endif
#define ND_VECTOR 4
#include "cpu/flowkernels_tmpl.h"
