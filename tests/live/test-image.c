/* IMAGE: header, geometry, samples, subvolumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/image.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "tests/live/messages.h"

static const NdIgtlScalar scalars[] = { ND_IGTL_INT8, ND_IGTL_UINT8,
  ND_IGTL_INT16, ND_IGTL_UINT16, ND_IGTL_INT32, ND_IGTL_UINT32, ND_IGTL_FLOAT32,
  ND_IGTL_FLOAT64 };

static void
test_header (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (scalars); i++) {
    NdIgtlImage image = make_image (5, 6, 7, 3, scalars[i]), read;
    g_autoptr (GByteArray) bytes = g_byte_array_new ();

    image.big_endian = i % 2;
    image.coordinates = i % 2 ? ND_IGTL_LPS : ND_IGTL_RAS;
    for (guint k = 0; k < 12; k++)
      image.matrix[k] = k + 0.5f;
    nd_igtl_image_build (&image, bytes);
    g_assert_cmpuint (bytes->len, ==, ND_IGTL_IMAGE_SIZE);
    g_assert_true (nd_igtl_image_parse (&read, bytes->data,
        3 * 5 * 6 * 7 * nd_igtl_scalar_size (scalars[i]), NULL));
    g_assert_cmpmem (&read, sizeof (read), &image, sizeof (image));
  }
}

/* Each byte that says a kind, and each size, at its limits and beyond. */
static void
test_refused (void)
{
  static const struct
  {
    guint at;
    guint8 value;
  } wrong[] = { { 1, 0 }, { 1, 3 }, { 2, 0 }, { 3, 0 }, { 3, 1 }, { 3, 8 },
    { 3, 9 }, { 3, 12 }, { 3, 255 }, { 4, 0 }, { 4, 3 }, { 5, 0 }, { 5, 3 },
    { 7, 0 }, { 7, 3 }, { 7, 5 }, { 6, 255 }, { 61, 1 }, { 60, 255 }, { 67, 0 },
    { 67, 5 }, { 66, 255 } };
  const NdIgtlImage image = make_image (4, 4, 4, 1, ND_IGTL_UINT8);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  nd_igtl_image_build (&image, bytes);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    const guint8 right = bytes->data[wrong[i].at];
    g_autoptr (GError) error = NULL;
    NdIgtlImage read;

    bytes->data[wrong[i].at] = wrong[i].value;
    /* A volume that is larger than its subvolume is none of these. */
    if (wrong[i].at == 6 || (wrong[i].at == 7 && wrong[i].value > 4))
      g_assert_true (nd_igtl_image_parse (&read, bytes->data, 64, &error));
    else
      g_assert_false (nd_igtl_image_parse (&read, bytes->data, 64, &error));
    bytes->data[wrong[i].at] = right;
  }
  for (guint n = 0; n < 200; n++) {
    NdIgtlImage read;

    g_assert_true (nd_igtl_image_parse (&read, bytes->data, n, NULL)
        == (n == 64));
  }
}

static void
assert_near (const gdouble *a, const gdouble *b, guint n, gdouble most)
{
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat (fabs (a[i] - b[i]), <=, most);
}

/* The position in the matrix is that of the centre. */
static void
test_centre (void)
{
  static const gdouble spacing[3] = { 0.5, 2, 3 }, origin[3] = { 10, 20, 30 };
  static const gdouble directions[9] = { 0, 1, 0, 1, 0, 0, 0, 0, -1 };
  NdIgtlImage image = make_image (11, 4, 1, 1, ND_IGTL_UINT8);
  gdouble s[3], o[3], d[9];

  nd_igtl_image_set_geometry (&image, spacing, origin, directions);
  g_assert_cmpfloat (image.matrix[9], ==, 10 + 2 * 1.5);
  g_assert_cmpfloat (image.matrix[10], ==, 20 + 0.5 * 5);
  g_assert_cmpfloat (image.matrix[11], ==, 30);
  g_assert_true (nd_igtl_image_get_geometry (&image, s, o, d));
  assert_near (s, spacing, 3, 0);
  assert_near (o, origin, 3, 0);
  assert_near (d, directions, 9, 0);
  image.coordinates = ND_IGTL_LPS;
  g_assert_true (nd_igtl_image_get_geometry (&image, s, o, d));
  g_assert_cmpfloat (o[0], ==, -10);
  g_assert_cmpfloat (o[1], ==, -20);
  g_assert_cmpfloat (o[2], ==, 30);
  g_assert_cmpfloat (d[1], ==, -1);
  g_assert_cmpfloat (d[8], ==, -1);
}

