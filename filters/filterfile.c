/* Design file: coefficients from the file location. With size, the file has raw
 * float32 samples (little endian, x fastest). Without size, the content
 * decides: .npy, or a recording (NIfTI, NRRD, MetaImage: filterrecording.c).
 * Complex samples make a complex filter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/filterfile.h"

#include "core/budget.h"
#include "core/convert.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/part.h"
#include "filters/designs.h"
#include "filters/parameters.h"
#include "formats/npyheader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* More than the header of .npy may have. */
#define HEADER_BYTES (128 * 1024)

/* An open file. */
typedef struct
{
  NdBudget budget;
  gint fd; /* -1: closed */
  guint64 size;
  guint8 *data; /* its first @length bytes */
  gsize length;
} File;

static void
file_clear (File *file)
{
  if (file->fd >= 0)
    close (file->fd);
  nd_budget_free (&file->budget, file->data, file->length);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (File, file_clear);

static gboolean
filter_file_open_file (File *file, const gchar *location, GError **error)
{
  nd_budget_init (&file->budget, 0);
  file->fd = nd_file_open (location, TRUE, &file->size, error);
  return file->fd >= 0;
}

/* Reads the file, or its first @most bytes. Another program may change it
 * meanwhile. */
static gboolean
filter_file_read_file (File *file, const gchar *location, guint64 most,
    GError **error)
{
  const guint64 length = MIN (file->size, most);
  gssize got;

  file->data = nd_budget_alloc (&file->budget, length);
  if (!file->data)
    return nd_budget_refuse (&file->budget, location, error);
  file->length = length;
  got = nd_file_read (file->fd, 0, file->data, length);
  if (got == (gssize) length)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" cannot be read: %s",
      location, got < 0 ? g_strerror (errno) : "it has become shorter");
  return FALSE;
}

static NdFilter *
load_raw (const gchar *location, File *file, const NdParameters *parameters,
    const NdAxes *axes, GError **error)
{
  g_autoptr (NdFilter) filter = NULL;
  const gsize length = file->size;
  gsize size[ND_AXES], count;

  if (!nd_parameters_get_size (parameters, axes, 0, size, error))
    return NULL;
  count = nd_size_mul (nd_size_mul (size[0], size[1], size[2]), size[3], 1);
  if (length != nd_size_mul (count, sizeof (gfloat), 1)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" has %" G_GSIZE_FORMAT " bytes, but size %" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        " of float32 "
        "needs %" G_GSIZE_FORMAT "; leave size out if the file is .npy or "
        "NIfTI",
        location, length, size[0], size[1], size[2], size[3],
        nd_size_mul (count, sizeof (gfloat), 1));
    return NULL;
  }
  filter = nd_design_new_filter ("file", size, error);
  if (!filter)
    return NULL;
  if (!filter_file_read_file (file, location, length, error))
    return NULL;
  for (gsize i = 0; i < count; i++) {
    union
    {
      guint32 bits;
      gfloat value;
    } sample;

    memcpy (&sample.bits, file->data + 4 * i, 4);
    sample.bits = GUINT32_FROM_LE (sample.bits);
    filter->coefficients[i] = sample.value;
  }
  return g_steal_pointer (&filter);
}

/* Set by programs that read and write recordings. */
static const NdFilterRecordings *filter_recordings;
static void (*filter_recordings_search) (void);

void
nd_filter_set_recordings (const NdFilterRecordings *recordings)
{
  g_atomic_pointer_set (&filter_recordings, recordings);
}

void
nd_filter_set_search (void (*search) (void))
{
  g_atomic_pointer_set (&filter_recordings_search, search);
}

static const NdFilterRecordings *
filter_file_find_recordings (const gchar *location, GError **error)
{
  void (*search) (void) = g_atomic_pointer_get (&filter_recordings_search);
  const NdFilterRecordings *recordings =
      g_atomic_pointer_get (&filter_recordings);

  if (!recordings && search) {
    search ();
    recordings = g_atomic_pointer_get (&filter_recordings);
  }
  if (!recordings)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is not .npy, and what reads and writes NIfTI, NRRD and "
        "MetaImage is absent: GStreamer's plugin ndfile; for raw float32 "
        "samples give size too",
        location);
  return recordings;
}

