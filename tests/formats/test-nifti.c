/* Reading NIfTI: implausible headers are refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/nifti.h"
#include "formats/output.h"
#include "formats/rate.h"
#include "tests/formats/files.h"

#include <math.h>
#include <nifti/nifti1.h>
#include <nifti/nifti2.h>

/* A sound NIfTI-1 header of 3x2x2x4 samples of int16, at byte 352. */
static struct nifti_1_header
sound_header (void)
{
  struct nifti_1_header header = { .sizeof_hdr = 348,
    .dim = { 4, 3, 2, 2, 4, 1, 1, 1 },
    .datatype = DT_INT16,
    .bitpix = 16,
    .pixdim = { 1, 0.5, 0.75, 2, 0.05 },
    .vox_offset = 352,
    .xyzt_units = NIFTI_UNITS_MM | NIFTI_UNITS_SEC,
    .magic = "n+1" };

  return header;
}

#define SOUND_SAMPLES (3 * 2 * 2 * 4)

/* The header, 4 bytes for extensions, and the samples 0, 1, 2, ... */
static GByteArray *
sound_file (const struct nifti_1_header *header)
{
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) header, sizeof (*header));
  g_byte_array_append (bytes, (const guint8 *) "\0\0\0\0", 4);
  for (gint16 i = 0; i < SOUND_SAMPLES; i++)
    g_byte_array_append (bytes, (const guint8 *) &i, 2);
  return bytes;
}

static void
refuse_header (struct nifti_1_header header, gint code, const gchar *words)
{
  g_autofree gchar *plain = file_path ("bad.nii");
  g_autofree gchar *packed = file_path ("bad.nii.gz");
  g_autoptr (GByteArray) bytes = sound_file (&header);

  put_file (plain, bytes->data, bytes->len);
  assert_refused (plain, code, words);
  put_gzip (packed, bytes->data, bytes->len);
  assert_refused (packed, code, words);
}

