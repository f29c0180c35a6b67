/* Reading MetaImage: sequences, files, types, and refused files.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/convert.h"
#include "tests/formats/files.h"

#define HEAD                                         \
  "ObjectType = Image\nNDims = 3\nDimSize = 3 4 3\n" \
  "ElementType = MET_UCHAR\n"
#define LOCAL "ElementDataFile = LOCAL\n"
#define SAMPLES 36

/* A third dimension is time if volumes have fields of their own. */
static void
test_kinds (void)
{
  static const struct
  {
    const gchar *more;
    gsize z, volumes;
  } cases[] = {
    { "", 3, 1 },
    { "Kinds = domain domain domain\n", 3, 1 },
    { "Kinds = domain domain domain\nKinds = domain domain domain\n", 3, 1 },
    { "Kinds = domain domain list\n", 3, 1 },
    { "Kinds = domain domain list\nSeq_Frame0000_ImageStatus = OK\n", 1, 3 },
    { "Seq_Frame0000_Timestamp = 1\nSeq_Frame0001_Timestamp = 2\n"
      "Seq_Frame0002_Timestamp = 3\n",
        1, 3 },
    { "Kinds = domain domain domain\nSeq_Frame0000_Timestamp = 1\n", 3, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text = g_strconcat (HEAD, cases[i].more, LOCAL, NULL);
    g_autoptr (NdReader) reader = open_text (text, SAMPLES);

    g_assert_cmpuint (nd_reader_recording (reader)->shape.size[2], ==,
        cases[i].z);
    g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==,
        cases[i].volumes);
  }
}

static void
test_sequence (void)
{
  g_autoptr (NdReader) reader = open_text (HEAD
      "Kinds = domain domain list\n"
      "UltrasoundImageOrientation = MF\n"
      "Seq_Frame0001_ProbeToTrackerTransform = 1 0 0 5 0 1 0 6\n"
      "Seq_Frame0000_Timestamp = 232.542071\n"
      "Seq_Frame0002_Timestamp = 232.714071\n"
      "Seq_Frame0001_Timestamp = 232.628014\n"
      "Seq_Frame0007_Status = gone\n" LOCAL,
      SAMPLES);
  const NdMetadata *metadata = nd_reader_metadata (reader);
  guint n;

  g_assert_cmpint (metadata->origin, ==, G_GINT64_CONSTANT (232542071000));
  g_assert_cmpint (nd_reader_time (reader, 0), ==, 0);
  g_assert_cmpint (nd_reader_time (reader, 1), ==, 85943000);
  g_assert_cmpint (nd_reader_time (reader, 2), ==, 172000000);
  g_assert_cmpint (nd_reader_recording (reader)->rate_n, ==, 0);
  g_assert_cmpstr (nd_metadata_get (metadata, "UltrasoundImageOrientation"), ==,
      "MF");
  g_assert_nonnull (nd_metadata_of_volume (metadata, 1, &n));
  g_assert_cmpuint (n, ==, 1);
  g_assert_null (nd_metadata_of_volume (metadata, 7, &n));
  g_assert_nonnull (strstr (nd_reader_warnings (reader)[0], "does not have"));
  g_clear_pointer (&reader, nd_reader_close);
}

