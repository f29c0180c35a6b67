/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewdraw.h"

#include "core/error.h"
#include "cpu/cpu.h"
#include "gst/base/gstndmemory.h"
#include <string.h>

#define GST_CAT_DEFAULT gst_nd_view_debug

static void
drop_other (GstNdView *self)
{
  g_clear_pointer (&self->other, gst_nd_view_scene_free);
  g_clear_pointer (&self->other_picture, nd_picture_free);
}

void
gst_nd_view_drop_pictures (GstNdView *self)
{
  drop_other (self);
  g_clear_pointer (&self->picture, nd_picture_free);
  g_clear_pointer (&self->scene, gst_nd_view_scene_free);
}

/* The window of the volume at @data. */
static gboolean
find_window (GstNdView *self, gconstpointer data, gdouble *low, gdouble *width,
    GError **error)
{
  const GstNdViewSettings *settings = &self->active;

  if (settings->window > 0) {
    *low = settings->level - settings->window / 2;
    *width = settings->window;
  } else {
    nd_picture_set_percentiles (self->picture, settings->low_percentile,
        settings->high_percentile);
    if (!(self->redraw.again && gst_nd_view_window_is_known (&self->window))
        && !gst_nd_view_window_follow (&self->window, self->picture, data,
            error))
      return FALSE;
    *low = self->window.low;
    *width = gst_nd_view_window_width (&self->window);
  }
  GST_OBJECT_LOCK (self);
  self->low = *low;
  self->width = *width;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* Makes a renderer for volumes of @info of the second input in @memory. */
static gboolean
make_other (GstNdView *self, const GstNdVolumeInfo *info, gboolean oriented,
    const NdBackend *memory, GError **error)
{
  const gboolean mapped = !gst_nd_view_settings_are_beside (&self->active);
  g_autoptr (GstObject) context = NULL;
  GstNdVolumeInfo shown = *info;
  NdSceneJob job;

  if (self->other && self->other_mapped == mapped
      && self->other_memory == memory && self->other_info.type == info->type
      && memcmp (&self->other_info.shape, &info->shape, sizeof info->shape) == 0
      && memcmp (&self->other_info.geometry, &info->geometry,
             sizeof info->geometry)
          == 0)
    return TRUE;
  drop_other (self);
  gst_nd_view_window_forget (&self->other_window);
  self->other_info = *info;
  self->other_mapped = mapped;
  self->other_memory = memory;
  if (mapped) {
    gst_nd_view_settings_job (&self->in, &job);
    nd_scene_map_init (&self->other_map, &job, &self->in.geometry, &info->shape,
        &info->geometry);
    shown.geometry.known = TRUE;
    memcpy (shown.geometry.spacing, self->other_map.spacing,
        sizeof shown.geometry.spacing);
  }
  context = gst_nd_context_get (&self->device.context);
  gst_nd_cuda_enter (context);
  self->other =
      gst_nd_view_scene_new (self->backend ? self->backend : &nd_cpu_backend,
          memory, self->active_device_id, &shown, error);
  if (self->other && oriented && info->geometry.known)
    gst_nd_view_scene_set_directions (self->other, info->geometry.directions);
  if (self->other)
    self->other_picture = nd_picture_new (ND_PICTURE_SLICE, ND_AXIS_Z,
        info->type, &info->shape, memory, self->active_device_id, error);
  gst_nd_cuda_leave (context);
  return self->other_picture != NULL;
}

/* Sets @other to the volume at @map, in @memory, with its window. */
static gboolean
use_other (GstNdView *self, const GstNdViewInput *input,
    const NdBackend *memory, const GstMapInfo *map, GstNdViewOther *other,
    GError **error)
{
  const GstNdViewSettings *settings = &self->active;

  if (map->size != gst_nd_volume_info_size (&input->info)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "A buffer of the second input has %" G_GSIZE_FORMAT
        " bytes, but a volume of its caps has %" G_GSIZE_FORMAT
        " bytes: upstream must send one whole volume in each buffer",
        map->size, gst_nd_volume_info_size (&input->info));
    return FALSE;
  }
  if (!make_other (self, &input->info, input->oriented, memory, error))
    return FALSE;
  *other = (GstNdViewOther){ self->other,
    self->other_mapped ? &self->other_map : NULL, map->data,
    settings->overlay_level - settings->overlay_window / 2,
    settings->overlay_window };
  if (settings->mode != ND_VIEW_OVERLAY || settings->overlay_window > 0)
    return TRUE;
  nd_picture_set_percentiles (self->other_picture, settings->low_percentile,
      settings->high_percentile);
  if (!(self->redraw.again && gst_nd_view_window_is_known (&self->other_window))
      && !gst_nd_view_window_follow (&self->other_window, self->other_picture,
          map->data, error))
    return FALSE;
  other->low = self->other_window.low;
  other->window = gst_nd_view_window_width (&self->other_window);
  return TRUE;
}

