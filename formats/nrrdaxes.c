/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/nrrdaxes.h"

#include "core/error.h"
#include "formats/axes.h"
#include "formats/rate.h"

#include <math.h>
#include <string.h>

/* The signs that convert coordinates to Right, Anterior, Superior. ITK knows
 * three spaces and takes all others, named or not, for Left, Posterior,
 * Superior. */
static const struct
{
  const gchar *name;
  guint dimension;
  gdouble sign[3];
  gboolean unlike; /* the name says another */
} spaces[] = {
  { "right-anterior-superior", 3, { 1, 1, 1 } },
  { "RAS", 3, { 1, 1, 1 } },
  { "left-anterior-superior", 3, { -1, 1, 1 } },
  { "LAS", 3, { -1, 1, 1 } },
  { "left-posterior-superior", 3, { -1, -1, 1 } },
  { "LPS", 3, { -1, -1, 1 } },
  { "right-anterior-superior-time", 4, { -1, -1, 1 }, TRUE },
  { "RAST", 4, { -1, -1, 1 }, TRUE },
  { "left-anterior-superior-time", 4, { -1, -1, 1 }, TRUE },
  { "LAST", 4, { -1, -1, 1 }, TRUE },
  { "left-posterior-superior-time", 4, { -1, -1, 1 } },
  { "LPST", 4, { -1, -1, 1 } },
  { "scanner-xyz", 3, { -1, -1, 1 } },
  { "scanner-xyz-time", 4, { -1, -1, 1 } },
  { "3D-right-handed", 3, { -1, -1, 1 } },
  { "3D-left-handed", 3, { -1, -1, 1 } },
  { "3D-right-handed-time", 4, { -1, -1, 1 } },
  { "3D-left-handed-time", 4, { -1, -1, 1 } },
};

/* Axes of any other kind have components or responses. */
static const NdTextWord kinds[] = { { "domain", AXIS_SPACE },
  { "space", AXIS_SPACE }, { "list", AXIS_LIST }, { "time", AXIS_LIST },
  { "none", AXIS_UNKNOWN }, { "???", AXIS_UNKNOWN }, { "stub", AXIS_UNKNOWN },
  { NULL } };

static gboolean
nrrd_axes_parse_kinds (NdNrrdParser *parser, GError **error)
{
  g_auto (GStrv) words = NULL;
  guint n = 0;

  if (!parser->fields.values[FIELD_KINDS])
    return TRUE;
  words = g_strsplit_set (parser->fields.values[FIELD_KINDS], " \t", -1);
  for (guint i = 0; words[i]; i++) {
    const gint kind = nd_text_word_any_case (kinds, words[i]);

    if (*words[i] == '\0')
      continue;
    if (n == parser->n_axes)
      return nd_fields_refuse (&parser->fields, FIELD_KINDS,
          "have one word for each axis", error);
    parser->axes[n].is_time = g_ascii_strcasecmp (words[i], "time") == 0;
    parser->axes[n++].kind = kind < 0 ? AXIS_RANGE : (NdNrrdAxisKind) kind;
  }
  if (n != parser->n_axes)
    return nd_fields_refuse (&parser->fields, FIELD_KINDS,
        "have one word for each axis", error);
  return TRUE;
}

/* Reads "a" "b" ..., with \" for a quote. Returns their number, or -1. */
static gint
parse_strings (NdNrrdParser *parser, const gchar *p, const gchar **strings,
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

/* Reads "(1,0,0)" or "none". Returns the text after it, or NULL. */
static const gchar *
parse_vector (const gchar *p, gdouble *vector, guint n, gboolean *none)
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
    for (p = end; *p == ' '; p++)
      ;
    if (*p++ != (i + 1 < n ? ',' : ')'))
      return NULL;
  }
  return p;
}

