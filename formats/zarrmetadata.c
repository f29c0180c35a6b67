/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarrmetadata.h"

#include "core/convert.h"
#include "core/error.h"
#include "formats/headertext.h"
#include "formats/npyheader.h"
#include "formats/units.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* json-glib calls itself for each level. */
#define DEPTH_MAX 64

/* json-glib needs some 300 bytes for each value, and its arrays, tables and
 * texts end the process without memory: each stays small. */
#define VALUES_MAX 65536
#define STRING_MAX (16 * 1024)

/* Blosc and the interfaces of the others are limited to 2 GiB. */
#define CHUNK_MAX G_MAXINT32

/* The name of each compression, of numcodecs and of Zarr 3. */
static const struct
{
  const gchar *name;
  NdZarrPacking packing;
} packings[] = {
  { "blosc", ND_ZARR_BLOSC },
  { "zstd", ND_ZARR_ZSTD },
  { "gzip", ND_ZARR_ZLIB },
  { "zlib", ND_ZARR_ZLIB },
  { "numcodecs.zlib", ND_ZARR_ZLIB },
};

static gboolean
zarr_metadata_refuse (GError **error, gint code, const gchar *format, ...)
{
  va_list arguments;
  g_autofree gchar *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, ND_ERROR, code, text);
  return FALSE;
}

/* Finds brackets that nest too deeply, too many values and long texts before
 * json-glib sees them. Comments and single quotes, in which json-glib would not
 * count a bracket or a quote, are not JSON. */
static gboolean
zarr_metadata_is_small (const gchar *text, gsize n)
{
  gboolean quoted = FALSE;
  guint depth = 0, values = 0;
  gsize begin = 0; /* of the word or text */

  for (gsize i = 0; i < n; i++) {
    const gchar c = text[i];

    if (quoted && c == '\\') {
      i++;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && strchr ("/#\'`", c)) {
      return FALSE;
    } else if (!quoted && strchr ("[]{},:", c)) {
      depth += c == '[' || c == '{';
      depth -= (c == ']' || c == '}') && depth > 0;
      if (depth > DEPTH_MAX || ++values > VALUES_MAX)
        return FALSE;
    }
    if (!quoted && strchr ("[]{},: \t\r\n", c))
      begin = i;
    if (i - begin > STRING_MAX)
      return FALSE;
  }
  return TRUE;
}

/* The object that @text is, in @parser. */
static JsonObject *
parse_text (JsonParser *parser, const gchar *text, gsize n, GError **error)
{
  JsonNode *root;

  if (n > ND_ZARR_TEXT_MAX || memchr (text, '\0', n)
      || !zarr_metadata_is_small (text, n) || !g_utf8_validate (text, n, NULL)
      || !json_parser_load_from_data (parser, text, n, NULL)
      || !(root = json_parser_get_root (parser))
      || !JSON_NODE_HOLDS_OBJECT (root)) {
    zarr_metadata_refuse (error, ND_ERROR_READ,
        "Its metadata are damaged: no JSON object, or one of many values");
    return NULL;
  }
  return json_node_get_object (root);
}

/* The members of an object, or NULL if they are absent or of another kind. */
static JsonObject *
get_object (JsonObject *object, const gchar *name)
{
  JsonNode *node = object ? json_object_get_member (object, name) : NULL;

  return node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node)
                                               : NULL;
}

static JsonArray *
get_array (JsonObject *object, const gchar *name)
{
  JsonNode *node = object ? json_object_get_member (object, name) : NULL;

  return node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node)
                                              : NULL;
}

static const gchar *
node_text (JsonNode *node)
{
  return node && JSON_NODE_HOLDS_VALUE (node)
          && json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node)
      : NULL;
}

static const gchar *
get_text (JsonObject *object, const gchar *name)
{
  return object ? node_text (json_object_get_member (object, name)) : NULL;
}

static JsonObject *
element_object (JsonArray *array, guint i)
{
  JsonNode *node = array && i < json_array_get_length (array)
      ? json_array_get_element (array, i)
      : NULL;

  return node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node)
                                               : NULL;
}

