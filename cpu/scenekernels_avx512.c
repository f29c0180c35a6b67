/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define ND_SCENE_KERNELS nd_scene_kernels_avx512
#define ND_KERNELS_NAME "avx512"
#define ND_VECTOR 16
#include "cpu/scenekernels_tmpl.h"
