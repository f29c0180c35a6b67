/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicom.h"

#include "core/error.h"
#include "formats/dicomaxes.h"
#include "formats/dicomcodecs.h"
#include "formats/dicomframes.h"

#include <string.h>

#define PREAMBLE 132

/* A pair of bytes of RLE makes up to 128. */
#define RLE_RATIO 64

typedef struct
{
  NdSlices base;
  NdDicomBytes bytes;
  NdDicomElements elements;
  NdDicomFrames frames;
  NdDicomPalette palette; /* or without colours */
  NdList *order;          /* guint32: the frame of each slice; NULL: in order */
  gboolean each;          /* frames have a scale of their own: */
  NdStored stored;        /* how samples are before it */
  guint8 *unscaled;       /* a frame */
  gsize unscaled_size;
} Dicom;

gboolean
nd_dicom_detect (const guint8 *bytes, gsize n)
{
  return n >= PREAMBLE && memcmp (bytes + 128, "DICM", 4) == 0;
}

static void
free_dicom (NdSlices *slices)
{
  Dicom *dicom = (Dicom *) slices;
  NdBudget *budget = dicom->bytes.budget;

  nd_dicom_frames_clear (&dicom->frames);
  nd_dicom_palette_clear (&dicom->palette);
  nd_dicom_elements_clear (&dicom->elements);
  nd_dicom_bytes_clear (&dicom->bytes);
  nd_budget_free (budget, dicom->unscaled, dicom->unscaled_size);
  g_clear_pointer (&dicom->order, nd_list_free);
  g_free (dicom);
}

static gboolean
dicom_read_slice (NdSlices *slices, guint64 slice, guint8 *samples,
    const gchar **reason)
{
  Dicom *dicom = (Dicom *) slices;
  NdDicomFrames *frames = &dicom->frames;
  const guint64 frame =
      dicom->order ? g_array_index (dicom->order, guint32, slice) : slice;
  const gboolean apart = dicom->each || dicom->palette.colours;
  const NdDicomFrame *group;

  *reason = "there is no memory for a frame";
  if (apart
      && !nd_budget_reuse (dicom->bytes.budget, &dicom->unscaled,
          &dicom->unscaled_size, frames->samples * frames->width))
    return FALSE;
  if (!nd_dicom_frames_read (frames, frame,
          apart ? dicom->unscaled : samples)) {
    *reason = frames->reason;
    return FALSE;
  }
  if (dicom->palette.colours)
    nd_dicom_palette_apply (&dicom->palette, dicom->unscaled, frames->width,
        frames->samples, samples);
  if (!dicom->each)
    return TRUE;
  group = &g_array_index (dicom->elements.frames, NdDicomFrame, frame);
  dicom->stored.scaled = TRUE;
  dicom->stored.slope = group->slope;
  dicom->stored.intercept = group->intercept;
  nd_stored_convert (&dicom->stored, samples, dicom->unscaled, frames->samples);
  return TRUE;
}

/* Transfer syntaxes that are refused */

typedef struct
{
  const gchar *syntax, *name;
} Syntax;

/* The name of a transfer syntax that is not read (DICOM PS3.6, annex A), or
 * its number. */
