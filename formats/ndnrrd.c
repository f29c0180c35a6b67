/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndnrrd.h"

#include <math.h>
#include <string.h>

#include "engine/nderror.h"
#include "formats/ndrate.h"
#include "formats/ndsequence.h"
#include "formats/ndtext.h"

#define MAGIC "NRRD000"
#define MAGIC_SIZE 8            /* with the version, one digit */

#define MAX_AXES 16

/* From FIELD_CONTENT on they are only passed on. */
typedef enum
{
  FIELD_BYTE_SKIP,
  FIELD_DATA_FILE,
  FIELD_DIMENSION,
  FIELD_ENCODING,
  FIELD_ENDIAN,
  FIELD_KINDS,
  FIELD_LABELS,
  FIELD_LINE_SKIP,
  FIELD_SIZES,
  FIELD_SPACE,
  FIELD_SPACE_DIMENSION,
  FIELD_SPACE_DIRECTIONS,
  FIELD_SPACE_ORIGIN,
  FIELD_SPACE_UNITS,
  FIELD_SPACINGS,
  FIELD_TYPE,
  FIELD_UNITS,
  FIELD_CONTENT,
  FIELD_MEASUREMENT_FRAME,
  FIELD_SAMPLE_UNITS,
  FIELD_UNUSED,
  FIELDS
} Field;

static const struct
{
  const gchar *name;
  Field field;
} names[] = {
  {"byte skip", FIELD_BYTE_SKIP}, {"byteskip", FIELD_BYTE_SKIP},
  {"data file", FIELD_DATA_FILE}, {"datafile", FIELD_DATA_FILE},
  {"dimension", FIELD_DIMENSION}, {"encoding", FIELD_ENCODING},
  {"endian", FIELD_ENDIAN}, {"kinds", FIELD_KINDS},
  {"labels", FIELD_LABELS}, {"line skip", FIELD_LINE_SKIP},
  {"lineskip", FIELD_LINE_SKIP}, {"sizes", FIELD_SIZES},
  {"space", FIELD_SPACE}, {"space dimension", FIELD_SPACE_DIMENSION},
  {"space directions", FIELD_SPACE_DIRECTIONS},
  {"space origin", FIELD_SPACE_ORIGIN}, {"space units", FIELD_SPACE_UNITS},
  {"spacings", FIELD_SPACINGS}, {"type", FIELD_TYPE}, {"units", FIELD_UNITS},
  {"content", FIELD_CONTENT}, {"measurement frame", FIELD_MEASUREMENT_FRAME},
  {"sample units", FIELD_SAMPLE_UNITS}, {"sampleunits", FIELD_SAMPLE_UNITS},
  {"axis maxs", FIELD_UNUSED}, {"axismaxs", FIELD_UNUSED},
  {"axis mins", FIELD_UNUSED}, {"axismins", FIELD_UNUSED},
  {"block size", FIELD_UNUSED}, {"blocksize", FIELD_UNUSED},
  {"centerings", FIELD_UNUSED}, {"centers", FIELD_UNUSED},
  {"max", FIELD_UNUSED}, {"min", FIELD_UNUSED}, {"number", FIELD_UNUSED},
  {"old max", FIELD_UNUSED}, {"oldmax", FIELD_UNUSED},
  {"old min", FIELD_UNUSED}, {"oldmin", FIELD_UNUSED},
  {"thicknesses", FIELD_UNUSED},
};

