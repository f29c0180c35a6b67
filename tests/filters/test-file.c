/* Filters from files: .npy, NIfTI, raw float32, and refused files.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/describe.h"
#include "filters/filterfile.h"
#include "filters/filterrecording.h"
#include "filters/text.h"
#include "tests/filters/designs.h"
#include "tests/fuzz/memory.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static gchar *folder;

/* Writes @data to @name in the temporary folder and returns the parameter for
 * it. */
static gchar *
write_file (const gchar *name, gconstpointer data, gsize length)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, data, length, NULL));
  return g_strconcat ("location=", path, NULL);
}

/* A .npy file of @version. Its header is not padded except for a newline. */
static GByteArray *
new_npy (guint8 version, const gchar *header, gconstpointer samples, gsize n)
{
  GByteArray *file = g_byte_array_new ();
  guint32 length = strlen (header);
  guint8 lengths[] = { length, length >> 8, length >> 16, length >> 24 };

  g_byte_array_append (file, (const guint8 *) "\x93NUMPY", 6);
  g_byte_array_append (file, &version, 1);
  g_byte_array_append (file, (const guint8 *) "", 1);
  g_byte_array_append (file, lengths, version == 1 ? 2 : 4);
  g_byte_array_append (file, (const guint8 *) header, length);
  g_byte_array_append (file, samples, n);
  return file;
}

static gchar *
write_npy (guint8 version, const gchar *header, gconstpointer samples, gsize n)
{
  g_autoptr (GByteArray) file = new_npy (version, header, samples, n);

  return write_file ("kernel.npy", file->data, file->len);
}

static gchar *
write_npy_bytes (const gchar *descr, gconstpointer samples, gsize n)
{
  g_autofree gchar *header = g_strdup_printf (
      "{'descr': '%s', 'fortran_order': False, 'shape': (3,), }\n", descr);

  return write_npy (1, header, samples, n);
}

static void
assert_file (const gchar *location, const NdAxes *axes, const gsize size[4],
    const gdouble *values)
{
  g_autoptr (NdFilter) filter = make_design ("file", axes, location);

  assert_size (filter, size[0], size[1], size[2], size[3]);
  for (gsize i = 0; i < nd_filter_count (filter); i++)
    g_assert_cmpfloat (filter->coefficients[i], ==, values[i]);
}

static void
swap (gpointer samples, gsize bytes)
{
  for (gsize i = 0; i < 3; i++) {
    guint8 *sample = (guint8 *) samples + i * bytes;

    for (gsize b = 0; b < bytes / 2; b++) {
      guint8 first = sample[b];

      sample[b] = sample[bytes - 1 - b];
      sample[bytes - 1 - b] = first;
    }
  }
}

/* Three samples of @type in both byte orders. */
static void
check_type (const gchar *type, gconstpointer samples, gsize bytes,
    gdouble first, gdouble second, gdouble third)
{
  const gdouble values[] = { first, second, third };
  static const gsize size[] = { 3, 1, 1, 1 };
  gboolean little = G_BYTE_ORDER == G_LITTLE_ENDIAN;
  g_autofree guint8 *swapped = g_memdup2 (samples, 3 * bytes);

  swap (swapped, bytes);
  for (guint i = 0; i < 3; i++) {
    g_autofree gchar *descr = g_strdup_printf ("%c%s",
        i == 0                   ? '='
            : (i == 1) == little ? '<'
                                 : '>',
        type);
    g_autofree gchar *location = write_npy_bytes (descr,
        i == 2 ? (gconstpointer) swapped : samples, 3 * bytes);

    assert_file (location, &axes_xy, size, values);
  }
}

