/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/target.h"

#include "core/error.h"
#include "formats/axes.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

typedef struct
{
  const gchar *ending;
  NdTargetFormat format;
  /* [0] without, [1] with compress */
  NdPacking packing[2];
  const gchar *data[2]; /* extensions of the file of samples, or NULL */
} Ending;

static const Ending endings[] = {
  { ".nii.gz", ND_TARGET_NIFTI, { ND_PACKING_GZIP, ND_PACKING_GZIP } },
  { ".nii", ND_TARGET_NIFTI },
  { ".nrrd", ND_TARGET_NRRD, { ND_PACKING_NONE, ND_PACKING_GZIP } },
  { ".nhdr", ND_TARGET_NRRD, { ND_PACKING_NONE, ND_PACKING_GZIP },
      { ".raw", ".raw.gz" } },
  { ".mha", ND_TARGET_METAIMAGE, { ND_PACKING_NONE, ND_PACKING_ZLIB } },
  { ".mhd", ND_TARGET_METAIMAGE, { ND_PACKING_NONE, ND_PACKING_ZLIB },
      { ".raw", ".zraw" } },
  { ".npy", ND_TARGET_NPY },
  { ".tif", ND_TARGET_TIFF },
  { ".tiff", ND_TARGET_TIFF },
  { ".zarr", ND_TARGET_ZARR },
};

#define ENDINGS                                           \
  ".nii, .nii.gz, .nrrd, .nhdr, .mha, .mhd, .npy, .tif, " \
  ".zarr, .raw"

/* Extensions of formats that cannot be written, and what to do instead. */
#define VIDEO_ADVICE "pipelines/movie.sh makes movies of recordings"
#define ARRAY_ADVICE "write .npy and convert it, for example with Python"

static const struct
{
  const gchar *ending, *advice;
} unsupported_endings[] = {
  { ".mp4", VIDEO_ADVICE },
  { ".webm", VIDEO_ADVICE },
  { ".gif", VIDEO_ADVICE },
  { ".avi", VIDEO_ADVICE },
  { ".mkv", VIDEO_ADVICE },
  { ".mov", VIDEO_ADVICE },
  { ".png", "ndview ! pngenc ! filesink writes pictures" },
  { ".jpg", "ndview ! jpegenc ! filesink writes pictures" },
  { ".jpeg", "ndview ! jpegenc ! filesink writes pictures" },
  { ".h5", ARRAY_ADVICE },
  { ".hdf5", ARRAY_ADVICE },
  { ".mat", ARRAY_ADVICE },
  { ".npz", "write .npy" },
  { ".dcm", "write .nrrd or .mha, which DICOM converters read" },
  { ".gz", "of compressed files only .nii.gz is written" },
  { ".hdr", "write NIfTI in one file (.nii)" },
  { ".img", "write NIfTI in one file (.nii)" },
  { ".zraw", "write .mhd, which has its samples in a .zraw file" },
};

static gboolean
has_ending (const gchar *path, const gchar *ending)
{
  gsize length = strlen (path), n = strlen (ending);

  return length > n && g_ascii_strcasecmp (path + length - n, ending) == 0;
}

/* Raw samples if the extension is unknown. */
static gboolean
read_ending (NdTarget *target, gboolean compress, GError **error)
{
  const gchar *path = target->path;

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    const Ending *ending = &endings[i];

    if (!has_ending (path, ending->ending))
      continue;
    target->format = ending->format;
    target->packing = ending->packing[compress];
    if (ending->data[compress]) {
      target->data_path = g_strdup_printf ("%.*s%s",
          (gint) (strlen (path) - strlen (ending->ending)), path,
          ending->data[compress]);
      target->data_partial = g_strconcat (target->data_path, ".part", NULL);
    }
    return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (unsupported_endings); i++) {
    if (has_ending (path, unsupported_endings[i].ending)) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "\"%s\" cannot be written: the extension %s is not one of " ENDINGS
          "; %s",
          path, unsupported_endings[i].ending, unsupported_endings[i].advice);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