static gboolean
is_nothing (JsonObject *object, const gchar *name)
{
  JsonNode *node = json_object_get_member (object, name);
  JsonArray *array = get_array (object, name);

  return !node || JSON_NODE_HOLDS_NULL (node)
      || (array && json_array_get_length (array) == 0);
}

static gboolean
node_number (JsonNode *node, gdouble *number)
{
  const GType type = node && JSON_NODE_HOLDS_VALUE (node)
      ? json_node_get_value_type (node)
      : G_TYPE_INVALID;

  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
    return FALSE;
  *number = type == G_TYPE_INT64 ? (gdouble) json_node_get_int (node)
                                 : json_node_get_double (node);
  return isfinite (*number);
}

/* A list of 1 to ND_ZARR_AXES sizes, or of exactly @rank if that is not 0. */
static gboolean
get_sizes (JsonObject *object, const gchar *name, guint rank, guint64 *sizes,
    guint *n, GError **error)
{
  JsonArray *array = get_array (object, name);
  const guint length = array ? json_array_get_length (array) : 0;

  if (length < 2 || length > ND_ZARR_AXES || (rank > 0 && length != rank))
    return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
        "Its \"%s\" has %u axes; it must have 2 to %d, as many as \"shape\"",
        name, length, ND_ZARR_AXES);
  for (guint i = 0; i < length; i++) {
    JsonNode *node = json_array_get_element (array, i);

    if (!JSON_NODE_HOLDS_VALUE (node)
        || json_node_get_value_type (node) != G_TYPE_INT64
        || json_node_get_int (node) < 1)
      return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
          "Its \"%s\" has a size that is no number of 1 or more", name);
    sizes[i] = json_node_get_int (node);
  }
  *n = length;
  return TRUE;
}

static gboolean
find_type (NdZarrArray *array, const gchar *name)
{
  for (guint i = 0; name && i < ND_STORED_TYPES; i++) {
    if (strcmp (nd_stored_name (i), name) == 0) {
      array->type = i;
      return TRUE;
    }
  }
  return FALSE;
}

static gboolean
refuse_type (const gchar *name, GError **error)
{
  g_autofree gchar *quoted = nd_text_quote (name ? name : "");

  return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
      "It has samples of type %s; they must be integers or floats", quoted);
}

/* A type of NumPy. */
static gboolean
parse_old_type (NdZarrArray *array, JsonObject *object, GError **error)
{
  const gchar *descr = get_text (object, "dtype");
  g_autofree gchar *name = NULL;
  gboolean swapped;
  gsize bytes;
  gchar kind;

  if (!descr || !nd_npy_parse_type (descr, &kind, &bytes, &swapped)
      || kind == 'c')
    return refuse_type (descr, error);
  name = g_strdup_printf ("%s%u",
      kind == 'i'       ? "int"
          : kind == 'u' ? "uint"
                        : "float",
      (guint) bytes * 8);
  array->swapped = swapped && bytes > 1;
  return find_type (array, name) || refuse_type (descr, error);
}

/* Stores the number that absent chunks have. */
static void
store_fill (NdZarrArray *array, gdouble real, guint64 bits)
{
  const gsize size = nd_stored_size (array->type);
  const gfloat single = real;
  guint32 word;

  switch (array->type) {
    case ND_STORED_FLOAT64:
      memcpy (&bits, &real, sizeof (bits));
      break;
    case ND_STORED_FLOAT32:
      memcpy (&word, &single, sizeof (word));
      bits = word;
      break;
    case ND_STORED_FLOAT16:
      bits = nd_float_to_half (single);
      break;
    default:
      break;
  }
  for (gsize i = 0; i < size; i++) {
    const gboolean little = (G_BYTE_ORDER == G_LITTLE_ENDIAN) != array->swapped;

    array->fill[little ? i : size - 1 - i] = bits >> (8 * i);
  }
}

