/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/cache.h"

#include "core/buildid.h"
#include "core/fork.h"
#include "core/part.h"

/* Each build and device has a group. The file keeps the newest groups. */
#define MAX_GROUPS 32
#define MAX_BYTES ((gsize) 4 << 20)

/* Protects the file from the threads of this process. If several processes save
 * at a time, the file is complete and the last one wins. */
static GMutex lock;
ND_HOLD_AT_FORK (lock, 1)

static gchar *
file_name (void)
{
  const gchar *name = g_getenv ("NDCONV_CACHE");

  if (name)
    return *name ? g_strdup (name) : NULL;
  return g_build_filename (g_get_user_cache_dir (), "ndconv", "measured.ini",
      NULL);
}

/* Times of other kernels would mislead the plan. */
static gchar *
group_name (const gchar *device)
{
  return g_strdup_printf ("build %s, %s", nd_build_id (), device);
}

/* What another user wrote is not believed. */
static gboolean
load (GKeyFile *file, const gchar *name, GKeyFileFlags flags)
{
  gsize size;
  g_autofree gchar *text = nd_file_load_own (name, MAX_BYTES, &size);

  return text && g_key_file_load_from_data (file, text, size, flags, NULL);
}

static void
remove_oldest (GKeyFile *file)
{
  gsize n;
  g_auto (GStrv) groups = g_key_file_get_groups (file, &n);

  for (gsize i = 0; i + MAX_GROUPS < n; i++)
    g_key_file_remove_group (file, groups[i], NULL);
}

gboolean
nd_cache_get (const gchar *device, const gchar *key, gdouble *numbers, gsize n)
{
  g_autofree gchar *name = file_name ();
  g_autofree gchar *group = group_name (device);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree gdouble *list = NULL;
  gsize length = 0;

  if (name && load (file, name, G_KEY_FILE_NONE))
    list = g_key_file_get_double_list (file, group, key, &length, NULL);
  if (!list || length != n)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    numbers[i] = list[i];
  return TRUE;
}

void
nd_cache_set (const gchar *device, const gchar *key, const gdouble *numbers,
    gsize n)
{
  g_autofree gchar *name = file_name ();
  g_autofree gchar *group = group_name (device);
  g_autofree gchar *directory = name ? g_path_get_dirname (name) : NULL;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree gchar *text = NULL;
  gsize size;

  if (!name || g_mkdir_with_parents (directory, 0700) != 0)
    return;
  g_mutex_lock (&lock);
  load (file, name, G_KEY_FILE_KEEP_COMMENTS);
  g_key_file_set_double_list (file, group, key, (gdouble *) numbers, n);
  remove_oldest (file);
  text = g_key_file_to_data (file, &size, NULL);
  nd_file_replace (name, text, size);
  g_mutex_unlock (&lock);
}
