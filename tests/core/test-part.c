/* Unfinished files and folders: planted names, writers of one name, what stays
 * possible.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/part.h"
#include "tests/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define OTHER 65534 /* nobody */

static const gchar *const own_names[] = { "0", "zarr.json", NULL };

static void
assert_text (const gchar *path, const gchar *text)
{
  g_autofree gchar *found = NULL;

  g_assert_true (g_file_get_contents (path, &found, NULL, NULL));
  g_assert_cmpstr (found, ==, text);
}

static gint
create (NdPart *part, const gchar *path, gboolean is_folder)
{
  return is_folder ? nd_part_create_folder (part, path, own_names)
                   : nd_part_create (part, path);
}

/* What somebody else planted stays as it is, and what it names, too. */
static void
test_planted (void)
{
  g_autofree gchar *path = file_path ("scan.nii");
  g_autofree gchar *partial = file_path ("scan.nii.part");
  g_autofree gchar *secret = file_path ("secret");
  g_autofree gchar *missing = file_path ("missing");
  g_autofree gchar *room = file_path ("room");
  struct stat before, after;
  NdPart part;

  put_file (secret, "secret", 6);
  g_assert_cmpint (g_mkdir (room, 0700), ==, 0);
  for (gint folder = 0; folder < 2; folder++) {
    const gchar *const targets[] = { secret, missing, room, partial,
      "/dev/null", "/proc/self/fd/0" };

    for (guint i = 0; i < G_N_ELEMENTS (targets); i++) {
      g_assert_cmpint (symlink (targets[i], partial), ==, 0);
      g_assert_cmpint (create (&part, path, folder), ==, EEXIST);
      g_assert_cmpint (lstat (partial, &after), ==, 0);
      g_assert_true (S_ISLNK (after.st_mode));
      g_remove (partial);
    }
    g_assert_cmpint (link (secret, partial), ==, 0);
    g_assert_cmpint (create (&part, path, folder), ==, EEXIST);
    g_remove (partial);
    /* Opening it would block. */
    g_assert_cmpint (mkfifo (partial, 0666), ==, 0);
    g_assert_cmpint (create (&part, path, folder), ==, EEXIST);
    g_remove (partial);
  }
  assert_text (secret, "secret");
  g_assert_false (g_file_test (missing, G_FILE_TEST_EXISTS));
  g_assert_cmpint (g_mkdir (partial, 0700), ==, 0);
  g_assert_cmpint (nd_part_create (&part, path), ==, EISDIR);
  g_rmdir (partial);
  if (geteuid () != 0)
    return;
  put_file (partial, "other", 5);
  g_assert_cmpint (chown (partial, OTHER, OTHER), ==, 0);
  g_assert_cmpint (stat (partial, &before), ==, 0);
  g_assert_cmpint (nd_part_create (&part, path), ==, EEXIST);
  g_assert_cmpint (stat (partial, &after), ==, 0);
  g_assert_cmpuint (before.st_ino, ==, after.st_ino);
  assert_text (partial, "other");
  g_remove (partial);
  g_assert_cmpint (g_mkdir (partial, 0777), ==, 0);
  g_assert_cmpint (chown (partial, OTHER, OTHER), ==, 0);
  g_assert_cmpint (create (&part, path, TRUE), ==, EEXIST);
  g_rmdir (partial);
}

