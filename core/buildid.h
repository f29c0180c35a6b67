/* The build id tells builds of the engine and its back ends apart.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* 16 hexadecimal digits, a hash of the compiler, its options and the sources of
 * the engine, the back ends and the rooms that they include. Stored times of
 * kernels are used only by a build with the same id. */
const gchar *nd_build_id (void);

/* The first 8 digits of the build id. */
guint32 nd_build_number (void);

G_END_DECLS