nd_target_check_ending (const gchar *path, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    if (has_ending (path, endings[i].ending))
      return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (unsupported_endings); i++) {
    if (has_ending (path, unsupported_endings[i].ending))
      return TRUE;
  }
  if (has_ending (path, ".raw"))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      *path ? "\"%s\" cannot be written: its extension must be one of " ENDINGS
              "; end it in .raw for raw samples"
            : "The copy has no name%s: it must end in one of " ENDINGS,
      path);
  return FALSE;
}

/* TRUE if a header exists at @path and names the file @data in a field ("=" or
 * ":") or in a line of a list. */
static gboolean
names_data (const gchar *path, const gchar *data)
{
  g_autofree gchar *name = g_path_get_basename (data);
  g_autofree gchar *header = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &header, NULL, NULL))
    return FALSE;
  lines = g_strsplit (header, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    gchar *sign = strpbrk (lines[i], "=:");
    gchar *value = g_strstrip (sign ? sign + 1 : lines[i]);
    const gchar *folder = strrchr (value, '/');

    if (strcmp (folder ? folder + 1 : value, name) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Refuses to replace a device, and samples that another header names. */
static gboolean
check_replaced (NdTarget *target, GError **error)
{
  const gchar *const paths[] = { target->path, target->data_path };
  struct stat info;

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    if (!paths[i] || stat (paths[i], &info) != 0)
      continue;
    if (target->format == ND_TARGET_ZARR) {
      g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
          "\"%s\" cannot be written: it exists, and folders are not replaced; "
          "remove it or choose another name",
          paths[i]);
      return FALSE;
    }
    if (!S_ISREG (info.st_mode)) {
      g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
          "\"%s\" cannot be written: it is a folder or a device, it must be a "
          "file",
          paths[i]);
      return FALSE;
    }
    if (i == 1 && !names_data (target->path, target->data_path)) {
      g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
          "\"%s\" cannot be written: its samples would replace \"%s\", which "
          "is not its own; choose another name",
          target->path, paths[i]);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
nd_target_init (NdTarget *target, const gchar *path, gboolean compress,
    GError **error)
{
  memset (target, 0, sizeof (*target));
  target->path = g_strdup (path);
  target->partial = g_strconcat (path, ".part", NULL);
  target->list =
      has_ending (path, ".seq.nrrd") || has_ending (path, ".seq.nhdr");
  target->plus =
      has_ending (path, ".igs.nrrd") || has_ending (path, ".igs.nhdr");
  target->old = has_ending (path, ".v2.zarr");
  target->ome = has_ending (path, ".ome.tif") || has_ending (path, ".ome.tiff");
  target->compress = compress;
  if (!read_ending (target, compress, error))
    return FALSE;
  if (compress && target->packing == ND_PACKING_NONE
      && target->format != ND_TARGET_ZARR) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "\"%s\" cannot be compressed: only "
        ".nii.gz, .nrrd, .nhdr, .mha, .mhd and .zarr can",
        path);
    return FALSE;
  }
  return check_replaced (target, error);
}

void
nd_target_clear (NdTarget *target)
{
  g_clear_pointer (&target->path, g_free);
  g_clear_pointer (&target->partial, g_free);
  g_clear_pointer (&target->data_path, g_free);
  g_clear_pointer (&target->data_partial, g_free);
}

const gchar *
nd_target_partial_path (const NdTarget *target)
{
  return target->data_partial ? target->data_partial : target->partial;
}

