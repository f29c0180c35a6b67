/* Recordings of many files: patterns, folders of slices and of volumes, the
 * names and metadata of Micro-Manager, NDTiff. Files have the content of NRRD,
 * whatever their names say.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/stored.h"
#include "tests/formats/samples.h"

#include <glib/gstdio.h>
#include <unistd.h>

#define X 3
#define Y 2
#define PIXELS (X * Y)

static gchar *
make_series (const gchar *name)
{
  gchar *path = file_path (name);

  g_assert_cmpint (g_mkdir (path, 0777), ==, 0);
  return path;
}

static void
remove_series (const gchar *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir))) {
    g_autofree gchar *file = g_build_filename (path, name, NULL);

    g_remove (file);
  }
  g_dir_close (dir);
  g_rmdir (path);
}

/* A file whose samples are @value, @value + 1, ...; @z slices, at the place
 * @place along z. */
static void
put_part (const gchar *series, const gchar *name, guint z, gdouble place,
    guint8 value)
{
  g_autofree gchar *path = g_build_filename (series, name, NULL);
  g_autofree gchar *text =
      g_strdup_printf ("NRRD0004\ntype: uint8\ndimension: 3\nsizes: %d %d %u\n"
                       "space: left-posterior-superior\n"
                       "space directions: (0.5,0,0) (0,0.25,0) (0,0,1)\n"
                       "space origin: (1,2,%g)\nencoding: raw\n\n",
          X, Y, z, place);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) text, strlen (text));
  for (guint i = 0; i < z * PIXELS; i++) {
    const guint8 sample = value + i;

    g_byte_array_append (bytes, &sample, 1);
  }
  put_file (path, bytes->data, bytes->len);
}

static NdReader *
open_hinted (const gchar *path, const gchar *size)
{
  g_autoptr (GError) error = NULL;
  NdRecording hint;
  NdReader *reader;

  g_assert_true (nd_recording_init_raw (&hint, size, 1, ND_UINT8));
  reader = nd_reader_open (path, &hint, &error);
  g_assert_no_error (error);
  return reader;
}

/* The first sample of the next volume, and that of each of its slices. */
static void
assert_slices (NdReader *reader, const guint8 *values, guint n)
{
  gsize samples;
  g_autofree gdouble *numbers = read_numbers (reader, &samples);

  for (guint z = 0; z < n; z++)
    g_assert_cmpfloat (numbers[z * samples / n], ==, values[z]);
}

static gboolean
has_warning (NdReader *reader, const gchar *words)
{
  const gchar *const *text = nd_reader_warnings (reader);

  while (*text && !strstr (*text, words))
    text++;
  return *text != NULL;
}

/* Slices in the order of their numbers; frames on demand. */
static void
test_slices (void)
{
  static const guint8 values[] = { 10, 20, 30, 40 };
  g_autofree gchar *series = make_series ("slices");
  g_autofree gchar *pattern = g_build_filename (series, "img_%d.nrrd", NULL);
  g_autofree gchar *wide = g_build_filename (series, "img_%04d.nrrd", NULL);
  g_autofree gchar *notes = g_build_filename (series, "notes.txt", NULL);
  const gchar *const paths[] = { series, pattern };

  put_part (series, "img_11.nrrd", 1, 30, 40);
  put_part (series, "img_8.nrrd", 1, 0, 10);
  put_part (series, "img_10.nrrd", 1, 20, 30);
  put_part (series, "img_9.nrrd", 1, 10, 20);
  put_file (notes, "text", 4);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    g_autoptr (NdReader) reader = open_file (paths[i]);
    g_autoptr (NdReader) frames = open_hinted (paths[i], "3:2:1");
    const NdGeometry *geometry = &nd_reader_recording (reader)->geometry;

    assert_size (reader, 1, 4, Y, X, 1);
    g_assert_true (has_warning (reader, "frames over time"));
    assert_slices (reader, values, 4);
    /* As ITK: the origins tell the distance. */
    g_assert_cmpfloat (geometry->spacing[2], ==, 10);
    g_assert_cmpfloat (geometry->origin[0], ==, -1);
    assert_size (frames, 4, 1, Y, X, 1);
    for (guint v = 0; v < 4; v++)
      assert_slices (frames, values + v, 1);
    g_assert_true (nd_reader_seek (frames, 2, NULL));
    assert_slices (frames, values + 2, 1);
    g_assert_null (nd_reader_not_held (reader));
  }
  assert_refused (wide, ND_ERROR_NOT_FOUND, "No file has a name like");
  put_part (series, "img_12.nrrd", 2, 0, 50);
  assert_refused (series, ND_ERROR_FORMAT, "another size or type");
  remove_series (series);
}

