/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/fftkernels.h"

#include "cpu/kernels.h"

#include <string.h>

extern const NdFftKernels nd_fft_kernels_base;
#ifdef ND_HAVE_X86
extern const NdFftKernels nd_fft_kernels_avx2;
extern const NdFftKernels nd_fft_kernels_avx512;
#endif

const NdFftKernels *
nd_fft_kernels (void)
{
#ifdef ND_HAVE_X86
  static const NdFftKernels *const faster[] = { &nd_fft_kernels_avx2,
    &nd_fft_kernels_avx512 };
  const gchar *name = nd_kernels ()->name;

  for (guint i = 0; i < G_N_ELEMENTS (faster); i++) {
    if (strcmp (faster[i]->name, name) == 0)
      return faster[i];
  }
#endif
  return &nd_fft_kernels_base;
}
