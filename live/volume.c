/* The samples of a volume that have arrived: a list of boxes that do not
 * overlap, so that the sum of their sizes tells whether the volume is complete.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/volume.h"

#include <string.h>

/* The largest number of parts. Without a limit, a peer that sends single
 * samples would make the comparison of boxes slower and slower. */
#define BOXES_MAX 8192

typedef struct
{
  gsize offset[3], size[3];
} Box;

struct _NdIgtlParts
{
  GArray *boxes;
  NdIgtlImage image; /* of the first part */
  guint64 timestamp;
  gsize samples; /* that have arrived */
};

NdIgtlParts *
nd_igtl_parts_new (void)
{
  NdIgtlParts *parts = g_new0 (NdIgtlParts, 1);

  parts->boxes = g_array_new (FALSE, FALSE, sizeof (Box));
  return parts;
}

void
nd_igtl_parts_free (NdIgtlParts *parts)
{
  g_array_unref (parts->boxes);
  g_free (parts);
}

void
nd_igtl_parts_reset (NdIgtlParts *parts)
{
  g_array_set_size (parts->boxes, 0);
  parts->samples = 0;
}

gboolean
nd_igtl_parts_pending (const NdIgtlParts *parts)
{
  return parts->boxes->len > 0;
}

static gboolean
overlap (const Box *a, const Box *b)
{
  for (guint i = 0; i < 3; i++) {
    if (a->offset[i] >= b->offset[i] + b->size[i]
        || b->offset[i] >= a->offset[i] + a->size[i])
      return FALSE;
  }
  return TRUE;
}

static gboolean
belongs (const NdIgtlParts *parts, const NdIgtlImage *image, const Box *box,
    guint64 timestamp)
{
  const NdIgtlImage *first = &parts->image;

  if (timestamp != parts->timestamp || image->scalar != first->scalar
      || image->components != first->components
      || memcmp (image->size, first->size, sizeof (image->size)) != 0
      || parts->boxes->len == BOXES_MAX)
    return FALSE;
  for (guint i = 0; i < parts->boxes->len; i++) {
    if (overlap (&g_array_index (parts->boxes, Box, i), box))
      return FALSE;
  }
  return TRUE;
}

NdIgtlPart
nd_igtl_parts_add (NdIgtlParts *parts, const NdIgtlImage *image,
    guint64 timestamp)
{
  Box box;

  memcpy (box.offset, image->offset, sizeof (box.offset));
  memcpy (box.size, image->part, sizeof (box.size));
  if (parts->boxes->len == 0) {
    parts->image = *image;
    parts->timestamp = timestamp;
  } else if (!belongs (parts, image, &box, timestamp)) {
    return ND_IGTL_PART_ANEW;
  }
  g_array_append_val (parts->boxes, box);
  parts->samples += box.size[0] * box.size[1] * box.size[2];
  if (parts->samples < image->size[0] * image->size[1] * image->size[2])
    return ND_IGTL_PART_ADDED;
  nd_igtl_parts_reset (parts);
  return ND_IGTL_PART_COMPLETE;
}

void
nd_igtl_parts_copy (const NdIgtlImage *image, gsize sample_size, guint8 *volume,
    const guint8 *part)
{
  const gsize row = image->part[0] * sample_size;

  for (gsize z = 0; z < image->part[2]; z++) {
    for (gsize y = 0; y < image->part[1]; y++) {
      const gsize at = image->offset[0]
          + image->size[0]
              * (image->offset[1] + y
                  + image->size[1] * (image->offset[2] + z));

      memcpy (volume + at * sample_size, part, row);
      part += row;
    }
  }
}
