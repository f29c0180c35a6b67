/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndnifti.h"

#include <math.h>
#include <string.h>
#include <nifti/nifti1.h>
#include <nifti/nifti2.h>

#include "engine/nderror.h"
#include "formats/ndgeometry.h"

G_STATIC_ASSERT (sizeof (struct nifti_1_header) == 348);
G_STATIC_ASSERT (sizeof (nifti_2_header) == ND_NIFTI_HEADER);

static const gchar magic_1[4] = "n+1";
static const gchar magic_1_pair[4] = "ni1";
static const gchar magic_2[8] = "n+2\0\r\n\032\n";
static const gchar magic_2_pair[8] = "ni2\0\r\n\032\n";

/* The bits of xyzt_units that name the unit of space and of time. */
#define SPACE_BITS 0x07
#define TIME_BITS 0x38

static const struct
{
  gint16 code;
  const gchar *name;
  gint16 bits;
  guint components;             /* 0: not read here */
  NdSampleType type;
} datatypes[] = {
  {DT_UINT8, "uint8", 8, 1, ND_UINT8},
  {DT_INT16, "int16", 16, 1, ND_INT16},
  {DT_UINT16, "uint16", 16, 1, ND_UINT16},
  {DT_FLOAT32, "float32", 32, 1, ND_FLOAT32},
  {DT_COMPLEX64, "complex64", 64, 2, ND_FLOAT32},
  {DT_RGB24, "RGB24", 24, 3, ND_UINT8},
  {DT_RGBA32, "RGBA32", 32, 4, ND_UINT8},
  {DT_BINARY, "binary", 1, 0, 0},
  {DT_INT8, "int8", 8, 0, 0},
  {DT_INT32, "int32", 32, 0, 0},
  {DT_UINT32, "uint32", 32, 0, 0},
  {DT_INT64, "int64", 64, 0, 0},
  {DT_UINT64, "uint64", 64, 0, 0},
  {DT_FLOAT64, "float64", 64, 0, 0},
  {DT_FLOAT128, "float128", 128, 0, 0},
  {DT_COMPLEX128, "complex128", 128, 0, 0},
  {DT_COMPLEX256, "complex256", 256, 0, 0},
};

#define SUPPORTED "uint8, int16, uint16, float32, complex64, RGB24, RGBA32"

/* Runs of numbers of one width in the two headers. */
typedef struct
{
  guint16 at, width, n;
} Run;

static const Run runs_1[] = {
  {0, 4, 1}, {32, 4, 1}, {36, 2, 1}, {40, 2, 8}, {56, 4, 3}, {68, 2, 4},
  {76, 4, 11}, {120, 2, 1}, {124, 4, 6}, {252, 2, 2}, {256, 4, 18}
};

static const Run runs_2[] = {
  {0, 4, 1}, {12, 2, 2}, {16, 8, 28}, {344, 4, 2}, {352, 8, 18}, {496, 4, 3}
};

static void
swap_runs (guint8 * bytes, const Run * runs, guint n_runs)
{
  for (guint r = 0; r < n_runs; r++) {
    for (guint i = 0; i < runs[r].n; i++) {
      guint8 *number = bytes + runs[r].at + i * runs[r].width;

      for (guint low = 0, high = runs[r].width - 1; low < high; low++, high--) {
        guint8 byte = number[low];

        number[low] = number[high];
        number[high] = byte;
      }
    }
  }
}

/* 348 or 540 as the file's first number, in either byte order; 0 where it is
 * another number or fewer bytes than that are there. */
static guint32
header_size (const guint8 * bytes, gsize n, gboolean * swapped)
{
  guint32 size;

  if (n < sizeof (struct nifti_1_header))
    return 0;
  memcpy (&size, bytes, sizeof (size));
  *swapped = size != sizeof (struct nifti_1_header) && size != ND_NIFTI_HEADER;
  if (*swapped)
    size = GUINT32_SWAP_LE_BE (size);
  if (size == sizeof (struct nifti_1_header)
      || (size == ND_NIFTI_HEADER && n >= ND_NIFTI_HEADER))
    return size;
  return 0;
}

/* Both kinds as the wider one. */
static void
widen (nifti_2_header * wide, const struct nifti_1_header *header)
{
  memset (wide, 0, sizeof (*wide));
  wide->datatype = header->datatype;
  wide->bitpix = header->bitpix;
  for (guint i = 0; i < 8; i++) {
    wide->dim[i] = header->dim[i];
    wide->pixdim[i] = header->pixdim[i];
  }
  wide->scl_slope = header->scl_slope;
  wide->scl_inter = header->scl_inter;
  wide->qform_code = header->qform_code;
  wide->sform_code = header->sform_code;
  wide->quatern_b = header->quatern_b;
  wide->quatern_c = header->quatern_c;
  wide->quatern_d = header->quatern_d;
  wide->qoffset_x = header->qoffset_x;
  wide->qoffset_y = header->qoffset_y;
  wide->qoffset_z = header->qoffset_z;
  for (guint i = 0; i < 4; i++) {
    wide->srow_x[i] = header->srow_x[i];
    wide->srow_y[i] = header->srow_y[i];
    wide->srow_z[i] = header->srow_z[i];
  }
  wide->xyzt_units = header->xyzt_units;
}

