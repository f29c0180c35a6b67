/* Inside of separable.c and separablepasses.c.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/linefft.h"
#include "cpu/method.h"
#include "cpu/pad.h"
#include "cpu/rowoutput.h"
#include "cpu/stencil.h"

G_BEGIN_DECLS

/* The factor of a separable filter along one axis. */
typedef struct
{
  NdTaps taps;
  NdReal *weights;
  gsize *offsets;
  gint low; /* of the sample at offset 0 of the taps */

  /* Whether the taps are many equal ones, whose sums take the same time for any
   * number of them (cpu/linefft.h). */
  gboolean is_box;
} NdPass;

/* @low: of the sample that the last of the @size numbers of @factor multiplies.
 * @finite: all samples are finite; see nd_stencil_init(). FALSE with
 * ND_ERROR_MEMORY without memory. */
gboolean nd_pass_init (NdPass *pass, const gdouble *factor, gsize size,
    gint low, gboolean finite, GError **error);
void nd_pass_clear (NdPass *pass);

/* A cache line, in bytes and in floats. */
#define ND_SEPARABLE_LINE 64
#define ND_SEPARABLE_LINE_FLOATS (ND_SEPARABLE_LINE / sizeof (NdReal))

/* The columns that the last pass sums at a time, so that the lines that it
 * reads fit in the L1 cache. */
#define ND_SEPARABLE_COLUMNS 256

/* A pass of so many equal taps or more is one of boxes. */
#define ND_SEPARABLE_BOX 12
#define ND_SEPARABLE_BOX_COLUMNS 128

typedef struct
{
  NdPass pass[ND_AXES];
  gssize *lines;  /* of the last pass: along its axis; -1 for the border */
  NdReal *border; /* that line */
} NdSeparableFilter;

typedef struct
{
  NdJob job;
  NdReach reach;
  const NdKernels *kernels;
  NdPad pad; /* of the rows that are converted */
  gboolean has_ring;
  guint last;
  gsize row, slice; /* of volumes, in floats */
  gsize floats;     /* of a volume */
  gsize tile;       /* rows */
  guint n_lines;    /* that a block of outputs reads, for any filter */
  gsize box;        /* taps of the largest pass of equal taps, or 0 */
  gsize padded_row; /* floats */
  gsize scratch_floats;
  gsize total;
  NdReal *memory;
  NdReal *between;    /* before the last pass: [component][filter], or of one */
  NdReal *ring;       /* [slot][component][filter] */
  NdReal *scratch;    /* of each worker: a padded row, and rows of a tile */
  NdReal *box_memory; /* of each worker, if there are boxes */
  gsize box_floats;
  const NdReal **table; /* n_lines of each worker */
  NdSeparableFilter *filters;
  const NdReal **volumes; /* of respond: [filter][component of a group][t] */
  NdRowOutput output;
} NdSeparable;

static inline NdReal *
nd_separable_scratch (const NdSeparable *s, guint worker)
{
  return s->scratch + worker * s->scratch_floats;
}

/* The memory of boxes: their scratch memory, as many padded rows as a vector
 * has lanes, and as many columns. */
static inline NdReal *
nd_separable_box_memory (const NdSeparable *s, guint worker)
{
  const guintptr start = (guintptr) s->box_memory;

  return (NdReal *) ((start + ND_LINE_ALIGN - 1) / ND_LINE_ALIGN
             * ND_LINE_ALIGN)
      + worker * s->box_floats;
}

static inline const NdReal **
nd_separable_table (const NdSeparable *s, guint worker)
{
  return s->table + (gsize) worker * s->n_lines;
}

static inline const NdReal **
nd_separable_volumes (const NdSeparable *s, guint filter, gsize c)
{
  return s->volumes + (filter * s->output.group + c) * s->reach.slots;
}

/* All passes before the last one, for component @c of @volume. */
void nd_separable_first (const NdSeparable *s, const NdSeparableFilter *filter,
    const NdSamples *volume, gsize c, NdReal *out);

/* The last pass over a volume. */
void nd_separable_last (const NdSeparable *s, const NdSeparableFilter *filter,
    const NdReal *in, NdReal *sums);

/* Responses that are computed together: of @n filters from @filter on, for the
 * components of a group (cpu/rowoutput.h) from @component on. */
typedef struct
{
  gsize component;
  guint filter, n;
} NdSeparableRange;

/* Computes them by the last pass over s->volumes[filter][component of the
 * group][0]. */
void nd_separable_respond (const NdSeparable *s, const NdSeparableRange *range);

/* Computes them by the sum over time of s->volumes[filter][component of the
 * group]. */
void nd_separable_weigh (const NdSeparable *s, const NdSeparableRange *range);

G_END_DECLS
