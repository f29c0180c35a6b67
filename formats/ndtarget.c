/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndtarget.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/nderror.h"

typedef struct
{
  const gchar *ending;
  NdTargetFormat format;
  /* Without and with compress: */
  NdPacking packing[2];
  const gchar *data[2];         /* endings of the samples' file; or NULL */
} Ending;

static const Ending endings[] = {
  {".nii.gz", ND_TARGET_NIFTI, {ND_PACKING_GZIP, ND_PACKING_GZIP}},
  {".nii", ND_TARGET_NIFTI},
  {".nrrd", ND_TARGET_NRRD, {ND_PACKING_NONE, ND_PACKING_GZIP}},
  {".nhdr", ND_TARGET_NRRD, {ND_PACKING_NONE, ND_PACKING_GZIP},
      {".raw", ".raw.gz"}},
  {".mha", ND_TARGET_METAIMAGE, {ND_PACKING_NONE, ND_PACKING_ZLIB}},
  {".mhd", ND_TARGET_METAIMAGE, {ND_PACKING_NONE, ND_PACKING_ZLIB},
      {".raw", ".zraw"}},
};

#define ENDINGS ".nii, .nii.gz, .nrrd, .nhdr, .mha, .mhd, .raw"

static const gchar *const unsupported_endings[] = {
  ".gz", ".hdr", ".img", ".npy", ".dcm", ".tif", ".tiff", ".png", ".zraw"
};

static gboolean
has_ending (const gchar * path, const gchar * ending)
{
  gsize length = strlen (path), n = strlen (ending);

  return length > n && g_ascii_strcasecmp (path + length - n, ending) == 0;
}

/* One of ours, otherwise raw, unless it is another format's. */
static gboolean
read_ending (NdTarget * target, gboolean compress, GError ** error)
{
  const gchar *path = target->path;

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    const Ending *ending = &endings[i];

    if (!has_ending (path, ending->ending))
      continue;
    target->format = ending->format;
    target->packing = ending->packing[compress];
    if (ending->data[compress]) {
      target->data_path = g_strdup_printf ("%.*s%s", (gint) (strlen (path)
              - strlen (ending->ending)), path, ending->data[compress]);
      target->data_part = g_strconcat (target->data_path, ".part", NULL);
    }
    return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (unsupported_endings); i++) {
    if (has_ending (path, unsupported_endings[i])) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "\"%s\" cannot be "
          "written: the ending %s is none of " ENDINGS, path,
          unsupported_endings[i]);
      return FALSE;
    }
  }
  return TRUE;
}

/* Whether the header at @path is there and names the file @data, in a field
 * ("=" or ":") or in a line of a list. */
static gboolean
names_data (const gchar * path, const gchar * data)
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

/* It is replaced in the end: a device must not be, nor another's samples. */
static gboolean
check_replaced (NdTarget * target, GError ** error)
{
  const gchar *const paths[] = { target->path, target->data_path };
  struct stat info;

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    if (!paths[i] || stat (paths[i], &info) != 0)
      continue;
    if (!S_ISREG (info.st_mode)) {
      g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "\"%s\" cannot be "
          "written: it is a folder or a device, it must be a file", paths[i]);
      return FALSE;
    }
    if (i == 1 && !names_data (target->path, target->data_path)) {
      g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "\"%s\" cannot be "
          "written: its samples would replace \"%s\", which is not its own; "
          "choose another name", target->path, paths[i]);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
nd_target_init (NdTarget * target, const gchar * path, gboolean compress,
    GError ** error)
{
  memset (target, 0, sizeof (*target));
  target->path = g_strdup (path);
  target->part = g_strconcat (path, ".part", NULL);
  target->list = has_ending (path, ".seq.nrrd")
      || has_ending (path, ".seq.nhdr");
  target->plus = has_ending (path, ".igs.nrrd")
      || has_ending (path, ".igs.nhdr");
  if (!read_ending (target, compress, error))
    return FALSE;
  if (compress && target->packing == ND_PACKING_NONE) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "\"%s\" cannot be "
        "compressed: of a format with this ending only .nii.gz, .nrrd, .nhdr, "
        ".mha and .mhd can", path);
    return FALSE;
  }
  return check_replaced (target, error);
}

void
nd_target_clear (NdTarget * target)
{
  g_clear_pointer (&target->path, g_free);
  g_clear_pointer (&target->part, g_free);
  g_clear_pointer (&target->data_path, g_free);
  g_clear_pointer (&target->data_part, g_free);
}

const gchar *
nd_target_part (const NdTarget * target)
{
  return target->data_part ? target->data_part : target->part;
}

NdOutput *
nd_target_open (const NdTarget * target, GError ** error)
{
  const gchar *part = nd_target_part (target);
  g_autofree gchar *folder = g_path_get_dirname (part);
  NdOutput *output = NULL;
  const gint reason = nd_output_open (&output, part, target->packing);

  if (reason == ENOENT)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "\"%s\" cannot be "
        "opened for writing: there is no folder \"%s\"", part, folder);
  else if (reason == EBUSY)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "\"%s\" cannot be "
        "opened for writing: another sink or program is writing it; choose "
        "another name", part);
  else if (reason)
    g_set_error (error, ND_ERROR, reason == ENOSPC || reason == EDQUOT ?
        ND_ERROR_NO_SPACE : ND_ERROR_OPEN_WRITE, "\"%s\" cannot be opened for "
        "writing: %s", part, g_strerror (reason));
  return output;
}

static gboolean
give_name (const gchar * part, const gchar * path, GError ** error)
{
  g_autofree gchar *folder = g_path_get_dirname (path);

  if (rename (part, path) == 0)
    return TRUE;
  if (errno == ENOENT)
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE, "\"%s\" is lost: the folder "
        "\"%s\" or \"%s\" vanished while it was written", path, folder, part);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE, "\"%s\" is complete but "
        "cannot be named \"%s\": %s", part, path, g_strerror (errno));
  return FALSE;
}

gboolean
nd_target_rename (const NdTarget * target, GError ** error)
{
  return (!target->data_path
      || give_name (target->data_part, target->data_path, error))
      && give_name (target->part, target->path, error);
}

void
nd_target_remove (const NdTarget * target)
{
  unlink (target->part);
  if (target->data_part)
    unlink (target->data_part);
}