static const gchar *
syntax_name (const gchar *syntax)
{
  static const Syntax names[] = {
    { "1.2.840.10008.1.2.4.50", "JPEG" },
    { "1.2.840.10008.1.2.4.51", "JPEG" },
    { "1.2.840.10008.1.2.4.57", "lossless JPEG" },
    { "1.2.840.10008.1.2.4.70", "lossless JPEG" },
    { "1.2.840.10008.1.2.4.80", "JPEG-LS" },
    { "1.2.840.10008.1.2.4.81", "JPEG-LS" },
    { "1.2.840.10008.1.2.4.90", "JPEG 2000" },
    { "1.2.840.10008.1.2.4.91", "JPEG 2000" },
    { "1.2.840.10008.1.2.4.201", "JPEG 2000" },
    { "1.2.840.10008.1.2.4.202", "JPEG 2000" },
    { "1.2.840.10008.1.2.4.203", "JPEG 2000" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (strcmp (syntax, names[i].syntax) == 0)
      return names[i].name;
  }
  return *syntax && g_str_is_ascii (syntax) ? syntax : "unknown";
}

static gboolean
is_read (const gchar *syntax)
{
  static const gchar *const syntaxes[] = { "1.2.840.10008.1.2",
    "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.2",
    "1.2.840.10008.1.2.5", "" };

  for (guint i = 0; i < G_N_ELEMENTS (syntaxes); i++) {
    if (strcmp (syntax, syntaxes[i]) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Videos: MPEG and HEVC. */
static gboolean
is_video (const gchar *syntax)
{
  return g_str_has_prefix (syntax, "1.2.840.10008.1.2.4.10")
      && strlen (syntax) >= strlen ("1.2.840.10008.1.2.4.100");
}

static gboolean
refuse_packed (const NdDicomElements *elements, const gchar *path,
    GError **error)
{
  if (is_video (elements->syntax))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is DICOM with a video, which is not read: \"gdcmraw FILE "
        "NEW.mpg\" (libgdcm-tools) takes it out, and \"filesrc ! decodebin\" "
        "reads videos",
        path);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is DICOM compressed by %s, which is not read: \"gdcmconv --raw "
        "FILE NEW.dcm\" (libgdcm-tools) unpacks it, and NEW.dcm is read",
        path, syntax_name (elements->syntax));
  return FALSE;
}

static gboolean
dicom_refuse_kind (const NdDicomElements *elements, const gchar *path,
    const gchar *advice, GError **error)
{
  g_autofree gchar *photometric = g_strescape (elements->photometric, NULL);

  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" is DICOM with %u samples of %u bits for each pixel (%s), which "
      "is not read: %s",
      path, elements->samples, elements->bits, photometric, advice);
  return FALSE;
}

#define TO_NPY                                                          \
  "python3 -c \"import sys, numpy, pydicom; numpy.save (sys.argv[2], "  \
  "pydicom.dcmread (sys.argv[1]).pixel_array)\" FILE NEW.npy converts " \
  "it (pip install pydicom)"

/* Refuses what has no kind of samples here. */
static gboolean
check_kind (const NdDicomElements *elements, const gchar *path, GError **error)
{
  const gchar *colours = elements->photometric;
  const guint bits = elements->bits;
  const gboolean packed = elements->pixel_bytes == G_MAXUINT64;
  const gboolean is_422 = strcmp (colours, "YBR_FULL_422") == 0;
  /* JPEG 2000 decodes its own colours. */
  const gboolean is_ybr = g_str_has_prefix (colours, "YBR_")
      && !(packed
          && (strcmp (colours, "YBR_RCT") == 0
              || strcmp (colours, "YBR_ICT") == 0));

  if ((bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64)
      || elements->samples == 0 || (bits == 1 && (packed || is_ybr))
      || (bits == 64) != (elements->pixel_tag == 0x7fe00009)
      || (is_ybr
          && (bits != 8 || elements->samples != 3 || elements->is_signed
              || (!is_422 && strcmp (colours, "YBR_FULL") != 0)
              || (is_422 && !packed && elements->columns % 2 != 0)))
      || (elements->pixel_tag == 0x7fe00008 && bits != 32)
      || (elements->pixel_tag != 0x7fe00010 && packed) || elements->stored == 0
      || elements->stored > bits || elements->high >= bits
      || elements->high + 1 < elements->stored)
    return dicom_refuse_kind (elements, path, TO_NPY, error);
  return TRUE;
}

static gboolean
load_palette (Dicom *dicom, const gchar *path, GError **error)
{
  const NdDicomElements *elements = &dicom->elements;

  if (strcmp (elements->photometric, "PALETTE COLOR") != 0)
    return TRUE;
  if (elements->samples == 1 && !elements->is_signed
      && (elements->bits == 8 || elements->bits == 16)
      && nd_dicom_palette_load (&dicom->palette, elements, &dicom->bytes))
    return TRUE;
  if (dicom->bytes.budget->refused > 0)
    return nd_budget_refuse (dicom->bytes.budget, path, error);
  return dicom_refuse_kind (elements, path,
      "its palette is damaged or in segments: \"gdcmconv --apply-lut FILE "
      "NEW.dcm\" (libgdcm-tools) makes colours of it, and NEW.dcm is read",
      error);
}

/* Header */

static void
set_stored (const Dicom *dicom, NdStored *stored)
{
  const NdDicomElements *elements = &dicom->elements;
  const gboolean is_signed = elements->is_signed;

  if (dicom->palette.colours)
    stored->type =
        dicom->palette.width == 1 ? ND_STORED_UINT8 : ND_STORED_UINT16;
  else if (elements->pixel_tag == 0x7fe00008)
    stored->type = ND_STORED_FLOAT32;
  else if (elements->pixel_tag == 0x7fe00009)
    stored->type = ND_STORED_FLOAT64;
  else if (elements->bits <= 8)
    stored->type = is_signed ? ND_STORED_INT8 : ND_STORED_UINT8;
  else if (elements->bits == 16)
    stored->type = is_signed ? ND_STORED_INT16 : ND_STORED_UINT16;
  else
    stored->type = is_signed ? ND_STORED_INT32 : ND_STORED_UINT32;
}

/* The scale that all frames have, or each for itself. */
static void
set_scale (Dicom *dicom, NdStored *stored)
{
  const NdDicomElements *elements = &dicom->elements;
  const NdList *frames = elements->frames;
  NdDicomFrame scale = elements->common;

  if (dicom->palette.colours)
    return;
  if (frames->len == elements->n_frames) {
    scale = g_array_index (frames, NdDicomFrame, 0);
    for (guint i = 1; i < frames->len; i++) {
      const NdDicomFrame *frame = &g_array_index (frames, NdDicomFrame, i);

      dicom->each = dicom->each || frame->slope != scale.slope
          || frame->intercept != scale.intercept;
    }
  }
  if (dicom->each) {
    dicom->stored = *stored;
    stored->type = ND_STORED_FLOAT32;
  } else if (scale.slope != 0 && (scale.slope != 1 || scale.intercept != 0)) {
    stored->scaled = TRUE;
    stored->slope = scale.slope;
    stored->intercept = scale.intercept;
  }
}

/* Whether the samples lie in the file as they are read. */
static gboolean
dicom_is_plain (const Dicom *dicom)
{
  const NdDicomElements *elements = &dicom->elements;

  return !dicom->bytes.memory && !dicom->frames.fragments && !dicom->order
      && !dicom->each && !dicom->palette.colours && elements->bits >= 8
      && (elements->stored == elements->bits
          || elements->pixel_tag != 0x7fe00010)
      && (elements->samples == 1 || elements->planar == 0)
      && !g_str_has_prefix (elements->photometric, "YBR_")
      && !(elements->big_endian && elements->words && elements->bits == 8);
}

static gboolean
find_frames (Dicom *dicom, NdHeader *header, const gchar *path, GError **error)
{
  NdDicomFrames *frames = &dicom->frames;
  const NdDicomElements *elements = &dicom->elements;
  const guint64 ratio = is_read (elements->syntax)
      ? RLE_RATIO
      : nd_dicom_codec_ratio (elements->syntax);
  guint64 bytes;

  frames->elements = &dicom->elements;
  frames->keep = header->keep;
  frames->n = elements->n_frames;
  frames->width = MAX (elements->bits / 8, 1);
  frames->samples =
      (gsize) elements->columns * elements->rows * elements->samples;
  if (nd_dicom_frames_find (frames)
      && (!frames->fragments || frames->keep
          || (g_uint64_checked_mul (&bytes, frames->samples * frames->width,
                  frames->n)
              && bytes / ratio <= nd_dicom_bytes_size (&dicom->bytes))))
    return TRUE;
  if (header->budget.refused > 0)
    return nd_budget_refuse (&header->budget, path, error);
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "\"%s\" is truncated or damaged DICOM: %s", path,
      frames->reason ? frames->reason : "it has too few samples");
  return FALSE;
}

