/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/metaimage.h"

#include "core/error.h"
#include "formats/axes.h"
#include "formats/headertext.h"
#include "formats/rate.h"
#include "formats/sequence.h"

#include <math.h>
#include <string.h>

#define MAX_DIMS 10 /* MetaIO's limit */

typedef enum
{
  FIELD_OBJECT_TYPE,
  FIELD_NDIMS,
  FIELD_BINARY,
  FIELD_BIG_ENDIAN,
  FIELD_COMPRESSED,
  FIELD_COMPRESSED_SIZE,
  FIELD_MATRIX,
  FIELD_OFFSET,
  FIELD_SPACING,
  FIELD_SIZE,
  FIELD_DIM_SIZE,
  FIELD_KINDS,
  FIELD_CHANNELS,
  FIELD_TYPE,
  FIELD_HEADER_SIZE,
  FIELD_DATA
} Field;

static const NdTextWord names[] = { { "ObjectType", FIELD_OBJECT_TYPE },
  { "NDims", FIELD_NDIMS }, { "BinaryData", FIELD_BINARY },
  { "BinaryDataByteOrderMSB", FIELD_BIG_ENDIAN },
  { "ElementByteOrderMSB", FIELD_BIG_ENDIAN },
  { "CompressedData", FIELD_COMPRESSED },
  { "CompressedDataSize", FIELD_COMPRESSED_SIZE },
  { "TransformMatrix", FIELD_MATRIX }, { "Rotation", FIELD_MATRIX },
  { "Orientation", FIELD_MATRIX }, { "Offset", FIELD_OFFSET },
  { "Position", FIELD_OFFSET }, { "Origin", FIELD_OFFSET },
  { "ElementSpacing", FIELD_SPACING }, { "ElementSize", FIELD_SIZE },
  { "DimSize", FIELD_DIM_SIZE }, { "Kinds", FIELD_KINDS },
  { "ElementNumberOfChannels", FIELD_CHANNELS }, { "ElementType", FIELD_TYPE },
  { "HeaderSize", FIELD_HEADER_SIZE }, { ND_METAIMAGE_LAST, FIELD_DATA },
  { "CenterOfRotation", ND_FIELD_UNUSED }, { NULL } };

/* MET_LONG has 4 bytes in files, whatever the size of long is. */
static const NdTextWord types[] = { { "MET_CHAR", ND_STORED_INT8 },
  { "MET_UCHAR", ND_STORED_UINT8 }, { "MET_SHORT", ND_STORED_INT16 },
  { "MET_USHORT", ND_STORED_UINT16 }, { "MET_INT", ND_STORED_INT32 },
  { "MET_UINT", ND_STORED_UINT32 }, { "MET_LONG", ND_STORED_INT32 },
  { "MET_ULONG", ND_STORED_UINT32 }, { "MET_LONG_LONG", ND_STORED_INT64 },
  { "MET_ULONG_LONG", ND_STORED_UINT64 }, { "MET_FLOAT", ND_STORED_FLOAT32 },
  { "MET_DOUBLE", ND_STORED_FLOAT64 }, { NULL } };

typedef struct
{
  NdFields fields;
  NdHeader *header;
  NdSequence sequence;
  guint n_dims;
  guint64 sizes[MAX_DIMS];
  gboolean list; /* the last dimension is time */
} Parser;

static void
metaimage_parser_clear (Parser *parser)
{
  nd_sequence_clear (&parser->sequence);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Parser, metaimage_parser_clear);

static const guint8 *
skip_blanks (const guint8 *p, const guint8 *end)
{
  while (p < end && (*p == ' ' || *p == '\t'))
    p++;
  return p;
}

/* The text after "=", or ":", which MetaIO takes for it, if the line at @p
 * begins with @name and that; otherwise NULL. */
static const guint8 *
after_name (const guint8 *p, const guint8 *end, const gchar *name)
{
  const gsize n = strlen (name);

  p = skip_blanks (p, end);
  if ((gsize) (end - p) <= n || memcmp (p, name, n) != 0)
    return NULL;
  p = skip_blanks (p + n, end);
  return p < end && (*p == '=' || *p == ':') ? p + 1 : NULL;
}

