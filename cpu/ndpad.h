/* Samples of any type to padded float32 with the border written, and float32
 * responses to samples of any type.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndjob.h"

G_BEGIN_DECLS

/* One component of a volume with the samples around it that the filters reach:
 * padded (x, y, z) is sample (x + low[0], y + low[1], z + low[2]). */
typedef struct
{
  NdShape shape;
  NdSampleType type;
  gfloat border_value;
  gsize size[3];                /* padded */
  gsize before[3];              /* padded samples before the volume */
  gssize *edge[3];              /* where those around it are found, or -1 */
} NdPad;

/* FALSE where the padded sizes overflow a gsize. */
gboolean nd_pad_init (NdPad * pad, const NdJob * job, const NdReach * reach);
void nd_pad_clear (NdPad * pad);

/* Padded row (y, z) of component @c into @row, pad->size[0] long. @volume NULL
 * stands for the border volume. */
void nd_pad_row (const NdPad * pad, const NdSamples * volume, gsize c, gsize y,
    gsize z, gfloat * row);

/* n responses to samples @stride bytes apart. */
void nd_store_row (const gfloat * response, gsize n, const NdScale * scale,
    NdSampleType type, guint8 * out, gsize stride);

/* Where responses go; an NdRowFunc with an NdStore as data. */
typedef struct
{
  const NdScale *scale;
  const NdSamples *out;
  NdSampleType type;
  gsize plane;                  /* bytes to the response and component */
} NdStore;

void nd_store_responses (const gfloat * responses, gsize n, gsize x, gsize y,
    gsize z, gpointer store);

/* Zeroed memory for @n floats, to be freed with g_free(); ND_ERROR_NO_SPACE
 * where there is none, @n is G_MAXSIZE (an overflow), or the machine has not
 * that much. */
gfloat *nd_floats_new (gsize n, GError ** error);

/* a * b * c, or G_MAXSIZE where that overflows. */
gsize nd_size_mul (gsize a, gsize b, gsize c);

G_END_DECLS
