/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicompalette.h"

#include <string.h>

/* Reads a table into every third place. Bytes of a file of big-endian words
 * change places. */
static gboolean
load_table (NdDicomPalette *palette, const NdDicomElements *elements,
    NdDicomBytes *bytes, guint colour)
{
  const NdDicomTable *table = &elements->tables[colour];
  const gsize n = palette->n * palette->width, have = n + n % 2;
  const gboolean swapped = elements->big_endian && table->words;
  guint8 *from = nd_budget_alloc (palette->budget, have);
  gboolean ok = from
      && nd_dicom_bytes_read (bytes, table->at, from, MIN (have, table->n));

  for (guint i = 0; i < palette->n && ok; i++) {
    guint8 *to = palette->colours + (3 * i + colour) * palette->width;
    guint16 word;

    if (palette->width == 1) {
      *to = from[swapped ? i ^ 1 : i];
      continue;
    }
    memcpy (&word, from + 2 * i, 2);
    word =
        elements->big_endian ? GUINT16_FROM_BE (word) : GUINT16_FROM_LE (word);
    memcpy (to, &word, 2);
  }
  nd_budget_free (palette->budget, from, have);
  return ok;
}

gboolean
nd_dicom_palette_load (NdDicomPalette *palette, const NdDicomElements *elements,
    NdDicomBytes *bytes)
{
  const NdDicomTable *red = elements->tables;

  palette->budget = bytes->budget;
  palette->n = red->entries;
  palette->first = red->first;
  palette->width = red->n < 2 * (guint64) red->entries ? 1 : 2;
  for (guint c = 0; c < 3; c++) {
    const NdDicomTable *table = &elements->tables[c];

    if (table->entries == 0 || table->entries != red->entries
        || table->first != red->first || table->n < palette->n * palette->width)
      return FALSE;
  }
  palette->size = 3 * palette->n * palette->width;
  palette->colours = nd_budget_alloc (palette->budget, palette->size);
  return palette->colours && load_table (palette, elements, bytes, 0)
      && load_table (palette, elements, bytes, 1)
      && load_table (palette, elements, bytes, 2);
}

void
nd_dicom_palette_clear (NdDicomPalette *palette)
{
  nd_budget_free (palette->budget, palette->colours, palette->size);
  *palette = (NdDicomPalette){ 0 };
}

void
nd_dicom_palette_apply (const NdDicomPalette *palette, const guint8 *samples,
    gsize bytes, gsize n, guint8 *colours)
{
  const gsize size = 3 * palette->width;

  for (gsize i = 0; i < n; i++) {
    guint16 sample = samples[i];
    guint place;

    if (bytes == 2)
      memcpy (&sample, samples + 2 * i, 2);
    place = sample < palette->first
        ? 0
        : MIN (sample - palette->first, palette->n - 1);
    memcpy (colours + i * size, palette->colours + place * size, size);
  }
}