/* Volumes without a time lie between the others; all is said. */
static void
test_missing_times (void)
{
  static const struct
  {
    const gchar *times;
    gint64 origin, time[3]; /* milliseconds; -1: not used */
    const gchar *warning;
  } cases[] = {
    { "0000_Timestamp = 1\nSeq_Frame0002_Timestamp = 1.5\n", 1000,
        { 0, 250, 500 }, "Volume 1 has no time" },
    { "0000_Timestamp = 1\nSeq_Frame0001_Timestamp = nan\n"
      "Seq_Frame0002_Timestamp = 1.5\n",
        1000, { 0, 250, 500 }, "it is interpolated" },
    { "0000_Timestamp = 1\nSeq_Frame0001_Timestamp = 2\n"
      "Seq_Frame0002_Timestamp = late\n",
        1000, { 0, 1000, 2000 }, "Volume 2 has no time" },
    { "0002_Timestamp = 5\nSeq_Frame0001_Timestamp = 3\n"
      "Seq_Frame0007_Timestamp = 9\n",
        1000, { 0, 2000, 4000 }, "Volume 0 has no time" },
    { "0002_Timestamp = 5\n", 0, { -1 },
        "Volume 0 and 1 others have no time (Seq_FrameNNNN_Timestamp): times "
        "of the file are not used" },
    { "0000_Timestamp = -2000000000\nSeq_Frame0001_Timestamp = 2000000000\n",
        -2000000000000, { 0, 4000000000000, -2 }, "Volume 2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text =
        g_strconcat (HEAD "Kinds = domain domain list\nSeq_Frame",
            cases[i].times, LOCAL, NULL);
    g_autoptr (NdReader) reader = open_text (text, SAMPLES);
    const NdMetadata *metadata = nd_reader_metadata (reader);

    g_assert_nonnull (strstr (nd_reader_warnings (reader)[0],
        cases[i].warning));
    g_assert_cmpuint (metadata->times->len, ==, cases[i].time[0] < 0 ? 0 : 3);
    g_assert_cmpint (metadata->origin, ==, cases[i].origin * 1000000);
    for (guint t = 0; t < metadata->times->len && cases[i].time[t] >= 0; t++)
      g_assert_cmpint (nd_reader_time (reader, t), ==,
          cases[i].time[t] * 1000000);
  }
}

/* All of these are read by ITK. */
static void
test_spellings (void)
{
  static const gchar *const heads[] = {
    "CompressedData = False\nObjectType = Image\nNDims = 3\nDimSize = 3 4 3\n"
    "ElementType = MET_UCHAR\nElementDataFile = LOCAL\n",
    "ObjectType\t=\tImage\nNDims\t=\t3\nDimSize\t=\t3\t4 3\n"
    "ElementType\t=\tMET_UCHAR\nElementDataFile\t=\tLOCAL\n",
    "ObjectType: Image\nNDims:3\nDimSize : 3 4 3\n"
    "ElementType: MET_UCHAR\nElementDataFile: LOCAL\n",
    "\n\r\nSome.key = a = b: c\r\nElementType = MET_UCHAR\r\n"
    "DimSize = 3 4 3\r\nNDims=3\r\nElementDataFile = LOCAL \r\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++) {
    g_autoptr (NdReader) reader = open_text (heads[i], SAMPLES);
    const gchar *value =
        nd_metadata_get (nd_reader_metadata (reader), "Some.key");

    g_assert_cmpuint (nd_reader_recording (reader)->shape.size[2], ==, 3);
    g_assert_cmpstr (value, ==, i == 3 ? "a = b: c" : NULL);
    assert_counts (reader, 0, SAMPLES);
  }
  refuse_text ("Some.key = Image\nDimSizes = 3\n", SAMPLES, ND_ERROR_SETTINGS,
      "no header");
}

/* MetaIO allows any number of dimensions of size 1. */
static void
test_dimensions (void)
{
  g_autoptr (NdReader) reader =
      open_text ("NDims = 6\nDimSize = 3 2 2 3 1 1\n"
                 "Kinds =  domain domain domain  list\n"
                 "ElementType = MET_UCHAR\n" LOCAL,
          SAMPLES);

  g_assert_cmpuint (nd_reader_recording (reader)->shape.size[2], ==, 2);
  g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, 3);
  assert_counts (reader, 0, SAMPLES);
}

