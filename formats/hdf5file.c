/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/hdf5file.h"

#include <stdlib.h>
#include <string.h>

#define UNDEFINED G_MAXUINT64

/* More bytes or parts than any program makes. */
#define BLOCK_MAX (16 << 20)
#define HEADER_BLOCKS 256
#define BYTES_OF_LOOK 256
#define MAX_NUMBERS 65536

#define SYMBOL_BYTES 40
#define SYMBOL_SOFT_LINK 2
#define TREE_BYTES 24

gboolean
nd_hdf5_block_load (NdHdf5Block *block, NdHdf5File *file, guint64 at, guint64 n)
{
  const guint64 size = nd_input_size (file->input);

  nd_hdf5_block_clear (block);
  if (n == 0 || n > BLOCK_MAX || at > size || n > size - at
      || !nd_hdf5_look (file, n / BYTES_OF_LOOK + 1))
    return FALSE;
  block->budget = file->budget;
  block->bytes = nd_budget_alloc (file->budget, n);
  if (!block->bytes)
    return FALSE;
  block->n = n;
  nd_input_begin (file->input, at, FALSE);
  return nd_input_read (file->input, block->bytes, n) == (gssize) n;
}

void
nd_hdf5_block_clear (NdHdf5Block *block)
{
  nd_budget_free (block->budget, block->bytes, block->n);
  *block = (NdHdf5Block){ 0 };
}

guint64
nd_hdf5_number (const guint8 *bytes, guint n)
{
  guint64 number = 0;

  while (n-- > 0)
    number = number << 8 | bytes[n];
  return number;
}

gboolean
nd_hdf5_look (NdHdf5File *file, guint n)
{
  const gboolean enough = n <= file->left;

  file->left = enough ? file->left - n : 0;
  return enough;
}

static gboolean
has_signature (const NdHdf5Block *block, const gchar *signature)
{
  return block->n >= 4 && memcmp (block->bytes, signature, 4) == 0;
}

/* Addresses and lengths of 8 bytes, counted from the begin of the file. */
gboolean
nd_hdf5_file_open (NdHdf5File *file)
{
  g_auto (NdHdf5Block) block = { 0 };
  const guint8 *bytes;
  guint version, sizes, addresses;

  file->left = ND_HDF5_LOOKS;
  if (!nd_hdf5_block_load (&block, file, 0, 9))
    return FALSE;
  version = block.bytes[8];
  sizes = version < 2 ? 13 : 9;
  addresses = version == 0 ? 24 : version == 1 ? 28 : 12;
  if (version > 3 || !nd_hdf5_block_load (&block, file, 0, addresses + 6 * 8))
    return FALSE;
  bytes = block.bytes + addresses;
  file->root = nd_hdf5_number (bytes + (version < 2 ? 5 : 3) * 8, 8);
  return block.bytes[sizes] == 8 && block.bytes[sizes + 1] == 8
      && nd_hdf5_number (bytes, 8) == 0;
}

/* Object headers */

typedef struct
{
  NdHdf5File *file;
  NdHdf5Each each;
  gpointer data;
  guint version, flags;
  guint64 next[HEADER_BLOCKS][2]; /* places and sizes of blocks */
  guint n_next;
  gboolean stopped;
} Header;

/* FALSE if the messages are damaged. */
static gboolean
walk_messages (Header *header, const guint8 *bytes, gsize n)
{
  const gsize head = header->version == 1 ? 8 : header->flags & 4 ? 6 : 4;

  while (n >= head && !header->stopped) {
    const gboolean old = header->version == 1;
    const guint type = old ? nd_hdf5_number (bytes, 2) : bytes[0];
    const gsize size = nd_hdf5_number (bytes + (old ? 2 : 1), 2);
    const gboolean shared = bytes[old ? 4 : 3] & 2;

    if (size > n - head || !nd_hdf5_look (header->file, 1))
      return FALSE;
    bytes += head;
    if (type == ND_HDF5_CONTINUATION && size >= 16) {
      if (header->n_next == HEADER_BLOCKS)
        return FALSE;
      header->next[header->n_next][0] = nd_hdf5_number (bytes, 8);
      header->next[header->n_next++][1] = nd_hdf5_number (bytes + 8, 8);
    } else {
      header->stopped =
          header->each (shared ? 0 : type, bytes, size, header->data);
    }
    bytes += size;
    n -= head + size;
  }
  return TRUE;
}

