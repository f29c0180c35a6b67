/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiff.h"

#include "core/error.h"
#include "formats/axes.h"
#include "formats/headertext.h"
#include "formats/rate.h"
#include "formats/tiffaxes.h"
#include "formats/tiffbuild.h"
#include "formats/tifffiles.h"
#include "formats/tiffpages.h"
#include "formats/tiffsamples.h"

#include <math.h>
#include <string.h>

#define MAX_SAMPLES 65535
#define MICROMETRE 1e-3 /* in mm */
#define CENTIMETRE 10.0
#define SIGN_BIT 32768.0
#define NANOSECONDS 1e9
#define DAY 86400.0

/* The value of the last digit of DeltaT, in nanoseconds. */
#define TIME_DIGIT 1000

typedef struct
{
  NdSlices base;
  NdTiffPages pages;
  NdTiffAxes axes;
  NdTiffFiles files; /* the others of the recording */
  NdList *counts;    /* guint64: their pages, + 1; 0: not known yet */
  NdHeader *header;  /* while the file is opened */
  gsize slices;      /* of a volume */
  gchar *path;
  gchar *name;   /* of the file, without its folder */
  gchar *reason; /* why another file could not be read, or NULL */
} Tiff;

static void
free_tiff (NdSlices *slices)
{
  Tiff *tiff = (Tiff *) slices;

  nd_tiff_files_clear (&tiff->files);
  nd_tiff_pages_clear (&tiff->pages);
  nd_tiff_axes_clear (&tiff->axes);
  g_clear_pointer (&tiff->counts, nd_list_free);
  g_free (tiff->path);
  g_free (tiff->name);
  g_free (tiff->reason);
  g_free (tiff);
}

/* Whether the samples of the pages that have directories lie one after the
 * other, by the first page and the last. */
static gboolean
follow_each_other (NdTiffPages *pages)
{
  const NdTiffPage *page = &pages->page;
  const guint64 last = pages->offsets->len - 1;
  const guint64 bytes =
      (guint64) page->width * page->height * page->samples * page->bits / 8;
  uint64_t *offsets = NULL;
  guint64 first;

  if (!nd_tiff_pages_go_to (pages, 0)
      || !TIFFGetField (pages->library, TIFFTAG_STRIPOFFSETS, &offsets))
    return FALSE;
  first = offsets[0];
  return nd_tiff_pages_go_to (pages, last)
      && TIFFGetField (pages->library, TIFFTAG_STRIPOFFSETS, &offsets)
      && offsets[0] == first + last * bytes;
}

/* ImageJ writes one page for many above 4 GiB, and tifffile on demand: their
 * samples follow one after the other. So do slices of a directory that are not
 * in tiles. */
static void
find_contiguous (Tiff *tiff)
{
  NdTiffPages *pages = &tiff->pages;
  const NdTiffPage *page = &pages->page;
  const guint64 images =
      (tiff->axes.kind == ND_TIFF_IMAGEJ || tiff->axes.kind == ND_TIFF_TIFFFILE)
      ? MAX (tiff->axes.images, page->depth)
      : page->depth;
  uint64_t *offsets = NULL;

  if (images > 1 && !tiff->axes.files
      && (pages->offsets->len == 1
          || (pages->keep && pages->offsets->len < images
              && follow_each_other (pages)))
      && page->compression == COMPRESSION_NONE && page->bits % 8 == 0
      && (page->planar == PLANARCONFIG_CONTIG || page->samples == 1)
      && !TIFFIsTiled (pages->library) && nd_tiff_pages_go_to (pages, 0)
      && TIFFGetField (pages->library, TIFFTAG_STRIPOFFSETS, &offsets)) {
    pages->contiguous = offsets[0];
    pages->images = images;
  }
}

/* Whether the samples have the order of a recording, without libtiff. */
static gboolean
is_plain (const Tiff *tiff)
{
  const gchar *order = tiff->axes.order;

  return tiff->pages.contiguous > 0 && tiff->axes.channels == 1
      && !tiff->axes.pages && tiff->axes.missing == 0
      && strchr (order, 'z') < strchr (order, 't');
}

/* A plane that the file has not. */
static void
clear_plane (const Tiff *tiff, guint8 *samples, gsize stride)
{
  const NdTiffPage *page = &tiff->pages.page;
  const gsize n = (gsize) page->width * page->height;

  for (gsize i = 0; i < n; i++)
    memset (samples + i * stride, 0, tiff->pages.width * page->samples);
}

/* Reads a page of this or of another file. FALSE with tiff->reason, or with the
 * message of the pages. */