/* SUPRA writes 3 directions for 4 dimensions; ITK writes 4. */
static void
test_geometry (void)
{
  static const gchar *const matrices[] = {
    "TransformMatrix = 0 1 0 -1 0 0 0 0 1\nOffset = 1 2 3\n",
    "TransformMatrix = 0 1 0 0 -1 0 0 0 0 0 1 0 0 0 0 1\n"
    "Offset = 1 2 3 0.5\n",
    "Orientation = 0 1 0 -1 0 0 0 0 1\nPosition = 1 2 3\n"
  };

  for (guint i = 0; i < G_N_ELEMENTS (matrices); i++) {
    g_autofree gchar *text =
        g_strconcat ("ObjectType = Image\nNDims = 4\n"
                     "DimSize = 2 3 2 3\nElementSpacing = 0.5 0.75 2 0.04\n",
            matrices[i], "ElementType = MET_UCHAR\n" LOCAL, NULL);
    g_autoptr (NdReader) reader = open_text (text, SAMPLES);
    const NdRecording *recording = nd_reader_recording (reader);
    const NdGeometry *geometry = &recording->geometry;

    g_assert_cmpuint (recording->volumes, ==, 3);
    g_assert_cmpint (recording->rate_n, ==, 25);
    g_assert_cmpfloat (geometry->spacing[1], ==, 0.75);
    g_assert_cmpfloat (geometry->origin[0], ==, -1);
    g_assert_cmpfloat (geometry->origin[1], ==, -2);
    g_assert_cmpfloat (geometry->origin[2], ==, 3);
    /* Axis x points to posterior 1, which is anterior -1. */
    g_assert_cmpfloat (geometry->directions[3], ==, -1);
    g_assert_cmpfloat (geometry->directions[1], ==, 1);
    g_assert_cmpint (nd_reader_metadata (reader)->origin, ==,
        i == 1 ? 500000000 : 0);
  }
}

/* Every type, in both byte orders. */
static void
test_types (void)
{
  static const struct
  {
    const gchar *name;
    gsize size;
    NdSampleType type;
    gboolean warned;
  } cases[] = {
    { "MET_CHAR", 1, ND_INT8, FALSE },
    { "MET_UCHAR", 1, ND_UINT8, FALSE },
    { "MET_SHORT", 2, ND_INT16, FALSE },
    { "MET_USHORT", 2, ND_UINT16, FALSE },
    { "MET_INT", 4, ND_INT32, FALSE },
    { "MET_UINT", 4, ND_UINT32, FALSE },
    { "MET_LONG", 4, ND_INT32, FALSE },
    { "MET_ULONG", 4, ND_UINT32, FALSE },
    { "MET_LONG_LONG", 8, ND_FLOAT32, TRUE },
    { "MET_ULONG_LONG", 8, ND_FLOAT32, TRUE },
    { "MET_FLOAT", 4, ND_FLOAT32, FALSE },
    { "MET_DOUBLE", 8, ND_FLOAT64, FALSE },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    const gboolean big = i % 2;
    const gsize size = cases[i / 2].size;
    const gboolean is_signed = strstr (cases[i / 2].name, "_U") == NULL;
    const gint value = is_signed ? -3 : 77;
    g_autofree gchar *path = file_path ("type.mha");
    g_autoptr (GByteArray) bytes = g_byte_array_new ();
    g_autofree gchar *head = g_strdup_printf (
        "NDims = 2\nDimSize = 1 1\n"
        "BinaryDataByteOrderMSB = %s\nElementType = %s\n" LOCAL,
        big ? "True" : "False", cases[i / 2].name);
    g_autoptr (GError) error = NULL;
    guint8 sample[8];
    gdouble read[1]; /* has room for every type */

    if (strstr (cases[i / 2].name, "FLOAT")) {
      memcpy (sample, &(gfloat){ value }, 4);
    } else if (strstr (cases[i / 2].name, "DOUBLE")) {
      memcpy (sample, &(gdouble){ value }, 8);
    } else {
      const gint64 wide = GINT64_TO_LE ((gint64) value);

      memcpy (sample, &wide, 8);
    }
    for (gsize b = 0; big && b < size / 2; b++) {
      const guint8 byte = sample[b];

      sample[b] = sample[size - 1 - b];
      sample[size - 1 - b] = byte;
    }
    g_byte_array_append (bytes, (const guint8 *) head, strlen (head));
    g_byte_array_append (bytes, sample, size);
    put_file (path, bytes->data, bytes->len);
    g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpint (nd_reader_recording (reader)->type, ==, cases[i / 2].type);
    g_assert_cmpint (nd_reader_warnings (reader)[0] != NULL, ==,
        cases[i / 2].warned);
    g_assert_true (nd_reader_read (reader, read, &error));
    g_assert_cmpfloat (nd_sample_value (read, 0, cases[i / 2].type), ==, value);
  }
}

static void
assert_samples (const gchar *header)
{
  g_autoptr (NdReader) reader = open_text (header, 0);

  assert_counts (reader, 0, SAMPLES);
}