static NdBank *
filter_file_load_recording (const gchar *location, GError **error)
{
  const NdFilterRecordings *recordings =
      filter_file_find_recordings (location, error);

  return recordings ? recordings->load (location, error) : NULL;
}

static NdBank *
filter_file_load (const gchar *location, const NdParameters *parameters,
    const NdAxes *axes, GError **error)
{
  g_auto (File) file = { .fd = -1 };
  guint8 begin[8];
  gssize n;

  if (!filter_file_open_file (&file, location, error))
    return NULL;
  if (nd_parameters_has (parameters, "size")) {
    g_autoptr (GPtrArray) filters = g_ptr_array_new ();
    NdFilter *filter = load_raw (location, &file, parameters, axes, error);

    if (!filter)
      return NULL;
    g_ptr_array_add (filters, filter);
    return nd_bank_new (filters);
  }
  n = nd_file_read (file.fd, 0, begin, sizeof (begin));
  if (n <= 0 || !nd_npy_detect (begin, n))
    return filter_file_load_recording (location, error);
  return filter_file_read_file (&file, location, G_MAXUINT64, error)
      ? nd_npy_load (location, file.data, file.length, axes, error)
      : NULL;
}

static const gchar *
filter_file_get_location (const NdParameters *parameters, GError **error)
{
  const gchar *location = nd_parameters_get_text (parameters, "location");

  if (location && *location != '\0')
    return location;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "location is missing; give the path of a .npy, NIfTI or raw float32 "
      "file, as in file,location=kernel.npy");
  return NULL;
}

NdBank *
nd_design_file (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  const gchar *location = filter_file_get_location (parameters, error);
  NdBank *bank =
      location ? filter_file_load (location, parameters, axes, error) : NULL;

  for (guint i = 0; bank && i < bank->n_filters; i++) {
    g_free (bank->filters[i]->name);
    bank->filters[i]->name = g_strdup_printf ("file \"%s\"", location);
  }
  return bank;
}

gboolean
nd_info_file (const NdParameters *parameters, const NdAxes *axes,
    NdBankInfo *info, GError **error)
{
  const gchar *location = filter_file_get_location (parameters, error);
  g_auto (File) file = { .fd = -1 };

  info->is_complex = FALSE;
  if (!location || !filter_file_open_file (&file, location, error))
    return FALSE;
  if (nd_parameters_has (parameters, "size"))
    return TRUE;
  if (!filter_file_read_file (&file, location, HEADER_BYTES, error))
    return FALSE;
  if (nd_npy_detect (file.data, file.length)) {
    info->is_complex = nd_npy_is_complex (file.data, file.length);
  } else {
    const NdFilterRecordings *recordings =
        filter_file_find_recordings (location, error);

    return recordings
        && recordings->is_complex (location, &info->is_complex, error);
  }
  return TRUE;
}

/* Filters from .npy arrays. */

/* Sizes along x, y, z, t from the shape, which has the slowest axis first. */
static gboolean
filter_file_assign_axes (const NdNpyHeader *header, const NdAxes *axes,
    gsize size[ND_AXES], GError **error)
{
  if (header->rank > axes->n && header->rank != ND_AXES) {
    g_autofree gchar *letters = nd_axes_to_string (axes);

    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It has an array of %u axes, but the element filters along %s; it must "
        "have as many axes or fewer, or be (t, z, y, x)",
        header->rank, letters);
    return FALSE;
  }
  for (guint a = 0; a < ND_AXES; a++)
    size[a] = 1;
  for (guint i = 0; i < header->rank; i++) {
    NdAxis axis = header->rank > axes->n ? i : axes->axis[i];

    size[axis] = header->shape[header->rank - 1 - i];
    if (size[axis] == 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "It has an empty array (0 along an axis); a filter has at least one "
          "coefficient");
      return FALSE;
    }
  }
  return TRUE;
}

