/* Contents of messages of trackers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/tracking.h"

#include <math.h>

#include "core/error.h"
#include "live/bytes.h"

#define NAME_SIZE (ND_IGTL_DEVICE_SIZE + 2) /* with type and a reserved byte */

static const struct
{
  const gchar *type;
  gboolean several, is_pose;
} kinds[] = {
  { "TRANSFORM", FALSE, FALSE },
  { "POSITION", FALSE, TRUE },
  { "TDATA", TRUE, FALSE },
  { "QTDATA", TRUE, TRUE },
};

static gint
find_kind (const gchar *type)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    if (strcmp (type, kinds[i].type) == 0)
      return i;
  }
  return -1;
}

gboolean
nd_igtl_is_tracking (const gchar *type)
{
  return find_kind (type) >= 0;
}

static gboolean
parse_tool (NdIgtlTool *tool, gint kind, const guint8 *bytes, gsize size)
{
  gfloat *numbers = kinds[kind].is_pose ? tool->pose : tool->matrix;

  *tool = (NdIgtlTool){ .pose[6] = 1 };
  if (kinds[kind].several) {
    g_autofree gchar *name = nd_igtl_text (bytes, ND_IGTL_DEVICE_SIZE);

    /* A replacement character may take more bytes than the character that it
     * replaces. */
    while (strlen (name) > ND_IGTL_DEVICE_SIZE)
      *g_utf8_find_prev_char (name, name + strlen (name)) = '\0';
    g_strlcpy (tool->name, name, sizeof (tool->name));
    tool->type = bytes[ND_IGTL_DEVICE_SIZE];
    bytes += NAME_SIZE;
    size -= NAME_SIZE;
  }
  for (gsize i = 0; i < size / 4; i++) {
    numbers[i] = nd_get_f32 (bytes + 4 * i);
    if (!isfinite (numbers[i]))
      return FALSE;
  }
  /* Three numbers of a quaternion of length 1. */
  if (kinds[kind].is_pose && size == 6 * 4) {
    const gfloat rest = 1 - numbers[3] * numbers[3] - numbers[4] * numbers[4]
        - numbers[5] * numbers[5];

    numbers[6] = sqrtf (MAX (rest, 0));
  }
  return TRUE;
}

/* POSITION may come without orientation or without its last number. */
static gboolean
is_size (gint kind, gsize each, gsize size)
{
  if (kinds[kind].several)
    return size % each == 0;
  return size == each || (kinds[kind].is_pose && (size == 12 || size == 24));
}

GArray *
nd_igtl_tracking_parse (const gchar *type, const guint8 *content, gsize size,
    GError **error)
{
  g_autoptr (GArray) tools = g_array_new (FALSE, FALSE, sizeof (NdIgtlTool));
  const gint kind = find_kind (type);
  gsize each;

  g_return_val_if_fail (kind >= 0, NULL);
  each = (kinds[kind].several ? NAME_SIZE : 0)
      + (kinds[kind].is_pose ? 7 : 12) * 4;
  if (!is_size (kind, each, size)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "A %s has %" G_GSIZE_FORMAT " bytes: it must have %" G_GSIZE_FORMAT
        "%s",
        type, size, each, kinds[kind].several ? " for each tool" : "");
    return NULL;
  }
  if (!kinds[kind].several)
    each = size;
  for (gsize at = 0; at < size; at += each) {
    NdIgtlTool tool;

    if (!parse_tool (&tool, kind, content + at, each)) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "A %s holds a number that is not finite: it is not used, and the "
          "peer must send finite numbers",
          type);
      return NULL;
    }
    g_array_append_val (tools, tool);
  }
  return g_steal_pointer (&tools);
}

void
nd_igtl_tracking_build (const gchar *type, const NdIgtlTool *tools, guint n,
    GByteArray *out)
{
  const gint kind = find_kind (type);

  g_return_if_fail (kind >= 0);
  for (guint i = 0; i < n; i++) {
    const gboolean is_pose = kinds[kind].is_pose;
    const gfloat *numbers = is_pose ? tools[i].pose : tools[i].matrix;

    if (kinds[kind].several) {
      nd_put_text (out, tools[i].name, ND_IGTL_DEVICE_SIZE);
      nd_put_u8 (out, tools[i].type);
      nd_put_u8 (out, 0);
    }
    for (guint k = 0; k < (is_pose ? 7 : 12); k++)
      nd_put_f32 (out, numbers[k]);
  }
}