static gboolean
read_place (Tiff *tiff, NdTiffPlace place, guint8 *samples, gsize stride,
    const gchar **reason)
{
  NdTiffPages *pages = &tiff->pages;
  g_autoptr (GError) error = NULL;

  if (place.file != ND_TIFF_OWN)
    pages = nd_tiff_files_get (&tiff->files, place.file,
        g_array_index (tiff->axes.files, gchar *, place.file), &error);
  if (!pages) {
    g_free (tiff->reason);
    tiff->reason = g_strdup (error->message);
    *reason = tiff->reason;
    return FALSE;
  }
  *reason = pages->message;
  return nd_tiff_pages_read (pages, place.page, samples, stride);
}

static gboolean
read_slice (NdSlices *slices, guint64 slice, guint8 *samples,
    const gchar **reason)
{
  Tiff *tiff = (Tiff *) slices;
  const gsize bytes = tiff->pages.width * tiff->pages.page.samples;
  const gsize stride = bytes * tiff->axes.channels;

  for (guint64 c = 0; c < tiff->axes.channels; c++) {
    const NdTiffPlace place = nd_tiff_axes_place (&tiff->axes, c,
        slice % tiff->slices, slice / tiff->slices);
    const gboolean absent = place.page == ND_TIFF_NONE
        || (place.file == ND_TIFF_OWN
            && place.page >= nd_tiff_pages_count (&tiff->pages));

    if (tiff->axes.missing > 0 && absent)
      clear_plane (tiff, samples + c * bytes, stride);
    else if (!read_place (tiff, place, samples + c * bytes, stride, reason))
      return FALSE;
  }
  return TRUE;
}

/* Header */

static void
set_geometry (Tiff *tiff, NdGeometry *geometry)
{
  static const guint32 tags[] = { TIFFTAG_XRESOLUTION, TIFFTAG_YRESOLUTION };
  gdouble *units = tiff->axes.resolution_units;
  gdouble *spacing = tiff->axes.spacing;
  gdouble origin[3] = { 0 };
  guint16 tag_unit = RESUNIT_NONE;

  if (units[0] > 0 && nd_tiff_pages_go_to (&tiff->pages, 0)) {
    TIFFGetField (tiff->pages.library, TIFFTAG_RESOLUTIONUNIT, &tag_unit);
    for (guint a = 0; a < 2; a++) {
      gfloat resolution = 0;

      /* As ImageJ does: pixels per centimetre beside a unit of micrometres. */
      if (tag_unit == RESUNIT_CENTIMETER && units[a] == MICROMETRE)
        units[a] = CENTIMETRE;
      if (TIFFGetField (tiff->pages.library, tags[a], &resolution)
          && resolution > 0)
        spacing[a] = units[a] / resolution;
    }
  }
  if (!(spacing[0] > 0 && isfinite (spacing[0])))
    return;
  for (guint a = 1; a < 3; a++) {
    if (!(spacing[a] > 0 && isfinite (spacing[a])))
      spacing[a] = spacing[0];
  }
  for (guint a = 0; a < 3; a++) {
    origin[a] = -tiff->axes.origin[a] * spacing[a];
    if (!isfinite (origin[a]))
      origin[a] = 0;
  }
  nd_axes_set (geometry, spacing, origin);
}

static void
set_times (Tiff *tiff, NdHeader *header)
{
  NdRecording *recording = &header->recording;
  const NdList *times = tiff->axes.times;
  g_autoptr (NdList) sorted = NULL;

  nd_rate_from_seconds (tiff->axes.seconds, &recording->rate_n,
      &recording->rate_d);
  if (!times || times->len < recording->volumes || recording->volumes < 2)
    return;
  sorted = nd_list_new (&header->budget, sizeof (gint64));
  if (!nd_list_set_size (sorted, recording->volumes)) {
    header->metadata->failed = TRUE;
    return;
  }
  for (guint i = 0; i < sorted->len; i++)
    g_array_index (sorted, gint64, i) = G_MININT64;
  for (guint i = 0; i < times->len; i++) {
    const NdTiffTime *time = &g_array_index (times, NdTiffTime, i);

    if (time->t < sorted->len && fabs (time->seconds) < G_MAXINT32)
      g_array_index (sorted, gint64, time->t) =
          round (time->seconds * NANOSECONDS);
  }
  for (guint i = 0; i < sorted->len; i++) {
    if (g_array_index (sorted, gint64, i) == G_MININT64)
      return;
  }
  nd_header_set_times (header, g_steal_pointer (&sorted), TIME_DIGIT);
}

