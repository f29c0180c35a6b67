/* The .npy format: magic, version, length of the header, the header (a Python
 * dictionary with the keys descr, fortran_order and shape), then the samples.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndnpy.h"

#include <string.h>

#include "engine/nderror.h"
#include "nddesigns.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_LENGTH 6

/* Rank above ND_AXES is read to be reported. */
#define MAX_RANK 64

typedef struct
{
  gchar *descr;
  gboolean fortran_order;
  gboolean has_order, has_shape;
  guint rank;
  gsize shape[MAX_RANK];
} Header;

gboolean
nd_npy_is (const guint8 * data, gsize length)
{
  return length >= MAGIC_LENGTH && memcmp (data, MAGIC, MAGIC_LENGTH) == 0;
}

static void
skip_space (const gchar ** text)
{
  while (g_ascii_isspace (**text))
    (*text)++;
}

/* Takes @token and the spaces before it. */
static gboolean
accept (const gchar ** text, const gchar * token)
{
  skip_space (text);
  if (!g_str_has_prefix (*text, token))
    return FALSE;
  *text += strlen (token);
  return TRUE;
}

static gchar *
parse_string (const gchar ** text)
{
  const gchar *start, *end;

  skip_space (text);
  if (**text != '\'' && **text != '"')
    return NULL;
  start = *text + 1;
  end = strchr (start, **text);
  if (end == NULL)
    return NULL;
  *text = end + 1;
  return g_strndup (start, end - start);
}

static gboolean
parse_shape (const gchar ** text, Header * header)
{
  header->has_shape = TRUE;
  if (!accept (text, "("))
    return FALSE;
  while (!accept (text, ")")) {
    gchar *end;
    guint64 n;

    skip_space (text);
    n = g_ascii_strtoull (*text, &end, 10);
    if (!g_ascii_isdigit (**text) || n > G_MAXSSIZE || header->rank == MAX_RANK)
      return FALSE;
    header->shape[header->rank++] = (gsize) n;
    *text = end;
    if (!accept (text, ",")) {
      skip_space (text);
      if (**text != ')')
        return FALSE;
    }
  }
  return TRUE;
}

static gboolean
parse_order (const gchar ** text, Header * header)
{
  header->has_order = TRUE;
  header->fortran_order = accept (text, "True");
  return header->fortran_order || accept (text, "False");
}

/* A structured type is a list of fields; its text stands for it. */
static gboolean
parse_descr (const gchar ** text, Header * header)
{
  g_free (header->descr);
  skip_space (text);
  if (**text == '[') {
    header->descr = g_strdup ("a structured type");
    *text += strcspn (*text, "]");
    return accept (text, "]");
  }
  header->descr = parse_string (text);
  return header->descr != NULL;
}

static gboolean
parse_header (const gchar * text, Header * header)
{
  if (!accept (&text, "{"))
    return FALSE;
  while (!accept (&text, "}")) {
    g_autofree gchar *key = parse_string (&text);
    gboolean ok = key != NULL && accept (&text, ":");

    if (ok && strcmp (key, "descr") == 0)
      ok = parse_descr (&text, header);
    else if (ok && strcmp (key, "fortran_order") == 0)
      ok = parse_order (&text, header);
    else if (ok && strcmp (key, "shape") == 0)
      ok = !header->has_shape && parse_shape (&text, header);
    else
      ok = FALSE;
    if (!ok)
      return FALSE;
    if (!accept (&text, ",")) {
      skip_space (&text);
      if (*text != '}')
        return FALSE;
    }
  }
  return header->descr != NULL && header->has_order && header->has_shape;
}

/* Where the header begins and ends; FALSE where the file ends before. */
static gboolean
find_header (const guint8 * data, gsize length, gsize * start, gsize * end)
{
  guint32 header_length;

  if (length < 12)
    return FALSE;
  if (data[MAGIC_LENGTH] == 1) {
    header_length = data[8] | data[9] << 8;
    *start = 10;
  } else {
    memcpy (&header_length, data + 8, 4);
    header_length = GUINT32_FROM_LE (header_length);
    *start = 12;
  }
  *end = *start + header_length;
  return header_length <= length - *start;
}

/* Sizes along x, y, z, t from the shape, slowest first. */
static gboolean
assign_axes (const Header * header, const NdAxes * axes,
    gsize size[ND_AXES], GError ** error)
{
  if (header->rank > axes->n && header->rank != ND_AXES) {
    g_autofree gchar *letters = nd_axes_to_string (axes);

    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It has an array of %u axes, but the element filters along %s; it "
        "must have as many axes or fewer, or be (t, z, y, x).", header->rank,
        letters);
    return FALSE;
  }
  for (guint a = 0; a < ND_AXES; a++)
    size[a] = 1;
  for (guint i = 0; i < header->rank; i++) {
    NdAxis axis = header->rank > axes->n ? i : axes->axis[i];

    size[axis] = header->shape[header->rank - 1 - i];
    if (size[axis] == 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "It has an empty array (0 along an axis), where a filter has 1 "
          "coefficient and more.");
      return FALSE;
    }
  }
  return TRUE;
}

/* Kind ('f', 'i', 'u', 'c'), bytes and byte order from text like "<f8"; of a
 * complex number, those of a part. */