/* Draws the volume at @data with that of the second input, if there is one. */
static gboolean
draw_both (GstNdView *self, gconstpointer data, GstBuffer *input,
    const GstNdViewMoment *moment, const NdCanvas *canvas, GError **error)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  const NdBackend *memory = NULL;
  g_autoptr (NdFence) fence = NULL;
  GstNdViewInput second;
  GstNdViewOther other;
  GstMapInfo map;
  gboolean ok;

  if (!gst_nd_view_settings_need_second (&self->active)
      || !gst_nd_view_second_take (&self->second,
          segment->format == GST_FORMAT_TIME
              ? gst_segment_to_running_time (segment, GST_FORMAT_TIME,
                    GST_BUFFER_PTS (input))
              : GST_CLOCK_TIME_NONE,
          &second))
    return gst_nd_view_scene_draw (self->scene, data, NULL, &self->active,
        moment, canvas, error);
  if (self->backend && gst_buffer_n_memory (second.buffer) == 1)
    memory = gst_nd_memory_backend (gst_buffer_peek_memory (second.buffer, 0));
  if (!gst_buffer_map (second.buffer, &map,
          memory ? GST_MAP_READ | GST_ND_MAP_CUDA : GST_MAP_READ)) {
    gst_buffer_unref (second.buffer);
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "A buffer of the second input cannot be mapped for reading");
    return FALSE;
  }
  if (memory)
    fence = gst_nd_memory_get_fence (gst_buffer_peek_memory (second.buffer, 0));
  ok = (!fence || nd_fence_synchronize (fence, NULL, error))
      && use_other (self, &second, memory, &map, &other, error)
      && gst_nd_view_scene_draw (self->scene, data, &other, &self->active,
          moment, canvas, error);
  gst_buffer_unmap (second.buffer, &map);
  gst_buffer_unref (second.buffer);
  return ok;
}

static gboolean
draw_scene (GstNdView *self, gconstpointer data, GstBuffer *input,
    GstVideoFrame *frame, GError **error)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  const NdCanvas canvas = { GST_VIDEO_FRAME_PLANE_DATA (frame, 0),
    GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0), GST_VIDEO_FRAME_WIDTH (frame),
    GST_VIDEO_FRAME_HEIGHT (frame) };
  GstNdViewMoment moment = { .isovalue = self->active.isovalue,
    .time = GST_CLOCK_TIME_NONE,
    .again = self->redraw.again,
    .keys_page = g_atomic_int_get (&self->drag.page),
    .number = self->volumes - self->redraw.again };

  if (segment->format == GST_FORMAT_TIME)
    moment.time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME,
        GST_BUFFER_PTS (input));
  if (GST_BUFFER_OFFSET_IS_VALID (input))
    moment.number = GST_BUFFER_OFFSET (input);
  if (!find_window (self, data, &moment.low, &moment.window, error))
    return FALSE;
  if ((self->active.mode == ND_VIEW_SURFACE
          || (gst_nd_view_settings_need_second (&self->active)
              && self->active.content == ND_VIEW_SURFACE))
      && self->active.isovalue_auto) {
    if (!(self->redraw.again && gst_nd_view_window_is_known (&self->threshold))
        && !gst_nd_view_threshold_follow (&self->threshold, self->picture, data,
            error))
      return FALSE;
    moment.isovalue = self->threshold.low;
  }
  return draw_both (self, data, input, &moment, &canvas, error);
}