static void
test_npy_types (void)
{
  const guint8 u1[] = { 0, 1, 255 };
  const gint8 i1[] = { -128, 1, 127 };
  const guint16 u2[] = { 0, 1, 65535 };
  const gint16 i2[] = { -32768, 1, 32767 };
  const guint32 u4[] = { 0, 1, G_MAXUINT32 };
  const gint32 i4[] = { G_MININT32, 1, G_MAXINT32 };
  const guint64 u8[] = { 0, 1, G_GUINT64_CONSTANT (1) << 63 };
  const gint64 i8[] = { G_MININT64, 1, G_GINT64_CONSTANT (1) << 62 };
  const gfloat f4[] = { -0.1f, 1, 3e38f };
  const gdouble f8[] = { -0.1, 1, 3e300 };

  check_type ("u1", u1, 1, 0, 1, 255);
  check_type ("i1", i1, 1, -128, 1, 127);
  check_type ("u2", u2, 2, 0, 1, 65535);
  check_type ("i2", i2, 2, -32768, 1, 32767);
  check_type ("u4", u4, 4, 0, 1, 4294967295.0);
  check_type ("i4", i4, 4, -2147483648.0, 1, 2147483647.0);
  check_type ("u8", u8, 8, 0, 1, ldexp (1, 63));
  check_type ("i8", i8, 8, -ldexp (1, 63), 1, ldexp (1, 62));
  check_type ("f4", f4, 4, -0.1f, 1, 3e38f);
  check_type ("f8", f8, 8, -0.1, 1, 3e300);
}

/* NumPy's shape lists the slowest axis first, ndconv's the fastest. */
static void
test_npy_shapes (void)
{
  static const struct
  {
    const gchar *shape;
    const NdAxes *axes;
    gsize size[ND_AXES];
  } cases[] = {
    { "()", &axes_xy, { 1, 1, 1, 1 } },
    { "(24,)", &axes_xy, { 24, 1, 1, 1 } },
    { "(4, 6)", &axes_xy, { 6, 4, 1, 1 } },
    { "(4, 6)", &axes_xyzt, { 6, 4, 1, 1 } },
    { "(2, 3, 4)", &axes_xyz, { 4, 3, 2, 1 } },
    { "(2, 3, 4)", &axes_xyt, { 4, 3, 1, 2 } },
    { "(2, 1, 3, 4)", &axes_xyt, { 4, 3, 1, 2 } },
    { "(2, 1, 3, 4)", &axes_xyzt, { 4, 3, 1, 2 } },
    { "(1, 2, 3, 4)", &axes_xyz, { 4, 3, 2, 1 } },
    { "(1,1,4,6)", &axes_xy, { 6, 4, 1, 1 } },
    { "(2,2,2,3)", &axes_xyzt, { 3, 2, 2, 2 } },
  };
  gdouble samples[24];

  for (guint i = 0; i < 24; i++)
    samples[i] = i - 7.25;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gsize n = 1;
    g_autofree gchar *header =
        g_strdup_printf ("{'shape': %s, "
                         "\"fortran_order\" :False ,'descr':'=f8'}",
            cases[i].shape);
    g_autofree gchar *location = NULL;

    for (guint a = 0; a < ND_AXES; a++)
      n *= cases[i].size[a];
    location = write_npy (i % 3 + 1, header, samples, n * sizeof (gdouble));
    assert_file (location, cases[i].axes, cases[i].size, samples);
  }
}

#define HEADER(descr, order, shape) \
  "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }\n"

