/* Filters from .npy arrays.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/npy.h"

#include "core/convert.h"
#include "core/error.h"
#include "filters/designs.h"
#include "formats/npyheader.h"

/* Sizes along x, y, z, t from the shape, which has the slowest axis first. */
static gboolean
assign_axes (const NdNpyHeader *header, const NdAxes *axes, gsize size[ND_AXES],
    GError **error)
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
convert (const guint8 *sample, gchar kind, gsize bytes, gboolean swapped)
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
        convert (samples + i * step * bytes, kind, bytes, swapped);
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
  if (!assign_axes (header, axes, size, error))
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