/* Writes the picture of the volume at @data to @frame. */
static gboolean
draw (GstNdView *self, gconstpointer data, GstBuffer *input,
    GstVideoFrame *frame, GError **error)
{
  gdouble low, width;

  if (self->scene)
    return draw_scene (self, data, input, frame, error);
  return nd_picture_take (self->picture, data, self->active.position, error)
      && find_window (self, data, &low, &width, error)
      && nd_picture_write (self->picture, low, width,
          GST_VIDEO_FRAME_PLANE_DATA (frame, 0),
          GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0), error);
}

/* The back end of the device that draws a scene of volumes in @memory, or NULL
 * if the CPU does. */
static const NdBackend *
choose_backend (GstNdView *self, const NdBackend *memory)
{
  const NdBackend *backend = memory;

  if (!backend && self->active.backend == ND_BACKEND_GPU)
    backend = gst_nd_device_backend (&self->device, NULL);
  if (!backend || self->on_cpu)
    return NULL;
  if (backend->scenes)
    return backend;
  if (!self->scene)
    GST_INFO_OBJECT (self, "%s does not draw this picture; the CPU does",
        backend->name);
  return NULL;
}

/* Makes a renderer for volumes in the kind of memory of @input. */
static gboolean
make_picture (GstNdView *self, GstBuffer *input, GError **error)
{
  const GstNdViewSettings *settings = &self->active;
  const gboolean is_scene =
      gst_nd_view_settings_are_scene (settings, &self->in);
  g_autoptr (GstObject) context = gst_nd_context_get (&self->device.context);
  const NdBackend *memory = NULL, *backend;

  if (gst_buffer_n_memory (input) == 1)
    memory = gst_nd_memory_backend (gst_buffer_peek_memory (input, 0));
  backend = is_scene ? choose_backend (self, memory) : memory;
  /* The CPU draws volumes in host memory. */
  if (!backend)
    memory = NULL;
  if (self->picture && self->backend == backend && self->memory == memory)
    return TRUE;
  gst_nd_view_drop_pictures (self);
  self->backend = backend;
  self->memory = memory;
  gst_nd_cuda_enter (context);
  if (is_scene)
    self->scene = gst_nd_view_scene_new (backend ? backend : &nd_cpu_backend,
        memory, self->active_device_id, &self->in, error);
  if (self->scene && self->oriented && self->in.geometry.known)
    gst_nd_view_scene_set_directions (self->scene,
        self->in.geometry.directions);
  /* That of a scene finds its window. */
  if (!is_scene || self->scene)
    self->picture = nd_picture_new (is_scene ? ND_PICTURE_SLICE
                                             : (NdPictureMode) settings->mode,
        is_scene ? ND_AXIS_Z : settings->axis, self->in.type, &self->in.shape,
        memory, self->active_device_id, error);
  gst_nd_cuda_leave (context);
  if (self->picture)
    GST_INFO_OBJECT (self, "draws on %s", backend ? backend->name : "the CPU");
  return self->picture != NULL;
}

/* Maps @input in the memory that the renderer reads, and waits for the work
 * that writes it. */
