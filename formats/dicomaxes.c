/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicomaxes.h"

#include "formats/rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NANOSECONDS 1e9
#define TIME_DIGIT 1000

/* Positions that differ by less are the same. */
#define SAME_PLACE 1e-4 /* mm */

/* The length of a direction may differ from 1 by as much. */
#define LENGTH_ERROR 0.01

#define FRAME_TIME 0x00181063
#define FRAME_STEPS 0x00181065
#define GRID_OFFSETS 0x3004000c

/* A frame and what sorts it. */
typedef struct
{
  guint32 frame;
  guint temporal;
  gdouble place; /* along the normal of the frames */
} Place;

static gint
dicom_axes_compare (gconstpointer a, gconstpointer b)
{
  const Place *first = a, *second = b;

  if (first->temporal != second->temporal)
    return first->temporal < second->temporal ? -1 : 1;
  if (first->place != second->place)
    return first->place < second->place ? -1 : 1;
  return first->frame < second->frame ? -1 : first->frame > second->frame;
}

/* Columns: the directions of x, y and z; left, posterior, superior. */
static void
get_directions (const NdDicomElements *elements, gdouble directions[3][3])
{
  static const gdouble standard[6] = { 1, 0, 0, 0, 1, 0 };
  const gdouble *o = elements->oriented ? elements->orientation : standard;

  for (guint i = 0; i < 3; i++) {
    directions[0][i] = o[i];
    directions[1][i] = o[3 + i];
  }
  for (guint i = 0; i < 3; i++) {
    const guint j = (i + 1) % 3, k = (i + 2) % 3;

    directions[2][i] = o[j] * o[3 + k] - o[k] * o[3 + j];
  }
}

/* Whether the directions are of length 1, and so perpendicular. */
static gboolean
are_directions (const NdDicomElements *elements)
{
  gdouble directions[3][3];

  get_directions (elements, directions);
  for (guint a = 0; a < 3; a++) {
    gdouble square = 0;

    for (guint i = 0; i < 3; i++)
      square += directions[a][i] * directions[a][i];
    /* Not for NaN, either. */
    if (!(fabs (sqrt (square) - 1) <= LENGTH_ERROR))
      return FALSE;
  }
  return TRUE;
}

gdouble
nd_dicom_axes_place (const NdDicomElements *elements, const NdDicomFrame *frame)
{
  gdouble directions[3][3], place = 0;

  get_directions (elements, directions);
  for (guint i = 0; i < 3; i++)
    place += directions[2][i] * frame->position[i];
  return isfinite (place) ? place : 0;
}

/* Geometry */

void
nd_dicom_axes_locate (NdHeader *header, const NdDicomElements *elements,
    const NdDicomFrame *first, gdouble step)
{
  NdGeometry *geometry = &header->recording.geometry;
  const gdouble *spacing =
      elements->spacing[0] > 0 ? elements->spacing : elements->region;
  gdouble directions[3][3];

  if (!(spacing[0] > 0 && spacing[1] > 0 && isfinite (spacing[0])
          && isfinite (spacing[1]) && isfinite (step)
          && are_directions (elements)))
    return;
  if (step == 0)
    step = elements->distance > 0 ? elements->distance
        : elements->thickness > 0 ? elements->thickness
                                  : spacing[0];
  get_directions (elements, directions);
  geometry->spacing[0] = spacing[0];
  geometry->spacing[1] = spacing[1];
  geometry->spacing[2] = fabs (step);
  for (guint row = 0; row < 3; row++) {
    const gdouble sign = row < 2 ? -1 : 1;

    for (guint a = 0; a < 3; a++)
      geometry->directions[3 * row + a] =
          sign * directions[a][row] * (a == 2 && step < 0 ? -1 : 1);
    geometry->origin[row] = first->placed ? sign * first->position[row] : 0;
  }
  geometry->known = TRUE;
}

/* Times */

static void
set_rate (NdHeader *header, gdouble seconds)
{
  nd_rate_from_seconds (seconds, &header->recording.rate_n,
      &header->recording.rate_d);
}

