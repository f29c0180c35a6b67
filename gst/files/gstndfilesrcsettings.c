/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/files/gstndfilesrcsettings.h"

#include "core/error.h"
#include "formats/recording.h"

#define FIELD(KIND, ...) ND_FIELD_##KIND (GstNdFileSrcSettings, __VA_ARGS__)

const NdSetting gst_nd_file_src_rows[] = {
  /* Since: 0.1 */
  { "location", "Location",
      "Path of the recording: a file of " ND_RECORDING_FILES ", known by its "
      "content, or of raw samples; a folder of " ND_RECORDING_FOLDERS
      "; or a pattern of such files (img_%04d.tif)",
      FIELD (STRING, location, NULL), ND_READY },
  { "volume-size", "Volume size",
      "Raw files: samples of one volume along x, y and z, as X:Y:Z (X:Y for "
      "frames, X:Y:Z:K for the K responses of a bank). TIFF and .npy files "
      "that do not say whether their slices lie along z or time: X:Y:1 makes "
      "frames over time",
      FIELD (STRING, volume_size, NULL), ND_READY },
  { "components", "Components",
      "Raw files: components of a sample, interleaved: 1 scalar, 2 complex "
      "(re, im), 3 RGB. Ignored if the file has a header",
      FIELD (UINT, components, 1, 65535, 1), ND_READY },
  { "type", "Type",
      "Raw files: type of each component, in the byte order of the machine. "
      "Ignored if the file has a header",
      FIELD (ENUM, type, NdSampleType, nd_sample_enum, ND_UINT8), ND_READY },
  /* Since: 0.9 */
  { "offset", "Offset",
      "Raw files: bytes before the first volume, of a header for example. "
      "Ignored if the file has a header that is read",
      FIELD (INT64, offset, 0, G_MAXINT64, 0), ND_READY },
  /* Since: 0.1 */
  { "framerate", "Frame rate",
      "Volumes per second, for timestamps and caps, instead of the rate in the "
      "file; 0/1: the rate in the file (if it has none, caps have 0/1 and "
      "timestamps are 1 s apart)",
      FIELD (FRACTION, framerate, 0, 0), ND_READY },
  { "start", "Start",
      "The first volume to read, counted from 0. It has the timestamp 0",
      FIELD (INT64, start, 0, G_MAXINT64, 0), ND_READY },
  { "stop", "Stop",
      "The volume before which to stop, counted from 0; -1, or any number "
      "after the last volume: read to the end. To split a recording that is "
      "filtered in time, let the excerpts overlap by the length of the filter "
      "in time minus one",
      FIELD (INT64, stop, -1, G_MAXINT64, -1), ND_READY },
  { "step", "Step",
      "Read every volume whose number, counted from start, is "
      "a multiple of step; the rate is divided by step",
      FIELD (INT64, step, 1, G_MAXINT, 1), ND_READY },
  /* Since: 0.9 */
  GST_ND_MAX_MEMORY_ROW (GstNdFileSrcSettings),
  GST_ND_TRUNCATED_ROW (GstNdFileSrcSettings),
};
const guint gst_nd_file_src_n_rows = G_N_ELEMENTS (gst_nd_file_src_rows);

static gboolean
get_hint (const GstNdFileSrcSettings *settings, NdRecording *hint,
    GError **error)
{
  if (nd_recording_init_raw (hint, settings->volume_size, settings->components,
          settings->type)) {
    hint->offset = settings->offset;
    return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "Property 'volume-size' is \"%s\": it must be X:Y:Z (or X:Y, or X:Y:Z:K "
      "with K responses), each 1 or more",
      settings->volume_size);
  return FALSE;
}

gboolean
gst_nd_file_src_settings_open (const GstNdFileSrcSettings *settings,
    GstNdExcerpt *excerpt, GError **error)
{
  NdReader *reader;
  NdRecording hint;

  if (!settings->location || !*settings->location) {
    g_set_error (error, ND_ERROR, ND_ERROR_NOT_FOUND,
        "Property 'location' is not set: it must name the file to read");
    return FALSE;
  }
  if (settings->volume_size && !get_hint (settings, &hint, error))
    return FALSE;
  reader = nd_reader_open_within (settings->location,
      settings->volume_size ? &hint : NULL, settings->max_memory,
      settings->truncated, error);
  if (g_error_matches (*error, ND_ERROR, ND_ERROR_SETTINGS)
      && !settings->volume_size) {
    g_clear_error (error);
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "\"%s\" has no header of " ND_RECORDING_FORMATS ": to "
        "read it as raw samples, set the properties 'volume-size' (X:Y:Z) and "
        "'type'",
        settings->location);
  }
  return reader
      && gst_nd_excerpt_init (excerpt, reader, settings->location,
          settings->start, settings->stop, settings->step,
          settings->framerate.n, settings->framerate.d, error);
}
