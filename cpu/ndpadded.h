/* A ring of padded volumes, one for each slot and component.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndpad.h"
#include "ndstencil.h"

G_BEGIN_DECLS

typedef struct
{
  NdPad pad;
  NdStrides strides;
  gsize components;
  gsize floats;                 /* of one padded volume, with slack */
  guint n_volumes;
  gfloat *memory;
} NdPadded;

gboolean nd_padded_init (NdPadded * padded, const NdJob * job,
    const NdReach * reach, guint n_volumes, GError ** error);
void nd_padded_clear (NdPadded * padded);
gsize nd_padded_bytes (const NdPadded * padded);
gfloat *nd_padded_volume (const NdPadded * padded, guint slot, gsize component);

/* Converts and borders @volume, or the border volume for NULL. */
void nd_padded_push (const NdPadded * padded, guint slot,
    const NdSamples * volume);

G_END_DECLS
