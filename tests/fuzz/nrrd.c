/* NRRD, from the first line of the header to the last sample.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/nrrd.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

const gchar *const fuzz_name = "nrrd";

gboolean
fuzz_parse (NdHeader *header, guint8 *bytes, gsize n, GError **error)
{
  return nd_nrrd_parse (header, bytes, n, "/proc/self/fd/nrrd", error);
}

void
fuzz_seeds (GPtrArray *seeds)
{
  seeds_append_written (seeds, ".seq.nrrd", FALSE);
  seeds_append_written (seeds, ".igs.nrrd", TRUE);
  /* 3D Slicer wrote this order before version 5.10. */
  seeds_append_text (seeds,
      "NRRD0005\n# Slicer\ntype: short\ndimension: 4\n"
      "space: right-anterior-superior\nsizes: 3 4 3 2\nspace directions: none "
      "(1,0,0) (0,1,0) (0,0,2.5)\nkinds: list domain domain domain\n"
      "labels: \"time\" \"\" \"\" \"\"\nunits: \"ms\" \"\" \"\" \"\"\n"
      "endian: big\nencoding: raw\nspace origin: (-1,2,3e1)\n"
      "measurement frame: (1,0,0) (0,1,0) (0,0,1)\n"
      "DataNodeClassName:=vtkMRMLScalarVolumeNode\naxis 0 index type:=numeric\n"
      "axis 0 index values:=0 40.5 90\n\n",
      144);
  seeds_append_text (seeds,
      "NRRD0004\ntype: double\ndimension: 5\n"
      "sizes: 2 3 2 2 4\nkinds: 2-vector space space space time\nspacings: nan "
      "0.5 0.5 1 0.05\nlabels: \"\" \"x\" \"y\" \"z\" \"time\"\n"
      "endian: little\nencoding: raw\nline skip: 1\nbyte skip: 3\n"
      "\nskipped\n...",
      768);
  seeds_append_text (seeds,
      "NRRD0004\ntype: uchar\ndimension: 3\n"
      "sizes: 4 3 5\nspace dimension: 2\nspace directions: (1,0) (0,1) none\n"
      "encoding: raw\nbyte skip: -1\ncontent: frames\nkey:=a\\nb\\\\c\n\nx",
      60);
  seeds_append_text (seeds,
      "NRRD0004\ntype: float\ndimension: 4\n"
      "sizes: 2 2 2 2\nencoding: gzip\nendian: little\n"
      "data file: slice%03d.gz 0 3 1 2\n\n",
      0);
  seeds_append_text (seeds,
      "NRRD0004\ntype: int8\ndimension: 3\n"
      "sizes: 2 2 2\nencoding: raw\ndata file: LIST 2\na.raw\nb.raw\n",
      0);
}