static const struct
{
  const gchar *name;
  NdStoredType type;
} types[] = {
  {"signed char", ND_STORED_INT8}, {"int8", ND_STORED_INT8},
  {"int8_t", ND_STORED_INT8},
  {"uchar", ND_STORED_UINT8}, {"unsigned char", ND_STORED_UINT8},
  {"uint8", ND_STORED_UINT8}, {"uint8_t", ND_STORED_UINT8},
  {"short", ND_STORED_INT16}, {"short int", ND_STORED_INT16},
  {"signed short", ND_STORED_INT16}, {"signed short int", ND_STORED_INT16},
  {"int16", ND_STORED_INT16}, {"int16_t", ND_STORED_INT16},
  {"ushort", ND_STORED_UINT16}, {"unsigned short", ND_STORED_UINT16},
  {"unsigned short int", ND_STORED_UINT16}, {"uint16", ND_STORED_UINT16},
  {"uint16_t", ND_STORED_UINT16},
  {"int", ND_STORED_INT32}, {"signed int", ND_STORED_INT32},
  {"int32", ND_STORED_INT32}, {"int32_t", ND_STORED_INT32},
  {"uint", ND_STORED_UINT32}, {"unsigned int", ND_STORED_UINT32},
  {"uint32", ND_STORED_UINT32}, {"uint32_t", ND_STORED_UINT32},
  {"longlong", ND_STORED_INT64}, {"long long", ND_STORED_INT64},
  {"long long int", ND_STORED_INT64}, {"signed long long", ND_STORED_INT64},
  {"signed long long int", ND_STORED_INT64}, {"int64", ND_STORED_INT64},
  {"int64_t", ND_STORED_INT64},
  {"ulonglong", ND_STORED_UINT64}, {"unsigned long long", ND_STORED_UINT64},
  {"unsigned long long int", ND_STORED_UINT64}, {"uint64", ND_STORED_UINT64},
  {"uint64_t", ND_STORED_UINT64},
  {"float", ND_STORED_FLOAT32}, {"double", ND_STORED_FLOAT64},
};

/* What takes coordinates to Right, Anterior, Superior. Without a name they are
 * Left, Posterior, Superior, as ITK has it. */
static const struct
{
  const gchar *name;
  guint dimension;
  gdouble sign[3];
} spaces[] = {
  {"right-anterior-superior", 3, {1, 1, 1}}, {"RAS", 3, {1, 1, 1}},
  {"left-anterior-superior", 3, {-1, 1, 1}}, {"LAS", 3, {-1, 1, 1}},
  {"left-posterior-superior", 3, {-1, -1, 1}}, {"LPS", 3, {-1, -1, 1}},
  {"right-anterior-superior-time", 4, {1, 1, 1}}, {"RAST", 4, {1, 1, 1}},
  {"left-anterior-superior-time", 4, {-1, 1, 1}}, {"LAST", 4, {-1, 1, 1}},
  {"left-posterior-superior-time", 4, {-1, -1, 1}}, {"LPST", 4, {-1, -1, 1}},
  {"scanner-xyz", 3, {-1, -1, 1}}, {"scanner-xyz-time", 4, {-1, -1, 1}},
  {"3D-right-handed", 3, {-1, -1, 1}}, {"3D-left-handed", 3, {-1, -1, 1}},
  {"3D-right-handed-time", 4, {-1, -1, 1}},
  {"3D-left-handed-time", 4, {-1, -1, 1}},
};

typedef enum
{
  AXIS_UNKNOWN,
  AXIS_SPACE,
  AXIS_LIST,                    /* time, or any other order of volumes */
  AXIS_RANGE                    /* components, or the responses of a bank */
} AxisKind;

typedef struct
{
  guint64 size;
  AxisKind kind;
  gboolean is_time;             /* of kind "time" */
  gboolean directed;            /* it has a direction */
  gdouble direction[4];
  gdouble spacing;              /* NaN: not said */
  const gchar *label, *unit;    /* NULL: not said */
} Axis;

typedef struct
{
  NdText text;
  const gchar *path;
  NdHeader *header;
  NdSequence sequence;
  gchar *fields[FIELDS];
  guint lines[FIELDS];          /* where they were, for errors */
  GPtrArray *listed;            /* names behind "data file: LIST" */
  guint n_axes;
  Axis axes[MAX_AXES];
  guint space_dimension;        /* 0: not said */
  gdouble sign[3];
  gdouble origin[4];
  GPtrArray *strings;           /* labels and units */
} Parser;

static void
parser_clear (Parser * parser)
{
  nd_text_clear (&parser->text);
  nd_sequence_clear (&parser->sequence);
  for (guint i = 0; i < FIELDS; i++)
    g_free (parser->fields[i]);
  g_clear_pointer (&parser->listed, g_ptr_array_unref);
  g_clear_pointer (&parser->strings, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Parser, parser_clear);

gboolean
nd_nrrd_detect (const guint8 * bytes, gsize n)
{
  return n > MAGIC_SIZE && memcmp (bytes, MAGIC, MAGIC_SIZE - 1) == 0
      && g_ascii_isdigit (bytes[MAGIC_SIZE - 1])
      && (bytes[MAGIC_SIZE] == '\n' || bytes[MAGIC_SIZE] == '\r');
}

gsize
nd_nrrd_header_size (const guint8 * bytes, gsize n)
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

/* An error at the line where @field was. */
static gboolean
field_error (Parser * parser, Field field, const gchar * must, GError ** error)
{
  g_autofree gchar *value = nd_text_quote (parser->fields[field] ?
      parser->fields[field] : "");
  guint i = 0;

  while (names[i].field != field)
    i++;
  if (!parser->fields[field]) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "The header of \"%s\" has "
        "no field \"%s\": it must %s", parser->path, names[i].name, must);
    return FALSE;
  }
  parser->text.number = parser->lines[field];
  nd_text_error (&parser->text, error, "%s is %s: it must %s", names[i].name,
      value, must);
  return FALSE;
}

