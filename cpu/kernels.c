/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/kernels.h"

#include <pthread.h>

extern const NdKernels nd_kernels_base;
#ifdef ND_HAVE_X86
extern const NdKernels nd_kernels_avx2;
extern const NdKernels nd_kernels_avx512;
#endif

static const NdKernels *usable[4] = { &nd_kernels_base };

static void
find_usable (void)
{
#ifdef ND_HAVE_X86
  guint n = 1;

  __builtin_cpu_init ();
  if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
    usable[n++] = &nd_kernels_avx2;
  if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512vl"))
    usable[n++] = &nd_kernels_avx512;
#endif
}

const NdKernels *const *
nd_kernels_all (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, find_usable);
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
