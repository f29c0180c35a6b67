/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/nrrd.h"

#include "core/error.h"
#include "formats/headertext.h"
#include "formats/nrrdaxes.h"
#include "formats/sequence.h"

#include <math.h>
#include <string.h>

#define MAGIC "NRRD000"
#define MAGIC_SIZE 8 /* with the version, one digit */

static const NdTextWord names[] = { { "axis maxs", FIELD_AXIS_MAXS },
  { "axismaxs", FIELD_AXIS_MAXS }, { "axis mins", FIELD_AXIS_MINS },
  { "axismins", FIELD_AXIS_MINS }, { "byte skip", FIELD_BYTE_SKIP },
  { "byteskip", FIELD_BYTE_SKIP }, { "centers", FIELD_CENTERS },
  { "centerings", FIELD_CENTERS }, { "data file", FIELD_DATA_FILE },
  { "datafile", FIELD_DATA_FILE }, { "dimension", FIELD_DIMENSION },
  { "encoding", FIELD_ENCODING }, { "endian", FIELD_ENDIAN },
  { "kinds", FIELD_KINDS }, { "labels", FIELD_LABELS },
  { "line skip", FIELD_LINE_SKIP }, { "lineskip", FIELD_LINE_SKIP },
  { "sizes", FIELD_SIZES }, { "space", FIELD_SPACE },
  { "space dimension", FIELD_SPACE_DIMENSION },
  { "space directions", FIELD_SPACE_DIRECTIONS },
  { "space origin", FIELD_SPACE_ORIGIN }, { "space units", FIELD_SPACE_UNITS },
  { "spacings", FIELD_SPACINGS }, { "type", FIELD_TYPE },
  { "units", FIELD_UNITS }, { "content", FIELD_CONTENT },
  { "measurement frame", FIELD_MEASUREMENT_FRAME },
  { "sample units", FIELD_SAMPLE_UNITS }, { "sampleunits", FIELD_SAMPLE_UNITS },
  { "block size", ND_FIELD_UNUSED }, { "blocksize", ND_FIELD_UNUSED },
  { "max", ND_FIELD_UNUSED }, { "min", ND_FIELD_UNUSED },
  { "number", ND_FIELD_UNUSED }, { "old max", ND_FIELD_UNUSED },
  { "oldmax", ND_FIELD_UNUSED }, { "old min", ND_FIELD_UNUSED },
  { "oldmin", ND_FIELD_UNUSED }, { "thicknesses", ND_FIELD_UNUSED }, { NULL } };

static const NdTextWord types[] = { { "signed char", ND_STORED_INT8 },
  { "int8", ND_STORED_INT8 }, { "int8_t", ND_STORED_INT8 },
  { "uchar", ND_STORED_UINT8 }, { "unsigned char", ND_STORED_UINT8 },
  { "uint8", ND_STORED_UINT8 }, { "uint8_t", ND_STORED_UINT8 },
  { "short", ND_STORED_INT16 }, { "short int", ND_STORED_INT16 },
  { "signed short", ND_STORED_INT16 }, { "signed short int", ND_STORED_INT16 },
  { "int16", ND_STORED_INT16 }, { "int16_t", ND_STORED_INT16 },
  { "ushort", ND_STORED_UINT16 }, { "unsigned short", ND_STORED_UINT16 },
  { "unsigned short int", ND_STORED_UINT16 }, { "uint16", ND_STORED_UINT16 },
  { "uint16_t", ND_STORED_UINT16 }, { "int", ND_STORED_INT32 },
  { "signed int", ND_STORED_INT32 }, { "int32", ND_STORED_INT32 },
  { "int32_t", ND_STORED_INT32 }, { "uint", ND_STORED_UINT32 },
  { "unsigned int", ND_STORED_UINT32 }, { "uint32", ND_STORED_UINT32 },
  { "uint32_t", ND_STORED_UINT32 }, { "longlong", ND_STORED_INT64 },
  { "long long", ND_STORED_INT64 }, { "long long int", ND_STORED_INT64 },
  { "signed long long", ND_STORED_INT64 },
  { "signed long long int", ND_STORED_INT64 }, { "int64", ND_STORED_INT64 },
  { "int64_t", ND_STORED_INT64 }, { "ulonglong", ND_STORED_UINT64 },
  { "unsigned long long", ND_STORED_UINT64 },
  { "unsigned long long int", ND_STORED_UINT64 },
  { "uint64", ND_STORED_UINT64 }, { "uint64_t", ND_STORED_UINT64 },
  { "float", ND_STORED_FLOAT32 }, { "double", ND_STORED_FLOAT64 }, { NULL } };

