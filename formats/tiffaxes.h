/* The axes of the pages of a TIFF file, from the ImageDescription of ImageJ, of
 * OME-TIFF and of tifffile.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/list.h"

G_BEGIN_DECLS

typedef enum
{
  ND_TIFF_PLAIN, /* no description: all pages are slices */
  ND_TIFF_IMAGEJ,
  ND_TIFF_OME,
  ND_TIFF_TIFFFILE
} NdTiffKind;

/* A part of the pages of OME-TIFF: @count planes from (c, z, t) on are in the
 * pages from @page on of the file @file. */
typedef struct
{
  guint64 page, c, z, t, count;
  guint file; /* in axes->files */
} NdTiffPlanes;

/* A page of one of the files. */
typedef struct
{
  guint32 file; /* ND_TIFF_OWN: that with the description */
  guint32 page; /* of this file */
} NdTiffPlace;

#define ND_TIFF_OWN G_MAXUINT32
#define ND_TIFF_NONE G_MAXUINT32 /* no page */

/* The time of the volume @t. */
typedef struct
{
  guint64 t;
  gdouble seconds;
} NdTiffTime;

typedef struct
{
  NdTiffKind kind;
  gboolean known;   /* the description says which axis pages have */
  guint64 images;   /* ImageJ, tifffile: planes, which may exceed the pages */
  guint64 channels; /* in planes, not in samples of a pixel */
  guint64 slices, volumes;
  gchar order[4];              /* "czt": c is the fastest */
  gdouble spacing[3];          /* mm; 0: unknown */
  gdouble origin[3];           /* the place of 0, in pixels from the first */
  gdouble resolution_units[2]; /* ImageJ: mm, for XResolution and YResolution;
                                  0: unknown */
  gdouble seconds;             /* from volume to volume; 0: unknown */
  gboolean calibrated; /* ImageJ: values are slope * sample + intercept */
  gdouble slope, intercept;
  NdBudget *budget;  /* set by the caller; may be NULL */
  const gchar *name; /* of the file with the pages, set by the caller */
  /* The pages of the file with the number @file in @files, 0 if it cannot be
   * read; set by the caller, with @data. */
  guint64 (*count) (gpointer data, guint file);
  gpointer data;
  gchar *master;        /* the file that has the OME-XML in place of this one;
                           NULL: it has its own */
  NdList *files;        /* gchar *: the names of the files of OME-XML, NULL:
                           there are no others */
  NdList *pages;        /* NdTiffPlace: of each plane; NULL: in order */
  guint64 missing;      /* OME-XML: planes that the file has not */
  NdList *times;        /* NdTiffTime, or NULL */
  const gchar *warning; /* or NULL; static */
} NdTiffAxes;

/* Parses @description (may be NULL) of a file with @pages pages of @width x
 * @height pixels with @samples samples. The product of channels, slices and
 * volumes is at most @pages, or images, unless planes are in other files or
 * missing. Keeps what the caller set. */
void nd_tiff_axes_parse (NdTiffAxes *axes, const gchar *description,
    guint64 pages, guint64 width, guint64 height, guint64 samples);
void nd_tiff_axes_clear (NdTiffAxes *axes);
void nd_tiff_axes_clear_files (NdTiffAxes *axes);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdTiffAxes, nd_tiff_axes_clear)

/* The place of plane (@c, @z, @t); its page is ND_TIFF_NONE if no file has
 * it. */
NdTiffPlace nd_tiff_axes_place (const NdTiffAxes *axes, guint64 c, guint64 z,
    guint64 t);

/* ImageJ (formats/tiffimagej.c), called by nd_tiff_axes_parse(). */
void nd_tiff_imagej_parse (NdTiffAxes *axes, const gchar *description,
    guint64 pages);

/* OME-XML (formats/tiffome.c), called by nd_tiff_axes_parse(). @planes gets
 * what it says about the pages, NdTiffPlanes. */
void nd_tiff_ome_parse (NdTiffAxes *axes, const gchar *description,
    guint64 pages, guint64 samples, NdList *planes);

/* The product, or 0 if it overflows or exceeds @most. */
guint64 nd_tiff_product (guint64 a, guint64 b, guint64 c, guint64 most);

G_END_DECLS
