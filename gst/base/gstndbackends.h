/* The back ends that this process can use.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"
#include <gst/gst.h>

G_BEGIN_DECLS

/* Each plugin calls it first: remembers its folder, because modules are
 * searched relative to it, and makes the categories of the log. FALSE, with one
 * warning, if this processor lacks instructions that the kernels are compiled
 * for (-Dkernels=host of another machine): the plugin must not load. */
gboolean gst_nd_backends_init (GstPlugin *plugin);

/* Adds the CPU back end, and the CUDA module if it exists: the file named by
 * the environment variable NDCONV_CUDA_MODULE, or ../ndconv/ndconv-cuda.so
 * (installed) or ../cuda/ndconv-cuda.so (built) from the plugin. Later calls do
 * nothing. */
void gst_nd_backends_open (void);

/* Posts an INFO message, once in a process: backend=auto means the CPU because
 * of @error. */
void gst_nd_backends_explain_auto (GstElement *element, const GError *error);

/* Whether the CUDA module exists. Starts no driver. */
gboolean gst_nd_backends_have_device (void);

G_END_DECLS
