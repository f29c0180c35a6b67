/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/nifti.h"

#include "core/error.h"
#include "formats/headertext.h"
#include "formats/niftiextensions.h"
#include "formats/niftistruct.h"
#include "formats/niftitransforms.h"
#include "formats/rate.h"
#include "formats/sequence.h"

#include <math.h>
#include <string.h>

/* Fields of an index take many times the memory of its text. */
#define INDEX_MAX 65536

/* The bits of xyzt_units that name the unit of space and of time. */
#define SPACE_BITS 0x07
#define TIME_BITS 0x38

static const struct
{
  gint16 code;
  const gchar *name;
  gint16 bits;
  guint components; /* 0: unsupported */
  NdStoredType type;
} datatypes[] = {
  { DT_UINT8, "uint8", 8, 1, ND_STORED_UINT8 },
  { DT_INT16, "int16", 16, 1, ND_STORED_INT16 },
  { DT_UINT16, "uint16", 16, 1, ND_STORED_UINT16 },
  { DT_FLOAT32, "float32", 32, 1, ND_STORED_FLOAT32 },
  { DT_COMPLEX64, "complex64", 64, 2, ND_STORED_FLOAT32 },
  { DT_RGB24, "RGB24", 24, 3, ND_STORED_UINT8 },
  { DT_RGBA32, "RGBA32", 32, 4, ND_STORED_UINT8 },
  { DT_INT8, "int8", 8, 1, ND_STORED_INT8 },
  { DT_INT32, "int32", 32, 1, ND_STORED_INT32 },
  { DT_UINT32, "uint32", 32, 1, ND_STORED_UINT32 },
  { DT_INT64, "int64", 64, 1, ND_STORED_INT64 },
  { DT_UINT64, "uint64", 64, 1, ND_STORED_UINT64 },
  { DT_FLOAT64, "float64", 64, 1, ND_STORED_FLOAT64 },
  { DT_COMPLEX128, "complex128", 128, 2, ND_STORED_FLOAT64 },
  { DT_BINARY, "binary", 1, 0, 0 },
  { DT_FLOAT128, "float128", 128, 0, 0 },
  { DT_COMPLEX256, "complex256", 256, 0, 0 },
};

#define READ                                                     \
  "integers and floats of 8 to 64 bits, complex64, complex128, " \
  "RGB24, RGBA32"
#define WRITTEN                                                         \
  "integers of 8 to 32 bits, float32, float64, complex64, complex128, " \
  "RGB24, RGBA32"

/* The metadata keys of fields that only NIfTI has. */
#define KEY_QFORM "NIfTI.qform" /* code b c d x y z qfac */
#define KEY_SFORM_CODE "NIfTI.sform_code"
#define KEY_DESCRIPTION "NIfTI.descrip"

gboolean
nd_nifti_detect (const guint8 *bytes, gsize n)
{
  gboolean swapped;
  const gsize size = nd_nifti_struct_size (bytes, n, &swapped);
  const gchar *magic = (const gchar *) bytes
      + (size == ND_NIFTI_2_SIZE ? offsetof (nifti_2_header, magic)
                                 : offsetof (struct nifti_1_header, magic));

  return size != 0 && magic[0] == 'n' && (magic[1] == '+' || magic[1] == 'i')
      && g_ascii_isdigit (magic[2]);
}

static gboolean
parse_type (NdHeader *header, const nifti_2_header *wide, const gchar *path,
    GError **error)
{
  NdStored *stored = &header->stored;
  guint i = 0;

  while (i < G_N_ELEMENTS (datatypes) && datatypes[i].code != wide->datatype)
    i++;
  if (i == G_N_ELEMENTS (datatypes) || datatypes[i].components == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" holds samples of "
        "NIfTI type %d (%s): supported are " READ,
        path, wide->datatype,
        i == G_N_ELEMENTS (datatypes) ? "unknown" : datatypes[i].name);
    return FALSE;
  }
  if (datatypes[i].bits != wide->bitpix) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The NIfTI header of \"%s\" says %d bits a sample: its type %s has %d",
        path, wide->bitpix, datatypes[i].name, datatypes[i].bits);
    return FALSE;
  }
  stored->type = datatypes[i].type;
  header->recording.shape.components = datatypes[i].components;

  /* nifti1.h: a slope of 0 means no scaling; colours are never scaled. */
  stored->slope = wide->scl_slope;
  stored->intercept = isfinite (wide->scl_inter) ? wide->scl_inter : 0;
  stored->scaled = isfinite (stored->slope) && stored->slope != 0
      && (stored->slope != 1 || stored->intercept != 0)
      && wide->datatype != DT_RGB24 && wide->datatype != DT_RGBA32;
  return TRUE;
}

