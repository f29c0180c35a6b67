/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/filenames.h"

#include "core/error.h"
#include "formats/recording.h"

#include <stdlib.h>
#include <string.h>

/* Micro-Manager 1.4: img_, a time of 9 digits, a channel, a slice of 3. */
#define OLD_BEGIN "img_"
#define OLD_TIME 9
#define OLD_SLICE 3

/* 64-bit FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
#define HASH_BASIS G_GUINT64_CONSTANT (14695981039346656037)
#define HASH_PRIME G_GUINT64_CONSTANT (1099511628211)

/* A series has at least this part of the files that its numbers span. */
#define MISSING_MOST 4

#define CHANNELS_MAX 256

/* What stands before a number says what it counts. */
static const struct
{
  const gchar *word;
  gchar axis;
} words[] = {
  { "t", 't' },
  { "time", 't' },
  { "timepoint", 't' },
  { "tp", 't' },
  { "frame", 't' },
  { "z", 'z' },
  { "slice", 'z' },
  { "plane", 'z' },
  { "c", 'c' },
  { "ch", 'c' },
  { "channel", 'c' },
  { "w", 'c' },
  { "p", 'p' },
  { "pos", 'p' },
  { "position", 'p' },
};

static guint64
add_to_hash (guint64 hash, gchar c)
{
  return (hash ^ (guchar) c) * HASH_PRIME;
}

static gboolean
are_digits (const gchar *text, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    if (!g_ascii_isdigit (text[i]))
      return FALSE;
  }
  return TRUE;
}

static void
add_number (NdFileName *file, gsize begin)
{
  if (file->n == ND_FILE_NUMBERS) {
    memmove (file->numbers, file->numbers + 1,
        sizeof (file->numbers) - sizeof (*file->numbers));
    memmove (file->begins, file->begins + 1,
        sizeof (file->begins) - sizeof (*file->begins));
    file->n--;
  }
  file->begins[file->n] = begin;
  file->numbers[file->n++] = g_ascii_strtoull (file->name + begin, NULL, 10);
}

/* Micro-Manager 1.4, whose channel is a text that may have numbers. */
static gboolean
parse_old (NdFileName *file)
{
  const gsize first = strlen (OLD_BEGIN), after = first + OLD_TIME + 1;
  const gchar *name = file->name, *dot = strrchr (name, '.');
  const gsize length = dot ? dot - name : 0;

  if (!g_str_has_prefix (name, OLD_BEGIN) || length < after + OLD_SLICE + 2
      || !are_digits (name + first, OLD_TIME) || name[after - 1] != '_'
      || !are_digits (dot - OLD_SLICE, OLD_SLICE) || dot[-OLD_SLICE - 1] != '_')
    return FALSE;
  add_number (file, first);
  add_number (file, length - OLD_SLICE);
  file->channel = after;
  file->channel_length = length - OLD_SLICE - 1 - after;
  file->kind = HASH_BASIS;
  return TRUE;
}

static void
parse_name (NdFileName *file)
{
  const gchar *name = file->name;

  if (parse_old (file))
    return;
  file->kind = HASH_BASIS;
  for (gsize i = 0; name[i]; i++) {
    if (!g_ascii_isdigit (name[i])) {
      file->kind = add_to_hash (file->kind, name[i]);
      continue;
    }
    add_number (file, i);
    file->kind = add_to_hash (file->kind, '0');
    while (g_ascii_isdigit (name[i + 1]))
      i++;
  }
}

gboolean
nd_file_names_is_pattern (const gchar *path)
{
  const gchar *percent = strrchr (path, '%');

  if (!percent || strchr (percent, G_DIR_SEPARATOR))
    return FALSE;
  percent++;
  while (g_ascii_isdigit (*percent))
    percent++;
  return *percent == 'd' && !g_file_test (path, G_FILE_TEST_EXISTS);
}

/* Whether @name is @pattern with a number: of at least as many digits as %04d
 * says. */
static gboolean
matches (const gchar *pattern, const gchar *name)
{
  const gchar *percent = strrchr (pattern, '%');
  const gsize before = percent - pattern, length = strlen (name);
  gchar *after;
  const guint64 width = g_ascii_strtoull (percent + 1, &after, 10);
  const gsize rest = strlen (after + 1);

  return length > before + rest && length - before - rest >= MAX (width, 1)
      && strncmp (name, pattern, before) == 0
      && are_digits (name + before, length - before - rest)
      && strcmp (name + length - rest, after + 1) == 0;
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  const NdFileName *first = a, *second = b;

  if (first->kind != second->kind)
    return first->kind < second->kind ? -1 : 1;
  for (guint i = 0; i < MIN (first->n, second->n); i++) {
    if (first->numbers[i] != second->numbers[i])
      return first->numbers[i] < second->numbers[i] ? -1 : 1;
  }
  return strcmp (first->name, second->name);
}

