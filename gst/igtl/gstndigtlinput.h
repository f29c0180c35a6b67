/* The receiving half of openigtlinksrc: makes volumes with fields of the
 * messages of peers. The thread of the hub fills a queue, and the streaming
 * thread empties it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include "gst/igtl/gstndigtlassembly.h"
#include "gst/igtl/gstndigtlhub.h"

G_BEGIN_DECLS

typedef struct _GstNdIgtlInput GstNdIgtlInput;

typedef struct
{
  GstNdIgtlSettings hub;
  gchar *device;  /* "": the first that sends an image */
  gboolean every; /* no volume is dropped; peers wait instead */
} GstNdIgtlInputSettings;

/* The same times of another volume. */
typedef struct
{
  guint64 sent, arrival;
} GstNdIgtlSending;

typedef struct
{
  GstBuffer *buffer; /* samples of nd_igtl_sample_type() */
  NdSampleType type;
  NdIgtlImage image;
  GArray *fields;  /* GstNdIgtlText, in ascending order of keys */
  guint64 sent;    /* on the clock of the sender, ns since 1970; 0: not known */
  guint64 arrival; /* arrival of the last byte, monotonic, ns */
  GArray
      *replaced; /* GstNdIgtlSending of the volumes that it replaces, or NULL */
  gboolean discont; /* the first one, or the first of a new connection */
} GstNdIgtlVolume;

void gst_nd_igtl_volume_free (GstNdIgtlVolume *volume);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNdIgtlVolume, gst_nd_igtl_volume_free)

/* Starts to connect or to listen. Posts warnings and errors as messages of
 * @element. */
GstNdIgtlInput *gst_nd_igtl_input_new (GstElement *element,
    const GstNdIgtlInputSettings *settings);
void gst_nd_igtl_input_free (GstNdIgtlInput *input);

/* Waits for the next volume. NULL with GST_FLOW_FLUSHING if flushing is set or
 * after an error, GST_FLOW_EOS if the peer closed the connection and the
 * element shall not connect again. */
GstNdIgtlVolume *gst_nd_igtl_input_pop (GstNdIgtlInput *input,
    GstFlowReturn *ret);
void gst_nd_igtl_input_set_flushing (GstNdIgtlInput *input, gboolean flushing);

/* From now on buffers for volumes of @size bytes are taken from @pool or, if it
 * is NULL, from system memory. */
void gst_nd_igtl_input_set_pool (GstNdIgtlInput *input, GstBufferPool *pool,
    gsize size);

/* Warns: the first warning of a kind is a message of the element, later ones
 * are logged. */
typedef enum
{
  GST_ND_IGTL_WARN_CONNECTION,
  GST_ND_IGTL_WARN_SILENT,
  GST_ND_IGTL_WARN_CRC,
  GST_ND_IGTL_WARN_REFUSED,
  GST_ND_IGTL_WARN_MATRIX,
  GST_ND_IGTL_WARN_QUERY,
  GST_ND_IGTL_WARN_MEMORY,
  GST_ND_IGTL_WARNINGS
} GstNdIgtlWarning;
void gst_nd_igtl_input_warn (GstNdIgtlInput *input, GstNdIgtlWarning kind,
    const GError *error);

/* Adds the counts of received, dropped and refused messages. */
void gst_nd_igtl_input_get_stats (GstNdIgtlInput *input, GstStructure *stats);

G_END_DECLS
