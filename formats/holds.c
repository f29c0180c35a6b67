/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/holds.h"

#include <string.h>

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
  { ND_TARGET_TIFF, "TIFF", HOLDS_SPACING | HOLDS_RATE },
  { ND_TARGET_ZARR, "OME-Zarr",
      HOLDS_SPACING | HOLDS_ORIGIN | HOLDS_RATE | HOLDS_BEGIN },
};

/* "a, b and c" of what is in @lost, with @last for the last one's number. */
static gchar *
list (guint lost, const gchar *the, const gchar *last)
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
          : list (HOLDS_ALL & ~table[i].holds, "", NULL);
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

  for (guint i = 0; i < 9 && geometry->known; i++) {
    used |= i < 3 && geometry->spacing[i] != 1 ? HOLDS_SPACING : 0;
    used |= i < 3 && geometry->origin[i] != 0 ? HOLDS_ORIGIN : 0;
    used |= geometry->directions[i] != (i % 4 == 0) ? HOLDS_DIRECTIONS : 0;
  }
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
      lost &= ~table[i].holds;
  }
  if (lost == 0)
    return NULL;
  if (lost & HOLDS_FIELDS)
    number = g_strdup_printf ("%u fields", count_fields (source));
  names = list (lost, "the ", number);
  return g_strdup_printf ("\"%s\" does not hold %s of the recording: .nrrd, "
                          ".mha and .nii do",
      target->path, names);
}
