/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/npy.h"

#include "core/error.h"
#include "formats/headertext.h"
#include "formats/npyheader.h"

#include <string.h>

#define ALIGN 64
#define PREFIX 10 /* magic, version 1.0, length of the dictionary */

static gboolean
npy_parse_type (NdHeader *header, const NdNpyHeader *npy, GError **error)
{
  static const NdStoredType integers[2][4] = {
    { ND_STORED_INT8, ND_STORED_INT16, ND_STORED_INT32, ND_STORED_INT64 },
    { ND_STORED_UINT8, ND_STORED_UINT16, ND_STORED_UINT32, ND_STORED_UINT64 },
  };
  NdStored *stored = &header->stored;
  gboolean swapped;
  gsize bytes;
  gchar kind;

  if (!nd_npy_parse_type (npy->descr, &kind, &bytes, &swapped)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It has samples of type %.40s; they must be integers (i1 to i8, u1 to "
        "u8), floats (f2, f4, f8) or complex numbers (c8, c16); save it with "
        "numpy.save (name, array.astype (numpy.float32))",
        npy->descr);
    return FALSE;
  }
  if (kind == 'i' || kind == 'u')
    stored->type = integers[kind == 'u'][g_bit_storage (bytes) - 1];
  else
    stored->type = bytes == 2 ? ND_STORED_FLOAT16
        : bytes == 4          ? ND_STORED_FLOAT32
                              : ND_STORED_FLOAT64;
  stored->swapped = swapped && bytes > 1;
  header->recording.shape.components = kind == 'c' ? 2 : 1;
  return TRUE;
}

/* Assigns the axes in the order of memory, the fastest first. */
static gboolean
npy_parse_shape (NdHeader *header, const NdNpyHeader *npy, GError **error)
{
  NdRecording *recording = &header->recording;
  gsize fastest[5] = { 0 };
  guint first = 0;

  if (npy->rank < 1 || npy->rank > 5
      || (npy->rank == 5 && recording->shape.components > 1)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It has an array of %u axes; a recording has the axes (y, x), "
        "(z, y, x), (t, z, y, x) or (t, z, y, x, components)",
        npy->rank);
    return FALSE;
  }
  for (guint i = 0; i < npy->rank; i++) {
    fastest[i] = npy->shape[npy->fortran_order ? i : npy->rank - 1 - i];
    if (fastest[i] == 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "It has an empty array (size 0 along an axis); each size must be 1 "
          "or more");
      return FALSE;
    }
  }
  header->z_or_time = npy->rank == 3;
  if (npy->rank == 5)
    recording->shape.components = fastest[first++];
  for (guint a = 0; a < 3 && first + a < npy->rank; a++)
    recording->shape.size[a] = fastest[first + a];
  if (first + 3 < npy->rank)
    recording->volumes = fastest[first + 3];
  return TRUE;
}

gboolean
nd_npy_parse (NdHeader *header, const guint8 *bytes, gsize n, const gchar *path,
    GError **error)
{
  NdNpyHeader npy = { NULL };
  gsize end = 0;
  gboolean ok;

  nd_header_init (header, "NumPy");
  ok = nd_npy_header_parse (&npy, bytes, n, &end, error)
      && npy_parse_type (header, &npy, error)
      && npy_parse_shape (header, &npy, error);
  g_free (npy.descr);
  if (!ok) {
    g_prefix_error (error, "\"%s\" cannot be read. ", path);
    return FALSE;
  }
  header->offset = end;
  return nd_header_settle (header, path, error);
}

/* Two floats are a complex number, as in the other formats. */
static gboolean
is_complex (const NdRecording *recording)
{
  return recording->shape.components == 2
      && (recording->type == ND_FLOAT32 || recording->type == ND_FLOAT64);
}

static const gchar *
npy_type_name (const NdRecording *recording)
{
  static const gchar *const names[ND_STREAM_TYPES] = {
    [ND_UINT8] = "u1",
    [ND_INT16] = "i2",
    [ND_UINT16] = "u2",
    [ND_FLOAT32] = "f4",
    [ND_INT8] = "i1",
    [ND_INT32] = "i4",
    [ND_UINT32] = "u4",
    [ND_FLOAT16] = "f2",
    [ND_FLOAT64] = "f8",
  };

  if (is_complex (recording))
    return recording->type == ND_FLOAT32 ? "c8" : "c16";
  return names[recording->type];
}

gboolean
nd_npy_supports (const NdRecording *recording, const gchar *path,
    GError **error)
{
  if (recording->responses == 1)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" cannot store the %u responses of a bank: the axes of .npy are "
      "t, z, y, x and components; write NRRD (.nrrd) or raw (.raw)",
      path, recording->responses);
  return FALSE;
}

