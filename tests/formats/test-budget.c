/* Files that ask for much memory are refused, or read in little: at most three
 * volumes, 64 MiB, and five times the text of a header. Every allocation of the
 * process is counted.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/formats/dicomfile.h"
#include "tests/formats/hostile.h"
#include "tests/fuzz/memory.h"

#include <glib/gstdio.h>

#define MIB ((gsize) 1 << 20)
#define VOLUMES 16

/* Reads the first volumes and the last one. Returns the peak of memory, with
 * the volume. */
static gsize
read_file (const gchar *path, guint64 max_memory, GError **error)
{
  g_autofree guint8 *data = NULL;
  const NdRecording *recording;
  NdReader *reader;
  gboolean ok = TRUE;
  gsize most;

  memory_begin ();
  reader = nd_reader_open_within (path, NULL, max_memory, ND_TRUNCATED_REFUSE,
      error);
  if (reader) {
    recording = nd_reader_recording (reader);
    data = g_malloc (nd_recording_volume_size (recording));
    for (guint64 v = 0; ok && v < MIN (recording->volumes, VOLUMES); v++)
      ok = nd_reader_read (reader, data, error);
    if (ok && nd_reader_seekable (reader)
        && nd_reader_seek (reader, recording->volumes - 1, error))
      nd_reader_read (reader, data, error);
    nd_reader_close (reader);
  }
  most = memory_most ();
  g_test_message ("%" G_GSIZE_FORMAT " KiB: %s", most / 1024,
      *error ? (*error)->message : "read");
  return most;
}

/* It must be refused with @code and @words in @most bytes. */
static void
refuse (const gchar *path, guint64 max_memory, gint code, const gchar *words,
    gsize most)
{
  g_autoptr (GError) error = NULL;
  const gsize used = read_file (path, max_memory, &error);

  g_assert_error (error, ND_ERROR, code);
  g_assert_nonnull (strstr (error->message, words));
  g_assert_cmpuint (used, <=, most);
}

static void
accept (const gchar *path, gsize most)
{
  g_autoptr (GError) error = NULL;
  const gsize used = read_file (path, 0, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (used, <=, most);
}

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

/* One file a million times, in lists and by a pattern. */
static void
test_lists (void)
{
  const guint n = 1 << 20;
  g_autofree gchar *path = file_path ("list.nrrd"), *file = file_path ("a");
  g_autofree gchar *mhd = file_path ("list.mhd");
  g_autoptr (GByteArray) list = begin_nrrd ("1 1 1 1048576", 4, "raw");
  g_autoptr (GByteArray) pattern = begin_nrrd ("1 1 1 1048576", 4, "raw");
  g_autoptr (GByteArray) meta = g_byte_array_new ();

  put_file (file, "x", 1);
  add_text (list, "data file: LIST\n");
  add_again (list, "a\n", n);
  put_bytes (path, list);
  refuse (path, 0, ND_ERROR_FORMAT, "more than 65536 files",
      5 * list->len + MIB);
  add_text (pattern, "data file: a%d 1 1048576 1\n\n");
  put_bytes (path, pattern);
  refuse (path, 0, ND_ERROR_FORMAT, "more than 65536 files", MIB);
  add_text (meta,
      "ObjectType = Image\nNDims = 4\nDimSize = 1 1 1 1048576\n"
      "ElementType = MET_UCHAR\nElementDataFile = LIST\n");
  add_again (meta, "a\n", n);
  put_bytes (mhd, meta);
  refuse (mhd, 0, ND_ERROR_FORMAT, "more than 65536 files",
      5 * meta->len + MIB);
  g_remove (mhd);
  g_remove (path);
  g_remove (file);
}

/* Two million values of an index, times or not, and as many keys. */
static void
test_header_values (void)
{
  const guint n = 2000000;
  g_autofree gchar *path = file_path ("values.nrrd");

  for (guint is_time = 0; is_time < 2; is_time++) {
    g_autoptr (GByteArray) index = begin_nrrd ("1 1 1 2000000", 4, "raw");
    gsize header;

    if (is_time)
      add_text (index, "kinds: domain domain domain time\n");
    add_text (index, "axis 3 index values:=");
    add_again (index, "1 ", n - 1);
    add_text (index, "1\n\n");
    header = index->len;
    add_zeros (index, n);
    put_bytes (path, index);
    accept (path, 6 * header);
  }
  for (guint kind = 0; kind < 2; kind++) {
    g_autoptr (GByteArray) fields = begin_nrrd ("1 1 1", 3, "raw");

    add_again (fields, kind == 0 ? "k:=\n" : "axis 3 item 0 k:=\n", n / 4);
    add_text (fields, "\n0");
    put_bytes (path, fields);
    accept (path, 6 * fields->len + 4 * MIB);
  }
  g_remove (path);
}

/* A value that would become many words. */
static void
test_words (void)
{
  static const gchar *const fields[] = { "kinds: ", "labels: \"",
    "sizes: ", "data file: %d " };
  g_autofree gchar *path = file_path ("words.nrrd");

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    g_autoptr (GByteArray) bytes = g_byte_array_new ();

    add_text (bytes, "NRRD0004\ntype: uchar\ndimension: 3\nencoding: raw\n");
    add_text (bytes, fields[i]);
    add_again (bytes, "a ", 4 << 20);
    add_text (bytes, "\n\n0");
    put_bytes (path, bytes);
    refuse (path, 0, ND_ERROR_FORMAT, "more than 8192 bytes",
        3 * bytes->len + MIB);
  }
  g_remove (path);
}