/* Times of the volumes, in seconds. */
static gboolean
dicom_axes_set_times (NdHeader *header, const gdouble *seconds, gsize stride)
{
  const guint64 n = header->recording.volumes;
  NdList *times = nd_list_new (&header->budget, sizeof (gint64));

  if (!nd_list_set_size (times, n)) {
    nd_list_free (times);
    return FALSE;
  }
  for (guint64 v = 0; v < n; v++) {
    const gdouble time =
        *(const gdouble *) ((const guint8 *) seconds + v * stride);

    if (!(fabs (time) < G_MAXINT32)) {
      nd_list_free (times);
      return TRUE;
    }
    g_array_index (times, gint64, v) = round (time * NANOSECONDS);
  }
  nd_header_set_times (header, times, TIME_DIGIT);
  return TRUE;
}

/* The steps between frames, which are volumes. */
static gboolean
dicom_axes_set_steps (NdHeader *header, const NdList *steps)
{
  const guint64 n = header->recording.volumes;
  g_autoptr (NdList) times = nd_list_new (&header->budget, sizeof (gdouble));
  gdouble time = 0;

  if (!steps || steps->len != n || n < 2)
    return TRUE;
  for (guint i = 0; i < n; i++) {
    time += i > 0 ? g_array_index (steps, gdouble, i) / 1e3 : 0;
    if (!nd_list_add (times, time))
      return FALSE;
  }
  return dicom_axes_set_times (header, (const gdouble *) times->data,
      sizeof (gdouble));
}

/* Frames without groups */

static gboolean
set_plain (NdHeader *header, const NdDicomElements *elements)
{
  NdRecording *recording = &header->recording;
  const NdList *offsets = elements->offsets;
  const NdDicomFrame *first = elements->frames->len > 0
      ? (const NdDicomFrame *) elements->frames->data
      : &elements->common;
  const gboolean is_time = elements->increment == FRAME_TIME
      || elements->increment == FRAME_STEPS || elements->frame_time > 0
      || elements->rate > 0 || strcmp (elements->modality, "US") == 0;
  gdouble step = 0;

  if (elements->increment == GRID_OFFSETS || !is_time) {
    recording->shape.size[2] = elements->n_frames;
    if (offsets && offsets->len >= 2)
      step = g_array_index (offsets, gdouble, 1)
          - g_array_index (offsets, gdouble, 0);
    header->z_or_time =
        elements->increment != GRID_OFFSETS && elements->distance == 0;
  } else {
    recording->volumes = elements->n_frames;
    set_rate (header,
        elements->frame_time > 0 ? elements->frame_time / 1e3
            : elements->rate > 0 ? 1 / elements->rate
                                 : 0);
    if (elements->increment == FRAME_STEPS
        && !dicom_axes_set_steps (header, elements->steps))
      return FALSE;
  }
  nd_dicom_axes_locate (header, elements, first, step);
  return TRUE;
}

/* Frames with groups */

/* The slices of a volume, of which all volumes must have as many at the same
 * places; 0: they have not. */
static gsize
count_slices (const Place *places, gsize n)
{
  gsize slices = 0;

  while (slices < n && places[slices].temporal == places[0].temporal)
    slices++;
  if (n % slices != 0)
    return 0;
  for (gsize i = 0; i < n; i++) {
    const Place *first = &places[i / slices * slices];

    if (places[i].temporal != first->temporal
        || (i % slices == 0 && i > 0 && first->temporal == first[-1].temporal)
        || places[i].place != places[i % slices].place)
      return 0;
  }
  return slices;
}

/* Gives frames at nearly the same place the same one, and sorts them. */
static void
join_places (Place *places, gsize n)
{
  gdouble last = 0;

  qsort (places, n, sizeof (Place), dicom_axes_compare);
  for (gsize i = 0; i < n; i++) {
    const gdouble place = places[i].place;

    if (i > 0 && place - last <= SAME_PLACE)
      places[i].place = places[i - 1].place;
    last = place;
  }
  qsort (places, n, sizeof (Place), dicom_axes_compare);
}

/* Without temporal indices, frames at the same place follow in time. */
static void
count_repeats (Place *places, gsize n)
{
  for (gsize i = 1; i < n; i++)
    places[i].temporal =
        places[i].place == places[i - 1].place ? places[i - 1].temporal + 1 : 0;
}

/* The order of the file remains if slices lie there from the last one to the
 * first one in each volume. */