/* Volumes follow each other in time; compressed ones are read twice. */
static void
test_volumes (void)
{
  g_autofree gchar *series = make_series ("volumes");
  const guint8 first[] = { 1, 1 + PIXELS }, second[] = { 50, 50 + PIXELS };
  g_autofree gchar *other = g_build_filename (series, "v_3.nrrd", NULL);

  put_part (series, "v_1.nrrd", 2, 0, 1);
  put_part (series, "v_2.nrrd", 2, 0, 50);
  {
    g_autoptr (NdReader) reader = open_file (series);

    assert_size (reader, 2, 2, Y, X, 1);
    assert_slices (reader, first, 2);
    assert_slices (reader, second, 2);
    g_assert_true (nd_reader_seek (reader, 0, NULL));
    assert_slices (reader, first, 2);
  }
  put_file (other, "NRRD0004\n", 9);
  assert_refused (series, ND_ERROR_READ, "v_3.nrrd");
  {
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader =
        nd_reader_open_within (series, NULL, 0, ND_TRUNCATED_KEEP, &error);

    g_assert_no_error (error);
    assert_size (reader, 2, 2, Y, X, 1);
    g_assert_true (has_warning (reader, "v_3.nrrd"));
  }
  remove_series (series);
}

/* Names say what their numbers count, in any order; one file is missing. */
static void
test_names (void)
{
  g_autofree gchar *series = make_series ("names");
  gsize n;

  for (guint t = 0; t < 2; t++) {
    for (guint z = 0; z < 3; z++) {
      for (guint c = 0; c < 2; c++) {
        g_autofree gchar *name =
            g_strdup_printf ("h2_ch%u_z%u-t%03u.nrrd", c, z + 9, t);

        if (t != 1 || z != 2 || c != 1)
          put_part (series, name, 1, z, 100 * t + 30 * z + 10 * c);
      }
    }
  }
  {
    g_autoptr (NdReader) reader = open_file (series);
    g_autofree gdouble *first = NULL, *second = NULL;

    assert_size (reader, 2, 3, Y, X, 2);
    g_assert_true (has_warning (reader, "lacks 1 of the 12 files"));
    first = read_numbers (reader, &n);
    second = read_numbers (reader, &n);
    for (guint z = 0; z < 3; z++) {
      for (guint c = 0; c < 2; c++) {
        const guint at = 2 * (z * PIXELS + 4) + c;

        g_assert_cmpfloat (first[at], ==, 30 * z + 10 * c + 4);
        g_assert_cmpfloat (second[at], ==,
            z == 2 && c == 1 ? 0 : 100 + 30 * z + 10 * c + 4);
      }
    }
  }
  remove_series (series);
}

#define FRAME(T, C, Z, MS)                                                \
  "\"FrameKey-" #T "-" #C "-" #Z "\": {\"Frame\": " #T ", \"Slice\": " #Z \
  ", \"ChannelIndex\": " #C ", \"ElapsedTime-ms\": " #MS                  \
  ", \"UserData\": {\"x\": [1, 2]}}"

static void
test_micro_manager (void)
{
  static const gchar text[] =
      "{\"Summary\": {\"PixelSize_um\": 0.5, \"z-step_um\": 2.5, "
      "\"ChNames\": [\"Cy5\", \"405\"], \"Interval_ms\": 0}, " FRAME (0, 0, 0,
          100) ", " FRAME (0, 1, 0, 120) ", " FRAME (1, 0, 0,
          350) ", " FRAME (2, 0, 0, 600) "}";
  static const gchar *const channels[] = { "Cy5", "405" };
  g_autofree gchar *series = make_series ("mm");
  g_autofree gchar *metadata = g_build_filename (series, "metadata.txt", NULL);
  gsize n;

  put_file (metadata, text, sizeof (text) - 1);
  for (guint t = 0; t < 3; t++) {
    for (guint z = 0; z < 2; z++) {
      for (guint c = 0; c < 2; c++) {
        g_autofree gchar *name =
            g_strdup_printf ("img_%09u_%s_%03u.tif", t, channels[c], z);

        put_part (series, name, 1, 0, 50 * t + 20 * z + 10 * c);
      }
    }
  }
  {
    g_autoptr (NdReader) reader = open_file (series);
    const NdRecording *recording = nd_reader_recording (reader);
    g_autofree gdouble *numbers = NULL;

    assert_size (reader, 3, 2, Y, X, 2);
    g_assert_null (*nd_reader_warnings (reader));
    g_assert_cmpfloat (recording->geometry.spacing[0], ==, 0.5e-3);
    g_assert_cmpfloat (recording->geometry.spacing[2], ==, 2.5e-3);
    g_assert_cmpint (recording->rate_n, ==, 4);
    g_assert_cmpint (nd_reader_metadata (reader)->origin, ==, 100000000);
    g_assert_true (nd_reader_seek (reader, 1, NULL));
    numbers = read_numbers (reader, &n);
    g_assert_cmpfloat (numbers[0], ==, 50);
    g_assert_cmpfloat (numbers[1], ==, 60);
    g_assert_cmpfloat (numbers[2 * PIXELS + 3], ==, 50 + 20 + 10 + 1);
  }
  remove_series (series);
}