/* The valid file differs from each refused file in one number. */
static void
test_sound (void)
{
  struct nifti_1_header header = sound_header ();
  g_autofree gchar *path = file_path ("sound.nii");
  g_autoptr (GByteArray) bytes = sound_file (&header);
  g_autoptr (GError) error = NULL;
  const NdRecording *recording;
  gint16 data[12];

  put_file (path, bytes->data, bytes->len);
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  recording = nd_reader_recording (reader);
  g_assert_cmpint (recording->type, ==, ND_INT16);
  g_assert_cmpuint (recording->shape.components, ==, 1);
  g_assert_cmpuint (recording->shape.size[0], ==, 3);
  g_assert_cmpuint (recording->shape.size[1], ==, 2);
  g_assert_cmpuint (recording->shape.size[2], ==, 2);
  g_assert_cmpuint (recording->volumes, ==, 4);
  g_assert_cmpint (recording->rate_n, ==, 20);
  g_assert_cmpint (recording->rate_d, ==, 1);
  g_assert_cmpuint (nd_recording_volume_size (recording), ==, sizeof (data));
  for (gint t = 0; t < 4; t++) {
    g_assert_true (nd_reader_read (reader, data, &error));
    for (gint i = 0; i < 12; i++)
      g_assert_cmpint (data[i], ==, 12 * t + i);
  }
  g_assert_true (nd_reader_seekable (reader));
  g_assert_true (nd_reader_seek (reader, 2, &error));
  g_assert_true (nd_reader_read (reader, data, &error));
  g_assert_cmpint (data[0], ==, 24);
  g_assert_true (nd_reader_seek (reader, 4, &error));
  g_assert_false (nd_reader_seek (reader, 5, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
}

static void
assert_missing (const gchar *path)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (nd_reader_open (path, NULL, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_NOT_FOUND);
}

static void
test_dimensions (void)
{
  static const struct
  {
    gint16 index, value;
    const gchar *words;
  } cases[] = {
    { 0, 0, "0 dimensions" },
    { 0, 8, "8 dimensions" },
    { 0, -1, "-1 dimensions" },
    { 1, 0, "dim[1] = 0" },
    { 2, -3, "dim[2] = -3" },
    { 3, 0, "dim[3] = 0" },
    { 4, 0, "dim[4] = 0" },
    { 4, -32768, "dim[4] = -32768" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    struct nifti_1_header header = sound_header ();

    header.dim[cases[i].index] = cases[i].value;
    refuse_header (header, ND_ERROR_FORMAT, cases[i].words);
  }
  for (gint axis = 6; axis < 8; axis++) {
    struct nifti_1_header header = sound_header ();
    g_autofree gchar *words = g_strdup_printf ("dim[%d] = 2", axis);

    header.dim[0] = 7;
    header.dim[axis] = 2;
    refuse_header (header, ND_ERROR_FORMAT, words);
  }
}

/* A fifth dimension has components, which lie after time in the file. */
static void
test_vectors (void)
{
  for (guint i = 0; i < 4; i++) {
    const guint volumes = i & 1 ? 2 : 1, components = 4 / volumes;
    const gboolean packed = i & 2;
    struct nifti_1_header header = sound_header ();
    g_autofree gchar *path = file_path (packed ? "v.nii.gz" : "v.nii");
    g_autoptr (GByteArray) bytes = NULL;
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    gint16 data[48];

    header.dim[0] = 5;
    header.dim[4] = volumes;
    header.dim[5] = components;
    bytes = sound_file (&header);
    if (packed)
      put_gzip (path, bytes->data, bytes->len);
    else
      put_file (path, bytes->data, bytes->len);
    reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, volumes);
    g_assert_cmpuint (nd_reader_recording (reader)->shape.components, ==,
        components);
    for (guint t = 0; t < volumes; t++) {
      g_assert_true (nd_reader_read (reader, data, &error));
      for (guint k = 0; k < 12; k++) {
        for (guint c = 0; c < components; c++)
          g_assert_cmpint (data[k * components + c], ==,
              12 * (c * volumes + t) + k);
      }
    }
    if (!packed) {
      g_assert_true (nd_reader_seek (reader, 0, &error));
      g_assert_true (nd_reader_read (reader, data, &error));
      g_assert_cmpint (data[1], ==, 12 * volumes);
    }
    header.datatype = DT_RGB24;
    header.bitpix = 24;
    refuse_header (header, ND_ERROR_FORMAT, "nibabel.load (sys.argv[1])");
  }
}

/* A spectrum is no time. Its values are kept. */
static void
test_spectrum (void)
{
  static const struct
  {
    gint8 unit;
    const gchar *name;
  } units[] = { { NIFTI_UNITS_HZ, "Hz" }, { NIFTI_UNITS_PPM, "ppm" },
    { NIFTI_UNITS_RADS, "rad/s" } };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++) {
    struct nifti_1_header header = sound_header ();
    g_autofree gchar *path = file_path ("spectrum.nii");
    g_autoptr (GByteArray) bytes = NULL;
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    const NdMetadata *metadata;
    guint n;

    header.xyzt_units = NIFTI_UNITS_MM | units[i].unit;
    header.pixdim[4] = 2.5;
    header.toffset = 10;
    bytes = sound_file (&header);
    put_file (path, bytes->data, bytes->len);
    reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    metadata = nd_reader_metadata (reader);
    g_assert_cmpint (nd_reader_recording (reader)->rate_n, ==, 0);
    g_assert_cmpstr (nd_metadata_get (metadata, "IndexUnit"), ==,
        units[i].name);
    g_assert_cmpstr (nd_metadata_of_volume (metadata, 3, &n)->value, ==,
        "17.5");
    g_assert_nonnull (strstr (nd_reader_warnings (reader)[0], path));
  }
}

/* The header in a file of its own, either or both compressed. */
static void
test_pair (void)
{
  for (guint i = 0; i < 4; i++) {
    struct nifti_1_header header = sound_header ();
    g_autofree gchar *path = file_path (i & 1 ? "p.hdr.gz" : "p.hdr");
    g_autofree gchar *data = file_path (i & 2 ? "p.img.gz" : "p.img");
    g_autoptr (GByteArray) bytes = NULL;
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    gint16 samples[12];

    memcpy (header.magic, "ni1", 4);
    header.vox_offset = 0;
    bytes = sound_file (&header);
    if (i & 1)
      put_gzip (path, &header, sizeof (header));
    else
      put_file (path, &header, sizeof (header));
    assert_missing (path);
    if (i & 2)
      put_gzip (data, bytes->data + 352, bytes->len - 352);
    else
      put_file (data, bytes->data + 352, bytes->len - 352);
    reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, 4);
    for (guint t = 0; t < 4; t++) {
      g_assert_true (nd_reader_read (reader, samples, &error));
      g_assert_cmpint (samples[11], ==, 12 * t + 11);
    }
    if (i == 0)
      assert_refused (data, ND_ERROR_FORMAT, "p.hdr\": read that file");
    if (i & 2)
      put_gzip (data, bytes->data, bytes->len);
    else
      put_file (data, bytes->data, bytes->len);
    g_clear_pointer (&reader, nd_reader_close);
    g_assert_null (nd_reader_open (path, NULL, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_READ);
    g_remove (path);
    g_remove (data);
  }
}

/* If both files of samples are there, the header has the one that is compressed
 * as it is: what nibabel writes and reads. */
static void
test_pairs_of_one_name (void)
{
  g_autofree gchar *plain = file_path ("p.img");
  g_autofree gchar *packed = file_path ("p.img.gz");
  const gint16 values[2] = { 3, 5 };

  for (guint i = 0; i < 2; i++) {
    struct nifti_1_header header = sound_header ();
    g_autofree gchar *path = file_path (i ? "p.hdr.gz" : "p.hdr");
    g_autoptr (GByteArray) bytes = NULL;
    g_autoptr (NdReader) reader = NULL;
    gint16 samples[12];

    memcpy (header.magic, "ni1", 4);
    header.vox_offset = 0;
    bytes = sound_file (&header);
    memcpy (bytes->data + 352, &values[0], 2);
    put_file (plain, bytes->data + 352, bytes->len - 352);
    memcpy (bytes->data + 352, &values[1], 2);
    put_gzip (packed, bytes->data + 352, bytes->len - 352);
    if (i)
      put_gzip (path, &header, sizeof (header));
    else
      put_file (path, &header, sizeof (header));
    reader = nd_reader_open (path, NULL, NULL);
    g_assert_nonnull (reader);
    g_assert_true (nd_reader_read (reader, samples, NULL));
    g_assert_cmpint (samples[0], ==, values[i]);
    g_remove (path);
    g_remove (plain);
    g_remove (packed);
  }
}

static void
test_types (void)
{
  static const struct
  {
    gint16 code, bits;
    const gchar *words;
  } cases[] = {
    { DT_BINARY, 1, "binary" },
    { DT_FLOAT128, 128, "float128" },
    { DT_COMPLEX256, 256, "complex256" },
    { 0, 0, "unknown" },
    { 12345, 16, "unknown" },
    { DT_INT16, 8, "8 bits" },
    { DT_UINT8, 16, "16 bits" },
    { DT_INT16, 0, "0 bits" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    struct nifti_1_header header = sound_header ();

    header.datatype = cases[i].code;
    header.bitpix = cases[i].bits;
    refuse_header (header, ND_ERROR_FORMAT, cases[i].words);
  }
}

static void
test_offset (void)
{
  static const gfloat offsets[] = { 0, 348, 351, -352, 352.5, INFINITY, NAN };
  struct nifti_1_header header = sound_header ();

  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++) {
    header.vox_offset = offsets[i];
    refuse_header (header, ND_ERROR_FORMAT, "puts the samples at byte");
  }
  header.vox_offset = 1e9;
  refuse_header (header, ND_ERROR_READ, "truncated");
}

/* Analyze as nibabel reads it: the values of Spm2AnalyzeImage.affine and
 * get_slope_inter(). */
static void
test_analyze (void)
{
  static const struct
  {
    gint16 voxel[3];     /* of SPM */
    gfloat slope, shown; /* cal_max; glmax is 100 */
    gdouble origin[3], second;
  } rows[] = {
    { { 0, 0, 0 }, 0, 0, { 3, -4, -3 }, 1 },
    { { 3, 4, 5 }, 2, 0, { 6, -6, -4 }, 2 },
    { { 3, 40, 5 }, 0, 50, { 3, -4, -3 }, 0.5 }, /* beyond the volume */
    { { -1, 4, 5 }, NAN, 0, { -6, -6, -4 }, 1 },
  };
  g_autofree gchar *path = file_path ("a.hdr");
  g_autofree gchar *samples = file_path ("a.img");
  g_autofree gchar *matrix = file_path ("a.mat");
  gint16 data[3 * 5 * 7];

  for (guint i = 0; i < G_N_ELEMENTS (data); i++)
    data[i] = i;
  put_file (samples, data, sizeof (data));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct nifti_1_header header = { .sizeof_hdr = 348,
      .regular = 'r',
      .dim = { 4, 3, 5, 7, 1 },
      .datatype = DT_INT16,
      .bitpix = 16,
      .pixdim = { 0, 3, 2, 1 },
      .scl_slope = rows[i].slope,
      .cal_max = rows[i].shown,
      .glmax = 100 };
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    const NdGeometry *geometry;
    g_autofree guint8 *volume = NULL;

    memcpy ((guint8 *) &header + 253, rows[i].voxel, sizeof (rows[i].voxel));
    put_file (path, &header, sizeof (header));
    reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    geometry = &nd_reader_recording (reader)->geometry;
    g_assert_cmpfloat (geometry->directions[0], ==, -1);
    for (guint a = 0; a < 3; a++)
      g_assert_cmpfloat (geometry->origin[a], ==, rows[i].origin[a]);
    volume = g_malloc (nd_recording_volume_size (nd_reader_recording (reader)));
    g_assert_true (nd_reader_read (reader, volume, NULL));
    if (rows[i].second == 1)
      g_assert_cmpint (((gint16 *) volume)[1], ==, 1);
    else
      g_assert_cmpfloat (((gfloat *) volume)[1], ==, rows[i].second);
    g_assert_null (*nd_reader_warnings (reader));
  }
  put_file (matrix, "", 0);
  {
    g_autoptr (NdReader) reader = nd_reader_open (path, NULL, NULL);

    g_assert_nonnull (strstr (*nd_reader_warnings (reader), "a.mat"));
  }
  assert_refused (samples, ND_ERROR_FORMAT, "read that file");
  g_remove (path);
  g_remove (samples);
  g_remove (matrix);
}

