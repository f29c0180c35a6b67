/* How much memory is had at a time: every allocation of the process is counted.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

/* Counts from here on. */
void memory_begin (void);

/* The most bytes at a time since then. */
gsize memory_most (void);
