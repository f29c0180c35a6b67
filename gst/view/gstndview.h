/* The state of ndview, shared by its files: gstndview.c is the element,
 * gstndviewchange.c applies the properties, gstndviewdraw.c draws.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstndbackends.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstnddevice.h"
#include "gst/view/gstndviewkeys.h"
#include "gst/view/gstndviewredraw.h"
#include "gst/view/gstndviewscene.h"
#include "gst/view/gstndviewsecond.h"
#include "view/picture.h"
#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

GST_DEBUG_CATEGORY_EXTERN (gst_nd_view_debug);

G_BEGIN_DECLS

#define GST_TYPE_ND_VIEW (gst_nd_view_get_type ())
G_DECLARE_FINAL_TYPE (GstNdView, gst_nd_view, GST, ND_VIEW, GstBaseTransform)

struct _GstNdView
{
  GstBaseTransform parent;

  GstNdViewSettings settings; /* the properties, protected by the object lock */

  /* Those in use, resolved. The caps depend on some of them, which change
   * between two volumes. Protected by the object lock; only the streaming
   * thread writes. */
  GstNdViewSettings active;

  /* Used by the streaming thread only: the properties of the next volume, and
   * those in use. */
  GstNdViewSettings wanted, applied;

  gint shown; /* the response of the last picture; -1: there is none */

  /* Protected by the object lock; only the streaming thread writes. */
  GstNdVolumeInfo in;
  GstVideoInfo out;
  gboolean oriented;  /* the caps of the volumes have directions */
  gdouble low, width; /* the window in use; 0, 0 before the first volume */

  NdPicture *picture;
  const NdBackend *memory;  /* in which volumes are mapped; NULL: in host
                             * memory */
  const NdBackend *backend; /* draws the picture; NULL: the CPU does */
  gboolean on_cpu;          /* because the device could not draw */
  GstNdViewScene *scene;    /* NULL if the picture is a plain one */
  guint64 volumes;          /* drawn since the start */

  /* The second input, with its renderer, which is of `other_info`. */
  GstNdViewSecond second;
  GstNdVolumeInfo other_info;
  GstNdViewScene *other;
  NdSceneMap other_map; /* from the first volumes, if other_mapped */
  gboolean other_mapped;
  const NdBackend *other_memory; /* in which it is mapped; NULL: host memory */
  NdPicture *other_picture;
  GstNdViewWindow other_window;

  GstNdViewRedraw redraw;
  GstNdViewDrag drag; /* of the thread that sends events */

  /* Protected by the object lock: the thread that handles a navigation event,
   * and the axes along which it moved a plane away from `position`. */
  GThread *navigator;
  gboolean moved[3];

  GstNdDevice device;
  gboolean uses_device;  /* backend was not cpu at start_device() */
  gint active_device_id; /* device-id at start_device() */

  GstNdViewWindow window;    /* the automatic one */
  GstNdViewWindow threshold; /* the automatic isovalue, twice */
};

G_END_DECLS