static gboolean
parse_dimensions (NdHeader *header, const nifti_2_header *wide,
    const gchar *path, GError **error)
{
  NdRecording *recording = &header->recording;
  const gint64 rank = wide->dim[0];
  guint64 sizes[5] = { 1, 1, 1, 1, 1 };

  if (rank < 1 || rank > 7) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The NIfTI header of "
        "\"%s\" says %" G_GINT64_FORMAT " dimensions: it must be 1 to 7",
        path, rank);
    return FALSE;
  }
  for (gint64 i = 1; i <= rank; i++) {
    if (wide->dim[i] < 1) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "The NIfTI header of "
          "\"%s\" says dim[%d] = %" G_GINT64_FORMAT ": it must be 1 or more",
          path, (gint) i, wide->dim[i]);
      return FALSE;
    }
    if (wide->dim[i] > 1
        && (i > 5 || (i == 5 && recording->shape.components > 1))) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "The NIfTI header of \"%s\" says dim[%d] = %" G_GINT64_FORMAT
          ": volumes have the dimensions x, y, z, time and one of components; "
          "python3 -c \"import sys, nibabel; image = nibabel.load "
          "(sys.argv[1]); nibabel.save (image.slicer[%s0], 'part.nii')\" FILE "
          "takes a part",
          path, (gint) i, wide->dim[i], &":, :, :, :, :, :, "[3 * (7 - i)]);
      return FALSE;
    }
    if (i <= 5)
      sizes[i - 1] = wide->dim[i];
  }
  /* A vector, as nifti1.h calls it, whatever the intent. */
  if (sizes[4] > 1) {
    recording->shape.components = sizes[4];
    header->planar = TRUE;
  }
  for (guint a = 0; a < 3; a++)
    recording->shape.size[a] = sizes[a];
  recording->volumes = sizes[3];
  return nd_header_settle (header, path, error);
}

/* A fourth axis that is a spectrum: its values become the index of volumes. */
static void
keep_spectrum (NdHeader *header, const nifti_2_header *wide, const gchar *name,
    const gchar *unit, const gchar *path)
{
  const guint64 volumes = header->recording.volumes;

  if (volumes == 1)
    return;
  nd_header_warn (header,
      "The fourth axis of \"%s\" is in %s, not in seconds: it is kept as the "
      "index of its volumes, which are read one second apart; if it is time, "
      "python3 -c \"import sys, nibabel; image = nibabel.load (sys.argv[1]); "
      "image.header.set_xyzt_units ('mm', 'sec'); nibabel.save (image, "
      "'time.nii')\" FILE says so",
      path, unit);
  if (volumes > INDEX_MAX)
    return;
  nd_header_add_field (header, ND_INDEX_NAME, name);
  nd_header_add_field (header, ND_INDEX_UNIT, unit);
  for (guint64 i = 0; i < volumes; i++) {
    g_autoptr (GString) value = g_string_new (NULL);

    nd_text_append_double (value, wide->toffset + i * wide->pixdim[4]);
    nd_metadata_add_to_volume (header->metadata, i, ND_INDEX, value->str);
  }
}

static void
parse_rate (NdHeader *header, const nifti_2_header *wide, const gchar *path)
{
  NdRecording *recording = &header->recording;
  gdouble seconds = wide->dim[0] >= 4 ? wide->pixdim[4] : 0;
  gdouble offset = wide->toffset;

  switch (wide->xyzt_units & TIME_BITS) {
    case NIFTI_UNITS_MSEC:
      seconds /= 1e3;
      offset /= 1e3;
      break;
    case NIFTI_UNITS_USEC:
      seconds /= 1e6;
      offset /= 1e6;
      break;
    case NIFTI_UNITS_HZ:
      keep_spectrum (header, wide, "frequency", "Hz", path);
      seconds = offset = 0;
      break;
    case NIFTI_UNITS_PPM:
      keep_spectrum (header, wide, "chemical shift", "ppm", path);
      seconds = offset = 0;
      break;
    case NIFTI_UNITS_RADS:
      keep_spectrum (header, wide, "angular frequency", "rad/s", path);
      seconds = offset = 0;
      break;
    default:
      break;
  }
  nd_rate_from_seconds (seconds, &recording->rate_n, &recording->rate_d);
  if (fabs (offset) < 1e9)
    header->metadata->origin = llrint (offset * 1e9);
}

