/* Sample types as a GObject enum, for properties. The values are those of
 * NdSampleType.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib-object.h>
#include "engine/ndshape.h"

G_BEGIN_DECLS

#define GST_TYPE_ND_SAMPLE_TYPE (gst_nd_sample_type_get_type ())
GType gst_nd_sample_type_get_type (void);

G_END_DECLS