static gboolean
map_volume (GstNdView *self, GstBuffer *input, GstMapInfo *map, GError **error)
{
  const gsize size = gst_nd_volume_info_size (&self->in);
  g_autoptr (NdFence) fence = NULL;

  if (!gst_buffer_map (input, map,
          self->memory ? GST_MAP_READ | GST_ND_MAP_CUDA : GST_MAP_READ)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "A buffer with a volume cannot be mapped for reading: upstream must "
        "send system memory or memory of the device");
    return FALSE;
  }
  if (map->size != size) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "A buffer has %" G_GSIZE_FORMAT
        " bytes, but a volume of its caps has %" G_GSIZE_FORMAT
        " bytes: upstream must send one whole volume in each buffer",
        map->size, size);
    gst_buffer_unmap (input, map);
    return FALSE;
  }
  if (self->memory)
    fence = gst_nd_memory_get_fence (gst_buffer_peek_memory (input, 0));
  if (!fence || nd_fence_synchronize (fence, NULL, error))
    return TRUE;
  gst_buffer_unmap (input, map);
  return FALSE;
}

/* The bytes after the pixels of each row leave the process with the frame. */
static void
clear_padding (const GstVideoFrame *frame)
{
  const gsize stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);
  const gsize used = (gsize) GST_VIDEO_FRAME_WIDTH (frame)
      * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, 0);
  guint8 *rows = GST_VIDEO_FRAME_PLANE_DATA (frame, 0);

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y++)
    memset (rows + (gsize) y * stride + used, 0, stride - used);
}

static gboolean
make_frame (GstNdView *self, GstBuffer *input, GstBuffer *output,
    GError **error)
{
  GstVideoFrame frame;
  GstMapInfo map;
  gboolean ok;

  if (!make_picture (self, input, error)
      || !map_volume (self, input, &map, error))
    return FALSE;
  ok = gst_video_frame_map (&frame, &self->out, output, GST_MAP_WRITE);
  if (ok) {
    ok = draw (self,
        map.data + self->active.response * (map.size / self->in.responses),
        input, &frame, error);
    clear_padding (&frame);
    gst_video_frame_unmap (&frame);
  } else {
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE,
        "A buffer cannot be mapped for writing: the pool from downstream must "
        "have system memory");
  }
  gst_buffer_unmap (input, &map);
  return ok;
}

gboolean
gst_nd_view_make_frame (GstNdView *self, GstBuffer *input, GstBuffer *output,
    GError **error)
{
  const GstNdViewSettings *settings = &self->active;
  g_autoptr (GError) reason = NULL;

  if (settings->response >= self->in.responses) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Property 'response' is %u, but these volumes have %u responses: it "
        "must be less",
        settings->response, self->in.responses);
    return FALSE;
  }
  if (make_frame (self, input, output, &reason))
    return TRUE;
  /* A device may have too little memory for a scene. */
  if (self->backend && settings->backend != ND_BACKEND_GPU
      && gst_nd_view_settings_are_scene (settings, &self->in)
      && (g_error_matches (reason, ND_ERROR, ND_ERROR_MEMORY)
          || g_error_matches (reason, ND_ERROR, ND_ERROR_SETTINGS))) {
    GST_WARNING_OBJECT (self, "the CPU draws, because %s cannot: %s",
        self->backend->name, reason->message);
    self->on_cpu = TRUE;
    return make_frame (self, input, output, error);
  }
  g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

gboolean
gst_nd_view_get_seen (GstNdView *self, GstNdViewSeen *seen)
{
  gboolean ok;

  GST_OBJECT_LOCK (self);
  ok = self->settings.navigation && self->width > 0
      && gst_nd_view_settings_resolve (&self->settings, &seen->settings, NULL);
  if (ok) {
    gst_nd_view_settings_job (&self->in, &seen->job);
    /* A plain picture has one pixel per sample. */
    for (guint a = 0; a < 3; a++) {
      if (!gst_nd_view_settings_are_scene (&self->active, &self->in))
        seen->job.spacing[a] = 1;
    }
    seen->width = GST_VIDEO_INFO_WIDTH (&self->out);
    seen->height = GST_VIDEO_INFO_HEIGHT (&self->out);
    seen->low = self->low;
    seen->window = self->width;
  }
  GST_OBJECT_UNLOCK (self);
  return ok;
}
