/* A method of the CPU back end. Each is one file; cpu/cpu.c has the table. The
 * functions correspond to those of NdBackend; respond and begin cannot fail.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/real.h"
#include "engine/backend.h"

G_BEGIN_DECLS

typedef struct _NdCpuMethod
{
  /* Estimated seconds per volume, or INFINITY and ND_ERROR_SETTINGS if the
   * method cannot do the job. */
  gdouble (*cost) (const NdJob *job, const NdRingOptions *options,
      GError **error);
  gpointer (*create) (const NdJob *job, const NdRingOptions *options,
      GError **error);
  void (*destroy) (gpointer state);
  gsize (*bytes) (gconstpointer state);

  /* @volume NULL is the border volume. It is pushed once, into the slot after
   * those of the window, which @respond reads for ND_SLOT_BORDER. FALSE with
   * ND_ERROR_MEMORY without memory. */
  gboolean (*push) (gpointer state, guint slot, const NdSamples *volume,
      GError **error);
  void (*respond) (gpointer state, const gint *slots, const NdScale *scale,
      const NdSamples *out);

  /* NULL if the method does not begin outputs. */
  gboolean (*begin) (gpointer state, const gint *slots);

  /* The file of its loops, for the log and statistics. */
  const gchar *file;

  /* NULL if the method is one. Otherwise: the method that does @job. Has cost,
   * but no other function then. */
  const struct _NdCpuMethod *(*choose) (const NdJob *job,
      const NdRingOptions *options);
} NdCpuMethod;

extern const NdCpuMethod nd_cpu_direct;
extern const NdCpuMethod nd_cpu_separable;
extern const NdCpuMethod nd_cpu_fft;
extern const NdCpuMethod nd_cpu_reference;

/* The same sources compiled for double precision (cpu/real.h). */
extern const NdCpuMethod nd_double_cpu_direct;
extern const NdCpuMethod nd_double_cpu_separable;
extern const NdCpuMethod nd_double_cpu_fft;
extern const NdCpuMethod nd_double_cpu_reference;

/* The implementations of method `fft`. */
extern const NdCpuMethod nd_cpu_fft_blocks;
extern const NdCpuMethod nd_cpu_fft_lines;
extern const NdCpuMethod nd_cpu_fft_whole;

G_END_DECLS
