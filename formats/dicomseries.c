/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicomseries.h"

#include "core/error.h"
#include "formats/dicom.h"
#include "formats/dicomaxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Positions that differ by less are the same. */
#define SAME_PLACE 1e-3 /* mm */

/* Distances of slices may differ by this part of them. */
#define UNEVEN 0.02

#define NANOSECONDS 1e9
#define TIME_DIGIT 1000
#define NAME_MAX_BYTES 256

typedef struct
{
  gchar name[NAME_MAX_BYTES];
  guint series; /* a hash of its number */
  gboolean scaled;
  guint columns, rows, frames;
  gdouble position[3], orientation[6]; /* 0: it has none */
  gdouble place;
  guint temporal, instance;
  gdouble trigger, acquired;
} File;

typedef struct
{
  NdSlices base;
  NdBudget *budget;
  gchar *path;
  NdList *files; /* File, volume after volume */
  NdSampleType type;
  NdShape shape; /* of a slice */
  gboolean scaled;
  guint8 *stored; /* a slice as it is in its file */
  gsize stored_size;
  gchar *reason;
} Series;

static void
free_series (NdSlices *slices)
{
  Series *series = (Series *) slices;

  g_clear_pointer (&series->files, nd_list_free);
  nd_budget_free (series->budget, series->stored, series->stored_size);
  g_free (series->path);
  g_free (series->reason);
  g_free (series);
}

/* Reading */

/* The samples of a file are converted if any file is scaled. */
static void
settle_scale (const Series *series, NdStored *stored)
{
  if (!series->scaled || stored->scaled)
    return;
  stored->scaled = TRUE;
  stored->slope = 1;
  stored->intercept = 0;
}

static gboolean
read_stored (Series *series, NdInput *input, NdHeader *header, GError **error)
{
  const gsize size = nd_header_volume_bytes (header);
  const gchar *reason = "it is truncated";

  if (!nd_budget_reuse (series->budget, &series->stored, &series->stored_size,
          size))
    return nd_budget_refuse (series->budget, series->path, error);
  if (header->slices) {
    if (header->slices->read (header->slices, 0, series->stored, &reason))
      return TRUE;
  } else {
    nd_input_begin (input, header->offset, FALSE);
    if (nd_input_read (input, series->stored, size) == (gssize) size)
      return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_READ, "%s", reason);
  return FALSE;
}

static gboolean
read_file (Series *series, const gchar *path, guint8 *samples, GError **error)
{
  g_auto (NdHeader) header = { 0 };
  g_autoptr (NdInput) input = nd_input_open (path, FALSE, error);
  const NdShape *shape = &header.recording.shape;
  const gsize n =
      series->shape.components * series->shape.size[0] * series->shape.size[1];

  nd_budget_init (&header.budget, MAX (nd_budget_left (series->budget), 1));
  if (!input || !nd_dicom_open (&header, input, path, error))
    return FALSE;
  settle_scale (series, &header.stored);
  if (memcmp (shape, &series->shape, sizeof (*shape)) != 0
      || nd_stored_becomes (&header.stored) != series->type) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "its size or type is not that of the first file");
    return FALSE;
  }
  if (!read_stored (series, input, &header, error))
    return FALSE;
  nd_stored_convert (&header.stored, samples, series->stored, n);
  return TRUE;
}

static gboolean
read_slice (NdSlices *slices, guint64 slice, guint8 *samples,
    const gchar **reason)
{
  Series *series = (Series *) slices;
  const File *file = &g_array_index (series->files, File, slice);
  g_autofree gchar *path = g_build_filename (series->path, file->name, NULL);
  g_autoptr (GError) error = NULL;

  if (read_file (series, path, samples, &error))
    return TRUE;
  g_free (series->reason);
  series->reason = g_strdup_printf ("\"%s\": %s", path, error->message);
  *reason = series->reason;
  return FALSE;
}

/* Files */