static gboolean
parse_space (NdNrrdParser *parser, GError **error)
{
  const gchar *space = parser->fields.values[FIELD_SPACE];
  const gchar *dimension = parser->fields.values[FIELD_SPACE_DIMENSION];
  gint64 number;
  guint i = 0;

  memcpy (parser->sign, nd_axes_signs, sizeof (nd_axes_signs));
  if (space && dimension)
    return nd_fields_refuse (&parser->fields, FIELD_SPACE_DIMENSION,
        "not stand beside \"space\"", error);
  if (space) {
    while (i < G_N_ELEMENTS (spaces)
        && g_ascii_strcasecmp (spaces[i].name, space) != 0)
      i++;
    if (i == G_N_ELEMENTS (spaces))
      return nd_fields_refuse (&parser->fields, FIELD_SPACE,
          "be one that NRRD names, as left-posterior-superior", error);
    parser->space_dimension = spaces[i].dimension;
    if (spaces[i].unlike)
      nd_header_warn (parser->header,
          "The space of \"%s\" is %s: as in ITK, its axes are taken to point "
          "to the left, posterior and superior; write it with a space of three "
          "dimensions",
          parser->fields.text.path, spaces[i].name);
    memcpy (parser->sign, spaces[i].sign, sizeof (parser->sign));
  } else if (dimension) {
    if (!nd_text_integer (dimension, &number) || number < 1 || number > 4)
      return nd_fields_refuse (&parser->fields, FIELD_SPACE_DIMENSION,
          "be 1 to 4", error);
    parser->space_dimension = number;
  }
  return TRUE;
}

static gboolean
parse_directions (NdNrrdParser *parser, GError **error)
{
  const gchar *p = parser->fields.values[FIELD_SPACE_DIRECTIONS];
  const gchar *origin = parser->fields.values[FIELD_SPACE_ORIGIN];
  gboolean none;

  if (origin) {
    if (parser->space_dimension == 0
        || !(origin = parse_vector (origin, parser->origin,
                 parser->space_dimension, &none))
        || none || *origin)
      return nd_fields_refuse (&parser->fields, FIELD_SPACE_ORIGIN,
          "be one vector with as many numbers as the space has dimensions, "
          "after \"space\"",
          error);
  }
  if (!p)
    return TRUE;
  for (guint a = 0; a < parser->n_axes; a++) {
    NdNrrdAxis *axis = &parser->axes[a];

    while (*p == ' ' || *p == '\t')
      p++;
    p = parser->space_dimension == 0
        ? NULL
        : parse_vector (p, axis->direction, parser->space_dimension, &none);
    if (!p)
      break;
    axis->directed = !none;
  }
  if (!p || *p)
    return nd_fields_refuse (&parser->fields, FIELD_SPACE_DIRECTIONS,
        "have a vector or none for each axis, with as many numbers as the "
        "space has dimensions",
        error);
  return TRUE;
}

/* Reads a number for each axis into the member at @offset of the axes. */
static gboolean
nrrd_axes_parse_numbers (NdNrrdParser *parser, NdNrrdField field, gsize offset,
    GError **error)
{
  gdouble numbers[MAX_AXES];
  const gint n = parser->n_axes;

  if (!parser->fields.values[field])
    return TRUE;
  if (nd_text_doubles (parser->fields.values[field], numbers, n) != n)
    return nd_fields_refuse (&parser->fields, field,
        "have one number or nan for each axis", error);
  for (gint a = 0; a < n; a++)
    G_STRUCT_MEMBER (gdouble, &parser->axes[a], offset) = numbers[a];
  return TRUE;
}

/* Without a word for it, an axis has cells. */
static gboolean
parse_centers (NdNrrdParser *parser, GError **error)
{
  const gchar *value = parser->fields.values[FIELD_CENTERS];
  g_auto (GStrv) words = g_strsplit_set (value ? value : "", " \t", -1);
  guint n = 0;

  for (guint i = 0; words[i]; i++) {
    if (*words[i] == '\0')
      continue;
    if (n < parser->n_axes)
      parser->axes[n].node = g_ascii_strcasecmp (words[i], "node") == 0;
    n++;
  }
  return !value || n == parser->n_axes
      || nd_fields_refuse (&parser->fields, FIELD_CENTERS,
          "have cell, node or ??? for each axis", error);
}

