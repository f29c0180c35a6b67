/* Base class of the elements that make one volume of each volume and of its
 * neighbours in time: caps, timestamps, the ends of stretches, latency, QoS,
 * and changes while playing. A subclass has a table of properties and makes a
 * processor for them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstnddevice.h"
#include "gst/base/gstndformat.h"
#include "gst/temporal/gstndprocessor.h"
#include "gst/temporal/gstndtemporalsettings.h"
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* G_DECLARE_DERIVABLE_TYPE allows no fields, and the files of the base class
 * share priv. */
#define GST_TYPE_ND_TEMPORAL (gst_nd_temporal_get_type ())
#define GST_ND_TEMPORAL(obj) \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_ND_TEMPORAL, GstNdTemporal))
#define GST_ND_TEMPORAL_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_ND_TEMPORAL, GstNdTemporalClass))
#define GST_ND_TEMPORAL_GET_CLASS(obj) \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_ND_TEMPORAL, GstNdTemporalClass))

typedef struct _GstNdTemporalPrivate GstNdTemporalPrivate;

typedef struct
{
  GstBaseTransform parent;
  GstNdTemporalPrivate *priv;
} GstNdTemporal;

/* What a thread makes a processor of. */
typedef struct
{
  gint cancelled; /* atomic */
  gboolean done;  /* protected by the lock of the builder */
  GstNdTemporalSettings *settings;
  GstNdTemporalSettings *later; /* of the stream, set since; NULL: none. Used by
                                 * the streaming thread only */
  GstNdFormat in;
  guint64 volumes; /* of the stream; 0: unknown */
  gboolean live;
  gboolean beside;    /* another processor is in use, and has memory */
  GstObject *context; /* of the device, or NULL */
  GstNdProcessor *processor;
  GError *error;
} GstNdTemporalBuild;

/* Settings are a struct of the subclass that begins with a
 * GstNdTemporalSettings. @settings of these functions are copies, which no
 * other thread changes. */
typedef struct _GstNdTemporalClass
{
  GstBaseTransformClass parent_class;

  /* Set by gst_nd_temporal_class_install(). */
  const NdSetting *rows;
  guint n_rows;
  gsize settings_size, derived;

  /* Optional: checks properties in start(), where caps are unknown. Without it,
   * derive() checks them. */
  gboolean (*check_start) (GstNdTemporal *self,
      const GstNdTemporalSettings *settings, GError **error);

  /* Optional: warns if the value of @property has no effect, or if any value of
   * @settings has none if @property is NULL. */
  void (*warn_without_effect) (GstNdTemporal *self,
      const GstNdTemporalSettings *settings, const gchar *property);

  /* Sets the fields after `derived` from the others, and from the format of the
   * input if @in is not NULL. FALSE if the properties are wrong; the fields
   * must have valid values then, too. Called with the object lock held if other
   * threads see @settings. */
  gboolean (*derive) (GstNdTemporal *self, GstNdTemporalSettings *settings,
      const GstNdFormat *in, GError **error);

  /* Whether @settings suit the input. Errors: ND_ERROR_FORMAT,
   * ND_ERROR_SETTINGS. */
  gboolean (*check_input) (GstNdTemporal *self,
      const GstNdTemporalSettings *settings, const GstNdFormat *in,
      GError **error);

  /* The caps on the other pad that are possible with @caps on the pad of
   * @direction. With @device, device memory is possible too. @template: of the
   * other pad. */
  GstCaps *(*transform_caps) (GstNdTemporal *self,
      const GstNdTemporalSettings *settings, GstPadDirection direction,
      const GstCaps *caps, gboolean device, const GstCaps *template);

  /* Optional: whether the output of @in has the format @out. Without it, it
   * always has. */
  gboolean (*keeps_caps) (const GstNdTemporalSettings *settings,
      const GstNdFormat *in, const GstNdFormat *out);

  /* Optional: the precision for input of @type. Without it, single. */
  NdPrecision (*find_precision) (const GstNdTemporalSettings *settings,
      NdSampleType type);

  /* Optional: FALSE if no processor for @settings uses a device. */
  gboolean (*may_use_device) (const GstNdTemporalSettings *settings);

  /* Optional: whether one processor suits both formats, which differ in their
   * spacing and rate only. */
  gboolean (*same_units) (const GstNdTemporalSettings *settings,
      const GstNdFormat *a, const GstNdFormat *b);

  /* Makes the processor of @build. May derive the settings of @build again. If
   * this fails beside another processor with ND_ERROR_MEMORY, it is tried again
   * when the other one is freed. Called by another thread. */
  GstNdProcessor *(*build) (GstNdTemporal *self, GstNdTemporalBuild *build,
      GError **error);

  /* Gives @processor those settings on which it does not depend (of_stream).
   * Called by the streaming thread. Optional, as the next ones. */
  void (*use) (GstNdTemporal *self, GstNdProcessor *processor,
      const GstNdTemporalSettings *settings);

  /* Called by the streaming thread after the processor has made an output, with
   * the object lock held. */
  void (*responded) (GstNdTemporal *self, GstNdProcessor *processor);

  /* Called by the streaming thread after that, without the lock: adds metadata
   * to the output @buffer. */
  void (*annotate) (GstNdTemporal *self, GstNdProcessor *processor,
      GstBuffer *buffer);

  /* Called when the work of an output is complete: first with the object lock
   * held, then without. */
  void (*count_output) (GstNdTemporal *self, const GstNdFormat *out);
  void (*warn) (GstNdTemporal *self, const GstNdFormat *out);

  /* Adds fields about the processor in use, and about the stream, to `stats`.
   * Both are called with the object lock held. */
  void (*describe) (GstNdTemporal *self, GstNdProcessor *processor,
      GstStructure *stats);
  void (*add_stats) (GstNdTemporal *self, const GstNdTemporalSettings *active,
      GstStructure *stats);

  /* Called in start() with the object lock held. */
  void (*clear_stats) (GstNdTemporal *self);
} GstNdTemporalClass;

GType gst_nd_temporal_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNdTemporal, gst_object_unref)

/* Rows for the struct at @offset of the settings of an element. */
typedef struct
{
  const NdSetting *rows;
  guint n;
  gsize offset;
} GstNdTemporalPart;

/* Sets the settings of a subclass, a struct of @size bytes that begins with a
 * GstNdTemporalSettings. Its other fields with a row are described by @parts;
 * those from offset @derived on have none. Installs the properties of all
 * temporal elements and those of @parts without the last @hidden ones, `stats`
 * with the description @stats, and `settings`. */
void gst_nd_temporal_class_install (GstNdTemporalClass *klass,
    const GstNdTemporalPart *parts, guint n_parts, guint hidden, gsize size,
    gsize derived, const gchar *stats);

/* Installs property @id, which the class above left out. */
void gst_nd_temporal_class_install_property (GstNdTemporalClass *klass,
    guint id);

/* The device of the element. */
GstNdDevice *gst_nd_temporal_device (GstNdTemporal *self);

/* The format of the input. Thread: the streaming thread. */
const GstNdFormat *gst_nd_temporal_input (GstNdTemporal *self);

/* Posts @error unless an error was posted since start(). Returns
 * GST_FLOW_ERROR. */
#define gst_nd_temporal_fail(self, error) \
  gst_nd_temporal_fail_full (self, error, __FILE__, GST_FUNCTION, __LINE__)
GstFlowReturn gst_nd_temporal_fail_full (GstNdTemporal *self,
    const GError *error, const gchar *file, const gchar *function, gint line);

G_END_DECLS
