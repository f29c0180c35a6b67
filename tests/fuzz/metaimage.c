/* MetaImage, from the first line of the header to the last sample.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/metaimage.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

const gchar *const fuzz_name = "metaimage";

gboolean
fuzz_parse (NdHeader *header, guint8 *bytes, gsize n, GError **error)
{
  return nd_metaimage_parse (header, bytes, n, "/proc/self/fd/mha", error);
}

void
fuzz_seeds (GPtrArray *seeds)
{
  seeds_append_written (seeds, ".mha", FALSE);
  seeds_append_written (seeds, ".igs.mha", TRUE);
  seeds_append_text (seeds,
      "ObjectType = Image\nNDims = 3\n"
      "BinaryData = True\nBinaryDataByteOrderMSB = True\n"
      "CompressedData = False\nTransformMatrix = 1 0 0 0 1 0 0 0 1\n"
      "Offset = -1 2 3e1\nCenterOfRotation = 0 0 0\n"
      "AnatomicalOrientation = RAI\nElementSpacing = 1 1 1\n"
      "DimSize = 4 3 3              \nKinds = domain domain list\n"
      "UltrasoundImageOrientation = MF\n"
      "Seq_Frame0000_Timestamp = 1.5\nSeq_Frame0001_Timestamp = 1.6\n"
      "Seq_Frame0002_Timestamp = 1.75\nSeq_Frame0002_ImageStatus = OK\n"
      "ElementType = MET_SHORT\nElementDataFile = LOCAL\n",
      72);
  seeds_append_text (seeds,
      "NDims = 4\nDimSize = 2 2 2 3\n"
      "ElementType = MET_DOUBLE\nElementSpacing = 1 1 1 0.05\n"
      "ElementNumberOfChannels = 2\nHeaderSize = -1\n"
      "ElementByteOrderMSB = False\nElementDataFile = LOCAL\nxyz",
      384);
  seeds_append_text (seeds,
      "ObjectType = Image\nNDims = 3\nDimSize = 2 2 4\n"
      "ElementType = MET_UCHAR\nElementDataFile = s%02d.raw 1 4 1\n",
      0);
  seeds_append_text (seeds,
      "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\n"
      "ElementType = MET_UCHAR\nHeaderSize = 2\nElementDataFile = LIST 2\n"
      "a.raw\nb.raw\n",
      0);
}