static void
nrrd_parser_clear (NdNrrdParser *parser)
{
  nd_sequence_clear (&parser->sequence);
  g_clear_pointer (&parser->listed, nd_list_free);
  g_clear_pointer (&parser->strings, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdNrrdParser, nrrd_parser_clear);

gboolean
nd_nrrd_detect (const guint8 *bytes, gsize n)
{
  return n > MAGIC_SIZE && memcmp (bytes, MAGIC, MAGIC_SIZE - 1) == 0
      && g_ascii_isdigit (bytes[MAGIC_SIZE - 1])
      && (bytes[MAGIC_SIZE] == '\n' || bytes[MAGIC_SIZE] == '\r');
}

gsize
nd_nrrd_header_size (const guint8 *bytes, gsize n)
{
  const guint8 *p = bytes, *end = bytes + n;

  while ((p = memchr (p, '\n', end - p))) {
    p++;
    if (p < end && *p == '\n')
      return p + 1 - bytes;
    if (end - p > 1 && p[0] == '\r' && p[1] == '\n')
      return p + 2 - bytes;
  }
  return 0;
}

static gboolean
nrrd_take_field (NdNrrdParser *parser, const gchar *name, gchar *value,
    GError **error)
{
  NdFields *fields = &parser->fields;
  const gint field = nd_text_word_any_case (names, name);

  if (field < 0) {
    g_autofree gchar *quoted = nd_text_quote (name);

    nd_text_error (&fields->text, error,
        "NRRD has no field %s; a key of your own has the form \"key:=value\"",
        quoted);
    return FALSE;
  }
  if (!nd_fields_take (fields, field, value, error))
    return FALSE;
  if (field >= FIELD_CONTENT && field != ND_FIELD_UNUSED) {
    g_autofree gchar *key =
        g_strconcat (ND_NRRD_KEPT, nd_fields_name (fields, field), NULL);

    nd_header_add_field (parser->header, key, fields->values[field]);
  }
  return TRUE;
}

/* "field: value", "key:=value", or a comment. */
static gboolean
nrrd_take_line (NdNrrdParser *parser, GError **error)
{
  gchar *line = parser->fields.text.line;
  gchar *key_end = strstr (line, ":="), *field_end = strstr (line, ": ");

  if (*line == '#')
    return TRUE;
  if (key_end && (!field_end || key_end < field_end)) {
    *key_end = '\0';
    nd_sequence_unescape (key_end + 2);
    if (!nd_sequence_take (&parser->sequence, line, key_end + 2))
      nd_header_add_field (parser->header, line, key_end + 2);
    return TRUE;
  }
  if (field_end) {
    *field_end = '\0';
    return nrrd_take_field (parser, line, g_strchug (field_end + 2), error);
  }
  nd_text_error (&parser->fields.text, error,
      "it is neither \"field: value\" nor \"key:=value\" nor a comment (#)");
  return FALSE;
}

static gboolean
read_lines (NdNrrdParser *parser, GError **error)
{
  NdText *text = &parser->fields.text;
  GError *reason = NULL;
  /* The lines end with 0 as soon as they were read. */
  const gboolean cut = text->at == text->end || text->end[-1] != '\n';
  gboolean listing = FALSE, ended = FALSE;

  if (!nd_text_next (text, &reason) && reason) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  if (text->length != MAGIC_SIZE || text->line[MAGIC_SIZE - 1] < '1'
      || text->line[MAGIC_SIZE - 1] > '6') {
    nd_text_error (text, error, "its version must be NRRD0001 to NRRD0006");
    return FALSE;
  }
  while (nd_text_next (text, &reason)) {
    ended = text->length == 0;
    if (ended)
      break;
    if (listing) {
      /* One too many suffices to be refused. */
      if (parser->listed->len <= ND_FILES_MAX
          && !nd_list_add (parser->listed, text->line))
        return nd_budget_refuse (&parser->header->budget, text->path, error);
      continue;
    }
    if (!nrrd_take_line (parser, &reason))
      break;
    if (parser->fields.values[FIELD_DATA_FILE] && !parser->listed
        && strncmp (parser->fields.values[FIELD_DATA_FILE], "LIST", 4) == 0) {
      parser->listed = nd_list_new (&parser->header->budget, sizeof (gchar *));
      listing = TRUE;
    }
  }
  /* Only a header with its samples in other files may end with the file. A
   * truncated file is reported as such, not by an error in half a line. */
  if (!ended && !parser->fields.values[FIELD_DATA_FILE] && text->at == text->end
      && (!reason || cut)) {
    g_clear_error (&reason);
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" is truncated: it ends in its header, which is cut short; an "
        "empty line must follow it",
        parser->fields.text.path);
    return FALSE;
  }
  if (reason)
    g_propagate_error (error, reason);
  return reason == NULL;
}

