/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/hdf5volumes.h"

#include "core/error.h"
#include "formats/hdf5kinds.h"

#include <string.h>

/* More than any microscope has. Each is looked up for each volume. */
#define MAX_CHANNELS 1024

#define MAX_CHUNKS (1 << 20) /* of a volume */

typedef struct
{
  NdSlices base;
  NdHdf5File file;
  NdHdf5Kinds kinds;
  guint channels;
  NdHdf5Array first; /* how all arrays must be */
  gsize size[3];     /* of a volume */
  NdHdf5Array
      arrays[2]; /* so that both parts of complex samples keep a chunk */
} Hdf5;

gboolean
nd_hdf5_detect (const guint8 *bytes, gsize n)
{
  return n >= 8 && memcmp (bytes, "\x89HDF\r\n\x1a\n", 8) == 0;
}

static void
free_hdf5 (NdSlices *slices)
{
  Hdf5 *hdf5 = (Hdf5 *) slices;

  for (guint i = 0; i < G_N_ELEMENTS (hdf5->arrays); i++)
    nd_hdf5_array_clear (&hdf5->arrays[i], &hdf5->file);
  nd_hdf5_kinds_clear (&hdf5->kinds);
  g_free (hdf5);
}

static gboolean
open_array (Hdf5 *hdf5, NdHdf5Array *array, const gchar *path,
    const gchar **reason)
{
  const NdHdf5Array *first = &hdf5->first;

  if (strcmp (array->path, path) == 0)
    return TRUE;
  *array->path = 0;
  if (!nd_hdf5_array_open (array, &hdf5->file, path, reason))
    return FALSE;
  if (array->type == first->type && array->swapped == first->swapped
      && array->axes == first->axes
      && memcmp (array->size, first->size, first->axes * sizeof (*first->size))
          == 0)
    return TRUE;
  *array->path = 0;
  *reason = "its array has another size or type than the first one";
  return FALSE;
}

static gboolean
hdf5_volumes_read_volume (NdSlices *slices, guint64 volume, guint8 *samples,
    const gchar **reason)
{
  Hdf5 *hdf5 = (Hdf5 *) slices;
  const guint axes = hdf5->first.axes;
  const gsize width = nd_stored_size (hdf5->first.type);
  guint64 start[ND_HDF5_AXES] = { 0 }, count[ND_HDF5_AXES];
  gchar path[ND_HDF5_TEXT];

  hdf5->file.left = ND_HDF5_LOOKS;
  memcpy (count, hdf5->first.size, sizeof (count));
  if (hdf5->kinds.kind != ND_HDF5_UFF) {
    for (guint a = 0; a < 3; a++)
      count[2 - a] = hdf5->size[a];
  } else if (axes == 4) {
    start[0] = volume;
    count[0] = 1;
  }
  for (guint c = 0; c < hdf5->channels; c++) {
    NdHdf5Array *array = &hdf5->arrays[c % G_N_ELEMENTS (hdf5->arrays)];

    nd_hdf5_kinds_path (&hdf5->kinds, volume, c, path);
    if (!open_array (hdf5, array, path, reason)
        || !nd_hdf5_array_read (array, &hdf5->file, start, count,
            samples + c * width, hdf5->channels * width, reason))
      return FALSE;
  }
  return TRUE;
}

static gboolean
hdf5_volumes_refuse (const gchar *path, const gchar *reason, NdError code,
    GError **error)
{
  g_set_error (error, ND_ERROR, code, "\"%s\" cannot be read: %s", path,
      reason);
  return FALSE;
}

static gboolean
hdf5_volumes_refuse_kind (Hdf5 *hdf5, const gchar *path, GError **error)
{
  if (nd_hdf5_file_has (&hdf5->file, "minc-2.0"))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is MINC, which is not read: python3 -c \"import sys, nibabel; "
        "image = nibabel.load (sys.argv[1]); nibabel.save "
        "(nibabel.Nifti1Image (image.get_fdata (), image.affine), 'new.nii')\" "
        "FILE converts it to NIfTI (pip install nibabel h5py)",
        path);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is HDF5, but not of Imaris, BigDataViewer or UFF: python3 -c "
        "\"import sys, h5py, numpy; numpy.save ('new.npy', h5py.File "
        "(sys.argv[1]) [sys.argv[2]][:])\" FILE DATASET makes .npy of one of "
        "its arrays (pip install h5py)",
        path);
  return FALSE;
}

/* Set-ups of other sizes than the first are not read. */
static void
drop_channels (Hdf5 *hdf5, NdHeader *header, const gchar *path)
{
  NdList *channels = hdf5->kinds.channels;
  const guint all = channels->len;
  guint kept = 1;

  for (guint c = 1; c < all; c++) {
    gchar name[ND_HDF5_TEXT];
    const gchar *reason;

    nd_hdf5_kinds_path (&hdf5->kinds, 0, c, name);
    if (open_array (hdf5, &hdf5->arrays[0], name, &reason))
      g_array_index (channels, guint32, kept++) =
          g_array_index (channels, guint32, c);
  }
  nd_list_set_size (channels, kept);
  if (kept < all)
    nd_header_warn (header,
        "%u of the %u channels or set-ups of \"%s\" have another size or type "
        "than the first and are not read",
        all - kept, all, path);
}

static void
warn_of_gaps (const Hdf5 *hdf5, NdHeader *header, const gchar *path)
{
  const NdList *times = hdf5->kinds.times;
  const guint32 *number = (const guint32 *) times->data;

  if (times->len > 0 && number[times->len - 1] - number[0] >= times->len)
    nd_header_warn (header,
        "\"%s\" lacks %u of its time points: the others follow each other",
        path, number[times->len - 1] - number[0] + 1 - times->len);
}