static const struct
{
  const gchar *name;
  gint code;
  guint8 version;
  const gchar *header;
  gsize bytes;
  const NdAxes *axes;
  const gchar *words;
} npy_refused[] = {
  { "fortran-order", ND_ERROR_FORMAT, 1, HEADER ("<f4", "True", "(3, 3)"), 36,
      &axes_xy, "Fortran|ascontiguousarray" },
  { "object", ND_ERROR_FORMAT, 1, HEADER ("|O", "False", "(3,)"), 24, &axes_xy,
      "|O|float32" },
  { "long-double-complex", ND_ERROR_FORMAT, 1, HEADER ("<c32", "False", "(3,)"),
      48, &axes_xy, "c32|float32" },
  { "complex-truncated", ND_ERROR_READ, 1, HEADER ("<c8", "False", "(3,)"), 20,
      &axes_xy, "truncated|20 bytes|24" },
  { "quad", ND_ERROR_FORMAT, 1, HEADER ("<f3", "False", "(3,)"), 6, &axes_xy,
      "f3|float32" },
  { "long-double", ND_ERROR_FORMAT, 1, HEADER ("<f16", "False", "(3,)"), 48,
      &axes_xy, "f16" },
  { "boolean", ND_ERROR_FORMAT, 1, HEADER ("|b1", "False", "(3,)"), 3, &axes_xy,
      "b1" },
  { "text", ND_ERROR_FORMAT, 1, HEADER ("<U4", "False", "(3,)"), 48, &axes_xy,
      "U4" },
  { "structured", ND_ERROR_FORMAT, 1,
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}", 12,
      &axes_xy, "structured" },
  { "rank-3-for-2", ND_ERROR_FORMAT, 1, HEADER ("<f4", "False", "(1, 3, 3)"),
      36, &axes_xy, "3 axes|x, y" },
  { "rank-5", ND_ERROR_FORMAT, 1, HEADER ("<f4", "False", "(1, 1, 1, 3, 3)"),
      36, &axes_xyzt, "5 axes|x, y, z, t" },
  { "taps-along-z", ND_ERROR_SETTINGS, 1,
      HEADER ("<f4", "False", "(1, 3, 1, 3)"), 36, &axes_xyt,
      "size 3 along z|x, y, t" },
  { "empty", ND_ERROR_FORMAT, 1, HEADER ("<f4", "False", "(0, 3)"), 0, &axes_xy,
      "empty" },
  { "overflow", ND_ERROR_SETTINGS, 1,
      HEADER ("<f8", "False", "(4294967296, 4294967296)"), 36, &axes_xy,
      "268435456" },
  { "truncated", ND_ERROR_READ, 1, HEADER ("<f4", "False", "(3, 3)"), 35,
      &axes_xy, "truncated|35|36" },
  { "no-samples", ND_ERROR_READ, 1, HEADER ("<f4", "False", "(3, 3)"), 0,
      &axes_xy, "truncated| 0 bytes" },
  { "garbage-after", ND_ERROR_READ, 1, HEADER ("<f4", "False", "(3, 3)"), 37,
      &axes_xy, "too long|37|36" },
  { "version", ND_ERROR_FORMAT, 4, HEADER ("<f4", "False", "(3, 3)"), 36,
      &axes_xy, "version 4" },
  { "no-shape", ND_ERROR_READ, 1, "{'descr': '<f4', 'fortran_order': False}", 4,
      &axes_xy, "damaged" },
  { "no-order", ND_ERROR_READ, 1, "{'descr': '<f4', 'shape': (1,)}", 4,
      &axes_xy, "damaged" },
  { "no-type", ND_ERROR_READ, 1, "{'shape': (1,), 'fortran_order': False}", 4,
      &axes_xy, "damaged" },
  { "two-shapes", ND_ERROR_READ, 1,
      "{'shape': (1,), 'shape': (1,), "
      "'descr': '<f4', 'fortran_order': False}",
      4, &axes_xy, "damaged" },
  { "negative-shape", ND_ERROR_READ, 1, HEADER ("<f4", "False", "(-3,)"), 12,
      &axes_xy, "damaged" },
  { "huge-shape", ND_ERROR_READ, 1,
      HEADER ("<f4", "False", "(99999999999999999999,)"), 12, &axes_xy,
      "damaged" },
  { "open-shape", ND_ERROR_READ, 1,
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3", 12, &axes_xy,
      "damaged" },
  { "open-text", ND_ERROR_READ, 1, "{'descr': '<f4", 12, &axes_xy, "damaged" },
  { "no-dictionary", ND_ERROR_READ, 1, "", 12, &axes_xy, "damaged" },
  { "order-number", ND_ERROR_READ, 1, HEADER ("<f4", "0", "(3,)"), 12, &axes_xy,
      "damaged" },
};

static void
test_npy_refused (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  gfloat samples[12] = {
    1,
    2,
    3,
  };
  g_autofree gchar *location = write_npy (npy_refused[i].version,
      npy_refused[i].header, samples, npy_refused[i].bytes);
  g_autofree gchar *words =
      g_strconcat ("kernel.npy|", npy_refused[i].words, NULL);

  assert_refused ("file", npy_refused[i].axes, location, npy_refused[i].code,
      words);
}

/* A file truncated at any byte is refused without reading beyond its end
 * (checked by ASan). */
