/* IMAGE messages: the header, byte order and types of samples, volumes from
 * subvolumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/image.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "live/bytes.h"

/* Both versions have the same bytes. */
#define VERSION 1
#define VERSION_MAX 2
#define SIZE_AT 6
#define MATRIX_AT 12
#define OFFSET_AT 60
#define SUBVOLUME_AT 66

static const struct
{
  const gchar *name;
  gsize size;
} scalars[] = {
  [ND_IGTL_INT8] = { "int8", 1 },
  [ND_IGTL_UINT8] = { "uint8", 1 },
  [ND_IGTL_INT16] = { "int16", 2 },
  [ND_IGTL_UINT16] = { "uint16", 2 },
  [ND_IGTL_INT32] = { "int32", 4 },
  [ND_IGTL_UINT32] = { "uint32", 4 },
  [ND_IGTL_FLOAT32] = { "float32", 4 },
  [ND_IGTL_FLOAT64] = { "float64", 8 },
};

gsize
nd_igtl_scalar_size (NdIgtlScalar scalar)
{
  return (guint) scalar < G_N_ELEMENTS (scalars) ? scalars[scalar].size : 0;
}

const gchar *
nd_igtl_scalar_name (NdIgtlScalar scalar)
{
  return scalars[scalar].name;
}

gboolean
nd_igtl_scalar_from_name (const gchar *name, NdIgtlScalar *scalar)
{
  for (guint i = 0; i < G_N_ELEMENTS (scalars); i++) {
    if (scalars[i].name && strcmp (name, scalars[i].name) == 0) {
      *scalar = i;
      return TRUE;
    }
  }
  return FALSE;
}

static gsize
samples_size (const NdIgtlImage *image, const gsize size[3])
{
  gsize total = image->components * nd_igtl_scalar_size (image->scalar);

  for (guint a = 0; a < 3; a++) {
    if (!g_size_checked_mul (&total, total, size[a]))
      return 0;
  }
  return total <= G_MAXSSIZE ? total : 0;
}

gsize
nd_igtl_image_volume_size (const NdIgtlImage *image)
{
  return samples_size (image, image->size);
}

gsize
nd_igtl_image_subvolume_size (const NdIgtlImage *image)
{
  return samples_size (image, image->subvolume);
}

gboolean
nd_igtl_image_is_whole (const NdIgtlImage *image)
{
  for (guint a = 0; a < 3; a++) {
    if (image->subvolume[a] != image->size[a])
      return FALSE;
  }
  return TRUE;
}

static gboolean
check_sizes (const NdIgtlImage *image, guint64 given, GError **error)
{
  for (guint a = 0; a < 3; a++) {
    if (image->size[a] > 0 && image->subvolume[a] > 0
        && image->offset[a] + image->subvolume[a] <= image->size[a])
      continue;
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "An IMAGE of %u samples along axis %c holds %u of them from %u on: "
        "sizes must be 1 or more, and the part must lie in the volume",
        (guint) image->size[a], 'x' + a, (guint) image->subvolume[a],
        (guint) image->offset[a]);
    return FALSE;
  }
  if (nd_igtl_image_volume_size (image) == 0
      || nd_igtl_image_subvolume_size (image) != given) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "An IMAGE of %ux%ux%u samples of %u %s has %" G_GUINT64_FORMAT
        " bytes of samples: there must be %" G_GSIZE_FORMAT,
        (guint) image->subvolume[0], (guint) image->subvolume[1],
        (guint) image->subvolume[2], image->components,
        nd_igtl_scalar_name (image->scalar), given,
        nd_igtl_image_subvolume_size (image));
    return FALSE;
  }
  return TRUE;
}

gboolean
nd_igtl_image_parse (NdIgtlImage *image, const guint8 *bytes,
    guint64 given_size, GError **error)
{
  const guint version = nd_get_u16 (bytes);
  const guint endian = bytes[4];

  *image = (NdIgtlImage){ .components = bytes[2],
    .scalar = bytes[3],
    .big_endian = endian == 1,
    .coordinates = bytes[5] };
  if (version < VERSION || version > VERSION_MAX || image->components == 0
      || nd_igtl_scalar_size (image->scalar) == 0 || endian < 1 || endian > 2
      || bytes[5] < ND_IGTL_RAS || bytes[5] > ND_IGTL_LPS) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "An IMAGE has version %u, %u components, scalar type %u, endian %u, "
        "coordinates %u: versions are 1 and 2, components 1 or more, types 2 "
        "to 7, 10 and 11, endian and coordinates 1 and 2",
        version, bytes[2], bytes[3], endian, bytes[5]);
    return FALSE;
  }
  for (guint a = 0; a < 3; a++) {
    image->size[a] = nd_get_u16 (bytes + SIZE_AT + 2 * a);
    image->offset[a] = nd_get_u16 (bytes + OFFSET_AT + 2 * a);
    image->subvolume[a] = nd_get_u16 (bytes + SUBVOLUME_AT + 2 * a);
  }
  for (guint i = 0; i < 12; i++)
    image->matrix[i] = nd_get_f32 (bytes + MATRIX_AT + 4 * i);
  return check_sizes (image, given_size, error);
}

