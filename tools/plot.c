/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/plot.h"

#include "core/error.h"
#include "core/memory.h"
#include "filters/characteristics.h"
#include "tools/pngfile.h"

#include <math.h>
#include <string.h>

#define PANEL 120 /* pixels */
#define GAP 8
#define LABEL 22 /* above each panel */
#define LEFT 28  /* of each panel, for numbers */
#define BELOW 10 /* each panel, for numbers */
#define DIGIT 4  /* pixels from number to number */
#define WHITE 255
#define GRID 200

typedef struct
{
  const NdFilter *real, *imaginary;
  gdouble largest; /* largest magnitude of a coefficient */
  gdouble gain;
  gdouble peak[ND_AXES]; /* its frequency */
} Subject;

typedef struct
{
  guint8 *pixels; /* red, green, blue */
  gboolean short_of_memory;
  guint width, height;
  guint x, y; /* of the current panel */
} Drawing;

/* The letters of labels: rows of 3 pixels, the top one first, as bits. */
static const struct
{
  gchar letter;
  guint8 rows[7];
} letters[] = { { 'F', { 7, 4, 4, 6, 4, 4, 4 } },
  { 'f', { 3, 2, 2, 7, 2, 2, 2 } }, { 'r', { 0, 0, 5, 6, 4, 4, 4 } },
  { 'e', { 0, 0, 2, 5, 7, 4, 3 } }, { 'i', { 2, 0, 6, 2, 2, 2, 7 } },
  { 'm', { 0, 0, 6, 7, 7, 5, 5 } }, { 'p', { 0, 0, 6, 5, 6, 4, 4 } },
  { 't', { 2, 2, 7, 2, 2, 2, 3 } }, { 'x', { 0, 0, 5, 5, 2, 5, 5 } },
  { 'y', { 0, 0, 5, 5, 2, 2, 4 } }, { 'z', { 0, 0, 7, 1, 2, 4, 7 } },
  { '|', { 2, 2, 2, 2, 2, 2, 2 } }, { '-', { 0, 0, 0, 7, 0, 0, 0 } },
  { '+', { 0, 0, 2, 7, 2, 0, 0 } }, { '.', { 0, 0, 0, 0, 0, 0, 2 } },
  { '0', { 2, 5, 5, 5, 5, 5, 2 } }, { '1', { 2, 6, 2, 2, 2, 2, 7 } },
  { '2', { 6, 1, 1, 2, 4, 4, 7 } }, { '3', { 6, 1, 1, 2, 1, 1, 6 } },
  { '4', { 5, 5, 5, 7, 1, 1, 1 } }, { '5', { 7, 4, 6, 1, 1, 1, 6 } },
  { '6', { 2, 4, 4, 6, 5, 5, 2 } }, { '7', { 7, 1, 1, 2, 2, 2, 2 } },
  { '8', { 2, 5, 5, 2, 5, 5, 2 } }, { '9', { 2, 5, 5, 3, 1, 1, 2 } } };

static void
set_pixel (Drawing *drawing, guint x, guint y, guint8 red, guint8 green,
    guint8 blue)
{
  guint8 *pixel = drawing->pixels
      + 3 * ((gsize) (drawing->y + y) * drawing->width + drawing->x + x);

  pixel[0] = red;
  pixel[1] = green;
  pixel[2] = blue;
}

/* Writes @text with letters of 3 x 7 dots of @dot pixels. */
static void
write_text (Drawing *drawing, const gchar *text, guint dot)
{
  Drawing at = *drawing;

  for (; *text; text++, at.x += dot == 1 ? DIGIT : 10) {
    for (guint l = 0; l < G_N_ELEMENTS (letters); l++) {
      if (letters[l].letter != *text)
        continue;
      for (guint y = 0; y < 7 * dot; y++)
        for (guint x = 0; x < 3 * dot; x++)
          if (letters[l].rows[y / dot] >> (2 - x / dot) & 1)
            set_pixel (&at, x, y, 0, 0, 0);
    }
  }
}

/* Writes @text above the current panel. */
static void
write_label (Drawing *drawing, const gchar *text)
{
  Drawing label = *drawing;

  label.y -= LABEL - 4;
  write_text (&label, text, 2);
}

/* Writes @number below the panel at pixel @at, or to its left. */
static void
write_number (Drawing *drawing, gboolean below, guint at, gdouble number)
{
  Drawing label = *drawing;
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  guint width;

  g_ascii_formatd (text, sizeof (text), "%.3g", number);
  width = DIGIT * strlen (text);
  if (below) {
    label.y += PANEL + 2;
    label.x += CLAMP ((gint) at - (gint) width / 2, 0, PANEL - (gint) width);
  } else {
    label.x -= MIN (width + 1, LEFT);
    label.y += CLAMP ((gint) at - 3, 0, PANEL - 7);
  }
  write_text (&label, text, 1);
}