static gboolean
nrrd_parse_sizes (NdNrrdParser *parser, GError **error)
{
  gint64 dimension;
  guint64 sizes[MAX_AXES];

  if (!parser->fields.values[FIELD_DIMENSION]
      || !nd_text_integer (parser->fields.values[FIELD_DIMENSION], &dimension)
      || dimension < 1 || dimension > MAX_AXES)
    return nd_fields_refuse (&parser->fields, FIELD_DIMENSION, "be 1 to 16",
        error);
  parser->n_axes = dimension;
  if (!parser->fields.values[FIELD_SIZES]
      || nd_text_sizes (parser->fields.values[FIELD_SIZES], sizes, MAX_AXES)
          != dimension)
    return nd_fields_refuse (&parser->fields, FIELD_SIZES,
        "be as many whole numbers of 1 or more as the dimension says", error);
  for (guint a = 0; a < parser->n_axes; a++) {
    parser->axes[a].size = sizes[a];
    parser->axes[a].spacing = parser->axes[a].min = parser->axes[a].max = NAN;
  }
  return TRUE;
}

static gboolean
nrrd_parse_type (NdNrrdParser *parser, GError **error)
{
  NdStored *stored = &parser->header->stored;
  const gchar *type = parser->fields.values[FIELD_TYPE];
  const gchar *endian = parser->fields.values[FIELD_ENDIAN];
  const gint found = nd_text_word_any_case (types, type);
  gboolean big;

  if (found < 0)
    return nd_fields_refuse (&parser->fields, FIELD_TYPE,
        "be a type of numbers (uchar, short, ushort, int, float, double ...)",
        error);
  stored->type = found;
  big = endian && g_ascii_strcasecmp (endian, "big") == 0;
  if (endian ? !big && g_ascii_strcasecmp (endian, "little") != 0
             : nd_stored_size (stored->type) > 1)
    return nd_fields_refuse (&parser->fields, FIELD_ENDIAN, "be little or big",
        error);
  stored->swapped = big != (G_BYTE_ORDER == G_BIG_ENDIAN);
  if (nd_stored_size (stored->type) == 1)
    stored->swapped = FALSE;
  return TRUE;
}

/* Fields for the place and the encoding of the samples. */
static gboolean
nrrd_parse_data (NdNrrdParser *parser, GError **error)
{
  NdHeader *header = parser->header;
  const gchar *encoding = parser->fields.values[FIELD_ENCODING];
  const gchar *skip = parser->fields.values[FIELD_BYTE_SKIP];
  const gchar *lines = parser->fields.values[FIELD_LINE_SKIP];
  gint64 number;

  header->compressed = encoding
      && (g_ascii_strcasecmp (encoding, "gzip") == 0
          || g_ascii_strcasecmp (encoding, "gz") == 0);
  if (!header->compressed
      && (!encoding || g_ascii_strcasecmp (encoding, "raw") != 0))
    return nd_fields_refuse (&parser->fields, FIELD_ENCODING,
        "be raw or gzip; \"unu save -f nrrd -e raw -i FILE -o NEW\" converts "
        "others",
        error);
  if (lines) {
    if (!nd_text_integer (lines, &number) || number < 0)
      return nd_fields_refuse (&parser->fields, FIELD_LINE_SKIP, "be 0 or more",
          error);
    header->line_skip = number;
  }
  if (!skip)
    return TRUE;
  if (!nd_text_integer (skip, &number)
      || number < (header->compressed || header->line_skip ? 0 : -1))
    return nd_fields_refuse (&parser->fields, FIELD_BYTE_SKIP,
        "be 0 or more, or -1 if the encoding is raw", error);
  if (number < 0)
    header->at_end = TRUE;
  else if (header->compressed)
    header->skip = number;
  else
    header->offset = number;
  return TRUE;
}

