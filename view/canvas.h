/* Text and lines on a picture, with a small font of its own.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Pixels of red, green and blue, rows @stride bytes apart. */
typedef struct
{
  guint8 *pixels;
  gssize stride;
  gint width, height;
} NdCanvas;

#define ND_TEXT_WIDTH 6  /* of a character and the gap after it, at scale 1 */
#define ND_TEXT_HEIGHT 9 /* of a line and the gap below it */

/* Draws @text, which is in ASCII, with its upper left corner at (@x, @y). Each
 * dot has @scale x @scale pixels, and the pixels around the dots become dark. A
 * line ends at '\n'. Nothing is drawn outside of the picture. */
void nd_text_draw (const NdCanvas *canvas, const gchar *text, gint x, gint y,
    gint scale, const guint8 color[3]);

/* The width in pixels of the longest line, and the number of lines. */
gint nd_text_width (const gchar *text, gint scale);
gint nd_text_lines (const gchar *text);

/* Fills the part of a rectangle that is in the picture. @opacity is from 0 to
 * 1. */
void nd_canvas_fill (const NdCanvas *canvas, gint left, gint top, gint width,
    gint height, const guint8 color[3], gdouble opacity);

G_END_DECLS
