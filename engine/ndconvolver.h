/* A convolution over a stream: the window, and the rings of one or more planes
 * that move together (Y, U and V of a video frame). Rings keep the last volumes
 * as they came, so that a change of filter need not begin anew.
 *
 * Push a volume; then respond, or skip, while ready. At the end of the stream,
 * end, and respond while ready.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndfence.h"
#include "ndplan.h"
#include "ndwindow.h"

G_BEGIN_DECLS

#define ND_MAX_PLANES 4

typedef struct
{
  guint n_planes;
  NdJob jobs[ND_MAX_PLANES];    /* their banks reach equally far in time */
  NdBorder time_border;
  gboolean reverse;             /* volumes come from last to first */
  const gchar *backend;         /* NULL: the best */
  gint device_id;               /* -1: any */
  NdMethod method;              /* ND_METHODS: the best */
} NdConvolverSettings;

/* ND_ERROR_SETTINGS for wrap, which needs the whole stream. */
gboolean nd_convolver_check_time_border (NdBorder border, GError ** error);

typedef struct _NdConvolver NdConvolver;

/* Errors of nd_convolver_check_time_border() and nd_plan_new(). */
NdConvolver *nd_convolver_new (const NdConvolverSettings * settings,
    GError ** error);
void nd_convolver_free (NdConvolver * convolver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdConvolver, nd_convolver_free)

const NdWindow *nd_convolver_window (const NdConvolver * convolver);
const NdPlan *nd_convolver_plan (const NdConvolver * convolver, guint plane);

/* Bytes of all rings. */
gsize nd_convolver_bytes (const NdConvolver * convolver);

/* One volume, its planes in @volume. Some back ends only enqueue this work and
 * that of nd_convolver_respond(): see nd_convolver_fence(). */
gboolean nd_convolver_push (NdConvolver * convolver,
    const NdSamples volume[ND_MAX_PLANES], GError ** error);

/* What is enqueued next begins after @fence. */
gboolean nd_convolver_after (NdConvolver * convolver, NdFence * fence,
    GError ** error);

/* A fence behind all work so far: until it is done the memory of volumes and
 * outputs must stay. NULL where the work is done already. */
gboolean nd_convolver_fence (NdConvolver * convolver, NdFence ** fence,
    GError ** error);

/* Waits for all work so far. */
gboolean nd_convolver_wait (NdConvolver * convolver, GError ** error);
void nd_convolver_end (NdConvolver * convolver);

/* TRUE where the output of position nd_convolver_window()->anchor can be made:
 * then one of the next two. */
gboolean nd_convolver_ready (const NdConvolver * convolver);
gboolean nd_convolver_respond (NdConvolver * convolver,
    const NdScale scale[ND_MAX_PLANES], const NdSamples out[ND_MAX_PLANES],
    GError ** error);
void nd_convolver_skip (NdConvolver * convolver);

/* Forgets the stream. */
void nd_convolver_reset (NdConvolver * convolver);

/* The same for volumes from last to first, or from first to last. */
void nd_convolver_set_reverse (NdConvolver * convolver, gboolean reverse);

/* Whether @old kept all that @next needs to make the output that is @old's next
 * one; then @next stands before the first of these volumes. Call
 * nd_convolver_replay() until it returns FALSE, and respond while ready between
 * the calls; @old must stay until nd_convolver_wait(). Both must have the same
 * planes. */
gboolean nd_convolver_continue (NdConvolver * next, NdConvolver * old);
gboolean nd_convolver_replay (NdConvolver * next, const NdConvolver * old,
    GError ** error);

G_END_DECLS
