/* What this process may use of the machine, the least of what the machine has
 * and of the limits that the kernel sets for the process, and large
 * allocations.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>
#include <stddef.h>

G_BEGIN_DECLS

/* Whether @bytes are less than nd_usable_memory(); otherwise FALSE with
 * ND_ERROR_MEMORY. Call it before a large allocation: Linux overcommits, so
 * that an allocation that exceeds the memory succeeds, and the process is
 * killed when it writes to it. Pass G_MAXSIZE if the number of bytes
 * overflowed. */
gboolean nd_memory_check (gsize bytes, GError **error);

/* Sets the same error, for an allocation of @bytes that failed. */
void nd_memory_set_error (GError **error, gsize bytes);

/* @n times @size bytes of zeros, to be freed with g_free(). If they are 0, the
 * result is not NULL. NULL with the same error without memory, or if the number
 * of bytes overflows. For what a file or a stream makes large. */
gpointer nd_memory_new (gsize n, gsize size, GError **error);

/* a * b * c, or G_MAXSIZE if that overflows. */
gsize nd_size_mul (gsize a, gsize b, gsize c);

/* Bytes of memory: the least of the physical memory, the limits of resources
 * RLIMIT_AS and RLIMIT_DATA, and the limits of the control group of the process
 * and of all groups above it, versions 1 and 2. What is in use counts too. A
 * limit of a group that has just been changed counts after a second. Any
 * thread. */
size_t nd_usable_memory (void);

/* Cores, 1 and more: the least of the CPUs that the calling thread may run on
 * and the CPU time that its control groups allow, rounded up. Any thread. */
guint nd_usable_cores (void);

/* The limits of control groups alone, as files below the folder @root say,
 * which is "" but for tests. Without a limit: G_MAXSIZE, G_MAXUINT. */
size_t nd_cgroup_memory (const gchar *root);
guint nd_cgroup_cores (const gchar *root);

/* Asks the kernel for large pages, 2 MiB on most machines, for memory that
 * nothing was written to: strides of many pages then need few entries of the
 * table that finds pages. Memory stays as it was if it cannot. */
void nd_memory_use_large_pages (gpointer memory, gsize bytes);

/* Host memory of whole pages, which a device can pin: at least *@size bytes,
 * which becomes the size of the whole pages; NULL if there is not enough
 * memory. Free it with free(). */
gpointer nd_pages_new (gsize *size);

G_END_DECLS