/* The values that ImageJ shows. It keeps signed 16-bit samples with the sign
 * bit inverted, and calibrates those, too. */
static void
calibrate (const Tiff *tiff, NdStored *stored)
{
  const gdouble slope = tiff->axes.slope;
  gdouble intercept = tiff->axes.intercept;

  if (!tiff->axes.calibrated || tiff->pages.page.samples > 1)
    return;
  if (stored->type == ND_STORED_INT16)
    intercept += slope * SIGN_BIT;
  else if (stored->type != ND_STORED_UINT8 && stored->type != ND_STORED_UINT16)
    return;
  if (stored->type == ND_STORED_UINT16 && slope == 1
      && intercept == -SIGN_BIT) {
    stored->type = ND_STORED_BIASED16;
  } else if (slope != 1 || intercept != 0) {
    stored->scaled = TRUE;
    stored->slope = slope;
    stored->intercept = intercept;
  }
}

static gboolean
set_recording (Tiff *tiff, NdHeader *header, const gchar *path, GError **error)
{
  NdRecording *recording = &header->recording;
  const NdTiffAxes *axes = &tiff->axes;
  guint64 components;
  gsize parts;

  if (!nd_tiff_samples_type (&tiff->pages.page, &header->stored, &parts)
      || nd_tiff_samples_ratio (tiff->pages.page.compression) == 0)
    return nd_tiff_samples_refuse (&tiff->pages.page, path, error);
  calibrate (tiff, &header->stored);
  if (axes->warning)
    nd_header_warn (header, "\"%s\": %s", path, axes->warning);
  if (axes->missing > 0)
    nd_header_warn (header,
        "\"%s\" lacks %" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT
        " planes that its OME-XML says: their samples are 0",
        path, axes->missing, axes->channels * axes->slices * axes->volumes);
  header->z_or_time = !axes->known;
  if (axes->channels > 1)
    nd_header_add_field (header, ND_TIFF_CHANNELS, "pages");
  components = tiff->pages.page.samples * parts * axes->channels;
  if (tiff->pages.page.samples == 0 || axes->channels > MAX_SAMPLES
      || components > MAX_SAMPLES || axes->slices == 0 || axes->volumes == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" has %" G_GUINT64_FORMAT " components; there may be 1 to %u",
        path, components, MAX_SAMPLES);
    return FALSE;
  }
  tiff->pages.width = parts * nd_stored_size (header->stored.type);
  tiff->slices = axes->slices;
  recording->shape = (NdShape){ components,
    { tiff->pages.page.width, tiff->pages.page.height, axes->slices } };
  recording->volumes = axes->volumes;
  set_geometry (tiff, &recording->geometry);
  set_times (tiff, header);
  return nd_header_settle (header, path, error);
}

/* Compares the sizes in the header with the size of the file. */
static gboolean
check_claim (Tiff *tiff, const NdHeader *header, const gchar *path,
    GError **error)
{
  const guint64 size = nd_input_size (tiff->pages.input);
  const guint64 planes =
      tiff->axes.channels * tiff->axes.slices * tiff->axes.volumes;
  const guint64 bytes =
      nd_header_bytes (header) / planes * (planes - tiff->axes.missing);
  const guint64 contiguous = tiff->pages.contiguous;
  /* A byte may have 8 samples of a bit. */
  const guint64 ratio = nd_tiff_samples_ratio (tiff->pages.page.compression)
      * (tiff->pages.page.bits < 8         ? 8
              : tiff->pages.page.bits < 16 ? 2
                                           : 1);

  /* Then the reader counts whole volumes, or pages are in other files, which
   * were opened. */
  if (header->keep || tiff->axes.files)
    return TRUE;
  if (bytes / ratio <= size
      && (contiguous == 0 || (contiguous < size && bytes <= size - contiguous)))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "\"%s\" is truncated: its pages have %" G_GUINT64_FORMAT
      " bytes of samples, which %" G_GUINT64_FORMAT " bytes cannot hold",
      path, bytes, size);
  return FALSE;
}

/* Of directories with several slices libtiff decodes tiles of one slice. */
static gboolean
check_depth (Tiff *tiff, const gchar *path, GError **error)
{
  TIFF *library = tiff->pages.library;
  guint32 depth = 1;

  if (tiff->pages.page.depth == 1 || tiff->pages.contiguous > 0
      || (nd_tiff_pages_go_to (&tiff->pages, 0) && TIFFIsTiled (library)
          && (!TIFFGetField (library, TIFFTAG_TILEDEPTH, &depth)
              || depth == 1)))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" is TIFF with several slices in a strip or tile, which libtiff "
      "does not read: %s",
      path, ND_TIFF_BY_TIFFFILE);
  return FALSE;
}

