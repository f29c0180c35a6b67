/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffsamples.h"

#include "core/error.h"

/* The largest number of bytes that one compressed byte can become, which limits
 * the sizes that a header may claim: for deflate, for 12-bit codes of LZW, for
 * a block of Zstandard. */
#define DEFLATE_RATIO 1032
#define LZW_RATIO 1350
#define PACKBITS_RATIO 64
#define ZSTD_RATIO 32768

gboolean
nd_tiff_samples_type (const NdTiffPage *page, NdStored *stored, gsize *parts)
{
  static const NdStoredType integers[2][4] = {
    { ND_STORED_UINT8, ND_STORED_UINT16, ND_STORED_UINT32, ND_STORED_UINT64 },
    { ND_STORED_INT8, ND_STORED_INT16, ND_STORED_INT32, ND_STORED_INT64 },
  };
  const gboolean is_complex = page->format == SAMPLEFORMAT_COMPLEXIEEEFP;
  const guint bits = is_complex ? page->bits / 2 : page->bits;

  *parts = is_complex ? 2 : 1;
  if (bits > 0 && bits < 16 && bits != 8
      && (page->format == SAMPLEFORMAT_UINT
          || page->format == SAMPLEFORMAT_VOID)) {
    stored->type = bits < 8 ? ND_STORED_UINT8 : ND_STORED_UINT16;
    return TRUE;
  }
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return FALSE;
  if (page->format == SAMPLEFORMAT_IEEEFP || is_complex) {
    stored->type = bits == 16 ? ND_STORED_FLOAT16
        : bits == 32          ? ND_STORED_FLOAT32
                              : ND_STORED_FLOAT64;
    return bits >= 16;
  }
  stored->type = integers[page->format == SAMPLEFORMAT_INT][bits == 64 ? 3
          : bits == 32                                                 ? 2
                       : bits / 16];
  return page->format == SAMPLEFORMAT_UINT || page->format == SAMPLEFORMAT_INT
      || page->format == SAMPLEFORMAT_VOID;
}

guint64
nd_tiff_samples_ratio (guint16 compression)
{
  if (!TIFFIsCODECConfigured (compression))
    return 0;
  switch (compression) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_LZW:
      return LZW_RATIO;
    case COMPRESSION_PACKBITS:
      return PACKBITS_RATIO;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return DEFLATE_RATIO;
    case COMPRESSION_ZSTD:
      return ZSTD_RATIO;
    default:
      return 0;
  }
}

/* Of compressions that libtiff does not know. */
static const gchar *
compression_name (guint16 compression)
{
  static const struct
  {
    guint16 compression;
    const gchar *name;
  } names[] = {
    { 33003, "JPEG 2000" },
    { 33004, "JPEG 2000" },
    { 33005, "JPEG 2000" },
    { 33007, "JPEG" },
    { 34712, "JPEG 2000" },
    { 34887, "LERC" },
    { 34892, "JPEG" },
    { 34933, "PNG" },
    { 34934, "JPEG XR" },
    { 22610, "JPEG XR" },
    { 50001, "WebP" },
    { 50002, "JPEG XL" },
    { 52546, "JPEG XL" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (names[i].compression == compression)
      return names[i].name;
  }
  return "an unknown method";
}

gboolean
nd_tiff_samples_refuse (const NdTiffPage *page, const gchar *path,
    GError **error)
{
  const TIFFCodec *codec = TIFFFindCODEC (page->compression);
  const gchar *name = compression_name (page->compression);

  if (!TIFFIsCODECConfigured (page->compression))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is TIFF compressed by %s (%u), which libtiff does not read: %s",
        path, name, page->compression, ND_TIFF_BY_TIFFFILE);
  else if (nd_tiff_samples_ratio (page->compression) == 0)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is TIFF compressed by %s (%u); LZW, deflate, PackBits and "
        "Zstandard are read: \"tiffcp -c lzw FILE NEW\" converts it "
        "(libtiff-tools)",
        path, codec ? codec->name : name, page->compression);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is TIFF with samples of %u bits (format %u); they must be "
        "integers of 1 to 16, 32 or 64 bits or floats of 16 to 64 bits: save "
        "it with tifffile.imwrite (name, array.astype ('float32'))",
        path, page->bits, page->format);
  return FALSE;
}
