/* What registration keeps of the reference, and the sums over its samples.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/registerkernels.h"
#include "cpu/registerpyramid.h"

G_BEGIN_DECLS

/* A row of a level: the samples from @first to before @end have weights. */
typedef struct
{
  guint32 first, end;
  gfloat moments[ND_REGISTER_ROW_MOMENTS];
} NdRegisterSupport;

typedef struct
{
  gfloat *g[3], *r, *w; /* 0 where the weight is */
  NdRegisterSupport *rows;
} NdRegisterReferenceLevel;

/* Rows of a level are summed in so many parts, each on one thread. */
#define ND_REGISTER_CHUNKS 64

typedef struct _NdRegisterChunk NdRegisterChunk;

/* ND_REGISTER_CHUNKS of them; NULL if there is not enough memory. g_free() */
NdRegisterChunk *nd_register_chunks_new (void);
void nd_register_chunk_clear (NdRegisterChunk *chunks, gsize chunk);

/* The rows of a chunk, y + height z. */
void nd_register_chunk_rows (const NdRegisterLevel *level, gsize chunk,
    gsize *first, gsize *end);

/* Adds the sums over row @row. */
void nd_register_chunk_add (NdRegisterChunk *chunks, gsize chunk,
    const NdRegisterPlan *plan, guint level, gsize row, const gfloat *moments,
    const gfloat *sums);

/* Adds up all chunks, and @offset to R. */
void nd_register_chunks_total (const NdRegisterChunk *chunks,
    const NdRegisterLevel *level, gdouble offset, NdRegisterSums *sums);

typedef struct
{
  const NdRegisterPlan *plan;
  NdRegisterReferenceLevel levels[ND_REGISTER_MAX_LEVELS];
  const NdRegisterPyramid *volume; /* that is measured; same offset */
  gdouble offset;                  /* was subtracted from both volumes */
  gdouble weight;                  /* of the finest level */
  NdRegisterChunk *chunks;         /* partial sums */
  gfloat *rows;                    /* 5 of each worker */
} NdRegisterReference;

/* NULL if there is not enough memory. @plan must outlive it. Later calls run on
 * no more threads than this one. */
/* The bytes that it will take. */
gsize nd_register_reference_bytes (const NdRegisterPlan *plan);

/* NULL without memory. @plan has to outlive it. */
NdRegisterReference *nd_register_reference_new (const NdRegisterPlan *plan);
void nd_register_reference_free (NdRegisterReference *reference);

/* Makes the volume of @pyramid, minus @offset, the reference. */
void nd_register_reference_set (NdRegisterReference *reference,
    const NdRegisterPyramid *pyramid, gdouble offset);

/* An NdRegisterMeasure. The result does not depend on the number of threads. */
void nd_register_reference_measure (gpointer reference, guint level,
    const NdAffine *map, NdRegisterSums *sums);

G_END_DECLS