static gboolean
parse_type (const gchar * descr, gchar * kind, gsize * bytes,
    gboolean * swapped)
{
  const gchar *text = descr;

  *swapped = FALSE;
  if (*text != '\0' && strchr ("<>=|", *text)) {
    *swapped = *text == (G_BYTE_ORDER == G_LITTLE_ENDIAN ? '>' : '<');
    text++;
  }
  *kind = text[0];
  if (strcmp (text, "c8") == 0 || strcmp (text, "c16") == 0) {
    *bytes = text[1] == '8' ? 4 : 8;
    return TRUE;
  }
  if (*kind == '\0' || text[1] == '\0' || text[2] != '\0'
      || !g_ascii_isdigit (text[1]))
    return FALSE;
  *bytes = text[1] - '0';
  if (*kind == 'f')
    return *bytes == 4 || *bytes == 8;
  return (*kind == 'i' || *kind == 'u')
      && (*bytes == 1 || *bytes == 2 || *bytes == 4 || *bytes == 8);
}

static gdouble
convert (const guint8 * sample, gchar kind, gsize bytes, gboolean swapped)
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
  } value = {.u8 = 0 };

  for (gsize b = 0; b < bytes; b++)
    value.bytes[swapped ? bytes - 1 - b : b] = sample[b];
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

/* Every @step-th of @samples, from the first. */
static NdFilter *
load_part (const guint8 * samples, gsize step, gchar kind, gsize bytes,
    gboolean swapped, const gsize size[ND_AXES], GError ** error)
{
  NdFilter *filter = nd_design_new_filter ("file", size, error);
  gsize count;

  if (filter == NULL)
    return NULL;
  count = nd_filter_count (filter);
  for (gsize i = 0; i < count; i++)
    filter->coefficients[i] =
        convert (samples + i * step * bytes, kind, bytes, swapped);
  return filter;
}

static NdBank *
load_samples (const guint8 * samples, gsize available, const Header * header,
    const NdAxes * axes, GError ** error)
{
  g_autoptr (GPtrArray) filters =
      g_ptr_array_new_with_free_func ((GDestroyNotify) nd_filter_free);
  gsize size[ND_AXES], wanted, bytes, parts;
  NdBank *bank;
  gboolean swapped;
  gchar kind;

  if (!parse_type (header->descr, &kind, &bytes, &swapped)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It has samples of type %.40s, where integers (i1 to i8, u1 to u8), "
        "floats (f4, f8) or complex numbers (c8, c16) must stand; save it with "
        "numpy.save (name, array.astype (numpy.float32)).", header->descr);
    return NULL;
  }
  if (header->fortran_order) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It is in Fortran order, where C order must stand; save it with "
        "numpy.save (name, numpy.ascontiguousarray (array)).");
    return NULL;
  }
  if (!assign_axes (header, axes, size, error))
    return NULL;
  parts = kind == 'c' ? 2 : 1;
  wanted = parts * bytes;
  for (guint a = 0; a < ND_AXES; a++) {
    if (!g_size_checked_mul (&wanted, wanted, size[a]))
      wanted = G_MAXSIZE;
  }
  if (available != wanted && wanted / bytes <= ND_FILTER_MAX_COEFFICIENTS) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "It is %s: %" G_GSIZE_FORMAT " bytes of samples, where its header says "
        "%" G_GSIZE_FORMAT ".", available < wanted ? "truncated" : "too long",
        available, wanted);
    return NULL;
  }
  for (gsize part = 0; part < parts; part++) {
    NdFilter *filter = load_part (samples + part * bytes, parts, kind, bytes,
        swapped, size, error);

    if (filter == NULL)
      return NULL;
    g_ptr_array_add (filters, filter);
  }
  bank = nd_bank_new (filters);
  bank->is_complex = parts == 2;
  return bank;
}

/* The header, of which descr is to be freed, and where the samples begin. */
static gboolean
load_header (const guint8 * data, gsize length, Header * header, gsize * end,
    GError ** error)
{
  g_autofree gchar *text = NULL;
  gsize start;

  if (length > MAGIC_LENGTH && (data[MAGIC_LENGTH] < 1
          || data[MAGIC_LENGTH] > 3)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It is .npy version %u, where 1, 2 or 3 must stand.",
        data[MAGIC_LENGTH]);
    return FALSE;
  }
  if (!find_header (data, length, &start, end)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "It is truncated: the file ends before its .npy header does.");
    return FALSE;
  }
  text = g_strchomp (g_strndup ((const gchar *) data + start, *end - start));
  if (parse_header (text, header))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "Its .npy header is damaged: \"%.80s\".", text);
  return FALSE;
}

NdBank *
nd_npy_load (const gchar * location, const guint8 * data, gsize length,
    const NdAxes * axes, GError ** error)
{
  Header header = { NULL, };
  NdBank *bank = NULL;
  gsize end;

  if (load_header (data, length, &header, &end, error))
    bank = load_samples (data + end, length - end, &header, axes, error);
  g_free (header.descr);
  if (bank == NULL)
    g_prefix_error (error, "\"%s\" cannot be used. ", location);
  return bank;
}

gboolean
nd_npy_is_complex (const guint8 * data, gsize length)
{
  Header header = { NULL, };
  gboolean swapped, found;
  gsize end, bytes;
  gchar kind = 0;

  found = load_header (data, length, &header, &end, NULL)
      && parse_type (header.descr, &kind, &bytes, &swapped);
  g_free (header.descr);
  return found && kind == 'c';
}