static void
test_npy_cut (void)
{
  static const gfloat samples[] = { 1, 2, 3, 4 };

  for (guint8 version = 1; version <= 3; version++) {
    g_autoptr (GByteArray) file = new_npy (version,
        HEADER ("<f4", "False", "(2, 2)"), samples, sizeof (samples));

    for (guint length = 0; length < file->len; length++) {
      g_autofree gchar *location = write_file ("cut.npy", file->data, length);
      g_autoptr (GError) error = NULL;

      g_assert_null (try_design ("file", &axes_xy, location, &error));
      g_assert_true (error->domain == ND_ERROR);
      g_assert_nonnull (strstr (error->message, "cut.npy"));
    }
  }
}

static void
test_npy_nan (void)
{
  const gfloat samples[] = { 1, 2, 3, 4, 5, NAN };
  g_autofree gchar *location = write_npy (1, HEADER ("=f4", "False", "(2, 3)"),
      samples, sizeof (samples));

  assert_refused ("file", &axes_xy, location, ND_ERROR_SETTINGS,
      "2:1:0:0|nan|finite");
}

static void
test_raw (void)
{
  static const gsize size[] = { 1, 2, 1, 1 };
  static const gdouble values[] = { 1, -2 };
  static const guint8 samples[] = { 0, 0, 128, 63, 0, 0, 0, 192, 0, 0, 192, 127,
    205, 204, 204, 61 };
  g_autofree gchar *location = write_file ("kernel.raw", samples, 16);
  g_autofree gchar *sized = g_strconcat (location, " size=2:2", NULL);
  g_autofree gchar *small = g_strconcat (location, " size=3:1", NULL);
  g_autofree gchar *large = g_strconcat (location, " size=3:2", NULL);
  g_autofree gchar *wrong = g_strconcat (location, " size=0", NULL);
  g_autofree gchar *huge = g_strconcat (location, " size=9999:9999", NULL);
  g_autofree gchar *endless =
      g_strconcat (location, " size=268435456:268435456", NULL);
  g_autofree gchar *finite = write_file ("finite.raw", samples, 8);
  g_autofree gchar *finite_sized = g_strconcat (finite, " size=1:2", NULL);

  assert_refused ("file", &axes_xy, sized, ND_ERROR_SETTINGS, "0:1:0:0|nan");
  assert_refused ("file", &axes_xy, small, ND_ERROR_READ, "16 bytes|12");
  assert_refused ("file", &axes_xy, large, ND_ERROR_READ, "16 bytes|24");
  assert_refused ("file", &axes_xy, wrong, ND_ERROR_SETTINGS, "size");
  /* The size is compared with that of the file before it is allocated. */
  memory_begin ();
  assert_refused ("file", &axes_xy, huge, ND_ERROR_READ, "16 bytes|9999");
  g_assert_cmpuint (memory_most (), <, 1 << 20);
  assert_refused ("file", &axes_xy, endless, ND_ERROR_READ, "16 bytes");
  assert_refused ("file", &axes_xy, location, ND_ERROR_FORMAT,
      "kernel.raw|.npy|NIfTI|size");
  assert_file (finite_sized, &axes_xy, size, values);
}

#define LARGE (1 << 20)

/* Each allocation of a filter from a large file fails once. Sanitizers have a
 * malloc of their own, which never fails. */
static void
test_no_memory (void)
{
  const gsize n = LARGE / sizeof (gfloat);
  g_autofree gfloat *samples = g_new0 (gfloat, n);
  g_autofree gchar *location = write_file ("large.raw", samples, LARGE);
  g_autofree gchar *text = g_strdup_printf ("file,%s,size=64:64:64", location);
  gboolean failed = TRUE;

  for (guint i = 1; failed; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (NdBank) bank = NULL;

    memory_fail (i, LARGE);
    bank =
        nd_bank_from_text (text, &axes_xyz, NULL, FALSE, FALSE, NULL, &error);
    failed = memory_has_failed ();
    memory_fail (0, 0);
    g_assert_true ((bank != NULL) == (error == NULL));
    if (bank) {
      g_autoptr (NdBank) copy = NULL;

      memory_fail (1, LARGE);
      copy = nd_bank_copy (bank);
      g_assert_true (memory_has_failed () == !copy);
      memory_fail (0, 0);
    }
  }
}

