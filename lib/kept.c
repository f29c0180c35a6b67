/* A stream that filters keep for the next nd_convolve() of the same kind: to
 * make one may take longer than to filter a small volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/fork.h"
#include "lib/private.h"

/* The most bytes that all filters together keep. */
#define MOST_BYTES ((gsize) 32 << 20)

static gsize all_bytes; /* atomic */

struct _NdKept
{
  NdStream *stream;
  guint64 settings; /* their serial number */
  NdVolumes in;
  NdStreamUse use;
  gsize bytes;
  guint forks;
};

/* Streams depend on the samples' type, number and memory, not on strides. */
static gboolean
are_alike (const NdVolumes *a, const NdVolumes *b)
{
  const gsize *n = a->shape.size, *m = b->shape.size;

  return a->type == b->type && a->shape.components == b->shape.components
      && n[0] == m[0] && n[1] == m[1] && n[2] == m[2]
      && a->responses == b->responses && a->volumes == b->volumes
      && !a->on_device && !b->on_device;
}

/* Returns its stream. */
static NdStream *
release (NdKept *kept)
{
  NdStream *stream = kept->stream;

  __atomic_sub_fetch (&all_bytes, kept->bytes, __ATOMIC_RELAXED);
  g_free (kept);
  return stream;
}

void
nd_kept_free (NdKept *kept)
{
  if (kept)
    nd_stream_free (release (kept));
}

NdStream *
nd_kept_take (NdKept **kept, const NdSettings *settings, const NdVolumes *in,
    const NdStreamUse *use)
{
  NdKept *found = __atomic_exchange_n (kept, NULL, __ATOMIC_ACQ_REL);

  if (found && found->settings == settings->serial
      && found->forks == nd_fork_count () && are_alike (&found->in, in)
      && found->use.in_place == use->in_place)
    return release (found);
  nd_kept_free (found);
  return NULL;
}

void
nd_kept_give (NdKept **kept, NdStream *stream, const NdSettings *settings,
    const NdVolumes *in, const NdStreamUse *use)
{
  const gsize bytes = nd_stream_get_bytes (stream);
  NdKept *mine;

  if (__atomic_add_fetch (&all_bytes, bytes, __ATOMIC_RELAXED) > MOST_BYTES
      || in->on_device) {
    __atomic_sub_fetch (&all_bytes, bytes, __ATOMIC_RELAXED);
    nd_stream_free (stream);
    return;
  }
  nd_stream_restart (stream, NULL);
  mine = g_new (NdKept, 1);
  *mine =
      (NdKept){ stream, settings->serial, *in, *use, bytes, nd_fork_count () };
  nd_kept_free (__atomic_exchange_n (kept, mine, __ATOMIC_ACQ_REL));
}
