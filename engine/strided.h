/* Conversion between volumes of any layout and any type of stream, and volumes
 * that back ends read and write.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/job.h"

G_BEGIN_DECLS

/* Strides in bytes. Unlike those of NdSamples they may be 0 or negative, and
 * components have one too. */
typedef struct
{
  guint8 *data;
  gssize component;
  gssize sample;
  gssize row;
  gssize slice;
  gssize response;
} NdStrided;

/* @samples of @type, with their strides. */
NdStrided nd_strided (const NdSamples *samples, NdSampleType type);

/* Whether the components and samples of a row are side by side, and rows,
 * slices and responses follow each other without overlap, as back ends need it.
 * Sets @samples if so. The stride of an axis with one sample does not matter.
 */
gboolean nd_strided_has_rows (const NdStrided *strided, const NdShape *shape,
    guint responses, NdSampleType type, NdSamples *samples);

/* Converts @shape of @responses from samples of @type to those of
 * nd_sample_computed() in @precision, whose rows are dense, and back
 * (core/convert.h). Memory of the host only. The way back returns the number of
 * saturated samples. */
void nd_samples_gather (const NdStrided *from, const NdShape *shape,
    guint responses, NdSampleType type, NdPrecision precision,
    const NdSamples *computed);
gsize nd_samples_scatter (const NdSamples *computed, const NdShape *shape,
    guint responses, NdSampleType type, NdPrecision precision,
    const NdStrided *to);

G_END_DECLS