/* Descriptions say what they leave out. */
static void
test_describe_no_memory (void)
{
  const gsize least = 4096;
  g_autoptr (NdBank) bank = nd_bank_from_text ("gaussian,sigma=2,size=21:21:1",
      &axes_xyz, NULL, FALSE, FALSE, NULL, NULL);
  g_autofree gchar *whole = nd_bank_describe (bank, &axes_xyz);
  gboolean failed = TRUE;

  for (guint i = 1; failed; i++) {
    g_autofree gchar *text = NULL, *response = NULL;

    memory_fail (i, least);
    text = nd_bank_describe (bank, &axes_xyz);
    failed = memory_has_failed ();
    memory_fail (i, least);
    response = nd_bank_response (bank, &axes_xyz);
    g_assert_true (memory_has_failed () == !!strstr (response, "nan"));
    memory_fail (0, 0);
    g_assert_true (failed != g_str_equal (text, whole));
    g_assert_nonnull (strstr (text, "symmetry"));
    if (i == 1 && failed)
      g_assert_nonnull (strstr (text, "too little memory"));
  }
}

static void
test_no_file (void)
{
  g_autofree gchar *nowhere =
      g_strconcat ("location=", folder, "/no.npy", NULL);
  g_autofree gchar *directory = g_strconcat ("location=", folder, NULL);
  g_autofree gchar *empty = write_file ("empty.npy", "", 0);
  g_autofree gchar *locked = write_file ("locked.npy", "x", 1);

  assert_refused ("file", &axes_xy, nowhere, ND_ERROR_NOT_FOUND, "no.npy");
  assert_refused ("file", &axes_xy, directory, ND_ERROR_OPEN_READ, folder);
  assert_refused ("file", &axes_xy, "", ND_ERROR_SETTINGS, "location");
  assert_refused ("file", &axes_xy, "location=", ND_ERROR_SETTINGS, "location");
  assert_refused ("file", &axes_xy, empty, ND_ERROR_FORMAT, "empty.npy");
  g_assert_cmpint (g_chmod (strchr (locked, '/'), 0), ==, 0);
  if (g_access (strchr (locked, '/'), R_OK) != 0)
    assert_refused ("file", &axes_xy, locked, ND_ERROR_OPEN_READ, "locked.npy");
  else
    g_test_message ("not tested: this user can read every file");
}

/* A NIfTI-1 file of float32: sizes, voxel offset 352, magic n+1. */
static GByteArray *
new_nifti (const gint16 dim[8], const gfloat *samples, gsize n)
{
  GByteArray *file = g_byte_array_new ();
  const gint32 header_size = 348;
  const gint16 type[] = { 16, 32 };
  const gfloat offset[] = { 352, 1, 0 };

  g_byte_array_set_size (file, 352);
  memset (file->data, 0, 352);
  memcpy (file->data, &header_size, 4);
  memcpy (file->data + 40, dim, 16);
  memcpy (file->data + 70, type, 4);
  for (guint i = 0; i < 8; i++)
    memcpy (file->data + 76 + 4 * i, offset + 1, 4);
  memcpy (file->data + 108, offset, 12);
  memcpy (file->data + 344, "n+1", 4);
  g_byte_array_append (file, (const guint8 *) samples, n * sizeof (gfloat));
  return file;
}

static gchar *
write_gzip (const gchar *name, const GByteArray *file)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  gzFile gz = gzopen (path, "wb");

  g_assert_cmpint (gzwrite (gz, file->data, file->len), ==, file->len);
  g_assert_cmpint (gzclose (gz), ==, Z_OK);
  return g_strconcat ("location=", path, NULL);
}

static void
test_nifti (void)
{
  static const struct
  {
    gint16 dim[8];
    const NdAxes *axes;
    gsize size[ND_AXES];
  } cases[] = {
    { { 2, 6, 4, 1, 1, 1, 1, 1 }, &axes_xy, { 6, 4, 1, 1 } },
    { { 3, 4, 3, 2, 1, 1, 1, 1 }, &axes_xyz, { 4, 3, 2, 1 } },
    { { 3, 4, 3, 2, 1, 1, 1, 1 }, &axes_xyzt, { 4, 3, 2, 1 } },
    { { 4, 2, 3, 1, 4, 1, 1, 1 }, &axes_xyt, { 2, 3, 1, 4 } },
    { { 4, 2, 3, 2, 2, 1, 1, 1 }, &axes_xyzt, { 2, 3, 2, 2 } },
  };
  gfloat samples[24];
  gdouble values[24];

  for (guint i = 0; i < 24; i++)
    values[i] = samples[i] = 0.3f * i - 1;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GByteArray) file = new_nifti (cases[i].dim, samples, 24);
    g_autofree gchar *plain = write_file ("kernel.nii", file->data, file->len);
    g_autofree gchar *packed = write_gzip ("kernel.nii.gz", file);

    assert_file (plain, cases[i].axes, cases[i].size, values);
    assert_file (packed, cases[i].axes, cases[i].size, values);
  }
}

