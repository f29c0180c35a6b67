/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/message.h"

#include "core/printable.h"

gchar *
nd_message_text (const gchar *text)
{
  static const gchar *const names[][2] = {
    { "set volume-size to ", "give --volume-size=" },
    { "which truncated=keep reads", "which --truncated=keep reads" },
    { ": max-memory ", ": --max-memory " },
    { "or max-memory", "or --max-memory" },
  };
  gchar *message = nd_printable (text);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_auto (GStrv) parts = g_strsplit (message, names[i][0], -1);

    g_free (message);
    message = g_strjoinv (names[i][1], parts);
  }
  return message;
}
