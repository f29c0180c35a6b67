/* What this process may use of the machine: the least of what the machine has
 * and of the limits that the kernel sets for the process.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>
#include <stddef.h>

G_BEGIN_DECLS

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

G_END_DECLS
