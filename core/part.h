/* Files and folders that this process creates where others may write, too, and
 * files that it reads. What has a name already is never opened for writing and
 * no link is followed, so that nobody can plant a name. Functions return 0 or
 * an errno, unless they say something else.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>
#include <sys/stat.h>

G_BEGIN_DECLS

/* What is written under the name NAME.part, and gets the name NAME when it is
 * complete. It is locked, so that nobody else writes it, if the file system has
 * locks. Used by one thread at a time. */
typedef struct
{
  gint folder; /* that has the name */
  gint fd;     /* of the file, or of the folder */
  gchar *name, *partial;
  dev_t device;
  ino_t inode;
} NdPart;

/* Creates the file @path with ".part" appended, with the permissions of the
 * umask. An unfinished file that has this name is replaced if it is a regular
 * file of this user with one name. Otherwise EEXIST, or EISDIR for a folder;
 * EBUSY if somebody writes it. */
gint nd_part_create (NdPart *part, const gchar *path);

/* Creates such a folder. A folder of this user is replaced if it has no other
 * names than @names, which end with NULL; otherwise EEXIST, ENOTEMPTY or
 * ENOTDIR. */
gint nd_part_create_folder (NdPart *part, const gchar *path,
    const gchar *const *names);

/* Waits until the content is on the disk, and reports what the file system
 * could not store. */
gint nd_part_sync (const NdPart *part);

/* Gives it its name, which replaces a file. ENOENT if somebody removed or
 * replaced NAME.part. */
gint nd_part_rename (const NdPart *part);

/* Waits until the name is on the disk, as far as the file system can. */
void nd_part_sync_name (const NdPart *part);

/* Removes it, unless somebody did that or replaced it. */
void nd_part_remove (const NdPart *part);

/* Closes it. Does nothing if it is closed or was never created, when @part must
 * be all zeros. Some file systems report a full disk only now. */
gint nd_part_close (NdPart *part);

/* Creates the file @name ("a/b/c") below the open folder @folder, and the
 * folders of its name, which may exist. A file of that name is replaced. */
gint nd_create_below (gint folder, const gchar *name, gint *fd);

/* Removes the file or the tree @name of @folder. */
void nd_remove_below (gint folder, const gchar *name);

/* Writes a whole file, which gets its name when it is complete, and replaces a
 * file or a link. */
gint nd_file_replace (const gchar *path, gconstpointer bytes, gsize size);

/* The same, but a pipe and a device are written into, and a link is followed in
 * a folder where only this user and root may write. For output that programs
 * may send anywhere, as to /dev/stdout. */
gint nd_file_write (const gchar *path, gconstpointer bytes, gsize size);

/* Opens the regular file @path for reading and gives its size in bytes. It may
 * be a symbolic link only if @follow. Returns a descriptor that the caller
 * closes, or -1 with ND_ERROR_NOT_FOUND or _OPEN_READ. */
gint nd_file_open (const gchar *path, gboolean follow, guint64 *size,
    GError **error);

/* Reads up to @size bytes from @offset on. Returns their number, which is below
 * @size only at the end, or -1 and errno. */
gssize nd_file_read (gint fd, guint64 offset, gpointer bytes, gsize size);

/* The content of a file of this user or of root of at most @max bytes, with
 * '\0' appended; NULL if it is anything else. To be freed. */
gchar *nd_file_load_own (const gchar *path, gsize max, gsize *size);

G_END_DECLS