/* FALSE if the budget has no memory. */
static gboolean
add_file (Series *series, const gchar *name)
{
  g_autofree gchar *path = g_build_filename (series->path, name, NULL);
  g_autoptr (NdInput) input = nd_input_open (path, FALSE, NULL);
  NdDicomBytes bytes = { .input = input, .budget = series->budget };
  NdDicomElements elements;
  guint8 begin[132];
  File file = { 0 };
  gboolean ok;

  if (!input || strlen (name) >= sizeof (file.name)
      || nd_input_read (input, begin, sizeof (begin)) != sizeof (begin)
      || !nd_dicom_detect (begin, sizeof (begin)))
    return TRUE;
  ok = nd_dicom_elements_read (&elements, &bytes);
  if (ok && elements.pixels > 0) {
    strcpy (file.name, name);
    file.series = g_str_hash (elements.series);
    file.scaled = elements.common.scaled
        && (elements.common.slope != 1 || elements.common.intercept != 0);
    file.columns = elements.columns;
    file.rows = elements.rows;
    file.frames = elements.n_frames;
    file.place = elements.common.placed
        ? nd_dicom_axes_place (&elements, &elements.common)
        : elements.instance;
    memcpy (file.position, elements.common.position, sizeof (file.position));
    memcpy (file.orientation, elements.orientation, sizeof (file.orientation));
    file.temporal = elements.temporal;
    file.instance = elements.instance;
    file.trigger = elements.trigger;
    file.acquired = elements.acquired;
    ok = nd_list_add (series->files, file);
  }
  nd_dicom_elements_clear (&elements);
  nd_dicom_bytes_clear (&bytes);
  return ok;
}

gboolean
nd_dicom_series_detect (const gchar *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  gboolean found = FALSE;
  const gchar *name;

  while (folder && !found && (name = g_dir_read_name (folder))) {
    g_autofree gchar *file = g_build_filename (path, name, NULL);
    g_autoptr (NdInput) input = nd_input_open (file, FALSE, NULL);
    guint8 begin[132];

    found = input
        && nd_input_read (input, begin, sizeof (begin)) == sizeof (begin)
        && nd_dicom_detect (begin, sizeof (begin));
  }
  return found;
}

static gboolean
find_files (Series *series, GError **error)
{
  g_autoptr (GDir) folder = g_dir_open (series->path, 0, NULL);
  const gchar *name;

  if (!folder) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
        "The folder \"%s\" cannot be opened", series->path);
    return FALSE;
  }
  while ((name = g_dir_read_name (folder))) {
    if (!nd_header_check_files (series->path, series->files->len + 1, error))
      return FALSE;
    if (!add_file (series, name))
      return nd_budget_refuse (series->budget, series->path, error);
  }
  if (series->files->len > 0)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
      "\"%s\" is a folder of DICOM without pictures: read a folder whose files "
      "have them",
      series->path);
  return FALSE;
}

static gint
compare_series (gconstpointer a, gconstpointer b)
{
  const File *first = a, *second = b;

  return first->series != second->series
      ? (first->series < second->series ? -1 : 1)
      : strcmp (first->name, second->name);
}

/* Keeps the series with the most files. */
static void
choose_series (Series *series, NdHeader *header)
{
  NdList *files = series->files;
  File *file = (File *) files->data;
  guint best = 0, most = 0, begin = 0;

  qsort (file, files->len, sizeof (*file), compare_series);
  for (guint i = 1; i <= files->len; i++) {
    if (i < files->len && file[i].series == file[begin].series)
      continue;
    if (i - begin > most) {
      most = i - begin;
      best = begin;
    }
    begin = i;
  }
  if (most < files->len)
    nd_header_warn (header,
        "\"%s\" has several series: the one with most files is read, and %u "
        "files of others are not",
        series->path, files->len - most);
  memmove (file, file + best, most * sizeof (*file));
  nd_list_set_size (files, most);
}

#define COMPARE(field)               \
  if (first->field != second->field) \
  return first->field < second->field ? -1 : 1

/* In time, at the same place. */
static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const File *first = a, *second = b;

  COMPARE (temporal);
  COMPARE (trigger);
  COMPARE (acquired);
  COMPARE (instance);
  return strcmp (first->name, second->name);
}

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const File *first = a, *second = b;

  COMPARE (place);
  return compare_times (a, b);
}

/* Makes places that are nearly the same equal. Returns their number. */
static guint
join_places (NdList *files)
{
  File *file = (File *) files->data;
  guint places = 1;

  qsort (file, files->len, sizeof (*file), compare_places);
  for (guint i = 1; i < files->len; i++) {
    if (file[i].place - file[i - 1].place < SAME_PLACE)
      file[i].place = file[i - 1].place;
    else
      places++;
  }
  qsort (file, files->len, sizeof (*file), compare_places);
  return places;
}

