/* .npy arrays as recordings: axes, types, both orders, writing, refused arrays;
 * files of other formats are refused by name.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "formats/recording.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static gchar *folder;

static gchar *
put (const gchar *name, const gchar *header, gconstpointer samples, gsize n)
{
  gchar *path = g_build_filename (folder, name, NULL);
  GByteArray *file = g_byte_array_new ();
  const guint8 begin[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0,
    strlen (header) & 0xff, strlen (header) >> 8 };

  g_byte_array_append (file, begin, sizeof (begin));
  g_byte_array_append (file, (const guint8 *) header, strlen (header));
  g_byte_array_append (file, samples, n);
  g_assert_true (g_file_set_contents (path, (gchar *) file->data, file->len,
      NULL));
  g_byte_array_unref (file);
  return path;
}

static const struct
{
  const gchar *descr, *order, *shape;
  gsize components, size[3];
  guint64 volumes;
  NdSampleType type;
} arrays[] = {
  { "|u1", "False", "(3, 2)", 1, { 2, 3, 1 }, 1, ND_UINT8 },
  { "|u1", "False", "(4, 3, 2)", 1, { 2, 3, 4 }, 1, ND_UINT8 },
  { "|u1", "False", "(5, 4, 3, 2)", 1, { 2, 3, 4 }, 5, ND_UINT8 },
  { "|u1", "True", "(2, 3, 4, 5)", 1, { 2, 3, 4 }, 5, ND_UINT8 },
  { "|u1", "False", "(5, 4, 3, 2, 6)", 6, { 2, 3, 4 }, 5, ND_UINT8 },
  { "|i1", "False", "(3, 2)", 1, { 2, 3, 1 }, 1, ND_INT8 },
  { ">i4", "False", "(3, 2)", 1, { 2, 3, 1 }, 1, ND_INT32 },
  { "<u4", "False", "(3, 2)", 1, { 2, 3, 1 }, 1, ND_UINT32 },
  { ">f2", "False", "(3, 2)", 1, { 2, 3, 1 }, 1, ND_FLOAT16 },
  { "<i2", "False", "(3, 2)", 1, { 2, 3, 1 }, 1, ND_INT16 },
  { ">u2", "False", "(3, 2)", 1, { 2, 3, 1 }, 1, ND_UINT16 },
  { "<i8", "False", "(3, 2)", 1, { 2, 3, 1 }, 1, ND_FLOAT32 },
  { "<f4", "False", "(7,)", 1, { 7, 1, 1 }, 1, ND_FLOAT32 },
  { "<f8", "False", "(3, 2)", 1, { 2, 3, 1 }, 1, ND_FLOAT64 },
  { "<c8", "False", "(3, 2)", 2, { 2, 3, 1 }, 1, ND_FLOAT32 },
  { "<c16", "False", "(4, 3, 2)", 2, { 2, 3, 4 }, 1, ND_FLOAT64 },
};

static void
test_read (void)
{
  g_autofree guint8 *samples = g_malloc0 (8192);

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++) {
    g_autofree gchar *header = g_strdup_printf (
        "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
        arrays[i].descr, arrays[i].order, arrays[i].shape);
    const gsize width = atoi (arrays[i].descr + 2);
    const gsize count = arrays[i].size[0] * arrays[i].size[1]
        * arrays[i].size[2] * arrays[i].volumes
        * (arrays[i].descr[1] == 'c' ? 1 : arrays[i].components);
    g_autofree gchar *path = put ("read.npy", header, samples, width * count);
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
    const NdRecording *recording;

    g_assert_no_error (error);
    recording = nd_reader_recording (reader);
    g_assert_cmpuint (recording->shape.components, ==, arrays[i].components);
    for (guint a = 0; a < 3; a++)
      g_assert_cmpuint (recording->shape.size[a], ==, arrays[i].size[a]);
    g_assert_cmpuint (recording->volumes, ==, arrays[i].volumes);
    g_assert_cmpint (recording->type, ==, arrays[i].type);
    g_assert_true (nd_reader_seekable (reader));
  }
}

/* Every type and number of volumes is equal after writing and reading. */
static void
test_round_trip (void)
{
  for (guint type = 0; type < ND_STREAM_TYPES; type++) {
    for (guint volumes = 1; volumes <= 12 && type != ND_SAMPLE_SAME;
         volumes += 11) {
      NdRecording recording = { .type = type,
        .shape = { type == ND_UINT8 ? 3 : 1, { 5, 4, 3 } },
        .responses = 1,
        .rate_d = 1 };
      const gsize size = nd_recording_volume_size (&recording);
      g_autofree gchar *path = g_build_filename (folder, "out.npy", NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);
      g_autoptr (NdReader) reader = NULL;
      g_autofree guint8 *data = g_malloc (size), *back = g_malloc (size);

      g_assert_no_error (error);
      g_assert_true (nd_writer_begin (writer, &recording, &error));
      for (guint v = 0; v < volumes; v++) {
        memset (data, v + 1, size);
        g_assert_true (nd_writer_write (writer, data, v, &error));
      }
      g_assert_true (nd_writer_finish (writer, &error));
      reader = nd_reader_open (path, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, volumes);
      g_assert_cmpint (nd_reader_recording (reader)->type, ==, type);
      g_assert_cmpuint (nd_reader_recording (reader)->shape.components, ==,
          recording.shape.components);
      for (guint v = 0; v < volumes; v++) {
        memset (data, v + 1, size);
        g_assert_true (nd_reader_read (reader, back, &error));
        g_assert_cmpmem (data, size, back, size);
      }
      g_remove (path);
    }
  }
}

