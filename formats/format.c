/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/format.h"

#include "core/error.h"
#include "formats/analyze.h"
#include "formats/dicom.h"
#include "formats/dicomseries.h"
#include "formats/filenames.h"
#include "formats/fileseries.h"
#include "formats/hdf5volumes.h"
#include "formats/headertext.h"
#include "formats/metaimage.h"
#include "formats/ndtiff.h"
#include "formats/nifti.h"
#include "formats/npy.h"
#include "formats/npyheader.h"
#include "formats/nrrd.h"
#include "formats/recording.h"
#include "formats/tiff.h"
#include "formats/zarr.h"

#include <string.h>

#define FIRST_BYTES (64 * 1024)

/* The beginning of a file, decompressed if the whole file is compressed. */
typedef struct
{
  NdInput *input;
  const gchar *path;
  gboolean gzip;
  NdList *bytes; /* guint8: read so far, with room for one more */
} Beginning;

static gboolean
describe_raw (NdHeader *header, const Beginning *file, const NdRecording *hint,
    GError **error)
{
  const guint64 offset = hint ? hint->offset : 0;
  const guint64 size = nd_input_most (file->input, offset, FALSE);
  NdRecording *recording = &header->recording;
  gsize volume;

  if (file->gzip) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is compressed but not NIfTI: raw volumes must be decompressed "
        "first (gunzip)",
        file->path);
    return FALSE;
  }
  if (!hint) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "\"%s\" has no header of " ND_RECORDING_FORMATS ": to "
        "read it as raw samples, say the size and the type of its "
        "volumes",
        file->path);
    return FALSE;
  }
  nd_header_init (header, "raw");
  *recording = *hint;
  header->stored.type = nd_stored_of (hint->type);
  volume = nd_recording_volume_size (hint);
  if (volume == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Volumes of %" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
        " samples of %" G_GSIZE_FORMAT " components do not fit in memory: set "
        "a smaller size",
        hint->shape.size[0], hint->shape.size[1], hint->shape.size[2],
        hint->shape.components);
    return FALSE;
  }
  if (header->keep && size % volume != 0 && size > volume)
    nd_header_warn (header,
        "\"%s\" is truncated: %" G_GUINT64_FORMAT
        " whole volumes are read, %" G_GUINT64_FORMAT " bytes after them not",
        file->path, size / volume, size % volume);
  else if (size == 0 || size % volume != 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" has %" G_GUINT64_FORMAT
        " bytes%s: it must be one or more whole volumes of %" G_GSIZE_FORMAT
        " bytes (%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        " samples of %" G_GSIZE_FORMAT " x %s)",
        file->path, size, offset > 0 ? " after the offset" : "", volume,
        hint->shape.size[0], hint->shape.size[1], hint->shape.size[2],
        hint->shape.components, nd_sample_name (hint->type));
    return FALSE;
  }
  recording->volumes = size / volume;
  header->offset = offset;
  return nd_header_settle (header, file->path, error);
}

/* Reads until @size bytes or the whole file are in memory. */
static gboolean
read_up_to (Beginning *file, gsize size, GError **error)
{
  NdList *bytes = file->bytes;
  const guint have = bytes->len;
  gssize got;

  if (size <= have)
    return TRUE;
  if (!nd_list_set_size (bytes, size + 1))
    return nd_budget_refuse (bytes->budget, file->path, error);
  got = nd_input_read (file->input, bytes->data + have, size - have);
  nd_list_set_size (bytes, have + MAX (got, 0));
  if (got < 0)
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" cannot be read at its header: %s", file->path,
        nd_input_reason (file->input));
  return got >= 0;
}

/* Reads a text header up to its end; bytes of samples are cut off. */
static gboolean
read_text (Beginning *file, gboolean nrrd, GError **error)
{
  NdList *bytes = file->bytes;
  gboolean to_end = FALSE;
  guint before;

  do {
    const gsize n = nrrd
        ? nd_nrrd_header_size (bytes->data, bytes->len)
        : nd_metaimage_header_size (bytes->data, bytes->len, &to_end);

    if (n > 0 && !to_end) {
      nd_list_set_size (bytes, n);
      return TRUE;
    }
    if (bytes->len >= ND_TEXT_MAX) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "The header of \"%s\" has no end within %d MiB: it must end there, "
          "the file may be damaged",
          file->path, ND_TEXT_MAX >> 20);
      return FALSE;
    }
    before = bytes->len;
    if (!read_up_to (file,
            MIN (MAX (2 * (gsize) before, FIRST_BYTES), ND_TEXT_MAX), error))
      return FALSE;
  } while (bytes->len > before);
  return TRUE;
}