/* Lines before samples that do not end, in a file that takes no disk. */
static void
test_line_skip (void)
{
  g_autofree gchar *path = file_path ("skip.nhdr"), *raw = file_path ("s.raw");
  g_autoptr (GByteArray) bytes = begin_nrrd ("10 10 1", 3, "raw");

  add_text (bytes, "line skip: 9000000000000000000\ndata file: s.raw\n\n");
  put_bytes (path, bytes);
  put_file (raw, "", 0);
  if (truncate (raw, (off_t) 40 << 30) != 0) {
    g_test_skip ("the disk has no sparse files");
    return;
  }
  refuse (path, 0, ND_ERROR_FORMAT, "line skip", MIB);
  g_remove (path);
  g_remove (raw);
}

#ifdef HAVE_ZARR
static void
test_zarr (void)
{
  g_autofree gchar *index = NULL, *fill = NULL, *over = NULL;

  /* 1,000 shards, each with the index of a million chunks. */
  index = put_zarr ("index.zarr", "zarr.json",
      ZARR_3 ("[1, 1000, 1]", "[1, 1, 1048576]", SHARDS ("[1, 1, 1]")));
  refuse (index, 0, ND_ERROR_FORMAT, "chunks", MIB);
  remove_all (index);
  /* No chunk exists. */
  fill = put_zarr ("fill.zarr", "zarr.json",
      ZARR_3 ("[2048, 1024, 1024]", "[64, 1024, 1024]",
          "{\"name\": \"bytes\"}"));
  refuse (fill, 256 * MIB, ND_ERROR_MEMORY, "max-memory", MIB);
  remove_all (fill);
  /* A chunk that is far larger than the array. */
  over = put_zarr ("over.zarr", "zarr.json",
      ZARR_3 ("[1, 64, 64]", "[1, 16384, 65536]", "{\"name\": \"bytes\"}"));
  refuse (over, 0, ND_ERROR_FORMAT, "far more than its volumes", MIB);
  remove_all (over);
}