static void
keep_reverse (Place *places, gsize n, gsize slices)
{
  for (gsize i = 0; i < n; i++) {
    if (places[i].frame != i / slices * slices + slices - 1 - i % slices)
      return;
  }
  for (gsize v = 0; v < n; v += slices) {
    for (gsize z = 0; z < slices / 2; z++) {
      const Place place = places[v + z];

      places[v + z] = places[v + slices - 1 - z];
      places[v + slices - 1 - z] = place;
    }
  }
}

static void
fill_places (const NdDicomElements *elements, Place *places, gsize n)
{
  const NdDicomFrame *frames = (const NdDicomFrame *) elements->frames->data;
  gboolean indexed = TRUE, placed = are_directions (elements);

  for (gsize i = 0; i < n; i++) {
    indexed = indexed && frames[i].temporal > 0;
    placed = placed && frames[i].placed;
  }
  for (gsize i = 0; i < n; i++)
    places[i] = (Place){ .frame = i,
      .place = placed ? nd_dicom_axes_place (elements, &frames[i])
                      : frames[i].in_stack };
  join_places (places, n);
  if (!indexed)
    count_repeats (places, n);
  for (gsize i = 0; i < n && indexed; i++)
    places[i].temporal = frames[places[i].frame].temporal;
  qsort (places, n, sizeof (Place), dicom_axes_compare);
}

/* By @places, which are in the order of the slices. */
static gboolean
set_grouped (NdHeader *header, const NdDicomElements *elements,
    const Place *places, gsize slices)
{
  const NdDicomFrame *frames = (const NdDicomFrame *) elements->frames->data;
  const NdDicomFrame *first = &frames[places[0].frame];
  NdRecording *recording = &header->recording;
  const guint64 volumes = elements->n_frames / slices;
  g_autoptr (NdList) seconds = NULL;
  gboolean timed = volumes > 1;
  gdouble step = 0;

  recording->shape.size[2] = slices;
  recording->volumes = volumes;
  if (slices > 1 && first->placed)
    step = (places[slices - 1].place - places[0].place) / (slices - 1);
  nd_dicom_axes_locate (header, elements, first, step);
  /* The time of a frame, of which a volume has several. */
  set_rate (header, elements->frame_time / 1e3 * slices);
  seconds = nd_list_new (&header->budget, sizeof (gdouble));
  for (guint64 v = 0; v < volumes && timed; v++) {
    const NdDicomFrame *frame = &frames[places[v * slices].frame];

    timed = frame->timed;
    if (!nd_list_add (seconds, frame->seconds))
      return FALSE;
  }
  return !timed
      || dicom_axes_set_times (header, (const gdouble *) seconds->data,
          sizeof (gdouble));
}

static gboolean
set_groups (NdHeader *header, const NdDicomElements *elements, NdList **order,
    const gchar *path)
{
  const gsize n = elements->n_frames;
  NdBudget *budget = &header->budget;
  Place *places = nd_budget_alloc (budget, n * sizeof (Place));
  gboolean ok = places != NULL, in_order = TRUE;
  gsize slices;

  if (!ok)
    return FALSE;
  fill_places (elements, places, n);
  slices = count_slices (places, n);
  if (slices > 0) {
    keep_reverse (places, n, slices);
    ok = set_grouped (header, elements, places, slices);
  } else {
    nd_header_warn (header,
        "\"%s\": volumes of its frames have other slices than the first one: "
        "all frames are read as slices, in the order of the file",
        path);
    for (gsize i = 0; i < n; i++)
      places[i].frame = i;
    header->recording.shape.size[2] = n;
    nd_dicom_axes_locate (header, elements,
        (const NdDicomFrame *) elements->frames->data, 0);
  }
  for (gsize i = 0; i < n; i++)
    in_order = in_order && places[i].frame == i;
  if (ok && !in_order) {
    *order = nd_list_new (budget, sizeof (guint32));
    for (gsize i = 0; i < n && ok; i++)
      ok = nd_list_add (*order, places[i].frame);
  }
  nd_budget_free (budget, places, n * sizeof (Place));
  return ok;
}

gboolean
nd_dicom_axes_set (NdHeader *header, const NdDicomElements *elements,
    NdList **order, const gchar *path)
{
  if (elements->frames->len > 0 && elements->frames->len == elements->n_frames)
    return set_groups (header, elements, order, path);
  return set_plain (header, elements);
}