/* The first block: "OHDR", or without a signature. */
static gboolean
walk_first (Header *header, guint64 at)
{
  g_auto (NdHdf5Block) block = { 0 };
  guint64 begin, size;

  if (!nd_hdf5_block_load (&block, header->file, at, 16))
    return FALSE;
  if (has_signature (&block, "OHDR") && block.bytes[4] == 2) {
    guint width;

    header->version = 2;
    header->flags = block.bytes[5];
    width = 1 << (header->flags & 3);
    begin =
        6 + (header->flags & 0x20 ? 16 : 0) + (header->flags & 0x10 ? 4 : 0);
    if (!nd_hdf5_block_load (&block, header->file, at + begin, width))
      return FALSE;
    size = nd_hdf5_number (block.bytes, width);
    begin += width;
  } else if (block.bytes[0] == 1) {
    header->version = 1;
    size = nd_hdf5_number (block.bytes + 8, 4);
    begin = 16;
  } else {
    return FALSE;
  }
  return nd_hdf5_block_load (&block, header->file, at + begin, size)
      && walk_messages (header, block.bytes, block.n);
}

gboolean
nd_hdf5_file_messages (NdHdf5File *file, guint64 at, NdHdf5Each each,
    gpointer data)
{
  Header header = { .file = file, .each = each, .data = data };

  if (at > G_MAXINT64 || !walk_first (&header, at))
    return FALSE;
  for (guint i = 0; i < header.n_next && !header.stopped; i++) {
    g_auto (NdHdf5Block) block = { 0 };
    /* "OCHK" before them and a sum after them. */
    const gsize around = header.version == 2 ? 4 : 0;

    if (!nd_hdf5_block_load (&block, file, header.next[i][0], header.next[i][1])
        || (around > 0 && !has_signature (&block, "OCHK"))
        || block.n < 2 * around
        || !walk_messages (&header, block.bytes + around, block.n - 2 * around))
      return FALSE;
  }
  return TRUE;
}

/* Groups */

/* Returns TRUE to stop. */
typedef gboolean (*EachLink) (const gchar *name, guint64 at, gpointer data);

typedef struct
{
  NdHdf5File *file;
  EachLink each;
  gpointer data;
  guint64 tree, heap; /* of a symbol table */
  gboolean stopped;
} Group;

static gboolean
walk_symbols (Group *group, const NdHdf5Block *names, guint64 at)
{
  g_auto (NdHdf5Block) block = { 0 };
  guint n;

  if (!nd_hdf5_block_load (&block, group->file, at, 8)
      || !has_signature (&block, "SNOD"))
    return FALSE;
  n = nd_hdf5_number (block.bytes + 6, 2);
  if (n == 0)
    return TRUE;
  if (!nd_hdf5_look (group->file, n)
      || !nd_hdf5_block_load (&block, group->file, at + 8, n * SYMBOL_BYTES))
    return FALSE;
  for (guint i = 0; i < n && !group->stopped; i++) {
    const guint8 *symbol = block.bytes + i * SYMBOL_BYTES;
    const guint64 name = nd_hdf5_number (symbol, 8);

    if (name >= names->n || !memchr (names->bytes + name, 0, names->n - name))
      return FALSE;
    if (nd_hdf5_number (symbol + 16, 4) != SYMBOL_SOFT_LINK)
      group->stopped = group->each ((const gchar *) names->bytes + name,
          nd_hdf5_number (symbol + 8, 8), group->data);
  }
  return TRUE;
}

