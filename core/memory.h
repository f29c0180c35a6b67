/* The memory of the machine.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether @bytes are less than nd_usable_memory() (core/limits.h); otherwise
 * FALSE with ND_ERROR_MEMORY. Call it before a large allocation: Linux
 * overcommits, so that an allocation that exceeds the memory succeeds, and the
 * process is killed when it writes to it. Pass G_MAXSIZE if the number of bytes
 * overflowed. */
gboolean nd_memory_check (gsize bytes, GError **error);

/* Sets the same error, for an allocation of @bytes that failed. */
void nd_memory_set_error (GError **error, gsize bytes);

/* a * b * c, or G_MAXSIZE if that overflows. */
gsize nd_size_mul (gsize a, gsize b, gsize c);

G_END_DECLS
