/* Peak memory: counts every allocation of the process.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

/* Starts counting. */
void memory_begin (void);

/* The peak in bytes since then. */
gsize memory_most (void);
