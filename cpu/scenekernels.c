/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/scenekernels.h"

#include "cpu/kernels.h"

#include <string.h>

extern const NdSceneKernels nd_scene_kernels_base;
#ifdef ND_HAVE_X86
extern const NdSceneKernels nd_scene_kernels_avx2;
extern const NdSceneKernels nd_scene_kernels_avx512;
#endif

static const NdSceneKernels *const compiled[] = {
  &nd_scene_kernels_base,
#ifdef ND_HAVE_X86
  &nd_scene_kernels_avx2,
  &nd_scene_kernels_avx512,
#endif
};

static const NdSceneKernels *
find (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (compiled); i++) {
    if (strcmp (compiled[i]->name, name) == 0)
      return compiled[i];
  }
  return compiled[0];
}

const NdSceneKernels *
nd_scene_kernels (void)
{
  return find (nd_kernels ()->name);
}