static gboolean
read_nrrd (NdHeader *header, Beginning *file, GError **error)
{
  const NdList *bytes = file->bytes;
  guint64 lines = 0;

  if (!read_text (file, TRUE, error))
    return FALSE;
  for (gsize i = 0; i < bytes->len; i++)
    lines += bytes->data[i] == '\n';
  if (!nd_nrrd_parse (header, bytes->data, bytes->len, file->path, error))
    return FALSE;
  /* Lines and bytes that are skipped count from the end of the header. */
  if (!header->files && header->line_skip > 0) {
    header->line_skip += lines;
  } else if (!header->files) {
    header->offset += bytes->len;
  }
  return TRUE;
}

static gboolean
read_metaimage (NdHeader *header, Beginning *file, GError **error)
{
  return read_text (file, FALSE, error)
      && nd_metaimage_parse (header, file->bytes->data, file->bytes->len,
          file->path, error);
}

static gboolean
read_nifti (NdHeader *header, Beginning *file, GError **error)
{
  const NdList *bytes = file->bytes;
  const gsize size = nd_nifti_header_size (bytes->data, bytes->len);

  /* A damaged header may claim more bytes than the file can have. */
  if (!read_up_to (file, MIN (size, nd_input_most (file->input, 0, file->gzip)),
          error)
      || !nd_nifti_parse (header, bytes->data, bytes->len, file->path, error))
    return FALSE;
  if (!header->files)
    header->compressed = file->gzip;
  return TRUE;
}

static gboolean
read_npy (NdHeader *header, Beginning *file, GError **error)
{
  const NdList *bytes = file->bytes;
  const gsize size = nd_npy_samples_offset (bytes->data, bytes->len);

  /* A damaged header may claim more bytes than the file can have. */
  return read_up_to (file, MIN (size, nd_input_most (file->input, 0, FALSE)),
             error)
      && nd_npy_parse (header, bytes->data, bytes->len, file->path, error);
}

/* The array that an archive is about: its .npy file lies within. */
static gboolean
read_npz (NdHeader *header, Beginning *file, GError **error)
{
  g_auto (NdNpzMember) member = { 0 };
  NdInput *input = file->input;
  gboolean deflated;

  if (!nd_npz_find (&member, input, &header->budget, file->path, error))
    return FALSE;
  deflated = member.method == ND_NPZ_DEFLATED;
  nd_list_set_size (file->bytes, 0);
  if (deflated)
    nd_input_begin_bare (input, member.offset, member.sum);
  else
    nd_input_begin (input, member.offset, FALSE);
  if (!read_up_to (file, MIN (member.size, ND_NIFTI_HEADER), error))
    return FALSE;
  if (!nd_npy_detect (file->bytes->data, file->bytes->len)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" is damaged: its largest array does not begin like .npy",
        file->path);
    return FALSE;
  }
  if (!read_npy (header, file, error))
    return FALSE;
  if (nd_header_bytes (header) + header->offset > member.size) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" is truncated: its array has fewer bytes than its header says",
        file->path);
    return FALSE;
  }
  if (nd_header_bytes (header) + header->offset < member.size) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" is damaged: its array has more bytes than its header says",
        file->path);
    return FALSE;
  }
  header->format = "NumPy archive";
  header->within = TRUE;
  if (member.others) {
    g_autofree gchar *name = nd_text_quote (member.name);

    nd_header_warn (header,
        "\"%s\" has several arrays: the largest one, %s, is read, and not %s",
        file->path, name, member.others->str);
  }
  header->compressed = header->bare = deflated;
  header->sum = member.sum;
  if (deflated) {
    header->skip = header->offset;
    header->offset = 0;
  }
  header->offset += member.offset;
  return TRUE;
}