static gboolean
take_field (Parser * parser, const gchar * name, const gchar * value,
    GError ** error)
{
  guint i = 0;
  Field field;

  while (i < G_N_ELEMENTS (names)
      && g_ascii_strcasecmp (names[i].name, name) != 0)
    i++;
  if (i == G_N_ELEMENTS (names)) {
    g_autofree gchar *quoted = nd_text_quote (name);

    nd_text_error (&parser->text, error, "there is no field %s in NRRD",
        quoted);
    return FALSE;
  }
  field = names[i].field;
  if (field == FIELD_UNUSED)
    return TRUE;
  if (parser->fields[field]) {
    nd_text_error (&parser->text, error, "%s was said in line %u already",
        names[i].name, parser->lines[field]);
    return FALSE;
  }
  parser->fields[field] = g_strchomp (g_strdup (value));
  parser->lines[field] = parser->text.number;
  if (field >= FIELD_CONTENT) {
    g_autofree gchar *key = g_strconcat (ND_NRRD_KEPT, names[i].name, NULL);

    nd_metadata_add (parser->header->metadata, key, parser->fields[field]);
  }
  return TRUE;
}

/* "field: value", "key:=value", or a comment. */
static gboolean
take_line (Parser * parser, GError ** error)
{
  gchar *line = parser->text.line->str;
  gchar *key_end = strstr (line, ":="), *field_end = strstr (line, ": ");

  if (*line == '#')
    return TRUE;
  if (key_end && (!field_end || key_end < field_end)) {
    *key_end = '\0';
    nd_sequence_unescape (key_end + 2);
    if (!nd_sequence_take (&parser->sequence, line, key_end + 2))
      nd_metadata_add (parser->header->metadata, line, key_end + 2);
    return TRUE;
  }
  if (field_end) {
    *field_end = '\0';
    return take_field (parser, line, g_strchug (field_end + 2), error);
  }
  nd_text_error (&parser->text, error, "it is neither \"field: value\" nor "
      "\"key:=value\" nor a comment (#)");
  return FALSE;
}

static gboolean
read_lines (Parser * parser, GError ** error)
{
  NdText *text = &parser->text;
  GError *reason = NULL;
  gboolean listing = FALSE, ended = FALSE;

  if (!nd_text_next (text, &reason) && reason) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  if (text->line->len != MAGIC_SIZE || text->line->str[MAGIC_SIZE - 1] < '1'
      || text->line->str[MAGIC_SIZE - 1] > '6') {
    nd_text_error (text, error, "its version must be NRRD0001 to NRRD0006");
    return FALSE;
  }
  while (nd_text_next (text, &reason)) {
    ended = text->line->len == 0;
    if (ended)
      break;
    if (listing) {
      g_ptr_array_add (parser->listed, g_strdup (text->line->str));
      continue;
    }
    if (!take_line (parser, &reason))
      break;
    if (parser->fields[FIELD_DATA_FILE] && !parser->listed
        && strncmp (parser->fields[FIELD_DATA_FILE], "LIST", 4) == 0) {
      parser->listed = g_ptr_array_new_with_free_func (g_free);
      listing = TRUE;
    }
  }
  /* Only a header with its samples elsewhere may end with the file; what is
   * wrong with half a line is not said. */
  if (!ended && !parser->fields[FIELD_DATA_FILE] && text->at == text->end
      && (!reason || text->at[-1] != '\n')) {
    g_clear_error (&reason);
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" is truncated: it ends "
        "in its header, which is cut short; an empty line must follow it",
        parser->path);
    return FALSE;
  }
  if (reason)
    g_propagate_error (error, reason);
  return reason == NULL;
}

