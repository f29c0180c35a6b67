/* Messages of the rooms below gst/ (core/log.h) in GStreamer's debug log. Each
 * room has a category: ndengine, ndcpu, …
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Makes the categories and connects them. */
void gst_nd_log_init (void);

/* Takes over debug levels that changed after that. Elements call it when they
 * start. */
void gst_nd_log_update (void);

G_END_DECLS