static gdouble
filter_file_convert (const guint8 *sample, gchar kind, gsize bytes,
    gboolean swapped)
{
  union
  {
    guint8 bytes[8];
    gint8 i1;
    guint8 u1;
    gint16 i2;
    guint16 u2;
    gint32 i4;
    guint32 u4;
    gint64 i8;
    guint64 u8;
    gfloat f4;
    gdouble f8;
  } value = { .u8 = 0 };

  for (gsize b = 0; b < bytes; b++)
    value.bytes[swapped ? bytes - 1 - b : b] = sample[b];
  if (kind == 'f' && bytes == 2)
    return nd_half_to_float (value.u2);
  if (kind == 'f' || kind == 'c')
    return bytes == 4 ? (gdouble) value.f4 : value.f8;
  switch (bytes) {
    case 1:
      return kind == 'i' ? (gdouble) value.i1 : (gdouble) value.u1;
    case 2:
      return kind == 'i' ? (gdouble) value.i2 : (gdouble) value.u2;
    case 4:
      return kind == 'i' ? (gdouble) value.i4 : (gdouble) value.u4;
    default:
      return kind == 'i' ? (gdouble) value.i8 : (gdouble) value.u8;
  }
}

/* Reads every @step-th of @samples. */
static NdFilter *
load_component (const guint8 *samples, gsize step, gchar kind, gsize bytes,
    gboolean swapped, const gsize size[ND_AXES], GError **error)
{
  NdFilter *filter = nd_design_new_filter ("file", size, error);
  gsize count;

  if (!filter)
    return NULL;
  count = nd_filter_count (filter);
  for (gsize i = 0; i < count; i++)
    filter->coefficients[i] =
        filter_file_convert (samples + i * step * bytes, kind, bytes, swapped);
  return filter;
}

static NdBank *
load_samples (const guint8 *samples, gsize available, const NdNpyHeader *header,
    const NdAxes *axes, GError **error)
{
  g_autoptr (GPtrArray) filters =
      g_ptr_array_new_with_free_func ((GDestroyNotify) nd_filter_free);
  gsize size[ND_AXES], wanted, bytes, components;
  NdBank *bank;
  gboolean swapped;
  gchar kind;

  if (!nd_npy_parse_type (header->descr, &kind, &bytes, &swapped)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It has samples of type %.40s; they must be integers (i1 to i8, u1 to "
        "u8), floats (f2, f4, f8) or complex numbers (c8, c16); save it with "
        "numpy.save (name, array.astype (numpy.float32))",
        header->descr);
    return NULL;
  }
  if (header->fortran_order) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It is in Fortran order; it must be in C order; save it with "
        "numpy.save (name, numpy.ascontiguousarray (array))");
    return NULL;
  }
  if (!filter_file_assign_axes (header, axes, size, error))
    return NULL;
  components = kind == 'c' ? 2 : 1;
  wanted = components * bytes;
  for (guint a = 0; a < ND_AXES; a++) {
    if (!g_size_checked_mul (&wanted, wanted, size[a]))
      wanted = G_MAXSIZE;
  }
  if (available != wanted && wanted / bytes <= ND_FILTER_MAX_COEFFICIENTS) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "It is %s: %" G_GSIZE_FORMAT " bytes of samples, but its header says "
        "%" G_GSIZE_FORMAT "",
        available < wanted ? "truncated" : "too long", available, wanted);
    return NULL;
  }
  for (gsize c = 0; c < components; c++) {
    NdFilter *filter = load_component (samples + c * bytes, components, kind,
        bytes, swapped, size, error);

    if (!filter)
      return NULL;
    g_ptr_array_add (filters, filter);
  }
  bank = nd_bank_new (filters);
  bank->is_complex = components == 2;
  return bank;
}

