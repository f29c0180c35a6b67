/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/micromanager.h"

#include "formats/axes.h"
#include "formats/jsontokens.h"
#include "formats/rate.h"

#include <math.h>
#include <string.h>

#define MICROMETRE 1e-3 /* in mm */
#define MILLISECOND 1e-3
#define NANOSECONDS 1e9
#define LONGEST 1e9 /* seconds */

/* The value of the last digit of a time, in nanoseconds. */
#define TIME_DIGIT 1000

/* The plane that an object of the text describes; -1: it does not say. */
typedef struct
{
  gdouble frame, slice, channel, elapsed;
} Plane;

static const Plane no_plane = { -1, -1, -1, -1 };

static void
take_size (gdouble *size, const gchar *value, gdouble unit)
{
  const gdouble number = g_ascii_strtod (value, NULL) * unit;

  if (*size == 0 && isfinite (number))
    *size = fabs (number);
}

static void
take_value (NdMicroManager *found, Plane *plane, const NdJsonTokens *tokens)
{
  const struct
  {
    const gchar *name;
    gdouble *number;
  } numbers[] = {
    { "Frame", &plane->frame },
    { "FrameIndex", &plane->frame },
    { "Slice", &plane->slice },
    { "SliceIndex", &plane->slice },
    { "ChannelIndex", &plane->channel },
    { "ElapsedTime-ms", &plane->elapsed },
  };
  const gchar *name = tokens->name, *value = tokens->value;

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    if (strcmp (name, numbers[i].name) == 0)
      *numbers[i].number = g_ascii_strtod (value, NULL);
  }
  if (strcmp (name, "PixelSize_um") == 0 || strcmp (name, "PixelSizeUm") == 0)
    take_size (&found->pixel, value, MICROMETRE);
  else if (strcmp (name, "z-step_um") == 0)
    take_size (&found->step, value, MICROMETRE);
  else if (strcmp (name, "Interval_ms") == 0)
    take_size (&found->interval, value, MILLISECOND);
  else if (strcmp (name, "ElapsedTime-ms") == 0)
    found->elapsed = g_ascii_strtod (value, NULL) * MILLISECOND;
}

static void
keep_time (NdMicroManager *found, const Plane *plane)
{
  NdMicroManagerTime time;

  if (!(plane->frame >= 0 && plane->frame < ND_FILES_MAX && plane->slice <= 0
          && plane->channel <= 0 && plane->elapsed >= 0
          && plane->elapsed * MILLISECOND < LONGEST))
    return;
  if (!found->times)
    found->times = nd_list_new (found->budget, sizeof (NdMicroManagerTime));
  time = (NdMicroManagerTime){ plane->frame, plane->elapsed * MILLISECOND };
  if (found->times->len < ND_FILES_MAX)
    nd_list_add (found->times, time);
}

void
nd_micro_manager_parse (NdMicroManager *found, const gchar *text, gsize n)
{
  Plane plane = no_plane;
  NdJsonTokens tokens;
  NdJsonToken token;
  guint names = 0, within = 0; /* the depth of the list of channels */

  nd_json_tokens_init (&tokens, text, n);
  while ((token = nd_json_tokens_next (&tokens)) != ND_JSON_END) {
    if (token == ND_JSON_OPEN && strcmp (tokens.name, "ChNames") == 0
        && !*found->channels)
      within = tokens.depth;
    else if (token == ND_JSON_VALUE && within > 0 && tokens.depth == within
        && names < ND_MICRO_MANAGER_CHANNELS)
      found->channels[names++] = g_strdup (tokens.value);
    else if (token == ND_JSON_VALUE)
      take_value (found, &plane, &tokens);
    if (token != ND_JSON_CLOSE)
      continue;
    if (within > tokens.depth)
      within = 0;
    /* An object of a plane is in that of all, or is all. */
    if (tokens.depth <= 1) {
      keep_time (found, &plane);
      plane = no_plane;
    }
  }
}

void
nd_micro_manager_clear (NdMicroManager *found)
{
  for (guint i = 0; found->channels[i]; i++)
    g_clear_pointer (&found->channels[i], g_free);
  g_clear_pointer (&found->times, nd_list_free);
}

static void
set_times (const NdMicroManager *found, NdHeader *header)
{
  const guint64 volumes = header->recording.volumes;
  g_autoptr (NdList) times = NULL;

  if (!found->times || volumes < 2 || found->times->len < volumes)
    return;
  times = nd_list_new (&header->budget, sizeof (gint64));
  if (!nd_list_set_size (times, volumes)) {
    header->metadata->failed = TRUE;
    return;
  }
  for (guint i = 0; i < volumes; i++)
    g_array_index (times, gint64, i) = -1;
  for (guint i = 0; i < found->times->len; i++) {
    const NdMicroManagerTime *time =
        &g_array_index (found->times, NdMicroManagerTime, i);

    if (time->volume < volumes)
      g_array_index (times, gint64, time->volume) =
          llrint (time->seconds * NANOSECONDS);
  }
  for (guint i = 0; i < volumes; i++) {
    if (g_array_index (times, gint64, i) < 0)
      return;
  }
  nd_header_set_times (header, g_steal_pointer (&times), TIME_DIGIT);
}

void
nd_micro_manager_use (const NdMicroManager *found, NdHeader *header)
{
  NdRecording *recording = &header->recording;
  NdGeometry *geometry = &recording->geometry;
  gdouble origin[3];

  if (found->pixel > 0) {
    const gdouble spacing[3] = { found->pixel, found->pixel,
      found->step > 0 ? found->step : found->pixel };

    nd_axes_get_origin (geometry, origin);
    nd_axes_set (geometry, spacing, origin);
  } else if (found->step > 0 && geometry->known) {
    geometry->spacing[2] = found->step;
  }
  if (found->interval > 0)
    nd_rate_from_seconds (found->interval, &recording->rate_n,
        &recording->rate_d);
  set_times (found, header);
}
