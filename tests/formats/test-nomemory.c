/* The n-th large allocation fails, for each n, while recordings of all formats
 * are read: that gives an error, and neither ends the process nor leaks. Then
 * the same file is read again.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/formats/hostile.h"
#include "tests/fuzz/memory.h"

#include <glib/gstdio.h>

/* Smaller allocations have sizes that no file decides. */
#define LARGE (32 * 1024)

/* Of GLib's and libraries' own caches. */
#define SMALL_LEAK 8192

#define VOLUMES 3
#define FIELDS 2000

/* Reads all volumes into @data. Returns their sum; 0 after an error. */
static guint32
read_volumes (const gchar *path, guint8 *data, gsize size, GError **error)
{
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, error);
  const NdRecording *recording;
  guint32 sum = 1;

  if (!reader)
    return 0;
  recording = nd_reader_recording (reader);
  g_assert_cmpuint (nd_recording_volume_size (recording), <=, size);
  for (guint64 v = 0; v < recording->volumes; v++) {
    if (!nd_reader_read (reader, data, error))
      return 0;
    sum = crc32_z (sum, data, nd_recording_volume_size (recording));
  }
  return sum;
}

/* Allocations that failed in all tests. */
static guint failed;

static void
check (const gchar *path)
{
  const gsize size = 4 << 20;
  g_autofree guint8 *data = g_malloc0 (size);
  g_autoptr (GError) error = NULL;
  const guint32 sum = read_volumes (path, data, size, &error);
  guint errors = 0;

  g_assert_no_error (error);
  for (guint n = 1;; n++) {
    guint32 found;

    memory_begin ();
    memory_fail (n, LARGE);
    found = read_volumes (path, data, size, &error);
    if (!memory_has_failed ()) {
      memory_fail (0, 0);
      break;
    }
    if (error) {
      g_assert_true (error->domain == ND_ERROR);
      g_assert_cmpint (error->code, !=, ND_ERROR_FORMAT);
      errors++;
    } else {
      g_assert_cmpuint (found, ==, sum);
    }
    g_clear_error (&error);
    g_assert_cmpint (memory_now (), <=, SMALL_LEAK);
    g_assert_cmpuint (read_volumes (path, data, size, &error), ==, sum);
    g_assert_no_error (error);
  }
  g_test_message ("%s: %u errors", path, errors);
  failed += errors;
}

static NdMetadata *
make_metadata (void)
{
  NdMetadata *metadata = nd_metadata_new (NULL);
  g_autofree gchar *text = g_strnfill (200, 'x');
  g_autofree gchar *longest = g_strnfill (100000, 'y');

  nd_metadata_add (metadata, "long", longest);
  nd_metadata_add (metadata, "NIfTI.extension.4", longest);
  for (guint v = 0; v < VOLUMES; v++) {
    const gint64 time = v * (v + 1) * G_GINT64_CONSTANT (1000000);

    nd_list_add (metadata->times, time);
    for (guint i = 0; i < FIELDS; i++)
      nd_metadata_add_to_volume (metadata, v, "field", text);
  }
  return metadata;
}

/* Files that NdWriter writes. */
static void
test_written (gconstpointer name)
{
  static const NdSampleType types[] = { ND_UINT8, ND_INT16, ND_FLOAT64 };
  const gboolean compress = g_str_has_prefix (name, "c");

  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    const NdRecording recording = { .type = types[i],
      .shape = { 1, { 200, 200, 6 } },
      .responses = 1,
      .rate_d = 1 };
    const gsize size = nd_recording_volume_size (&recording);
    g_autofree gchar *path = file_path (name);
    g_autofree guint8 *data = g_malloc0 (size);
    g_autoptr (NdMetadata) metadata = make_metadata ();
    g_autoptr (GError) error = NULL;
    NdWriter *writer = nd_writer_open (path, compress, &error);

    g_assert_no_error (error);
    nd_writer_begin (writer, &recording, &error);
    g_assert_no_error (error);
    nd_writer_set_source (writer, metadata, VOLUMES);
    for (guint v = 0; v < VOLUMES; v++) {
      for (gsize s = 0; s < size / 3; s++)
        data[s] = s * s >> 3;
      nd_writer_write (writer, data, g_array_index (metadata->times, gint64, v),
          &error);
      g_assert_no_error (error);
    }
    nd_writer_finish (writer, &error);
    g_assert_no_error (error);
    nd_writer_close (writer);
    check (path);
    /* Of .zarr, the folder stays. */
    if (g_remove (path) != 0) {
      g_autofree gchar *command = g_strdup_printf ("rm -r '%s'", path);

      g_assert_cmpint (system (command), ==, 0);
    }
  }
}