static gboolean
parse_sizes (Parser * parser, GError ** error)
{
  gint64 dimension;
  guint64 sizes[MAX_AXES];

  if (!parser->fields[FIELD_DIMENSION]
      || !nd_text_integer (parser->fields[FIELD_DIMENSION], &dimension)
      || dimension < 1 || dimension > MAX_AXES)
    return field_error (parser, FIELD_DIMENSION, "be 1 to 16", error);
  parser->n_axes = dimension;
  if (!parser->fields[FIELD_SIZES]
      || nd_text_sizes (parser->fields[FIELD_SIZES], sizes, MAX_AXES)
      != dimension)
    return field_error (parser, FIELD_SIZES, "be as many whole numbers of 1 or "
        "more as the dimension says", error);
  for (guint a = 0; a < parser->n_axes; a++) {
    parser->axes[a].size = sizes[a];
    parser->axes[a].spacing = NAN;
  }
  return TRUE;
}

static gboolean
parse_type (Parser * parser, GError ** error)
{
  NdStored *stored = &parser->header->stored;
  const gchar *type = parser->fields[FIELD_TYPE];
  const gchar *endian = parser->fields[FIELD_ENDIAN];
  gboolean big;
  guint i = 0;

  while (type && i < G_N_ELEMENTS (types)
      && g_ascii_strcasecmp (types[i].name, type) != 0)
    i++;
  if (!type || i == G_N_ELEMENTS (types))
    return field_error (parser, FIELD_TYPE, "be a type of numbers (uchar, "
        "short, ushort, int, float, double ...)", error);
  stored->type = types[i].type;
  big = endian && g_ascii_strcasecmp (endian, "big") == 0;
  if (endian ? !big && g_ascii_strcasecmp (endian, "little") != 0 :
      nd_stored_size (stored->type) > 1)
    return field_error (parser, FIELD_ENDIAN, "be little or big", error);
  stored->swapped = big != (G_BYTE_ORDER == G_BIG_ENDIAN);
  if (nd_stored_size (stored->type) == 1)
    stored->swapped = FALSE;
  return TRUE;
}

static AxisKind
kind_from_name (const gchar * name)
{
  static const gchar *const none[] = { "none", "???", "stub" };

  if (g_ascii_strcasecmp (name, "domain") == 0
      || g_ascii_strcasecmp (name, "space") == 0)
    return AXIS_SPACE;
  if (g_ascii_strcasecmp (name, "list") == 0
      || g_ascii_strcasecmp (name, "time") == 0)
    return AXIS_LIST;
  for (guint i = 0; i < G_N_ELEMENTS (none); i++) {
    if (g_ascii_strcasecmp (name, none[i]) == 0)
      return AXIS_UNKNOWN;
  }
  return AXIS_RANGE;
}

static gboolean
parse_kinds (Parser * parser, GError ** error)
{
  g_auto (GStrv) words = NULL;
  guint n = 0;

  if (!parser->fields[FIELD_KINDS])
    return TRUE;
  words = g_strsplit_set (parser->fields[FIELD_KINDS], " \t", -1);
  for (guint i = 0; words[i]; i++) {
    if (*words[i] == '\0')
      continue;
    if (n == parser->n_axes)
      return field_error (parser, FIELD_KINDS, "have one word for each axis",
          error);
    parser->axes[n].is_time = g_ascii_strcasecmp (words[i], "time") == 0;
    parser->axes[n++].kind = kind_from_name (words[i]);
  }
  if (n != parser->n_axes)
    return field_error (parser, FIELD_KINDS, "have one word for each axis",
        error);
  return TRUE;
}

/* "a" "b" ... with \" for a quote; their number, or -1. */
static gint
parse_strings (Parser * parser, const gchar * p, const gchar ** strings,
    guint max)
{
  guint n;

  for (n = 0;; n++) {
    g_autoptr (GString) string = g_string_new (NULL);

    while (*p == ' ' || *p == '\t')
      p++;
    if (*p == '\0')
      return n;
    if (n == max || *p != '"')
      return -1;
    for (p++; *p && *p != '"'; p++) {
      if (p[0] == '\\' && p[1] == '"')
        p++;
      g_string_append_c (string, *p);
    }
    if (*p++ != '"')
      return -1;
    strings[n] = g_strdup (string->str);
    g_ptr_array_add (parser->strings, (gpointer) strings[n]);
  }
}