/* Without codes, as nibabel: Nifti1Image.affine. */
static void
test_no_codes (void)
{
  struct nifti_1_header header = sound_header ();
  g_autofree gchar *path = file_path ("codes.nii");
  g_autoptr (GByteArray) bytes = sound_file (&header);
  g_autoptr (NdReader) reader = NULL;
  const NdGeometry *geometry;

  put_file (path, bytes->data, bytes->len);
  reader = nd_reader_open (path, NULL, NULL);
  geometry = &nd_reader_recording (reader)->geometry;
  g_assert_cmpfloat (geometry->directions[0], ==, -1);
  g_assert_cmpfloat (geometry->directions[4], ==, 1);
  g_assert_cmpfloat (geometry->origin[0], ==, 0.5);
  g_assert_cmpfloat (geometry->origin[1], ==, -0.375);
  g_assert_cmpfloat (geometry->origin[2], ==, -1);
}

static void
test_magic (void)
{
  struct nifti_1_header header = sound_header ();
  g_autofree gchar *path = file_path ("magic.nii");

  memcpy (header.magic, "ni1", 4);
  refuse_header (header, ND_ERROR_FORMAT, "pair");
  memcpy (header.magic, "n+7", 4);
  refuse_header (header, ND_ERROR_FORMAT, "magic");
  /* Analyze is known by its name. */
  memset (header.magic, 0, 4);
  header.regular = 'r';
  refuse_header (header, ND_ERROR_FORMAT, "must end with .hdr");

  /* Unknown files are raw files of unknown size. */
  header.regular = 0;
  header.dim[0] = 0;
  put_file (path, &header, sizeof (header));
  assert_refused (path, ND_ERROR_SETTINGS, "no header");
  put_file (path, "", 0);
  assert_refused (path, ND_ERROR_SETTINGS, "no header");
  header = sound_header ();
  put_file (path, &header, 200);
  assert_refused (path, ND_ERROR_SETTINGS, "no header");
  put_gzip (path, "some text", 9);
  assert_refused (path, ND_ERROR_FORMAT, "compressed");
}

