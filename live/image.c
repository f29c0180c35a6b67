/* The header of IMAGE messages.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/image.h"

#include <math.h>

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