static gboolean
list_files (NdFileNames *names, const gchar *path, const gchar *pattern,
    GError **error)
{
  g_autoptr (GDir) folder = g_dir_open (names->folder, 0, NULL);
  const gchar *name;

  if (!folder) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
        "The folder \"%s\" cannot be opened", names->folder);
    return FALSE;
  }
  while ((name = g_dir_read_name (folder))) {
    NdFileName file = { 0 };

    if (*name == '.' || strlen (name) >= sizeof (file.name)
        || !(pattern ? matches (pattern, name) : nd_recording_is_named (name)))
      continue;
    if (!nd_header_check_files (path, names->files->len + 1, error))
      return FALSE;
    strcpy (file.name, name);
    parse_name (&file);
    if (!nd_list_add (names->files, file))
      return nd_budget_refuse (names->files->budget, path, error);
  }
  return TRUE;
}

/* Keeps the names of the kind that has most files. */
static void
choose_kind (NdFileNames *names, NdHeader *header, const gchar *path)
{
  NdList *files = names->files;
  NdFileName *file = (NdFileName *) files->data;
  guint best = 0, most = 0, begin = 0;

  if (files->len == 0)
    return;
  qsort (file, files->len, sizeof (*file), compare_numbers);
  for (guint i = 1; i <= files->len; i++) {
    if (i < files->len && file[i].kind == file[begin].kind)
      continue;
    if (i - begin > most) {
      most = i - begin;
      best = begin;
    }
    begin = i;
  }
  if (most < files->len)
    nd_header_warn (header,
        "\"%s\" has files of several names: those like \"%s\" are read, and %u "
        "others are not",
        path, file[best].name, files->len - most);
  memmove (file, file + best, most * sizeof (*file));
  nd_list_set_size (files, most);
}

/* Axes */

typedef struct
{
  gchar axis;     /* t, z, c, p; '?': the names do not say it */
  guint number;   /* which of the numbers */
  NdList *values; /* guint64, ascending, each once */
} Axis;

static gint
compare_values (gconstpointer a, gconstpointer b)
{
  const guint64 *first = a, *second = b;

  return *first < *second ? -1 : *first > *second;
}

/* The position of @value in ascending values. */
static guint
place_of (const NdList *values, guint64 value)
{
  const guint64 *found = bsearch (&value, values->data, values->len,
      sizeof (value), compare_values);

  return found - (const guint64 *) values->data;
}

static gboolean
set_values (Axis *axis, const NdFileNames *names)
{
  const NdFileName *file = (const NdFileName *) names->files->data;
  guint64 *value;
  guint n = 0;

  axis->values = nd_list_new (names->files->budget, sizeof (guint64));
  if (!nd_list_set_size (axis->values, names->files->len))
    return FALSE;
  value = (guint64 *) axis->values->data;
  for (guint i = 0; i < names->files->len; i++)
    value[i] = file[i].numbers[axis->number];
  qsort (value, names->files->len, sizeof (*value), compare_values);
  for (guint i = 0; i < names->files->len; i++) {
    if (i == 0 || value[i] != value[n - 1])
      value[n++] = value[i];
  }
  return nd_list_set_size (axis->values, n);
}

/* The axis by the word before the number. */
static gchar
axis_of (const NdFileName *file, guint number)
{
  const gchar *end = file->name + file->begins[number], *begin;

  if (file->channel_length > 0)
    return number == 0 ? 't' : 'z';
  while (end > file->name && strchr ("_-=", end[-1]))
    end--;
  begin = end;
  while (begin > file->name && g_ascii_isalpha (begin[-1]))
    begin--;
  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    if (strlen (words[i].word) == (gsize) (end - begin)
        && g_ascii_strncasecmp (begin, words[i].word, end - begin) == 0)
      return words[i].axis;
  }
  return '?';
}

/* Each number that is not the same in all names. */
static guint
find_axes (const NdFileNames *names, Axis *axes, gboolean *ok)
{
  const NdFileName *file = (const NdFileName *) names->files->data;
  guint n = 0;

  for (guint i = 0; i < file->n && *ok; i++) {
    Axis axis = { axis_of (file, i), i, NULL };

    *ok = set_values (&axis, names);
    if (axis.values->len > 1)
      axes[n++] = axis;
    else
      nd_list_free (axis.values);
  }
  return n;
}

static const Axis *
find_axis (const Axis *axes, guint n, gchar name)
{
  for (guint i = 0; i < n; i++) {
    if (axes[i].axis == name)
      return &axes[i];
  }
  return NULL;
}

