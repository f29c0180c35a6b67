/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarr.h"

#include "core/error.h"
#include "formats/headertext.h"
#include "formats/zarraxes.h"
#include "formats/zarrchunks.h"
#include "formats/zarrvolumes.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder that is being opened. */
typedef struct
{
  NdBudget *budget; /* of the header */
  gint folder;      /* of the array */
  NdZarrArray array;
} Zarr;

/* The text of a file of metadata, with a byte 0 after it; NULL without an error
 * if it is absent. */
static NdList *
zarr_load (const Zarr *zarr, const gchar *name, GError **error)
{
  g_autoptr (NdList) text = nd_list_new (zarr->budget, 1);
  const gint file = nd_zarr_open_file (zarr->folder, name);
  struct stat info = { 0 };
  gboolean ok;

  if (file < 0 && errno == ENOENT)
    return NULL;
  ok = file >= 0 && fstat (file, &info) == 0
      && (gsize) info.st_size <= ND_ZARR_TEXT_MAX
      && nd_list_set_size (text, info.st_size + 1)
      && nd_zarr_read_at (file, text->data, info.st_size, 0);
  if (file >= 0)
    close (file);
  if (ok) {
    nd_list_set_size (text, info.st_size);
    return g_steal_pointer (&text);
  }
  if (text->failed)
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "There is no memory for its file %s", name);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "Its file %s cannot be read: it must be a regular file of at most "
        "%" G_GSIZE_FORMAT " MiB",
        name, ND_ZARR_TEXT_MAX >> 20);
  return NULL;
}

static gboolean
load_array (Zarr *zarr, GError **error)
{
  g_autoptr (NdList) text = zarr_load (zarr, "zarr.json", error);
  guint version = 3;

  if (!text && !*error) {
    text = zarr_load (zarr, ".zarray", error);
    version = 2;
  }
  if (!text && !*error)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It has no array of Zarr 2 or 3 where its metadata say so");
  return text
      && nd_zarr_array_parse (&zarr->array, (const gchar *) text->data,
          text->len, version, error);
}

/* Goes to a folder in the folder, without links. */
static gboolean
zarr_enter (Zarr *zarr, const gchar *path, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);

  for (guint i = 0; parts[i]; i++) {
    const gint next = openat (zarr->folder, parts[i],
        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY);
    const gint reason = errno;

    if (next < 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_READ,
          "The folder of its array cannot be opened: %s", g_strerror (reason));
      return FALSE;
    }
    close (zarr->folder);
    zarr->folder = next;
  }
  return TRUE;
}

/* Loads the image of a group; an array has none. */
static gboolean
load_group (const Zarr *zarr, NdZarrImage *image, GError **error)
{
  g_autoptr (NdList) text = zarr_load (zarr, "zarr.json", error);
  guint version = 3;

  if (!text && !*error) {
    text = zarr_load (zarr, ".zattrs", error);
    version = 2;
    /* An array may have attributes too. */
    if (text && faccessat (zarr->folder, ".zarray", F_OK, 0) == 0)
      g_clear_pointer (&text, nd_list_free);
  }
  return !*error
      && (!text
          || nd_zarr_image_parse (image, (const gchar *) text->data, text->len,
              version, error)
          || !*error);
}

/* Loads the image of a group, or the first one of a collection, and its array,
 * or the array that the folder is, without an image. */
static gboolean
load_image (Zarr *zarr, NdZarrImage *image, GError **error)
{
  if (!load_group (zarr, image, error))
    return FALSE;
  if (image->collection) {
    const gboolean several = faccessat (zarr->folder, "1", F_OK, 0) == 0;

    if (!zarr_enter (zarr, "0", error) || !load_group (zarr, image, error))
      return FALSE;
    image->several |= several;
  }
  return (!image->path || zarr_enter (zarr, image->path, error))
      && load_array (zarr, error);
}

/* Returns the number of the axis t, or -1. */
static gint
set_shape (const Zarr *zarr, const NdZarrImage *image, NdRecording *recording)
{
  static const gchar spatial[] = "xyz";
  gint time = -1;

  for (guint i = 0; i < image->rank; i++) {
    const guint64 n = zarr->array.shape[i];
    const gchar *axis = strchr (spatial, image->axes[i]);

    if (image->axes[i] == 't') {
      time = i;
      recording->volumes = n;
    } else if (image->axes[i] == 'c') {
      recording->shape.components = n;
    } else {
      recording->shape.size[axis - spatial] = n;
    }
  }
  return time;
}

static gboolean
open_zarr (Zarr *zarr, NdHeader *header, const gchar *path, GError **error)
{
  NdRecording *recording = &header->recording;
  g_auto (NdZarrImage) image = { NULL };
  g_autoptr (GError) reason = NULL;

  zarr->folder = open (path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (zarr->folder < 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
        "\"%s\" cannot be opened: %s", path, g_strerror (errno));
    return FALSE;
  }
  if (load_image (zarr, &image, &reason)
      && nd_zarr_find_axes (&zarr->array, &image, &reason)) {
    gint time;

    header->stored.type = zarr->array.type;
    header->stored.swapped = zarr->array.swapped;
    time = set_shape (zarr, &image, recording);
    nd_zarr_set_geometry (&image, recording);
    nd_zarr_set_rate (&image, time, recording);
    if (time >= 0 && fabs (image.translation[time]) < 1e9)
      header->metadata->origin = llrint (image.translation[time] * 1e9);
    if (!nd_header_settle (header, path, error))
      return FALSE;
    if (*image.newer)
      nd_header_warn (header,
          "\"%s\" is OME-Zarr %s, newer than 0.5: check its axes, spacing and "
          "origin, which are read as far as they are known",
          path, image.newer);
    if (image.several)
      nd_header_warn (header,
          "\"%s\" has several images: the first one is read", path);
    header->slices =
        nd_zarr_volumes_new (zarr->folder, &zarr->array, image.axes, recording,
            nd_header_volume_bytes (header), zarr->budget, &reason);
    if (header->slices)
      return TRUE;
  }
  if (zarr->budget->refused > 0)
    return nd_budget_refuse (zarr->budget, path, error);
  if (zarr->array.encoded) {
    g_autofree gchar *array =
        nd_text_quote (image.path && *image.path ? image.path : ".");
    g_autofree gchar *text = g_strdup (reason->message);

    g_free (reason->message);
    reason->message = g_strdup_printf (
        "%s; python3 -c \"import sys, zarr; zarr.save ('new.zarr', zarr.open "
        "(sys.argv[1], mode='r')[:])\" FOLDER stores the array in FOLDER in "
        "one of these ways: it is %s of the recording",
        text, array);
  }
  g_propagate_prefixed_error (error, g_steal_pointer (&reason),
      "\"%s\" cannot be read. ", path);
  return FALSE;
}

gboolean
nd_zarr_open (NdHeader *header, const gchar *path, GError **error)
{
  Zarr zarr = { &header->budget, -1 };
  gboolean ok;

  nd_header_init (header, "OME-Zarr");
  ok = open_zarr (&zarr, header, path, error);
  if (!ok && zarr.folder >= 0)
    close (zarr.folder);
  return ok;
}
