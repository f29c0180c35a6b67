/* Sample types as GObject enums, for properties.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include <glib-object.h>

G_BEGIN_DECLS

/* Public numbers, which never change. A new type gets the next free one. */
typedef enum
{
  GST_ND_SAMPLE_UINT8 = 0,
  GST_ND_SAMPLE_INT16 = 1,
  GST_ND_SAMPLE_UINT16 = 2,
  GST_ND_SAMPLE_FLOAT32 = 3,
  GST_ND_SAMPLE_SAME = 4, /* output-type only: the type of the input */
  GST_ND_SAMPLE_INT8 = 5,
  GST_ND_SAMPLE_INT32 = 6,
  GST_ND_SAMPLE_UINT32 = 7,
  GST_ND_SAMPLE_FLOAT16 = 8,
  GST_ND_SAMPLE_FLOAT64 = 9
} GstNdSampleType;

/* Without and with GST_ND_SAMPLE_SAME. */
GType gst_nd_sample_type_get_type (void);
GType gst_nd_output_type_get_type (void);

/* The type that @type means; @same is that of the input. */
NdSampleType gst_nd_sample_type (GstNdSampleType type, NdSampleType same);

G_END_DECLS