static gboolean
parse_fill (NdZarrArray *array, JsonObject *object, GError **error)
{
  JsonNode *node = json_object_get_member (object, "fill_value");
  const gchar *text = node_text (node);
  gdouble real = 0;

  if (!node || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (text && strcmp (text, "NaN") == 0) {
    store_fill (array, NAN, 0);
    return TRUE;
  }
  if (text && g_str_has_suffix (text, "Infinity")) {
    store_fill (array, *text == '-' ? -INFINITY : INFINITY, 0);
    return TRUE;
  }
  if (!node_number (node, &real))
    return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
        "Its \"fill_value\" is no number, NaN or infinity");
  store_fill (array, real,
      json_node_get_value_type (node) == G_TYPE_INT64
          ? (guint64) json_node_get_int (node)
          : 0);
  return TRUE;
}

static gboolean
find_packing (NdZarrArray *array, const gchar *name)
{
  for (guint i = 0; name && i < G_N_ELEMENTS (packings); i++) {
    if (strcmp (packings[i].name, name) == 0) {
      array->packing = packings[i].packing;
      return TRUE;
    }
  }
  return FALSE;
}

static gboolean
refuse_codec (NdZarrArray *array, const gchar *name, GError **error)
{
  g_autofree gchar *quoted = nd_text_quote (name ? name : "");

  array->encoded = TRUE;
  return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
      "Its chunks are encoded by %s; blosc, zstd, gzip, zlib and crc32c are "
      "read",
      quoted);
}

/* "." or "/" . */
static gboolean
parse_separator (NdZarrArray *array, JsonObject *object, const gchar *name,
    gchar otherwise, GError **error)
{
  const gchar *text = get_text (object, name);

  array->separator = text ? *text : otherwise;
  if (strchr ("./", array->separator) && array->separator
      && (!text || strlen (text) == 1))
    return TRUE;
  return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
      "The separator of the names of its chunks is neither . nor /");
}

static gboolean
parse_old_array (NdZarrArray *array, JsonObject *object, GError **error)
{
  const gchar *order = get_text (object, "order");
  guint n;

  if (!get_sizes (object, "shape", 0, array->shape, &array->rank, error)
      || !get_sizes (object, "chunks", array->rank, array->chunk, &n, error)
      || !parse_old_type (array, object, error)
      || !parse_fill (array, object, error)
      || !parse_separator (array, object, "dimension_separator", '.', error))
    return FALSE;
  if (order && strcmp (order, "C") != 0) {
    array->encoded = TRUE;
    return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
        "Its chunks have another order than C");
  }
  if (!is_nothing (object, "filters")) {
    const gchar *id =
        get_text (element_object (get_array (object, "filters"), 0), "id");

    return refuse_codec (array, id ? id : "filters", error);
  }
  if (!is_nothing (object, "compressor")) {
    const gchar *id = get_text (get_object (object, "compressor"), "id");

    if (!find_packing (array, id))
      return refuse_codec (array, id, error);
  }
  memcpy (array->shard, array->chunk, sizeof (array->shard));
  return TRUE;
}

static gboolean
zarr_metadata_parse_order (JsonObject *codec, gboolean *swapped, GError **error)
{
  const gchar *endian =
      get_text (get_object (codec, "configuration"), "endian");

  *swapped =
      endian && (strcmp (endian, "big") == 0) != (G_BYTE_ORDER == G_BIG_ENDIAN);
  if (!endian || strcmp (endian, "big") == 0 || strcmp (endian, "little") == 0)
    return TRUE;
  return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
      "The byte order of its samples is neither big nor little");
}

/* The codecs of chunks: bytes, one compression, and a check sum, of which the
 * last two may be absent. */