void
nd_npy_build (GByteArray *bytes, const NdRecording *recording, gsize room)
{
  const gsize components =
      is_complex (recording) ? 1 : recording->shape.components;
  const gsize *size = recording->shape.size;
  g_autoptr (GString) text = g_string_new (NULL);
  guint8 prefix[PREFIX] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };

  g_string_append_printf (text,
      "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
      nd_sample_size (recording->type) == 1 ? '|'
          : G_BYTE_ORDER == G_LITTLE_ENDIAN ? '<'
                                            : '>',
      npy_type_name (recording));
  if (recording->volumes != 1 || components > 1)
    g_string_append_printf (text, "%" G_GUINT64_FORMAT ", ",
        recording->volumes);
  g_string_append_printf (text,
      "%" G_GSIZE_FORMAT ", %" G_GSIZE_FORMAT ", %" G_GSIZE_FORMAT, size[2],
      size[1], size[0]);
  if (components > 1)
    g_string_append_printf (text, ", %" G_GSIZE_FORMAT, components);
  g_string_append (text, "), }");
  while (PREFIX + text->len + 1 < room || (PREFIX + text->len + 1) % ALIGN != 0)
    g_string_append_c (text, ' ');
  g_string_append_c (text, '\n');
  prefix[8] = text->len & 0xff;
  prefix[9] = text->len >> 8;
  g_byte_array_append (bytes, prefix, PREFIX);
  g_byte_array_append (bytes, (const guint8 *) text->str, text->len);
}

/* NumPy's .npz: a zip archive with an .npy file for each array. The largest
 * array is a recording; stored arrays are read in place.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */

/* Sizes of the records without their names. */
#define END_SIZE 22
#define LOCATOR_SIZE 20
#define END64_SIZE 56
#define ENTRY_SIZE 46
#define LOCAL_SIZE 30

#define COMMENT_MAX 65535
#define DIRECTORY_MAX ((guint64) 64 << 20)
#define OTHERS_MAX 200

#define ENCRYPTED 1 /* a flag */
#define EXTRA_64 1
#define IN_EXTRA 0xffffffff

gboolean
nd_npz_detect (const guint8 *bytes, gsize n)
{
  return n >= 4
      && (memcmp (bytes, "PK\3\4", 4) == 0 || memcmp (bytes, "PK\5\6", 4) == 0);
}

void
nd_npz_member_clear (NdNpzMember *member)
{
  g_clear_pointer (&member->name, g_free);
  if (member->others)
    g_string_free (g_steal_pointer (&member->others), TRUE);
}

static guint64
npy_get (const guint8 *bytes, guint n)
{
  guint64 number = 0;

  while (n-- > 0)
    number = number << 8 | bytes[n];
  return number;
}

static gboolean
npy_read_at (NdInput *input, guint64 offset, guint8 *bytes, gsize n)
{
  nd_input_begin (input, offset, FALSE);
  return nd_input_read (input, bytes, n) == (gssize) n;
}

/* The record at the end of the archive; its place is in @at. NULL if there is
 * none. */
static const guint8 *
find_end (NdInput *input, NdList *tail, guint64 *at)
{
  const guint64 size = nd_input_size (input);

  if (!nd_list_set_size (tail, MIN (size, END_SIZE + COMMENT_MAX))
      || tail->len < END_SIZE
      || !npy_read_at (input, size - tail->len, tail->data, tail->len))
    return NULL;
  for (guint i = tail->len - END_SIZE + 1; i-- > 0;) {
    if (memcmp (tail->data + i, "PK\5\6", 4) != 0)
      continue;
    *at = size - tail->len + i;
    return tail->data + i;
  }
  return NULL;
}

/* The place and the size of the directory. */
static gboolean
find_directory (NdInput *input, NdBudget *budget, guint64 *offset,
    guint64 *size)
{
  g_autoptr (NdList) tail = nd_list_new (budget, 1);
  guint8 locator[LOCATOR_SIZE], wide[END64_SIZE];
  guint64 at;
  const guint8 *end = find_end (input, tail, &at);

  if (!end)
    return FALSE;
  *size = npy_get (end + 12, 4);
  *offset = npy_get (end + 16, 4);
  if (at >= LOCATOR_SIZE
      && npy_read_at (input, at - LOCATOR_SIZE, locator, LOCATOR_SIZE)
      && memcmp (locator, "PK\6\7", 4) == 0) {
    if (!npy_read_at (input, npy_get (locator + 8, 8), wide, END64_SIZE)
        || memcmp (wide, "PK\6\6", 4) != 0)
      return FALSE;
    *size = npy_get (wide + 40, 8);
    *offset = npy_get (wide + 48, 8);
  }
  return *size <= DIRECTORY_MAX && *offset <= nd_input_size (input)
      && *size <= nd_input_size (input) - *offset;
}

