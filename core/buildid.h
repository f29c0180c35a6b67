/* The build id tells builds of the kernels apart.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* 16 hexadecimal digits, a hash of all sources in engine/, cpu/ and cuda/, the
 * compiler and its options. Stored times of kernels are used only by a build
 * with the same id. */
const gchar *nd_build_id (void);

G_END_DECLS