/* Version 2 of the names; the first of two positions. */
static void
test_positions (void)
{
  g_autofree gchar *series = make_series ("positions");

  for (guint p = 0; p < 2; p++) {
    for (guint t = 0; t < 2; t++) {
      g_autofree gchar *name =
          g_strdup_printf ("img_channel000_position%03u_time%09u_z000.tif", p,
              t);

      put_part (series, name, 1, 0, 100 * p + 10 * t);
    }
  }
  {
    static const guint8 values[] = { 0, 10 };
    g_autoptr (NdReader) reader = open_file (series);

    assert_size (reader, 2, 1, Y, X, 1);
    g_assert_true (has_warning (reader, "2 positions"));
    assert_slices (reader, values, 1);
    assert_slices (reader, values + 1, 1);
  }
  remove_series (series);
}

static void
append32 (GByteArray *bytes, guint32 number)
{
  const guint32 little = GUINT32_TO_LE (number);

  g_byte_array_append (bytes, (const guint8 *) &little, 4);
}

static void
append_text (GByteArray *bytes, const gchar *text)
{
  append32 (bytes, strlen (text));
  g_byte_array_append (bytes, (const guint8 *) text, strlen (text));
}

static void
append_entry (GByteArray *index, const gchar *axes, guint32 offset,
    guint32 compression)
{
  const guint32 numbers[] = { offset, X, Y, 0, compression, 0, 0, 0 };

  append_text (index, axes);
  append_text (index, "x_NDTiffStack.tif");
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    append32 (index, numbers[i]);
}

static void
test_ndtiff (void)
{
  static const gchar summary[] = "{\"z-step_um\": 2, \"PixelSize_um\": 1}";
  g_autofree gchar *series = make_series ("ndtiff");
  g_autofree gchar *stack =
      g_build_filename (series, "x_NDTiffStack.tif", NULL);
  g_autofree gchar *index_path =
      g_build_filename (series, "NDTiff.index", NULL);
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (GByteArray) index = g_byte_array_new ();
  const gchar *const paths[] = { series, stack };
  guint begin;

  g_byte_array_append (file, (const guint8 *) "II*\0\0\0\0\0", 8);
  append32 (file, 483729);
  append32 (file, 3);
  append32 (file, 1);
  append32 (file, 2355492);
  append_text (file, summary);
  begin = file->len;
  for (guint8 i = 0; i < 4 * PIXELS; i++)
    g_byte_array_append (file, &i, 1);
  /* Time 1 has lost the plane of DAPI. */
  append_entry (index, "{\"time\":0,\"channel\":\"GFP\"}", begin, 0);
  append_entry (index, "{\"time\":0,\"channel\":\"DAPI\"}", begin + PIXELS, 0);
  append_entry (index, "{\"time\":1,\"channel\":\"GFP\"}", begin + 3 * PIXELS,
      0);
  put_file (stack, file->data, file->len);
  put_file (index_path, index->data, index->len);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    g_autoptr (NdReader) reader = open_file (paths[i]);
    g_autofree gdouble *first = NULL, *second = NULL;
    gsize n;

    assert_size (reader, 2, 1, Y, X, 2);
    g_assert_true (has_warning (reader, "lacks 1 of 4 planes"));
    g_assert_cmpfloat (nd_reader_recording (reader)->geometry.spacing[2], ==,
        2e-3);
    first = read_numbers (reader, &n);
    second = read_numbers (reader, &n);
    g_assert_cmpfloat (first[2], ==, 1);
    g_assert_cmpfloat (first[3], ==, PIXELS + 1);
    g_assert_cmpfloat (second[2], ==, 3 * PIXELS + 1);
    g_assert_cmpfloat (second[3], ==, 0);
  }
  append_entry (index, "{\"time\":2,\"channel\":\"GFP\"}", begin + 4 * PIXELS,
      0);
  put_file (index_path, index->data, index->len);
  assert_refused (series, ND_ERROR_READ, "truncated");
  put_file (index_path, index->data, index->len - 5);
  assert_refused (series, ND_ERROR_READ, "ends within");
  append_entry (index, "{\"view\":2}", begin, 0);
  put_file (index_path, index->data, index->len);
  assert_refused (series, ND_ERROR_READ, "an axis that is not");
  put_file (index_path, "", 0);
  assert_refused (series, ND_ERROR_READ, "empty");
  remove_series (series);
}

