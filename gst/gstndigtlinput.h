/* What peers send, as volumes with fields: the receiving half of
 * openigtlinksrc. The thread of the hub fills a queue, the thread of the stream
 * empties it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include "gst/gstndigtlhub.h"

G_BEGIN_DECLS

typedef struct _GstNdIgtlInput GstNdIgtlInput;

typedef struct
{
  GstNdIgtlSettings hub;
  gchar *device;  /* "": the first that comes */
  gboolean every; /* no volume is dropped; peers wait instead */
} GstNdIgtlInputSettings;

typedef struct
{
  gchar *key, *value;
} GstNdIgtlText;

typedef struct
{
  GstBuffer *buffer; /* samples of nd_igtl_sample_type() */
  NdSampleType type;
  NdIgtlImage image;
  GArray *fields;   /* GstNdIgtlText, in ascending order of keys */
  guint64 sent;     /* by the sender's clock, ns since 1970; 0: not known */
  guint64 arrival;  /* of the last byte, monotonic, ns */
  gboolean discont; /* the first one, or the first of a new connection */
} GstNdIgtlVolume;

void gst_nd_igtl_volume_free (GstNdIgtlVolume *volume);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNdIgtlVolume, gst_nd_igtl_volume_free)

/* Begins to connect or to listen. Warnings and errors are messages of
 * @element. */
GstNdIgtlInput *gst_nd_igtl_input_new (GstElement *element,
    const GstNdIgtlInputSettings *settings);
void gst_nd_igtl_input_free (GstNdIgtlInput *input);

/* Waits for the next volume. NULL with GST_FLOW_FLUSHING if flushing is set or
 * after an error, GST_FLOW_EOS if the peer closed the connection and no other
 * one is wanted. */
GstNdIgtlVolume *gst_nd_igtl_input_pop (GstNdIgtlInput *input,
    GstFlowReturn *ret);
void gst_nd_igtl_input_set_flushing (GstNdIgtlInput *input, gboolean flushing);

/* Buffers of volumes of @size bytes come from @pool from now on; NULL: from
 * system memory. */
void gst_nd_igtl_input_set_pool (GstNdIgtlInput *input, GstBufferPool *pool,
    gsize size);

/* A warning of this kind, as a message of the element the first time and in the
 * log afterwards. */
typedef enum
{
  GST_ND_IGTL_WARN_CONNECTION,
  GST_ND_IGTL_WARN_CRC,
  GST_ND_IGTL_WARN_REFUSED,
  GST_ND_IGTL_WARN_MATRIX,
  GST_ND_IGTL_WARN_TYPE,
  GST_ND_IGTL_WARN_QUERY,
  GST_ND_IGTL_WARN_MEMORY,
  GST_ND_IGTL_WARNINGS
} GstNdIgtlWarning;
void gst_nd_igtl_input_warn (GstNdIgtlInput *input, GstNdIgtlWarning kind,
    const GError *error);

/* Adds what was received and what became of it. */
void gst_nd_igtl_input_get_stats (GstNdIgtlInput *input, GstStructure *stats);

G_END_DECLS
