/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/flowkernels.h"

#include "cpu/kernels.h"

#include <string.h>

extern const NdFlowKernels nd_flow_kernels_base;
#ifdef ND_HAVE_X86
extern const NdFlowKernels nd_flow_kernels_avx2;
extern const NdFlowKernels nd_flow_kernels_avx512;
#endif

static const NdFlowKernels *const compiled[] = {
  &nd_flow_kernels_base,
#ifdef ND_HAVE_X86
  &nd_flow_kernels_avx2,
  &nd_flow_kernels_avx512,
#endif
};

static const NdFlowKernels *
find (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (compiled); i++) {
    if (strcmp (compiled[i]->name, name) == 0)
      return compiled[i];
  }
  return compiled[0];
}

const NdFlowKernels *
nd_flow_kernels (void)
{
  return find (nd_kernels ()->name);
}