static gboolean
parse_codecs (NdZarrArray *array, JsonArray *codecs, GError **error)
{
  const guint n = codecs ? json_array_get_length (codecs) : 0;
  const gchar *name = get_text (element_object (codecs, 0), "name");
  guint i = 1;

  if (!name || strcmp (name, "bytes") != 0)
    return refuse_codec (array, name, error);
  if (!zarr_metadata_parse_order (element_object (codecs, 0), &array->swapped,
          error))
    return FALSE;
  array->swapped &= nd_stored_size (array->type) > 1;
  if (i < n
      && find_packing (array, get_text (element_object (codecs, i), "name")))
    i++;
  name = get_text (element_object (codecs, i), "name");
  if (name && strcmp (name, "crc32c") == 0) {
    array->checked = TRUE;
    i++;
  }
  return i == n
      || refuse_codec (array, get_text (element_object (codecs, i), "name"),
          error);
}

static gboolean
parse_index (NdZarrArray *array, JsonObject *sharding, GError **error)
{
  const gchar *location = get_text (sharding, "index_location");
  JsonArray *codecs = get_array (sharding, "index_codecs");
  const guint n = codecs ? json_array_get_length (codecs) : 0;
  const gchar *first = get_text (element_object (codecs, 0), "name");
  const gchar *last = get_text (element_object (codecs, 1), "name");

  array->index_first = location && strcmp (location, "start") == 0;
  array->index_checked = n == 2;
  if (n < 1 || n > 2 || !first || strcmp (first, "bytes") != 0
      || (n == 2 && (!last || strcmp (last, "crc32c") != 0)))
    return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
        "The index of its shards is compressed, which is not read");
  return zarr_metadata_parse_order (element_object (codecs, 0),
      &array->index_swapped, error);
}

static gboolean
parse_storage (NdZarrArray *array, JsonObject *object, GError **error)
{
  JsonArray *codecs = get_array (object, "codecs");
  JsonObject *only = element_object (codecs, 0);
  const gchar *name = get_text (only, "name");
  guint n;

  if (!get_sizes (get_object (get_object (object, "chunk_grid"),
                      "configuration"),
          "chunk_shape", array->rank, array->shard, &n, error))
    return FALSE;
  array->sharded = name && strcmp (name, "sharding_indexed") == 0;
  if (!array->sharded) {
    memcpy (array->chunk, array->shard, sizeof (array->chunk));
    return parse_codecs (array, codecs, error);
  }
  if (json_array_get_length (codecs) != 1)
    return refuse_codec (array, "sharding_indexed and others", error);
  only = get_object (only, "configuration");
  if (!get_sizes (only, "chunk_shape", array->rank, array->chunk, &n, error)
      || !parse_index (array, only, error)
      || !parse_codecs (array, get_array (only, "codecs"), error))
    return FALSE;
  for (guint i = 0; i < array->rank; i++) {
    if (array->shard[i] % array->chunk[i] != 0)
      return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
          "Its shards are not made of whole chunks");
  }
  return TRUE;
}

static void
parse_names (NdZarrArray *array, JsonObject *object)
{
  JsonArray *names = get_array (object, "dimension_names");

  array->named = names && json_array_get_length (names) == array->rank;
  for (guint i = 0; array->named && i < array->rank; i++) {
    const gchar *name = node_text (json_array_get_element (names, i));

    array->named = name && strlen (name) == 1 && strchr ("tczyx", *name);
    if (array->named)
      array->axes[i] = *name;
  }
}

static gboolean
parse_new_array (NdZarrArray *array, JsonObject *object, GError **error)
{
  JsonObject *keys = get_object (object, "chunk_key_encoding");
  const gchar *encoding = get_text (keys, "name");
  const gchar *type = get_text (object, "data_type");

  array->prefixed = !encoding || strcmp (encoding, "v2") != 0;
  if (encoding && array->prefixed && strcmp (encoding, "default") != 0)
    return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
        "The names of its chunks follow a rule that is not known");
  if (!is_nothing (object, "storage_transformers"))
    return refuse_codec (array, "storage_transformers", error);
  if (!find_type (array, type))
    return refuse_type (type, error);
  if (!get_sizes (object, "shape", 0, array->shape, &array->rank, error)
      || !parse_storage (array, object, error)
      || !parse_fill (array, object, error)
      || !parse_separator (array, get_object (keys, "configuration"),
          "separator", array->prefixed ? '/' : '.', error))
    return FALSE;
  parse_names (array, object);
  return TRUE;
}