static void
test_bad_matrix (void)
{
  gdouble spacing[3], origin[3], directions[9];

  for (guint i = 0; i < 12; i++) {
    NdIgtlImage image = make_image (2, 2, 2, 1, ND_IGTL_UINT8);

    image.matrix[i] = i % 2 ? NAN : INFINITY;
    g_assert_false (nd_igtl_image_get_geometry (&image, spacing, origin,
        directions));
  }
  for (guint a = 0; a < 3; a++) {
    NdIgtlImage image = make_image (2, 2, 2, 1, ND_IGTL_UINT8);

    image.matrix[4 * a] = 0;
    g_assert_false (nd_igtl_image_get_geometry (&image, spacing, origin,
        directions));
  }
}

static gdouble
get_sample (gconstpointer samples, NdSampleType type, gsize i)
{
  switch (type) {
    case ND_UINT8:
      return ((const guint8 *) samples)[i];
    case ND_INT16:
      return ((const gint16 *) samples)[i];
    case ND_UINT16:
      return ((const guint16 *) samples)[i];
    case ND_FLOAT32:
      return ((const gfloat *) samples)[i];
    case ND_INT8:
      return ((const gint8 *) samples)[i];
    case ND_INT32:
      return ((const gint32 *) samples)[i];
    case ND_UINT32:
      return ((const guint32 *) samples)[i];
    case ND_FLOAT64:
      return ((const gdouble *) samples)[i];
    default:
      g_assert_not_reached ();
  }
}

/* Sample i is i * 7 mod 200, minus 100 if the type has a sign. */
static gdouble
put_sample (guint8 *to, NdIgtlScalar scalar, gsize i)
{
  const gint value = i * 7 % 200;

#define PUT(name, type, shift)             \
  case name: {                             \
    const type sample = value - shift;     \
                                           \
    memcpy (to, &sample, sizeof (sample)); \
    return sample;                         \
  }
  switch (scalar) {
    PUT (ND_IGTL_INT8, gint8, 100)
    PUT (ND_IGTL_UINT8, guint8, 0)
    PUT (ND_IGTL_INT16, gint16, 100)
    PUT (ND_IGTL_UINT16, guint16, 0)
    PUT (ND_IGTL_INT32, gint32, 100)
    PUT (ND_IGTL_UINT32, guint32, 0)
    PUT (ND_IGTL_FLOAT32, gfloat, 100)
    PUT (ND_IGTL_FLOAT64, gdouble, 100)
  }
  g_assert_not_reached ();
}

static void
test_samples (void)
{
  const gsize n = 3001;

  for (guint i = 0; i < 2 * G_N_ELEMENTS (scalars); i++) {
    const NdIgtlScalar scalar = scalars[i / 2];
    const gsize size = nd_igtl_scalar_size (scalar);
    const NdSampleType type = nd_igtl_sample_type (scalar);
    /* Not aligned. */
    g_autofree guint8 *samples = g_malloc (n * size + 1);
    const gboolean swap = i % 2;

    for (gsize k = 0; k < n; k++)
      put_sample (samples + 1 + k * size, scalar, k);
    if (swap)
      nd_igtl_samples_swap (samples + 1, size, n);
    nd_igtl_samples_to_native (samples + 1, scalar,
        swap != (G_BYTE_ORDER == G_BIG_ENDIAN), n);
    g_assert_cmpuint (nd_sample_size (type), ==, size);
    memmove (samples, samples + 1, n * size);
    for (gsize k = 0; k < n; k++) {
      guint8 bytes[8];

      g_assert_cmpfloat (get_sample (samples, type, k), ==,
          put_sample (bytes, scalar, k));
    }
  }
}

