/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/fuzz/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#ifndef __has_feature /* of clang */
#define __has_feature(feature) 0
#endif

static gssize now, most;

static void
add (gssize n)
{
  now += n;
  most = MAX (most, now);
}

void
memory_begin (void)
{
  now = most = 0;
}

gsize
memory_most (void)
{
  return most;
}

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
/* The sanitizer replaces malloc and reports the sizes. */

typedef void (*MallocHook) (const volatile void *memory, size_t size);
typedef void (*FreeHook) (const volatile void *memory);
extern int __sanitizer_install_malloc_and_free_hooks (MallocHook, FreeHook);
extern size_t __sanitizer_get_allocated_size (const volatile void *memory);

static void
note_malloc (const volatile void *memory, size_t size)
{
  add (size);
}

static void
note_free (const volatile void *memory)
{
  if (memory)
    add (-(gssize) __sanitizer_get_allocated_size (memory));
}

static void __attribute__ ((constructor))
install (void)
{
  __sanitizer_install_malloc_and_free_hooks (note_malloc, note_free);
}

#else

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n, size_t size);
extern void *__libc_realloc (void *memory, size_t size);
extern void *__libc_memalign (size_t alignment, size_t size);
extern void __libc_free (void *memory);

#define EXPORT __attribute__ ((visibility ("default")))

static void *
noted (void *memory)
{
  if (memory)
    add (malloc_usable_size (memory));
  return memory;
}

EXPORT void *
malloc (size_t size)
{
  return noted (__libc_malloc (size));
}

EXPORT void *
calloc (size_t n, size_t size)
{
  return noted (__libc_calloc (n, size));
}

EXPORT void *
realloc (void *memory, size_t size)
{
  const gssize before = memory ? malloc_usable_size (memory) : 0;
  void *grown = __libc_realloc (memory, size);

  if (grown || size == 0)
    add (-before);
  return noted (grown);
}

EXPORT int
posix_memalign (void **memory, size_t alignment, size_t size)
{
  *memory = noted (__libc_memalign (alignment, size));
  return *memory ? 0 : ENOMEM;
}

EXPORT void
free (void *memory)
{
  if (memory)
    add (-(gssize) malloc_usable_size (memory));
  __libc_free (memory);
}

#endif