/* Two floats are written as the complex number that they are. */
static void
test_complex (void)
{
  static const struct
  {
    NdSampleType type;
    gsize components;
    guint volumes;
    const gchar *header;
  } cases[] = {
    { ND_FLOAT32, 2, 6,
        "'<c8', 'fortran_order': False, 'shape': (6, 3, 4, 5)" },
    { ND_FLOAT64, 2, 1, "'<c16', 'fortran_order': False, 'shape': (3, 4, 5)" },
    { ND_INT16, 2, 2,
        "'<i2', 'fortran_order': False, 'shape': (2, 3, 4, 5, 2)" },
    { ND_FLOAT32, 3, 1,
        "'<f4', 'fortran_order': False, 'shape': (1, 3, 4, 5, 3)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const NdRecording recording = { .type = cases[i].type,
      .shape = { cases[i].components, { 5, 4, 3 } },
      .responses = 1,
      .rate_d = 1 };
    const gsize size = nd_recording_volume_size (&recording);
    g_autofree gchar *path = g_build_filename (folder, "complex.npy", NULL);
    g_autofree gchar *text = NULL;
    g_autofree guint8 *data = g_malloc0 (size), *back = g_malloc (size);
    g_autoptr (GError) error = NULL;
    g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);
    g_autoptr (NdReader) reader = NULL;

    g_assert_true (nd_writer_begin (writer, &recording, &error));
    for (guint v = 0; v < cases[i].volumes; v++) {
      data[size - 1] = 7 + v;
      g_assert_true (nd_writer_write (writer, data, v, &error));
    }
    g_assert_true (nd_writer_finish (writer, &error));
    g_assert_true (g_file_get_contents (path, &text, NULL, &error));
    g_assert_nonnull (strstr (text + 10, cases[i].header));
    reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (nd_reader_recording (reader)->shape.components, ==,
        cases[i].components);
    g_assert_true (nd_reader_seek (reader, cases[i].volumes - 1, &error)
        && nd_reader_read (reader, back, &error));
    g_assert_cmpmem (data, size, back, size);
    g_remove (path);
  }
}

static const struct
{
  const gchar *name, *header, *words;
  gint code;
} refused[] = {
  { "six.npy",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1)}",
      "6 axes|(t, z, y, x)", ND_ERROR_FORMAT },
  { "none.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
      "0 axes", ND_ERROR_FORMAT },
  { "quad.npy", "{'descr': '<f16', 'fortran_order': False, 'shape': (2, 2)}",
      "<f16|astype", ND_ERROR_FORMAT },
  { "empty.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0)}",
      "empty", ND_ERROR_FORMAT },
  { "short.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 9)}",
      "truncated", ND_ERROR_READ },
  { "huge.npy",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, "
      "8, 8)}",
      "no file holds", ND_ERROR_FORMAT },
  { "damaged.npy", "{'descr': '<f4', 'shape': (2, 2)", "damaged",
      ND_ERROR_READ },
};

static void
assert_words (const gchar *message, const gchar *words)
{
  g_auto (GStrv) parts = g_strsplit (words, "|", -1);

  g_test_message ("%s", message);
  for (guint i = 0; parts[i]; i++) {
    if (strstr (message, parts[i]) == NULL)
      g_error ("\"%s\" not in \"%s\"", parts[i], message);
  }
}

