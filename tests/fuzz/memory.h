/* Counts every allocation of the process, and fills it.
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

/* The bytes that are allocated now and were not at memory_begin(). */
gssize memory_now (void);

/* From now on the @nth allocation of @least bytes or more fails, counted from
 * 1; 0: none does. Those of posix_memalign() never do: only blosc uses it, and
 * does not look whether it has failed. */
void memory_fail (guint nth, gsize least);

/* Whether it has failed. */
gboolean memory_has_failed (void);

/* Memory that is allocated or freed from now on has this byte throughout,
 * unless a sanitizer replaces malloc. */
void memory_fill (guint8 byte);