/* The planes of a stack of MetaMorph are slices if they have distances, and
 * otherwise frames. Each has a distance of two numbers, a day, and a time of
 * that day in milliseconds. */
static void
set_stack (Tiff *tiff)
{
  NdTiffAxes *axes = &tiff->axes;
  NdInput *input = tiff->pages.input;
  const gboolean swapped =
      TIFFIsBigEndian (tiff->pages.library) != (G_BYTE_ORDER == G_BIG_ENDIAN);
  const guint64 planes = nd_tiff_pages_count (&tiff->pages);
  guint32 numbers[6], first[2] = { 0, 0 };

  axes->known = TRUE;
  axes->times = nd_list_new (axes->budget, sizeof (NdTiffTime));
  nd_input_begin (input, tiff->pages.places, FALSE);
  for (guint64 i = 0; i < planes && i < ND_FILES_MAX; i++) {
    NdTiffTime time = { i, 0 };

    if (nd_input_read (input, numbers, sizeof (numbers)) != sizeof (numbers))
      break;
    for (guint k = 0; k < G_N_ELEMENTS (numbers) && swapped; k++)
      numbers[k] = GUINT32_SWAP_LE_BE (numbers[k]);
    if (numbers[0] != 0)
      return;
    if (i == 0)
      memcpy (first, numbers + 2, sizeof (first));
    time.seconds = DAY * ((gdouble) numbers[2] - first[0])
        + ((gdouble) numbers[3] - first[1]) / 1000;
    nd_list_add (axes->times, time);
  }
  axes->volumes = planes;
  axes->slices = 1;
}

/* The pages of another file; 0 if it cannot be read, with a warning. */
static guint64
count_pages (gpointer data, guint file)
{
  Tiff *tiff = data;
  const gchar *name = g_array_index (tiff->axes.files, gchar *, file);
  g_autoptr (GError) error = NULL;
  NdTiffPages *pages;
  guint64 *count;

  if (!tiff->counts)
    tiff->counts = nd_list_new (tiff->axes.budget, sizeof (guint64));
  if (!nd_list_set_size (tiff->counts, tiff->axes.files->len))
    return 0;
  count = &g_array_index (tiff->counts, guint64, file);
  if (*count > 0)
    return *count - 1;
  *count = 1;
  if (!tiff->header->local)
    return 0;
  pages = nd_tiff_files_get (&tiff->files, file, name, &error);
  if (!pages) {
    nd_header_warn (tiff->header, "A file of the recording is not read: %s",
        error->message);
    return 0;
  }
  *count += nd_tiff_pages_count (pages);
  return *count - 1;
}

/* Reads the description of a TIFF file; FALSE if it has none. */
static gboolean
read_description (NdTiffPages *pages, NdInput *input, const gchar *path,
    NdList *text)
{
  const char *found = NULL;
  guint64 others;

  return nd_tiff_pages_open (pages, input, path, &others)
      && nd_tiff_pages_go_to (pages, 0)
      && TIFFGetField (pages->library, TIFFTAG_IMAGEDESCRIPTION, &found)
      && nd_list_append (text, found, strlen (found) + 1);
}

/* The OME-XML of the file @name beside @path, which may be TIFF or OME-XML
 * alone; NULL if there is none. */
static NdList *
read_master (Tiff *tiff, const gchar *path, const gchar *name)
{
  g_autofree gchar *full = nd_header_beside (path, name, NULL);
  g_autoptr (NdInput) input = full ? nd_input_open (full, FALSE, NULL) : NULL;
  g_autoptr (NdList) text = nd_list_new (tiff->pages.budget, 1);
  const guint64 size = input ? nd_input_size (input) : 0;
  NdTiffPages pages = { .budget = tiff->pages.budget };
  guint8 begin[8];
  gboolean ok;

  if (size < sizeof (begin) || size > ND_TEXT_MAX
      || nd_input_read (input, begin, sizeof (begin)) != sizeof (begin))
    return NULL;
  if (nd_tiff_detect (begin, sizeof (begin))) {
    ok = read_description (&pages, input, full, text);
    nd_tiff_pages_clear (&pages);
  } else {
    nd_input_begin (input, 0, FALSE);
    ok = nd_list_set_size (text, size + 1)
        && nd_input_read (input, text->data, size) == (gssize) size;
  }
  return ok ? g_steal_pointer (&text) : NULL;
}