/* Each file has the first @subdimension axes, or equal pieces of the last
 * one. */
static gboolean
nrrd_check_files (NdNrrdParser *parser, gint64 subdimension, guint64 files,
    GError **error)
{
  guint64 expected = 1;

  if (subdimension < 1 || subdimension > (gint64) parser->n_axes)
    return nd_fields_refuse (&parser->fields, FIELD_DATA_FILE,
        "say with how many axes each file is filled", error);
  for (guint a = subdimension; a < parser->n_axes; a++) {
    if (!g_uint64_checked_mul (&expected, expected, parser->axes[a].size))
      expected = G_MAXUINT64;
  }
  if (subdimension == (gint64) parser->n_axes
          ? files == 0 || parser->axes[subdimension - 1].size % files != 0
          : files != expected)
    return nd_fields_refuse (&parser->fields, FIELD_DATA_FILE,
        "name as many files as the sizes ask for", error);
  return TRUE;
}

static gboolean
nrrd_parse_pattern (NdNrrdParser *parser, GError **error)
{
  g_auto (GStrv) words =
      g_strsplit_set (parser->fields.values[FIELD_DATA_FILE], " \t", -1);
  gint64 numbers[4] = { 0, 0, 0, parser->n_axes - 1 };
  guint n = g_strv_length (words);
  guint64 count;

  for (guint i = 1; i < n; i++) {
    if (n > 5 || !nd_text_integer (words[i], &numbers[i - 1]))
      return nd_fields_refuse (&parser->fields, FIELD_DATA_FILE,
          "be \"PATTERN FIRST LAST STEP\"", error);
  }
  if (n < 4 || numbers[2] == 0 || ABS (numbers[0]) > ND_NUMBER_MAX
      || ABS (numbers[1]) > ND_NUMBER_MAX || ABS (numbers[2]) > ND_NUMBER_MAX
      || (numbers[1] != numbers[0]
          && (numbers[1] < numbers[0]) != (numbers[2] < 0)))
    return nd_fields_refuse (&parser->fields, FIELD_DATA_FILE,
        "be \"PATTERN FIRST LAST STEP\", with a STEP from FIRST to LAST",
        error);
  count = ((guint64) ABS (numbers[1] - numbers[0])) / ABS (numbers[2]) + 1;
  return nrrd_check_files (parser, numbers[3], count, error)
      && nd_header_add_numbered (parser->header, parser->fields.text.path,
          words[0], numbers[0], numbers[2], count, error);
}

