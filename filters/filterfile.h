/* Files of filters: reading, for the design file, and writing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/design.h"
#include "filters/parameters.h"

G_BEGIN_DECLS

/* Writes filters to files that the design file reads. */

/* The extension of @path names the format. .npy has float64 or complex128 and
 * the axes @axes, the slowest first. The formats with a header that
 * nd_writer_open() writes (.nii, .nrrd, .mha, ...) have float32, with complex
 * numbers as two components. @imaginary is NULL for a real filter.
 * ND_ERROR_SETTINGS for other extensions, _OPEN_WRITE, _WRITE, _DISK_FULL. */
gboolean nd_filter_save (const NdFilter *real, const NdFilter *imaginary,
    const NdAxes *axes, const gchar *path, GError **error);

/* Files of filters that are recordings. Their readers and writers link many
 * libraries, so that programs choose whether to have them
 * (nd_filter_use_recordings()). */
typedef struct
{
  /* Two components are a complex filter; the volumes are its samples along t.
   * Errors as of nd_reader_open(). */
  NdBank *(*load) (const gchar *location, GError **error);
  gboolean (*is_complex) (const gchar *location, gboolean *is_complex,
      GError **error);
  /* As nd_filter_save(). */
  gboolean (*save) (const NdFilter *real, const NdFilter *imaginary,
      const gchar *path, GError **error);
} NdFilterRecordings;

/* @recordings are static. */
void nd_filter_set_recordings (const NdFilterRecordings *recordings);

/* @search, which any thread calls, sets the recordings, if it can. It is called
 * for each file that needs them while there are none. */
void nd_filter_set_search (void (*search) (void));

/* NumPy's .npy arrays. */

/* A filter from the @length bytes of the .npy file at @location. Reads versions
 * 1 to 3, C order, either byte order, and integers of 1, 2, 4 or 8 bytes,
 * floats of 4 or 8 bytes and complex numbers of such floats. NumPy names the
 * slowest axis first: a shape (t, z, y, x) becomes x:y:z:t, and an array with
 * fewer axes has the first of @axes. ND_ERROR_READ if the file is truncated or
 * damaged, ND_ERROR_FORMAT if it has another kind of array. */
NdBank *nd_npy_load (const gchar *location, const guint8 *data, gsize length,
    const NdAxes *axes, GError **error);

/* TRUE if the samples are complex; FALSE also if the header cannot be read. */
gboolean nd_npy_is_complex (const guint8 *data, gsize length);

G_END_DECLS