static void
narrow (struct nifti_1_header *header, const nifti_2_header * wide)
{
  memset (header, 0, sizeof (*header));
  header->sizeof_hdr = sizeof (*header);
  header->regular = 'r';
  memcpy (header->magic, magic_1, sizeof (magic_1));
  header->vox_offset = wide->vox_offset;
  header->datatype = wide->datatype;
  header->bitpix = wide->bitpix;
  for (guint i = 0; i < 8; i++) {
    header->dim[i] = wide->dim[i];
    header->pixdim[i] = wide->pixdim[i];
  }
  header->scl_slope = wide->scl_slope;
  header->scl_inter = wide->scl_inter;
  header->qform_code = wide->qform_code;
  header->sform_code = wide->sform_code;
  header->quatern_b = wide->quatern_b;
  header->quatern_c = wide->quatern_c;
  header->quatern_d = wide->quatern_d;
  header->qoffset_x = wide->qoffset_x;
  header->qoffset_y = wide->qoffset_y;
  header->qoffset_z = wide->qoffset_z;
  for (guint i = 0; i < 4; i++) {
    header->srow_x[i] = wide->srow_x[i];
    header->srow_y[i] = wide->srow_y[i];
    header->srow_z[i] = wide->srow_z[i];
  }
  header->xyzt_units = wide->xyzt_units;
}

gboolean
nd_nifti_detect (const guint8 * bytes, gsize n)
{
  gboolean swapped;
  guint32 size = header_size (bytes, n, &swapped);
  const gchar *magic = (const gchar *) bytes + (size == 348 ? 344 : 4);

  return size != 0 && magic[0] == 'n' && (magic[1] == '+' || magic[1] == 'i')
      && g_ascii_isdigit (magic[2]);
}

/* Checks the magic and gives @wide in the byte order of the machine. */
static gboolean
unpack (nifti_2_header * wide, guint64 * offset, gboolean * swapped,
    const guint8 * bytes, gsize n, const gchar * path, GError ** error)
{
  const guint32 size = header_size (bytes, n, swapped);
  gdouble position;

  if (size == sizeof (struct nifti_1_header)) {
    struct nifti_1_header header;

    memcpy (&header, bytes, sizeof (header));
    if (*swapped)
      swap_runs ((guint8 *) & header, runs_1, G_N_ELEMENTS (runs_1));
    if (memcmp (header.magic, magic_1_pair, sizeof (magic_1)) == 0)
      goto pair;
    if (memcmp (header.magic, magic_1, sizeof (magic_1)) != 0)
      goto no_magic;
    widen (wide, &header);
    position = header.vox_offset;
  } else if (size == ND_NIFTI_HEADER) {
    memcpy (wide, bytes, sizeof (*wide));
    if (*swapped)
      swap_runs ((guint8 *) wide, runs_2, G_N_ELEMENTS (runs_2));
    if (memcmp (wide->magic, magic_2_pair, sizeof (magic_2)) == 0)
      goto pair;
    if (memcmp (wide->magic, magic_2, sizeof (magic_2)) != 0)
      goto no_magic;
    position = wide->vox_offset;
  } else {
    goto no_magic;
  }
  /* A header and the 4 bytes that announce extensions. */
  if (!(position >= size + 4 && position < 0x1p62)
      || position != floor (position)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "The NIfTI header of "
        "\"%s\" puts the samples at byte %g: it must be a whole number, "
        "%u or more", path, position, size + 4);
    return FALSE;
  }
  *offset = position;
  return TRUE;

pair:
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "\"%s\" is the header of a "
      "NIfTI pair (.hdr and .img): only NIfTI in one file (.nii, .nii.gz) is "
      "read, convert it first", path);
  return FALSE;

no_magic:
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "\"%s\" begins like NIfTI but "
      "its magic is wrong: it must be \"n+1\" or \"n+2\"", path);
  return FALSE;
}

