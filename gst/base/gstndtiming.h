/* The timing of a stream's volumes: the measured interval between them, and
 * whether a volume continues the stretch of those before it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The replacement of a volume that is missing from a stretch. The numbers are
 * public. */
typedef enum
{
  GST_ND_GAP_LEAVE_OUT = 0, /* nothing: the window spans the other volumes */
  GST_ND_GAP_HOLD = 1,      /* the volume before it */
  GST_ND_GAP_RESTART = 2    /* nothing, and a new stretch begins */
} GstNdGap;

typedef struct
{
  GstNdGap gap;
  gdouble limit;    /* intervals without a volume that break a stretch; 0: no
                       gap breaks it */
  gdouble jitter;   /* intervals by which a volume may come late before one
                       counts as missing */
  gboolean discont; /* DISCONT breaks a stretch */
} GstNdTimingRule;

/* The rule of elements without properties for it. */
extern const GstNdTimingRule gst_nd_timing_default_rule;

#define GST_ND_TIMING_INTERVALS 9

typedef struct
{
  GstClockTime last; /* timestamp of the last volume; NONE: unknown */
  GstClockTime intervals[GST_ND_TIMING_INTERVALS];
  guint n;               /* intervals measured since the last break */
  GstClockTime shortest; /* interval since the last reset; NONE: none */
  GstClockTime before;   /* interval before the last break; 0: unknown */
} GstNdTiming;

typedef struct
{
  const gchar *break_reason; /* for logs; NULL: the volume continues */
  guint missing;             /* volumes that did not come before this one */
} GstNdTimingStep;

/* Forgets the stretch, but not the interval of its volumes. The first call is
 * for a struct of zeros. */
void gst_nd_timing_reset (GstNdTiming *timing);

/* Takes the next volume, with timestamp @pts (or NONE). A stretch breaks if
 *  - the timestamp runs backwards (forwards if @reverse) by more than the
 *    jitter, or at all until there is an interval,
 *  - no volume came for more than rule->limit intervals, or for more than
 *    1 + rule->jitter of them if rule->gap is RESTART,
 *  - @discont is set and the timestamps do not explain it by missing volumes:
 *    no more than 1 + rule->jitter intervals passed, or a timestamp is
 *    missing. Here the interval is @nominal, that of
 *    the caps (or NONE: the shortest measured), because a source that leaves
 *    out volumes all the time marks each one.
 * The interval is the median of the last ones measured; until there is one, no
 * gap is seen. If volumes come in bursts, much faster than @nominal, the
 * interval is @nominal; without @nominal, those that come within a millisecond
 * have none.
 * @busy: for so long the element kept the stream waiting since the last volume.
 * What a live source left out meanwhile is not missing, and breaks nothing. 0
 * if the source waits for the element. */
GstNdTimingStep gst_nd_timing_step (GstNdTiming *timing,
    const GstNdTimingRule *rule, GstClockTime nominal, GstClockTime pts,
    gboolean discont, gboolean reverse, GstClockTime busy);

/* Why a GAP event, which says that no volume comes from @start for @duration,
 * breaks the stretch: so much time is longer than rule->limit, or unknown.
 * NULL: it does not. */
const gchar *gst_nd_timing_gap (const GstNdTiming *timing,
    const GstNdTimingRule *rule, GstClockTime nominal, GstClockTime start,
    GstClockTime duration, gboolean reverse);

/* The median of the intervals measured since the last break; NONE if there is
 * none. */
GstClockTime gst_nd_timing_interval (const GstNdTiming *timing);

/* The time in which a live stream brings the next volume: the measured
 * interval, or that before the last break; or @nominal if that is longer,
 * because volumes can come in bursts. 0 if nothing is known. */
GstClockTime gst_nd_timing_expected (const GstNdTiming *timing,
    GstClockTime nominal);

/* Stretches that broke, and their volumes. */
typedef struct
{
  guint64 stretches, volumes;
  gboolean warned;
} GstNdRestarts;

/* Counts a stretch of @volumes that broke. TRUE, once, if there were several
 * and they are so short that most outputs lack volumes of @window: as many as
 * it has but one do so in each stretch. */
gboolean gst_nd_restarts_add (GstNdRestarts *restarts, guint64 volumes,
    guint window);

/* The mean length of the stretches, in volumes. */
gdouble gst_nd_restarts_mean (const GstNdRestarts *restarts);

G_END_DECLS