#define BY_BIO_FORMATS                                                         \
  "\"bfconvert FILE NEW.ome.tif\" (Bio-Formats) converts it, and NEW.ome.tif " \
  "is read"

/* Formats that are recognized and not read, with a way to convert them. */
static const struct
{
  const gchar *name;
  gsize offset;
  const gchar *magic;
  gsize n;
  const gchar *advice;
} known[] = {
  { "MATLAB", 0, "MATLAB ", 7,
      "scipy.io.loadmat reads it and numpy.save writes .npy" },
  { "MRC", 208, "MAP ", 4, BY_BIO_FORMATS },
  { "Zeiss CZI", 0, "ZISRAWFILE", 10, BY_BIO_FORMATS },
  { "Nikon ND2", 0, "\xda\xce\xbe\x0a", 4, BY_BIO_FORMATS },
  { "Leica LIF", 0, "\x70\0\0\0", 4, BY_BIO_FORMATS },
  { "NetCDF or MINC 1", 0, "CDF\x01", 4,
      "python3 -c \"import sys, nibabel; image = nibabel.load (sys.argv[1]); "
      "nibabel.save (nibabel.Nifti1Image (image.get_fdata (), image.affine), "
      "'new.nii')\" FILE converts MINC to NIfTI (pip install nibabel)" },
  { "PNG", 0, "\x89PNG\r\n", 6,
      "\"multifilesrc location=NAME%03d.png ! pngdec\" reads pictures" },
  { "MP4", 4, "ftyp", 4, "\"filesrc ! decodebin\" reads videos" },
  { "AVI", 8, "AVI ", 4, "\"filesrc ! decodebin\" reads videos" },
  { "Matroska", 0, "\x1a\x45\xdf\xa3", 4,
      "\"filesrc ! decodebin\" reads videos" },
  { "GIF", 0, "GIF8", 4, "\"filesrc ! decodebin\" reads videos" },
  { "JPEG", 0, "\xff\xd8\xff", 3, "\"filesrc ! jpegdec\" reads pictures" },
};

static gboolean
refuse_known (const Beginning *file, GError **error)
{
  const NdList *bytes = file->bytes;

  for (guint i = 0; i < G_N_ELEMENTS (known) && !file->gzip; i++) {
    if (bytes->len < known[i].offset + known[i].n
        || memcmp (bytes->data + known[i].offset, known[i].magic, known[i].n)
            != 0)
      continue;
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is %s, which is not read: %s", file->path, known[i].name,
        known[i].advice);
    return FALSE;
  }
  return TRUE;
}

/* Analyze with another name, and the samples of a pair, which have a header
 * beside them. */
static gboolean
refuse_of_pair (const Beginning *file, GError **error)
{
  g_autofree gchar *header = g_strdup (file->path);

  if (nd_nifti_detect_analyze (file->bytes->data, file->bytes->len)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is a header of Analyze, whose name must end with .hdr, and "
        "that of its samples with .img",
        file->path);
    return FALSE;
  }
  if (!g_str_has_suffix (header, ".img"))
    return TRUE;
  strcpy (header + strlen (header) - 4, ".hdr");
  if (!g_file_test (header, G_FILE_TEST_EXISTS))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" has the samples of \"%s\": read that file", file->path, header);
  return FALSE;
}

/* Analyze has no mark of its own, but always this name. */
static gboolean
is_header_name (const gchar *path)
{
  return g_str_has_suffix (path, ".hdr") || g_str_has_suffix (path, ".hdr.gz")
      || g_str_has_suffix (path, ".HDR");
}

