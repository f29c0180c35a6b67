/* Each plugin works without the others, and all of them in one process.
 *
 *   test-plugins FOLDER PLUGIN...    loads them in this order, and no other
 *   test-plugins FOLDER              GStreamer finds them
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <link.h>
#include <string.h>

#define MOST_ELEMENTS 13

static const struct
{
  const gchar *plugin, *elements[MOST_ELEMENTS];
} plugins[] = {
  { "ndconv",
      { "ndbmode", "ndconv2d", "ndconv3d", "ndconv4dtemporal", "nddeconvolve",
          "nddenoise", "ndrank", "ndregister", "ndscanconvert", "ndstack",
          "ndstructure", "ndtestsrc" } },
  { "ndfile", { "nddemux", "ndfilesink", "ndfilesrc" } },
  { "ndview", { "ndview" } },
  { "openigtlink", { "openigtlinksink", "openigtlinksrc" } },
};

/* Libraries that parse files, and GLib's sockets. */
static const gchar *const parsers[] = { "libtiff", "libopenjp2", "libcharls",
  "libjpeg", "libzstd", "libblosc", "libjson-glib", "libisal", "libgio" };

static gboolean
is_among (gchar **names, const gchar *name)
{
  return g_strv_contains ((const gchar *const *) names, name);
}

static gint
add_library (struct dl_phdr_info *info, size_t size, gpointer paths)
{
  g_ptr_array_add (paths, g_path_get_basename (info->dlpi_name));
  return 0;
}

static GPtrArray *
list_libraries (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  dl_iterate_phdr (add_library, names);
  return names;
}

static void
check_libraries (GPtrArray *before)
{
  g_autoptr (GPtrArray) now = list_libraries ();

  for (guint i = 0; i < now->len; i++) {
    const gchar *name = now->pdata[i];

    if (g_ptr_array_find_with_equal_func (before, name, g_str_equal, NULL))
      continue;
    for (guint k = 0; k < G_N_ELEMENTS (parsers); k++) {
      if (g_str_has_prefix (name, parsers[k]))
        g_error ("a plugin that needs no %s has loaded it", name);
    }
  }
}

static gboolean
is_loaded (const gchar *name)
{
  g_autoptr (GstPlugin) plugin =
      gst_registry_find_plugin (gst_registry_get (), name);

  g_assert_nonnull (plugin);
  return gst_plugin_is_loaded (plugin);
}

static void
load_plugin (const gchar *folder, const gchar *name)
{
  g_autofree gchar *file = g_strdup_printf ("libgst%s.so", name);
  g_autofree gchar *path = g_build_filename (folder, file, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstPlugin) plugin = gst_plugin_load_file (path, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (gst_plugin_get_name (plugin), ==, name);
}

/* The elements are those of the plugins that were loaded, and get to READY. */
static void
check_elements (gchar **names)
{
  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++) {
    const gboolean loaded = is_among (names, plugins[i].plugin);
    GList *features =
        gst_registry_get_feature_list_by_plugin (gst_registry_get (),
            plugins[i].plugin);
    guint elements = 0, n = 0;

    for (GList *l = features; l; l = l->next)
      elements += GST_IS_ELEMENT_FACTORY (l->data);
    gst_plugin_feature_list_free (features);
    for (; plugins[i].elements[n]; n++) {
      const gchar *name = plugins[i].elements[n];
      g_autoptr (GstElement) element = gst_element_factory_make (name, NULL);

      g_assert_cmpint (element != NULL, ==, loaded);
      if (!element)
        continue;
      gst_object_ref_sink (element);
      /* Without a location. */
      if (strcmp (name, "ndfilesrc") && strcmp (name, "ndfilesink"))
        g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==,
            GST_STATE_CHANGE_SUCCESS);
      gst_element_set_state (element, GST_STATE_NULL);
    }
    g_assert_cmpuint (elements, ==, loaded ? n : 0);
  }
}

/* A filter in a recording is read by the plugin ndfile, and refused with its
 * name without it. */
static void
check_filter_file (gboolean has_reader)
{
  static const gchar nrrd[] =
      "NRRD0004\ntype: float\ndimension: 2\nsizes: 2 1\n"
      "encoding: ascii\n\n1 -2\n";
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-plugins-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, "filter.nrrd", NULL);
  g_autofree gchar *line =
      g_strdup_printf ("ndtestsrc num-buffers=1 ! ndconv2d backend=cpu "
                       "filter=\"file,location=%s\"",
          path);
  g_autoptr (GError) error = NULL, reason = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstBus) bus = NULL;

  g_assert_true (g_file_set_contents (path, nrrd, -1, NULL));
  pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &reason, NULL);
  /* Otherwise the output of the filter is not linked. */
  g_assert_cmpint (strstr (reason->message, "plugin ndfile") != NULL, ==,
      !has_reader);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) before = NULL;
  gchar **names = argv + 2;

  g_assert_cmpint (argc, >=, 2);
  g_log_set_always_fatal (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL);
  g_setenv ("GST_PLUGIN_PATH_1_0", *names ? "" : argv[1], TRUE);
  g_setenv ("GST_PLUGIN_SYSTEM_PATH_1_0", "", TRUE);
  gst_init (NULL, NULL);
  if (!*names) {
    /* Without a process to look for plugins, this one loads all. */
    if (g_strcmp0 (g_getenv ("GST_REGISTRY_FORK"), "no") != 0)
      g_assert_false (is_loaded ("ndfile"));
    check_filter_file (TRUE);
    g_assert_true (is_loaded ("ndfile"));
    return 0;
  }
  before = list_libraries ();
  for (gchar **name = names; *name; name++) {
    load_plugin (argv[1], *name);
    if (!is_among (names, "ndfile") && !is_among (names, "openigtlink"))
      check_libraries (before);
  }
  check_elements (names);
  if (is_among (names, "ndconv"))
    check_filter_file (is_among (names, "ndfile"));
  return 0;
}
