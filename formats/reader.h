/* The inside of a reader: for formats/reader.c, formats/readergroups.c,
 * formats/readertruncated.c and formats/fileseries.c only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* Bytes that are read before they are converted. */
#define ND_READER_CHUNK (64 * 1024)

/* A position that is unknown: before the first read, or after an error. */
#define ND_READER_NOWHERE G_MAXUINT64

struct _NdReader
{
  gchar *path;
  NdHeader header;
  gchar *format; /* for messages */
  gchar *not_held;
  NdInput *input; /* of the file at @file */
  guint file;
  guint64 file_bytes; /* bytes of samples in each file, by the header */
  gboolean kept;      /* there are fewer, and whole volumes are read */
  gsize stored_size;  /* bytes of one stored volume */
  guint64 begin;      /* of the samples in the file that is open */
  guint64 position;   /* in the samples of all files */
  guint64 next;
  guint8 *chunk; /* samples before conversion, or NULL */
  gsize chunk_size;

  guint8 *group; /* volumes of a file with time first */
  gsize group_bytes;
  guint64 group_first; /* of the group, if it is not empty */
  guint64 group_size;
};

/* The file that is open. */
const gchar *nd_reader_file_path (NdReader *reader);

/* Opens a file and sets the position to its first sample. */
gboolean nd_reader_open_file (NdReader *reader, guint file, GError **error);

/* nd_reader_open_within() for a file of a folder that someone else made: no
 * symbolic link. */
NdReader *nd_reader_open_beside (const gchar *path, guint64 max_memory,
    GError **error);

/* With header->keep: reads the files up to the first one that is truncated, and
 * keeps the whole volumes, with a warning. */
gboolean nd_reader_keep_whole (NdReader *reader, GError **error);

/* The same for samples that are decoded: all volumes are, because only that
 * tells which ones are whole. */
gboolean nd_reader_keep_decoded (NdReader *reader, GError **error);

/* Goes to a byte of the samples. In a compressed file every other position than
 * the next one costs time. */
gboolean nd_reader_go_to (NdReader *reader, guint64 position, GError **error);

/* Reads @size stored bytes, across files. */
gboolean nd_reader_read_stored (NdReader *reader, guint8 *data, gsize size,
    GError **error);

/* TRUE if the samples of a volume do not lie together in the file: volumes are
 * then assembled in groups. */
gboolean nd_reader_has_groups (const NdReader *reader);

/* Decides how many volumes a group has. ND_ERROR_FORMAT if the file would have
 * to be read too often. */
gboolean nd_reader_plan_groups (NdReader *reader, GError **error);

/* Reads the next volume from its group. */
gboolean nd_reader_read_from_group (NdReader *reader, gpointer data,
    GError **error);

G_END_DECLS
