/* The properties of a filter: single settings, several at once, presets and
 * statistics.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvprivate.h"

G_BEGIN_DECLS

/* Installs all properties but `axes`, and sets the functions of @klass. */
void gst_nd_conv_install_properties (GObjectClass *klass);

/* Presets are files in presets/. All properties of a preset change at once. */
void gst_nd_conv_preset_init (gpointer preset_interface, gpointer unused);

G_END_DECLS