/* Leaves the first files of each place, as many as the place with the fewest
 * has: the last volume of a scan that was stopped lacks slices. */
static void
keep_whole (Series *series, NdHeader *header, guint places)
{
  NdList *files = series->files;
  File *file = (File *) files->data;
  guint least = files->len, n = 0;

  for (guint begin = 0, i = 1; i <= files->len; i++) {
    if (i < files->len && file[i].place == file[begin].place)
      continue;
    least = MIN (least, i - begin);
    begin = i;
  }
  if (least * places == files->len)
    return;
  nd_header_warn (header,
      "\"%s\" lacks slices of the last volumes: the %u whole volumes are read, "
      "and %u files are not",
      series->path, least, files->len - least * places);
  for (guint begin = 0, i = 0; i < files->len; i++) {
    if (file[i].place != file[begin].place)
      begin = i;
    if (i - begin < least)
      file[n++] = file[i];
  }
  nd_list_set_size (files, n);
}

/* FALSE if the places do not have equally many files. */
static gboolean
check_places (const Series *series, guint volumes, GError **error)
{
  const NdList *files = series->files;
  const File *file = (const File *) files->data;

  for (guint begin = 0, i = 1; i <= files->len; i++) {
    if (i < files->len && file[i].place == file[begin].place)
      continue;
    if (i - begin != volumes) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "\"%s\" has %u files for the slice at %g mm and %u for the others on "
          "average: each slice must have one for each time; remove the files "
          "that are too many, or read the whole volumes with truncated=keep",
          series->path, i - begin, file[begin].place, volumes);
      return FALSE;
    }
    begin = i;
  }
  return TRUE;
}

/* Sorts the files to volumes of @places slices. */
static gboolean
sort_files (Series *series, NdHeader *header, guint *places, GError **error)
{
  NdList *files = series->files;
  const File *file = (const File *) files->data;
  g_autoptr (NdList) sorted = nd_list_new (series->budget, sizeof (File));
  guint volumes;

  *places = join_places (files);
  if (header->keep)
    keep_whole (series, header, *places);
  volumes = files->len / *places;
  if (!check_places (series, volumes, error))
    return FALSE;
  if (!nd_list_set_size (sorted, files->len))
    return nd_budget_refuse (series->budget, series->path, error);
  for (guint i = 0; i < files->len; i++)
    g_array_index (sorted, File, i % volumes * *places + i / volumes) = file[i];
  series->files = g_steal_pointer (&sorted);
  nd_list_free (files);
  return TRUE;
}

/* Header */

/* Slices that lie beside each other make a volume. */
static gboolean
check_files (Series *series, GError **error)
{
  const File *file = (const File *) series->files->data;

  for (guint i = 0; i < series->files->len; i++) {
    gboolean differs =
        file[i].columns != file->columns || file[i].rows != file->rows;

    series->scaled |= file[i].scaled;
    for (guint k = 0; k < 6; k++)
      differs |=
          !(fabs (file[i].orientation[k] - file->orientation[k]) < UNEVEN);
    if (file[i].frames > 1 || differs) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          file[i].frames > 1
              ? "\"%s/%s\" has several frames: a folder is read if each file "
                "has one; read that file itself"
              : "\"%s/%s\" has another size or orientation than other files "
                "of its series: put the files of one orientation into a folder "
                "of their own",
          series->path, file[i].name);
      return FALSE;
    }
  }
  return TRUE;
}

/* Slices of a scanner that is tilted lie along another direction than their
 * normal, which a recording does not hold. */
static void
warn_of_tilt (const Series *series, NdHeader *header, guint places)
{
  const File *first = (const File *) series->files->data;
  const File *last = first + places - 1;
  gdouble square = 0;

  for (guint i = 0; i < 3; i++) {
    const gdouble d = last->position[i] - first->position[i];

    square += d * d;
  }
  if (sqrt (square) > (1 + UNEVEN) * (last->place - first->place) && places > 1
      && square > 0)
    nd_header_warn (header,
        "The slices of \"%s\" are shifted against each other, as by a tilted "
        "gantry: the geometry has them one behind the other",
        series->path);
}

