/* OME-Zarr in folders: writing and reading, what is kept, partial folders,
 * metadata and chunks that are refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/formats/files.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void
remove_all (const gchar *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *inner = g_build_filename (path, name, NULL);

    remove_all (inner);
  }
  g_remove (path);
}

static NdRecording
make_recording (NdSampleType type, gsize components, gsize x, gsize y, gsize z)
{
  const NdRecording recording = { .type = type,
    .shape = { components, { x, y, z } },
    .rate_n = 30000,
    .rate_d = 1001,
    .responses = 1,
    .geometry = { TRUE, { 0.5, 0.75, 2 }, { -10, 20.5, 3 },
        { -1, 0, 0, 0, -1, 0, 0, 0, 1 } } };

  return recording;
}

static guint8
sample (gsize volume, gsize i)
{
  return volume * 31 + i % 200 / 3;
}

static void
write_volumes (NdWriter *writer, const NdRecording *recording, guint volumes)
{
  const gsize size = nd_recording_volume_size (recording);
  g_autofree guint8 *data = g_malloc (size);
  g_autoptr (GError) error = NULL;

  g_assert_true (nd_writer_begin (writer, recording, &error));
  for (guint v = 0; v < volumes; v++) {
    for (gsize i = 0; i < size; i++)
      data[i] = sample (v, i);
    nd_writer_write (writer, data, v * G_GINT64_CONSTANT (50000000), &error);
    g_assert_no_error (error);
  }
}

static void
write_whole (const gchar *path, const NdRecording *recording, guint volumes,
    gboolean compress)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdWriter) writer = nd_writer_open (path, compress, &error);

  g_assert_no_error (error);
  write_volumes (writer, recording, volumes);
  g_assert_true (nd_writer_finish (writer, &error));
  g_assert_no_error (error);
}

static void
assert_volumes (NdReader *reader, const NdRecording *recording, guint volumes)
{
  const gsize size = nd_recording_volume_size (recording);
  const NdRecording *found = nd_reader_recording (reader);
  g_autofree guint8 *data = g_malloc (size);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (found->volumes, ==, volumes);
  g_assert_cmpint (found->type, ==, recording->type);
  g_assert_cmpmem (&found->shape, sizeof (NdShape), &recording->shape,
      sizeof (NdShape));
  g_assert_true (nd_reader_seekable (reader));
  for (guint v = volumes; v-- > 0;) {
    g_assert_true (nd_reader_seek (reader, v, &error));
    nd_reader_read (reader, data, &error);
    g_assert_no_error (error);
    for (gsize i = 0; i < size; i++)
      g_assert_cmpuint (data[i], ==, sample (v, i));
  }
}

static const gchar *const names[] = { "a.zarr", "a.v2.zarr" };

static void
test_round_trips (void)
{
  const NdRecording recordings[] = {
    make_recording (ND_UINT8, 1, 5, 4, 3),
    make_recording (ND_INT16, 1, 130, 66, 65),
    make_recording (ND_UINT16, 3, 7, 65, 2),
    make_recording (ND_UINT32, 1, 1030, 3, 1),
  };

  for (guint n = 0; n < 4 * G_N_ELEMENTS (recordings); n++) {
    const NdRecording *recording = &recordings[n / 4];
    g_autofree gchar *path = file_path (names[n % 2]);
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    const NdRecording *found;

    write_whole (path, recording, 3, n % 4 > 1);
    reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    assert_volumes (reader, recording, 3);
    found = nd_reader_recording (reader);
    g_assert_cmpint (found->rate_n, ==, 30000);
    g_assert_cmpint (found->rate_d, ==, 1001);
    g_assert_true (found->geometry.known);
    g_assert_cmpmem (found->geometry.spacing, sizeof (gdouble) * 3,
        recording->geometry.spacing, sizeof (gdouble) * 3);
    g_assert_cmpmem (found->geometry.origin, sizeof (gdouble) * 3,
        recording->geometry.origin, sizeof (gdouble) * 3);
    g_assert_null (nd_reader_warnings (reader)[0]);
    remove_all (path);
  }
}

/* A writer that stops leaves its volumes; the next one of that name begins
 * again, but not while the first one writes. */