/* One transform becomes the geometry. Metadata keep both for a writer. */
static void
carry_transforms (NdMetadata *metadata, const nifti_2_header *wide,
    const gdouble bcd[3], const gdouble origin[3])
{
  g_autoptr (GString) qform = g_string_new (NULL);
  gchar sform_code[16];

  if (wide->qform_code >= 0 && wide->qform_code <= G_MAXINT16) {
    g_string_printf (qform, "%d", wide->qform_code);
    if (wide->qform_code > 0) {
      nd_text_append_doubles (qform, " ", bcd, 3, " ", " ");
      nd_text_append_doubles (qform, "", origin, 3, " ",
          wide->pixdim[0] < 0 ? " -1" : " 1");
    }
    nd_metadata_add (metadata, KEY_QFORM, qform->str);
  }
  if (wide->sform_code >= 0 && wide->sform_code <= G_MAXINT16) {
    g_snprintf (sform_code, sizeof (sform_code), "%d", wide->sform_code);
    nd_metadata_add (metadata, KEY_SFORM_CODE, sform_code);
  }
}

/* Without a transform: as nibabel has it, x to the left and 0 in the centre. */
static void
set_centred (NdGeometry *geometry, const nifti_2_header *wide,
    const gdouble spacing[3])
{
  nd_geometry_from_spacing (geometry, spacing);
  geometry->directions[0] = -1;
  for (guint a = 0; a < 3 && a < wide->dim[0]; a++)
    geometry->origin[a] = -geometry->directions[4 * a] * geometry->spacing[a]
        * (wide->dim[a + 1] - 1) / 2;
}

static void
parse_geometry (NdHeader *header, const nifti_2_header *wide)
{
  NdGeometry *geometry = &header->recording.geometry;
  const gint32 unit = wide->xyzt_units & SPACE_BITS;
  const gdouble mm = unit == NIFTI_UNITS_METER ? 1e3
      : unit == NIFTI_UNITS_MICRON             ? 1e-3
                                               : 1;
  const gdouble bcd[3] = { wide->quatern_b, wide->quatern_c, wide->quatern_d };
  const gdouble origin[3] = { wide->qoffset_x * mm, wide->qoffset_y * mm,
    wide->qoffset_z * mm };
  gdouble affine[3][4], spacing[3];

  carry_transforms (header->metadata, wide, bcd, origin);
  for (guint a = 0; a < 3; a++)
    spacing[a] = wide->pixdim[a + 1] * mm;
  for (guint i = 0; i < 4; i++) {
    affine[0][i] = wide->srow_x[i] * mm;
    affine[1][i] = wide->srow_y[i] * mm;
    affine[2][i] = wide->srow_z[i] * mm;
  }
  if ((wide->sform_code > 0
          && nd_geometry_from_affine (geometry, affine, spacing))
      || (wide->qform_code > 0
          && nd_geometry_from_quaternion (geometry, bcd, wide->pixdim[0],
              spacing, origin)))
    return;
  set_centred (geometry, wide, spacing);
}

/* The file of the samples of a pair: .img beside .hdr, .img.gz beside .hdr.gz,
 * as nibabel writes them, or else the other one. */
static gboolean
find_samples (NdHeader *header, const gchar *path, GError **error)
{
  static const gchar *const endings[] = { ".hdr", ".hdr.gz", ".HDR" };
  g_autofree gchar *base = g_path_get_basename (path), *packed = NULL;
  g_autofree gchar *name = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (endings) && !name; i++) {
    if (g_str_has_suffix (base, endings[i]))
      name = g_strdup_printf ("%.*s%s",
          (gint) (strlen (base) - strlen (endings[i])), base,
          i == 2 ? ".IMG" : ".img");
  }
  if (!name) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is the header of a NIfTI pair, whose samples are in another "
        "file: its name must end with .hdr and that of the samples with .img",
        path);
    return FALSE;
  }
  packed = g_strconcat (name, ".gz", NULL);
  header->compressed = g_str_has_suffix (base, ".gz");
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *found =
        nd_header_beside (path, header->compressed ? packed : name, NULL);

    if (found && g_file_test (found, G_FILE_TEST_EXISTS))
      break;
    header->compressed = i == 0 && !header->compressed;
  }
  return nd_header_add_file (header, path, header->compressed ? packed : name,
      error);
}