/* Sets the error for the errno @reason; 0: none. */
static void
set_open_error (const gchar *partial, gint reason, GError **error)
{
  g_autofree gchar *folder = g_path_get_dirname (partial);

  if (reason == ENOENT)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
        "\"%s\" cannot be opened for writing: there is no folder \"%s\"",
        partial, folder);
  else if (reason == EBUSY)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
        "\"%s\" cannot be opened for writing: another sink or program is "
        "writing it; choose another name",
        partial);
  else if (reason == EEXIST)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
        "\"%s\" cannot be opened for writing: it exists and is a link, has a "
        "second name, is of another kind or belongs to another user; remove it "
        "or choose another name",
        partial);
  else if (reason)
    g_set_error (error, ND_ERROR,
        reason == ENOSPC || reason == EDQUOT ? ND_ERROR_DISK_FULL
                                             : ND_ERROR_OPEN_WRITE,
        "\"%s\" cannot be opened for writing: %s", partial,
        g_strerror (reason));
}

gboolean
nd_target_open (const NdTarget *target, NdOutput **samples, NdOutput **header,
    GError **error)
{
  const gchar *path = target->data_path ? target->data_path : target->path;
  gint reason = nd_output_open (samples, path, target->packing);

  *header = NULL;
  set_open_error (nd_target_partial_path (target), reason, error);
  if (reason || !target->data_path)
    return reason == 0;
  reason = nd_output_open (header, target->path, ND_PACKING_NONE);
  set_open_error (target->partial, reason, error);
  if (!reason)
    return TRUE;
  nd_part_remove (nd_output_part (*samples));
  nd_output_close (g_steal_pointer (samples));
  return FALSE;
}

NdZarrWriter *
nd_target_open_folder (const NdTarget *target, GError **error)
{
  gint reason;
  NdZarrWriter *writer =
      nd_zarr_writer_new (target->path, target->old, target->compress, &reason);

  if (reason == ENOTEMPTY)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE,
        "\"%s\" cannot be written: the folder has files that are not of "
        "OME-Zarr; remove it or choose another name",
        target->partial);
  else if (reason == ENOSYS)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "\"%s\" cannot be written: this build has no OME-Zarr; build ndconv "
        "with json-glib, blosc and Zstandard (libjson-glib-dev, libblosc-dev, "
        "libzstd-dev), or write .npy",
        target->path);
  else
    set_open_error (target->partial, reason, error);
  return writer;
}

static gboolean
give_name (const NdTarget *target, const NdPart *part, const gchar *partial,
    const gchar *path, GError **error)
{
  g_autofree gchar *folder = g_path_get_dirname (path);
  const gint reason = nd_part_rename (part);

  if (reason == ENOENT)
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE,
        "\"%s\" is lost: the folder \"%s\" or \"%s\" vanished while it was "
        "written",
        target->path, folder, partial);
  else if (reason)
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE,
        "\"%s\" is complete but cannot be named \"%s\": %s", partial, path,
        g_strerror (reason));
  return reason == 0;
}

gboolean
nd_target_rename (const NdTarget *target, const NdPart *samples,
    const NdPart *header, GError **error)
{
  const gboolean ok = header
      ? give_name (target, samples, target->data_partial, target->data_path,
            error)
          && give_name (target, header, target->partial, target->path, error)
      : give_name (target, samples, target->partial, target->path, error);

  if (ok)
    nd_part_sync_name (samples);
  return ok;
}

/* What each format holds beside the samples: the table from which a writer says
 * what is lost, and a reader what a file cannot have.
 */

typedef enum
{
  HOLDS_SPACING = 1 << 0,
  HOLDS_ORIGIN = 1 << 1,
  HOLDS_DIRECTIONS = 1 << 2,
  HOLDS_RATE = 1 << 3,
  HOLDS_BEGIN = 1 << 4,
  HOLDS_TIMES = 1 << 5,
  HOLDS_FIELDS = 1 << 6,
  HOLDS_ALL = (1 << 7) - 1
} Holds;

static const gchar *const words[] = { "spacing", "origin", "directions", "rate",
  "time of the first volume", "times of single volumes", "fields" };