NdBank *
nd_npy_load (const gchar *location, const guint8 *data, gsize length,
    const NdAxes *axes, GError **error)
{
  NdNpyHeader header = { NULL };
  NdBank *bank = NULL;
  gsize end;

  if (nd_npy_header_parse (&header, data, length, &end, error))
    bank = load_samples (data + end, length - end, &header, axes, error);
  g_free (header.descr);
  if (!bank)
    g_prefix_error (error, "\"%s\" cannot be used. ", location);
  return bank;
}

gboolean
nd_npy_is_complex (const guint8 *data, gsize length)
{
  NdNpyHeader header = { NULL };
  gboolean swapped, found;
  gsize end, bytes;
  gchar kind = 0;

  found = nd_npy_header_parse (&header, data, length, &end, NULL)
      && nd_npy_parse_type (header.descr, &kind, &bytes, &swapped);
  g_free (header.descr);
  return found && kind == 'c';
}

/* Version 1.0. Padding of the header makes the offset of the samples a multiple
 * of 64. */
#define NPY_BEGIN "\x93NUMPY\x01\x00"
#define NPY_FIXED 10
#define NPY_ALIGN 64

static const gchar *const endings[] = { ".nii", ".nii.gz", ".nrrd", ".nhdr",
  ".mha", ".mhd" };

static GString *
npy_header (const NdFilter *filter, const NdAxes *axes, gboolean is_complex)
{
  GString *file = g_string_new_len (NPY_BEGIN, 8);
  g_autoptr (GString) text = g_string_new (NULL);
  guint16 length;

  g_string_append_printf (text,
      "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
      G_BYTE_ORDER == G_LITTLE_ENDIAN ? '<' : '>', is_complex ? "c16" : "f8");
  for (guint i = axes->n; i-- > 0;)
    g_string_append_printf (text, "%" G_GSIZE_FORMAT ",%s",
        filter->size[axes->axis[i]], i > 0 ? " " : "");
  g_string_append (text, "), }");
  while ((NPY_FIXED + text->len + 1) % NPY_ALIGN != 0)
    g_string_append_c (text, ' ');
  g_string_append_c (text, '\n');
  length = GUINT16_TO_LE (text->len);
  g_string_append_len (file, (const gchar *) &length, 2);
  g_string_append_len (file, text->str, text->len);
  return file;
}

static gboolean
save_npy (const NdFilter *real, const NdFilter *imaginary, const NdAxes *axes,
    const gchar *path, GError **error)
{
  g_autoptr (GString) file = npy_header (real, axes, imaginary != NULL);
  gsize count = nd_filter_count (real);
  gint reason;

  for (gsize i = 0; i < count; i++) {
    g_string_append_len (file, (const gchar *) &real->coefficients[i],
        sizeof (gdouble));
    if (imaginary)
      g_string_append_len (file, (const gchar *) &imaginary->coefficients[i],
          sizeof (gdouble));
  }
  reason = nd_file_replace (path, file->str, file->len);
  if (reason)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
        "\"%s\" cannot be written: %s", path, g_strerror (reason));
  return reason == 0;
}

static gboolean
filter_file_save_recording (const NdFilter *real, const NdFilter *imaginary,
    const gchar *path, GError **error)
{
  const NdFilterRecordings *recordings =
      filter_file_find_recordings (path, error);

  return recordings && recordings->save (real, imaginary, path, error);
}

gboolean
nd_filter_save (const NdFilter *real, const NdFilter *imaginary,
    const NdAxes *axes, const gchar *path, GError **error)
{
  if (g_str_has_suffix (path, ".npy"))
    return save_npy (real, imaginary, axes, path, error);
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    if (g_str_has_suffix (path, endings[i]))
      return filter_file_save_recording (real, imaginary, path, error);
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "\"%s\" has an unknown extension; filters are saved as .npy, .nii, "
      ".nii.gz, .nrrd, .nhdr, .mha or .mhd",
      path);
  return FALSE;
}
