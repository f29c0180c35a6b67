/* Chooses the kernels for the processor.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/adaptivekernels.h"
#include "cpu/beamkernels.h"
#include "cpu/deconvolvekernels.h"
#include "cpu/denoisekernels.h"
#include "cpu/fftkernels.h"
#include "cpu/flowkernels.h"
#include "cpu/kernels.h"
#include "cpu/linefft.h"
#include "cpu/rankkernels.h"
#include "cpu/registerkernels.h"
#include "cpu/scenekernels.h"
#include "cpu/simd.h"

#include <pthread.h>

/* cpu/meson.build defines ND_TARGETS (F, name), which is F (name, target) for
 * each instruction set that is compiled, the slowest first. */
#define ADDRESS(name, target) &ND_AT_TARGET (name, target),
#define TABLES(Type, name)                                                \
  extern const Type ND_AT_TARGET (name, base), ND_AT_TARGET (name, avx2), \
      ND_AT_TARGET (name, avx512);                                        \
  static const Type *const ND_AT_TARGET (name,                            \
      tables)[] = { ND_TARGETS (ADDRESS, name) }

TABLES (NdKernels, nd_kernels);
TABLES (NdFftKernels, nd_fft_kernels);
TABLES (NdLineKernels, nd_line_kernels);

#define NAME(name, target) #target,
static const gchar *const names[] = { ND_TARGETS (NAME, ) };
#define N_TARGETS G_N_ELEMENTS (names)
static const NdKernels *usable[N_TARGETS + 1];
static guint targets[N_TARGETS]; /* of usable kernels */

static gboolean
has_instructions (const gchar *target)
{
#ifdef __x86_64__
  __builtin_cpu_init ();
  if (g_str_equal (target, "avx2"))
    return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma");
  if (g_str_equal (target, "avx512"))
    return __builtin_cpu_supports ("avx512f")
        && __builtin_cpu_supports ("avx512bw")
        && __builtin_cpu_supports ("avx512vl");
#endif
  return TRUE;
}

static void
find_usable_kernels (void)
{
  guint n = 0;

  for (guint i = 0; i < N_TARGETS; i++) {
    if (has_instructions (names[i])) {
      targets[n] = i;
      usable[n++] = ND_AT_TARGET (nd_kernels, tables)[i];
    }
  }
}

const NdKernels *const *
nd_kernels_all (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, find_usable_kernels);
  return usable;
}

static guint
choose_target (void)
{
  const NdKernels *const *all = nd_kernels_all ();
  const gchar *wanted = g_getenv ("NDCONV_SIMD");
  guint best = 0;

  for (guint i = 0; all[i]; i++) {
    best = targets[i];
    if (wanted && g_ascii_strcasecmp (all[i]->name, wanted) == 0)
      break;
  }
  return best;
}

#define CHOICE(Type, name)                                \
  const Type *name (void)                                 \
  {                                                       \
    return ND_AT_TARGET (name, tables)[choose_target ()]; \
  }

CHOICE (NdKernels, nd_kernels)
CHOICE (NdFftKernels, nd_fft_kernels)
CHOICE (NdLineKernels, nd_line_kernels)

/* The algorithms do not depend on the precision of the methods. */
#ifndef ND_DOUBLE
TABLES (NdAdaptiveKernels, nd_adaptive_kernels);
CHOICE (NdAdaptiveKernels, nd_adaptive_kernels)
TABLES (NdBeamKernels, nd_beam_kernels);
CHOICE (NdBeamKernels, nd_beam_kernels)
TABLES (NdDeconvolveKernels, nd_deconvolve_kernels);
CHOICE (NdDeconvolveKernels, nd_deconvolve_kernels)
TABLES (NdDenoiseKernels, nd_denoise_kernels);
CHOICE (NdDenoiseKernels, nd_denoise_kernels)
TABLES (NdFlowKernels, nd_flow_kernels);
CHOICE (NdFlowKernels, nd_flow_kernels)
TABLES (NdRankKernels, nd_rank_kernels);
CHOICE (NdRankKernels, nd_rank_kernels)
TABLES (NdRegisterKernels, nd_register_kernels);
CHOICE (NdRegisterKernels, nd_register_kernels)
TABLES (NdSceneKernels, nd_scene_kernels);
CHOICE (NdSceneKernels, nd_scene_kernels)
#endif