static gboolean
parse_per_axis (NdNrrdParser *parser, GError **error)
{
  const gchar *strings[MAX_AXES] = { NULL };
  const gint n = parser->n_axes;

  if (!nrrd_axes_parse_numbers (parser, FIELD_SPACINGS,
          G_STRUCT_OFFSET (NdNrrdAxis, spacing), error)
      || !nrrd_axes_parse_numbers (parser, FIELD_AXIS_MINS,
          G_STRUCT_OFFSET (NdNrrdAxis, min), error)
      || !nrrd_axes_parse_numbers (parser, FIELD_AXIS_MAXS,
          G_STRUCT_OFFSET (NdNrrdAxis, max), error)
      || !parse_centers (parser, error))
    return FALSE;
  if (parser->fields.values[FIELD_LABELS]) {
    if (parse_strings (parser, parser->fields.values[FIELD_LABELS], strings, n)
        != n)
      return nd_fields_refuse (&parser->fields, FIELD_LABELS,
          "have one \"name\" for each axis", error);
    for (gint a = 0; a < n; a++)
      parser->axes[a].label = strings[a];
  }
  if (parser->fields.values[FIELD_UNITS]) {
    /* 3D Slicer writes one more if samples have components. */
    const gint found = parse_strings (parser,
        parser->fields.values[FIELD_UNITS], strings, MAX_AXES);

    if (found < n)
      return nd_fields_refuse (&parser->fields, FIELD_UNITS,
          "have one \"name\" for each axis", error);
    for (gint a = 0; a < n; a++)
      parser->axes[a].unit = strings[a];
  }
  if (parser->fields.values[FIELD_SPACE_UNITS]) {
    const gint found = parse_strings (parser,
        parser->fields.values[FIELD_SPACE_UNITS], strings, MAX_AXES);

    if (found < 0)
      return nd_fields_refuse (&parser->fields, FIELD_SPACE_UNITS,
          "have one \"name\" for each dimension of the space", error);
    for (gint a = 0; a < MIN (found, 4); a++)
      parser->space_units[a] = strings[a];
  }
  return TRUE;
}

/* Sets the kinds that the file does not. */
static void
guess_kinds (NdNrrdParser *parser)
{
  const gboolean described =
      parser->fields.values[FIELD_SPACE_DIRECTIONS] != NULL;
  const gboolean listed = parser->sequence.index_values != NULL;
  const guint n = parser->n_axes;
  NdNrrdAxis *axes = parser->axes;
  guint spaces_found = 0;

  /* Some versions of 3D Slicer wrote sequences with time first and the kind
   * "vector" for it. */
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
    /* The fourth axis is time, even if it has a direction. */
    if (axes[a].kind == AXIS_SPACE && ++spaces_found == 4) {
      axes[a].kind = AXIS_LIST;
      parser->fourth = TRUE;
    }
  }
}

/* Axes must be [components] x [y [z]] [responses] [volumes], or have volumes
 * first. */
static gboolean
assign_axes (NdNrrdParser *parser, GError **error)
{
  NdHeader *header = parser->header;
  NdRecording *recording = &header->recording;
  guint n_space = 0;

  for (guint a = 0; a < parser->n_axes; a++) {
    const NdNrrdAxis *axis = &parser->axes[a];

    switch (axis->kind) {
      case AXIS_LIST:
        if (parser->list || (a > 0 && a + 1 < parser->n_axes))
          goto refused;
        parser->list = axis;
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
      case AXIS_SPACE:
      case AXIS_UNKNOWN:
        if (n_space == 3 || recording->responses > 1)
          goto refused;
        recording->shape.size[n_space] = axis->size;
        parser->space[n_space++] = axis;
        break;
    }
  }
  return TRUE;

refused:
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The axes of \"%s\" are in an order that is not read: it must be "
      "components, x, y, z, time, or time first; \"unu permute -p ORDER -i "
      "FILE -o NEW\" puts them in another",
      parser->fields.text.path);
  return FALSE;
}

