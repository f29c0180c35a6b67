/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/gst.h>
#include "engine/nderror.h"

G_BEGIN_DECLS

/* Posts @error (ND_ERROR) on the bus as the element error it stands for. */
void gst_nd_element_error (GstElement * element, const GError * error);

G_END_DECLS