/* Writes the numbers of an axis of @size samples or, if @size is 0, of
 * frequencies from -pi to pi: its ends and its middle. */
static void
write_axis (Drawing *drawing, gboolean below, gsize size)
{
  const gdouble end = size > 0 ? (gdouble) (size - 1) / 2 : G_PI;
  const guint first = size > 0 ? PANEL / (2 * size) : 0;

  if (end > 0) {
    write_number (drawing, below, first, -end);
    write_number (drawing, below, PANEL - 1 - first, end);
  }
  write_number (drawing, below, PANEL / 2, 0);
}

/* Draws @value, from -1 (blue) over 0 (white) to 1 (red). */
static void
set_signed (Drawing *drawing, guint x, guint y, gdouble value)
{
  guint8 other = (guint8) (WHITE * (1 - MIN (fabs (value), 1)) + 0.5);

  set_pixel (drawing, x, y, value < 0 ? other : WHITE, other,
      value > 0 ? other : WHITE);
}

/* Labels the panel with @what and its axes, as in "re xy". */
static void
write_plane (Drawing *drawing, const gchar *what, guint across, guint down)
{
  g_autofree gchar *label =
      g_strdup_printf ("%s %c%c", what, "xyzt"[across], "xyzt"[down]);

  write_label (drawing, label);
}

static void
draw_coefficients (Drawing *drawing, const Subject *subject,
    const NdFilter *filter, guint across, guint down)
{
  write_plane (drawing,
      !subject->imaginary           ? "f"
          : filter == subject->real ? "re"
                                    : "im",
      across, down);
  write_axis (drawing, TRUE, filter->size[across]);
  write_axis (drawing, FALSE, filter->size[down]);
  for (guint y = 0; y < PANEL; y++) {
    for (guint x = 0; x < PANEL; x++) {
      gsize index = 0;

      for (guint a = ND_AXES; a-- > 0;) {
        gsize at = a == across ? x * filter->size[a] / PANEL
            : a == down        ? y * filter->size[a] / PANEL
                               : filter->size[a] / 2;

        index = index * filter->size[a] + at;
      }
      set_signed (drawing, x, y,
          filter->coefficients[index] / subject->largest);
    }
  }
  drawing->x += PANEL + GAP + LEFT;
}

/* The frequency of pixel @i. */
static gdouble
frequency (guint i)
{
  return G_PI * (2.0 * i / (PANEL - 1) - 1);
}

/* Sums over all axes but two. The frequency response of the result is that of
 * the filter with the other frequencies at 0. */
static NdFilter *
plot_project (const NdFilter *filter, guint across, guint down)
{
  gsize size[ND_AXES] = { 1, 1, 1, 1 };
  gsize count = nd_filter_count (filter);
  NdFilter *plane;

  size[across] = filter->size[across];
  size[down] = filter->size[down];
  plane = nd_filter_new (filter->name, size);
  for (gsize i = 0; plane && i < count; i++) {
    gsize at[ND_AXES], rest = i;

    for (guint a = 0; a < ND_AXES; a++) {
      at[a] = rest % filter->size[a];
      rest /= filter->size[a];
    }
    plane->coefficients[at[across] + at[down] * size[across]] +=
        filter->coefficients[i];
  }
  return plane;
}

static gdouble
magnitude (const NdFilter *real, const NdFilter *imaginary,
    const gdouble u[ND_AXES])
{
  gdouble re, im;

  nd_filter_response (real, imaginary, u, &re, &im);
  return hypot (re, im);
}

static void
draw_response (Drawing *drawing, const Subject *subject, guint across,
    guint down)
{
  g_autoptr (NdFilter) real = plot_project (subject->real, across, down);
  g_autoptr (NdFilter) imaginary = subject->imaginary
      ? plot_project (subject->imaginary, across, down)
      : NULL;

  if (!real || (subject->imaginary && !imaginary)) {
    drawing->short_of_memory = TRUE;
    return;
  }
  write_plane (drawing, "|F|", across, down);
  write_axis (drawing, TRUE, 0);
  write_axis (drawing, FALSE, 0);
  for (guint y = 0; y < PANEL; y++) {
    for (guint x = 0; x < PANEL; x++) {
      gdouble u[ND_AXES] = { 0 };
      guint8 level;

      u[across] = frequency (x);
      u[down] = frequency (y);
      level = (guint8) (WHITE
              * MIN (magnitude (real, imaginary, u) / subject->gain, 1)
          + 0.5);
      if (x == PANEL / 2 || y == PANEL / 2)
        level = MAX (level, 64);
      set_pixel (drawing, x, y, level, level, level);
    }
  }
  drawing->x += PANEL + GAP + LEFT;
}