/* A volume in slabs, rows and blocks, in any order. */
static void
test_subvolumes (void)
{
  NdIgtlSubvolumes *subvolumes = nd_igtl_subvolumes_new ();
  guint8 volume[6 * 4 * 2] = { 0 };
  guint n = 0;

  for (guint round = 0; round < 2; round++) {
    NdIgtlSubvolume result = ND_IGTL_SUBVOLUME_COMPLETE;

    memset (volume, 0, sizeof (volume));
    for (gsize k = 0; k < 8; k++) {
      const gsize i = (k * 3 + round) % 8;
      NdIgtlImage image = make_image (6, 4, 2, 1, ND_IGTL_UINT8);
      guint8 samples[6];

      image.subvolume[0] = 3;
      image.subvolume[1] = 2;
      image.subvolume[2] = 1;
      image.offset[0] = i % 2 * 3;
      image.offset[1] = i / 2 % 2 * 2;
      image.offset[2] = i / 4;
      for (guint s = 0; s < 6; s++)
        samples[s] = 1 + image.offset[0] + s % 3
            + 6 * (image.offset[1] + s / 3 + 4 * image.offset[2]);
      result = nd_igtl_subvolumes_add (subvolumes, &image, 5);
      nd_igtl_subvolumes_copy (&image, 1, volume, samples);
      g_assert_cmpint (result, ==,
          k == 7 ? ND_IGTL_SUBVOLUME_COMPLETE : ND_IGTL_SUBVOLUME_ADDED);
    }
    for (n = 0; n < sizeof (volume); n++)
      g_assert_cmpuint (volume[n], ==, n + 1);
    g_assert_false (nd_igtl_subvolumes_pending (subvolumes));
  }
  nd_igtl_subvolumes_free (subvolumes);
}

static void
test_subvolumes_anew (void)
{
  NdIgtlSubvolumes *subvolumes = nd_igtl_subvolumes_new ();
  NdIgtlImage image = make_image (4, 4, 1, 1, ND_IGTL_UINT8);

  image.subvolume[1] = 2;
  g_assert_cmpint (nd_igtl_subvolumes_add (subvolumes, &image, 1), ==,
      ND_IGTL_SUBVOLUME_ADDED);
  g_assert_cmpint (nd_igtl_subvolumes_add (subvolumes, &image, 1), ==,
      ND_IGTL_SUBVOLUME_ANEW);
  image.offset[1] = 2;
  g_assert_cmpint (nd_igtl_subvolumes_add (subvolumes, &image, 2), ==,
      ND_IGTL_SUBVOLUME_ANEW);
  g_assert_true (nd_igtl_subvolumes_pending (subvolumes));
  nd_igtl_subvolumes_reset (subvolumes);
  g_assert_cmpint (nd_igtl_subvolumes_add (subvolumes, &image, 2), ==,
      ND_IGTL_SUBVOLUME_ADDED);
  image.offset[1] = 0;
  g_assert_cmpint (nd_igtl_subvolumes_add (subvolumes, &image, 2), ==,
      ND_IGTL_SUBVOLUME_COMPLETE);
  nd_igtl_subvolumes_free (subvolumes);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/image/header", test_header);
  g_test_add_func ("/image/refused", test_refused);
  g_test_add_func ("/image/centre", test_centre);
  g_test_add_func ("/image/bad-matrix", test_bad_matrix);
  g_test_add_func ("/image/samples", test_samples);
  g_test_add_func ("/image/subvolumes", test_subvolumes);
  g_test_add_func ("/image/subvolumes-anew", test_subvolumes_anew);
  return g_test_run ();
}