/* Raw files are known to hold samples alone. */
static const struct
{
  NdTargetFormat format;
  const gchar *name; /* its begin */
  guint holds;
} table[] = {
  { ND_TARGET_RAW, "raw", HOLDS_ALL },
  { ND_TARGET_NIFTI, "NIfTI", HOLDS_ALL },
  { ND_TARGET_NRRD, "NRRD", HOLDS_ALL },
  { ND_TARGET_METAIMAGE, "MetaImage", HOLDS_ALL },
  { ND_TARGET_NPY, "NumPy", 0 },
  { ND_TARGET_TIFF, "TIFF", HOLDS_SPACING | HOLDS_ORIGIN | HOLDS_RATE },
  { ND_TARGET_ZARR, "OME-Zarr",
      HOLDS_SPACING | HOLDS_ORIGIN | HOLDS_RATE | HOLDS_BEGIN },
};

/* "a, b and c" of what is in @lost, with @last for the last one's number. */
static gchar *
target_list (guint lost, const gchar *the, const gchar *last)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    const guint left = lost >> (i + 1);

    if (!(lost >> i & 1))
      continue;
    if (text->len > 0)
      g_string_append (text, left || !*the ? ", " : " and ");
    if (1 << i == HOLDS_FIELDS && last)
      g_string_append (text, last);
    else
      g_string_append_printf (text, "%s%s", the, words[i]);
  }
  return g_string_free (text, FALSE);
}

gchar *
nd_holds_not (const gchar *format)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    if (g_str_has_prefix (format, table[i].name))
      return table[i].holds == HOLDS_ALL
          ? NULL
          : target_list (HOLDS_ALL & ~table[i].holds, "", NULL);
  }
  return NULL;
}

/* NIfTI's transforms are the geometry, which is looked at itself. */
static guint
count_fields (const NdMetadata *source)
{
  guint n = source->volume_fields->len;

  for (guint i = 0; i < source->fields->len; i++) {
    const gchar *key = g_array_index (source->fields, NdField, i).key;

    n += strcmp (key, "NIfTI.qform") != 0
        && strcmp (key, "NIfTI.sform_code") != 0;
  }
  return n;
}

static gboolean
are_regular (const NdList *times)
{
  for (guint i = 2; i < times->len; i++) {
    const gint64 *time = &g_array_index (times, gint64, i);

    if (ABS (time[0] - 2 * time[-1] + time[-2]) > 2)
      return FALSE;
  }
  return TRUE;
}

/* What the recording has. */
static guint
find_used (const NdRecording *recording, const NdMetadata *source,
    gint64 origin)
{
  const NdGeometry *geometry = &recording->geometry;
  guint used = recording->rate_n > 0 ? HOLDS_RATE : 0;

  for (guint i = 0; i < 3 && geometry->known; i++) {
    used |= geometry->spacing[i] != 1 ? HOLDS_SPACING : 0;
    used |= geometry->origin[i] != 0 ? HOLDS_ORIGIN : 0;
  }
  if (geometry->known && !nd_axes_are_plain (geometry))
    used |= HOLDS_DIRECTIONS;
  if (!source)
    return used;
  used |= origin != 0 ? HOLDS_BEGIN : 0;
  used |= count_fields (source) > 0 ? HOLDS_FIELDS : 0;
  if (recording->rate_n == 0 && !are_regular (source->times))
    used |= HOLDS_TIMES;
  return used;
}

gchar *
nd_holds_lost (const NdTarget *target, const NdRecording *recording,
    const NdMetadata *source, gint64 origin)
{
  g_autofree gchar *number = NULL, *names = NULL;
  guint lost = find_used (recording, source, origin);

  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    if (table[i].format == target->format)
      lost &= target->ome ? ~(table[i].holds & ~HOLDS_ORIGIN) : ~table[i].holds;
  }
  if (lost == 0)
    return NULL;
  if (lost & HOLDS_FIELDS)
    number = g_strdup_printf ("%u field%s", count_fields (source),
        count_fields (source) == 1 ? "" : "s");
  names = target_list (lost, "the ", number);
  return g_strdup_printf ("\"%s\" does not hold %s of the recording: .nrrd, "
                          ".mha and .nii do",
      target->path, names);
}