static void
draw_profile (Drawing *drawing, const Subject *subject, guint across)
{
  gdouble norm = 0;

  write_label (drawing, "|F| 0-pi");
  for (guint i = 0; i <= 2; i++)
    write_number (drawing, TRUE, i * (PANEL - 1) / 2, i * G_PI / 2);
  write_number (drawing, FALSE, 0, subject->gain);
  write_number (drawing, FALSE, PANEL - 1, 0);
  for (guint a = 0; a < ND_AXES; a++)
    norm += subject->peak[a] * subject->peak[a];
  norm = sqrt (norm);
  for (guint x = 0; x < PANEL; x++) {
    gdouble u[ND_AXES], height;

    for (guint a = 0; a < ND_AXES; a++)
      u[a] = x * G_PI / (PANEL - 1)
          * (norm > 1e-2 ? subject->peak[a] / norm : a == across);
    height = magnitude (subject->real, subject->imaginary, u) / subject->gain;
    for (guint y = 0; y < PANEL; y++) {
      gboolean under = PANEL - 1 - y <= height * (PANEL - 1);
      gboolean line =
          x % (PANEL / 4) == 0 || y == 0 || y == PANEL - 1 || x == PANEL - 1;

      if (under)
        set_pixel (drawing, x, y, 70, 110, 180);
      else
        set_pixel (drawing, x, y, line ? GRID : WHITE, line ? GRID : WHITE,
            line ? GRID : WHITE);
    }
  }
  drawing->x += PANEL + GAP + LEFT;
}

static Subject
plot_look (const NdBank *bank, guint response)
{
  Subject subject = { NULL };

  nd_bank_get_filter (bank, response, &subject.real, &subject.imaginary);
  for (gsize i = 0; i < nd_filter_count (subject.real); i++) {
    subject.largest =
        MAX (subject.largest, fabs (subject.real->coefficients[i]));
    if (subject.imaginary)
      subject.largest =
          MAX (subject.largest, fabs (subject.imaginary->coefficients[i]));
  }
  subject.gain = nd_filter_gain (subject.real, subject.imaginary, subject.peak);
  subject.largest = MAX (subject.largest, 1e-300);
  subject.gain = MAX (subject.gain, 1e-300);
  return subject;
}

/* Chooses the horizontal axis and the vertical axis of each plane. */
static guint
choose_axes (const NdFilter *filter, guint *across, guint down[ND_AXES])
{
  guint n = 0, first = ND_AXES;

  for (guint a = 0; a < ND_AXES; a++) {
    if (filter->size[a] == 1)
      continue;
    if (first == ND_AXES)
      first = a;
    else
      down[n++] = a;
  }
  *across = first == ND_AXES ? 0 : first;
  if (n == 0)
    down[n++] = *across == ND_AXIS_Y ? ND_AXIS_X : ND_AXIS_Y;
  return n;
}

static void
plot_draw (Drawing *drawing, const NdBank *bank)
{
  for (guint r = 0; r < nd_bank_responses (bank); r++) {
    Subject subject = plot_look (bank, r);
    guint across, down[ND_AXES], n = choose_axes (subject.real, &across, down);

    drawing->x = GAP + LEFT;
    drawing->y = LABEL + r * (PANEL + LABEL + BELOW);
    for (guint i = 0; i < n; i++) {
      draw_coefficients (drawing, &subject, subject.real, across, down[i]);
      if (subject.imaginary)
        draw_coefficients (drawing, &subject, subject.imaginary, across,
            down[i]);
      draw_response (drawing, &subject, across, down[i]);
    }
    draw_profile (drawing, &subject, across);
  }
}

gboolean
nd_filter_plot (const NdBank *bank, const gchar *path, GError **error)
{
  guint planes = 0, across, down[ND_AXES];
  const gsize length = strlen (path);
  png_image image = { .version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB };
  g_autofree guint8 *pixels = NULL;
  Drawing drawing = { NULL };

  if (length < 5 || g_ascii_strcasecmp (path + length - 4, ".png") != 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "\"%s\" cannot be plotted: a plot is a PNG picture, its name must end "
        "with .png; \"ndconv-filter response FILTER > FILE.csv\" writes "
        "numbers",
        path);
    return FALSE;
  }
  for (guint i = 0; i < bank->n_filters; i++)
    planes = MAX (planes, choose_axes (bank->filters[i], &across, down));
  drawing.width =
      GAP + (LEFT + PANEL + GAP) * (1 + planes * (bank->is_complex ? 3 : 2));
  drawing.height = GAP + (PANEL + LABEL + BELOW) * nd_bank_responses (bank);
  drawing.pixels = pixels =
      nd_memory_new (drawing.height, (gsize) 3 * drawing.width, error);
  if (!pixels)
    return FALSE;
  memset (pixels, 128, (gsize) 3 * drawing.width * drawing.height);
  plot_draw (&drawing, bank);
  if (drawing.short_of_memory) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory to plot the filter; \"ndconv-filter response FILTER "
        "> FILE.csv\" writes numbers");
    return FALSE;
  }

  image.width = drawing.width;
  image.height = drawing.height;
  return nd_png_save (&image, pixels, path, error);
}
