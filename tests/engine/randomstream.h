/* Random streams of small volumes, to compare the outputs of one convolver with
 * those of another. Sums are integers and therefore exact.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/convolver.h"

G_BEGIN_DECLS

typedef struct
{
  NdConvolverSettings settings; /* but for backend and memory_limit */
  NdBank *bank;
  gsize in_bytes[ND_MAX_PLANES], out_bytes[ND_MAX_PLANES];
  gsize in_row[ND_MAX_PLANES];
} Stream;

/* Free the bank. Rows are padded by some samples. */
void stream_init (Stream *s, GRand *r);

/* One plane of float32 with a box of @size. */
void stream_init_box (Stream *s, const NdShape *shape,
    const gsize size[ND_AXES]);

NdConvolver *stream_convolver (const Stream *s, const gchar *backend,
    gsize limit, GError **error);

/* Volume @number of plane @p. */
guint8 *stream_volume (const Stream *s, guint p, guint number);

/* Numbers of volumes; 0: never. */
typedef struct
{
  guint change;   /* before it, the next convolver takes over, if it can */
  guint flush;    /* before it, the window is emptied */
  guint repeat;   /* before it, the last volume is pushed again */
  guint skip;     /* every so many outputs, one is not computed */
  guint hold;     /* so many volumes stay until they are freed */
  gboolean waits; /* outputs are asked for when the volume has been freed */
} StreamEvents;

/* The outputs of @n volumes, a pointer for each plane. */
GPtrArray *stream_run (const Stream *s, NdConvolver *c, NdConvolver *next,
    guint n, const StreamEvents *events);

G_END_DECLS
