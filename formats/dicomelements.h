/* The elements of a DICOM file: what they say about the samples, and about each
 * frame.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/list.h"
#include "formats/input.h"

G_BEGIN_DECLS

#define ND_DICOM_TEXT 68

/* Bytes of a file, or of memory if the file is deflated. */
typedef struct
{
  NdInput *input;
  NdBudget *budget;
  guint8 *memory; /* or NULL */
  gsize memory_size;
} NdDicomBytes;

/* FALSE if there are fewer. */
gboolean nd_dicom_bytes_read (NdDicomBytes *bytes, guint64 at, gpointer to,
    gsize n);
guint64 nd_dicom_bytes_size (NdDicomBytes *bytes);

/* What a frame has of its own, or all frames in common. */
typedef struct
{
  gdouble position[3]; /* mm; left, posterior, superior */
  gdouble slope, intercept;
  gdouble seconds; /* after the first one */
  guint temporal;  /* index, from 1; 0: none */
  guint in_stack;  /* the same within a volume */
  gboolean placed; /* has a position */
  gboolean scaled; /* has slope and intercept */
  gboolean timed;  /* has seconds */
} NdDicomFrame;

/* A table of a palette: of red, green or blue. */
typedef struct
{
  guint entries, first; /* 0 entries: there is none */
  guint64 at;
  guint32 n; /* bytes */
  gboolean words;
} NdDicomTable;

typedef struct
{
  gchar syntax[ND_DICOM_TEXT], photometric[ND_DICOM_TEXT];
  gchar modality[ND_DICOM_TEXT];
  gchar series[ND_DICOM_TEXT]; /* the number that its files have in common */
  /* What tells the files of a series apart: */
  guint temporal, instance; /* from 1; 0: unknown */
  gdouble trigger;          /* ms after the R wave; below 0: unknown */
  gdouble acquired;         /* seconds of the day; below 0: unknown */
  guint columns, rows, samples, bits, stored, high, is_signed, planar;
  guint64 n_frames;
  guint increment;             /* tag of the frame increment pointer, or 0 */
  gdouble frame_time;          /* ms; 0: unknown */
  gdouble rate;                /* frames per second, to show them; 0: unknown */
  gdouble spacing[2];          /* mm, along x and y; 0: unknown */
  gdouble region[2];           /* the same, of a region of ultrasound */
  gdouble thickness, distance; /* mm; 0: unknown */
  gdouble orientation[6];
  gboolean oriented;
  gdouble dose; /* RT dose: the scale; 0: none */
  NdDicomTable tables[3];
  NdDicomFrame common;
  NdList *frames;  /* NdDicomFrame, by functional groups */
  NdList *offsets; /* gdouble: mm along z from the first frame */
  NdList *steps;   /* gdouble: ms from the frame before */

  guint64 pixels;      /* the place of the samples, or 0 */
  guint64 pixel_bytes; /* G_MAXUINT64: in fragments */
  guint pixel_tag;
  gboolean words; /* OW */
  gboolean big_endian;
} NdDicomElements;

/* Reads the elements up to the samples. A deflated file is decompressed into
 * @bytes->memory. FALSE if the budget has no memory; without a picture
 * @elements->pixels is 0. */
gboolean nd_dicom_elements_read (NdDicomElements *elements,
    NdDicomBytes *bytes);
void nd_dicom_elements_clear (NdDicomElements *elements);
void nd_dicom_bytes_clear (NdDicomBytes *bytes);

/* The place of an item of the encapsulated samples (a fragment) at *@at, which
 * moves behind it. FALSE after the last one. */
gboolean nd_dicom_next_fragment (NdDicomBytes *bytes, guint64 *at,
    guint64 *place, guint32 *n);

G_END_DECLS
