/* Options that a sanitizer asks its program for; include it in one .c file per
 * program.
 *
 * Tests ask for impossible sizes, and malloc must then return NULL, as it does
 * without a sanitizer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#define ND_FOR_SANITIZER __attribute__ ((visibility ("default")))

const char *__asan_default_options (void) ND_FOR_SANITIZER;
const char *__tsan_default_options (void) ND_FOR_SANITIZER;

const char *
__asan_default_options (void)
{
  return "allocator_may_return_null=1";
}

/* Children that are forked start threads. */
const char *
__tsan_default_options (void)
{
  return "allocator_may_return_null=1:die_after_fork=0";
}