static gboolean
read_header (NdHeader *header, NdInput *input, const gchar *path,
    const NdRecording *hint, GError **error)
{
  g_autoptr (NdList) bytes = nd_list_new (&header->budget, 1);
  Beginning file = { input, path, nd_input_is_gzip (input), bytes };

  nd_input_begin (input, 0, file.gzip);
  if (!read_up_to (&file, ND_NIFTI_HEADER, error))
    return FALSE;
  if (nd_nifti_detect (bytes->data, bytes->len)
      || (is_header_name (path)
          && nd_nifti_detect_analyze (bytes->data, bytes->len)))
    return read_nifti (header, &file, error);
  if (!file.gzip && nd_nrrd_detect (bytes->data, bytes->len))
    return read_nrrd (header, &file, error);
  if (!file.gzip && nd_metaimage_detect (bytes->data, bytes->len))
    return read_metaimage (header, &file, error);
  if (!file.gzip && nd_npy_detect (bytes->data, bytes->len))
    return read_npy (header, &file, error);
  if (!file.gzip && nd_npz_detect (bytes->data, bytes->len))
    return read_npz (header, &file, error);
  /* Its preamble may be the beginning of TIFF. With an offset, the caller knows
   * where raw samples are. */
  if (!(hint && hint->offset > 0) && !file.gzip
      && nd_dicom_detect (bytes->data, bytes->len))
    return nd_dicom_open (header, input, path, error);
  if (header->local && nd_ndtiff_detect_file (bytes->data, bytes->len, path))
    return nd_ndtiff_open (header, path, error);
  if (!file.gzip && nd_tiff_detect (bytes->data, bytes->len))
    return nd_tiff_open (header, input, path, error);
  if (!(hint && hint->offset > 0) && nd_hdf5_detect (bytes->data, bytes->len))
    return nd_hdf5_open (header, input, path, error);
  if (!hint && (!refuse_known (&file, error) || !refuse_of_pair (&file, error)))
    return FALSE;
  return describe_raw (header, &file, hint, error);
}

/* Makes volumes of the size of @hint of slices that may be frames over time. */
static void
split_slices (NdHeader *header, const gchar *path, const NdRecording *hint)
{
  NdRecording *recording = &header->recording;
  gsize *size = recording->shape.size;

  if (!header->z_or_time || size[2] == 1)
    return;
  if (hint && hint->shape.size[0] == size[0] && hint->shape.size[1] == size[1]
      && hint->responses == 1 && size[2] % hint->shape.size[2] == 0) {
    recording->volumes = size[2] / hint->shape.size[2];
    size[2] = hint->shape.size[2];
  } else if (header->slices) {
    nd_header_warn (header,
        "\"%s\" does not say what its %" G_GSIZE_FORMAT
        " pages are: they are taken as the slices of one volume; if they are "
        "frames over time, set volume-size to %" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT ":1",
        path, size[2], size[0], size[1]);
  }
}

gboolean
nd_format_is_several (const gchar *path)
{
  return g_file_test (path, G_FILE_TEST_IS_DIR)
      || nd_file_names_is_pattern (path);
}

gboolean
nd_format_read_several (NdHeader *header, const gchar *path,
    const NdRecording *hint, GError **error)
{
  if (nd_zarr_detect (path))
    return nd_zarr_open (header, path, error);
  if (nd_ndtiff_detect (path))
    return nd_ndtiff_open (header, path, error);
  if (nd_dicom_series_detect (path))
    return nd_dicom_series_open (header, path, error);
  if (!nd_file_series_open (header, path, error))
    return FALSE;
  if (!nd_metadata_settle (header->metadata))
    return nd_budget_refuse (&header->budget, path, error);
  split_slices (header, path, hint);
  return TRUE;
}

const gchar *
nd_format_of (const guint8 *bytes, gsize n)
{
  return nd_nifti_detect (bytes, n)    ? "NIfTI"
      : nd_nrrd_detect (bytes, n)      ? "NRRD"
      : nd_metaimage_detect (bytes, n) ? "MetaImage"
      : nd_npy_detect (bytes, n)       ? "NumPy"
      : nd_tiff_detect (bytes, n)      ? "TIFF"
      : nd_dicom_detect (bytes, n)     ? "DICOM"
                                       : NULL;
}

gboolean
nd_format_read_header (NdHeader *header, NdInput *input, const gchar *path,
    const NdRecording *hint, GError **error)
{
  if (!read_header (header, input, path, hint, error))
    return FALSE;
  if (!nd_metadata_settle (header->metadata))
    return nd_budget_refuse (&header->budget, path, error);
  split_slices (header, path, hint);
  return TRUE;
}