static nifti_2_header
sound_header_2 (void)
{
  nifti_2_header header = { .sizeof_hdr = 540,
    .dim = { 4, 3, 2, 2, 4, 1, 1, 1 },
    .datatype = DT_INT16,
    .bitpix = 16,
    .pixdim = { 1, 0.5, 0.75, 2, 50 },
    .vox_offset = 544,
    .xyzt_units = NIFTI_UNITS_MM | NIFTI_UNITS_MSEC };

  memcpy (header.magic, "n+2\0\r\n\032\n", 8);
  return header;
}

/* Headers that claim 2^63 bytes and more are refused by arithmetic, without
 * allocation. */
static void
test_claims (void)
{
  static const struct
  {
    gint64 sizes[4];
    gint code;
    const gchar *words;
  } cases[] = {
    { { G_MAXINT64, 1, 1, 1 }, ND_ERROR_FORMAT, "no file holds" },
    { { (gint64) 1 << 62, 1, 1, 1 }, ND_ERROR_FORMAT, "no file holds" },
    { { (gint64) 1 << 32, (gint64) 1 << 32, 1, 1 }, ND_ERROR_FORMAT,
        "no file holds" },
    { { (gint64) 1 << 21, (gint64) 1 << 21, (gint64) 1 << 22, 1 },
        ND_ERROR_FORMAT, "no file holds" },
    { { 3, 2, 2, G_MAXINT64 }, ND_ERROR_FORMAT, "no file holds" },
    { { 3, 2, 2, (gint64) 1 << 58 }, ND_ERROR_READ, "truncated" },
    { { (gint64) 1 << 40, 1, 1, 1 }, ND_ERROR_READ, "truncated" },
  };
  g_autofree gchar *plain = file_path ("claim.nii");
  g_autofree gchar *packed = file_path ("claim.nii.gz");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    nifti_2_header header = sound_header_2 ();

    memcpy (&header.dim[1], cases[i].sizes, sizeof (cases[i].sizes));
    put_file (plain, &header, sizeof (header));
    assert_refused (plain, cases[i].code, cases[i].words);
    put_gzip (packed, &header, sizeof (header));
    assert_refused (packed, cases[i].code, cases[i].words);
  }
}