static gboolean
are_named (const Axis *axes, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (axes[i].axis == '?' || find_axis (axes, i, axes[i].axis))
      return FALSE;
  }
  return n > 0;
}

/* Of several positions of a stage the first one is read. */
static void
keep_position (NdFileNames *names, NdHeader *header, const Axis *positions)
{
  NdFileName *file = (NdFileName *) names->files->data;
  const guint64 first = g_array_index (positions->values, guint64, 0);
  guint n = 0;

  for (guint i = 0; i < names->files->len; i++) {
    if (file[i].numbers[positions->number] == first)
      file[n++] = file[i];
  }
  nd_header_warn (header, "\"%s\" has %u positions: the first one is read",
      names->folder, positions->values->len);
  nd_list_set_size (names->files, n);
}

/* The text of a channel, whose place in @known orders it. */
typedef struct
{
  const gchar *text; /* in a name */
  gsize length;
  guint known;
} Channel;

static gint
compare_channels (gconstpointer a, gconstpointer b)
{
  const Channel *first = a, *second = b;
  const gint order =
      memcmp (first->text, second->text, MIN (first->length, second->length));

  if (first->known != second->known)
    return first->known < second->known ? -1 : 1;
  return order != 0 ? order : (gint) first->length - (gint) second->length;
}

/* The channel of @file; list->len if the list has it not. */
static guint
channel_of (const NdList *list, const NdFileName *file)
{
  const Channel *channels = (const Channel *) list->data;
  guint i = 0;

  while (i < list->len
      && !(channels[i].length == file->channel_length
          && memcmp (channels[i].text, file->name + file->channel,
                 channels[i].length)
              == 0))
    i++;
  return i;
}

/* The channels of Micro-Manager 1.4: in the order of @known, then in that of
 * the alphabet. More than CHANNELS_MAX are the times or slices of another
 * program. */
static NdList *
find_channels (const NdFileNames *names, const gchar *const *known)
{
  const NdFileName *file = (const NdFileName *) names->files->data;
  NdList *channels = nd_list_new (names->files->budget, sizeof (Channel));

  for (guint i = 0; i < names->files->len && !channels->failed; i++) {
    Channel channel = { file[i].name + file[i].channel, file[i].channel_length,
      0 };

    if (channel_of (channels, &file[i]) < channels->len)
      continue;
    channels->failed |= channels->len == CHANNELS_MAX;
    while (known && known[channel.known]
        && (strlen (known[channel.known]) != channel.length
            || memcmp (known[channel.known], channel.text, channel.length)
                != 0))
      channel.known++;
    nd_list_add (channels, channel);
  }
  qsort (channels->data, channels->len, sizeof (Channel), compare_channels);
  return channels;
}

static guint64
number_on (const Axis *axis, const NdFileName *file)
{
  return axis ? place_of (axis->values, file->numbers[axis->number]) : 0;
}

static gboolean
refuse_channels (const NdFileNames *names, const NdList *channels,
    GError **error)
{
  if (channels->len < CHANNELS_MAX)
    return nd_budget_refuse (channels->budget, names->folder, error);
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The files of Micro-Manager in \"%s\" have more than %d channels: the "
      "names must be img_TIME_CHANNEL_SLICE.tif",
      names->folder, CHANNELS_MAX);
  return FALSE;
}

/* Gives each file its place in time, slices and channels. */
static gboolean
place_files (NdFileNames *names, NdHeader *header, const Axis *axes, guint n,
    const gchar *const *known, GError **error)
{
  const NdFileName *file = (const NdFileName *) names->files->data;
  const Axis *t = find_axis (axes, n, 't'), *z = find_axis (axes, n, 'z');
  const Axis *c = find_axis (axes, n, 'c');
  const guint files = names->files->len;
  g_autoptr (NdList) channels =
      file->channel_length > 0 ? find_channels (names, known) : NULL;
  guint64 planes;

  if (channels && channels->failed)
    return refuse_channels (names, channels, error);
  names->volumes = t ? t->values->len : 1;
  names->slices = z ? z->values->len : 1;
  names->channels = c ? c->values->len : channels ? channels->len : 1;
  planes = names->volumes * names->slices;
  if (!g_uint64_checked_mul (&planes, planes, names->channels)
      || planes > (guint64) MISSING_MOST * files) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The numbers in the names of the %u files in \"%s\" count "
        "%" G_GUINT64_FORMAT " times, %" G_GUINT64_FORMAT
        " slices and %" G_GUINT64_FORMAT
        " channels, of which most have no file: put the files of one recording "
        "into a folder of their own",
        files, names->folder, names->volumes, names->slices, names->channels);
    return FALSE;
  }
  if (!nd_list_set_size (names->planes, planes))
    return nd_budget_refuse (names->planes->budget, names->folder, error);
  memset (names->planes->data, 0xff, planes * sizeof (guint32));
  for (guint i = 0; i < files; i++) {
    const guint64 channel =
        channels ? channel_of (channels, &file[i]) : number_on (c, &file[i]);
    const guint64 plane =
        number_on (t, &file[i]) * names->slices + number_on (z, &file[i]);

    g_array_index (names->planes, guint32, plane * names->channels + channel) =
        i;
  }
  if (planes > files)
    nd_header_warn (header,
        "\"%s\" lacks %" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT
        " files that its names count: their samples are 0",
        names->folder, planes - files, planes);
  names->named = TRUE;
  return TRUE;
}