/* "(1,0,0)" or "none"; where it ends, or NULL. */
static const gchar *
parse_vector (const gchar * p, gdouble * vector, guint n, gboolean * none)
{
  *none = g_ascii_strncasecmp (p, "none", 4) == 0;
  if (*none)
    return p + 4;
  if (*p++ != '(')
    return NULL;
  for (guint i = 0; i < n; i++) {
    gchar *end;

    vector[i] = g_ascii_strtod (p, &end);
    if (end == p || !isfinite (vector[i]))
      return NULL;
    for (p = end; *p == ' '; p++);
    if (*p++ != (i + 1 < n ? ',' : ')'))
      return NULL;
  }
  return p;
}

static gboolean
parse_space (Parser * parser, GError ** error)
{
  const gchar *space = parser->fields[FIELD_SPACE];
  const gchar *dimension = parser->fields[FIELD_SPACE_DIMENSION];
  const gdouble lps[3] = { -1, -1, 1 };
  gint64 number;
  guint i = 0;

  memcpy (parser->sign, lps, sizeof (lps));
  if (space && dimension)
    return field_error (parser, FIELD_SPACE_DIMENSION, "not stand beside "
        "\"space\"", error);
  if (space) {
    while (i < G_N_ELEMENTS (spaces)
        && g_ascii_strcasecmp (spaces[i].name, space) != 0)
      i++;
    if (i == G_N_ELEMENTS (spaces))
      return field_error (parser, FIELD_SPACE, "be one that NRRD names, as "
          "left-posterior-superior", error);
    parser->space_dimension = spaces[i].dimension;
    memcpy (parser->sign, spaces[i].sign, sizeof (parser->sign));
  } else if (dimension) {
    if (!nd_text_integer (dimension, &number) || number < 1 || number > 4)
      return field_error (parser, FIELD_SPACE_DIMENSION, "be 1 to 4", error);
    parser->space_dimension = number;
  }
  return TRUE;
}

static gboolean
parse_directions (Parser * parser, GError ** error)
{
  const gchar *p = parser->fields[FIELD_SPACE_DIRECTIONS];
  const gchar *origin = parser->fields[FIELD_SPACE_ORIGIN];
  gboolean none;

  if (origin) {
    if (parser->space_dimension == 0
        || !(origin = parse_vector (origin, parser->origin,
                parser->space_dimension, &none)) || none || *origin)
      return field_error (parser, FIELD_SPACE_ORIGIN, "be one vector with as "
          "many numbers as the space has dimensions, behind \"space\"", error);
  }
  if (!p)
    return TRUE;
  for (guint a = 0; a < parser->n_axes; a++) {
    Axis *axis = &parser->axes[a];

    while (*p == ' ' || *p == '\t')
      p++;
    p = parser->space_dimension == 0 ? NULL : parse_vector (p, axis->direction,
        parser->space_dimension, &none);
    if (!p)
      break;
    axis->directed = !none;
  }
  if (!p || *p)
    return field_error (parser, FIELD_SPACE_DIRECTIONS, "have a vector or none "
        "for each axis, with as many numbers as the space has dimensions",
        error);
  return TRUE;
}

static gboolean
parse_per_axis (Parser * parser, GError ** error)
{
  const gchar *strings[MAX_AXES];
  gdouble spacings[MAX_AXES];
  const gint n = parser->n_axes;

  if (parser->fields[FIELD_SPACINGS]) {
    if (nd_text_doubles (parser->fields[FIELD_SPACINGS], spacings, n) != n)
      return field_error (parser, FIELD_SPACINGS, "have one number or nan for "
          "each axis", error);
    for (gint a = 0; a < n; a++)
      parser->axes[a].spacing = spacings[a];
  }
  if (parser->fields[FIELD_LABELS]) {
    if (parse_strings (parser, parser->fields[FIELD_LABELS], strings, n) != n)
      return field_error (parser, FIELD_LABELS, "have one \"name\" for each "
          "axis", error);
    for (gint a = 0; a < n; a++)
      parser->axes[a].label = strings[a];
  }
  if (parser->fields[FIELD_UNITS]) {
    /* 3D Slicer writes one more where samples have components. */
    const gint found = parse_strings (parser, parser->fields[FIELD_UNITS],
        strings, MAX_AXES);

    if (found < n)
      return field_error (parser, FIELD_UNITS, "have one \"name\" for each "
          "axis", error);
    for (gint a = 0; a < n; a++)
      parser->axes[a].unit = strings[a];
  }
  return TRUE;
}

