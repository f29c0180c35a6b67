/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/niftistruct.h"

#include "core/error.h"
#include "formats/analyze.h"

#include <math.h>
#include <string.h>

G_STATIC_ASSERT (sizeof (struct nifti_1_header) == ND_NIFTI_1_SIZE);
G_STATIC_ASSERT (sizeof (nifti_2_header) == ND_NIFTI_2_SIZE);

static const gchar magic_1[4] = "n+1";
static const gchar magic_1_pair[4] = "ni1";
static const gchar magic_2[8] = "n+2\0\r\n\032\n";
static const gchar magic_2_pair[8] = "ni2\0\r\n\032\n";

/* Runs of numbers of equal width in the two structs. */
typedef struct
{
  guint16 at, width, n;
} Run;

static const Run runs_1[] = { { 0, 4, 1 }, { 32, 4, 1 }, { 36, 2, 1 },
  { 40, 2, 8 }, { 56, 4, 3 }, { 68, 2, 4 }, { 76, 4, 11 }, { 120, 2, 1 },
  { 124, 4, 6 }, { 252, 2, 2 }, { 256, 4, 18 } };

static const Run runs_2[] = { { 0, 4, 1 }, { 12, 2, 2 }, { 16, 8, 28 },
  { 344, 4, 2 }, { 352, 8, 18 }, { 496, 4, 3 } };

static void
swap_runs (guint8 *bytes, const Run *runs, guint n_runs)
{
  for (guint r = 0; r < n_runs; r++) {
    for (guint i = 0; i < runs[r].n; i++) {
      guint8 *number = bytes + runs[r].at + i * runs[r].width;

      for (guint low = 0, high = runs[r].width - 1; low < high; low++, high--) {
        guint8 byte = number[low];

        number[low] = number[high];
        number[high] = byte;
      }
    }
  }
}

/* Copies the fields that both structs have, except vox_offset. */
#define COPY_FIELDS(to, from)            \
  (to)->datatype = (from)->datatype;     \
  (to)->bitpix = (from)->bitpix;         \
  for (guint i = 0; i < 8; i++) {        \
    (to)->dim[i] = (from)->dim[i];       \
    (to)->pixdim[i] = (from)->pixdim[i]; \
  }                                      \
  (to)->scl_slope = (from)->scl_slope;   \
  (to)->scl_inter = (from)->scl_inter;   \
  (to)->qform_code = (from)->qform_code; \
  (to)->sform_code = (from)->sform_code; \
  (to)->quatern_b = (from)->quatern_b;   \
  (to)->quatern_c = (from)->quatern_c;   \
  (to)->quatern_d = (from)->quatern_d;   \
  (to)->qoffset_x = (from)->qoffset_x;   \
  (to)->qoffset_y = (from)->qoffset_y;   \
  (to)->qoffset_z = (from)->qoffset_z;   \
  for (guint i = 0; i < 4; i++) {        \
    (to)->srow_x[i] = (from)->srow_x[i]; \
    (to)->srow_y[i] = (from)->srow_y[i]; \
    (to)->srow_z[i] = (from)->srow_z[i]; \
  }                                      \
  (to)->xyzt_units = (from)->xyzt_units; \
  (to)->toffset = (from)->toffset;       \
  memcpy ((to)->descrip, (from)->descrip, sizeof ((to)->descrip))

gsize
nd_nifti_struct_size (const guint8 *bytes, gsize n, gboolean *swapped)
{
  guint32 size;

  if (n < ND_NIFTI_1_SIZE)
    return 0;
  memcpy (&size, bytes, sizeof (size));
  *swapped = size != ND_NIFTI_1_SIZE && size != ND_NIFTI_2_SIZE;
  if (*swapped)
    size = GUINT32_SWAP_LE_BE (size);
  return size == ND_NIFTI_1_SIZE
          || (size == ND_NIFTI_2_SIZE && n >= ND_NIFTI_2_SIZE)
      ? size
      : 0;
}

gboolean
nd_nifti_unpack (nifti_2_header *wide, gboolean *swapped, gboolean *pair,
    gboolean *analyze, const guint8 *bytes, gsize n, const gchar *path,
    GError **error)
{
  const guint32 size = nd_nifti_struct_size (bytes, n, swapped);
  gdouble position;

  *analyze = FALSE;
  if (size == ND_NIFTI_1_SIZE) {
    struct nifti_1_header header;

    memcpy (&header, bytes, sizeof (header));
    if (*swapped)
      swap_runs ((guint8 *) &header, runs_1, G_N_ELEMENTS (runs_1));
    *pair = memcmp (header.magic, magic_1_pair, sizeof (magic_1)) == 0;
    *analyze = nd_nifti_detect_analyze (bytes, n);
    if (!*pair && !*analyze
        && memcmp (header.magic, magic_1, sizeof (magic_1)) != 0)
      goto no_magic;
    memset (wide, 0, sizeof (*wide));
    wide->sizeof_hdr = size;
    COPY_FIELDS (wide, &header);
    position = header.vox_offset;
    if (*analyze) {
      *pair = TRUE;
      nd_analyze_settle (wide, &header, bytes, *swapped);
    }
  } else if (size == ND_NIFTI_2_SIZE) {
    memcpy (wide, bytes, sizeof (*wide));
    if (*swapped)
      swap_runs ((guint8 *) wide, runs_2, G_N_ELEMENTS (runs_2));
    *pair = memcmp (wide->magic, magic_2_pair, sizeof (magic_2)) == 0;
    if (!*pair && memcmp (wide->magic, magic_2, sizeof (magic_2)) != 0)
      goto no_magic;
    position = wide->vox_offset;
  } else {
    goto no_magic;
  }
  /* The samples come after the header and the 4 bytes that announce
   * extensions, if they are in the same file. */
  if (!(position >= (*pair ? 0 : size + 4) && position < 0x1p62)
      || position != floor (position)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The NIfTI header of \"%s\" puts the samples at byte %g: it must be a "
        "whole number, %u or more",
        path, position, *pair ? 0 : size + 4);
    return FALSE;
  }
  wide->vox_offset = position;
  return TRUE;

no_magic:
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" begins like NIfTI but its magic is wrong: it must be \"n+1\" or "
      "\"n+2\"",
      path);
  return FALSE;
}

void
nd_nifti_pack (nifti_2_header *wide, guint8 *bytes)
{
  struct nifti_1_header header = { .sizeof_hdr = ND_NIFTI_1_SIZE,
    .regular = 'r',
    .vox_offset = wide->vox_offset };

  if (wide->sizeof_hdr == ND_NIFTI_2_SIZE) {
    memcpy (wide->magic, magic_2, sizeof (magic_2));
    memcpy (bytes, wide, sizeof (*wide));
    return;
  }
  memcpy (header.magic, magic_1, sizeof (magic_1));
  COPY_FIELDS (&header, wide);
  memcpy (bytes, &header, sizeof (header));
}