/* Shards of which each has many chunks: their indices are not kept. */
static void
test_shards (void)
{
  const gsize chunks = 1 << 16, bytes = 16 * chunks;
  g_autofree gchar *path = put_zarr ("shards.zarr", "zarr.json",
      ZARR_3 ("[1, 60, 1]", "[1, 1, 65536]", SHARDS ("[1, 1, 1]")));
  g_autofree guint8 *shard = g_malloc (bytes + 1);

  memset (shard, 0xff, bytes);
  ((guint64 *) shard)[0] = GUINT64_TO_LE (bytes);
  ((guint64 *) shard)[1] = GUINT64_TO_LE (1);
  for (guint i = 0; i < 60; i++) {
    g_autofree gchar *file = g_strdup_printf ("%s/c/0/%u/0", path, i);
    g_autofree gchar *parent = g_path_get_dirname (file);

    g_mkdir_with_parents (parent, 0777);
    put_file (file, shard, bytes + 1);
  }
  accept (path, MIB);
  remove_all (path);
}

static void
test_json (void)
{
  static const gchar *const values[] = { "{},", "[],", "\"a\",", "0,",
    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    const gboolean is_long = strlen (values[i]) > 10;
    g_autoptr (GByteArray) text = g_byte_array_new ();
    g_autofree gchar *path = NULL;

    add_text (text, "{\"zarr_format\": 3, \"node_type\": \"array\", \"a\": [");
    if (is_long)
      add_text (text, "\"");
    add_again (text, is_long ? values[i] + 1 : values[i],
        3800000 / strlen (values[i]));
    add_text (text, is_long ? "\"]}" : "0]}");
    add_zeros (text, 1);
    path = put_zarr ("json.zarr", "zarr.json", (const gchar *) text->data);
    refuse (path, 0, ND_ERROR_READ, "damaged", 3 * text->len);
    remove_all (path);
  }
}
#endif

#ifdef HAVE_TIFF
/* OME-XML that nests, that has many attributes, texts, elements. */
static void
test_ome (void)
{
  static const gchar *const parts[] = { "<a>", "<a/>", " a=\"\"", "text ",
    "<!-- -->", "<TiffData IFD=\"0\"/>", "<Plane DeltaT=\"0\"/>" };
  g_autofree gchar *path = file_path ("ome.tif");

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    const gboolean is_attribute = parts[i][0] == ' ';
    g_autoptr (GByteArray) text = g_byte_array_new (), bytes = NULL;

    add_text (text,
        "<?xml version=\"1.0\"?><OME><Image><Pixels DimensionOrder=\"XYZCT\" "
        "SizeX=\"4\" SizeY=\"4\" SizeZ=\"1\" SizeT=\"1\" SizeC=\"1\">");
    if (is_attribute)
      add_text (text, "<a");
    add_again (text, parts[i], 8000000 / strlen (parts[i]));
    add_text (text,
        is_attribute ? "/></Pixels></Image></OME>" : "</Pixels></Image></OME>");
    add_zeros (text, 1);
    bytes = make_tiff (text, 0);
    put_bytes (path, bytes);
    accept (path, 3 * bytes->len + MIB);
  }
  g_remove (path);
}

/* Thousands of fields that have the same megabyte as their bytes. */
static void
test_tags (void)
{
  g_autofree gchar *path = file_path ("tags.tif");
  g_autoptr (GByteArray) text = g_byte_array_new (), bytes = NULL;

  add_again (text, "x", MIB);
  add_zeros (text, 1);
  bytes = make_tiff (text, 4000);
  put_bytes (path, bytes);
  refuse (path, 0, ND_ERROR_READ, "more bytes than the file", 4 * MIB);
  g_remove (path);
}

/* Planes that the only page of a file does not have. */
static void
test_planes (void)
{
  g_autofree gchar *path = file_path ("planes.tif");
  g_autoptr (GByteArray) text = g_byte_array_new (), bytes = NULL;

  add_text (text,
      "<?xml version=\"1.0\"?><OME><Image><Pixels DimensionOrder=\"XYZCT\" "
      "SizeX=\"4\" SizeY=\"4\" SizeZ=\"1\" SizeT=\"16777216\" SizeC=\"1\">"
      "<TiffData IFD=\"0\" FirstT=\"7\"/></Pixels></Image></OME>");
  add_zeros (text, 1);
  bytes = make_tiff (text, 0);
  put_bytes (path, bytes);
  accept (path, 64 * MIB);
  g_remove (path);
}