static void
test_partial (void)
{
  const NdRecording recording = make_recording (ND_INT16, 1, 9, 8, 7);

  for (guint n = 0; n < G_N_ELEMENTS (names); n++) {
    g_autofree gchar *path = file_path (names[n]);
    g_autofree gchar *partial = g_strconcat (path, ".part", NULL);
    g_autoptr (GError) error = NULL;
    NdWriter *writer = nd_writer_open (path, FALSE, &error);
    NdReader *reader;

    g_assert_no_error (error);
    g_assert_null (nd_writer_open (path, FALSE, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE);
    g_clear_error (&error);
    write_volumes (writer, &recording, 4);
    g_assert_false (file_exists (path));
    nd_writer_close (writer);
    g_assert_false (file_exists (path));
    reader = nd_reader_open (partial, NULL, &error);
    g_assert_no_error (error);
    assert_volumes (reader, &recording, 4);
    g_assert_nonnull (nd_reader_warnings (reader)[0]);
    nd_reader_close (reader);

    write_whole (path, &recording, 2, TRUE);
    g_assert_false (file_exists (partial));
    reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    assert_volumes (reader, &recording, 2);
    nd_reader_close (reader);

    /* An existing folder is not replaced. */
    g_assert_null (nd_writer_open (path, FALSE, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE);
    g_assert_nonnull (strstr (error->message, "not replaced"));
    remove_all (path);
  }
}

static void
test_not_written (void)
{
  g_autofree gchar *path = file_path ("b.zarr");
  g_autofree gchar *partial = file_path ("b.zarr.part");
  g_autofree gchar *other = file_path ("b.zarr.part/mine");
  NdRecording recording = make_recording (ND_FLOAT32, 1, 4, 4, 4);
  g_autoptr (GError) error = NULL;
  NdWriter *writer = nd_writer_open (path, FALSE, &error);

  g_assert_no_error (error);
  recording.responses = 2;
  g_assert_false (nd_writer_begin (writer, &recording, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
  g_clear_error (&error);
  g_assert_false (nd_writer_finish (writer, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_WRITE);
  g_clear_error (&error);
  nd_writer_close (writer);
  g_assert_false (file_exists (partial));

  /* A folder of others is left alone. */
  g_assert_cmpint (g_mkdir (partial, 0777), ==, 0);
  put_file (other, "x", 1);
  g_assert_null (nd_writer_open (path, FALSE, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE);
  g_assert_true (file_exists (other));
  remove_all (partial);
}

static void
test_full_disk (void)
{
  const NdRecording recording = make_recording (ND_UINT8, 1, 64, 64, 64);
  const gsize size = nd_recording_volume_size (&recording);
  g_autofree guint8 *data = g_malloc0 (size);
  g_autofree gchar *path = file_path ("full.zarr");
  g_autofree gchar *partial = file_path ("full.zarr.part");
  g_autoptr (GError) error = NULL;
  NdWriter *writer = nd_writer_open (path, FALSE, &error);

  write_volumes (writer, &recording, 1);
  limit_files (4096);
  g_assert_false (nd_writer_write (writer, data, 0, &error));
  limit_files (0);
  g_assert_error (error, ND_ERROR, ND_ERROR_DISK_FULL);
  g_clear_error (&error);
  g_assert_false (nd_writer_finish (writer, &error));
  g_clear_error (&error);
  nd_writer_close (writer);
  g_assert_false (file_exists (path));
  remove_all (partial);
}

#define ARRAY_2(more) \
  "{\"zarr_format\": 2, \"shape\": [2, 3, 4, 5], \"dtype\": \"|u1\"" more "}"
#define SOUND                                                             \
  ", \"chunks\": [1, 3, 4, 5], \"fill_value\": 9, \"compressor\": null, " \
  "\"order\": \"C\", \"filters\": null"

static const struct
{
  const gchar *text, *words;
  gint code;
} refused[] = {
  { "", "no JSON object", ND_ERROR_READ },
  { "[1, 2]", "no JSON object", ND_ERROR_READ },
  { "{\"shape\": ", "no JSON object", ND_ERROR_READ },
  { ARRAY_2 (""), "\"chunks\" has 0 axes", ND_ERROR_FORMAT },
  { ARRAY_2 (", \"chunks\": [1, 3, 4]"), "\"chunks\" has 3 axes",
      ND_ERROR_FORMAT },
  { ARRAY_2 (", \"chunks\": [1, 3, 4, 0]"), "1 or more", ND_ERROR_FORMAT },
  { ARRAY_2 (", \"chunks\": [1, 3, 4, -5]"), "1 or more", ND_ERROR_FORMAT },
  { ARRAY_2 (", \"chunks\": [1, 3, 4, 5.5]"), "1 or more", ND_ERROR_FORMAT },
  { ARRAY_2 (", \"chunks\": [1, 3, 4, 9223372036854775807]"), "2 GiB",
      ND_ERROR_FORMAT },
  { ARRAY_2 (SOUND ", \"dimension_separator\": \"..\""), "neither . nor /",
      ND_ERROR_FORMAT },
  { "{\"zarr_format\": 2, \"shape\": [2, 3], \"chunks\": [2, 3], \"dtype\": "
    "\"<U3\"}",
      "integers or floats", ND_ERROR_FORMAT },
  { "{\"zarr_format\": 2, \"shape\": [2, 3], \"chunks\": [2, 3], \"dtype\": "
    "\"|u1\", \"order\": \"F\"}",
      "than C; python3 -c \"import sys, zarr", ND_ERROR_FORMAT },
  { "{\"zarr_format\": 2, \"shape\": [2, 3], \"chunks\": [2, 3], \"dtype\": "
    "\"|u1\", \"compressor\": {\"id\": \"lzma\"}}",
      "lzma", ND_ERROR_FORMAT },
  { "{\"zarr_format\": 2, \"shape\": [2, 3], \"chunks\": [2, 3], \"dtype\": "
    "\"|u1\", \"filters\": [{\"id\": \"delta\"}]}",
      "zarr.open (sys.argv[1]", ND_ERROR_FORMAT },
  { "{\"zarr_format\": 2, \"shape\": [2, 3], \"chunks\": [2, 3], \"dtype\": "
    "\"|u1\", \"fill_value\": \"lots\"}",
      "fill_value", ND_ERROR_FORMAT },
  { "{\"zarr_format\": 2, \"shape\": [2000000, 2000000], \"chunks\": [1, 1], "
    "\"dtype\": \"|u1\"}",
      "", -1 },
  { "{\"zarr_format\": 2, \"shape\": [4294967296, 4294967296, 4294967296], "
    "\"chunks\": [1, 1, 1], \"dtype\": \"|u1\"}",
      "no file holds", ND_ERROR_FORMAT },
};

static gchar *
put_array (const gchar *text)
{
  gchar *path = file_path ("hostile.zarr");
  g_autofree gchar *array = g_build_filename (path, ".zarray", NULL);

  remove_all (path);
  g_assert_cmpint (g_mkdir (path, 0777), ==, 0);
  put_file (array, text, strlen (text));
  return path;
}

/* json-glib would call itself for each bracket. */
static void
refuse_deep (const gchar *begin)
{
  g_autoptr (GString) deep = g_string_new (begin);
  g_autofree gchar *path = NULL;

  for (guint i = 0; i < 1000000; i++)
    g_string_append_c (deep, '[');
  path = put_array (deep->str);
  assert_refused (path, ND_ERROR_READ, "no JSON object");
  remove_all (path);
}

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_autofree gchar *array = put_array (refused[i].text);
    g_autoptr (GError) error = NULL;

    if (refused[i].code >= 0) {
      assert_refused (array, refused[i].code, refused[i].words);
      continue;
    }
    g_assert_null (nd_reader_open (array, NULL, &error));
    g_assert_nonnull (error);
  }
  refuse_deep ("{\"a\": ");
  /* json-glib takes these, but the quote opens no text. */
  refuse_deep ("/* \" */ {\"a\": ");
  refuse_deep ("{\"a\": // \"\n");
  refuse_deep ("{'\"': ");
}

static void
assert_unreadable (const gchar *path, const gchar *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  guint8 data[60];

  g_assert_no_error (error);
  g_assert_false (nd_reader_read (reader, data, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, words));
}

static void
test_chunks (void)
{
  g_autofree gchar *path = put_array (ARRAY_2 (SOUND));
  g_autofree gchar *chunk = g_build_filename (path, "0.0.0.0", NULL);
  guint8 data[61] = { 0 };
  g_autoptr (GError) error = NULL;
  NdReader *reader = nd_reader_open (path, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (nd_reader_read (reader, data, &error));
  nd_reader_close (reader);
  for (guint i = 0; i < 60; i++)
    g_assert_cmpuint (data[i], ==, 9);
  put_file (chunk, data, 59);
  assert_unreadable (path, "truncated");
  put_file (chunk, data, 61);
  assert_unreadable (path, "damaged");
  /* Neither links nor devices nor pipes. */
  g_assert_cmpint (g_remove (chunk), ==, 0);
  g_assert_cmpint (symlink ("/etc/passwd", chunk), ==, 0);
  assert_unreadable (path, "cannot be opened");
  g_assert_cmpint (g_remove (chunk), ==, 0);
  g_assert_cmpint (mkfifo (chunk, 0600), ==, 0);
  assert_unreadable (path, "cannot be opened");
  remove_all (path);
}

/* A volume of more chunks, and of more shards, than files can be open. */
static void
test_many_files (void)
{
  static const gchar *const arrays[] = {
    "{\"zarr_format\": 2, \"shape\": [1, 8, 16, 16], \"chunks\": "
    "[1, 1, 1, 2], \"dtype\": \"|u1\", \"dimension_separator\": \"/\"}",
    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": "
    "[1, 8, 16, 16], \"data_type\": \"uint8\", \"chunk_grid\": "
    "{\"configuration\": {\"chunk_shape\": [1, 1, 1, 2]}}, "
    "\"fill_value\": 0, \"chunk_key_encoding\": {\"name\": \"v2\", "
    "\"configuration\": {\"separator\": \"/\"}}, \"codecs\": "
    "[{\"name\": \"sharding_indexed\", \"configuration\": "
    "{\"chunk_shape\": [1, 1, 1, 1], \"index_location\": \"start\", "
    "\"codecs\": [{\"name\": \"bytes\"}], "
    "\"index_codecs\": [{\"name\": \"bytes\"}]}}]}",
  };
  /* Where the chunks of a shard are. */
  const guint64 index[4] = { GUINT64_TO_LE (32), GUINT64_TO_LE (1),
    GUINT64_TO_LE (33), GUINT64_TO_LE (1) };
  struct rlimit old, few;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &old), ==, 0);
  few = old;
  few.rlim_cur = 200;
  for (guint sharded = 0; sharded < 2; sharded++) {
    g_autofree gchar *path = put_array (arrays[0]);
    g_autofree gchar *metadata =
        g_build_filename (path, sharded ? "zarr.json" : ".zarray", NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    guint8 data[2048], file[34];

    put_file (metadata, arrays[sharded], strlen (arrays[sharded]));
    memcpy (file, index, sizeof (index));
    for (guint i = 0; i < 1024; i++) {
      g_autofree gchar *chunk =
          g_strdup_printf ("%s/0/%u/%u/%u", path, i / 128, i / 8 % 16, i % 8);
      g_autofree gchar *folder = g_path_get_dirname (chunk);

      file[32] = 2 * i;
      file[33] = 2 * i + 1;
      g_assert_cmpint (g_mkdir_with_parents (folder, 0777), ==, 0);
      put_file (chunk, file + (sharded ? 0 : 32), sharded ? 34 : 2);
    }
    g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &few), ==, 0);
    reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    nd_reader_read (reader, data, &error);
    g_assert_no_error (error);
    for (guint i = 0; i < 2048; i++)
      g_assert_cmpuint (data[i], ==, (guint8) i);
    g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &old), ==, 0);
    remove_all (path);
  }
}