/* The mean distance, and a warning if a slice is missing. */
static gdouble
find_step (const Series *series, NdHeader *header, guint places)
{
  const File *file = (const File *) series->files->data;
  const gdouble step =
      places > 1 ? (file[places - 1].place - file[0].place) / (places - 1) : 0;
  gdouble least = G_MAXDOUBLE, most = 0;

  for (guint i = 1; i < places; i++) {
    least = MIN (least, file[i].place - file[i - 1].place);
    most = MAX (most, file[i].place - file[i - 1].place);
  }
  if (places > 1 && most - least > UNEVEN * step)
    nd_header_warn (header,
        "The slices of \"%s\" lie %g to %g mm apart, perhaps because some "
        "are missing: their mean distance, %g mm, is taken",
        series->path, least, most, step);
  return step;
}

/* Those of the first slices, by trigger or by acquisition. */
static void
set_times (const Series *series, NdHeader *header, guint places)
{
  const guint volumes = header->recording.volumes;
  const File *file = (const File *) series->files->data;
  const gboolean by_trigger =
      volumes > 1 && file[0].trigger < file[places].trigger;
  g_autoptr (NdList) times = nd_list_new (&header->budget, sizeof (gint64));
  gdouble last = -1;

  for (guint v = 0; v < volumes; v++) {
    const File *at = &file[(gsize) v * places];
    const gdouble own = by_trigger ? at->trigger / 1000 : at->acquired;
    gint64 time;

    if (!(own > last && own < 1e6))
      return;
    last = own;
    time = llrint (own * NANOSECONDS);
    nd_list_add (times, time);
  }
  header->metadata->failed |= times->failed;
  if (times->failed || volumes < 2)
    return;
  /* The time of the day is not that of a stream. */
  for (guint v = volumes; v-- > 0 && !by_trigger;)
    g_array_index (times, gint64, v) -= g_array_index (times, gint64, 0);
  nd_header_set_times (header, g_steal_pointer (&times), TIME_DIGIT);
}

/* Type, size and geometry are those of the first file. */
static gboolean
describe_first (Series *series, NdHeader *header, guint places, GError **error)
{
  const File *file = (const File *) series->files->data;
  g_autofree gchar *path = g_build_filename (series->path, file->name, NULL);
  g_auto (NdHeader) first = { 0 };
  g_autoptr (NdInput) input = nd_input_open (path, FALSE, error);
  NdDicomBytes bytes = { .input = input, .budget = series->budget };
  NdDicomElements elements;

  nd_budget_init (&first.budget, MAX (nd_budget_left (series->budget), 1));
  if (!input || !nd_dicom_open (&first, input, path, error))
    return FALSE;
  settle_scale (series, &first.stored);
  series->type = nd_stored_becomes (&first.stored);
  series->shape = first.recording.shape;
  header->stored.type = nd_stored_of (series->type);
  header->recording.shape = series->shape;
  header->recording.shape.size[2] = places;
  if (nd_dicom_elements_read (&elements, &bytes))
    nd_dicom_axes_locate (header, &elements, &elements.common,
        find_step (series, header, places));
  nd_dicom_elements_clear (&elements);
  nd_dicom_bytes_clear (&bytes);
  return TRUE;
}

static gboolean
describe (Series *series, NdHeader *header, GError **error)
{
  guint places;

  if (!find_files (series, error))
    return FALSE;
  choose_series (series, header);
  if (!check_files (series, error))
    return FALSE;
  if (!sort_files (series, header, &places, error))
    return FALSE;
  header->recording.volumes = series->files->len / places;
  if (!describe_first (series, header, places, error))
    return FALSE;
  warn_of_tilt (series, header, places);
  set_times (series, header, places);
  return nd_header_settle (header, series->path, error);
}

gboolean
nd_dicom_series_open (NdHeader *header, const gchar *path, GError **error)
{
  Series *series = g_new0 (Series, 1);

  nd_header_init (header, "DICOM");
  series->base.read = read_slice;
  series->base.free = free_series;
  series->budget = &header->budget;
  series->path = g_strdup (path);
  series->files = nd_list_new (&header->budget, sizeof (File));
  header->slices = &series->base;
  if (!describe (series, header, error))
    return FALSE;
  return nd_metadata_settle (header->metadata)
      || nd_budget_refuse (&header->budget, path, error);
}
