/* Keeps the last field of each key until a volume takes them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlwaiting.h"

#include <string.h>

#define FIELDS_MAX 256
#define KEY_MAX 255
#define VALUE_MAX 65536

void
gst_nd_igtl_waiting_init (GstNdIgtlWaiting *waiting)
{
  *waiting = (GstNdIgtlWaiting){ g_hash_table_new_full (g_str_hash, g_str_equal,
      g_free, g_free) };
}

void
gst_nd_igtl_waiting_clear (GstNdIgtlWaiting *waiting)
{
  g_hash_table_unref (waiting->texts);
}

void
gst_nd_igtl_waiting_add (GstNdIgtlWaiting *waiting, const gchar *key,
    const gchar *value)
{
  waiting->arrived++;
  if (strlen (key) > KEY_MAX || strlen (value) > VALUE_MAX
      || (g_hash_table_size (waiting->texts) == FIELDS_MAX
          && !g_hash_table_contains (waiting->texts, key)))
    waiting->dropped++;
  else if (!g_hash_table_insert (waiting->texts, g_strdup (key),
               g_strdup (value)))
    waiting->superseded++;
}

static void
clear_text (gpointer data)
{
  GstNdIgtlText *text = data;

  g_free (text->key);
  g_free (text->value);
}

static gint
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (((const GstNdIgtlText *) a)->key,
      ((const GstNdIgtlText *) b)->key);
}

GArray *
gst_nd_igtl_waiting_steal (GstNdIgtlWaiting *waiting)
{
  GArray *texts = g_array_new (FALSE, FALSE, sizeof (GstNdIgtlText));
  GHashTableIter iter;
  GstNdIgtlText text;

  g_array_set_clear_func (texts, clear_text);
  g_hash_table_iter_init (&iter, waiting->texts);
  while (g_hash_table_iter_next (&iter, (gpointer *) &text.key,
      (gpointer *) &text.value)) {
    g_hash_table_iter_steal (&iter);
    g_array_append_val (texts, text);
  }
  g_array_sort (texts, compare_texts);
  return texts;
}