/* Without the readers of recordings, a file of them is refused, until they are
 * found. */
static void
test_search (void)
{
  static const gint16 dim[] = { 2, 2, 1, 1, 1, 1, 1, 1 };
  static const gsize size[] = { 2, 1, 1, 1 };
  static const gfloat samples[] = { 1, -2 };
  static const gdouble values[] = { 1, -2 };
  g_autoptr (GByteArray) file = new_nifti (dim, samples, 2);
  g_autofree gchar *location = write_file ("found.nii", file->data, file->len);

  nd_filter_set_recordings (NULL);
  assert_refused ("file", &axes_xy, location, ND_ERROR_FORMAT,
      "found.nii|.npy|ndfile|size");
  nd_filter_set_search (nd_filter_use_recordings);
  assert_file (location, &axes_xy, size, values);
  nd_filter_set_search (NULL);
}

static void
test_nifti_refused (void)
{
  static const gint16 dim[] = { 4, 2, 3, 2, 2, 1, 1, 1 };
  static const gint16 volume[] = { 3, 2, 3, 4, 1, 1, 1, 1 };
  gfloat samples[24] = { 0 };
  g_autoptr (GByteArray) file = new_nifti (dim, samples, 23);
  g_autoptr (GByteArray) whole = new_nifti (volume, samples, 24);
  g_autofree gchar *cut = write_file ("cut.nii", file->data, file->len);
  g_autofree gchar *wrong = write_file ("z.nii", whole->data, whole->len);
  g_autofree gchar *nan = NULL;

  assert_refused ("file", &axes_xyzt, cut, ND_ERROR_READ, "cut.nii");
  assert_refused ("file", &axes_xyt, wrong, ND_ERROR_SETTINGS,
      "size 4 along z|x, y, t");
  samples[23] = NAN;
  memcpy (whole->data + 352, samples, sizeof (samples));
  nan = write_file ("nan.nii", whole->data, whole->len);
  assert_refused ("file", &axes_xyz, nan, ND_ERROR_SETTINGS, "1:2:3:0|nan");
}

int
main (int argc, char **argv)
{
  gint result;

  g_test_init (&argc, &argv, NULL);
  nd_filter_use_recordings ();
  folder = g_dir_make_tmp ("ndconv-file-XXXXXX", NULL);
  g_assert_nonnull (folder);

  g_test_add_func ("/search", test_search);
  g_test_add_func ("/npy/types", test_npy_types);
  g_test_add_func ("/npy/shapes", test_npy_shapes);
  for (guint i = 0; i < G_N_ELEMENTS (npy_refused); i++) {
    g_autofree gchar *path =
        g_strconcat ("/npy/refused/", npy_refused[i].name, NULL);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_npy_refused);
  }
  g_test_add_func ("/npy/cut", test_npy_cut);
  g_test_add_func ("/npy/nan", test_npy_nan);
  g_test_add_func ("/raw", test_raw);
  g_test_add_func ("/no-memory", test_no_memory);
  g_test_add_func ("/describe-no-memory", test_describe_no_memory);
  g_test_add_func ("/no-file", test_no_file);
  g_test_add_func ("/nifti/sizes", test_nifti);
  g_test_add_func ("/nifti/refused", test_nifti_refused);
  result = g_test_run ();

  {
    g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
    const gchar *name;

    while (dir && (name = g_dir_read_name (dir))) {
      g_autofree gchar *path = g_build_filename (folder, name, NULL);

      g_remove (path);
    }
  }
  g_rmdir (folder);
  g_free (folder);
  return result;
}
