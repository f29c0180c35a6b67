/* Programs that compare a back end with references on random jobs: options, the
 * back end of a module, memory, and the loop over the jobs, whose results are
 * printed as TAP.
 *
 *   PROGRAM [--seed N] [--jobs N] [--only JOB] [--module FILE]
 *
 * --module tests the back end of a module, for example cuda/ndconv-cuda.so. The
 * exit code is 77 if there is no device and 1 if the device cannot be used.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

G_BEGIN_DECLS

/* That of --module, or that of the CPU. */
extern const NdBackend *check_backend;
extern gboolean check_has_module;

/* Parses the options, and those of @more if that is not NULL, and opens the
 * back end. The result is the exit code of the program, or -1 to go on. */
gint check_begin (int *argc, char ***argv, const GOptionEntry *more);

/* Runs all jobs. @check runs job @job and returns whether it is right. The
 * result is the exit code of the program. */
gint check_run (gboolean (*check) (gint job, GRand *r));

/* Memory of the device if @on_device and if the back end has its own; otherwise
 * of the host. That of the host contains zeros. */
guint8 *check_memory_new (gsize bytes, gboolean on_device);
void check_memory_free (guint8 *memory, gboolean on_device);

/* Copies between the host and such memory. */
void check_copy (gpointer to, gconstpointer from, gsize bytes,
    gboolean on_device);

/* About normally distributed, with mean 0 and standard deviation 1. */
gdouble check_random_normal (GRand *r);

G_END_DECLS
