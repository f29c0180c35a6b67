/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndlog.h"

#include "core/log.h"

static struct
{
  const gchar *name, *description;
  GstDebugCategory *category;
} rooms[] = {
  { "ndcore", "threads" },
  { "ndfilters", "filters, banks and designs" },
  { "ndengine", "plans, autotune, windows, convolvers" },
  { "ndcpu", "the CPU back end" },
  { "ndcuda", "the CUDA back end" },
  { "ndformats", "files of recordings" },
};

static GstDebugCategory *
find_category (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (rooms); i++) {
    if (g_str_equal (rooms[i].name, name))
      return rooms[i].category;
  }
  return rooms[1].category;
}

static void
log_message (NdLevel level, const gchar *category, const gchar *file,
    const gchar *function, gint line, const gchar *message)
{
  gst_debug_log (find_category (category), (GstDebugLevel) level, file,
      function, line, NULL, "%s", message);
}

void
gst_nd_log_init (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rooms); i++)
    GST_DEBUG_CATEGORY_INIT (rooms[i].category, rooms[i].name, 0,
        rooms[i].description);
  gst_nd_log_update ();
}

void
gst_nd_log_update (void)
{
  GstDebugLevel threshold = GST_LEVEL_NONE;

  for (guint i = 0; i < G_N_ELEMENTS (rooms); i++)
    threshold =
        MAX (threshold, gst_debug_category_get_threshold (rooms[i].category));
  nd_log_set_handler (log_message, (NdLevel) threshold);
}
