/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicomcodecs.h"

#include <string.h>

typedef enum
{
  CODEC_NONE,
  CODEC_JPEG,
  CODEC_JPEGLS,
  CODEC_JPEG2000
} Codec;

/* DICOM PS3.6, annex A. */
static Codec
find_codec (const gchar *syntax)
{
  static const struct
  {
    const gchar *syntax;
    Codec codec;
  } codecs[] = {
#ifdef HAVE_JPEG
    { "1.2.840.10008.1.2.4.50", CODEC_JPEG },
    { "1.2.840.10008.1.2.4.51", CODEC_JPEG },
#endif
#ifdef HAVE_JPEGLS
    { "1.2.840.10008.1.2.4.80", CODEC_JPEGLS },
    { "1.2.840.10008.1.2.4.81", CODEC_JPEGLS },
#endif
#ifdef HAVE_JPEG2000
    { "1.2.840.10008.1.2.4.90", CODEC_JPEG2000 },
    { "1.2.840.10008.1.2.4.91", CODEC_JPEG2000 },
    { "1.2.840.10008.1.2.4.201", CODEC_JPEG2000 }, /* high throughput */
    { "1.2.840.10008.1.2.4.202", CODEC_JPEG2000 },
    { "1.2.840.10008.1.2.4.203", CODEC_JPEG2000 },
#endif
    { "", CODEC_NONE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (codecs); i++) {
    if (strcmp (syntax, codecs[i].syntax) == 0)
      return codecs[i].codec;
  }
  return CODEC_NONE;
}

gboolean
nd_dicom_codec_has (const gchar *syntax, guint bits)
{
  const Codec codec = find_codec (syntax);

  return codec != CODEC_NONE && (codec != CODEC_JPEG || bits == 8);
}

guint64
nd_dicom_codec_ratio (const gchar *syntax)
{
  /* OpenJPEG has several integers for a sample. */
  return find_codec (syntax) == CODEC_JPEG2000 ? 256 : 1032;
}

gboolean
nd_dicom_codec_read (const gchar *syntax, const NdDicomPacked *frame,
    guint8 *samples, gboolean *is_rgb, const gchar **reason)
{
  *is_rgb = FALSE;
  *reason = "this build has no decoder for it";
  switch (find_codec (syntax)) {
#ifdef HAVE_JPEG
    case CODEC_JPEG:
      return nd_dicom_jpeg_read (frame, samples, is_rgb, reason);
#endif
#ifdef HAVE_JPEGLS
    case CODEC_JPEGLS:
      return nd_dicom_jpegls_read (frame, samples, reason);
#endif
#ifdef HAVE_JPEG2000
    case CODEC_JPEG2000:
      return nd_dicom_jpeg2000_read (frame, samples, reason);
#endif
    default:
      return FALSE;
  }
}