/* Which axis is which, where kinds do not say it. */
static void
guess_kinds (Parser * parser)
{
  const gboolean described = parser->fields[FIELD_SPACE_DIRECTIONS] != NULL;
  const gboolean listed = parser->sequence.index_values != NULL;
  const guint n = parser->n_axes;
  Axis *axes = parser->axes;
  guint spaces_found = 0;

  /* Some versions of 3D Slicer wrote sequences with time first as "vector". */
  if (n == 4 && axes[0].kind == AXIS_RANGE && listed
      && nd_metadata_get (parser->header->metadata, "DataNodeClassName")
      && axes[3].kind == AXIS_SPACE)
    axes[0].kind = AXIS_LIST;
  for (guint a = 0; a < n; a++) {
    if (axes[a].kind == AXIS_UNKNOWN && described && axes[a].directed)
      axes[a].kind = AXIS_SPACE;
    else if (axes[a].kind == AXIS_UNKNOWN && described)
      axes[a].kind = a > 0 || (listed && n == 4) ? AXIS_LIST : AXIS_RANGE;
    else if (axes[a].kind == AXIS_UNKNOWN)
      axes[a].kind = AXIS_SPACE;
    /* The fourth is time, also where it has a direction, of time. */
    if (axes[a].kind == AXIS_SPACE && ++spaces_found == 4)
      axes[a].kind = AXIS_LIST;
  }
}

/* The layout: [components] x [y [z]] [responses] [volumes], or volumes
 * first. */
static gboolean
assign_axes (Parser * parser, const Axis ** space, const Axis ** list,
    GError ** error)
{
  NdHeader *header = parser->header;
  NdRecording *recording = &header->recording;
  guint n_space = 0;

  *list = NULL;
  for (guint a = 0; a < parser->n_axes; a++) {
    const Axis *axis = &parser->axes[a];

    switch (axis->kind) {
      case AXIS_LIST:
        if (*list || (a > 0 && a + 1 < parser->n_axes))
          goto refused;
        *list = axis;
        header->time_first = a == 0 && parser->n_axes > 1 && axis->size > 1;
        recording->volumes = axis->size;
        break;
      case AXIS_RANGE:
        if (a == 0)
          recording->shape.components = axis->size;
        else if (n_space > 0 && recording->responses == 1
            && axis->size <= G_MAXUINT && !header->time_first)
          recording->responses = axis->size;
        else
          goto refused;
        break;
      default:
        if (n_space == 3 || recording->responses > 1)
          goto refused;
        recording->shape.size[n_space] = axis->size;
        space[n_space++] = axis;
        break;
    }
  }
  return TRUE;

refused:
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "The axes of \"%s\" are in an "
      "order that is not read: it must be components, x, y, z, time, or time "
      "first; \"unu permute -p ORDER -i FILE -o NEW\" puts them in another",
      parser->path);
  return FALSE;
}

/* The power of ten that makes seconds or millimetres of a unit. */
static gboolean
unit_exponent (const gchar * unit, const gchar * base, gint exponent,
    gint * found)
{
  static const struct
  {
    const gchar *prefix;
    gint exponent;
  } prefixes[] = { {"", 0}, {"m", -3}, {"u", -6}, {"\302\265", -6}, {"n", -9},
  {"c", -2}
  };

  for (guint i = 0; unit && i < G_N_ELEMENTS (prefixes); i++) {
    g_autofree gchar *name = g_strconcat (prefixes[i].prefix, base, NULL);

    if (strcmp (unit, name) == 0) {
      *found = prefixes[i].exponent + exponent;
      return TRUE;
    }
  }
  return FALSE;
}

static gboolean
time_exponent (const Axis * list, gint * exponent)
{
  *exponent = 0;
  if (!list)
    return FALSE;
  if (unit_exponent (list->unit, "s", 0, exponent))
    return TRUE;
  return (list->is_time || (list->label
          && g_ascii_strcasecmp (list->label, "time") == 0))
      && (!list->unit || !*list->unit);
}