/* Lines of ImageJ. */
static void
test_imagej (void)
{
  g_autofree gchar *path = file_path ("imagej.tif");
  g_autoptr (GByteArray) text = g_byte_array_new (), bytes = NULL;

  add_text (text, "ImageJ=1.53t\nimages=1\n");
  add_again (text, "\n", 8 * MIB);
  add_zeros (text, 1);
  bytes = make_tiff (text, 0);
  put_bytes (path, bytes);
  accept (path, 3 * bytes->len + 4 * MIB);
  g_remove (path);
}
#endif

/* A DICOM file of 256 x 256 pixels up to its elements, with the syntax. */
static DicomFile
begin_dicom (const gchar *syntax, const gchar *frames)
{
  const DicomPicture picture = { "MONOCHROME2", 1, 0, 8, 0, 0, 0 };
  DicomFile file = dicom_new (syntax);

  dicom_picture (&file, &picture);
  dicom_short (&file, 0x00280010, 256);
  dicom_short (&file, 0x00280011, 256);
  dicom_text (&file, 0x00280008, "IS", frames);
  return file;
}

/* A frame in fragments, after an empty table. */
static void
begin_fragments (DicomFile *file)
{
  dicom_head (file, 0x7fe00010, "OB", UNKNOWN_LENGTH);
  dicom_head (file, 0xfffee000, "", 0);
}

/* Items without bytes. */
static void
add_empty_items (DicomFile *file, guint n)
{
  static const gchar item[] = "\xfe\xff\0\xe0\0\0\0";
  const gsize at = file->bytes->len;

  add_zeros (file->bytes, 8 * (gsize) n);
  for (guint i = 0; i < n; i++)
    memcpy (file->bytes->data + at + 8 * (gsize) i, item, 8);
}

/* Millions of fragments and of frames without bytes, and a frame of many. */
static void
test_dicom (void)
{
  const guint n = 3 << 20;
  g_autofree gchar *path = file_path ("fragments.dcm");
  DicomFile file;

  file = begin_dicom (RLE, "1");
  begin_fragments (&file);
  add_empty_items (&file, n);
  put_bytes (path, file.bytes);
  g_byte_array_unref (file.bytes);
  refuse (path, 0, ND_ERROR_READ, "fragments are damaged", 64 * MIB);

  file = begin_dicom (EXPLICIT, "1");
  dicom_begin (&file, 0x52009230);
  add_empty_items (&file, n);
  put_bytes (path, file.bytes);
  g_byte_array_unref (file.bytes);
  refuse (path, 0, ND_ERROR_FORMAT, "without a picture", 64 * MIB);

  file = begin_dicom (RLE, "1");
  begin_fragments (&file);
  dicom_head (&file, 0xfffee000, "", 20 * MIB);
  add_zeros (file.bytes, 20 * MIB);
  put_bytes (path, file.bytes);
  g_byte_array_unref (file.bytes);
  refuse (path, 0, ND_ERROR_READ, "far more compressed bytes", MIB);
  g_remove (path);
}

/* Sixteen tiles with 16384 components of one. */
static void
test_jpeg2000 (void)
{
  static const guint8 begin[] = { 0xff, 0x4f, 0xff, 0x51, 0xc0, 0x26, 0, 0 };
  static const guint sizes[] = { 256, 256, 0, 0, 64, 64, 0, 0 };
  DicomFile file = begin_dicom ("1.2.840.10008.1.2.4.90", "1");
  g_autofree gchar *path = file_path ("components.dcm");
  g_autoptr (GError) error = NULL;
  gsize used;

  begin_fragments (&file);
  dicom_head (&file, 0xfffee000, "", 42 + 3 * 16384 + 100);
  g_byte_array_append (file.bytes, begin, sizeof (begin));
  file.big = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    dicom_append (&file, sizes[i], 4);
  dicom_append (&file, 16384, 2);
  for (guint i = 0; i < 16384; i++)
    dicom_append (&file, 0x070101, 3);
  add_zeros (file.bytes, 100);
  put_bytes (path, file.bytes);
  g_byte_array_unref (file.bytes);
  used = read_file (path, 0, &error);
  g_assert_nonnull (error);
  g_assert_cmpuint (used, <=, MIB);
  g_remove (path);
}