void
nd_igtl_image_build (const NdIgtlImage *image, GByteArray *out)
{
  nd_put_u16 (out, VERSION);
  nd_put_u8 (out, image->components);
  nd_put_u8 (out, image->scalar);
  nd_put_u8 (out, image->big_endian ? 1 : 2);
  nd_put_u8 (out, image->coordinates);
  for (guint a = 0; a < 3; a++)
    nd_put_u16 (out, image->size[a]);
  for (guint i = 0; i < 12; i++)
    nd_put_f32 (out, image->matrix[i]);
  for (guint a = 0; a < 3; a++)
    nd_put_u16 (out, image->offset[a]);
  for (guint a = 0; a < 3; a++)
    nd_put_u16 (out, image->subvolume[a]);
}

gboolean
nd_igtl_image_get_geometry (const NdIgtlImage *image, gdouble spacing[3],
    gdouble origin[3], gdouble directions[9])
{
  gdouble lengths[3];

  for (guint i = 0; i < 12; i++) {
    if (!isfinite (image->matrix[i]))
      return FALSE;
  }
  for (guint a = 0; a < 3; a++) {
    const gfloat *column = image->matrix + 3 * a;

    lengths[a] = sqrt ((gdouble) column[0] * column[0]
        + (gdouble) column[1] * column[1] + (gdouble) column[2] * column[2]);
    if (lengths[a] == 0)
      return FALSE;
  }
  for (guint row = 0; row < 3; row++) {
    const gdouble sign = image->coordinates == ND_IGTL_LPS && row < 2 ? -1 : 1;
    gdouble first = image->matrix[9 + row];

    for (guint a = 0; a < 3; a++) {
      directions[3 * row + a] = sign * image->matrix[3 * a + row] / lengths[a];
      first -= image->matrix[3 * a + row] * (image->size[a] - 1) / 2.0;
    }
    origin[row] = sign * first;
    spacing[row] = lengths[row];
  }
  return TRUE;
}

void
nd_igtl_image_set_geometry (NdIgtlImage *image, const gdouble spacing[3],
    const gdouble origin[3], const gdouble directions[9])
{
  image->coordinates = ND_IGTL_RAS;
  for (guint row = 0; row < 3; row++) {
    gdouble centre = origin[row];

    for (guint a = 0; a < 3; a++) {
      const gdouble step = directions[3 * row + a] * spacing[a];

      image->matrix[3 * a + row] = step;
      centre += step * (image->size[a] - 1) / 2.0;
    }
    image->matrix[9 + row] = centre;
  }
}

NdSampleType
nd_igtl_sample_type (NdIgtlScalar scalar)
{
  NdSampleType type = ND_UINT8;

  nd_sample_from_name (nd_igtl_scalar_name (scalar), &type);
  return type;
}

gboolean
nd_igtl_scalar_type (NdSampleType type, NdIgtlScalar *scalar)
{
  return nd_igtl_scalar_from_name (nd_sample_name (type), scalar);
}

#define SWAP(name, type, swap)                                     \
  static void name (guint8 *bytes, gsize n)                        \
  {                                                                \
    for (gsize i = 0; i < n; i++) {                                \
      type value;                                                  \
                                                                   \
      memcpy (&value, bytes + i * sizeof (value), sizeof (value)); \
      value = swap (value);                                        \
      memcpy (bytes + i * sizeof (value), &value, sizeof (value)); \
    }                                                              \
  }
SWAP (swap16, guint16, GUINT16_SWAP_LE_BE)
SWAP (swap32, guint32, GUINT32_SWAP_LE_BE)
SWAP (swap64, guint64, GUINT64_SWAP_LE_BE)

void
nd_igtl_samples_swap (gpointer samples, gsize size, gsize n)
{
  if (size == 2)
    swap16 (samples, n);
  else if (size == 4)
    swap32 (samples, n);
  else if (size == 8)
    swap64 (samples, n);
}

void
nd_igtl_samples_to_native (gpointer samples, NdIgtlScalar scalar,
    gboolean big_endian, gsize n)
{
  if (big_endian != (G_BYTE_ORDER == G_BIG_ENDIAN))
    nd_igtl_samples_swap (samples, nd_igtl_scalar_size (scalar), n);
}

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