/* Fields may come in any order, after keys of others. One of those that every
 * header has begins a line of the text. */
gboolean
nd_metaimage_detect (const guint8 *bytes, gsize n)
{
  static const gchar *const always[] = { "ObjectType", "NDims", "DimSize",
    "ElementType", ND_METAIMAGE_LAST };
  const guint8 *nul = memchr (bytes, '\0', n);
  const guint8 *end = nul ? nul : bytes + n;

  for (const guint8 *p = bytes; p; p = p ? p + 1 : NULL) {
    for (guint i = 0; i < G_N_ELEMENTS (always); i++) {
      if (after_name (p, end, always[i]))
        return TRUE;
    }
    p = memchr (p, '\n', end - p);
  }
  return FALSE;
}

gsize
nd_metaimage_header_size (const guint8 *bytes, gsize n, gboolean *to_end)
{
  const guint8 *p = bytes, *end = bytes + n;

  *to_end = FALSE;
  while (p < end) {
    const guint8 *stop = memchr (p, '\n', end - p), *value;

    if (!stop)
      break;
    value = after_name (p, stop, ND_METAIMAGE_LAST);
    if (value) {
      value = skip_blanks (value, stop);
      *to_end = stop - value >= 4 && memcmp (value, "LIST", 4) == 0;
      return stop + 1 - bytes;
    }
    p = stop + 1;
  }
  return 0;
}

static gboolean
metaimage_refuse (Parser *parser, Field field, const gchar *must,
    GError **error)
{
  return nd_fields_refuse (&parser->fields, field, must, error);
}

/* "Name = value" */
static gboolean
metaimage_take_line (Parser *parser, GError **error)
{
  NdText *text = &parser->fields.text;
  gchar *name = g_strstrip (text->line), *equals = strpbrk (name, "=:");
  gchar *value;
  gint field;

  if (*name == '\0')
    return TRUE;
  if (!equals || equals == name) {
    nd_text_error (text, error, "it does not read \"Name = value\"");
    return FALSE;
  }
  *equals = '\0';
  g_strchomp (name);
  value = g_strchug (equals + 1);
  field = nd_text_word (names, name);
  /* PLUS writes some fields twice. */
  if (field >= 0 && field != ND_FIELD_UNUSED && parser->fields.values[field]
      && strcmp (parser->fields.values[field], g_strchomp (value)) == 0)
    return TRUE;
  if (field >= 0)
    return nd_fields_take (&parser->fields, field, value, error);
  if (!nd_sequence_take (&parser->sequence, name, value))
    nd_header_add_field (parser->header, name, value);
  return TRUE;
}

/* Keeps @value if the field is absent. FALSE with an error if it is neither
 * True nor False. */
static gboolean
parse_boolean (Parser *parser, Field field, gboolean *value, GError **error)
{
  const gchar *word = parser->fields.values[field];

  if (!word)
    return TRUE;
  *value = *word == 'T' || *word == 't' || *word == '1';
  if (*value || *word == 'F' || *word == 'f' || *word == '0')
    return TRUE;
  return metaimage_refuse (parser, field, "be True or False", error);
}

static gboolean
parse_kind (Parser *parser, GError **error)
{
  NdHeader *header = parser->header;
  NdStored *stored = &header->stored;
  const gchar *object = parser->fields.values[FIELD_OBJECT_TYPE];
  const gchar *type = parser->fields.values[FIELD_TYPE];
  const gchar *channels = parser->fields.values[FIELD_CHANNELS];
  gboolean binary = TRUE, big = FALSE;
  guint64 components;
  gint found;

  if (object && strcmp (object, "Image") != 0)
    return metaimage_refuse (parser, FIELD_OBJECT_TYPE, "be Image", error);
  if (!parse_boolean (parser, FIELD_BINARY, &binary, error)
      || !parse_boolean (parser, FIELD_BIG_ENDIAN, &big, error)
      || !parse_boolean (parser, FIELD_COMPRESSED, &header->compressed, error))
    return FALSE;
  if (!binary)
    return metaimage_refuse (parser, FIELD_BINARY,
        "be True; ITK converts files with samples as text", error);
  found = nd_text_word (types, type);
  if (found < 0)
    return metaimage_refuse (parser, FIELD_TYPE,
        "be a type of numbers (MET_UCHAR, MET_SHORT, MET_FLOAT ...)", error);
  stored->type = found;
  stored->swapped = big != (G_BYTE_ORDER == G_BIG_ENDIAN)
      && nd_stored_size (stored->type) > 1;
  if (channels) {
    if (nd_text_sizes (channels, &components, 1) != 1)
      return metaimage_refuse (parser, FIELD_CHANNELS, "be 1 or more", error);
    header->recording.shape.components = components;
  }
  return TRUE;
}

