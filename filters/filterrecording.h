/* Filters in the files of recordings, for the design file. Only this part of
 * filters/ needs the readers and writers of formats/.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* From now on this process reads and writes such files (any thread, any number
 * of times). */
void nd_filter_use_recordings (void);

G_END_DECLS
