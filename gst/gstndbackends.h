/* The back ends that this process can use.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>
#include "engine/ndbackend.h"

G_BEGIN_DECLS

/* Remembers where the plugin lies: modules lie beside it. */
void gst_nd_backends_init (GstPlugin * plugin);

/* Adds the CPU back end, and the CUDA module where there is one: the file that
 * environment variable NDCONV_CUDA_MODULE names, or ../ndconv/ndconv-cuda.so
 * (installed) or ../cuda/ndconv-cuda.so (built) from the plugin. Once; later
 * calls do nothing. */
void gst_nd_backends_open (void);

/* Where backend=auto means the CPU for want of a GPU, says why on @element's
 * bus, once in a process. */
void gst_nd_backends_explain_auto (GstElement * element, gint device_id);

/* The back end whose device that is; NULL where there is none. */
const NdBackend *gst_nd_backends_device (gint device_id);

G_END_DECLS
