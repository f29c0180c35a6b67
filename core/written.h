/* Memory that nobody has written, for MemorySanitizer, which sees what code
 * that is compiled with it writes and not what libraries write. Without it
 * these functions do nothing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

#ifndef __has_feature /* of clang */
#define __has_feature(feature) 0
#endif

#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#endif

/* Nobody has written the bytes, whatever they are. */
static inline void
nd_unwritten (gconstpointer bytes, gsize n)
{
#if __has_feature(memory_sanitizer)
  __msan_poison (bytes, n);
#endif
}

/* A library has written the bytes. */
static inline void
nd_written (gconstpointer bytes, gsize n)
{
#if __has_feature(memory_sanitizer)
  __msan_unpoison (bytes, n);
#endif
}