/* Refuses chunks that cannot be decoded in memory. */
static gboolean
zarr_metadata_check_chunk (const NdZarrArray *array, GError **error)
{
  guint64 bytes = nd_stored_size (array->type);

  for (guint i = 0; i < array->rank; i++) {
    if (!g_uint64_checked_mul (&bytes, bytes, array->chunk[i])
        || bytes > CHUNK_MAX)
      return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
          "Its chunks have more than 2 GiB: store it with smaller ones");
  }
  return TRUE;
}

gboolean
nd_zarr_array_parse (NdZarrArray *array, const gchar *text, gsize n,
    guint version, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *object = parse_text (parser, text, n, error);

  memset (array, 0, sizeof (*array));
  return object
      && (version == 2 ? parse_old_array (array, object, error)
                       : parse_new_array (array, object, error))
      && zarr_metadata_check_chunk (array, error);
}

void
nd_zarr_image_clear (NdZarrImage *image)
{
  g_clear_pointer (&image->path, g_free);
}

/* The unit of the axis @name in mm or s. */
static gdouble
zarr_metadata_unit_factor (gchar name, const gchar *unit)
{
  return name == 't' ? nd_unit_seconds (unit) : nd_unit_mm (unit);
}

/* Axes are names in version 0.3 and objects later. Before, they have no names,
 * which those of the array replace. */
static gboolean
parse_axes (NdZarrImage *image, JsonArray *axes, GError **error)
{
  if (!axes)
    return TRUE;
  image->rank = json_array_get_length (axes);
  if (image->rank < 2 || image->rank > ND_ZARR_AXES)
    return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
        "It has %u axes; OME-Zarr has 2 to %d", image->rank, ND_ZARR_AXES);
  for (guint i = 0; i < image->rank; i++) {
    JsonObject *axis = element_object (axes, i);
    const gchar *name = axis ? get_text (axis, "name")
                             : node_text (json_array_get_element (axes, i));
    gdouble factor;

    if (!name || strlen (name) != 1 || !strchr ("tczyx", *name)
        || memchr (image->axes, *name, i))
      return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
          "Its axes must be named t, c, z, y and x, each at most once");
    factor = zarr_metadata_unit_factor (*name, get_text (axis, "unit"));
    image->axes[i] = *name;
    image->has_unit[i] = factor > 0;
    image->scale[i] = 1;
  }
  return TRUE;
}

/* Scales come before translations. A list of version 0.6 may be within one
 * transformation. */
static void
apply_transformations (NdZarrImage *image, JsonArray *list)
{
  JsonArray *inner = get_array (element_object (list, 0), "transformations");
  guint n;

  list = inner ? inner : list;
  n = list ? json_array_get_length (list) : 0;
  for (guint k = 0; k < n; k++) {
    JsonArray *scale = get_array (element_object (list, k), "scale");
    JsonArray *move = get_array (element_object (list, k), "translation");

    for (guint i = 0; i < image->rank; i++) {
      gdouble number;

      if (scale && i < json_array_get_length (scale)
          && node_number (json_array_get_element (scale, i), &number)
          && number > 0) {
        image->scale[i] *= number;
        image->translation[i] *= number;
      }
      if (move && i < json_array_get_length (move)
          && node_number (json_array_get_element (move, i), &number))
        image->translation[i] += number;
    }
  }
}

static void
apply_units (NdZarrImage *image, JsonArray *axes)
{
  for (guint i = 0; i < image->rank; i++) {
    if (image->has_unit[i]) {
      const gdouble factor = zarr_metadata_unit_factor (image->axes[i],
          get_text (element_object (axes, i), "unit"));

      image->scale[i] *= factor;
      image->translation[i] *= factor;
    }
  }
}

