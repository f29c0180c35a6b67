/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/denoisekernels.h"

#include "cpu/kernels.h"

#include <pthread.h>
#include <string.h>

extern const NdDenoiseKernels nd_denoise_kernels_base;
#ifdef ND_HAVE_X86
extern const NdDenoiseKernels nd_denoise_kernels_avx2;
extern const NdDenoiseKernels nd_denoise_kernels_avx512;
#endif

static const NdDenoiseKernels *const compiled[] = {
  &nd_denoise_kernels_base,
#ifdef ND_HAVE_X86
  &nd_denoise_kernels_avx2,
  &nd_denoise_kernels_avx512,
#endif
};

static const NdDenoiseKernels *
find (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (compiled); i++) {
    if (strcmp (compiled[i]->name, name) == 0)
      return compiled[i];
  }
  return compiled[0];
}

const NdDenoiseKernels *
nd_denoise_kernels (void)
{
  return find (nd_kernels ()->name);
}

static const NdDenoiseKernels *usable[G_N_ELEMENTS (compiled) + 1];

static void
find_usable (void)
{
  const NdKernels *const *all = nd_kernels_all ();

  usable[0] = compiled[0];
  for (guint i = 1; all[i]; i++)
    usable[i] = find (all[i]->name);
}

const NdDenoiseKernels *const *
nd_denoise_kernels_all (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, find_usable);
  return usable;
}
