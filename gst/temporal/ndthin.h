/* Which volumes an element leaves out because it cannot compute as many as
 * arrive. Without GStreamer: the caller tells the times.
 *
 * Volumes that are taken have equal distances in time, so that a window over
 * time is whole and spans a longer time: every second volume, and so on. The
 * distance follows from the time that an output costs.
 *
 * Times are nanoseconds.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The outputs and the volumes that count. */
#define ND_THIN_LAST 8

typedef struct
{
  guint64 values[ND_THIN_LAST];
  guint n; /* added since the last reset */
} NdThinTimes;

/* All zero: all volumes are taken. */
typedef struct
{
  guint64 distance;   /* between volumes that are taken; 0: all are */
  NdThinTimes costs;  /* of the last outputs */
  NdThinTimes stamps; /* between the last volumes that were taken */
  gboolean has_last;  /* the next one is valid */
  guint64 stamp;      /* of the last volume that was taken */
} NdThin;

/* An output took @cost to compute. */
void nd_thin_add_cost (NdThin *thin, guint64 cost);

/* Forgets the costs, because other settings are in use. */
void nd_thin_forget_costs (NdThin *thin);

/* The next volume begins a stretch: it is taken. */
void nd_thin_restart (NdThin *thin);

/* Whether to take the volume with timestamp @stamp. @interval: between two
 * inputs; 0 if unknown. */
gboolean nd_thin_take (NdThin *thin, guint64 stamp, guint64 interval);

G_END_DECLS