/* A recording of 256 MiB from a file of 260 KB. */
static void
test_bombs (void)
{
  g_autofree gchar *path = file_path ("bomb.nii.gz");
  g_autofree guint8 *bytes = g_malloc0 (4 * MIB);
  const gint16 dim[4] = { 3, 1024, 1024, 256 }, type[2] = { 2, 8 };
  const gint32 size = 348;
  const gfloat offset = 352;
  gzFile file = gzopen (path, "wb6");

  memcpy (bytes, &size, 4);
  memcpy (bytes + 40, dim, sizeof (dim));
  memcpy (bytes + 70, type, sizeof (type));
  memcpy (bytes + 108, &offset, 4);
  memcpy (bytes + 344, "n+1", 3);
  gzwrite (file, bytes, 352);
  memset (bytes, 0, 352);
  for (guint i = 0; i < 64; i++)
    gzwrite (file, bytes, 4 * MIB);
  g_assert_cmpint (gzclose (file), ==, Z_OK);
  refuse (path, 255 * MIB, ND_ERROR_MEMORY, "max-memory is 267386880", MIB);
  refuse (path, 1, ND_ERROR_MEMORY, path, MIB);
  accept (path, 258 * MIB);
  g_remove (path);
}

/* Headers of .npy of 4 GiB, nested, and archives of many arrays. */
static void
test_npy (void)
{
  g_autofree gchar *path = file_path ("header.npy");
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  const guint32 sizes[] = { 0xffffffff, 8 << 20 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const guint32 size = GUINT32_TO_LE (sizes[i]);

    g_byte_array_set_size (bytes, 0);
    g_byte_array_append (bytes, (const guint8 *) "\x93NUMPY\2\0", 8);
    g_byte_array_append (bytes, (const guint8 *) &size, 4);
    add_again (bytes, "(", 8 << 20);
    put_bytes (path, bytes);
    refuse (path, 0, ND_ERROR_READ, "64 KiB", 4 * MIB);
  }
  g_remove (path);
}

/* Extensions of NIfTI of 20 MB. */
static void
test_extension (void)
{
  const gint32 size = 20 << 20, head[2] = { size, 99 };
  const gint32 header = 540;
  const gint64 dim[4] = { 3, 2, 2, 2 }, offset = 544 + size;
  const gint16 type[2] = { 2, 8 };
  g_autofree gchar *path = file_path ("extension.nii");
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  add_zeros (bytes, 544 + size + 8);
  memcpy (bytes->data, &header, 4);
  memcpy (bytes->data + 4, "n+2\0\r\n\x1a\n", 8);
  memcpy (bytes->data + 12, type, sizeof (type));
  memcpy (bytes->data + 16, dim, sizeof (dim));
  memcpy (bytes->data + 168, &offset, 8);
  bytes->data[540] = 1;
  memcpy (bytes->data + 544, head, sizeof (head));
  put_bytes (path, bytes);
  accept (path, 5 * (gsize) size);
  refuse (path, 50 * MIB, ND_ERROR_MEMORY, "max-memory", 50 * MIB + MIB);
  g_remove (path);
}

static void
add_number (GByteArray *bytes, guint32 number)
{
  const guint32 little = GUINT32_TO_LE (number);

  g_byte_array_append (bytes, (const guint8 *) &little, 4);
}