static gboolean
nrrd_parse_list (NdNrrdParser *parser, GError **error)
{
  const gchar *axes_text =
      parser->fields.values[FIELD_DATA_FILE] + strlen ("LIST");
  gint64 subdimension = parser->n_axes - 1;

  if (*axes_text && !nd_text_integer (axes_text, &subdimension))
    return nd_fields_refuse (&parser->fields, FIELD_DATA_FILE,
        "be \"LIST\" or \"LIST N\"", error);
  if (!nd_header_check_files (parser->fields.text.path, parser->listed->len,
          error)
      || !nrrd_check_files (parser, subdimension, parser->listed->len, error))
    return FALSE;
  for (guint i = 0; i < parser->listed->len; i++) {
    if (!nd_header_add_file (parser->header, parser->fields.text.path,
            g_array_index (parser->listed, const gchar *, i), error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
parse_files (NdNrrdParser *parser, GError **error)
{
  const gchar *value = parser->fields.values[FIELD_DATA_FILE];

  if (!value)
    return TRUE;
  if (parser->listed)
    return nrrd_parse_list (parser, error);
  if (strchr (value, '%') && strchr (value, ' '))
    return nrrd_parse_pattern (parser, error);
  return nd_header_add_file (parser->header, parser->fields.text.path, value,
      error);
}

static void
keep_index_names (NdNrrdParser *parser)
{
  const NdNrrdAxis *list = parser->list;

  if (list->label && *list->label)
    nd_header_add_field (parser->header, ND_INDEX_NAME, list->label);
  if (list->unit && *list->unit)
    nd_header_add_field (parser->header, ND_INDEX_UNIT, list->unit);
}

static gboolean
nrrd_parse (NdNrrdParser *parser, GError **error)
{
  NdHeader *header = parser->header;
  gboolean is_time;
  gint exponent;

  /* The encoding comes before the byte order, which text does not have: an
   * unsupported encoding is the better error. */
  if (!read_lines (parser, error) || !nrrd_parse_sizes (parser, error)
      || !nrrd_parse_data (parser, error) || !nrrd_parse_type (parser, error)
      || !nd_nrrd_parse_axes (parser, error)
      || !nd_header_settle (header, parser->fields.text.path, error)
      || !nd_nrrd_set_geometry (parser, error) || !parse_files (parser, error))
    return FALSE;
  is_time = nd_nrrd_set_rate (parser, &exponent);
  if (!is_time && parser->sequence.index_values && parser->list)
    keep_index_names (parser);
  nd_sequence_settle (&parser->sequence, is_time, exponent);
  return TRUE;
}

gboolean
nd_nrrd_parse (NdHeader *header, guint8 *bytes, gsize n, const gchar *path,
    GError **error)
{
  g_auto (NdNrrdParser) parser = { .header = header };

  nd_header_init (header, "NRRD");
  parser.strings = g_ptr_array_new_with_free_func (g_free);
  nd_sequence_init (&parser.sequence, header);
  nd_fields_init (&parser.fields, names, path, bytes, n);
  return nrrd_parse (&parser, error);
}

static const gchar *
nrrd_type_name (NdSampleType type)
{
  static const gchar *const type_names[ND_STREAM_TYPES] = {
    [ND_UINT8] = "uchar",
    [ND_INT16] = "short",
    [ND_UINT16] = "ushort",
    [ND_FLOAT32] = "float",
    [ND_INT8] = "signed char",
    [ND_INT32] = "int",
    [ND_UINT32] = "uint",
    [ND_FLOAT64] = "double",
  };

  return type_names[type];
}

static void
nrrd_build_geometry (GString *text, const NdRecording *recording, gboolean list)
{
  const NdGeometry *geometry = &recording->geometry;

  g_string_append (text, "space directions:");
  if (recording->shape.components > 1)
    g_string_append (text, " none");
  for (guint a = 0; a < 3; a++) {
    const gdouble *d = geometry->directions + a;
    const gdouble step[3] = { -d[0] * geometry->spacing[a],
      -d[3] * geometry->spacing[a], d[6] * geometry->spacing[a] };

    nd_text_append_doubles (text, " (", step, 3, ",", ")");
  }
  if (recording->responses > 1)
    g_string_append (text, " none");
  g_string_append (text, list ? " none\n" : "\n");
}

/* Appends a field with a text for the list axis. */
static void
append_strings (GString *text, const gchar *field, const gchar *before,
    const gchar *last)
{
  g_string_append_printf (text, "%s: %s\"\" \"\" \"\" \"", field, before);
  for (; last && *last; last++) {
    if (*last == '"')
      g_string_append_c (text, '\\');
    /* A last backslash would escape the quote after it. */
    g_string_append_c (text,
        (guchar) *last < ' ' || (*last == '\\' && !last[1]) ? ' ' : *last);
  }
  g_string_append (text, "\"\n");
}

static void
build_axes (GString *text, const NdRecording *recording, gboolean list,
    const NdMetadata *metadata, gboolean indexed)
{
  const NdShape *shape = &recording->shape;
  const gboolean components = shape->components > 1;
  const gboolean responses = recording->responses > 1;
  const gchar *none = components ? responses ? "\"\" \"\" " : "\"\" "
      : responses                ? "\"\" "
                                 : "";

  g_string_append (text, "sizes:");
  if (components)
    g_string_append_printf (text, " %" G_GSIZE_FORMAT, shape->components);
  for (guint a = 0; a < 3; a++)
    g_string_append_printf (text, " %" G_GSIZE_FORMAT, shape->size[a]);
  if (responses)
    g_string_append_printf (text, " %u", recording->responses);
  if (list)
    g_string_append_printf (text, " %" G_GUINT64_FORMAT, recording->volumes);
  g_string_append_printf (text, "\nkinds: %sdomain domain domain%s%s\n",
      shape->components == 2 ? "complex "
          : components       ? "vector "
                             : "",
      responses ? " vector" : "", list ? " list" : "");
  if (list && indexed) {
    append_strings (text, "labels", none,
        nd_metadata_get (metadata, ND_INDEX_NAME));
    append_strings (text, "units", none,
        nd_metadata_get (metadata, ND_INDEX_UNIT));
  } else if (list && (metadata->times->len > 0 || recording->rate_n > 0)) {
    append_strings (text, "labels", none, "time");
    append_strings (text, "units", none, "s");
  }
  if (list && recording->rate_n > 0 && !indexed) {
    g_string_append_printf (text, "spacings: %snan nan nan %s",
        components ? "nan " : "", responses ? "nan " : "");
    nd_text_append_double (text,
        (gdouble) recording->rate_d / recording->rate_n);
    g_string_append_c (text, '\n');
  }
}

/* Writes a field of NRRD that the parser kept as metadata. */
static gboolean
is_kept (const NdField *field)
{
  static const gchar *const kept[] = { ND_NRRD_KEPT "content",
    ND_NRRD_KEPT "measurement frame", ND_NRRD_KEPT "sample units" };

  for (guint i = 0; i < G_N_ELEMENTS (kept); i++) {
    if (strcmp (field->key, kept[i]) == 0)
      return !strchr (field->value, '\n');
  }
  return FALSE;
}

static gboolean
is_of_index (const NdField *field)
{
  return strcmp (field->key, ND_INDEX_NAME) == 0
      || strcmp (field->key, ND_INDEX_UNIT) == 0
      || strcmp (field->key, ND_INDEX_TYPE) == 0;
}

/* g_string_append_printf() would have a copy of @value. */
static void
append_line (GString *text, const gchar *key, const gchar *value)
{
  g_string_append (text, key);
  g_string_append (text, ": ");
  g_string_append (text, value);
  g_string_append_c (text, '\n');
}

void
nd_nrrd_build (GString *text, const NdRecording *recording,
    const NdMetadata *metadata, gboolean compressed, const gchar *data,
    gboolean always_list, gboolean plus)
{
  const NdGeometry *geometry = &recording->geometry;
  const gboolean list = always_list || recording->volumes != 1;
  const gboolean indexed = list && !plus && nd_sequence_has_index (metadata);
  const NdSequenceStyle style = plus ? ND_SEQUENCE_PLUS
      : indexed                      ? ND_SEQUENCE_INDEXED
                                     : ND_SEQUENCE_SLICER;

  g_string_append_printf (text,
      "NRRD0004\n"
      "# Complete NRRD file format specification at:\n"
      "# http://teem.sourceforge.net/nrrd/format.html\n"
      "type: %s\ndimension: %u\n",
      nrrd_type_name (recording->type),
      3 + (recording->shape.components > 1) + (recording->responses > 1)
          + list);
  if (geometry->known)
    g_string_append (text, "space: left-posterior-superior\n");
  build_axes (text, recording, list, metadata, indexed);
  if (geometry->known) {
    const gdouble origin[3] = { -geometry->origin[0], -geometry->origin[1],
      geometry->origin[2] };

    nrrd_build_geometry (text, recording, list);
    nd_text_append_doubles (text, "space origin: (", origin, 3, ",", ")\n");
  }
  g_string_append_printf (text, "endian: %s\nencoding: %s\n",
      G_BYTE_ORDER == G_BIG_ENDIAN ? "big" : "little",
      compressed ? "gzip" : "raw");
  for (guint i = 0; i < metadata->fields->len; i++) {
    const NdField *field = &g_array_index (metadata->fields, NdField, i);

    /* A measurement frame needs a space. */
    if (is_kept (field) && (geometry->known || !strstr (field->key, "frame")))
      append_line (text, field->key + strlen (ND_NRRD_KEPT), field->value);
  }
  if (data)
    g_string_append_printf (text, "data file: %s\n", data);
  for (guint i = 0; i < metadata->fields->len; i++) {
    const NdField *field = &g_array_index (metadata->fields, NdField, i);

    if (!is_kept (field) && !(indexed && is_of_index (field)))
      nd_sequence_write_field (text, style, field->key, field->value);
  }
  if (list)
    nd_sequence_write (text, style, metadata);
}
