/* Files for the tests of this room: a folder that goes away again, and NIfTI
 * files made by hand.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <nifti/nifti1.h>
#include <nifti/nifti2.h>
#include <zlib.h>

#include "engine/nderror.h"
#include "formats/ndrecording.h"

static gchar *folder;

static inline void
files_begin (void)
{
  folder = g_dir_make_tmp ("ndconv-formats-XXXXXX", NULL);
  g_assert_nonnull (folder);
}

static inline void
files_end (void)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir))) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);

    g_remove (path);
  }
  g_dir_close (dir);
  g_rmdir (folder);
  g_free (folder);
}

static inline gchar *
file_path (const gchar * name)
{
  return g_build_filename (folder, name, NULL);
}

static inline void
put_file (const gchar * path, gconstpointer bytes, gsize n)
{
  g_assert_true (g_file_set_contents (path, bytes, n, NULL));
}

/* @text, and samples 0, 1, 2, … of a byte behind it. */
static inline void
put_text (const gchar * path, const gchar * text, gsize samples)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) text, strlen (text));
  for (gsize i = 0; i < samples; i++) {
    const guint8 sample = i;

    g_byte_array_append (bytes, &sample, 1);
  }
  put_file (path, bytes->data, bytes->len);
}

static inline void
put_gzip (const gchar * path, gconstpointer bytes, gsize n)
{
  gzFile file = gzopen (path, "wb6");

  g_assert_cmpint (gzwrite (file, bytes, n), ==, (gint) n);
  g_assert_cmpint (gzclose (file), ==, Z_OK);
}

/* A sound NIfTI-1 header of 3x2x2x4 samples of int16, at byte 352. */
static inline struct nifti_1_header
sound_header (void)
{
  struct nifti_1_header header = {
    .sizeof_hdr = 348,
    .dim = {4, 3, 2, 2, 4, 1, 1, 1},
    .datatype = DT_INT16,
    .bitpix = 16,
    .pixdim = {1, 0.5, 0.75, 2, 0.05},
    .vox_offset = 352,
    .xyzt_units = NIFTI_UNITS_MM | NIFTI_UNITS_SEC,
    .magic = "n+1"
  };

  return header;
}

#define SOUND_SAMPLES (3 * 2 * 2 * 4)

/* Opens what cannot be opened: the error must be @code and say @words. */
static inline void
assert_refused (const gchar * path, gint code, const gchar * words)
{
  g_autoptr (GError) error = NULL;
  NdReader *reader = nd_reader_open (path, NULL, &error);

  g_assert_null (reader);
  g_assert_error (error, ND_ERROR, code);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, words));
  g_assert_nonnull (strstr (error->message, path));
}
