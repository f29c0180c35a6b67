/* What a method of the CPU back end must do; see NdBackend. One file each.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndbackend.h"

G_BEGIN_DECLS

typedef struct
{
  /* Seconds per volume; INFINITY and @error where it cannot do the job. */
  gdouble (*cost) (const NdJob * job, GError ** error);
  gpointer (*create) (const NdJob * job, GError ** error);
  void (*destroy) (gpointer state);
  gsize (*bytes) (gconstpointer state);

  /* @volume NULL is the border volume; it goes into the slot behind the last,
   * where @respond finds it for ND_SLOT_BORDER. */
  void (*push) (gpointer state, guint slot, const NdSamples * volume);
  void (*respond) (gpointer state, const gint * slots, const NdScale * scale,
      const NdSamples * out);
} NdCpuMethod;

extern const NdCpuMethod nd_cpu_direct;
extern const NdCpuMethod nd_cpu_separable;
extern const NdCpuMethod nd_cpu_fft;
extern const NdCpuMethod nd_cpu_reference;

G_END_DECLS
