/* What libFuzzer calls.
 *
 *   fuzz-TARGET --seeds FOLDER     writes the seeds of the target
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/written.h"
#include "tests/fuzz/fuzz.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const guint8 *bytes, size_t n);

#if __has_feature(memory_sanitizer)
/* Libraries are not compiled with MemorySanitizer: all new memory counts as
 * written, except what core/written.h says. */

const char *__msan_default_options (void);
int __sanitizer_install_malloc_and_free_hooks (
    void (*allocated) (const volatile void *memory, size_t size),
    void (*freed) (const volatile void *memory));

const char *
__msan_default_options (void)
{
  return "poison_in_malloc=0:poison_in_free=0";
}

static void
allocated (const volatile void *memory, size_t size)
{
  __msan_unpoison (memory, size);
}

static void
freed (const volatile void *memory)
{
}

static void __attribute__ ((constructor))
install (void)
{
  __sanitizer_install_malloc_and_free_hooks (allocated, freed);
}
#endif

static void
write_seeds (const gchar *folder)
{
  g_autoptr (GPtrArray) seeds =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  fuzz_seeds (seeds);
  for (guint i = 0; i < seeds->len; i++) {
    g_autofree gchar *name = g_strdup_printf ("%s-%02u", fuzz_name, i);
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    gsize n;
    const gchar *bytes = g_bytes_get_data (seeds->pdata[i], &n);

    g_assert_true (g_file_set_contents (path, bytes, n, NULL));
  }
}

/* libFuzzer keeps the input of an abort, but not that of the trap with which
 * g_error() ends. */
static void
stop (int signal)
{
  abort ();
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  signal (SIGTRAP, stop);
  if (*argc != 3 || strcmp ((*argv)[1], "--seeds") != 0)
    return 0;
  write_seeds ((*argv)[2]);
  exit (EXIT_SUCCESS);
}

int
LLVMFuzzerTestOneInput (const guint8 *bytes, size_t n)
{
  fuzz_input (bytes, n);
  return 0;
}
