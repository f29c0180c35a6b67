/* The log hook: levels, the cost of messages that are not wanted, modules.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"

static gchar *last;    /* the message that arrived last */
static guint n_called; /* the number of calls of count() */

static void
keep (NdLevel level, const gchar *category, const gchar *file,
    const gchar *function, gint line, const gchar *message)
{
  g_free (last);
  last = g_strdup_printf ("%d %s %s %s", level, category, function, message);
  g_assert_true (g_str_has_suffix (file, "test-log.c"));
  g_assert_cmpint (line, >, 0);
}

static guint
count (void)
{
  return ++n_called;
}

static void
test_levels (void)
{
  ND_WARNING ("%u", count ());
  g_assert_null (last);
  nd_log_set_handler (keep, ND_LEVEL_INFO);
  ND_DEBUG ("%u", count ());
  ND_LOG ("%u", count ());
  g_assert_null (last);
  g_assert_cmpuint (n_called, ==, 0);
  ND_INFO ("%u volumes", count ());
  g_assert_cmpstr (last, ==, "4 ndtest test_levels 1 volumes");
  nd_log_set_handler (keep, ND_LEVEL_LOG);
  ND_LOG ("volume %d of %s", 7, "a stream");
  g_assert_cmpstr (last, ==, "6 ndtest test_levels volume 7 of a stream");
  nd_log_set_handler (NULL, ND_LEVEL_LOG);
  ND_WARNING ("%u", count ());
  g_assert_cmpuint (n_called, ==, 1);
}

static NdLogHandler copied_handler;
static NdLevel copied_threshold;

static void
set_copy (NdLogHandler handler, NdLevel threshold)
{
  copied_handler = handler;
  copied_threshold = threshold;
}

/* A copy has the settings made before it was added, and later ones. */
static void
test_copy (void)
{
  nd_log_set_handler (keep, ND_LEVEL_DEBUG);
  nd_log_add_copy (set_copy);
  g_assert_true (copied_handler == keep);
  g_assert_cmpint (copied_threshold, ==, ND_LEVEL_DEBUG);
  nd_log_set_handler (NULL, ND_LEVEL_NONE);
  g_assert_null (copied_handler);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/log/levels", test_levels);
  g_test_add_func ("/log/copy", test_copy);
  return g_test_run ();
}
