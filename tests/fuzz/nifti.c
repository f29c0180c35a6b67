/* NIfTI, plain and compressed, from the first byte of the header to the last
 * sample.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/nifti.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include <nifti/nifti1.h>
#include <nifti/nifti2.h>
#include <string.h>

const gchar *const fuzz_name = "nifti";

gboolean
fuzz_parse (NdHeader *header, guint8 *bytes, gsize n, GError **error)
{
  return nd_nifti_parse (header, bytes, n, "nii", error);
}

void
fuzz_seeds (GPtrArray *seeds)
{
  nifti_2_header wide = { .sizeof_hdr = 540,
    .magic = "n+2\0\r\n\032\n",
    .datatype = DT_INT32,
    .bitpix = 32,
    .dim = { 4, 3, 2, 2, 3, 1, 1, 1 },
    .pixdim = { 1, 1, 1, 1, 0.05 },
    .vox_offset = 544,
    .scl_slope = 2,
    .scl_inter = -1,
    .sform_code = 1,
    .srow_x = { 1 },
    .srow_y = { 0, 1 },
    .srow_z = { 0, 0, 1 } };
  GByteArray *bytes = g_byte_array_new ();

  seeds_append_written (seeds, ".nii", FALSE);
  seeds_append_written (seeds, ".nii.gz", FALSE);
  g_byte_array_append (bytes, (const guint8 *) &wide, sizeof (wide));
  g_byte_array_set_size (bytes, 544 + 144);
  memset (bytes->data + 540, 0, 148);
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (bytes));
}