/* Decides if the last dimension is time. A third dimension is time only if
 * volumes have fields, because PLUS also calls the slices of a reconstruction
 * "list". */
static gboolean
metaimage_parse_kinds (Parser *parser, GError **error)
{
  const gchar *value = parser->fields.values[FIELD_KINDS];
  const gboolean of_volumes = parser->sequence.stamps->len > 0
      || parser->header->metadata->volume_fields->len > 0;
  g_auto (GStrv) words = NULL;
  guint n = 0;

  parser->list =
      parser->n_dims == 4 || (parser->n_dims < 4 && of_volumes && !value);
  if (!value)
    return TRUE;
  words = g_strsplit_set (value, " \t", -1);
  for (guint i = 0; words[i]; i++) {
    const gboolean time =
        strcmp (words[i], "list") == 0 || strcmp (words[i], "time") == 0;

    if (*words[i] == '\0' || (n == 0 && strcmp (words[i], "vector") == 0))
      continue;
    n++;
    if ((!time && strcmp (words[i], "domain") != 0
            && strcmp (words[i], "space") != 0)
        || (time && n < parser->n_dims) || n > parser->n_dims)
      return metaimage_refuse (parser, FIELD_KINDS,
          "be domain for every dimension, and domain or list for the last",
          error);
    parser->list = time && (parser->n_dims != 3 || of_volumes);
  }
  if (n != parser->n_dims || (n == 4 && !parser->list))
    return metaimage_refuse (parser, FIELD_KINDS,
        "have a word for every dimension, and list for a fourth", error);
  return TRUE;
}

static gboolean
metaimage_parse_sizes (Parser *parser, GError **error)
{
  NdRecording *recording = &parser->header->recording;
  guint64 *sizes = parser->sizes;
  guint n_space;
  gint64 dims;
  gint n;

  if (!parser->fields.values[FIELD_NDIMS]
      || !nd_text_integer (parser->fields.values[FIELD_NDIMS], &dims)
      || dims < 1 || dims > MAX_DIMS)
    return metaimage_refuse (parser, FIELD_NDIMS, "be 1 to 4", error);
  n = parser->fields.values[FIELD_DIM_SIZE]
      ? nd_text_sizes (parser->fields.values[FIELD_DIM_SIZE], sizes, MAX_DIMS)
      : -1;
  if (n != dims)
    return metaimage_refuse (parser, FIELD_DIM_SIZE,
        "be as many whole numbers of 1 or more as NDims says", error);
  while (dims > 4 && sizes[dims - 1] == 1)
    dims--;
  if (dims > 4)
    return metaimage_refuse (parser, FIELD_NDIMS, "be 1 to 4: x, y, z, time",
        error);
  parser->n_dims = dims;
  if (!metaimage_parse_kinds (parser, error))
    return FALSE;
  n_space = parser->n_dims - parser->list;
  for (guint a = 0; a < n_space; a++)
    recording->shape.size[a] = sizes[a];
  if (parser->list)
    recording->volumes = sizes[parser->n_dims - 1];
  return TRUE;
}

/* Reads one number per dimension, or 3, which some writers give for 4D files.
 * Returns their number, 0 if the field is absent, -1 after an error. */