/* One after the other, as the names are ordered. */
static gboolean
line_up (NdFileNames *names, NdHeader *header, const Axis *axes, guint n,
    GError **error)
{
  const guint files = names->files->len;

  names->volumes = files;
  names->slices = names->channels = 1;
  if (!nd_list_set_size (names->planes, files))
    return nd_budget_refuse (names->planes->budget, names->folder, error);
  for (guint32 i = 0; i < files; i++)
    g_array_index (names->planes, guint32, i) = i;
  if (n == 1) {
    const NdList *values = axes->values;
    const guint64 span = g_array_index (values, guint64, values->len - 1)
        - g_array_index (values, guint64, 0);

    if (span >= values->len)
      nd_header_warn (header,
          "The numbers in the names of the files in \"%s\" are not continuous: "
          "%u files follow each other",
          names->folder, files);
  }
  return TRUE;
}

static gboolean
settle_axes (NdFileNames *names, NdHeader *header, const gchar *const *channels,
    GError **error)
{
  const NdFileName *first = (const NdFileName *) names->files->data;
  Axis axes[ND_FILE_NUMBERS] = { 0 };
  gboolean ok = TRUE;
  guint n = find_axes (names, axes, &ok);
  const Axis *positions = find_axis (axes, n, 'p');
  const gboolean named = are_named (axes, n) || first->channel_length > 0;

  if (!ok)
    nd_budget_refuse (names->files->budget, names->folder, error);
  else if (named && positions)
    keep_position (names, header, positions);
  if (ok)
    ok = named ? place_files (names, header, axes, n, channels, error)
               : line_up (names, header, axes, n, error);
  for (guint i = 0; i < n; i++)
    nd_list_free (axes[i].values);
  return ok;
}

static void
refuse_folder (const gchar *path, GError **error)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  g_autofree gchar *first = NULL, *advice = NULL;
  const gchar *name;

  while (folder && (name = g_dir_read_name (folder))) {
    g_autofree gchar *inside = g_build_filename (path, name, NULL);

    if (*name != '.' && (!first || strcmp (name, first) < 0)
        && g_file_test (inside, G_FILE_TEST_IS_DIR)) {
      g_free (first);
      first = g_strdup (name);
    }
  }
  if (first)
    advice = g_strdup_printf (": name a folder in it, such as \"%s\"", first);
  g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
      "\"%s\" is a folder without OME-Zarr, pictures of DICOM or several "
      "files whose names differ in numbers, like img_0001.tif%s",
      path, advice ? advice : "");
}

gboolean
nd_file_names_find (NdFileNames *names, NdHeader *header, const gchar *path,
    const gchar *const *channels, GError **error)
{
  const gboolean is_folder = g_file_test (path, G_FILE_TEST_IS_DIR);
  g_autofree gchar *pattern = is_folder ? NULL : g_path_get_basename (path);

  names->folder = is_folder ? g_strdup (path) : g_path_get_dirname (path);
  names->files = nd_list_new (&header->budget, sizeof (NdFileName));
  names->planes = nd_list_new (&header->budget, sizeof (guint32));
  if (!list_files (names, path, pattern, error))
    return FALSE;
  choose_kind (names, header, path);
  if (is_folder && names->files->len < 2) {
    refuse_folder (path, error);
    return FALSE;
  }
  if (names->files->len < 1) {
    g_set_error (error, ND_ERROR, ND_ERROR_NOT_FOUND,
        "No file has a name like \"%s\" with a number for %%d", path);
    return FALSE;
  }
  return settle_axes (names, header, channels, error);
}

void
nd_file_names_clear (NdFileNames *names)
{
  g_clear_pointer (&names->folder, g_free);
  g_clear_pointer (&names->files, nd_list_free);
  g_clear_pointer (&names->planes, nd_list_free);
}