static void
test_nifti_2 (void)
{
  nifti_2_header header = sound_header_2 ();
  g_autofree gchar *path = file_path ("two.nii");
  g_autofree guint8 *bytes = g_malloc0 (544 + 2 * SOUND_SAMPLES);
  g_autoptr (GError) error = NULL;
  const NdRecording *recording;
  gint16 data[12];

  memcpy (bytes, &header, sizeof (header));
  for (gint16 i = 0; i < SOUND_SAMPLES; i++)
    memcpy (bytes + 544 + 2 * i, &i, 2);
  put_file (path, bytes, 544 + 2 * SOUND_SAMPLES);
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  recording = nd_reader_recording (reader);
  g_assert_cmpuint (recording->volumes, ==, 4);
  g_assert_cmpint (recording->rate_n, ==, 20);
  g_assert_true (nd_reader_read (reader, data, &error));
  g_assert_cmpint (data[11], ==, 11);

  header.magic[4] = '\n';
  put_file (path, &header, sizeof (header));
  assert_refused (path, ND_ERROR_FORMAT, "magic");
  memcpy (header.magic, "ni2\0\r\n\032\n", 8);
  put_file (path, &header, sizeof (header));
  assert_refused (path, ND_ERROR_FORMAT, "pair");
}

/* Swaps the fields set by sound_header() by hand, because the table is under
 * test. */
