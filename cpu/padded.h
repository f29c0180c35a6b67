/* A ring of padded volumes, one per slot and component.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/pad.h"
#include "cpu/stencil.h"

G_BEGIN_DECLS

typedef struct
{
  NdPad pad;
  NdStrides strides;
  gsize components;
  gsize floats; /* of one padded volume, with nd_stencil_slack() */
  guint n_volumes;
  NdReal *memory;
} NdPadded;

gboolean nd_padded_init (NdPadded *padded, const NdJob *job,
    const NdReach *reach, guint n_volumes, GError **error);
void nd_padded_clear (NdPadded *padded);
gsize nd_padded_bytes (const NdPadded *padded);
NdReal *nd_padded_volume (const NdPadded *padded, guint slot, gsize component);

/* Converts @volume and adds its border. @volume NULL is the border volume. */
void nd_padded_push (const NdPadded *padded, guint slot,
    const NdSamples *volume);

G_END_DECLS
