/* Draws volumes as scenes, with lines and text over them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"
#include "gst/view/gstndviewsettings.h"
#include "view/canvas.h"
#include "view/layout.h"
#include "view/picture.h"
#include "view/scene.h"

G_BEGIN_DECLS

typedef struct _GstNdViewScene GstNdViewScene;

/* For volumes of @info that @backend draws. @memory: the back end in whose
 * memory they lie; NULL: host memory. */
GstNdViewScene *gst_nd_view_scene_new (const NdBackend *backend,
    const NdBackend *memory, gint device_id, const NdRecording *info,
    GError **error);
void gst_nd_view_scene_free (GstNdViewScene *scene);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNdViewScene, gst_nd_view_scene_free)

/* The directions of the volumes in space (NdGeometry), row by row, for labels;
 * without them these are not known. */
void gst_nd_view_scene_set_directions (GstNdViewScene *scene,
    const gdouble directions[9]);

/* The values of one picture that are not in the settings. */
typedef struct
{
  gdouble low, window; /* the window in use */
  gdouble isovalue;
  GstClockTime time;
  guint64 number;
  gboolean again;  /* the volume was drawn before */
  guint keys_page; /* of the list of keys */
} GstNdViewMoment;

/* A second volume, in any memory. */
typedef struct
{
  GstNdViewScene *scene;
  const NdSceneMap *map; /* from the first volume; NULL: both have the whole
                          * picture */
  gconstpointer data;
  gdouble low, window; /* of an overlay */
} GstNdViewOther;

/* Draws the volume at @data to @canvas, and @other, which may be NULL, beside
 * or over it. @settings are resolved. */
gboolean gst_nd_view_scene_draw (GstNdViewScene *scene, gconstpointer data,
    const GstNdViewOther *other, const GstNdViewSettings *settings,
    const GstNdViewMoment *moment, const NdCanvas *canvas, GError **error);

/* The panels of the last picture. */
const NdLayout *gst_nd_view_scene_layout (const GstNdViewScene *scene);

/* A line of samples over time: mode=mmode of ndview.
 */

typedef struct _GstNdViewHistory GstNdViewHistory;

/* The last @columns lines along @axis of volumes. */
GstNdViewHistory *gst_nd_view_history_new (const NdSceneJob *job, NdAxis axis,
    guint columns, GError **error);
void gst_nd_view_history_free (GstNdViewHistory *history);
gboolean gst_nd_view_history_is_of (const GstNdViewHistory *history,
    NdAxis axis, guint columns);

/* Adds the line through sample @at of the volume that @scene of @funcs has
 * taken. */
gboolean gst_nd_view_history_add (GstNdViewHistory *history,
    const NdSceneFuncs *funcs, NdScene *scene, const gsize at[3],
    GError **error);

/* Draws the lines over the whole of @canvas, the last one at the right. */
gboolean gst_nd_view_history_draw (GstNdViewHistory *history,
    const NdLook *look, const NdCanvas *canvas, GError **error);

/* The automatic window of ndview: the range of sample values between black and
 * white, which slowly follows the volumes.
 */

/* Known if low <= high. */
typedef struct
{
  gdouble low, high;
} GstNdViewWindow;

/* The window is unknown until the next volume. */
void gst_nd_view_window_forget (GstNdViewWindow *window);
gboolean gst_nd_view_window_is_known (const GstNdViewWindow *window);

/* Moves the window towards the range of the volume at @data, or takes that
 * range if none is known. */
gboolean gst_nd_view_window_follow (GstNdViewWindow *window, NdPicture *picture,
    gconstpointer data, GError **error);

/* The same with the threshold of the volume (nd_picture_threshold()), which is
 * both ends of @window. */
gboolean gst_nd_view_threshold_follow (GstNdViewWindow *window,
    NdPicture *picture, gconstpointer data, GError **error);

/* The width; 1 for a volume of one value. */
gdouble gst_nd_view_window_width (const GstNdViewWindow *window);

G_END_DECLS