/* No series. */
static void
test_refused (void)
{
  g_autofree gchar *series = make_series ("refused");
  gchar name[512];

  assert_refused (series, ND_ERROR_OPEN_READ, "names differ in numbers");
  for (guint i = 2; i-- > 0;) {
    /* Positions of Micro-Manager. */
    g_snprintf (name, sizeof (name), "%s/Pos%u", series, i);
    g_assert_cmpint (g_mkdir (name, 0777), ==, 0);
  }
  assert_refused (series, ND_ERROR_OPEN_READ, "in it, such as \"Pos0\"");
  for (guint i = 0; i < 2; i++) {
    g_snprintf (name, sizeof (name), "%s/Pos%u", series, i);
    g_assert_cmpint (g_rmdir (name), ==, 0);
  }
  put_part (series, "one.nrrd", 1, 0, 0);
  assert_refused (series, ND_ERROR_OPEN_READ, "names differ in numbers");
  for (guint i = 0; i < 10; i++) {
    g_snprintf (name, sizeof (name), "t%u_z%u_c%u.nrrd", i, i, i);
    put_part (series, name, 1, 0, 0);
  }
  assert_refused (series, ND_ERROR_FORMAT, "most have no file");
  remove_series (series);
}

/* A folder of a stranger must not show other files. */
static void
test_links (void)
{
  g_autofree gchar *series = make_series ("links");
  g_autofree gchar *other = make_series ("linked");
  g_autofree gchar *target = g_build_filename (other, "secret.nrrd", NULL);
  g_autofree gchar *link = g_build_filename (series, "p_1.nrrd", NULL);

  put_part (other, "secret.nrrd", 1, 1, 50);
  put_part (series, "p_2.nrrd", 1, 0, 0);
  g_assert_cmpint (symlink (target, link), ==, 0);
  assert_refused (series, ND_ERROR_OPEN_READ, "symbolic link");
  remove_series (series);
  remove_series (other);
}

/* Slices with several responses would lie in another order. */
static void
test_responses (void)
{
  static const gchar header[] = "NRRD0004\ntype: uint8\ndimension: 3\n"
                                "sizes: 2 2 2\nkinds: domain domain vector\n"
                                "encoding: raw\n\n01234567";
  g_autofree gchar *series = make_series ("responses");

  for (guint i = 1; i <= 3; i++) {
    g_autofree gchar *name = g_strdup_printf ("img_z%u.nrrd", i);
    g_autofree gchar *path = g_build_filename (series, name, NULL);

    g_assert_true (g_file_set_contents (path, header, -1, NULL));
  }
  assert_refused (series, ND_ERROR_FORMAT, "files of one slice");
  remove_series (series);
}

int
main (int argc, char **argv)
{
  int result;

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/file-series/slices", test_slices);
  g_test_add_func ("/file-series/volumes", test_volumes);
  g_test_add_func ("/file-series/names", test_names);
  g_test_add_func ("/file-series/micro-manager", test_micro_manager);
  g_test_add_func ("/file-series/positions", test_positions);
  g_test_add_func ("/file-series/ndtiff", test_ndtiff);
  g_test_add_func ("/file-series/refused", test_refused);
  g_test_add_func ("/file-series/links", test_links);
  g_test_add_func ("/file-series/responses", test_responses);
  make_folder ();
  result = g_test_run ();
  remove_folder ();
  return result;
}
