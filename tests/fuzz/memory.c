/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/fuzz/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature /* of clang */
#define __has_feature(feature) 0
#endif

static gssize now, most;
static int pattern;
static gsize fail_least;
static gint fail_left; /* atomic */

static G_GNUC_UNUSED void
add (gssize n)
{
  const gssize bytes = __atomic_add_fetch (&now, n, __ATOMIC_RELAXED);

  if (bytes > __atomic_load_n (&most, __ATOMIC_RELAXED))
    __atomic_store_n (&most, bytes, __ATOMIC_RELAXED);
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

gssize
memory_now (void)
{
  return now;
}

void
memory_fail (guint nth, gsize least)
{
  fail_least = least;
  fail_left = nth;
}

gboolean
memory_has_failed (void)
{
  return fail_left < 0;
}

void
memory_fill (guint8 byte)
{
  pattern = byte;
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

/* Without hooks, nothing is counted and nothing fails under ThreadSanitizer. */
#elif !defined(__SANITIZE_THREAD__) && !__has_feature(thread_sanitizer)

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

/* Whether this allocation must fail. */
static gboolean
fails (gsize size)
{
  if (fail_left <= 0 || size < fail_least
      || !g_atomic_int_dec_and_test (&fail_left))
    return FALSE;
  fail_left = -1;
  errno = ENOMEM;
  return TRUE;
}

static void *
filled (void *memory)
{
  if (memory)
    memset (memory, pattern, malloc_usable_size (memory));
  return memory;
}

EXPORT void *
malloc (size_t size)
{
  return fails (size) ? NULL : filled (noted (__libc_malloc (size)));
}

EXPORT void *
calloc (size_t n, size_t size)
{
  return fails (n * size) ? NULL : noted (__libc_calloc (n, size));
}

EXPORT void *
realloc (void *memory, size_t size)
{
  const gssize before = memory ? malloc_usable_size (memory) : 0;
  void *grown = fails (size) ? NULL : __libc_realloc (memory, size);

  if (grown || size == 0)
    add (-before);
  noted (grown);
  if (grown && malloc_usable_size (grown) > (gsize) before)
    memset ((guint8 *) grown + before, pattern,
        malloc_usable_size (grown) - before);
  return grown;
}

EXPORT int
posix_memalign (void **memory, size_t alignment, size_t size)
{
  *memory = filled (noted (__libc_memalign (alignment, size)));
  return *memory ? 0 : ENOMEM;
}

EXPORT void
free (void *memory)
{
  if (memory)
    add (-(gssize) malloc_usable_size (memory));
  filled (memory);
  __libc_free (memory);
}

#endif