/* A file that an earlier writer of this user left is replaced, not emptied. */
static void
test_left (void)
{
  g_autofree gchar *path = file_path ("left.nii");
  g_autofree gchar *partial = file_path ("left.nii.part");
  g_autofree gchar *inner = file_path ("left.nii.part/0/c/1");
  g_autofree gchar *alien = file_path ("left.nii.part/alien");
  gint old, fd;
  gchar text[4];
  NdPart part;

  put_file (partial, "old", 3);
  old = open (partial, O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (nd_part_create (&part, path), ==, 0);
  g_assert_cmpint (read (old, text, 4), ==, 3);
  close (old);
  g_assert_cmpint (write (part.fd, "new", 3), ==, 3);
  g_assert_cmpint (nd_part_sync (&part), ==, 0);
  g_assert_cmpint (nd_part_rename (&part), ==, 0);
  nd_part_sync_name (&part);
  g_assert_cmpint (nd_part_close (&part), ==, 0);
  g_assert_cmpint (nd_part_close (&part), ==, 0);
  assert_text (path, "new");
  g_assert_false (g_file_test (partial, G_FILE_TEST_EXISTS));
  g_remove (path);

  for (guint i = 0; i < 2; i++) {
    g_assert_cmpint (nd_part_create_folder (&part, path, own_names), ==, 0);
    g_assert_false (g_file_test (inner, G_FILE_TEST_EXISTS));
    g_assert_cmpint (nd_create_below (part.fd, "0/c/1", &fd), ==, 0);
    close (fd);
    /* Again, in place of the first. */
    g_assert_cmpint (nd_create_below (part.fd, "0/c/1", &fd), ==, 0);
    close (fd);
    nd_part_close (&part);
    g_assert_true (g_file_test (inner, G_FILE_TEST_EXISTS));
  }
  put_file (alien, "", 0);
  g_assert_cmpint (nd_part_create_folder (&part, path, own_names), ==,
      ENOTEMPTY);
  g_assert_true (g_file_test (inner, G_FILE_TEST_EXISTS));
  g_remove (alien);
  g_assert_cmpint (nd_part_create_folder (&part, path, own_names), ==, 0);
  nd_part_remove (&part);
  nd_part_close (&part);
  g_assert_false (g_file_test (partial, G_FILE_TEST_EXISTS));
}

/* Links below a folder that is written or removed. */
static void
test_below (void)
{
  g_autofree gchar *path = file_path ("tree");
  g_autofree gchar *outside = file_path ("outside");
  g_autofree gchar *kept = file_path ("outside/kept");
  g_autofree gchar *zero = file_path ("tree.part/0");
  g_autofree gchar *json = file_path ("tree.part/zarr.json");
  gint fd;
  NdPart part;

  g_assert_cmpint (g_mkdir (outside, 0700), ==, 0);
  put_file (kept, "kept", 4);
  g_assert_cmpint (nd_part_create_folder (&part, path, own_names), ==, 0);
  g_assert_cmpint (symlink (outside, zero), ==, 0);
  g_assert_cmpint (symlink (kept, json), ==, 0);
  g_assert_cmpint (nd_create_below (part.fd, "0/kept", &fd), !=, 0);
  g_assert_cmpint (nd_create_below (part.fd, "zarr.json", &fd), ==, 0);
  close (fd);
  assert_text (kept, "kept");
  nd_part_remove (&part);
  nd_part_close (&part);
  assert_text (kept, "kept");
  g_remove (kept);
  g_rmdir (outside);
}

/* The second writer is refused, and what is replaced gets no name. */
static void
test_two (void)
{
  g_autofree gchar *path = file_path ("two");
  g_autofree gchar *partial = file_path ("two.part");
  NdPart first, second;

  for (gint folder = 0; folder < 2; folder++) {
    g_assert_cmpint (create (&first, path, folder), ==, 0);
    g_assert_cmpint (create (&second, path, folder), ==, EBUSY);
    nd_part_remove (&first);
    g_assert_cmpint (create (&second, path, folder), ==, 0);
    g_assert_cmpint (nd_part_rename (&first), ==, ENOENT);
    nd_part_remove (&first);
    g_assert_true (g_file_test (partial, G_FILE_TEST_EXISTS));
    nd_part_close (&first);
    nd_part_remove (&second);
    nd_part_close (&second);
    g_assert_false (g_file_test (partial, G_FILE_TEST_EXISTS));
  }
}

#define ROUNDS 200
#define THREADS 4

static gint started, writing, most, completed;

/* Creates, writes and completes one name again and again. */
static gpointer
race (gpointer data)
{
  g_autofree gchar *path = file_path ("race");

  g_atomic_int_inc (&started);
  while (g_atomic_int_get (&started) < THREADS)
    g_thread_yield ();
  for (guint i = 0; i < ROUNDS; i++) {
    NdPart part;
    const gint reason = nd_part_create (&part, path);

    if (reason) {
      g_assert_cmpint (reason, ==, EBUSY);
      continue;
    }
    if (g_atomic_int_add (&writing, 1) > 0)
      g_atomic_int_set (&most, 2);
    g_thread_yield ();
    g_atomic_int_add (&writing, -1);
    if (i % 3 > 0) {
      g_assert_cmpint (nd_part_rename (&part), ==, 0);
      g_atomic_int_inc (&completed);
    }
    nd_part_close (&part);
  }
  return NULL;
}

/* At any time one of several writers has the name. */
static void
test_race (void)
{
  GThread *threads[THREADS];

  for (guint i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("race", race, NULL);
  for (guint i = 0; i < THREADS; i++)
    g_thread_join (threads[i]);
  g_test_message ("%d of %d completed", completed, THREADS * ROUNDS);
  g_assert_cmpint (completed, >, 0);
  g_assert_cmpint (most, ==, 0);
}

/* Permissions of the umask, long names, spaces, no folder. */
static void
test_names (void)
{
  g_autofree gchar *name = g_strnfill (250, 'n');
  g_autofree gchar *longest = file_path (name);
  g_autofree gchar *name_of_255 = g_strnfill (255, 'm');
  g_autofree gchar *picture = file_path (name_of_255);
  g_autofree gchar *spaces = file_path ("with spaces");
  g_autofree gchar *file = g_build_filename (spaces, "a b", NULL);
  g_autofree gchar *below = g_build_filename (file, "c", NULL);
  const gchar *const bad[] = { below, "/dev/null/x", "/proc/self/fd/0" };
  const mode_t mask = umask (027);
  struct stat info;
  NdPart part;

  g_assert_cmpint (nd_part_create (&part, longest), ==, 0);
  g_assert_cmpint (fstat (part.fd, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0640);
  nd_part_remove (&part);
  nd_part_close (&part);
  g_assert_cmpint (nd_part_create_folder (&part, longest, own_names), ==, 0);
  g_assert_cmpint (fstat (part.fd, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0750);
  nd_part_remove (&part);
  nd_part_close (&part);
  g_assert_cmpint (nd_file_replace (picture, "x", 1), ==, 0);
  g_assert_cmpint (stat (picture, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0640);
  g_remove (picture);
  umask (mask);

  g_assert_cmpint (nd_part_create (&part, file), ==, ENOENT);
  g_assert_cmpint (g_mkdir (spaces, 0700), ==, 0);
  g_assert_cmpint (nd_part_create (&part, file), ==, 0);
  g_assert_cmpint (nd_part_rename (&part), ==, 0);
  nd_part_close (&part);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_cmpint (nd_part_create (&part, bad[i]), !=, 0);
  g_remove (file);
  g_rmdir (spaces);
}

/* Whole files: links and pipes. */
static void
test_whole (void)
{
  g_autofree gchar *path = file_path ("whole.png");
  g_autofree gchar *secret = file_path ("whole.secret");
  g_autofree gchar *shared = file_path ("shared");
  g_autofree gchar *planted = g_build_filename (shared, "planted", NULL);
  gchar text[5] = "";
  gint ends[2];
  struct stat info;

  put_file (secret, "secret", 6);
  g_assert_cmpint (nd_file_write (path, "one", 3), ==, 0);
  g_assert_cmpint (nd_file_write (path, "two", 3), ==, 0);
  assert_text (path, "two");
  g_remove (path);
  g_assert_cmpint (link (secret, path), ==, 0);
  g_assert_cmpint (nd_file_write (path, "three", 5), ==, 0);
  assert_text (secret, "secret");
  assert_text (path, "three");
  g_remove (path);

  /* A folder where others may plant. */
  g_assert_cmpint (g_mkdir (shared, 0700), ==, 0);
  g_assert_cmpint (g_chmod (shared, 0777), ==, 0);
  g_assert_cmpint (symlink (secret, planted), ==, 0);
  g_assert_cmpint (nd_file_write (planted, "four", 4), ==, 0);
  assert_text (secret, "secret");
  assert_text (planted, "four");
  g_remove (planted);
  if (geteuid () == 0) {
    g_assert_cmpint (mkfifo (planted, 0666), ==, 0);
    g_assert_cmpint (chown (planted, OTHER, OTHER), ==, 0);
    g_assert_cmpint (nd_file_write (planted, "five", 4), ==, EEXIST);
    g_remove (planted);
  }
  g_rmdir (shared);

  g_assert_cmpint (pipe (ends), ==, 0);
  g_autofree gchar *end = g_strdup_printf ("/proc/self/fd/%d", ends[1]);
  g_assert_cmpint (nd_file_write (end, "six", 3), ==, 0);
  g_assert_cmpint (read (ends[0], text, 4), ==, 3);
  g_assert_cmpstr (text, ==, "six");
  close (ends[0]);
  close (ends[1]);
  g_assert_cmpint (nd_file_write ("/dev/null", "seven", 5), ==, 0);
  g_assert_cmpint (stat ("/dev/null", &info), ==, 0);
  g_assert_true (S_ISCHR (info.st_mode));
  g_assert_cmpint (nd_file_write (folder, "eight", 5), ==, EISDIR);
  g_remove (secret);
}

static void
test_load (void)
{
  g_autofree gchar *path = file_path ("cache");
  gsize size;

  g_assert_null (nd_file_load_own (path, 100, &size));
  put_file (path, "text", 4);
  g_autofree gchar *text = nd_file_load_own (path, 4, &size);
  g_assert_cmpstr (text, ==, "text");
  g_assert_cmpuint (size, ==, 4);
  g_assert_null (nd_file_load_own (path, 3, &size));
  g_assert_null (nd_file_load_own (folder, 100, &size));
  if (geteuid () == 0) {
    g_assert_cmpint (chown (path, OTHER, OTHER), ==, 0);
    g_assert_null (nd_file_load_own (path, 100, &size));
  }
  g_remove (path);
  /* Opening it would block. */
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  g_assert_null (nd_file_load_own (path, 100, &size));
  g_remove (path);
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/part/planted", test_planted);
  g_test_add_func ("/part/left", test_left);
  g_test_add_func ("/part/below", test_below);
  g_test_add_func ("/part/two", test_two);
  g_test_add_func ("/part/race", test_race);
  g_test_add_func ("/part/names", test_names);
  g_test_add_func ("/part/whole", test_whole);
  g_test_add_func ("/part/load", test_load);
  status = g_test_run ();
  remove_folder ();
  return status;
}