/* The path of the array must lie within the folder. */
static void
test_paths (void)
{
  static const gchar *const paths[] = { "..", "../a", "/etc", "", "a//b", "." };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    g_autofree gchar *path = put_array (ARRAY_2 (SOUND));
    g_autofree gchar *array = g_build_filename (path, ".zarray", NULL);
    g_autofree gchar *group = g_build_filename (path, ".zattrs", NULL);
    g_autofree gchar *text = g_strdup_printf (
        "{\"multiscales\": [{\"axes\": [{\"name\": \"y\"}, {\"name\": \"x\"}], "
        "\"datasets\": [{\"path\": \"%s\"}]}]}",
        paths[i]);

    g_assert_cmpint (g_remove (array), ==, 0);
    put_file (group, text, strlen (text));
    assert_refused (path, ND_ERROR_FORMAT, "within the folder");
    remove_all (path);
  }
}

/* Versions 0.1 and 0.2 have no axes, 0.3 has their names alone. */
static void
test_old_versions (void)
{
  static const struct
  {
    const gchar *axes;
    gsize volumes, components, z;
  } cases[] = {
    { "", 3, 2, 1 },
    { "\"axes\": [\"t\", \"c\", \"z\", \"y\", \"x\"], ", 3, 2, 1 },
    { "\"axes\": [\"z\", \"t\", \"c\", \"y\", \"x\"], ", 2, 1, 3 },
  };
  guint8 samples[12], data[24];

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = put_array ("{}");
    g_autofree gchar *inner = g_build_filename (path, "0", NULL);
    g_autofree gchar *array = g_build_filename (inner, ".zarray", NULL);
    g_autofree gchar *group = g_build_filename (path, ".zattrs", NULL);
    g_autofree gchar *old = g_build_filename (path, ".zarray", NULL);
    g_autofree gchar *text = g_strdup_printf ("{\"multiscales\": [{%s"
                                              "\"datasets\": [{\"path\": "
                                              "\"0\"}], \"name\": \"x\"}]}",
        cases[i].axes);
    static const gchar described[] =
        "{\"zarr_format\": 2, \"shape\": [3, 2, 1, 2, 3], \"chunks\": "
        "[1, 2, 1, 2, 3], \"dtype\": \"|u1\", \"compressor\": null, "
        "\"order\": \"C\", \"filters\": null, \"fill_value\": 0}";
    g_autoptr (NdReader) reader = NULL;
    g_autoptr (GError) error = NULL;
    const NdRecording *recording;

    g_assert_cmpint (g_remove (old), ==, 0);
    g_assert_cmpint (g_mkdir (inner, 0777), ==, 0);
    put_file (array, described, strlen (described));
    put_file (group, text, strlen (text));
    for (guint8 k = 0; k < 12; k++)
      samples[k] = 20 + k;
    for (guint t = 0; t < 3; t++) {
      g_autofree gchar *name = g_strdup_printf ("%s/%u.0.0.0.0", inner, t);

      put_file (name, samples, sizeof (samples));
    }
    reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    recording = nd_reader_recording (reader);
    g_assert_cmpuint (recording->volumes, ==, cases[i].volumes);
    g_assert_cmpuint (recording->shape.components, ==, cases[i].components);
    g_assert_cmpuint (recording->shape.size[0], ==, 3);
    g_assert_cmpuint (recording->shape.size[2], ==, cases[i].z);
    g_assert_false (recording->geometry.known);
    g_assert_true (nd_reader_read (reader, data, &error));
    g_assert_cmpuint (data[1], ==, cases[i].components == 2 ? 26 : 21);
    remove_all (path);
  }
}