/* SPM keeps a transform that is not in the header in a file of MATLAB. */
static void
warn_of_matrix (NdHeader *header, const gchar *path)
{
  const gboolean packed = g_str_has_suffix (path, ".hdr.gz");
  const gsize ending = packed ? 7 : 4;
  g_autofree gchar *name = NULL;

  if (!packed && !g_str_has_suffix (path, ".hdr"))
    return;
  name = g_strdup_printf ("%.*s.mat%s", (gint) (strlen (path) - ending), path,
      packed ? ".gz" : "");
  if (g_file_test (name, G_FILE_TEST_EXISTS))
    nd_header_warn (header,
        "The transform of \"%s\" that SPM has in \"%s\" is not read: nibabel "
        "(with SciPy) reads it and writes NIfTI",
        path, name);
}

gsize
nd_nifti_header_size (const guint8 *bytes, gsize n)
{
  g_autoptr (GError) error = NULL;
  nifti_2_header wide;
  gboolean swapped, pair, analyze;

  if (!nd_nifti_unpack (&wide, &swapped, &pair, &analyze, bytes, n, "", &error))
    return n;
  return pair ? ND_TEXT_MAX
              : CLAMP (wide.vox_offset, ND_NIFTI_HEADER, ND_TEXT_MAX);
}

gboolean
nd_nifti_parse (NdHeader *header, guint8 *bytes, gsize n, const gchar *path,
    GError **error)
{
  nifti_2_header wide;
  gboolean pair, analyze;

  nd_header_init (header, "NIfTI-1");
  if (!nd_nifti_unpack (&wide, &header->stored.swapped, &pair, &analyze, bytes,
          n, path, error)
      || (pair && !find_samples (header, path, error)))
    return FALSE;
  if (wide.sizeof_hdr == ND_NIFTI_2_SIZE)
    header->format = "NIfTI-2";
  if (analyze)
    header->format = "Analyze";
  header->skip = wide.vox_offset;
  if (!parse_type (header, &wide, path, error)
      || !parse_dimensions (header, &wide, path, error))
    return FALSE;
  parse_rate (header, &wide, path);
  parse_geometry (header, &wide);
  if (*wide.descrip) {
    g_autofree gchar *text = g_strndup (wide.descrip, sizeof (wide.descrip));

    nd_metadata_add (header->metadata, KEY_DESCRIPTION, text);
  }
  if (!analyze)
    nd_nifti_parse_extensions (header, bytes, wide.sizeof_hdr + 4,
        pair ? n : MIN (n, header->skip), path);
  else
    warn_of_matrix (header, path);
  if (nd_stored_size (header->stored.type) == 1)
    header->stored.swapped = FALSE;
  return TRUE;
}

/* The index of the data type of @recording; G_N_ELEMENTS if there is none. */
static guint
datatype_of (const NdRecording *recording)
{
  guint i = 0;

  while (i < G_N_ELEMENTS (datatypes)
      && (datatypes[i].components != recording->shape.components
          || datatypes[i].type != nd_stored_of (recording->type)))
    i++;
  return i;
}

gboolean
nd_nifti_supports (const NdRecording *recording, const gchar *path,
    GError **error)
{
  if (recording->responses != 1) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" cannot hold the %u responses of a bank: NIfTI keeps time "
        "before responses, so that they cannot be written in the order in "
        "which they arrive; write one response, NRRD (.nrrd) or raw (.raw)",
        path, recording->responses);
    return FALSE;
  }
  if (datatype_of (recording) == G_N_ELEMENTS (datatypes)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" cannot hold samples "
        "of %" G_GSIZE_FORMAT " components of %s: NIfTI has " WRITTEN
        "; write NRRD (.nrrd) or raw (.raw)",
        path, recording->shape.components, nd_sample_name (recording->type));
    return FALSE;
  }
  return TRUE;
}

