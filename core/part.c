/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/part.h"

#include "core/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Others may take the name again and again; then they have it. */
#define ATTEMPTS 8

/* Folders in each other of a tree that is removed. */
#define DEPTH_MAX 64

/* Bytes of one call of the system. */
#define READ_AT_ONCE ((gsize) 1 << 30)

#define CREATED (O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)
#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
/* A pipe or a terminal in place of a file neither blocks nor takes hold. */
#define EXISTING (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Opens the folder of @path, of which later functions use the names, wherever
 * the folder is moved. Returns the name in it. */
static const gchar *
open_folder (const gchar *path, gint *folder)
{
  const gchar *slash = strrchr (path, '/');
  g_autofree gchar *parent = !slash ? g_strdup (".")
      : slash == path               ? g_strdup ("/")
                                    : g_strndup (path, slash - path);

  *folder = open (parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  return slash ? slash + 1 : path;
}

static gchar *
make_temporary_name (void)
{
  return g_strdup_printf (".ndconv-%08x%08x", g_random_int (), g_random_int ());
}

/* Creates a file that nobody knows. Returns its descriptor, or -1 and errno. */
static gint
create_temporary (gint folder, gchar **name)
{
  gint fd = -1;

  *name = NULL;
  for (guint i = 0; i < ATTEMPTS && fd < 0; i++) {
    g_free (*name);
    *name = make_temporary_name ();
    fd = openat (folder, *name, O_WRONLY | CREATED, 0666);
    if (fd < 0 && errno != EEXIST)
      break;
  }
  return fd;
}

/* The owner that the file system gives to what this process creates: servers
 * and mounts may have other numbers than this machine. */
static gboolean
is_owner (gint folder, uid_t owner)
{
  g_autofree gchar *name = NULL;
  struct stat info = { .st_uid = geteuid () };
  gint fd;

  if (owner == info.st_uid)
    return TRUE;
  fd = create_temporary (folder, &name);
  if (fd < 0)
    return FALSE;
  if (fstat (fd, &info) != 0)
    info.st_uid = geteuid ();
  close (fd);
  unlinkat (folder, name, 0);
  return owner == info.st_uid;
}

/* EBUSY if somebody else has the lock. Some file systems have no locks. */
static gint
lock (gint fd)
{
  return flock (fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK ? EBUSY : 0;
}

/* Whether the name still is that of @info. */
static gboolean
has_name (gint folder, const gchar *name, dev_t device, ino_t inode)
{
  struct stat named;

  return fstatat (folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
      && named.st_dev == device && named.st_ino == inode;
}

static gboolean
is_there (const NdPart *part)
{
  return has_name (part->folder, part->partial, part->device, part->inode);
}

static gint
open_part (NdPart *part, const gchar *path)
{
  const gchar *name;

  memset (part, 0, sizeof (*part));
  part->fd = -1;
  name = open_folder (path, &part->folder);
  if (part->folder < 0)
    return errno;
  part->name = g_strdup (name);
  part->partial = g_strconcat (name, ".part", NULL);
  return *name ? 0 : ENOENT;
}

/* Whether a file may be removed to make place; 0 or an errno. */
static gint
check_file (const NdPart *part, const struct stat *info)
{
  if (S_ISDIR (info->st_mode))
    return EISDIR;
  return S_ISREG (info->st_mode) && info->st_nlink == 1
          && is_owner (part->folder, info->st_uid)
      ? 0
      : EEXIST;
}

/* Removes an unfinished file of an earlier writer. */
static gint
make_place (const NdPart *part)
{
  struct stat info;
  gint reason, fd;

  if (fstatat (part->folder, part->partial, &info, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? 0 : errno;
  reason = check_file (part, &info);
  if (reason)
    return reason;
  fd = openat (part->folder, part->partial, O_RDWR | EXISTING);
  if (fd < 0)
    return errno == ENOENT ? 0 : errno;
  reason = fstat (fd, &info) != 0 ? errno : lock (fd);
  /* A writer may have completed it meanwhile. */
  if (!reason
      && has_name (part->folder, part->partial, info.st_dev, info.st_ino)) {
    reason = check_file (part, &info);
    if (!reason && unlinkat (part->folder, part->partial, 0) != 0)
      reason = errno;
  }
  close (fd);
  return reason;
}

/* Takes the lock before anybody takes the new file for a left one. */
static gint
part_take (NdPart *part)
{
  struct stat info;
  gint reason = fstat (part->fd, &info) != 0 ? errno : lock (part->fd);

  part->device = info.st_dev;
  part->inode = info.st_ino;
  return reason ? reason : is_there (part) ? 0 : EBUSY;
}

/* Ends a creation; @part remains only if @reason is 0. */
static gint
end_creation (NdPart *part, gint reason)
{
  if (reason)
    nd_part_close (part);
  return reason;
}

gint
nd_part_create (NdPart *part, const gchar *path)
{
  gint reason = open_part (part, path);

  for (guint i = 0; i < ATTEMPTS && !reason && part->fd < 0; i++) {
    part->fd = openat (part->folder, part->partial, O_RDWR | CREATED, 0666);
    if (part->fd >= 0)
      reason = part_take (part);
    else
      reason = errno == EEXIST ? make_place (part) : errno;
  }
  return end_creation (part, reason ? reason : part->fd < 0 ? EBUSY : 0);
}

/* Reads the folder @fd, which stays open. */
static DIR *
part_list (gint fd)
{
  const gint copy = openat (fd, ".", FOLDER);
  DIR *dir = copy >= 0 ? fdopendir (copy) : NULL;

  if (copy >= 0 && !dir)
    close (copy);
  return dir;
}

static const gchar *
next_name (DIR *dir)
{
  const struct dirent *entry;

  while ((entry = readdir (dir))) {
    if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
      return entry->d_name;
  }
  return NULL;
}

static gboolean
has_only (gint folder, const gchar *const *names)
{
  DIR *dir = part_list (folder);
  const gchar *name;
  gboolean only = dir != NULL;

  while (only && (name = next_name (dir)))
    only = g_strv_contains (names, name);
  if (dir)
    closedir (dir);
  return only;
}

static void
remove_tree (gint folder, const gchar *name, guint depth)
{
  const gchar *inner;
  DIR *dir;
  gint fd;

  if (unlinkat (folder, name, 0) == 0 || depth == 0)
    return;
  fd = openat (folder, name, FOLDER);
  if (fd < 0)
    return;
  dir = fdopendir (fd);
  while (dir && (inner = next_name (dir)))
    remove_tree (fd, inner, depth - 1);
  if (dir)
    closedir (dir);
  else
    close (fd);
  unlinkat (folder, name, AT_REMOVEDIR);
}

void
nd_remove_below (gint folder, const gchar *name)
{
  remove_tree (folder, name, DEPTH_MAX);
}

/* Removes an unfinished folder of an earlier writer. */
static gint
make_place_for_folder (const NdPart *part, const gchar *const *names)
{
  struct stat info;
  const gint fd = openat (part->folder, part->partial, FOLDER);
  gint reason = 0;

  if (fd < 0)
    return errno == ENOENT                   ? 0
        : errno == ELOOP || errno == ENOTDIR ? EEXIST
                                             : errno;
  if (fstat (fd, &info) != 0)
    reason = errno;
  else if (!is_owner (part->folder, info.st_uid))
    reason = EEXIST;
  else
    reason = lock (fd);
  if (!reason
      && has_name (part->folder, part->partial, info.st_dev, info.st_ino)) {
    if (!has_only (fd, names)) {
      reason = ENOTEMPTY;
    } else {
      for (guint i = 0; names[i]; i++)
        nd_remove_below (fd, names[i]);
      if (unlinkat (part->folder, part->partial, AT_REMOVEDIR) != 0)
        reason = errno;
    }
  }
  close (fd);
  return reason;
}

gint
nd_part_create_folder (NdPart *part, const gchar *path,
    const gchar *const *names)
{
  gint reason = open_part (part, path);

  for (guint i = 0; i < ATTEMPTS && !reason && part->fd < 0; i++) {
    if (mkdirat (part->folder, part->partial, 0777) == 0) {
      part->fd = openat (part->folder, part->partial, FOLDER);
      reason = part->fd < 0 ? errno : part_take (part);
    } else {
      reason = errno == EEXIST ? make_place_for_folder (part, names) : errno;
    }
  }
  return end_creation (part, reason ? reason : part->fd < 0 ? EBUSY : 0);
}

/* File systems that cannot do it say so by these. */
static gint
check_sync (gint result)
{
  return result == 0 || errno == EINVAL || errno == ENOSYS
          || errno == EOPNOTSUPP || errno == EROFS
      ? 0
      : errno;
}

gint
nd_part_sync (const NdPart *part)
{
  struct stat info;
  gint reason, copy;

  if (fstat (part->fd, &info) != 0)
    return errno;
  /* A folder may have a file for each chunk. */
  reason = check_sync (S_ISDIR (info.st_mode) ? syncfs (part->fd)
                                              : fsync (part->fd));
  if (reason || S_ISDIR (info.st_mode))
    return reason;
  /* Some file systems report a full disk only when a file is closed. The lock
   * stays with the other descriptor. */
  copy = dup (part->fd);
  return copy >= 0 && close (copy) != 0 ? errno : 0;
}

gint
nd_part_rename (const NdPart *part)
{
  if (!is_there (part))
    return ENOENT;
  return renameat (part->folder, part->partial, part->folder, part->name) == 0
      ? 0
      : errno;
}

void
nd_part_sync_name (const NdPart *part)
{
  /* Fails in a folder that this user must not list. */
  const gint fd = openat (part->folder, ".", FOLDER);

  if (fd < 0)
    return;
  fsync (fd);
  close (fd);
}

void
nd_part_remove (const NdPart *part)
{
  if (part->partial && is_there (part))
    nd_remove_below (part->folder, part->partial);
}

gint
nd_part_close (NdPart *part)
{
  gint reason = 0;

  if (!part->partial)
    return 0;
  if (part->fd >= 0 && close (part->fd) != 0)
    reason = errno;
  if (part->folder >= 0)
    close (part->folder);
  g_free (part->name);
  g_free (part->partial);
  memset (part, 0, sizeof (*part));
  return reason;
}

gint
nd_create_below (gint folder, const gchar *name, gint *fd)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", -1);
  gint at = folder, reason = 0;
  guint i;

  for (i = 0; parts[i + 1] && !reason; i++) {
    gint next = openat (at, parts[i], FOLDER);

    if (next < 0 && errno == ENOENT
        && (mkdirat (at, parts[i], 0777) == 0 || errno == EEXIST))
      next = openat (at, parts[i], FOLDER);
    if (next < 0)
      reason = errno;
    if (at != folder)
      close (at);
    at = next;
  }
  if (reason)
    return reason;
  *fd = openat (at, parts[i], O_WRONLY | CREATED, 0666);
  if (*fd < 0 && errno == EEXIST && unlinkat (at, parts[i], 0) == 0)
    *fd = openat (at, parts[i], O_WRONLY | CREATED, 0666);
  if (*fd < 0)
    reason = errno;
  if (at != folder)
    close (at);
  return reason;
}

static gint
write_all (gint fd, gconstpointer bytes, gsize size)
{
  const guint8 *from = bytes;

  while (size > 0) {
    const gssize done = write (fd, from, MIN (size, (gsize) 1 << 30));

    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return done < 0 ? errno : EIO;
    from += done;
    size -= done;
  }
  return 0;
}

static gint
write_and_close (gint fd, gconstpointer bytes, gsize size)
{
  const gint reason = write_all (fd, bytes, size);
  const gint closed = close (fd) != 0 ? errno : 0;

  return reason ? reason : closed;
}

static gint
part_replace (gint folder, const gchar *name, gconstpointer bytes, gsize size)
{
  g_autofree gchar *temporary = NULL;
  const gint fd = create_temporary (folder, &temporary);
  gint reason = fd < 0 ? errno : write_and_close (fd, bytes, size);

  if (!reason && renameat (folder, temporary, folder, name) != 0)
    reason = errno;
  if (reason && fd >= 0)
    unlinkat (folder, temporary, 0);
  return reason;
}

gint
nd_file_replace (const gchar *path, gconstpointer bytes, gsize size)
{
  gint folder;
  const gchar *name = open_folder (path, &folder);
  gint reason = folder < 0 ? errno : 0;

  if (!reason)
    reason = part_replace (folder, name, bytes, size);
  if (folder >= 0)
    close (folder);
  return reason;
}

static gboolean
is_ours (const struct stat *info)
{
  return info->st_uid == geteuid () || info->st_uid == 0;
}

/* Opens a pipe, a device, or what a link names, if nobody else can have put it
 * there. *@fd is -1 if @name is to be replaced: a file or another link. */
static gint
open_special (gint folder, const gchar *name, gint *fd)
{
  struct stat info, parent;
  gboolean trusted;

  *fd = -1;
  if (fstatat (folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0
      || S_ISREG (info.st_mode))
    return 0;
  trusted = fstat (folder, &parent) == 0 && is_ours (&parent)
      && !(parent.st_mode & (S_IWGRP | S_IWOTH));
  if (trusted || (!S_ISLNK (info.st_mode) && is_ours (&info)))
    *fd = openat (folder, name,
        O_WRONLY | O_NOCTTY | O_CLOEXEC | (trusted ? O_TRUNC : O_NOFOLLOW));
  else
    errno = EEXIST;
  if (*fd < 0)
    return S_ISLNK (info.st_mode) ? 0 : errno;
  if (trusted
      || (fstat (*fd, &info) == 0 && is_ours (&info)
          && !S_ISREG (info.st_mode)))
    return 0;
  close (*fd);
  return EEXIST;
}

gint
nd_file_write (const gchar *path, gconstpointer bytes, gsize size)
{
  gint folder, special = -1;
  const gchar *name = open_folder (path, &folder);
  gint reason = folder < 0 ? errno : open_special (folder, name, &special);

  if (!reason)
    reason = special >= 0 ? write_and_close (special, bytes, size)
                          : part_replace (folder, name, bytes, size);
  if (folder >= 0)
    close (folder);
  return reason;
}

gint
nd_file_open (const gchar *path, gboolean follow, guint64 *size, GError **error)
{
  /* O_NONBLOCK: opening a FIFO would wait for its other end. */
  const gint fd = open (path,
      O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
  struct stat info;
  gint reason = errno;

  if (fd >= 0 && fstat (fd, &info) == 0 && S_ISREG (info.st_mode)) {
    *size = info.st_size;
    return fd;
  }
  if (fd < 0 && reason == ELOOP && !follow)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
        "\"%s\" is a symbolic link: a file that a header names must lie beside "
        "it, put the file itself there",
        path);
  else if (fd < 0)
    g_set_error (error, ND_ERROR,
        reason == ENOENT ? ND_ERROR_NOT_FOUND : ND_ERROR_OPEN_READ,
        "\"%s\" cannot be opened for reading: %s", path, g_strerror (reason));
  else
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
        "\"%s\" is a folder or a device: it must be a file", path);
  if (fd >= 0)
    close (fd);
  return -1;
}

gssize
nd_file_read (gint fd, guint64 offset, gpointer bytes, gsize size)
{
  gsize done = 0;

  while (done < size) {
    const gssize got = pread (fd, (guint8 *) bytes + done,
        MIN (size - done, READ_AT_ONCE), offset + done);

    if (got < 0 && errno != EINTR)
      return -1;
    if (got == 0)
      break;
    done += MAX (got, 0);
  }
  return done;
}

gchar *
nd_file_load_own (const gchar *path, gsize max, gsize *size)
{
  const gint fd = open (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  g_autofree gchar *bytes = NULL;
  struct stat info;
  gsize done = 0;

  if (fd < 0)
    return NULL;
  if (fstat (fd, &info) == 0 && S_ISREG (info.st_mode) && is_ours (&info)
      && info.st_size >= 0 && (guint64) info.st_size <= max)
    bytes = g_try_malloc (info.st_size + 1);
  while (bytes && done < (gsize) info.st_size) {
    const gssize got = read (fd, bytes + done, info.st_size - done);

    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    done += got;
  }
  close (fd);
  if (!bytes)
    return NULL;
  bytes[done] = '\0';
  *size = done;
  return g_steal_pointer (&bytes);
}