static void
put_inside (const gchar *folder, const gchar *name, const gchar *text)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);

  put_file (path, text, strlen (text));
}

/* A version that is newer is read as far as it is known, with a warning. */
static void
test_newer_versions (void)
{
#define SCALE "\"type\": \"scale\", \"scale\": [2, 0.5, 0.25]"
#define AXES                                                 \
  "\"axes\": [{\"name\": \"z\", \"unit\": \"millimeter\"}, " \
  "{\"name\": \"y\", \"unit\": \"millimeter\"}, "            \
  "{\"name\": \"x\", \"unit\": \"millimeter\"}]"
#define MICRONS                                      \
  "\"axes\": [{\"name\": \"z\", \"unit\": \"cm\"}, " \
  "{\"name\": \"y\", \"unit\": \"mm\"}, {\"name\": \"x\", \"unit\": \"um\"}]"
#define MICRONS_SCALE "\"type\": \"scale\", \"scale\": [0.2, 0.5, 250]"
#define DATASETS(CHANGE)                                                     \
  "\"datasets\": [{\"path\": \"0\", \"coordinateTransformations\": [" CHANGE \
  "]}]"
#define SYSTEMS                                                         \
  "\"coordinateSystems\": [{\"name\": \"other\", \"axes\": []}, "       \
  "{\"name\": \"space\", " AXES "}], \"coordinateTransformations\": [{" \
  "\"type\": \"scale\", \"scale\": [9, 9, 9], \"output\": \"other\"}], "
  static const struct
  {
    const gchar *version, *multiscale, *warning;
  } cases[] = {
    { "0.5", AXES ", " DATASETS ("{" SCALE "}"), NULL },
    { "0.4", MICRONS ", " DATASETS ("{" MICRONS_SCALE "}"), NULL },
    { "0.6", AXES ", " DATASETS ("{" SCALE "}"), "OME-Zarr 0.6, newer" },
    { "0.6.dev1", SYSTEMS DATASETS ("{" SCALE ", \"output\": \"space\"}"),
        "OME-Zarr 0.6.dev1, newer" },
    { "1.0",
        SYSTEMS DATASETS ("{\"type\": \"sequence\", \"output\": {\"name\": "
                          "\"space\"}, \"transformations\": [{" SCALE "}]}"),
        "OME-Zarr 1.0, newer" },
  };
  static const gchar described[] =
      "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [1, 2, 3], "
      "\"data_type\": \"uint8\", \"chunk_grid\": {\"configuration\": "
      "{\"chunk_shape\": [1, 2, 3]}}, \"fill_value\": 0, "
      "\"chunk_key_encoding\": {\"name\": \"default\"}, \"codecs\": "
      "[{\"name\": \"bytes\"}]}";

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = file_path ("newer.zarr");
    g_autofree gchar *inner = g_build_filename (path, "0", NULL);
    g_autofree gchar *text = g_strdup_printf (
        "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": "
        "{\"ome\": {\"version\": \"%s\", \"multiscales\": [{%s}]}}}",
        cases[i].version, cases[i].multiscale);
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;
    const NdGeometry *geometry;
    const gchar *const *warnings;

    g_assert_cmpint (g_mkdir_with_parents (inner, 0777), ==, 0);
    put_inside (path, "zarr.json", text);
    put_inside (inner, "zarr.json", described);
    reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    geometry = &nd_reader_recording (reader)->geometry;
    g_assert_true (geometry->known);
    g_assert_cmpfloat (geometry->spacing[0], ==, 0.25);
    g_assert_cmpfloat (geometry->spacing[2], ==, 2);
    warnings = nd_reader_warnings (reader);
    g_assert_cmpuint (g_strv_length ((gchar **) warnings), ==,
        cases[i].warning != NULL);
    if (cases[i].warning)
      g_assert_nonnull (strstr (warnings[0], cases[i].warning));
    remove_all (path);
  }
}