/* Metadata of Micro-Manager, with many values and with many planes. */
static void
test_metadata (void)
{
  static const gchar slice[] =
      "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 2 2\nencoding: raw\n\nabcd";
  g_autofree gchar *series = file_path ("mm");
  g_autofree gchar *path = g_build_filename (series, "metadata.txt", NULL);
  g_autofree gchar *a =
      g_build_filename (series, "img_000000000_a_000.tif", NULL);
  g_autofree gchar *b =
      g_build_filename (series, "img_000000001_a_000.tif", NULL);
  g_autoptr (GByteArray) text = g_byte_array_new ();

  g_assert_cmpint (g_mkdir (series, 0777), ==, 0);
  put_file (a, slice, sizeof (slice) - 1);
  put_file (b, slice, sizeof (slice) - 1);
  g_byte_array_append (text, (const guint8 *) "{", 1);
  while (text->len < 20 * MIB) {
    static const gchar plane[] =
        "\"F\":{\"Frame\":1,\"Slice\":0,\"ElapsedTime-ms\":3,\"x\":[{}]},";

    g_byte_array_append (text, (const guint8 *) plane, sizeof (plane) - 1);
  }
  put_bytes (path, text);
  accept (series, 24 * MIB);
  remove_all (series);
}

/* Lengths of NDTiff.index, and planes far apart. */
static void
test_index (void)
{
  g_autofree gchar *series = file_path ("ndtiff");
  g_autofree gchar *path = g_build_filename (series, "NDTiff.index", NULL);
  g_autoptr (GByteArray) name = g_byte_array_new ();
  g_autoptr (GByteArray) far = g_byte_array_new ();

  g_assert_cmpint (g_mkdir (series, 0777), ==, 0);
  add_number (name, 2);
  g_byte_array_append (name, (const guint8 *) "{}", 2);
  add_number (name, 20 << 20);
  add_zeros (name, (20 << 20) + 32);
  put_bytes (path, name);
  refuse (series, 0, ND_ERROR_READ, "ends within", 42 * MIB);
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *axes =
        g_strdup_printf ("{\"time\":%u,\"z\":%u}", i * 4000, i * 4000);

    add_number (far, strlen (axes));
    g_byte_array_append (far, (const guint8 *) axes, strlen (axes));
    add_number (far, 1);
    g_byte_array_append (far, (const guint8 *) "x", 1);
    for (guint k = 0; k < 8; k++)
      add_number (far, k == 1 || k == 2);
  }
  put_bytes (path, far);
  refuse (series, 0, ND_ERROR_READ, "more planes", MIB);
  remove_all (series);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *warm = NULL;
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  /* What libraries keep for ever. */
  warm = file_path ("none");
  nd_reader_open (warm, NULL, NULL);
  g_test_add_func ("/budget/lists", test_lists);
  g_test_add_func ("/budget/header-values", test_header_values);
  g_test_add_func ("/budget/words", test_words);
  g_test_add_func ("/budget/line-skip", test_line_skip);
#ifdef HAVE_ZARR
  g_test_add_func ("/budget/zarr", test_zarr);
  g_test_add_func ("/budget/shards", test_shards);
  g_test_add_func ("/budget/json", test_json);
#endif
#ifdef HAVE_TIFF
  g_test_add_func ("/budget/ome", test_ome);
  g_test_add_func ("/budget/tags", test_tags);
  g_test_add_func ("/budget/planes", test_planes);
  g_test_add_func ("/budget/imagej", test_imagej);
#endif
  g_test_add_func ("/budget/dicom", test_dicom);
  g_test_add_func ("/budget/jpeg2000", test_jpeg2000);
  g_test_add_func ("/budget/bombs", test_bombs);
  g_test_add_func ("/budget/npy", test_npy);
  g_test_add_func ("/budget/extension", test_extension);
  g_test_add_func ("/budget/metadata", test_metadata);
  g_test_add_func ("/budget/index", test_index);
  status = g_test_run ();
  remove_folder ();
  return status;
}
