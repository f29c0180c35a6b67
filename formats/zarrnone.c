/* OME-Zarr in a build without the libraries that it needs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarr.h"

#include "core/error.h"

#include <errno.h>

gboolean
nd_zarr_open (NdHeader *header, const gchar *path, GError **error)
{
  nd_header_init (header, "OME-Zarr");
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" is Zarr, which this build cannot read: build ndconv with "
      "json-glib, blosc and Zstandard (libjson-glib-dev, libblosc-dev, "
      "libzstd-dev), or use ndconv-run of the Python package",
      path);
  return FALSE;
}

gboolean
nd_zarr_supports (const NdRecording *recording, const gchar *path,
    GError **error)
{
  return TRUE;
}

NdZarrWriter *
nd_zarr_writer_new (const gchar *path, gboolean old, gboolean compress,
    gint *reason)
{
  *reason = ENOSYS;
  return NULL;
}

gint
nd_zarr_writer_begin (NdZarrWriter *writer, const NdRecording *recording)
{
  return ENOSYS;
}

gint
nd_zarr_writer_write (NdZarrWriter *writer, guint64 volume, gconstpointer data)
{
  return ENOSYS;
}

gint
nd_zarr_writer_describe (NdZarrWriter *writer, guint64 volumes, gdouble begin,
    gdouble seconds)
{
  return ENOSYS;
}

const NdPart *
nd_zarr_writer_part (NdZarrWriter *writer)
{
  return NULL;
}

void
nd_zarr_writer_free (NdZarrWriter *writer, gboolean remove)
{
}