/* Takes the qform from metadata of the source, otherwise from the geometry. */
static void
build_qform (nifti_2_header *wide, const NdGeometry *geometry,
    const gchar *kept)
{
  gdouble values[8], bcd[3];
  const gint n = kept ? nd_text_doubles (kept, values, 8) : -1;

  if (n == 1 && values[0] == 0)
    return;
  if (n == 8 && values[0] > 0 && values[0] <= G_MAXINT16) {
    wide->qform_code = values[0];
    wide->quatern_b = values[1];
    wide->quatern_c = values[2];
    wide->quatern_d = values[3];
    wide->qoffset_x = values[4];
    wide->qoffset_y = values[5];
    wide->qoffset_z = values[6];
    wide->pixdim[0] = values[7] < 0 ? -1 : 1;
  } else if (nd_geometry_to_quaternion (geometry, bcd, &wide->pixdim[0])) {
    wide->qform_code = NIFTI_XFORM_SCANNER_ANAT;
    wide->quatern_b = bcd[0];
    wide->quatern_c = bcd[1];
    wide->quatern_d = bcd[2];
    wide->qoffset_x = geometry->origin[0];
    wide->qoffset_y = geometry->origin[1];
    wide->qoffset_z = geometry->origin[2];
  }
}

static void
build_geometry (nifti_2_header *wide, const NdGeometry *geometry,
    const NdMetadata *metadata)
{
  const gchar *code = nd_metadata_get (metadata, KEY_SFORM_CODE);
  gint64 sform_code = NIFTI_XFORM_SCANNER_ANAT;
  gdouble affine[3][4];

  wide->pixdim[0] = 1;
  for (guint a = 0; a < 3; a++)
    wide->pixdim[a + 1] = geometry->known ? geometry->spacing[a] : 1;
  if (!geometry->known)
    return;
  build_qform (wide, geometry, nd_metadata_get (metadata, KEY_QFORM));
  if (code
      && (!nd_text_integer (code, &sform_code) || sform_code < 0
          || sform_code > G_MAXINT16))
    sform_code = NIFTI_XFORM_SCANNER_ANAT;
  wide->sform_code = sform_code;
  if (sform_code == 0)
    return;
  nd_geometry_to_affine (geometry, affine);
  memcpy (wide->srow_x, affine[0], sizeof (wide->srow_x));
  memcpy (wide->srow_y, affine[1], sizeof (wide->srow_y));
  memcpy (wide->srow_z, affine[2], sizeof (wide->srow_z));
}

/* The seconds between volumes, on average if the rate varies; 0 if unknown. */
static gdouble
period_of (const NdRecording *recording, const NdMetadata *metadata)
{
  const NdList *times = metadata->times;

  if (recording->rate_n > 0)
    return (gdouble) recording->rate_d / recording->rate_n;
  return times->len < 2
      ? 0
      : g_array_index (times, gint64, times->len - 1) / 1e9 / (times->len - 1);
}

gboolean
nd_nifti_build (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gsize room)
{
  const guint i = datatype_of (recording);
  const gchar *description = nd_metadata_get (metadata, KEY_DESCRIPTION);
  gint64 largest = recording->volumes;
  nifti_2_header wide = { 0 };

  wide.datatype = datatypes[i].code;
  wide.bitpix = datatypes[i].bits;
  wide.dim[0] = recording->volumes == 1 ? 3 : 4;
  for (guint a = 0; a < 3; a++) {
    wide.dim[a + 1] = recording->shape.size[a];
    largest = MAX (largest, wide.dim[a + 1]);
  }
  wide.dim[4] = recording->volumes;
  wide.dim[5] = wide.dim[6] = wide.dim[7] = 1;
  wide.pixdim[4] = period_of (recording, metadata);
  wide.toffset = metadata->origin / 1e9;
  wide.scl_slope = 1;
  wide.xyzt_units = NIFTI_UNITS_MM | NIFTI_UNITS_SEC;
  if (description)
    g_strlcpy (wide.descrip, description, sizeof (wide.descrip));
  build_geometry (&wide, &recording->geometry, metadata);

  wide.sizeof_hdr = largest > G_MAXINT16 ? ND_NIFTI_2_SIZE : ND_NIFTI_1_SIZE;
  g_byte_array_set_size (bytes, wide.sizeof_hdr + 4);
  memset (bytes->data, 0, bytes->len);
  if (!nd_nifti_build_extensions (bytes, recording, metadata, room))
    return FALSE;
  if (bytes->len < MAX (room, ND_NIFTI_ROOM)) {
    const guint at = bytes->len;

    g_byte_array_set_size (bytes, MAX (room, ND_NIFTI_ROOM));
    memset (bytes->data + at, 0, bytes->len - at);
  }
  wide.vox_offset = bytes->len;
  nd_nifti_pack (&wide, bytes->data);
  return TRUE;
}