static gboolean
parse_type (NdNifti * nifti, const nifti_2_header * wide, const gchar * path,
    GError ** error)
{
  NdRecording *recording = &nifti->recording;
  guint i = 0;

  while (i < G_N_ELEMENTS (datatypes) && datatypes[i].code != wide->datatype)
    i++;
  if (i == G_N_ELEMENTS (datatypes) || datatypes[i].components == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "\"%s\" holds samples of "
        "NIfTI type %d (%s): supported are " SUPPORTED, path, wide->datatype,
        i == G_N_ELEMENTS (datatypes) ? "unknown" : datatypes[i].name);
    return FALSE;
  }
  if (datatypes[i].bits != wide->bitpix) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "The NIfTI header of "
        "\"%s\" says %d bits a sample: its type %s has %d", path, wide->bitpix,
        datatypes[i].name, datatypes[i].bits);
    return FALSE;
  }
  nifti->stored = recording->type = datatypes[i].type;
  recording->shape.components = datatypes[i].components;

  /* nifti1.h: a slope of 0 means no scaling, and colours are never scaled. */
  nifti->slope = wide->scl_slope;
  nifti->intercept = isfinite (wide->scl_inter) ? wide->scl_inter : 0;
  nifti->scaled = isfinite (nifti->slope) && nifti->slope != 0
      && (nifti->slope != 1 || nifti->intercept != 0)
      && wide->datatype != DT_RGB24 && wide->datatype != DT_RGBA32;
  if (nifti->scaled)
    recording->type = ND_FLOAT32;
  return TRUE;
}

static gboolean
parse_dimensions (NdNifti * nifti, const nifti_2_header * wide,
    const gchar * path, GError ** error)
{
  NdRecording *recording = &nifti->recording;
  const gint64 rank = wide->dim[0];
  guint64 sizes[4] = { 1, 1, 1, 1 };
  guint64 bytes;
  gsize volume;

  if (rank < 1 || rank > 7) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "The NIfTI header of "
        "\"%s\" says %" G_GINT64_FORMAT " dimensions: it must be 1 to 7", path,
        rank);
    return FALSE;
  }
  for (gint64 i = 1; i <= rank; i++) {
    if (wide->dim[i] < 1 || (i > 4 && wide->dim[i] > 1)) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "The NIfTI header of "
          "\"%s\" says dim[%d] = %" G_GINT64_FORMAT ": it must be 1%s", path,
          (gint) i, wide->dim[i], i > 4 ? ", volumes have the dimensions x, y, "
          "z and time" : " or more");
      return FALSE;
    }
    if (i <= 4)
      sizes[i - 1] = wide->dim[i];
  }
  for (guint a = 0; a < 3; a++)
    recording->shape.size[a] = sizes[a];
  recording->volumes = sizes[3];
  volume = nd_recording_volume_size (recording);
  if (volume == 0 || !g_uint64_checked_mul (&bytes, volume, recording->volumes)
      || bytes > (guint64) G_MAXINT64 - nifti->offset) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "The NIfTI header of "
        "\"%s\" claims %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT "x%"
        G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT " samples: no file holds so "
        "many bytes, the header is damaged", path, sizes[0], sizes[1],
        sizes[2], sizes[3]);
    return FALSE;
  }
  return TRUE;
}

static void
parse_rate (NdRecording * recording, const nifti_2_header * wide)
{
  gdouble seconds = wide->dim[0] >= 4 ? wide->pixdim[4] : 0;

  switch (wide->xyzt_units & TIME_BITS) {
    case NIFTI_UNITS_MSEC:
      seconds /= 1e3;
      break;
    case NIFTI_UNITS_USEC:
      seconds /= 1e6;
      break;
    case NIFTI_UNITS_HZ:
    case NIFTI_UNITS_PPM:
    case NIFTI_UNITS_RADS:
      /* The fourth axis is a spectrum. */
      seconds = 0;
      break;
    default:
      break;
  }
  nd_rate_from_seconds (seconds, &recording->rate_n, &recording->rate_d);
}

static void
parse_geometry (NdGeometry * geometry, const nifti_2_header * wide)
{
  const gint32 unit = wide->xyzt_units & SPACE_BITS;
  const gdouble mm = unit == NIFTI_UNITS_METER ? 1e3
      : unit == NIFTI_UNITS_MICRON ? 1e-3 : 1;
  const gdouble bcd[3] = { wide->quatern_b, wide->quatern_c, wide->quatern_d };
  const gdouble origin[3] = { wide->qoffset_x * mm, wide->qoffset_y * mm,
    wide->qoffset_z * mm
  };
  gdouble affine[3][4], spacing[3];

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
  nd_geometry_from_spacing (geometry, spacing);
}

gboolean
nd_nifti_parse (NdNifti * nifti, const guint8 * bytes, gsize n,
    const gchar * path, GError ** error)
{
  nifti_2_header wide;

  memset (nifti, 0, sizeof (*nifti));
  nifti->recording.responses = 1;
  if (!unpack (&wide, &nifti->offset, &nifti->swapped, bytes, n, path, error)
      || !parse_type (nifti, &wide, path, error)
      || !parse_dimensions (nifti, &wide, path, error))
    return FALSE;
  parse_rate (&nifti->recording, &wide);
  parse_geometry (&nifti->recording.geometry, &wide);
  return TRUE;
}