static gint
metaimage_parse_numbers (Parser *parser, Field field, gdouble *numbers,
    guint power, GError **error)
{
  const gint n = parser->fields.values[field]
      ? nd_text_doubles (parser->fields.values[field], numbers,
            MAX_DIMS * MAX_DIMS)
      : 0;

  for (gint i = 0; i < n; i++) {
    if (!isfinite (numbers[i]))
      goto wrong;
  }
  for (gint d = 1; d <= MAX_DIMS; d++) {
    if (n == (power == 2 ? d * d : d) && (d == 3 || d >= (gint) parser->n_dims))
      return d;
  }
  if (n == 0)
    return 0;

wrong:
  metaimage_refuse (parser, field,
      power == 2 ? "have as many numbers as the square "
                   "of NDims"
                 : "have as many numbers as NDims says",
      error);
  return -1;
}

static gboolean
metaimage_parse_geometry (Parser *parser, GError **error)
{
  NdRecording *recording = &parser->header->recording;
  NdGeometry *geometry = &recording->geometry;
  gdouble spacing[MAX_DIMS * MAX_DIMS], offset[MAX_DIMS * MAX_DIMS];
  gdouble matrix[MAX_DIMS * MAX_DIMS];
  const Field field =
      parser->fields.values[FIELD_SPACING] ? FIELD_SPACING : FIELD_SIZE;
  const gint n_spacing =
      metaimage_parse_numbers (parser, field, spacing, 1, error);
  const gint n_offset = n_spacing < 0
      ? -1
      : metaimage_parse_numbers (parser, FIELD_OFFSET, offset, 1, error);
  const gint n_matrix = n_offset < 0
      ? -1
      : metaimage_parse_numbers (parser, FIELD_MATRIX, matrix, 2, error);
  /* Axes of files point to Left, Posterior, Superior. */
  const gdouble *sign = nd_axes_signs;

  if (n_matrix < 0)
    return FALSE;
  geometry->known = n_spacing > 0 || n_offset > 0 || n_matrix > 0;
  for (gint a = 0; a < 3; a++) {
    geometry->spacing[a] = a < n_spacing ? spacing[a] : 1;
    if (!(geometry->spacing[a] > 0))
      return metaimage_refuse (parser, field, "be above 0", error);
    geometry->origin[a] = a < n_offset ? sign[a] * offset[a] : 0;
    for (gint row = 0; row < 3; row++)
      geometry->directions[3 * row + a] = sign[row]
          * (a < n_matrix && row < n_matrix ? matrix[a * n_matrix + row]
                                            : a == row);
  }
  if (parser->list && parser->n_dims == 4 && n_spacing >= 4 && spacing[3] != 1)
    nd_rate_from_seconds (spacing[3], &recording->rate_n, &recording->rate_d);
  if (parser->list && parser->n_dims == 4 && n_offset >= 4
      && fabs (offset[3]) < 1e9)
    parser->header->metadata->origin = llrint (offset[3] * 1e9);
  return TRUE;
}

/* The number of files if each has the samples of the first @dims dimensions. */
static gboolean
files_of (Parser *parser, gint64 dims, guint64 *files, GError **error)
{
  if (dims < 1 || dims > (gint64) parser->n_dims)
    return metaimage_refuse (parser, FIELD_DATA,
        "say with how many dimensions each file is filled", error);
  *files = 1;
  for (guint a = dims; a < parser->n_dims; a++) {
    if (!g_uint64_checked_mul (files, *files, parser->sizes[a]))
      *files = G_MAXUINT64;
  }
  return TRUE;
}

static gboolean
metaimage_parse_list (Parser *parser, GError **error)
{
  const gchar *dims_text = parser->fields.values[FIELD_DATA] + strlen ("LIST");
  gint64 dims = parser->n_dims - 1;
  guint64 files = 0, found = 0;
  GError *reason = NULL;

  if (*dims_text && (!nd_text_integer (dims_text, &dims) || dims == 0))
    return metaimage_refuse (parser, FIELD_DATA, "be \"LIST\" or \"LIST N\"",
        error);
  if (!files_of (parser, dims, &files, error)
      || !nd_header_check_files (parser->fields.text.path, files, error))
    return FALSE;
  while (nd_text_next (&parser->fields.text, &reason)) {
    const gchar *name = g_strstrip (parser->fields.text.line);

    if (*name == '\0')
      continue;
    if (found++ == files)
      break;
    if (!nd_header_add_file (parser->header, parser->fields.text.path, name,
            error))
      return FALSE;
  }
  if (reason) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  if (found != files)
    return metaimage_refuse (parser, FIELD_DATA,
        "be followed by as many names of files as DimSize asks for", error);
  return TRUE;
}

