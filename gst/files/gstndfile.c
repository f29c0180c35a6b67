/* The plugin ndfile: its elements, and type finding for files of recordings:
 * application/x-nifti, application/x-nrrd, application/x-metaimage,
 * application/x-npy, application/x-npz.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/filterrecording.h"
#include "gst/base/gstndbackends.h"
#include "gst/gstndelements.h"

#include <string.h>
#include <zlib.h>

#include "formats/metaimage.h"
#include "formats/nifti.h"
#include "formats/npy.h"
#include "formats/npyheader.h"
#include "formats/nrrd.h"

/* Compressed bytes that surely contain the header of a NIfTI file. */
#define PACKED 4096

#define NIFTI_CAPS "application/x-nifti"
#define NRRD_CAPS "application/x-nrrd"
#define METAIMAGE_CAPS "application/x-metaimage"
#define NPY_CAPS "application/x-npy"
#define NPZ_CAPS "application/x-npz"

/* A member of a zip archive begins with 30 bytes, the last four of which are
 * the lengths of its name and of other data, and with its name. */
#define ZIP_MEMBER 30

/* The first @n bytes of the file, at most @most. */
static const guint8 *
file_peek (GstTypeFind *find, guint most, guint *n)
{
  const guint64 length = gst_type_find_get_length (find);
  const guint8 *bytes;

  *n = length > 0 ? MIN (length, most) : most;
  while (*n > 0) {
    bytes = gst_type_find_peek (find, 0, *n);
    if (bytes)
      return bytes;
    *n /= 2;
  }
  return NULL;
}

/* Decompresses the start of gzip data to at most @size bytes. Returns their
 * number. */
static gsize
file_unpack (const guint8 *packed, guint n, guint8 *bytes, gsize size)
{
  z_stream stream = { .next_in = (guint8 *) packed,
    .avail_in = n,
    .next_out = bytes,
    .avail_out = size };

  if (inflateInit2 (&stream, 15 + 16) != Z_OK)
    return 0;
  inflate (&stream, Z_SYNC_FLUSH);
  inflateEnd (&stream);
  return size - stream.avail_out;
}

static void
find_nifti (GstTypeFind *find, gpointer data)
{
  guint8 unpacked[ND_NIFTI_HEADER];
  const guint8 *bytes;
  guint n;
  gsize size;

  bytes = file_peek (find, PACKED, &n);
  if (!bytes)
    return;
  size = n;
  if (n > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
    size = file_unpack (bytes, n, unpacked, sizeof (unpacked));
    bytes = unpacked;
  }
  if (nd_nifti_detect (bytes, size))
    gst_type_find_suggest_empty_simple (find, GST_TYPE_FIND_MAXIMUM,
        NIFTI_CAPS);
}

static void
find_nrrd (GstTypeFind *find, gpointer data)
{
  guint n;
  const guint8 *bytes = file_peek (find, 16, &n);

  if (bytes && nd_nrrd_detect (bytes, n))
    gst_type_find_suggest_empty_simple (find, GST_TYPE_FIND_MAXIMUM, NRRD_CAPS);
}

static void
find_metaimage (GstTypeFind *find, gpointer data)
{
  guint n;
  const guint8 *bytes = file_peek (find, 1024, &n);

  /* Any text file could start with the first keyword alone. */
  if (bytes && nd_metaimage_detect (bytes, n)
      && (memmem (bytes, n, "\nNDims", 6) || memmem (bytes, n, "\nDimSize", 8)))
    gst_type_find_suggest_empty_simple (find, GST_TYPE_FIND_MAXIMUM,
        METAIMAGE_CAPS);
}

static void
find_npy (GstTypeFind *find, gpointer data)
{
  guint n;
  const guint8 *bytes = file_peek (find, 16, &n);

  if (bytes && nd_npy_detect (bytes, n))
    gst_type_find_suggest_empty_simple (find, GST_TYPE_FIND_MAXIMUM, NPY_CAPS);
}

/* A zip archive whose first member is an array. */
static void
find_npz (GstTypeFind *find, gpointer data)
{
  guint n;
  gsize length;
  const guint8 *bytes = file_peek (find, 1024, &n);

  if (!bytes || n < ZIP_MEMBER || !nd_npz_detect (bytes, n))
    return;
  length = GST_READ_UINT16_LE (bytes + 26);
  if (length >= 4 && ZIP_MEMBER + length <= n
      && memcmp (bytes + ZIP_MEMBER + length - 4, ".npy", 4) == 0)
    gst_type_find_suggest_empty_simple (find, GST_TYPE_FIND_MAXIMUM, NPZ_CAPS);
}

static gboolean
register_type_finders (GstPlugin *plugin)
{
  g_autoptr (GstCaps) nifti = gst_caps_new_empty_simple (NIFTI_CAPS);
  g_autoptr (GstCaps) nrrd = gst_caps_new_empty_simple (NRRD_CAPS);
  g_autoptr (GstCaps) metaimage = gst_caps_new_empty_simple (METAIMAGE_CAPS);
  g_autoptr (GstCaps) npy = gst_caps_new_empty_simple (NPY_CAPS);
  g_autoptr (GstCaps) npz = gst_caps_new_empty_simple (NPZ_CAPS);
  gboolean ok = TRUE;

  /* Ranked above the type finder of gzip. */
  ok &= gst_type_find_register (plugin, NIFTI_CAPS, GST_RANK_PRIMARY + 1,
      find_nifti, "nii,nii.gz", nifti, NULL, NULL);
  ok &= gst_type_find_register (plugin, NRRD_CAPS, GST_RANK_PRIMARY + 1,
      find_nrrd, "nrrd,nhdr", nrrd, NULL, NULL);
  ok &= gst_type_find_register (plugin, METAIMAGE_CAPS, GST_RANK_PRIMARY + 1,
      find_metaimage, "mha,mhd", metaimage, NULL, NULL);
  ok &= gst_type_find_register (plugin, NPY_CAPS, GST_RANK_PRIMARY + 1,
      find_npy, "npy", npy, NULL, NULL);
  ok &= gst_type_find_register (plugin, NPZ_CAPS, GST_RANK_PRIMARY + 1,
      find_npz, "npz", npz, NULL, NULL);
  return ok;
}

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = FALSE;

  if (!gst_nd_backends_init (plugin))
    return FALSE;
  nd_filter_use_recordings ();
  ok |= GST_ELEMENT_REGISTER (nddemux, plugin);
  ok |= GST_ELEMENT_REGISTER (ndfilesrc, plugin);
  ok |= GST_ELEMENT_REGISTER (ndfilesink, plugin);
  ok |= register_type_finders (plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, ndfile,
    "Recordings of volumes: NIfTI, NRRD, DICOM, TIFF, HDF5, OME-Zarr, …",
    plugin_init, PACKAGE_VERSION, "LGPL", "ndconv", PACKAGE_ORIGIN)
