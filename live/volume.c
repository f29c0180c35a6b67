/* The samples of a volume that have arrived: a list of boxes that do not
 * overlap, so that the sum of their sizes tells whether the volume is complete.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/volume.h"

#include <string.h>

/* The largest number of subvolumes. Without a limit, a peer that sends single
 * samples would make the comparison of boxes slower and slower. */
#define BOXES_MAX 8192

typedef struct
{
  gsize offset[3], size[3];
} Box;

struct _NdIgtlSubvolumes
{
  GArray *boxes;
  NdIgtlImage image; /* of the first subvolume */
  guint64 timestamp;
  gsize samples; /* that have arrived */
};

NdIgtlSubvolumes *
nd_igtl_subvolumes_new (void)
{
  NdIgtlSubvolumes *subvolumes = g_new0 (NdIgtlSubvolumes, 1);

  subvolumes->boxes = g_array_new (FALSE, FALSE, sizeof (Box));
  return subvolumes;
}

void
nd_igtl_subvolumes_free (NdIgtlSubvolumes *subvolumes)
{
  g_array_unref (subvolumes->boxes);
  g_free (subvolumes);
}

void
nd_igtl_subvolumes_reset (NdIgtlSubvolumes *subvolumes)
{
  g_array_set_size (subvolumes->boxes, 0);
  subvolumes->samples = 0;
}

gboolean
nd_igtl_subvolumes_pending (const NdIgtlSubvolumes *subvolumes)
{
  return subvolumes->boxes->len > 0;
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
belongs (const NdIgtlSubvolumes *subvolumes, const NdIgtlImage *image,
    const Box *box, guint64 timestamp)
{
  const NdIgtlImage *first = &subvolumes->image;

  if (timestamp != subvolumes->timestamp || image->scalar != first->scalar
      || image->components != first->components
      || memcmp (image->size, first->size, sizeof (image->size)) != 0
      || subvolumes->boxes->len == BOXES_MAX)
    return FALSE;
  for (guint i = 0; i < subvolumes->boxes->len; i++) {
    if (overlap (&g_array_index (subvolumes->boxes, Box, i), box))
      return FALSE;
  }
  return TRUE;
}

NdIgtlSubvolume
nd_igtl_subvolumes_add (NdIgtlSubvolumes *subvolumes, const NdIgtlImage *image,
    guint64 timestamp)
{
  Box box;

  memcpy (box.offset, image->offset, sizeof (box.offset));
  memcpy (box.size, image->subvolume, sizeof (box.size));
  if (subvolumes->boxes->len == 0) {
    subvolumes->image = *image;
    subvolumes->timestamp = timestamp;
  } else if (!belongs (subvolumes, image, &box, timestamp)) {
    return ND_IGTL_SUBVOLUME_ANEW;
  }
  g_array_append_val (subvolumes->boxes, box);
  subvolumes->samples += box.size[0] * box.size[1] * box.size[2];
  if (subvolumes->samples < image->size[0] * image->size[1] * image->size[2])
    return ND_IGTL_SUBVOLUME_ADDED;
  nd_igtl_subvolumes_reset (subvolumes);
  return ND_IGTL_SUBVOLUME_COMPLETE;
}

void
nd_igtl_subvolumes_copy (const NdIgtlImage *image, gsize sample_size,
    guint8 *volume, const guint8 *subvolume)
{
  const gsize row = image->subvolume[0] * sample_size;

  for (gsize z = 0; z < image->subvolume[2]; z++) {
    for (gsize y = 0; y < image->subvolume[1]; y++) {
      const gsize at = image->offset[0]
          + image->size[0]
              * (image->offset[1] + y
                  + image->size[1] * (image->offset[2] + z));

      memcpy (volume + at * sample_size, subvolume, row);
      subvolume += row;
    }
  }
}