static void
put_zlib (const gchar *path, gconstpointer data, gsize n)
{
  guint8 packed[256];
  uLongf size = sizeof (packed);

  g_assert_cmpint (compress (packed, &size, data, n), ==, Z_OK);
  put_file (path, packed, size);
}

static void
test_files (void)
{
  guint8 samples[SAMPLES + 5];
  g_autofree gchar *one = file_path ("one.raw");
  g_autofree gchar *packed = file_path ("one.zraw");
  g_autofree gchar *gzip = file_path ("gzip.zraw");
  g_autofree gchar *headed = file_path ("headed.raw");

  for (guint i = 0; i < SAMPLES; i++)
    samples[i] = i;
  put_file (one, samples, SAMPLES);
  put_zlib (packed, samples, SAMPLES);
  put_gzip (gzip, samples, SAMPLES);
  for (guint i = 0; i < 3; i++) {
    g_autofree gchar *path = file_path ("s00.raw");
    g_autofree gchar *z = file_path ("z00.zraw");

    path[strlen (path) - 5] = '1' + 2 * i;
    put_file (path, samples + 12 * i, 12);
    z[strlen (z) - 6] = '1' + i;
    put_zlib (z, samples + 12 * i, 12);
  }
  assert_samples (HEAD "ElementDataFile = one.raw");
  assert_samples (HEAD "ElementDataFile = one.raw\n");
  assert_samples (HEAD "CompressedData = True\nElementDataFile = one.zraw\n");
  assert_samples (HEAD "CompressedData = True\nElementDataFile = gzip.zraw\n");
  assert_samples (HEAD "ElementDataFile = s%02d.raw 1 5 2\n");
  assert_samples (HEAD "ElementDataFile = LIST\ns01.raw\ns03.raw\ns05.raw\n");
  assert_samples (HEAD "ElementDataFile = LIST 2\ns01.raw\ns03.raw\ns05.raw");
  assert_samples (HEAD "ElementDataFile = LIST 3\none.raw");
  assert_samples (HEAD "CompressedData = True\n"
                       "ElementDataFile = z%02d.zraw\n");
  memmove (samples + 5, samples, SAMPLES);
  put_file (headed, samples, SAMPLES + 5);
  assert_samples (HEAD "HeaderSize = 5\nElementDataFile = headed.raw\n");
  assert_samples (HEAD "HeaderSize = -1\nElementDataFile = headed.raw\n");
}