/* Sizes and offset that need 64 bits are in an extra field. */
static void
read_extra (const guint8 *extra, gsize n, guint64 *const numbers[3])
{
  gsize at = 0;

  while (at + 4 <= n && at + 4 + npy_get (extra + at + 2, 2) <= n) {
    const gsize size = npy_get (extra + at + 2, 2);
    const guint8 *values = extra + at + 4;
    gsize used = 0;

    for (guint i = 0; i < 3 && npy_get (extra + at, 2) == EXTRA_64; i++) {
      if (*numbers[i] != IN_EXTRA || used + 8 > size)
        continue;
      *numbers[i] = npy_get (values + used, 8);
      used += 8;
    }
    at += 4 + size;
  }
}

/* Adds a name to those of arrays that are not read. */
static void
add_other (NdNpzMember *chosen, const gchar *name)
{
  g_autofree gchar *quoted = nd_text_quote (name);

  if (!chosen->others)
    chosen->others = g_string_new (NULL);
  if (chosen->others->len < OTHERS_MAX)
    g_string_append_printf (chosen->others, "%s%s",
        chosen->others->len > 0 ? ", " : "", quoted);
}

/* Takes the array of an entry of the directory, if it is one and larger than
 * the chosen one. */
static void
take_entry (NdNpzMember *chosen, const guint8 *entry)
{
  const gsize length = npy_get (entry + 28, 2);
  NdNpzMember member = {
    .method = npy_get (entry + 8, 2) & ENCRYPTED
        ? ND_NPZ_ENCRYPTED
        : (gint) npy_get (entry + 10, 2),
    .sum = npy_get (entry + 16, 4),
    .packed = npy_get (entry + 20, 4),
    .size = npy_get (entry + 24, 4),
    .offset = npy_get (entry + 42, 4),
    .name = g_strndup ((const gchar *) entry + ENTRY_SIZE, length),
  };

  if (!g_str_has_suffix (member.name, ".npy")) {
    nd_npz_member_clear (&member);
    return;
  }
  member.name[strlen (member.name) - 4] = '\0';
  read_extra (entry + ENTRY_SIZE + length, npy_get (entry + 30, 2),
      (guint64 *const[]){ &member.size, &member.packed, &member.offset });
  if (chosen->name && member.size <= chosen->size) {
    add_other (chosen, member.name);
    nd_npz_member_clear (&member);
    return;
  }
  member.others = g_steal_pointer (&chosen->others);
  if (chosen->name)
    add_other (&member, chosen->name);
  nd_npz_member_clear (chosen);
  *chosen = member;
}

static gboolean
read_entries (NdNpzMember *chosen, const guint8 *bytes, gsize n)
{
  while (n >= ENTRY_SIZE && memcmp (bytes, "PK\1\2", 4) == 0) {
    const gsize size = ENTRY_SIZE + npy_get (bytes + 28, 2)
        + npy_get (bytes + 30, 2) + npy_get (bytes + 32, 2);

    if (size > n)
      return FALSE;
    take_entry (chosen, bytes);
    bytes += size;
    n -= size;
  }
  return n == 0;
}

static gboolean
set_damaged (const gchar *path, GError **error)
{
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "\"%s\" is a damaged or truncated zip archive: copy or save it again",
      path);
  return FALSE;
}

/* Replaces the offset of the member's header by the offset of its bytes. */
static gboolean
find_bytes (NdNpzMember *member, NdInput *input)
{
  const guint64 size = nd_input_size (input);
  guint8 local[LOCAL_SIZE];

  if (member->offset > size
      || !npy_read_at (input, member->offset, local, LOCAL_SIZE)
      || memcmp (local, "PK\3\4", 4) != 0)
    return FALSE;
  member->offset +=
      LOCAL_SIZE + npy_get (local + 26, 2) + npy_get (local + 28, 2);
  return member->offset <= size && member->packed <= size - member->offset
      && (member->method != ND_NPZ_STORED || member->packed == member->size);
}

gboolean
nd_npz_find (NdNpzMember *member, NdInput *input, NdBudget *budget,
    const gchar *path, GError **error)
{
  guint64 offset = 0, size = 0;
  guint8 *directory;
  gboolean ok;

  if (!find_directory (input, budget, &offset, &size))
    return budget->refused > 0 ? nd_budget_refuse (budget, path, error)
                               : set_damaged (path, error);
  directory = nd_budget_alloc (budget, size);
  if (!directory)
    return nd_budget_refuse (budget, path, error);
  ok = npy_read_at (input, offset, directory, size)
      && read_entries (member, directory, size);
  nd_budget_free (budget, directory, size);
  if (!ok)
    return set_damaged (path, error);
  if (!member->name
      || (member->method != ND_NPZ_STORED
          && member->method != ND_NPZ_DEFLATED)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is a zip archive %s: unpack it (unzip)", path,
        !member->name ? "without an array of NumPy (.npz)"
            : member->method == ND_NPZ_ENCRYPTED
            ? "that is encrypted"
            : "that is not packed by deflate");
    return FALSE;
  }
  return find_bytes (member, input) || set_damaged (path, error);
}