static gboolean
set_geometry (Parser * parser, const Axis ** space, guint n_space,
    GError ** error)
{
  NdGeometry *geometry = &parser->header->recording.geometry;
  const gchar *units[MAX_AXES] = { NULL };
  gdouble mm = 1, *d = geometry->directions;
  gint exponent;

  if (parser->fields[FIELD_SPACE_UNITS]
      && parse_strings (parser, parser->fields[FIELD_SPACE_UNITS], units,
          MAX_AXES) < 0)
    return field_error (parser, FIELD_SPACE_UNITS, "have one \"name\" for each "
        "dimension of the space", error);
  if (unit_exponent (units[0] ? units[0] : space[0]->unit, "m", 3, &exponent))
    mm = pow (10, exponent);
  for (guint a = 0; a < 3; a++) {
    const Axis *axis = a < n_space ? space[a] : NULL;
    gdouble length = 0;

    geometry->spacing[a] = 1;
    d[a] = d[3 + a] = d[6 + a] = 0;
    d[4 * a] = 1;
    if (axis && axis->directed) {
      const gdouble *v = axis->direction;

      geometry->known = TRUE;
      length = hypot (hypot (v[0], v[1]), v[2]);
      if (!(length > 0) || !isfinite (length * mm))
        return field_error (parser, FIELD_SPACE_DIRECTIONS, "not have a vector "
            "of length 0", error);
      geometry->spacing[a] = length * mm;
      for (guint row = 0; row < 3; row++)
        d[3 * row + a] = v[row] / length * parser->sign[row];
    } else if (axis && isfinite (axis->spacing) && axis->spacing != 0) {
      geometry->known = TRUE;
      geometry->spacing[a] = fabs (axis->spacing) * mm;
    }
  }
  for (guint row = 0; row < 3 && parser->fields[FIELD_SPACE_ORIGIN]; row++)
    geometry->origin[row] = parser->origin[row] * mm * parser->sign[row];
  /* The third axis of a frame stands on it. */
  if (n_space == 2 && space[0]->directed && space[1]->directed) {
    d[2] = d[3] * d[7] - d[6] * d[4];
    d[5] = d[6] * d[1] - d[0] * d[7];
    d[8] = d[0] * d[4] - d[3] * d[1];
  }
  return TRUE;
}

/* Fields that say where the samples are. */
static gboolean
parse_data (Parser * parser, GError ** error)
{
  NdHeader *header = parser->header;
  const gchar *encoding = parser->fields[FIELD_ENCODING];
  const gchar *skip = parser->fields[FIELD_BYTE_SKIP];
  const gchar *lines = parser->fields[FIELD_LINE_SKIP];
  gint64 number;

  header->compressed = encoding && (g_ascii_strcasecmp (encoding, "gzip") == 0
      || g_ascii_strcasecmp (encoding, "gz") == 0);
  if (!header->compressed
      && (!encoding || g_ascii_strcasecmp (encoding, "raw") != 0))
    return field_error (parser, FIELD_ENCODING, "be raw or gzip; \"unu save -f "
        "nrrd -e raw -i FILE -o NEW\" converts others", error);
  if (lines) {
    if (!nd_text_integer (lines, &number) || number < 0)
      return field_error (parser, FIELD_LINE_SKIP, "be 0 or more", error);
    header->line_skip = number;
  }
  if (!skip)
    return TRUE;
  if (!nd_text_integer (skip, &number)
      || number < (header->compressed || header->line_skip ? 0 : -1))
    return field_error (parser, FIELD_BYTE_SKIP, "be 0 or more, or -1 where "
        "the encoding is raw", error);
  if (number < 0)
    header->at_end = TRUE;
  else if (header->compressed)
    header->skip = number;
  else
    header->offset = number;
  return TRUE;
}

/* Each file holds the first @subdimension axes, or a part of the last. */
static gboolean
check_files (Parser * parser, gint64 subdimension, guint64 files,
    GError ** error)
{
  guint64 expected = 1;

  if (subdimension < 1 || subdimension > (gint64) parser->n_axes)
    return field_error (parser, FIELD_DATA_FILE, "say with how many axes each "
        "file is filled", error);
  for (guint a = subdimension; a < parser->n_axes; a++) {
    if (!g_uint64_checked_mul (&expected, expected, parser->axes[a].size))
      expected = G_MAXUINT64;
  }
  if (subdimension == (gint64) parser->n_axes ? files == 0
      || parser->axes[subdimension - 1].size % files != 0 : files != expected)
    return field_error (parser, FIELD_DATA_FILE, "name as many files as the "
        "sizes ask for", error);
  return TRUE;
}

