/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/reader.h"

#include "core/error.h"

#include <string.h>

/* Volumes of a group fit in this much memory, and in half of what is left. Each
 * group reads the whole file. */
#define GROUP_BYTES ((gsize) 256 << 20)
#define MAX_GROUPS 32

gboolean
nd_reader_has_groups (const NdReader *reader)
{
  return reader->header.time_first || reader->header.planar;
}

gboolean
nd_reader_plan_groups (NdReader *reader, GError **error)
{
  NdHeader *header = &reader->header;
  const guint64 volumes = header->recording.volumes;

  reader->group_first = ND_READER_NOWHERE;
  reader->group_size = 1;
  if (header->planar && !header->compressed)
    return TRUE;
  reader->group_size = MIN (GROUP_BYTES, nd_budget_left (&header->budget) / 2)
      / reader->stored_size;
  reader->group_size = CLAMP (reader->group_size, 1, volumes);
  if ((volumes + reader->group_size - 1) / reader->group_size > MAX_GROUPS) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        header->planar
            ? "\"%s\" is compressed, has components after time, and is too "
              "large to be read so: decompress it (gunzip)"
            : "\"%s\" has time as its fastest axis, and is too large to be "
              "read so: \"unu permute -p 1 2 3 0 -i FILE -o NEW\" makes one "
              "with time last",
        reader->path);
    return FALSE;
  }
  return TRUE;
}

/* Reads the whole file and assembles the group of volumes from @first on. */
static gboolean
read_group (NdReader *reader, guint64 first, GError **error)
{
  const NdHeader *header = &reader->header;
  const gsize width = nd_stored_size (header->stored.type);
  const guint64 volumes = header->recording.volumes;
  const gsize samples = reader->stored_size / width;
  const gsize rows = MAX (ND_READER_CHUNK / (volumes * width), 1);
  const guint64 count = MIN (reader->group_size, volumes - first);
  NdBudget *budget = &reader->header.budget;
  guint8 *chunk;

  if (!nd_budget_reuse (budget, &reader->chunk, &reader->chunk_size,
          rows * volumes * width)
      || !nd_budget_reuse (budget, &reader->group, &reader->group_bytes,
          reader->group_size * reader->stored_size))
    return nd_budget_refuse (budget, reader->path, error);
  chunk = reader->chunk;
  if (!nd_reader_go_to (reader, 0, error))
    return FALSE;
  reader->group_first = ND_READER_NOWHERE;
  for (gsize at = 0; at < samples; at += rows) {
    const gsize n = MIN (rows, samples - at);

    if (!nd_reader_read_stored (reader, chunk, n * volumes * width, error))
      return FALSE;
    for (guint64 g = 0; g < count; g++) {
      guint8 *to = reader->group + g * reader->stored_size + at * width;

      for (gsize i = 0; i < n; i++)
        memcpy (to + i * width, chunk + (i * volumes + first + g) * width,
            width);
    }
  }
  reader->group_first = first;
  return TRUE;
}

/* The same for components in planes, one after the other. */
static gboolean
reader_groups_read_planes (NdReader *reader, guint64 first, GError **error)
{
  const NdHeader *header = &reader->header;
  const gsize width = nd_stored_size (header->stored.type);
  const gsize components = header->recording.shape.components;
  const gsize plane = reader->stored_size / components;
  const guint64 volumes = header->recording.volumes;
  const guint64 count = MIN (reader->group_size, volumes - first);
  NdBudget *budget = &reader->header.budget;

  if (!nd_budget_reuse (budget, &reader->chunk, &reader->chunk_size,
          ND_READER_CHUNK)
      || !nd_budget_reuse (budget, &reader->group, &reader->group_bytes,
          reader->group_size * reader->stored_size))
    return nd_budget_refuse (budget, reader->path, error);
  reader->group_first = ND_READER_NOWHERE;
  for (gsize c = 0; c < components; c++) {
    if (!nd_reader_go_to (reader, (c * volumes + first) * plane, error))
      return FALSE;
    for (gsize done = 0; done < count * plane;) {
      const gsize in_volume = done % plane;
      const gsize n = MIN (ND_READER_CHUNK, plane - in_volume);
      guint8 *to = reader->group + done / plane * reader->stored_size
          + in_volume * components + c * width;

      if (!nd_reader_read_stored (reader, reader->chunk, n, error))
        return FALSE;
      for (gsize i = 0; i < n; i += width)
        memcpy (to + i * components, reader->chunk + i, width);
      done += n;
    }
  }
  reader->group_first = first;
  return TRUE;
}

gboolean
nd_reader_read_from_group (NdReader *reader, gpointer data, GError **error)
{
  const NdStored *stored = &reader->header.stored;
  const guint64 first = reader->next / reader->group_size * reader->group_size;

  if (first != reader->group_first
      && !(reader->header.planar
              ? reader_groups_read_planes (reader, first, error)
              : read_group (reader, first, error)))
    return FALSE;
  nd_stored_convert (stored, data,
      reader->group + (reader->next - first) * reader->stored_size,
      reader->stored_size / nd_stored_size (stored->type));
  return TRUE;
}
