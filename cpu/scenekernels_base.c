/* For any processor.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define ND_SCENE_KERNELS nd_scene_kernels_base
#ifdef __SSE2__
#define ND_KERNELS_NAME "sse2"
#else
#define ND_KERNELS_NAME "generic"
#endif
#define ND_VECTOR 4
#include "cpu/scenekernels_tmpl.h"