/* A path within the group. */
static gboolean
zarr_metadata_check_path (const gchar *path, GError **error)
{
  g_autofree gchar *quoted = nd_text_quote (path ? path : "");
  g_auto (GStrv) parts = g_strsplit (path ? path : "", "/", -1);

  for (guint i = 0; parts[i]; i++) {
    if (!*parts[i] || strcmp (parts[i], ".") == 0
        || strcmp (parts[i], "..") == 0)
      path = NULL;
  }
  if (path && *path)
    return TRUE;
  return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
      "Its array has the path %s: only arrays within the folder are read",
      quoted);
}

/* Notes a version after 0.5. */
static void
parse_version (NdZarrImage *image, const gchar *version)
{
  guint64 major, minor;
  gchar *end;

  if (!version || !g_ascii_isdigit (*version))
    return;
  major = g_ascii_strtoull (version, &end, 10);
  minor = *end == '.' ? g_ascii_strtoull (end + 1, NULL, 10) : 0;
  for (guint i = 0; (major > 0 || minor > 5) && i + 1 < sizeof (image->newer)
       && (g_ascii_isalnum (version[i]) || version[i] == '.');
       i++)
    image->newer[i] = version[i];
}

/* Versions after 0.5 have axes in coordinate systems: an array is in the one
 * that the output of its transformation names. */
static JsonArray *
find_axes (JsonObject *multiscale, JsonObject *dataset)
{
  JsonArray *axes = get_array (multiscale, "axes");
  JsonArray *systems = get_array (multiscale, "coordinateSystems");
  JsonObject *change =
      element_object (get_array (dataset, "coordinateTransformations"), 0);
  const gchar *output = get_text (change, "output");
  const guint n = systems ? json_array_get_length (systems) : 0;

  if (!output)
    output = get_text (get_object (change, "output"), "name");
  for (guint i = 0; !axes && i < n; i++) {
    JsonObject *system = element_object (systems, i);

    if (!output || g_strcmp0 (get_text (system, "name"), output) == 0)
      axes = get_array (system, "axes");
  }
  return axes;
}

static gboolean
parse_image (NdZarrImage *image, JsonObject *ome, GError **error)
{
  JsonArray *scales = get_array (ome, "multiscales");
  JsonObject *multiscale = element_object (scales, 0);
  JsonObject *dataset = element_object (get_array (multiscale, "datasets"), 0);
  JsonArray *axes = find_axes (multiscale, dataset);
  const gchar *version = get_text (ome, "version");

  parse_version (image, version ? version : get_text (multiscale, "version"));
  image->collection =
      !scales && ome && json_object_has_member (ome, "bioformats2raw.layout");
  if (image->collection)
    return TRUE;
  if (!dataset)
    return zarr_metadata_refuse (error, ND_ERROR_FORMAT,
        "It is a group without an image of OME-Zarr 0.1 to 0.5: name the "
        "folder of an image or an array in it, for example NAME.zarr/0");
  if (!parse_axes (image, axes, error)
      || !zarr_metadata_check_path (get_text (dataset, "path"), error))
    return FALSE;
  image->path = g_strdup (get_text (dataset, "path"));
  image->several = json_array_get_length (scales) > 1;
  apply_transformations (image,
      get_array (dataset, "coordinateTransformations"));
  /* In coordinate systems they lead to other ones. */
  if (get_array (multiscale, "axes"))
    apply_transformations (image,
        get_array (multiscale, "coordinateTransformations"));
  apply_units (image, axes);
  return TRUE;
}

gboolean
nd_zarr_image_parse (NdZarrImage *image, const gchar *text, gsize n,
    guint version, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *object = parse_text (parser, text, n, error);
  const gchar *kind;

  memset (image, 0, sizeof (*image));
  if (!object)
    return FALSE;
  if (version == 2)
    return parse_image (image, object, error);
  kind = get_text (object, "node_type");
  if (kind && strcmp (kind, "array") == 0)
    return FALSE;
  return parse_image (image,
      get_object (get_object (object, "attributes"), "ome"), error);
}
