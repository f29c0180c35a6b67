/* Recordings of many files, as folders: names, metadata of Micro-Manager,
 * NDTiff, and OME-TIFF of several files, of which each is opened.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/micromanager.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include <string.h>

/* Of a folder; more add nothing but time. */
#define FILES_MAX 8

#define OME                                                                  \
  "<OME><Image><Pixels DimensionOrder=\"XYZCT\" Type=\"uint8\" SizeX=\"3\" " \
  "SizeY=\"2\" SizeZ=\"1\" SizeC=\"1\" SizeT=\"2\"><TiffData IFD=\"0\">"     \
  "<UUID FileName=\"a.tif\"/></TiffData><TiffData FirstT=\"1\" IFD=\"0\">"   \
  "<UUID FileName=\"b.tif\"/></TiffData></Pixels></Image></OME>"

#define PART \
  "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 3 2\nencoding: raw\n\nabcdef"

const gchar *const fuzz_name = "series";

guint32
fuzz_input (const guint8 *bytes, gsize n)
{
  g_auto (NdMicroManager) found = { 0 };
  g_autofree gchar *folder = fuzz_folder_make (bytes, n);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;
  guint32 sum = fuzz_folder_read (folder);

  nd_micro_manager_parse (&found, (const gchar *) bytes, n);
  for (guint i = 0; i < FILES_MAX && (name = g_dir_read_name (dir)); i++) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);

    if (g_str_has_suffix (name, ".tif"))
      sum ^= fuzz_folder_read (path);
  }
  fuzz_folder_remove (folder);
  return sum;
}

static void
append_file (GByteArray *seed, const gchar *name, gconstpointer bytes, gsize n)
{
  g_autofree gchar *line =
      g_strdup_printf ("%s %" G_GSIZE_FORMAT "\n", name, n);

  g_byte_array_append (seed, (const guint8 *) line, strlen (line));
  g_byte_array_append (seed, bytes, n);
}

static void
append_names (GPtrArray *seeds, const gchar *const *names, const gchar *text)
{
  GByteArray *seed = g_byte_array_new ();

  if (text)
    append_file (seed, "metadata.txt", text, strlen (text));
  for (; *names; names++)
    append_file (seed, *names, PART, strlen (PART));
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (seed));
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
append_ndtiff (GPtrArray *seeds)
{
  static const gchar *const axes[] = { "{\"time\":0,\"channel\":\"a\"}",
    "{\"time\":1,\"channel\":\"a\"}", "{\"time\":1,\"channel\":\"b\"}" };
  g_autoptr (GByteArray) index = g_byte_array_new ();
  g_autoptr (GByteArray) stack = g_byte_array_new ();
  GByteArray *seed = g_byte_array_new ();

  g_byte_array_append (stack, (const guint8 *) "II*\0\0\0\0\0", 8);
  append32 (stack, 483729);
  append32 (stack, 2);
  append32 (stack, 2355492);
  append_text (stack, "{\"z-step_um\": 1, \"ElapsedTime-ms\": 5}");
  for (guint i = 0; i < G_N_ELEMENTS (axes); i++) {
    const guint32 numbers[] = { 24, 3, 2, 0, 0, 24, 20, 0 };

    append_text (index, axes[i]);
    append_text (index, "x.tif");
    for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
      append32 (index, numbers[k]);
  }
  append_file (seed, "NDTiff.index", index->data, index->len);
  append_file (seed, "x.tif", stack->data, stack->len);
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (seed));
}

/* A directory with what must be there, after it the description and the
 * samples. */
static void
append_ome (GPtrArray *seeds)
{
  const guint32 place = 8 + 2 + 8 * 12 + 4;
  const guint32 entries[8][4] = { { 256, 4, 1, 3 }, { 257, 4, 1, 2 },
    { 258, 3, 1, 8 }, { 262, 3, 1, 1 }, { 270, 2, sizeof (OME), place },
    { 273, 4, 1, place + sizeof (OME) }, { 278, 4, 1, 2 }, { 279, 4, 1, 6 } };
  g_autoptr (GByteArray) file = g_byte_array_new ();
  GByteArray *seed = g_byte_array_new ();

  g_byte_array_append (file, (const guint8 *) "II*\0\10\0\0\0\10\0", 10);
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++) {
    append32 (file, entries[i][0] | entries[i][1] << 16);
    append32 (file, entries[i][2]);
    append32 (file, entries[i][3]);
  }
  append32 (file, 0);
  g_byte_array_append (file, (const guint8 *) OME, sizeof (OME));
  g_byte_array_append (file, (const guint8 *) "abcdef", 6);
  append_file (seed, "a.tif", file->data, file->len);
  append_file (seed, "b.tif", file->data, file->len);
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (seed));
}

void
fuzz_seeds (GPtrArray *seeds)
{
  static const gchar *const plain[] = { "i1.nrrd", "i2.nrrd", "i3.nrrd", NULL };
  static const gchar *const named[] = { "t1_z1_c1.nrrd", "t1_z2_c1.nrrd",
    "t2_z1_c1.nrrd", NULL };
  static const gchar *const old[] = { "img_000000000_a_000.tif",
    "img_000000001_a_000.tif", "img_000000001_b2_000.tif", NULL };

  append_names (seeds, plain, NULL);
  append_names (seeds, named, NULL);
  append_names (seeds, old,
      "{\"Summary\": {\"ChNames\": [\"a\", \"b2\"], \"PixelSize_um\": 1}, "
      "\"FrameKey-0-0-0\": {\"Frame\": 0, \"ElapsedTime-ms\": 1}, "
      "\"FrameKey-1-0-0\": {\"Frame\": 1, \"ElapsedTime-ms\": 9}}");
  append_ndtiff (seeds);
  append_ome (seeds);
}