static void
test_byte_order (void)
{
  struct nifti_1_header header = sound_header ();
  g_autofree gchar *path = file_path ("swapped.nii.gz");
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) bytes = NULL;
  const NdRecording *recording;
  gint16 data[12];
  gfloat *floats[] = { &header.vox_offset, &header.pixdim[0], &header.pixdim[1],
    &header.pixdim[2], &header.pixdim[3], &header.pixdim[4], &header.srow_x[0],
    &header.srow_y[1], &header.srow_z[2], &header.srow_z[3] };

  header.sform_code = 1;
  header.srow_x[0] = header.pixdim[1];
  header.srow_y[1] = -header.pixdim[2];
  header.srow_z[2] = header.pixdim[3];
  header.srow_z[3] = -17.5;
  for (guint i = 0; i < G_N_ELEMENTS (floats); i++) {
    guint32 number;

    memcpy (&number, floats[i], 4);
    number = GUINT32_SWAP_LE_BE (number);
    memcpy (floats[i], &number, 4);
  }
  header.sizeof_hdr = GUINT32_SWAP_LE_BE (header.sizeof_hdr);
  for (guint i = 0; i < 8; i++)
    header.dim[i] = GUINT16_SWAP_LE_BE (header.dim[i]);
  header.datatype = GUINT16_SWAP_LE_BE (header.datatype);
  header.bitpix = GUINT16_SWAP_LE_BE (header.bitpix);
  header.sform_code = GUINT16_SWAP_LE_BE (header.sform_code);
  bytes = sound_file (&header);
  for (guint i = 352; i < bytes->len; i += 2) {
    guint8 first = bytes->data[i];

    bytes->data[i] = bytes->data[i + 1];
    bytes->data[i + 1] = first;
  }
  put_gzip (path, bytes->data, bytes->len);
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  recording = nd_reader_recording (reader);
  g_assert_cmpint (recording->type, ==, ND_INT16);
  g_assert_cmpuint (recording->volumes, ==, 4);
  g_assert_cmpint (recording->rate_n, ==, 20);
  g_assert_cmpfloat (recording->geometry.spacing[1], ==, 0.75);
  g_assert_cmpfloat (recording->geometry.directions[4], ==, -1);
  g_assert_cmpfloat (recording->geometry.origin[2], ==, -17.5);
  for (gint t = 0; t < 4; t++) {
    g_assert_true (nd_reader_read (reader, data, &error));
    g_assert_cmpint (data[1], ==, 12 * t + 1);
  }
  g_assert_false (nd_reader_seekable (reader));
  g_assert_false (nd_reader_seek (reader, 0, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
}

/* slope * sample + intercept as float32; 0 and NaN mean no scaling. */
static void
test_scaling (void)
{
  static const struct
  {
    gfloat slope, intercept;
    gboolean scaled;
  } cases[] = { { 0, 5, FALSE }, { NAN, NAN, FALSE }, { 1, 0, FALSE },
    { 1, NAN, FALSE }, { 0.1f, -3, TRUE }, { 1, 7, TRUE }, { -2, NAN, TRUE },
    { INFINITY, 0, FALSE } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    struct nifti_1_header header = sound_header ();
    g_autofree gchar *path = file_path ("scaled.nii");
    g_autoptr (GError) error = NULL;
    g_autoptr (GByteArray) bytes = NULL;
    gfloat data[12];

    header.scl_slope = cases[c].slope;
    header.scl_inter = cases[c].intercept;
    bytes = sound_file (&header);
    put_file (path, bytes->data, bytes->len);
    g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpint (nd_reader_recording (reader)->type, ==,
        cases[c].scaled ? ND_FLOAT32 : ND_INT16);
    if (!cases[c].scaled)
      continue;
    g_assert_true (nd_reader_seek (reader, 1, &error));
    g_assert_true (nd_reader_read (reader, data, &error));
    for (gint i = 0; i < 12; i++)
      g_assert_cmpfloat (data[i], ==,
          (gfloat) ((gdouble) cases[c].slope * (12 + i)
              + (isnan (cases[c].intercept) ? 0 : cases[c].intercept)));
  }
}

/* Uncompressed files are refused when opened, compressed files at the volume in
 * which the data end. */
static void
test_truncated (void)
{
  struct nifti_1_header header = sound_header ();
  g_autofree gchar *plain = file_path ("short.nii");
  g_autofree gchar *packed = file_path ("short.nii.gz");
  g_autofree gchar *whole = NULL;
  g_autoptr (GByteArray) bytes = sound_file (&header);
  g_autoptr (GError) error = NULL;
  gint16 data[12];
  gsize n;

  put_file (plain, bytes->data, bytes->len - 1);
  assert_refused (plain, ND_ERROR_READ, "truncated");

  /* A valid gzip stream with too few samples. */
  put_gzip (packed, bytes->data, 352 + 2 * 12 * 2 + 5);
  g_autoptr (NdReader) reader = nd_reader_open (packed, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (nd_reader_read (reader, data, &error));
  g_assert_true (nd_reader_read (reader, data, &error));
  g_assert_false (nd_reader_read (reader, data, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
  g_assert_nonnull (strstr (error->message, "volume 2 (of 0 to 3)"));
  g_assert_nonnull (strstr (error->message, packed));
  g_clear_error (&error);
  g_clear_pointer (&reader, nd_reader_close);

  /* A truncated gzip stream of any length gives an error and no crash. */
  put_gzip (packed, bytes->data, bytes->len);
  g_assert_true (g_file_get_contents (packed, &whole, &n, NULL));
  for (gsize length = 0; length < n; length++) {
    put_file (packed, whole, length);
    reader = nd_reader_open (packed, NULL, &error);
    for (guint i = 0; reader && !error && i < 4; i++)
      nd_reader_read (reader, data, &error);
    g_assert_nonnull (error);
    g_clear_error (&error);
    g_clear_pointer (&reader, nd_reader_close);
  }
}

/* A flipped bit gives an error, unless it is one of the few bits without
 * meaning. */
static void
test_damaged (void)
{
  struct nifti_1_header header = sound_header ();
  g_autofree gchar *path = file_path ("damaged.nii.gz");
  g_autofree gchar *whole = NULL;
  g_autoptr (GByteArray) bytes = sound_file (&header);
  gint16 data[12];
  gsize n, refused = 0;

  put_gzip (path, bytes->data, bytes->len);
  g_assert_true (g_file_get_contents (path, &whole, &n, NULL));
  for (gsize at = 10; at < n; at++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    guint right = 0;

    whole[at] ^= 4;
    put_file (path, whole, n);
    whole[at] ^= 4;
    reader = nd_reader_open (path, NULL, &error);
    for (guint i = 0; reader && !error && i < 4; i++) {
      if (nd_reader_read (reader, data, &error))
        right +=
            memcmp (data, bytes->data + 352 + i * sizeof (data), sizeof (data))
            == 0;
    }
    if (error) {
      g_assert_nonnull (strstr (error->message, path));
      refused++;
    } else {
      g_assert_cmpuint (right, ==, 4);
    }
  }
  g_assert_cmpuint (refused, >=, n - 10 - 1);
}

/* Headers of random bytes after a valid magic are read or refused without a
 * crash (run under the sanitizers). */
static void
test_random_headers (void)
{
  g_autofree gchar *path = file_path ("random.nii");

  for (guint i = 0; i < 2000; i++) {
    struct nifti_1_header header = sound_header ();
    g_autoptr (GByteArray) bytes = NULL;
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    guint flips = g_test_rand_int_range (1, 12);

    for (guint k = 0; k < flips; k++)
      ((guint8 *) &header)[g_test_rand_int_range (40, 344)] =
          g_test_rand_int_range (0, 256);
    bytes = sound_file (&header);
    put_file (path, bytes->data, bytes->len);
    reader = nd_reader_open (path, NULL, &error);
    g_assert_true ((reader != NULL) == (error == NULL));
    if (reader) {
      const NdRecording *recording = nd_reader_recording (reader);
      g_autofree guint8 *data = g_malloc (nd_recording_volume_size (recording));

      /* Scaling to float32 at most doubles the size. */
      g_assert_cmpuint (nd_recording_volume_size (recording), <=,
          4 * bytes->len);
      for (guint64 t = 0; t < recording->volumes; t++)
        g_assert_true (nd_reader_read (reader, data, &error));
    }
  }
}

/* Units of time, and rates that give the same float32 seconds again. */
static void
test_rate (void)
{
  static const struct
  {
    gdouble seconds;
    gint n, d;
  } cases[] = { { 1, 1, 1 }, { 0.05f, 20, 1 }, { 1.13f, 100, 113 }, { 2, 1, 2 },
    { 0.5, 2, 1 }, { 1 / 3.0, 3, 1 }, { 0.04f, 25, 1 },
    { 1001 / 30000.0, 30000, 1001 }, { 0, 0, 1 }, { -1, 0, 1 }, { NAN, 0, 1 },
    { INFINITY, 0, 1 }, { 1e-12, 0, 1 }, { 1e-50, 0, 1 }, { 1e12, 0, 1 } };
  gint n, d;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_assert_true (nd_rate_from_seconds (cases[i].seconds, &n, &d)
        == (cases[i].n > 0));
    g_assert_cmpint (n, ==, cases[i].n);
    g_assert_cmpint (d, ==, cases[i].d);
  }
  for (guint i = 0; i < 100000; i++) {
    gfloat seconds = exp (g_test_rand_double_range (log (1e-4), log (1e4)));

    g_assert_true (nd_rate_from_seconds (seconds, &n, &d));
    g_assert_cmpfloat ((gfloat) ((gdouble) d / n), ==, seconds);
  }
}

static void
test_units (void)
{
  static const struct
  {
    gchar units;
    gfloat step;
    gint n, d;
    gdouble spacing;
  } cases[] = {
    { NIFTI_UNITS_MM | NIFTI_UNITS_SEC, 2, 1, 2, 0.5 },
    { NIFTI_UNITS_METER | NIFTI_UNITS_MSEC, 40, 25, 1, 500 },
    { NIFTI_UNITS_MICRON | NIFTI_UNITS_USEC, 1000, 1000, 1, 0.0005 },
    { 0, 2, 1, 2, 0.5 },
    { NIFTI_UNITS_MM | NIFTI_UNITS_HZ, 2, 0, 1, 0.5 },
    { NIFTI_UNITS_MM | NIFTI_UNITS_SEC, 0, 0, 1, 0.5 },
    { NIFTI_UNITS_MM | NIFTI_UNITS_SEC, NAN, 0, 1, 0.5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    struct nifti_1_header header = sound_header ();
    g_autoptr (GError) error = NULL;
    g_auto (NdHeader) nifti = { 0 };

    header.xyzt_units = cases[i].units;
    header.pixdim[4] = cases[i].step;
    g_assert_true (nd_nifti_parse (&nifti, (guint8 *) &header, sizeof (header),
        "x", &error));
    g_assert_cmpint (nifti.recording.rate_n, ==, cases[i].n);
    g_assert_cmpint (nifti.recording.rate_d, ==, cases[i].d);
    g_assert_cmpfloat_with_epsilon (nifti.recording.geometry.spacing[0],
        cases[i].spacing, 1e-12);
  }
}

/* Extensions lie between header and samples, and a few bytes may follow the
 * samples, but not a volume. */
static void
test_extension_and_tail (void)
{
  struct nifti_1_header header = sound_header ();
  g_autofree gchar *path = file_path ("extended.nii");
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (GError) error = NULL;
  guint8 extension[32] = { 32 };
  gint16 data[12];

  header.vox_offset = 352 + sizeof (extension);
  bytes = sound_file (&header);
  bytes->data[348] = 1;
  g_byte_array_set_size (bytes, bytes->len + sizeof (extension) + 7);
  memmove (bytes->data + 352 + sizeof (extension), bytes->data + 352,
      2 * SOUND_SAMPLES);
  memcpy (bytes->data + 352, extension, sizeof (extension));
  memset (bytes->data + bytes->len - 7, 99, 7);
  put_file (path, bytes->data, bytes->len);
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  for (gint t = 0; t < 4; t++) {
    g_assert_true (nd_reader_read (reader, data, &error));
    g_assert_cmpint (data[5], ==, 12 * t + 5);
  }
  g_assert_nonnull (strstr (nd_reader_warnings (reader)[0],
      "7 bytes after the samples"));
  g_byte_array_set_size (bytes, bytes->len - 7 + 24);
  put_file (path, bytes->data, bytes->len);
  assert_refused (path, ND_ERROR_READ, "more bytes of samples");
  put_gzip (path, bytes->data, bytes->len);
  assert_refused (path, ND_ERROR_READ, "more bytes of samples");
}

/* A gzip member of blocks that are not compressed. */
static void
add_member (GByteArray *to, const guint8 *bytes, gsize n)
{
  static const guint8 head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
  const guint32 tail[] = { GUINT32_TO_LE (crc32_z (0, bytes, n)),
    GUINT32_TO_LE ((guint32) n) };

  g_byte_array_append (to, head, sizeof (head));
  while (n > 0) {
    const gsize size = MIN (n, 65535);
    const guint8 block[] = { size == n, size, size >> 8, ~size,
      (guint16) ~size >> 8 };

    g_byte_array_append (to, block, sizeof (block));
    g_byte_array_append (to, bytes, size);
    bytes += size;
    n -= size;
  }
  g_byte_array_append (to, (const guint8 *) tail, sizeof (tail));
}

/* The first gzip member ends one byte before the end of the read buffer. */
static void
test_members (void)
{
  struct nifti_1_header header = sound_header ();
  const gsize n = 512 * 513, first = 256 * 1024 - 1 - 18 - 4 * 5;
  g_autofree gchar *path = file_path ("members.nii.gz");
  g_autofree guint8 *bytes = g_malloc0 (352 + n);
  g_autofree guint8 *read = g_malloc (n);
  g_autoptr (GByteArray) packed = g_byte_array_new ();
  g_autoptr (GError) error = NULL;

  header.dim[1] = 512;
  header.dim[2] = 513;
  header.dim[3] = header.dim[4] = 1;
  header.datatype = DT_UINT8;
  header.bitpix = 8;
  memcpy (bytes, &header, sizeof (header));
  for (gsize i = 0; i < n; i++)
    bytes[352 + i] = g_test_rand_int ();
  add_member (packed, bytes, first);
  g_assert_cmpuint (packed->len, ==, 256 * 1024 - 1);
  add_member (packed, bytes + first, 352 + n - first);
  put_file (path, packed->data, packed->len);
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (nd_reader_read (reader, read, &error));
  g_assert_cmpmem (read, n, bytes + 352, n);
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/nifti/sound", test_sound);
  g_test_add_func ("/nifti/vectors", test_vectors);
  g_test_add_func ("/nifti/spectrum", test_spectrum);
  g_test_add_func ("/nifti/pair", test_pair);
  g_test_add_func ("/nifti/pairs-of-one-name", test_pairs_of_one_name);
  g_test_add_func ("/nifti/dimensions", test_dimensions);
  g_test_add_func ("/nifti/types", test_types);
  g_test_add_func ("/nifti/offset", test_offset);
  g_test_add_func ("/nifti/analyze", test_analyze);
  g_test_add_func ("/nifti/no-codes", test_no_codes);
  g_test_add_func ("/nifti/magic", test_magic);
  g_test_add_func ("/nifti/claims", test_claims);
  g_test_add_func ("/nifti/nifti-2", test_nifti_2);
  g_test_add_func ("/nifti/byte-order", test_byte_order);
  g_test_add_func ("/nifti/scaling", test_scaling);
  g_test_add_func ("/nifti/truncated", test_truncated);
  g_test_add_func ("/nifti/damaged", test_damaged);
  g_test_add_func ("/nifti/random-headers", test_random_headers);
  g_test_add_func ("/nifti/rate", test_rate);
  g_test_add_func ("/nifti/units", test_units);
  g_test_add_func ("/nifti/extension-and-tail", test_extension_and_tail);
  g_test_add_func ("/nifti/members", test_members);
  status = g_test_run ();
  remove_folder ();
  return status;
}
