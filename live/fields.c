/* Small messages as fields of a volume, and back.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/fields.h"

#include <math.h>

#include "core/error.h"
#include "live/bytes.h"
#include "live/tracking.h"

#define STATUS_KEY "TransformStatus"
#define STATUS_NAME_SIZE 20
#define STATUS_SIZE (2 + 8 + STATUS_NAME_SIZE)
#define SENSOR_SIZE 10
#define SENSOR_VALUES_MAX 255

/* The key of a message is its device name with this at the end. */
static const struct
{
  const gchar *type, *key;
} keys[] = {
  /* Longer ends first. */
  { "QTDATA", "QuaternionTrackingData" },
  { "TDATA", "TrackingData" },
  { "TRANSFORM", "Transform" },
  { "POSITION", "Position" },
  { "STATUS", "Status" },
  { "STRING", "String" },
  { "SENSOR", "Sensor" },
};

static const gchar *
find_key (const gchar *type)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    if (strcmp (type, keys[i].type) == 0)
      return keys[i].key;
  }
  return NULL;
}

gboolean
nd_igtl_has_fields (const gchar *type)
{
  return find_key (type) != NULL;
}

static void
append_number (GString *text, gdouble value, const gchar *format)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  if (text->len > 0)
    g_string_append_c (text, ' ');
  g_string_append (text,
      g_ascii_formatd (number, sizeof (number), format, value));
}

/* A float is read back unchanged from 9 digits, a double from 17. */
#define FLOAT_FORMAT "%.9g"
#define DOUBLE_FORMAT "%.17g"

gchar *
nd_igtl_matrix_to_text (const gfloat matrix[12])
{
  GString *text = g_string_new (NULL);

  for (guint row = 0; row < 3; row++) {
    for (guint column = 0; column < 4; column++)
      append_number (text, matrix[3 * column + row], FLOAT_FORMAT);
  }
  g_string_append (text, " 0 0 0 1");
  return g_string_free (text, FALSE);
}

/* Reads up to @max numbers. Returns their count, or -1 if @text is anything
 * else. */
static gint
parse_numbers (const gchar *text, gdouble *numbers, guint max)
{
  for (guint n = 0;; n++) {
    gchar *end;

    while (g_ascii_isspace (*text))
      text++;
    if (*text == '\0')
      return n;
    if (n == max)
      return -1;
    numbers[n] = g_ascii_strtod (text, &end);
    if (end == text || !isfinite (numbers[n])
        || (*end != '\0' && !g_ascii_isspace (*end)))
      return -1;
    text = end;
  }
}

gboolean
nd_igtl_matrix_from_text (gfloat matrix[12], const gchar *text)
{
  gdouble numbers[16];

  if (parse_numbers (text, numbers, 16) != 16)
    return FALSE;
  for (guint row = 0; row < 3; row++) {
    for (guint column = 0; column < 4; column++)
      matrix[3 * column + row] = numbers[4 * row + column];
  }
  return TRUE;
}

static gchar *
pose_to_text (const gfloat pose[7])
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < 7; i++)
    append_number (text, pose[i], FLOAT_FORMAT);
  return g_string_free (text, FALSE);
}

static gboolean
pose_from_text (gfloat pose[7], const gchar *text)
{
  gdouble numbers[7];

  if (parse_numbers (text, numbers, 7) != 7)
    return FALSE;
  for (guint i = 0; i < 7; i++)
    pose[i] = numbers[i];
  return TRUE;
}

static void
give_tool (const gchar *name, const NdIgtlTool *tool, gboolean is_pose,
    NdIgtlFieldFunc func, gpointer user_data)
{
  g_autofree gchar *key =
      g_strconcat (name, is_pose ? "Position" : "Transform", NULL);
  g_autofree gchar *value = is_pose ? pose_to_text (tool->pose)
                                    : nd_igtl_matrix_to_text (tool->matrix);

  func (key, value, user_data);
  if (!is_pose) {
    g_autofree gchar *status = g_strconcat (name, STATUS_KEY, NULL);

    func (status, "OK", user_data);
  }
}

static gboolean
tracking_to_fields (const NdIgtlHeader *header, const gchar *key,
    const guint8 *content, gsize size, NdIgtlFieldFunc func, gpointer user_data,
    GError **error)
{
  const gboolean is_pose = header->type[0] == 'P' || header->type[0] == 'Q';
  const gboolean several = g_str_has_suffix (header->type, "DATA");
  g_autoptr (GString) names = g_string_new (NULL);
  g_autoptr (GArray) tools =
      nd_igtl_tracking_parse (header->type, content, size, error);

  if (!tools)
    return FALSE;
  for (guint i = 0; i < tools->len; i++) {
    const NdIgtlTool *tool = &g_array_index (tools, NdIgtlTool, i);
    g_autofree gchar *name = g_uri_escape_string (tool->name, NULL, TRUE);

    give_tool (several ? tool->name : header->device, tool, is_pose, func,
        user_data);
    g_string_append_printf (names, i ? " %s:%u" : "%s:%u", name, tool->type);
  }
  if (several)
    func (key, names->str, user_data);
  return TRUE;
}