/* "name%03d.raw [first [last [step]]]", one file for each index of the last
 * dimension. Numbers begin at 1. */
static gboolean
metaimage_parse_pattern (Parser *parser, GError **error)
{
  g_auto (GStrv) words =
      g_strsplit_set (parser->fields.values[FIELD_DATA], " \t", -1);
  const guint n = g_strv_length (words);
  gint64 numbers[3] = { 1, 0, 1 };
  guint64 files = 0;

  if (!files_of (parser, parser->n_dims - 1, &files, error))
    return FALSE;
  for (guint i = 1; i < n; i++) {
    if (n > 4 || !nd_text_integer (words[i], &numbers[i - 1])
        || ABS (numbers[i - 1]) > ND_NUMBER_MAX)
      return metaimage_refuse (parser, FIELD_DATA,
          "be \"PATTERN FIRST LAST STEP\"", error);
  }
  /* MetaIO's rule for a missing step. */
  if (n == 3)
    numbers[2] = files > ND_NUMBER_MAX
        ? 1
        : (numbers[1] - numbers[0] + 1) / (gint64) files;
  if (numbers[2] == 0)
    return metaimage_refuse (parser, FIELD_DATA, "have a step other than 0",
        error);
  return nd_header_add_numbered (parser->header, parser->fields.text.path,
      words[0], numbers[0], numbers[2], files, error);
}

static gboolean
metaimage_parse_data (Parser *parser, gsize n, GError **error)
{
  NdHeader *header = parser->header;
  const gchar *data = parser->fields.values[FIELD_DATA];
  gint64 size;

  if (g_ascii_strcasecmp (data, "LOCAL") == 0)
    header->offset = n;
  else if (strncmp (data, "LIST", 4) == 0
              && (!data[4] || g_ascii_isspace (data[4]))
          ? !metaimage_parse_list (parser, error)
          : strchr (data, '%')
          ? !metaimage_parse_pattern (parser, error)
          : !nd_header_add_file (header, parser->fields.text.path, data, error))
    return FALSE;
  if (!parser->fields.values[FIELD_HEADER_SIZE])
    return TRUE;
  if (!nd_text_integer (parser->fields.values[FIELD_HEADER_SIZE], &size)
      || size < (header->compressed ? 0 : -1))
    return metaimage_refuse (parser, FIELD_HEADER_SIZE,
        "be 0 or more, or -1 if samples are not compressed", error);
  if (size < 0)
    header->at_end = TRUE;
  else if (size > 0)
    header->offset = size;
  return TRUE;
}

static gboolean
metaimage_parse (Parser *parser, gsize n, GError **error)
{
  GError *reason = NULL;

  while (!parser->fields.values[FIELD_DATA]
      && nd_text_next (&parser->fields.text, &reason)) {
    if (!metaimage_take_line (parser, error))
      return FALSE;
  }
  if (reason) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  if (!parser->fields.values[FIELD_DATA])
    return metaimage_refuse (parser, FIELD_DATA, "end with it", error);
  if (!parse_kind (parser, error) || !metaimage_parse_sizes (parser, error)
      || !nd_header_settle (parser->header, parser->fields.text.path, error)
      || !metaimage_parse_geometry (parser, error)
      || !metaimage_parse_data (parser, n, error))
    return FALSE;
  nd_sequence_settle (&parser->sequence, FALSE, 0);
  return TRUE;
}

gboolean
nd_metaimage_parse (NdHeader *header, guint8 *bytes, gsize n, const gchar *path,
    GError **error)
{
  g_auto (Parser) parser = { .header = header };

  nd_header_init (header, "MetaImage");
  nd_sequence_init (&parser.sequence, header);
  nd_fields_init (&parser.fields, names, path, bytes, n);
  return metaimage_parse (&parser, n, error);
}

gboolean
nd_metaimage_is_field (const gchar *key)
{
  return nd_text_word_any_case (names, key) >= 0;
}