static gboolean
parse_pattern (Parser * parser, GError ** error)
{
  g_auto (GStrv) words = g_strsplit_set (parser->fields[FIELD_DATA_FILE],
      " \t", -1);
  gint64 numbers[4] = { 0, 0, 0, parser->n_axes - 1 };
  guint n = g_strv_length (words);
  guint64 count;

  for (guint i = 1; i < n; i++) {
    if (n > 5 || !nd_text_integer (words[i], &numbers[i - 1]))
      return field_error (parser, FIELD_DATA_FILE, "be \"PATTERN FIRST LAST "
          "STEP\"", error);
  }
  if (n < 4 || numbers[2] == 0 || ABS (numbers[0]) > ND_NUMBER_MAX
      || ABS (numbers[1]) > ND_NUMBER_MAX || ABS (numbers[2]) > ND_NUMBER_MAX
      || (numbers[1] != numbers[0]
          && (numbers[1] < numbers[0]) != (numbers[2] < 0)))
    return field_error (parser, FIELD_DATA_FILE, "be \"PATTERN FIRST LAST "
        "STEP\", where STEP leads from FIRST to LAST", error);
  count = ((guint64) ABS (numbers[1] - numbers[0])) / ABS (numbers[2]) + 1;
  return check_files (parser, numbers[3], count, error)
      && nd_header_add_numbered (parser->header, parser->path, words[0],
      numbers[0], numbers[2], count, error);
}

static gboolean
parse_list (Parser * parser, GError ** error)
{
  const gchar *behind = parser->fields[FIELD_DATA_FILE] + strlen ("LIST");
  gint64 subdimension = parser->n_axes - 1;

  if (*behind && !nd_text_integer (behind, &subdimension))
    return field_error (parser, FIELD_DATA_FILE, "be \"LIST\" or \"LIST N\"",
        error);
  if (!check_files (parser, subdimension, parser->listed->len, error))
    return FALSE;
  for (guint i = 0; i < parser->listed->len; i++) {
    if (!nd_header_add_file (parser->header, parser->path,
            g_ptr_array_index (parser->listed, i), error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
parse_files (Parser * parser, GError ** error)
{
  const gchar *value = parser->fields[FIELD_DATA_FILE];

  if (!value)
    return TRUE;
  if (parser->listed)
    return parse_list (parser, error);
  if (strchr (value, '%') && strchr (value, ' '))
    return parse_pattern (parser, error);
  return nd_header_add_file (parser->header, parser->path, value, error);
}

/* The spacing of the list axis, or of the time of a space with time. */
static void
set_rate (NdRecording * recording, const Axis * list, gboolean is_time,
    gint exponent)
{
  gdouble seconds = 0;

  if (list && list->directed)
    seconds = fabs (list->direction[3]);
  else if (list && is_time)
    seconds = fabs (list->spacing);
  if (isfinite (seconds))
    nd_rate_from_seconds (seconds * pow (10, exponent), &recording->rate_n,
        &recording->rate_d);
}

static gboolean
parse (Parser * parser, GError ** error)
{
  NdHeader *header = parser->header;
  NdRecording *recording = &header->recording;
  const Axis *space[3] = { NULL }, *list;
  gboolean is_time;
  gint exponent;
  guint n_space;

  /* Text has no byte order: what encodings are read is said first. */
  if (!read_lines (parser, error) || !parse_sizes (parser, error)
      || !parse_data (parser, error)
      || !parse_type (parser, error) || !parse_kinds (parser, error)
      || !parse_space (parser, error) || !parse_directions (parser, error)
      || !parse_per_axis (parser, error))
    return FALSE;
  guess_kinds (parser);
  if (!assign_axes (parser, space, &list, error))
    return FALSE;
  n_space = !space[0] ? 0 : !space[1] ? 1 : !space[2] ? 2 : 3;
  is_time = time_exponent (list, &exponent);
  if (!nd_header_settle (header, parser->path, error)
      || (n_space > 0 && !set_geometry (parser, space, n_space, error))
      || !parse_files (parser, error))
    return FALSE;
  set_rate (recording, list, is_time, exponent);
  nd_sequence_settle (&parser->sequence, is_time, exponent);
  return TRUE;
}

gboolean
nd_nrrd_parse (NdHeader * header, const guint8 * bytes, gsize n,
    const gchar * path, GError ** error)
{
  g_auto (Parser) parser = {.path = path,.header = header };

  nd_header_init (header, "NRRD");
  parser.strings = g_ptr_array_new_with_free_func (g_free);
  nd_sequence_init (&parser.sequence, header);
  nd_text_init (&parser.text, path, bytes, n);
  return parse (&parser, error);
}