gboolean
nd_nrrd_parse_axes (NdNrrdParser *parser, GError **error)
{
  if (!nrrd_axes_parse_kinds (parser, error) || !parse_space (parser, error)
      || !parse_directions (parser, error) || !parse_per_axis (parser, error))
    return FALSE;
  guess_kinds (parser);
  return assign_axes (parser, error);
}

/* The power of ten that converts a unit to seconds or millimetres. */
static gboolean
unit_exponent (const gchar *unit, const gchar *base, gint exponent, gint *found)
{
  static const struct
  {
    const gchar *prefix;
    gint exponent;
  } prefixes[] = { { "", 0 }, { "m", -3 }, { "u", -6 }, { "\302\265", -6 },
    { "\316\274", -6 }, { "n", -9 }, { "c", -2 } };

  for (guint i = 0; unit && i < G_N_ELEMENTS (prefixes); i++) {
    g_autofree gchar *name = g_strconcat (prefixes[i].prefix, base, NULL);

    if (strcmp (unit, name) == 0) {
      *found = prefixes[i].exponent + exponent;
      return TRUE;
    }
  }
  return FALSE;
}

/* A unit of time, also spelled out: "sec", "msec", "seconds". */
static gboolean
time_exponent (const gchar *unit, gint *exponent)
{
  static const NdTextWord words[] = { { "sec", 0 }, { "second", 0 },
    { "seconds", 0 }, { "msec", 3 }, { "millisecond", 3 },
    { "milliseconds", 3 }, { "usec", 6 }, { "microsecond", 6 },
    { "microseconds", 6 }, { NULL } };
  const gint word = nd_text_word_any_case (words, unit);

  if (word >= 0)
    *exponent = -word;
  return word >= 0 || unit_exponent (unit, "s", 0, exponent);
}

static gboolean
is_absent (const gchar *text)
{
  return !text || *text == '\0';
}

/* TRUE if the list axis is said to be time. */
static gboolean
is_time (const NdNrrdParser *parser, gint *exponent)
{
  const NdNrrdAxis *list = parser->list;

  *exponent = 0;
  if (!list)
    return FALSE;
  if (time_exponent (list->unit, exponent)
      || (list->directed && time_exponent (parser->space_units[3], exponent)))
    return TRUE;
  return (list->is_time
             || (list->label && g_ascii_strcasecmp (list->label, "time") == 0))
      && is_absent (list->unit);
}

/* From one sample to the next; NaN if it is unknown. */
static gdouble
step_of (const NdNrrdAxis *axis)
{
  if (isfinite (axis->spacing) && axis->spacing != 0)
    return axis->spacing;
  return (axis->max - axis->min) / (axis->node ? axis->size - 1. : axis->size);
}

/* The place of the first sample of an axis without a direction. */
static gdouble
place_of (const NdNrrdAxis *axis)
{
  const gdouble place = axis->min + (axis->node ? 0 : step_of (axis) / 2);

  return isfinite (place) ? place : 0;
}

/* teem places all axes or none: it asks each for a step, the first for its
 * begin. */
static gboolean
has_places (const NdNrrdParser *parser)
{
  gboolean all = isfinite (parser->space[0]->min);

  for (guint a = 0; a < 3 && parser->space[a]; a++)
    all &= isfinite (step_of (parser->space[a]));
  if (parser->list && parser->fourth)
    all &= isfinite (step_of (parser->list));
  return all && parser->space_dimension == 0;
}

/* Only the spacing of an axis is used without a direction, not the one that
 * follows from its ends, as in ITK. */
