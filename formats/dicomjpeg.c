/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicomcodecs.h"

#include "core/written.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

/* An error of the library jumps back here. */
typedef struct
{
  struct jpeg_error_mgr base;
  jmp_buf back;
} Errors;

static void
jump_back (j_common_ptr jpeg)
{
  longjmp (((Errors *) jpeg->err)->back, 1);
}

static void
dicom_jpeg_ignore (j_common_ptr jpeg)
{
}

/* Rows that the data lack would be grey: a warning is an error, except that of
 * bytes that follow. */
static void
note_warning (j_common_ptr jpeg, int level)
{
  if (level < 0)
    jpeg->err->num_warnings++;
}

/* Without a word about colours in the JPEG data, those of the elements hold. */
static void
set_colours (struct jpeg_decompress_struct *jpeg, const NdDicomPacked *frame)
{
  if (jpeg->num_components == 3 && frame->is_ybr) {
    jpeg->jpeg_color_space = JCS_YCbCr;
    jpeg->out_color_space = JCS_RGB;
  } else if (jpeg->num_components == 3 && !jpeg->saw_JFIF_marker
      && !jpeg->saw_Adobe_marker) {
    jpeg->jpeg_color_space = jpeg->out_color_space = JCS_RGB;
  } else if (jpeg->num_components == 3) {
    jpeg->out_color_space = JCS_RGB;
  }
}

gboolean
nd_dicom_jpeg_read (const NdDicomPacked *frame, guint8 *samples,
    gboolean *is_rgb, const gchar **reason)
{
  const gsize row = (gsize) frame->columns * frame->components;
  struct jpeg_decompress_struct jpeg;
  Errors errors;

  *reason = "its JPEG data are damaged";
  jpeg.err = jpeg_std_error (&errors.base);
  errors.base.error_exit = jump_back;
  errors.base.output_message = dicom_jpeg_ignore;
  errors.base.emit_message = note_warning;
  if (setjmp (errors.back)) {
    jpeg_destroy_decompress (&jpeg);
    return FALSE;
  }
  jpeg_create_decompress (&jpeg);
  jpeg.mem->max_memory_to_use =
      CLAMP (nd_budget_left (frame->budget), 1, (gsize) G_MAXLONG);
  jpeg_mem_src (&jpeg, frame->packed, frame->n);
  jpeg_read_header (&jpeg, TRUE);
  if (jpeg.image_width != frame->columns || jpeg.image_height != frame->rows
      || jpeg.num_components != (int) frame->components || frame->width != 1
      || (jpeg.num_components != 1 && jpeg.num_components != 3)) {
    *reason = "its JPEG data have another size than its header says";
    jpeg_destroy_decompress (&jpeg);
    return FALSE;
  }
  /* The library would keep the coefficients of the whole frame, and decode them
   * again for each of many scans. */
  if (jpeg.progressive_mode) {
    *reason = "its JPEG data are progressive, which its transfer syntax "
              "excludes";
    jpeg_destroy_decompress (&jpeg);
    return FALSE;
  }
  set_colours (&jpeg, frame);
  *is_rgb = frame->components == 3;
  jpeg_start_decompress (&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW at = samples + jpeg.output_scanline * row;

    if (jpeg_read_scanlines (&jpeg, &at, 1) == 1)
      nd_written (at, row);
  }
  jpeg_finish_decompress (&jpeg);
  jpeg_destroy_decompress (&jpeg);
  return errors.base.num_warnings == 0;
}