static guint
datatype_of (const NdRecording * recording)
{
  guint i = 0;

  while (i < G_N_ELEMENTS (datatypes)
      && (datatypes[i].components != recording->shape.components
          || datatypes[i].type != recording->type))
    i++;
  return i;
}

gboolean
nd_nifti_supports (const NdRecording * recording, const gchar * path,
    GError ** error)
{
  if (recording->responses != 1) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "\"%s\" cannot hold the %u "
        "responses of a bank: NIfTI keeps time before responses, so that they "
        "cannot be written as they come; write one response, or raw (.raw)",
        path, recording->responses);
    return FALSE;
  }
  if (datatype_of (recording) == G_N_ELEMENTS (datatypes)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "\"%s\" cannot hold samples "
        "of %" G_GSIZE_FORMAT " components of %s: NIfTI has " SUPPORTED
        "; write raw (.raw)", path, recording->shape.components,
        nd_sample_name (recording->type));
    return FALSE;
  }
  return TRUE;
}

static void
build_geometry (nifti_2_header * wide, const NdGeometry * geometry)
{
  gdouble affine[3][4], bcd[3];

  wide->pixdim[0] = 1;
  for (guint a = 0; a < 3; a++)
    wide->pixdim[a + 1] = geometry->known ? geometry->spacing[a] : 1;
  if (!geometry->known)
    return;
  nd_geometry_to_affine (geometry, affine);
  wide->sform_code = NIFTI_XFORM_SCANNER_ANAT;
  memcpy (wide->srow_x, affine[0], sizeof (wide->srow_x));
  memcpy (wide->srow_y, affine[1], sizeof (wide->srow_y));
  memcpy (wide->srow_z, affine[2], sizeof (wide->srow_z));
  if (nd_geometry_to_quaternion (geometry, bcd, &wide->pixdim[0])) {
    wide->qform_code = NIFTI_XFORM_SCANNER_ANAT;
    wide->quatern_b = bcd[0];
    wide->quatern_c = bcd[1];
    wide->quatern_d = bcd[2];
    wide->qoffset_x = geometry->origin[0];
    wide->qoffset_y = geometry->origin[1];
    wide->qoffset_z = geometry->origin[2];
  }
}

void
nd_nifti_build (guint8 bytes[ND_NIFTI_ROOM], const NdRecording * recording)
{
  const guint i = datatype_of (recording);
  gint64 largest = recording->volumes;
  nifti_2_header wide = { 0 };

  wide.sizeof_hdr = sizeof (wide);
  memcpy (wide.magic, magic_2, sizeof (magic_2));
  wide.datatype = datatypes[i].code;
  wide.bitpix = datatypes[i].bits;
  wide.dim[0] = recording->volumes == 1 ? 3 : 4;
  for (guint a = 0; a < 3; a++) {
    wide.dim[a + 1] = recording->shape.size[a];
    largest = MAX (largest, wide.dim[a + 1]);
  }
  wide.dim[4] = recording->volumes;
  wide.dim[5] = wide.dim[6] = wide.dim[7] = 1;
  if (recording->rate_n > 0)
    wide.pixdim[4] = (gdouble) recording->rate_d / recording->rate_n;
  wide.scl_slope = 1;
  wide.vox_offset = ND_NIFTI_ROOM;
  wide.xyzt_units = NIFTI_UNITS_MM | NIFTI_UNITS_SEC;
  build_geometry (&wide, &recording->geometry);

  memset (bytes, 0, ND_NIFTI_ROOM);
  if (largest > G_MAXINT16) {
    memcpy (bytes, &wide, sizeof (wide));
  } else {
    struct nifti_1_header header;

    narrow (&header, &wide);
    memcpy (bytes, &header, sizeof (header));
  }
}

/* The convergents of the continued fraction, from the simplest. */
gboolean
nd_rate_from_seconds (gdouble seconds, gint * rate_n, gint * rate_d)
{
  gint64 d = 1, d_before = 0, n = 0, n_before = 1;
  gdouble x = seconds;

  *rate_n = 0;
  *rate_d = 1;
  if (!(seconds > 0))
    return FALSE;
  while (x <= G_MAXINT) {
    const gint64 whole = x;
    const gint64 d_next = whole * d + d_before, n_next = whole * n + n_before;

    if (d_next > G_MAXINT || n_next > G_MAXINT)
      return FALSE;
    if (d_next > 0 && (gfloat) ((gdouble) d_next / n_next) == (gfloat) seconds) {
      *rate_n = n_next;
      *rate_d = d_next;
      return TRUE;
    }
    d_before = d, d = d_next;
    n_before = n, n = n_next;
    x = 1 / (x - whole);
  }
  return FALSE;
}
