/* What a sanitizer asks the program that it is in; for one .c file of each.
 *
 * A size that no machine has is a test, not a bug: malloc says no, as it does
 * without a sanitizer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
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

const char *
__tsan_default_options (void)
{
  return "allocator_may_return_null=1";
}