/* NRRD with time first, with values of an index, and with a list of files. */
static void
test_nrrd (void)
{
  g_autofree gchar *path = file_path ("t.nrrd"), *raw = file_path ("r.raw");
  g_autoptr (GByteArray) first = begin_nrrd ("9 100 100 10", 4, "raw");
  g_autoptr (GByteArray) index = begin_nrrd ("1 1 1 60000", 4, "raw");
  g_autoptr (GByteArray) list = begin_nrrd ("100 1 1 9000", 4, "raw");
  const guint8 bytes[100] = { 7 };

  add_text (first, "kinds: time domain domain domain\n\n");
  add_zeros (first, 900000);
  put_bytes (path, first);
  check (path);
  add_text (index, "kinds: domain domain domain time\naxis 3 index values:=");
  add_again (index, "1.5 ", 59999);
  add_text (index, "2\n\n");
  add_zeros (index, 60000);
  put_bytes (path, index);
  check (path);
  put_file (raw, bytes, sizeof (bytes));
  add_text (list, "data file: LIST\n");
  add_again (list, "r.raw\n", 9000);
  put_bytes (path, list);
  check (path);
  g_remove (path);
  g_remove (raw);
}

static void
test_npz (void)
{
  g_autofree gchar *path = file_path ("many.npz");
  g_autofree gchar *command = g_strdup_printf (
      "python3 -c 'import zipfile\n"
      "h = b\"{\\\"descr\\\": \\\"|u1\\\", \\\"fortran_order\\\": False, "
      "\\\"shape\\\": (300, 300), }\"\n"
      "with zipfile.ZipFile(\"%s\", \"w\", zipfile.ZIP_DEFLATED) as z:\n"
      "    z.writestr(\"big.npy\", b\"\\x93NUMPY\\1\\0\" + "
      "bytes([len(h), 0]) + h + bytes(90000))\n"
      "    for i in range(2000):\n"
      "        z.writestr(f\"{i}.npy\", b\"\")\n'",
      path);

  g_assert_cmpint (system (command), ==, 0);
  check (path);
  g_remove (path);
}

#ifdef HAVE_TIFF
static void
test_tiff (void)
{
  g_autofree gchar *path = file_path ("ome.tif");
  g_autoptr (GByteArray) text = g_byte_array_new (), bytes = NULL;

  add_text (text,
      "<?xml version=\"1.0\"?><OME><Image><Pixels DimensionOrder=\"XYZCT\" "
      "SizeX=\"4\" SizeY=\"4\" SizeZ=\"1\" SizeT=\"1\" SizeC=\"1\">");
  add_again (text, "<a b=\"c\"/> text <!-- comment -->", 10000);
  add_text (text, "</Pixels></Image></OME>");
  add_zeros (text, 1);
  bytes = make_tiff (text, 0);
  put_bytes (path, bytes);
  check (path);
  g_remove (path);
}
#endif

int
main (int argc, char **argv)
{
  static const gchar *const names[] = {
    "t.nii",
    "t.nii.gz",
    "t.nrrd",
    "c.nrrd",
    "t.mha",
    "c.mha",
    "t.npy",
#ifdef HAVE_TIFF
    "t.tif",
#endif
#ifdef HAVE_ZARR
    "c.zarr",
    "c.v2.zarr",
#endif
  };
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *test = g_strconcat ("/nomemory/", names[i], NULL);

    g_test_add_data_func (test, names[i], test_written);
  }
  g_test_add_func ("/nomemory/nrrd", test_nrrd);
  g_test_add_func ("/nomemory/npz", test_npz);
#ifdef HAVE_TIFF
  g_test_add_func ("/nomemory/ome", test_tiff);
#endif
  status = g_test_run ();
  g_assert_cmpuint (failed, >, 100);
  remove_folder ();
  return status;
}