static void
test_refused (void)
{
  static const guint8 zeros[16] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_autofree gchar *path =
        put (refused[i].name, refused[i].header, zeros, sizeof (zeros));
    g_autoptr (GError) error = NULL;

    g_assert_null (nd_reader_open (path, NULL, &error));
    g_assert_error (error, ND_ERROR, refused[i].code);
    assert_words (error->message, refused[i].words);
    g_remove (path);
  }
}

/* The slices of an array of three axes may be frames over time. */
static void
test_frames (void)
{
  static const struct
  {
    const gchar *shape, *size;
    gsize z;
    guint64 volumes;
  } cases[] = { { "(6, 3, 2)", "2:3:1", 1, 6 }, { "(6, 3, 2)", "2:3:3", 3, 2 },
    { "(6, 3, 2)", "2:3:4", 6, 1 }, { "(6, 3, 2)", "3:2:1", 6, 1 },
    { "(2, 3, 3, 2)", "2:3:1", 3, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *header = g_strdup_printf (
        "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }\n",
        cases[i].shape);
    guint8 samples[36], frame[36];
    g_autofree gchar *path = NULL;
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    NdRecording hint;

    for (guint s = 0; s < sizeof (samples); s++)
      samples[s] = s;
    path = put ("frames.npy", header, samples, sizeof (samples));
    g_assert_true (nd_recording_init_raw (&hint, cases[i].size, 1, ND_UINT8));
    reader = nd_reader_open (path, &hint, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (nd_reader_recording (reader)->shape.size[2], ==,
        cases[i].z);
    g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==,
        cases[i].volumes);
    g_assert_true (nd_reader_seek (reader, cases[i].volumes - 1, &error));
    g_assert_true (nd_reader_read (reader, frame, &error));
    g_assert_cmpuint (frame[0], ==, 6 * cases[i].z * (cases[i].volumes - 1));
  }
}

/* Without a size for raw samples, other formats are refused by name; with one,
 * their bytes are samples. */
static void
test_other_formats (void)
{
  static const struct
  {
    gsize offset;
    const gchar *magic, *words;
  } files[] = { { 0, "MATLAB ", "scipy.io" }, { 208, "MAP ", "MRC|bfconvert" },
    { 0, "ZISRAWFILE", "CZI|bfconvert" }, { 0, "\xda\xce\xbe\x0a", "ND2" },
    { 0, "p\0\0\0", "LIF" }, { 0, "CDF\x01", "MINC|nibabel" },
    { 4, "ftyp", "MP4|decodebin" }, { 0, "GIF8", "GIF" } };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree gchar *path = g_build_filename (folder, "other", NULL);
    gchar bytes[600] = { 0 };
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    NdRecording hint;

    strcpy (bytes + files[i].offset, files[i].magic);
    g_assert_true (g_file_set_contents (path, bytes, sizeof (bytes), NULL));
    g_assert_null (nd_reader_open (path, NULL, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
    assert_words (error->message, files[i].words);
    g_assert_true (nd_recording_init_raw (&hint, "10:10:6", 1, ND_UINT8));
    reader = nd_reader_open (path, &hint, NULL);
    g_assert_nonnull (reader);
    g_remove (path);
  }
}

/* Extensions of other formats do not become raw samples. */
static void
test_extensions (void)
{
  static const gchar *const extensions[] = { "mp4", "gif", "h5", "dcm", "png",
    "npz", "mat", "webm", "H5" };

  for (guint i = 0; i < G_N_ELEMENTS (extensions); i++) {
    g_autofree gchar *path = g_strdup_printf ("%s/x.%s", folder, extensions[i]);
    g_autoptr (GError) error = NULL;

    g_assert_null (nd_writer_open (path, FALSE, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    assert_words (error->message, ".npy|;");
  }
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("ndconv-npy-XXXXXX", NULL);
  g_test_add_func ("/read", test_read);
  g_test_add_func ("/round-trip", test_round_trip);
  g_test_add_func ("/complex", test_complex);
  g_test_add_func ("/refused", test_refused);
  g_test_add_func ("/frames", test_frames);
  g_test_add_func ("/other-formats", test_other_formats);
  g_test_add_func ("/extensions", test_extensions);
  status = g_test_run ();
  {
    g_autofree gchar *path = g_build_filename (folder, "read.npy", NULL);

    g_remove (path);
  }
  g_rmdir (folder);
  g_free (folder);
  return status;
}