/* bioformats2raw writes a folder of images without an image of its own: the
 * first is read, and others are told. */
static void
test_collection (void)
{
  static const gchar described[] =
      "{\"zarr_format\": 2, \"shape\": [2, 3], \"chunks\": [2, 3], \"dtype\": "
      "\"|u1\", \"compressor\": null, \"order\": \"C\", \"filters\": null, "
      "\"fill_value\": 0}";
  static const gchar collection[] = "{\"bioformats2raw.layout\": 3}";
  static const gchar image[] =
      "{\"multiscales\": [{\"version\": \"0.4\", \"axes\": [{\"name\": \"y\", "
      "\"type\": \"space\"}, {\"name\": \"x\", \"type\": \"space\"}], "
      "\"datasets\": [{\"path\": \"0\"}]}]}";
  g_autofree gchar *path = file_path ("several.zarr");
  g_autofree gchar *first = g_build_filename (path, "0", NULL);
  g_autofree gchar *second = g_build_filename (path, "1", NULL);
  g_autofree gchar *array = g_build_filename (first, "0", NULL);
  guint8 data[6];

  g_assert_cmpint (g_mkdir_with_parents (array, 0777), ==, 0);
  put_inside (path, ".zattrs", collection);
  put_inside (first, ".zattrs", image);
  put_inside (array, ".zarray", described);
  put_inside (array, "0.0", "abcdef");
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);

    g_assert_no_error (error);
    g_assert_true (nd_reader_read (reader, data, &error));
    g_assert_cmpmem (data, 6, "abcdef", 6);
    g_assert_cmpint (!!nd_reader_warnings (reader)[0], ==, i);
    if (i == 0)
      g_assert_cmpint (g_mkdir (second, 0777), ==, 0);
    else
      g_assert_nonnull (strstr (*nd_reader_warnings (reader), "the first one"));
  }
  /* No collection in a collection. */
  put_inside (first, ".zattrs", collection);
  assert_refused (path, ND_ERROR_FORMAT, "no array of Zarr");
  remove_all (path);
}

int
main (int argc, char **argv)
{
  gint failed;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/zarr/round-trips", test_round_trips);
  g_test_add_func ("/zarr/partial", test_partial);
  g_test_add_func ("/zarr/not-written", test_not_written);
  g_test_add_func ("/zarr/full-disk", test_full_disk);
  g_test_add_func ("/zarr/refused", test_refused);
  g_test_add_func ("/zarr/chunks", test_chunks);
  g_test_add_func ("/zarr/many-files", test_many_files);
  g_test_add_func ("/zarr/paths", test_paths);
  g_test_add_func ("/zarr/old-versions", test_old_versions);
  g_test_add_func ("/zarr/newer-versions", test_newer_versions);
  g_test_add_func ("/zarr/collection", test_collection);
  failed = g_test_run ();
  remove_folder ();
  return failed;
}