static gboolean
dicom_read_header (Dicom *dicom, NdHeader *header, const gchar *path,
    GError **error)
{
  NdDicomElements *elements = &dicom->elements;
  NdRecording *recording = &header->recording;
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  if (!nd_dicom_elements_read (elements, &dicom->bytes))
    return nd_budget_refuse (&header->budget, path, error);
  if (elements->pixels == 0 || elements->columns == 0 || elements->rows == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is DICOM without a picture, or damaged: it must be complete "
        "and have samples",
        path);
    return FALSE;
  }
  if (elements->stored == 0) {
    elements->stored = elements->bits;
    elements->high = elements->bits - 1;
  }
  if (!is_read (elements->syntax)
      && !nd_dicom_codec_has (elements->syntax, elements->bits))
    return refuse_packed (elements, path, error);
  if (!check_kind (elements, path, error) || !load_palette (dicom, path, error)
      || !find_frames (dicom, header, path, error))
    return FALSE;
  recording->shape = (NdShape){ dicom->palette.colours ? 3 : elements->samples,
    { elements->columns, elements->rows, 1 } };
  set_stored (dicom, &header->stored);
  set_scale (dicom, &header->stored);
  if (elements->dose > 0) {
    g_ascii_dtostr (number, sizeof (number), elements->dose);
    nd_header_add_field (header, "DICOM.DoseGridScaling", number);
    nd_header_warn (header,
        "The samples of \"%s\" are not scaled: the dose is a sample times %g, "
        "the field DICOM.DoseGridScaling",
        path, elements->dose);
  }
  if (!nd_dicom_axes_set (header, elements, &dicom->order, path))
    return nd_budget_refuse (&header->budget, path, error);
  return TRUE;
}

gboolean
nd_dicom_open (NdHeader *header, NdInput *input, const gchar *path,
    GError **error)
{
  Dicom *dicom = g_new0 (Dicom, 1);

  nd_header_init (header, "DICOM");
  dicom->base.read = dicom_read_slice;
  dicom->base.free = free_dicom;
  dicom->bytes.input = input;
  dicom->bytes.budget = &header->budget;
  dicom->frames.bytes = &dicom->bytes;
  header->slices = &dicom->base;
  if (!dicom_read_header (dicom, header, path, error))
    return FALSE;
  if (dicom_is_plain (dicom)) {
    header->offset = dicom->elements.pixels;
    header->within = TRUE;
    header->stored.swapped = dicom->frames.width > 1
        && dicom->elements.big_endian != (G_BYTE_ORDER == G_BIG_ENDIAN);
    g_clear_pointer (&header->slices, nd_slices_free);
  }
  return nd_header_settle (header, path, error);
}
