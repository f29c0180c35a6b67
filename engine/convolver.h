/* A convolution over a stream: the window, and the plans of one or more planes
 * that share the window (Y, U and V of a video frame). Rings also keep the
 * volumes of the window unchanged, so that a new filter can continue with them.
 *
 * Call push() for each volume; then respond() or skip() while ready(). At the
 * end of a stretch call end(), and again respond() while ready().
 *
 * A convolver is used by one thread at a time. If a function fails, some planes
 * may have the volume or the output and others not: call
 * nd_convolver_synchronize(), which waits for what was enqueued, and then
 * nd_convolver_reset() or nd_convolver_free().
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/fence.h"
#include "engine/plan.h"
#include "engine/window.h"

G_BEGIN_DECLS

#define ND_MAX_PLANES 4

typedef struct
{
  guint n_planes;
  NdJob jobs[ND_MAX_PLANES]; /* their banks read the same volumes of the
                                window */
  NdBorder time_border;
  gboolean reverse;     /* volumes arrive from the last to the first */
  gboolean ahead;       /* nd_convolver_begin() is called; needs memory */
  const gchar *backend; /* NULL: the preferred one */
  gint device_id;       /* -1: any */
  const gchar *devices; /* engine/devices.h; NULL: device_id */
  guint64 volumes;      /* of the stream, to divide them; 0: unknown */
  gboolean in_place;    /* the memory of a volume stays as it is until its
                         * output is computed, and is not that of the output */
  gboolean waits;       /* each output is waited for before the next volume
                         * comes */
  NdMethod method;
  gsize memory_limit; /* bytes of each device for all planes; 0: no limit */
} NdConvolverSettings;

/* ND_ERROR_SETTINGS for wrap, which needs the whole stream. */
gboolean nd_convolver_check_time_border (NdBorder border, GError **error);

typedef struct _NdConvolver NdConvolver;

/* Copies @settings, and the banks of its jobs. Errors of
 * nd_convolver_check_time_border(), nd_devices_find() and
 * nd_plan_new(), and ND_ERROR_MEMORY if the rings of all planes do not fit in
 * memory. */
NdConvolver *nd_convolver_new (const NdConvolverSettings *settings,
    GError **error);

/* Waits for work that is enqueued. */
void nd_convolver_free (NdConvolver *convolver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdConvolver, nd_convolver_free)

/* The window, and the plan of @plane. They belong to @convolver, and change
 * with its functions. */
const NdWindow *nd_convolver_window (const NdConvolver *convolver);
const NdPlan *nd_convolver_plan (const NdConvolver *convolver, guint plane);

/* Volumes that are computed at the same time, each on its device. */
guint nd_convolver_turns (const NdConvolver *convolver);

/* Bytes of all rings. */
gsize nd_convolver_bytes (const NdConvolver *convolver);

/* Pushes one volume, whose planes are @volume, of the shape and type of their
 * jobs. A push that fails does not count: the window is as before, but the slot
 * of the volume has undefined content, so that outputs are right again only
 * after nd_convolver_reset(). Some back ends only enqueue this
 * work and that of nd_convolver_respond(): the memory of volumes and outputs
 * must stay valid until a fence that is recorded later is synchronized. */
gboolean nd_convolver_push (NdConvolver *convolver,
    const NdSamples volume[ND_MAX_PLANES], GError **error);

/* Whether the last volume is kept: the window has more than one volume, and a
 * volume was pushed since it was empty. After nd_convolver_continue() it may be
 * empty. */
gboolean nd_convolver_can_repeat (const NdConvolver *convolver);

/* Pushes the last volume again, in place of a volume that is missing. Only if
 * nd_convolver_can_repeat(). */
gboolean nd_convolver_repeat (NdConvolver *convolver, GError **error);

/* Work that is enqueued from now on starts after @fence. */
gboolean nd_convolver_wait (NdConvolver *convolver, NdFence *fence,
    GError **error);

/* Records a fence after all work since the last one. @fence is NULL if the work
 * is done. */
gboolean nd_convolver_record (NdConvolver *convolver, NdFence **fence,
    GError **error);

/* Blocks until all work so far is done, also if a device fails. */
gboolean nd_convolver_synchronize (NdConvolver *convolver, GError **error);

/* Ends the stretch: ready() is TRUE for all volumes that have no output yet. */
void nd_convolver_end (NdConvolver *convolver);

/* TRUE if all volumes that the next output reads are there. Its position is
 * nd_convolver_window()->anchor. Call one of the next two functions then. */
gboolean nd_convolver_ready (const NdConvolver *convolver);

/* Writes the next output, of all planes. If it fails, @out is undefined, and
 * the output stays the next one. */
gboolean nd_convolver_respond (NdConvolver *convolver,
    const NdScale scale[ND_MAX_PLANES], const NdSamples out[ND_MAX_PLANES],
    GError **error);

/* Leaves the next output out. */
void nd_convolver_skip (NdConvolver *convolver);

/* Begins the next output with the volumes that are there, so that it takes less
 * time after its last volume. This needs more work in all: call it while there
 * is nothing else to do. Outputs are equal with and without it, bit for bit.
 * FALSE, and nothing is done, if the output lacks more than one volume or the
 * method does not begin outputs. */
gboolean nd_convolver_begin (NdConvolver *convolver);

/* Empties the window. The next volume begins a stretch. */
void nd_convolver_reset (NdConvolver *convolver);

/* Empties the window. From now on volumes arrive from the last to the first if
 * @reverse, otherwise from the first to the last. */
void nd_convolver_set_reverse (NdConvolver *convolver, gboolean reverse);

/* Lets @next, which has the same planes, continue in place of @old. FALSE if
 * @old does not keep all volumes that @next needs for the next output of @old.
 * Otherwise call nd_convolver_replay() until it returns FALSE, and respond()
 * while ready() between the calls. @old must stay valid until
 * nd_convolver_synchronize(). */
gboolean nd_convolver_continue (NdConvolver *next, NdConvolver *old);

/* Pushes one volume of @old. FALSE without an error if @next has them all. */
gboolean nd_convolver_replay (NdConvolver *next, NdConvolver *old,
    GError **error);

G_END_DECLS