static void
test_refused (void)
{
  static const struct
  {
    const gchar *text;
    gint code;
    const gchar *words;
  } cases[] = {
    { "ObjectType = Tube\nNDims = 3\n" LOCAL, ND_ERROR_FORMAT, "Image" },
    { "ObjectType = Image\nNDims = 0\n" LOCAL, ND_ERROR_FORMAT, "ElementType" },
    { "NDims = 3\nDimSize = 1 1 1\nElementType = MET_STRING\n" LOCAL,
        ND_ERROR_FORMAT, "MET_STRING" },
    { "NDims = 11\nElementType = MET_UCHAR\n" LOCAL, ND_ERROR_FORMAT, "NDims" },
    { "NDims = 3\nDimSize = 3 4\nElementType = MET_UCHAR\n" LOCAL,
        ND_ERROR_FORMAT, "DimSize" },
    { "NDims = 3\nDimSize = 3 -4 3\nElementType = MET_UCHAR\n" LOCAL,
        ND_ERROR_FORMAT, "DimSize" },
    { "NDims = 5\nDimSize = 3 2 2 1 3\nElementType = MET_UCHAR\n" LOCAL,
        ND_ERROR_FORMAT, "x, y, z, time" },
    { HEAD "nonsense\n" LOCAL, ND_ERROR_FORMAT, "line 5" },
    { HEAD "NDims = 2\n" LOCAL, ND_ERROR_FORMAT, "already" },
    { HEAD "BinaryData = False\n" LOCAL, ND_ERROR_FORMAT, "BinaryData" },
    { HEAD "BinaryData = maybe\n" LOCAL, ND_ERROR_FORMAT, "True or False" },
    { HEAD "Kinds = domain list domain\n" LOCAL, ND_ERROR_FORMAT, "Kinds" },
    { HEAD "ElementSpacing = 1 1\n" LOCAL, ND_ERROR_FORMAT, "ElementSpacing" },
    { HEAD "ElementSpacing = 1 0 1\n" LOCAL, ND_ERROR_FORMAT, "above 0" },
    { HEAD "TransformMatrix = 1 0\n" LOCAL, ND_ERROR_FORMAT, "square" },
    { HEAD "Offset = nan 0 0\n" LOCAL, ND_ERROR_FORMAT, "Offset" },
    { HEAD "ElementNumberOfChannels = 0\n" LOCAL, ND_ERROR_FORMAT, "Channels" },
    { HEAD "HeaderSize = -2\n" LOCAL, ND_ERROR_FORMAT, "HeaderSize" },
    { HEAD "CompressedData = True\n" LOCAL, ND_ERROR_READ, "header check" },
    { HEAD "ElementNumberOfChannels = 2\n" LOCAL, ND_ERROR_READ, "truncated" },
    { HEAD "ElementDataFile = ../one.raw\n", ND_ERROR_FORMAT, "same folder" },
    { HEAD "ElementDataFile = /dev/zero\n", ND_ERROR_FORMAT, "same folder" },
    { HEAD "ElementDataFile = /etc/p%d\n", ND_ERROR_FORMAT, "same folder" },
    { HEAD "ElementDataFile = nowhere.raw\n", ND_ERROR_NOT_FOUND, "nowhere" },
    { HEAD "ElementDataFile = LIST\nnowhere.raw\n", ND_ERROR_NOT_FOUND,
        "nowhere" },
    { HEAD "ElementDataFile = LIST 9\nx\n", ND_ERROR_FORMAT, "dimensions" },
    { HEAD "ElementDataFile = LIST x\nx\n", ND_ERROR_FORMAT, "LIST N" },
    { HEAD "ElementDataFile = LIST\nbad\nbad\nbad\nbad\n", ND_ERROR_FORMAT,
        "as many names" },
    { HEAD "ElementDataFile = x%d 1 x\n", ND_ERROR_FORMAT, "PATTERN" },
    { HEAD "ElementDataFile = x%d 1 1\n", ND_ERROR_FORMAT, "step" },
    { HEAD "Kinds = domain domain\n" LOCAL, ND_ERROR_FORMAT,
        "every dimension" },
    { HEAD, ND_ERROR_FORMAT, "line" },
    { "NDims = 3\nDimSize = 4294967296 4294967296 4294967296\n"
      "ElementType = MET_UCHAR\n" LOCAL,
        ND_ERROR_FORMAT, "no file holds" },
    { "NDims = 3\nDimSize = 65536 65536 64\nElementType = MET_UCHAR\n" LOCAL,
        ND_ERROR_READ, "truncated" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    if (cases[i].code == ND_ERROR_READ && strstr (cases[i].words, "check")) {
      /* The error is found during decompression. */
      g_autoptr (NdReader) reader = open_text (cases[i].text, SAMPLES);
      g_autoptr (GError) error = NULL;
      guint8 data[SAMPLES];

      g_assert_false (nd_reader_read (reader, data, &error));
      g_assert_error (error, ND_ERROR, ND_ERROR_READ);
      g_assert_nonnull (strstr (error->message, cases[i].words));
    } else {
      refuse_text (cases[i].text, SAMPLES, cases[i].code, cases[i].words);
    }
  }
  refuse_text (HEAD, 0, ND_ERROR_FORMAT, "end with it");
  refuse_text (HEAD "ElementDataFile = LIST\nbad\n", 0, ND_ERROR_FORMAT,
      "as many names");
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/metaimage/kinds", test_kinds);
  g_test_add_func ("/metaimage/sequence", test_sequence);
  g_test_add_func ("/metaimage/missing-times", test_missing_times);
  g_test_add_func ("/metaimage/spellings", test_spellings);
  g_test_add_func ("/metaimage/dimensions", test_dimensions);
  g_test_add_func ("/metaimage/geometry", test_geometry);
  g_test_add_func ("/metaimage/types", test_types);
  g_test_add_func ("/metaimage/files", test_files);
  g_test_add_func ("/metaimage/refused", test_refused);
  status = g_test_run ();
  remove_folder ();
  return status;
}
