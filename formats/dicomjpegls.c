/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicomcodecs.h"

#include "core/written.h"

#include <charls/charls.h>
#include <string.h>

/* Components that lie in planes, through a copy of them. */
static gboolean
join_planes (const NdDicomPacked *frame, guint8 *samples, gsize n)
{
  const gsize pixels = (gsize) frame->columns * frame->rows;
  guint8 *planes = nd_budget_alloc (frame->budget, n);

  if (!planes)
    return FALSE;
  memcpy (planes, samples, n);
  for (gsize c = 0; c < frame->components; c++) {
    for (gsize i = 0; i < pixels; i++)
      memcpy (samples + (i * frame->components + c) * frame->width,
          planes + (c * pixels + i) * frame->width, frame->width);
  }
  nd_budget_free (frame->budget, planes, n);
  return TRUE;
}

gboolean
nd_dicom_jpegls_read (const NdDicomPacked *frame, guint8 *samples,
    const gchar **reason)
{
  const gsize n =
      (gsize) frame->columns * frame->rows * frame->components * frame->width;
  charls_jpegls_decoder *decoder = charls_jpegls_decoder_create ();
  charls_interleave_mode mode = CHARLS_INTERLEAVE_MODE_NONE;
  charls_frame_info info = { 0 };
  gboolean ok;

  *reason = "its JPEG-LS data are damaged, or have another size than its "
            "header says";
  if (!decoder)
    return FALSE;
  memset (samples, 0, n);
  ok =
      charls_jpegls_decoder_set_source_buffer (decoder, frame->packed, frame->n)
          == CHARLS_JPEGLS_ERRC_SUCCESS
      && charls_jpegls_decoder_read_header (decoder)
          == CHARLS_JPEGLS_ERRC_SUCCESS
      && charls_jpegls_decoder_get_frame_info (decoder, &info)
          == CHARLS_JPEGLS_ERRC_SUCCESS
      && charls_jpegls_decoder_get_interleave_mode (decoder, &mode)
          == CHARLS_JPEGLS_ERRC_SUCCESS
      && info.width == frame->columns && info.height == frame->rows
      && info.component_count == (int) frame->components
      && (gsize) (info.bits_per_sample + 7) / 8 == frame->width
      && charls_jpegls_decoder_decode_to_buffer (decoder, samples, n, 0)
          == CHARLS_JPEGLS_ERRC_SUCCESS;
  charls_jpegls_decoder_destroy (decoder);
  nd_written (samples, n);
  if (!ok || mode != CHARLS_INTERLEAVE_MODE_NONE || frame->components == 1)
    return ok;
  return join_planes (frame, samples, n);
}