static gboolean
refuse_part (const gchar *path, const gchar *master, GError **error)
{
  g_autofree gchar *name = nd_text_quote (master);

  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" cannot be read. It is one file of several of an OME-TIFF "
      "recording and has no metadata of its own: the file %s has it; put that "
      "beside it. \"bfconvert FILE NEW.ome.tif\" of Bio-Formats, with that "
      "file, makes one file of all",
      path, name);
  return FALSE;
}

/* Finds the axes of the pages by the description, or by that of the file that
 * it names in place of its own. */
static gboolean
find_axes (Tiff *tiff, const gchar *path, GError **error)
{
  const NdTiffPage *page = &tiff->pages.page;
  const guint64 pages = nd_tiff_pages_count (&tiff->pages);
  const char *description = NULL;
  g_autofree gchar *master = NULL;
  g_autoptr (NdList) text = NULL;

  if (!nd_tiff_pages_go_to (&tiff->pages, 0)
      || !TIFFGetField (tiff->pages.library, TIFFTAG_IMAGEDESCRIPTION,
          &description))
    description = NULL;
  nd_tiff_axes_parse (&tiff->axes, description, pages, page->width,
      page->height, page->samples);
  if (!tiff->axes.master)
    return TRUE;
  master = g_strdup (tiff->axes.master);
  if (tiff->header->local)
    text = read_master (tiff, path, master);
  if (text)
    nd_tiff_axes_parse (&tiff->axes, (const gchar *) text->data, pages,
        page->width, page->height, page->samples);
  return (text && tiff->axes.kind == ND_TIFF_OME)
      || refuse_part (path, master, error);
}

static gboolean
check_files (Tiff *tiff, const gchar *path, GError **error)
{
  const NdTiffAxes *axes = &tiff->axes;

  if (!axes->files || tiff->header->local)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" is one of several files of an OME-TIFF recording, which can be "
      "read on this machine only: copy all of them to one folder and open one "
      "of them there",
      path);
  return FALSE;
}

static gboolean
read_header (Tiff *tiff, NdHeader *header, NdInput *input, const gchar *path,
    GError **error)
{
  g_autofree gchar *quoted = NULL;
  guint64 others;

  if (!nd_tiff_pages_open (&tiff->pages, input, path, &others)) {
    if (header->budget.refused > 0)
      return nd_budget_refuse (&header->budget, path, error);
    quoted = nd_text_quote (*tiff->pages.message ? tiff->pages.message
                                                 : "there is none");
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" is damaged TIFF: its directories cannot be read (%s)", path,
        quoted);
    return FALSE;
  }
  if (tiff->pages.predicted)
    nd_header_warn (header,
        "\"%s\" has a predictor, but no compression: as in libtiff and ImageJ, "
        "its samples are those that it has; tifffile takes them for "
        "differences",
        path);
  if (others > 0)
    nd_header_warn (header,
        "%" G_GUINT64_FORMAT " pages of \"%s\" have another size or type than "
        "the first and are not read",
        others, path);
  if (!find_axes (tiff, path, error) || !check_files (tiff, path, error))
    return FALSE;
  if (tiff->pages.places > 0 && tiff->axes.kind == ND_TIFF_PLAIN)
    set_stack (tiff);
  find_contiguous (tiff);
  if (!check_depth (tiff, path, error))
    return FALSE;
  return set_recording (tiff, header, path, error)
      && check_claim (tiff, header, path, error);
}

gboolean
nd_tiff_open (NdHeader *header, NdInput *input, const gchar *path,
    GError **error)
{
  Tiff *tiff = g_new0 (Tiff, 1);

  nd_header_init (header, "TIFF");
  tiff->base.read = read_slice;
  tiff->base.free = free_tiff;
  tiff->axes.budget = tiff->pages.budget = &header->budget;
  tiff->header = header;
  tiff->path = g_strdup (path);
  tiff->name = g_path_get_basename (path);
  tiff->axes.name = tiff->name;
  tiff->axes.count = count_pages;
  tiff->axes.data = tiff;
  tiff->files.path = tiff->path;
  tiff->files.own = &tiff->pages;
  tiff->pages.keep = header->keep;
  header->slices = &tiff->base;
  if (!read_header (tiff, header, input, path, error))
    return FALSE;
  if (tiff->pages.contiguous > 0)
    header->stored.swapped =
        tiff->pages.page.bits > 8 && TIFFIsByteSwapped (tiff->pages.library);
  if (is_plain (tiff)) {
    header->offset = tiff->pages.contiguous;
    header->within = TRUE;
    g_clear_pointer (&header->slices, nd_slices_free);
  }
  return TRUE;
}
