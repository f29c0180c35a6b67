/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tifffiles.h"

#include "core/error.h"
#include "formats/header.h"
#include "formats/headertext.h"
#include "formats/tiff.h"

static void
close_file (NdTiffFile *file)
{
  nd_tiff_pages_clear (&file->pages);
  g_clear_pointer (&file->input, nd_input_close);
  *file = (NdTiffFile){ 0 };
}

/* One that is not open, or else the one that was used longest ago. */
static NdTiffFile *
find_place (NdTiffFiles *files)
{
  NdTiffFile *oldest = files->open;

  for (guint i = 1; i < ND_TIFF_FILES_OPEN; i++) {
    if (files->open[i].used < oldest->used)
      oldest = &files->open[i];
  }
  close_file (oldest);
  return oldest;
}

static gboolean
refuse (const gchar *path, const NdTiffPages *pages, GError **error)
{
  g_autofree gchar *quoted =
      nd_text_quote (*pages->message ? pages->message : "there is none");

  if (pages->budget && pages->budget->refused > 0)
    return nd_budget_refuse (pages->budget, path, error);
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "\"%s\" is damaged TIFF: its directories cannot be read (%s)", path,
      quoted);
  return FALSE;
}

static gboolean
open_file (NdTiffFiles *files, NdTiffFile *place, const gchar *name,
    GError **error)
{
  g_autofree gchar *path = nd_header_beside (files->path, name, error);
  NdTiffPages *pages = &place->pages;
  guint8 begin[8];
  guint64 others;

  if (!path || !(place->input = nd_input_open (path, FALSE, error)))
    return FALSE;
  pages->budget = files->own->budget;
  pages->width = files->own->width;
  if (nd_input_read (place->input, begin, sizeof (begin)) != sizeof (begin)
      || !nd_tiff_detect (begin, sizeof (begin))
      || !nd_tiff_pages_open (pages, place->input, path, &others))
    return refuse (path, pages, error);
  if (nd_tiff_pages_are_alike (&pages->page, &files->own->page))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" has pages of another size or type than \"%s\": all files of a "
      "recording must have the same",
      path, files->path);
  return FALSE;
}

NdTiffPages *
nd_tiff_files_get (NdTiffFiles *files, guint file, const gchar *name,
    GError **error)
{
  NdTiffFile *place = NULL;

  for (guint i = 0; i < ND_TIFF_FILES_OPEN && !place; i++) {
    if (files->open[i].used > 0 && files->open[i].file == file)
      place = &files->open[i];
  }
  if (!place) {
    place = find_place (files);
    if (!open_file (files, place, name, error)) {
      close_file (place);
      return NULL;
    }
    place->file = file;
  }
  place->used = ++files->uses;
  place->pages.width = files->own->width;
  return &place->pages;
}

void
nd_tiff_files_clear (NdTiffFiles *files)
{
  for (guint i = 0; i < ND_TIFF_FILES_OPEN; i++)
    close_file (&files->open[i]);
}
