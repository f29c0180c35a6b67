/* HDF5: groups, object headers and short texts (the HDF5 File Format
 * Specification 3.0). Read here and not by its library, which allocates what a
 * file claims before it compares that with the file.
 *
 * Groups are symbol tables or compact links, chunks are found in a B-tree of
 * version 1: what programs write that do not ask for a later format.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/list.h"
#include "formats/input.h"

G_BEGIN_DECLS

/* Bytes of a path or a text, with its end. */
#define ND_HDF5_TEXT 256

typedef struct
{
  NdInput *input; /* of the caller, as the next one */
  NdBudget *budget;
  guint64 root; /* the object header of the first group */
  guint left;   /* links, messages, chunks and 256 bytes to be looked at */
} NdHdf5File;

/* Lets that many be looked at, for one volume: a small file can name the same
 * ones again and again. */
#define ND_HDF5_LOOKS (1u << 26)

/* FALSE if @n are too many. */
gboolean nd_hdf5_look (NdHdf5File *file, guint n);

/* Bytes of the file. */
typedef struct
{
  NdBudget *budget;
  guint8 *bytes;
  gsize n;
} NdHdf5Block;

/* Reads @n bytes at @at. FALSE if they are not there, or without memory. */
gboolean nd_hdf5_block_load (NdHdf5Block *block, NdHdf5File *file, guint64 at,
    guint64 n);
void nd_hdf5_block_clear (NdHdf5Block *block);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdHdf5Block, nd_hdf5_block_clear)

/* A number of @n bytes, the lowest first. */
guint64 nd_hdf5_number (const guint8 *bytes, guint n);

/* FALSE if it is damaged. */
gboolean nd_hdf5_file_open (NdHdf5File *file);

/* Types of the messages of an object header. */
typedef enum
{
  ND_HDF5_DATASPACE = 1,
  ND_HDF5_LINK_INFO = 2,
  ND_HDF5_DATATYPE = 3,
  ND_HDF5_OLD_FILL = 4,
  ND_HDF5_FILL = 5,
  ND_HDF5_LINK = 6,
  ND_HDF5_EXTERNAL = 7,
  ND_HDF5_LAYOUT = 8,
  ND_HDF5_FILTERS = 11,
  ND_HDF5_ATTRIBUTE = 12,
  ND_HDF5_CONTINUATION = 16,
  ND_HDF5_SYMBOL_TABLE = 17
} NdHdf5Message;

/* @type: 0 if the message is at another place. Returns TRUE to stop. */
typedef gboolean (*NdHdf5Each) (guint type, const guint8 *bytes, gsize n,
    gpointer data);

/* Calls @each for the messages of the object header at @at, until it returns
 * TRUE. FALSE if the header is damaged. */
gboolean nd_hdf5_file_messages (NdHdf5File *file, guint64 at, NdHdf5Each each,
    gpointer data);

/* The object header of the object @path. FALSE if there is none. */
gboolean nd_hdf5_file_find (NdHdf5File *file, const gchar *path, guint64 *at);
gboolean nd_hdf5_file_has (NdHdf5File *file, const gchar *path);

/* Adds the numbers of the links "PREFIX<number>" of the group @path to @numbers
 * (guint32), ascending. FALSE without memory. */
gboolean nd_hdf5_file_number (NdHdf5File *file, const gchar *path,
    const gchar *prefix, NdList *numbers);

/* The name of a link of the first group that has a link @has. FALSE if there is
 * none. */
gboolean nd_hdf5_file_with (NdHdf5File *file, const gchar *has,
    gchar name[ND_HDF5_TEXT]);

/* @text: NULL if it is longer, or something else. Returns TRUE to stop. */
typedef gboolean (*NdHdf5EachText) (const gchar *name, const gchar *text,
    gpointer data);

/* Calls @each for the attributes of the object @path, if there is one, until it
 * returns TRUE. FALSE if they are damaged or too many. */
gboolean nd_hdf5_file_texts (NdHdf5File *file, const gchar *path,
    NdHdf5EachText each, gpointer data);

/* The text of an attribute of the object @path: one text, or one letter each.
 * FALSE if it is absent, longer, or something else. */
gboolean nd_hdf5_file_text (NdHdf5File *file, const gchar *path,
    const gchar *attribute, gchar text[ND_HDF5_TEXT]);

G_END_DECLS
