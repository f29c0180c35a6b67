/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/kernels.h"

extern const NdKernels nd_kernels_base;
#ifdef ND_HAVE_X86
extern const NdKernels nd_kernels_avx2;
extern const NdKernels nd_kernels_avx512;
#endif

const NdKernels *const *
nd_kernels_all (void)
{
  static const NdKernels *usable[4];

  if (g_once_init_enter (&usable[0])) {
    guint n = 1;

#ifdef ND_HAVE_X86
    __builtin_cpu_init ();
    if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
      usable[n++] = &nd_kernels_avx2;
    if (__builtin_cpu_supports ("avx512f")
        && __builtin_cpu_supports ("avx512vl"))
      usable[n++] = &nd_kernels_avx512;
#endif
    (void) n;
    g_once_init_leave (&usable[0], &nd_kernels_base);
  }
  return usable;
}

const NdKernels *
nd_kernels (void)
{
  const NdKernels *const *all = nd_kernels_all ();
  const gchar *wanted = g_getenv ("NDCONV_SIMD");
  const NdKernels *best = NULL;

  for (guint i = 0; all[i]; i++) {
    best = all[i];
    if (wanted && g_ascii_strcasecmp (best->name, wanted) == 0)
      break;
  }
  return best;
}