static gchar *
status_to_text (const guint8 *content, gsize size)
{
  g_autofree gchar *name = NULL, *escaped = NULL, *message = NULL;

  if (size < STATUS_SIZE)
    return NULL;
  name = nd_igtl_text (content + 10, STATUS_NAME_SIZE);
  escaped = g_uri_escape_string (name, NULL, TRUE);
  message = nd_igtl_text (content + STATUS_SIZE, size - STATUS_SIZE);
  return g_strdup_printf ("%u %" G_GINT64_FORMAT " %s %s", nd_get_u16 (content),
      (gint64) nd_get_u64 (content + 2), escaped, message);
}

static gchar *
string_to_text (const guint8 *content, gsize size)
{
  if (size < 4 || (gsize) nd_get_u16 (content + 2) > size - 4)
    return NULL;
  return nd_igtl_text_of (nd_get_u16 (content), content + 4,
      nd_get_u16 (content + 2));
}

static gchar *
sensor_to_text (const guint8 *content, gsize size)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (size < SENSOR_SIZE || size != SENSOR_SIZE + (gsize) content[0] * 8)
    return NULL;
  g_string_append_printf (text, "%u %" G_GUINT64_FORMAT, content[1],
      nd_get_u64 (content + 2));
  for (guint i = 0; i < content[0]; i++) {
    const gdouble value = nd_get_f64 (content + SENSOR_SIZE + 8 * i);

    if (!isfinite (value))
      return NULL;
    append_number (text, value, DOUBLE_FORMAT);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gboolean
nd_igtl_to_fields (const NdIgtlHeader *header, const guint8 *content,
    gsize size, NdIgtlFieldFunc func, gpointer user_data, GError **error)
{
  const gchar *end = find_key (header->type);
  g_autofree gchar *key = NULL, *value = NULL;

  g_return_val_if_fail (end != NULL, FALSE);
  key = g_strconcat (header->device, end, NULL);
  if (nd_igtl_is_tracking (header->type))
    return tracking_to_fields (header, key, content, size, func, user_data,
        error);
  if (strcmp (header->type, "STATUS") == 0)
    value = status_to_text (content, size);
  else if (strcmp (header->type, "STRING") == 0)
    value = string_to_text (content, size);
  else
    value = sensor_to_text (content, size);
  if (value) {
    func (key, value, user_data);
    return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "A %s of \"%s\" has %" G_GSIZE_FORMAT
      " bytes that its own sizes contradict, or numbers that are not finite: "
      "it is not used, and the peer must send valid ones",
      header->type, header->device, size);
  return FALSE;
}

static gboolean
status_from_text (const gchar *text, GByteArray *out)
{
  g_auto (GStrv) parts = g_strsplit (text, " ", 4);
  g_autofree gchar *name = NULL;
  guint64 code;
  gint64 subcode;

  if (g_strv_length (parts) != 4
      || !g_ascii_string_to_unsigned (parts[0], 10, 0, G_MAXUINT16, &code, NULL)
      || !g_ascii_string_to_signed (parts[1], 10, G_MININT64, G_MAXINT64,
          &subcode, NULL)
      || !(name = g_uri_unescape_string (parts[2], NULL)))
    return FALSE;
  nd_put_u16 (out, code);
  nd_put_u64 (out, subcode);
  nd_put_text (out, name, STATUS_NAME_SIZE);
  /* The message ends with 0, as the reference library sends it. */
  g_byte_array_append (out, (const guint8 *) parts[3], strlen (parts[3]) + 1);
  return TRUE;
}

static gboolean
string_from_text (const gchar *text, GByteArray *out)
{
  const gsize length = strlen (text);

  if (length > G_MAXUINT16)
    return FALSE;
  nd_put_u16 (out, g_str_is_ascii (text) ? ND_IGTL_ASCII : ND_IGTL_UTF8);
  nd_put_u16 (out, length);
  g_byte_array_append (out, (const guint8 *) text, length);
  return TRUE;
}

static gboolean
sensor_from_text (const gchar *text, GByteArray *out)
{
  g_auto (GStrv) parts = g_strsplit (text, " ", 3);
  gdouble values[SENSOR_VALUES_MAX];
  guint64 status, unit;
  gint n;

  if (!parts[0] || !parts[1]
      || !g_ascii_string_to_unsigned (parts[0], 10, 0, G_MAXUINT8, &status,
          NULL)
      || !g_ascii_string_to_unsigned (parts[1], 10, 0, G_MAXUINT64, &unit,
          NULL))
    return FALSE;
  n = parse_numbers (parts[2] ? parts[2] : "", values, SENSOR_VALUES_MAX);
  if (n < 0)
    return FALSE;
  nd_put_u8 (out, n);
  nd_put_u8 (out, status);
  nd_put_u64 (out, unit);
  for (gint i = 0; i < n; i++)
    nd_put_f64 (out, values[i]);
  return TRUE;
}

typedef struct
{
  const NdIgtlField *fields;
  guint n;
  gboolean *used;
} Fields;

/* The field with the key @name followed by @end, or -1. */
static gint
find_field (const Fields *fields, const gchar *name, const gchar *end)
{
  const gsize length = strlen (name);

  for (guint i = 0; i < fields->n; i++) {
    const gchar *key = fields->fields[i].key;

    if (strncmp (key, name, length) == 0 && strcmp (key + length, end) == 0)
      return i;
  }
  return -1;
}

/* FALSE if the field of this tool is missing or is not a pose. */
static gboolean
find_tool (const Fields *fields, gboolean is_pose, NdIgtlTool *tool)
{
  const gint i =
      find_field (fields, tool->name, is_pose ? "Position" : "Transform");
  const gint status = find_field (fields, tool->name, STATUS_KEY);
  const gchar *text = i < 0 ? "" : fields->fields[i].value;

  if (!(is_pose ? pose_from_text (tool->pose, text)
                : nd_igtl_matrix_from_text (tool->matrix, text)))
    return FALSE;
  fields->used[i] = TRUE;
  if (status >= 0)
    fields->used[status] = TRUE;
  return TRUE;
}

static gboolean
tools_from_text (const Fields *fields, const gchar *type, const gchar *text,
    GByteArray *out)
{
  g_auto (GStrv) names = g_strsplit (text, " ", -1);
  g_autoptr (GArray) tools = g_array_new (FALSE, FALSE, sizeof (NdIgtlTool));

  for (guint i = 0; names[i] && *names[i]; i++) {
    NdIgtlTool tool = { 0 };
    gchar *colon = strrchr (names[i], ':');
    g_autofree gchar *name = NULL;
    guint64 number;

    if (!colon
        || !g_ascii_string_to_unsigned (colon + 1, 10, 0, G_MAXUINT8, &number,
            NULL))
      return FALSE;
    *colon = '\0';
    name = g_uri_unescape_string (names[i], NULL);
    if (!name || strlen (name) > ND_IGTL_DEVICE_SIZE)
      return FALSE;
    strcpy (tool.name, name);
    tool.type = number;
    if (!find_tool (fields, type[0] == 'Q', &tool))
      return FALSE;
    g_array_append_val (tools, tool);
  }
  nd_igtl_tracking_build (type, (const NdIgtlTool *) tools->data, tools->len,
      out);
  return TRUE;
}

static gboolean
tool_from_text (const gchar *type, const gchar *text, GByteArray *out)
{
  NdIgtlTool tool;

  if (!(type[0] == 'P' ? pose_from_text (tool.pose, text)
                       : nd_igtl_matrix_from_text (tool.matrix, text)))
    return FALSE;
  nd_igtl_tracking_build (type, &tool, 1, out);
  return TRUE;
}

static gboolean
field_to_content (const Fields *fields, const gchar *type, const gchar *text,
    GByteArray *out)
{
  if (strcmp (type, "TDATA") == 0 || strcmp (type, "QTDATA") == 0)
    return tools_from_text (fields, type, text, out);
  if (strcmp (type, "STATUS") == 0)
    return status_from_text (text, out);
  if (strcmp (type, "STRING") == 0)
    return string_from_text (text, out);
  if (strcmp (type, "SENSOR") == 0)
    return sensor_from_text (text, out);
  return tool_from_text (type, text, out);
}

/* FALSE if the status of the transform @device says that it is not valid. */
static gboolean
take_status (const Fields *fields, const gchar *device)
{
  const gint i = find_field (fields, device, STATUS_KEY);

  if (i < 0)
    return TRUE;
  fields->used[i] = TRUE;
  return strcmp (fields->fields[i].value, "OK") == 0;
}

static void
give_message (const Fields *fields, guint i, const gchar *type,
    const gchar *end, NdIgtlMessageFunc func, gpointer user_data)
{
  const NdIgtlField *field = &fields->fields[i];
  g_autoptr (GByteArray) content = g_byte_array_new ();
  g_autofree gchar *device =
      g_strndup (field->key, strlen (field->key) - strlen (end));

  if (!field_to_content (fields, type, field->value, content))
    return;
  fields->used[i] = TRUE;
  if (strcmp (type, "TRANSFORM") != 0 || take_status (fields, device))
    func (type, device, content, user_data);
}

void
nd_igtl_from_fields (const NdIgtlField *fields, guint n, gboolean *used,
    NdIgtlMessageFunc func, gpointer user_data)
{
  const Fields all = { fields, n, used };

  memset (used, 0, n * sizeof (gboolean));
  for (guint i = 0; i < n; i++)
    used[i] = strcmp (fields[i].key, ND_IGTL_MATRIX_KEY) == 0
        || strcmp (fields[i].key, ND_IGTL_MATRIX_KEY "Status") == 0;
  /* A list of tools becomes one message with the fields of its tools, which
   * count as used. */
  for (guint k = 0; k < G_N_ELEMENTS (keys); k++) {
    for (guint i = 0; i < n; i++) {
      if (!used[i] && g_str_has_suffix (fields[i].key, keys[k].key))
        give_message (&all, i, keys[k].type, keys[k].key, func, user_data);
    }
  }
}
