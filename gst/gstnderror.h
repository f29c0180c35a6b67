/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/gst.h>
#include "engine/nderror.h"

G_BEGIN_DECLS

/* Posts @error (ND_ERROR) on the bus as the element error it stands for. */
void gst_nd_element_error (GstElement * element, const GError * error);

/* The same for an error of a back end: what broke while running
 * (ND_ERROR_FAILED) breaks all elements of a pipeline that share a device, and
 * the first one tells. It is forgotten by gst_nd_element_start(). */
void gst_nd_element_error_once (GstElement * element, const GError * error);
void gst_nd_element_start (GstElement * element);

G_END_DECLS