/* Sizes, and how many channels and volumes there are. */
static gboolean
hdf5_volumes_set_recording (Hdf5 *hdf5, NdHeader *header, const gchar *path,
    GError **error)
{
  NdRecording *recording = &header->recording;
  const NdHdf5Kinds *kinds = &hdf5->kinds;
  const NdHdf5Array *first = &hdf5->first;
  const guint axes = first->axes;
  const gboolean is_uff = kinds->kind == ND_HDF5_UFF;

  if (is_uff ? axes > 4 : axes != 3)
    return hdf5_volumes_refuse (path, "its arrays have another number of axes",
        ND_ERROR_FORMAT, error);
  recording->volumes = is_uff && axes == 4 ? first->size[0]
      : is_uff                             ? 1u
                                           : kinds->times->len;
  for (guint a = 0; a < 3; a++)
    recording->shape.size[a] = a < axes ? first->size[axes - 1 - a] : 1;
  if (!is_uff && kinds->channels->len > MAX_CHANNELS)
    return hdf5_volumes_refuse (path, "it has more than 1024 channels",
        ND_ERROR_FORMAT, error);
  if (!is_uff)
    drop_channels (hdf5, header, path);
  nd_hdf5_kinds_crop (kinds, &hdf5->file, recording->shape.size);
  memcpy (hdf5->size, recording->shape.size, sizeof (hdf5->size));
  hdf5->channels = !is_uff ? kinds->channels->len : kinds->is_complex ? 2 : 1;
  recording->shape.components = hdf5->channels;
  for (guint a = 0; a < 3; a++) {
    if (recording->shape.size[a] == 0)
      return hdf5_volumes_refuse (path, "an array is empty", ND_ERROR_READ,
          error);
  }
  if (recording->volumes == 0)
    return hdf5_volumes_refuse (path, "it has no volumes", ND_ERROR_READ,
        error);
  header->stored.type = first->type;
  header->stored.swapped = first->swapped;
  /* It has no type without sign. */
  if (kinds->kind == ND_HDF5_BIGDATAVIEWER && first->type == ND_STORED_INT16)
    header->stored.type = ND_STORED_UINT16;
  warn_of_gaps (hdf5, header, path);
  nd_hdf5_kinds_describe (kinds, &hdf5->file, header, path);
  return nd_header_settle (header, path, error);
}

static gboolean
hdf5_volumes_check_claim (const Hdf5 *hdf5, const NdHeader *header,
    const gchar *path, GError **error)
{
  const NdHdf5Array *first = &hdf5->first;
  const guint64 size = nd_input_size (hdf5->file.input);
  guint64 bytes = nd_stored_size (first->type), chunks = hdf5->channels;

  for (guint a = 0; a < first->axes; a++) {
    if (!g_uint64_checked_mul (&bytes, bytes, first->size[a]))
      return hdf5_volumes_refuse (path, "its sizes are damaged", ND_ERROR_READ,
          error);
    if (first->is_chunked && chunks <= MAX_CHUNKS)
      chunks *= MIN (first->size[a] / first->chunk[a], MAX_CHUNKS) + 1;
  }
  if (chunks > MAX_CHUNKS)
    return hdf5_volumes_refuse (path, "it has more than a million chunks",
        ND_ERROR_FORMAT, error);
  if (first->is_chunked || first->place == G_MAXUINT64
      || (first->place <= size && bytes <= size - first->place))
    return TRUE;
  return hdf5_volumes_refuse (path, "it is truncated", ND_ERROR_READ, error);
}

static gboolean
hdf5_volumes_read_header (Hdf5 *hdf5, NdHeader *header, const gchar *path,
    GError **error)
{
  static const gchar *const names[] = { [ND_HDF5_IMARIS] = "Imaris",
    [ND_HDF5_BIGDATAVIEWER] = "BigDataViewer",
    [ND_HDF5_UFF] = "UFF" };
  const gchar *reason;
  gchar name[ND_HDF5_TEXT];

  if (!nd_hdf5_file_open (&hdf5->file))
    return hdf5_volumes_refuse (path, "it is damaged or truncated HDF5",
        ND_ERROR_READ, error);
  if (!nd_hdf5_kinds_find (&hdf5->kinds, &hdf5->file))
    return nd_budget_refuse (&header->budget, path, error);
  if (hdf5->kinds.kind == ND_HDF5_NONE)
    return hdf5_volumes_refuse_kind (hdf5, path, error);
  header->format = names[hdf5->kinds.kind];
  nd_hdf5_kinds_path (&hdf5->kinds, 0, 0, name);
  if (!nd_hdf5_array_open (&hdf5->first, &hdf5->file, name, &reason))
    return hdf5_volumes_refuse (path, reason, ND_ERROR_FORMAT, error);
  return hdf5_volumes_set_recording (hdf5, header, path, error)
      && hdf5_volumes_check_claim (hdf5, header, path, error);
}

gboolean
nd_hdf5_open (NdHeader *header, NdInput *input, const gchar *path,
    GError **error)
{
  Hdf5 *hdf5 = g_new0 (Hdf5, 1);

  nd_header_init (header, "HDF5");
  hdf5->base.read_volume = hdf5_volumes_read_volume;
  hdf5->base.free = free_hdf5;
  hdf5->file.input = input;
  hdf5->file.budget = &header->budget;
  header->slices = &hdf5->base;
  return hdf5_volumes_read_header (hdf5, header, path, error);
}