/* @level: above that of the node. */
static gboolean
walk_tree (Group *group, const NdHdf5Block *names, guint64 at, guint level)
{
  g_auto (NdHdf5Block) block = { 0 };
  guint n, own;

  if (at > G_MAXINT64
      || !nd_hdf5_block_load (&block, group->file, at, TREE_BYTES)
      || !has_signature (&block, "TREE") || block.bytes[4] != 0
      || block.bytes[5] >= level)
    return FALSE;
  own = block.bytes[5];
  n = nd_hdf5_number (block.bytes + 6, 2);
  if (n == 0)
    return TRUE;
  if (!nd_hdf5_look (group->file, n)
      || !nd_hdf5_block_load (&block, group->file, at + TREE_BYTES, n * 16))
    return FALSE;
  for (guint i = 0; i < n && !group->stopped; i++) {
    const guint64 child = nd_hdf5_number (block.bytes + i * 16 + 8, 8);

    if (child > G_MAXINT64
        || !(own > 0 ? walk_tree (group, names, child, own)
                     : walk_symbols (group, names, child)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
walk_table (Group *group)
{
  g_auto (NdHdf5Block) names = { 0 };

  return nd_hdf5_block_load (&names, group->file, group->heap, 32)
      && has_signature (&names, "HEAP")
      && nd_hdf5_block_load (&names, group->file,
          nd_hdf5_number (names.bytes + 24, 8),
          nd_hdf5_number (names.bytes + 8, 8))
      && walk_tree (group, &names, group->tree, 256);
}

/* Compact: version, flags, [type], [order], [character set], length, name. */
static gboolean
take_link (Group *group, const guint8 *bytes, gsize n)
{
  gchar name[ND_HDF5_TEXT];
  gsize at = 2, length;
  guint width;

  if (n < 2 || bytes[0] != 1)
    return FALSE;
  width = 1 << (bytes[1] & 3);
  if (bytes[1] & 8) {
    if (n < 3 || bytes[2] != 0)
      return FALSE;
    at++;
  }
  at += (bytes[1] & 4 ? 8 : 0) + (bytes[1] & 16 ? 1 : 0);
  if (n < at + width)
    return FALSE;
  length = nd_hdf5_number (bytes + at, width);
  at += width;
  if (length >= sizeof (name) || n - at < length || n - at - length < 8)
    return FALSE;
  memcpy (name, bytes + at, length);
  name[length] = 0;
  return group->each (name, nd_hdf5_number (bytes + at + length, 8),
      group->data);
}

static gboolean
take_group (guint type, const guint8 *bytes, gsize n, gpointer data)
{
  Group *group = data;

  if (type == ND_HDF5_SYMBOL_TABLE && n >= 16) {
    group->tree = nd_hdf5_number (bytes, 8);
    group->heap = nd_hdf5_number (bytes + 8, 8);
  } else if (type == ND_HDF5_LINK) {
    group->stopped = take_link (group, bytes, n);
  }
  return group->stopped;
}

/* TRUE if @each stopped. */
static gboolean
walk_group (NdHdf5File *file, guint64 at, EachLink each, gpointer data)
{
  Group group = { file, each, data, UNDEFINED, UNDEFINED, FALSE };

  if (!nd_hdf5_file_messages (file, at, take_group, &group))
    return FALSE;
  if (!group.stopped && group.tree != UNDEFINED)
    walk_table (&group);
  return group.stopped;
}

typedef struct
{
  const gchar *name;
  gsize length;
  guint64 at;
} Wanted;

static gboolean
hdf5_file_is_wanted (const gchar *name, guint64 at, gpointer data)
{
  Wanted *wanted = data;

  wanted->at = at;
  return strlen (name) == wanted->length
      && memcmp (name, wanted->name, wanted->length) == 0;
}

gboolean
nd_hdf5_file_find (NdHdf5File *file, const gchar *path, guint64 *at)
{
  *at = file->root;
  while (*path) {
    Wanted wanted = { path, strcspn (path, "/"), 0 };

    if (!walk_group (file, *at, hdf5_file_is_wanted, &wanted))
      return FALSE;
    *at = wanted.at;
    path += wanted.length + (path[wanted.length] == '/');
  }
  return TRUE;
}

gboolean
nd_hdf5_file_has (NdHdf5File *file, const gchar *path)
{
  guint64 at;

  return nd_hdf5_file_find (file, path, &at);
}

typedef struct
{
  const gchar *prefix;
  NdList *numbers;
} Numbering;

static gboolean
add_number (const gchar *name, guint64 at, gpointer data)
{
  Numbering *numbering = data;
  const gsize n = strlen (numbering->prefix);
  guint64 number;
  guint32 value;

  if (strncmp (name, numbering->prefix, n) != 0
      || !g_ascii_string_to_unsigned (name + n, 10, 0, G_MAXUINT32 - 1, &number,
          NULL))
    return FALSE;
  value = number;
  return !nd_list_add (numbering->numbers, value)
      || numbering->numbers->len == MAX_NUMBERS;
}

static gint
hdf5_file_compare (gconstpointer a, gconstpointer b)
{
  const guint32 first = *(const guint32 *) a, second = *(const guint32 *) b;

  return first < second ? -1 : first > second;
}

gboolean
nd_hdf5_file_number (NdHdf5File *file, const gchar *path, const gchar *prefix,
    NdList *numbers)
{
  Numbering numbering = { prefix, numbers };
  guint64 at;

  if (nd_hdf5_file_find (file, path, &at))
    walk_group (file, at, add_number, &numbering);
  if (numbers->len > 0)
    qsort (numbers->data, numbers->len, sizeof (guint32), hdf5_file_compare);
  return !numbers->failed;
}

typedef struct
{
  NdHdf5File *file;
  const gchar *has;
  gchar *name;
} Search;

static gboolean
has_link (const gchar *name, guint64 at, gpointer data)
{
  const Search *search = data;
  Wanted wanted = { search->has, strlen (search->has), 0 };

  if (strlen (name) >= ND_HDF5_TEXT
      || !walk_group (search->file, at, hdf5_file_is_wanted, &wanted))
    return FALSE;
  strcpy (search->name, name);
  return TRUE;
}

gboolean
nd_hdf5_file_with (NdHdf5File *file, const gchar *has, gchar name[ND_HDF5_TEXT])
{
  Search search = { file, has, name };

  return walk_group (file, file->root, has_link, &search);
}

/* Attributes */

typedef struct
{
  NdHdf5EachText each;
  gpointer data;
} Texts;

/* Version, flags, sizes of the name, the type and the space, [character set],
 * and these; in version 1 each of them takes multiples of 8 bytes. */
static gboolean
take_attribute (guint type, const guint8 *bytes, gsize n, gpointer data)
{
  const Texts *texts = data;
  const guint version = n >= 9 ? bytes[0] : 0;
  gsize at = version == 3 ? 9 : 8, sizes[3], places[3], length;
  gchar text[ND_HDF5_TEXT];
  const gchar *name;

  if (type != ND_HDF5_ATTRIBUTE || version < 1 || version > 3
      || (version > 1 && bytes[1] != 0))
    return FALSE;
  for (guint i = 0; i < 3; i++) {
    sizes[i] = nd_hdf5_number (bytes + 2 + 2 * i, 2);
    places[i] = at;
    at += version == 1 ? (sizes[i] + 7) & ~(gsize) 7 : sizes[i];
  }
  if (at > n || sizes[0] == 0 || bytes[places[0] + sizes[0] - 1] != 0)
    return FALSE;
  name = (const gchar *) bytes + places[0];
  /* A text of fixed length (class 3), or several. */
  length = n - at;
  if (sizes[1] < 8 || (bytes[places[1]] & 15) != 3 || length >= sizeof (text))
    return texts->each (name, NULL, texts->data);
  memcpy (text, bytes + at, length);
  text[length] = 0;
  return texts->each (name, text, texts->data);
}

gboolean
nd_hdf5_file_texts (NdHdf5File *file, const gchar *path, NdHdf5EachText each,
    gpointer data)
{
  Texts texts = { each, data };
  guint64 at;

  if (!nd_hdf5_file_find (file, path, &at))
    return file->left > 0;
  return nd_hdf5_file_messages (file, at, take_attribute, &texts);
}

typedef struct
{
  const gchar *name;
  gchar *text;
  gboolean found;
} WantedText;

static gboolean
is_wanted_text (const gchar *name, const gchar *text, gpointer data)
{
  WantedText *wanted = data;

  if (strcmp (name, wanted->name) != 0)
    return FALSE;
  wanted->found = text != NULL;
  if (text)
    strcpy (wanted->text, text);
  return TRUE;
}

gboolean
nd_hdf5_file_text (NdHdf5File *file, const gchar *path, const gchar *attribute,
    gchar text[ND_HDF5_TEXT])
{
  WantedText wanted = { attribute, text, FALSE };

  return nd_hdf5_file_texts (file, path, is_wanted_text, &wanted)
      && wanted.found;
}