static gboolean
set_axis (NdNrrdParser *parser, guint a, gdouble mm, GError **error)
{
  const NdNrrdAxis *axis = parser->space[a];
  NdGeometry *geometry = &parser->header->recording.geometry;
  gdouble *d = geometry->directions;
  gdouble length;

  geometry->spacing[a] = 1;
  d[a] = d[3 + a] = d[6 + a] = 0;
  d[4 * a] = nd_axes_signs[a];
  if (axis && axis->directed) {
    const gdouble *v = axis->direction;

    geometry->known = TRUE;
    length = hypot (hypot (v[0], v[1]), v[2]);
    if (!(length > 0) || !isfinite (length * mm))
      return nd_fields_refuse (&parser->fields, FIELD_SPACE_DIRECTIONS,
          "not have a vector of length 0", error);
    geometry->spacing[a] = length * mm;
    for (guint row = 0; row < 3; row++)
      d[3 * row + a] = v[row] / length * parser->sign[row];
  } else if (axis && isfinite (axis->spacing) && axis->spacing != 0) {
    geometry->known = TRUE;
    geometry->spacing[a] = fabs (axis->spacing) * mm;
    d[4 * a] = axis->spacing < 0 ? -nd_axes_signs[a] : nd_axes_signs[a];
  }
  return TRUE;
}

gboolean
nd_nrrd_set_geometry (NdNrrdParser *parser, GError **error)
{
  const NdNrrdAxis *const *space = parser->space;
  NdGeometry *geometry = &parser->header->recording.geometry;
  const gchar *unit = parser->space_units[0];
  gdouble mm = 1, *d = geometry->directions;
  gint exponent;

  if (!space[0])
    return TRUE;
  if (unit_exponent (unit ? unit : space[0]->unit, "m", 3, &exponent))
    mm = pow (10, exponent);
  for (guint a = 0; a < 3; a++) {
    if (!set_axis (parser, a, mm, error))
      return FALSE;
  }
  if (parser->fields.values[FIELD_SPACE_ORIGIN]) {
    geometry->known = TRUE;
    for (guint a = 0; a < 3; a++)
      geometry->origin[a] = parser->origin[a] * mm * parser->sign[a];
  } else if (has_places (parser)) {
    geometry->known = TRUE;
    for (guint a = 0; a < 3 && space[a]; a++)
      geometry->origin[a] = place_of (space[a]) * mm * nd_axes_signs[a];
  }
  /* The third axis of a frame is perpendicular to it. */
  if (!space[2] && space[1] && space[0]->directed && space[1]->directed) {
    d[2] = d[3] * d[7] - d[6] * d[4];
    d[5] = d[6] * d[1] - d[0] * d[7];
    d[8] = d[0] * d[4] - d[3] * d[1];
  }
  return TRUE;
}

/* From the spacing of the list axis, or from the time of a space with time. A
 * fourth axis, and one of which only the spacing is known, is time in seconds,
 * as in ITK. */
gboolean
nd_nrrd_set_rate (NdNrrdParser *parser, gint *exponent)
{
  NdRecording *recording = &parser->header->recording;
  const NdNrrdAxis *list = parser->list;
  const gboolean said = is_time (parser, exponent);
  gdouble seconds = 0, first = 0;

  if (!list
      || (!said && !list->directed
          && (!is_absent (list->unit)
              || (!is_absent (list->label) && !parser->fourth))))
    return said;
  if (list->directed) {
    seconds = fabs (list->direction[3]);
    first = parser->origin[3];
  } else {
    seconds = fabs (list->spacing);
    first = place_of (list);
  }
  seconds *= pow (10, *exponent);
  first *= pow (10, *exponent);
  if (isfinite (seconds))
    nd_rate_from_seconds (seconds, &recording->rate_n, &recording->rate_d);
  if (fabs (first) < 1e9)
    parser->header->metadata->origin = llrint (first * 1e9);
  return said;
}
