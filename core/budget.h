/* The memory that reading a file may take. Every allocation whose size a file
 * or a peer decides goes through here, or is counted here: it is compared with
 * the budget before it is made, and it never ends the process.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Functions take NULL for a budget without a limit. Threads may allocate at the
 * same time. */
typedef struct
{
  gsize most;    /* bytes */
  gsize used;    /* atomic */
  gsize refused; /* bytes of the first allocation that was refused; 0: none */
} NdBudget;

/* @most is the value of the setting max-memory; 0: that of the process, which
 * is a quarter of the memory that it may use, unless it was set. */
void nd_budget_init (NdBudget *budget, guint64 most);

/* For programs with an option, at their start. */
void nd_budget_set_default (guint64 most);

/* Bytes that are 0. NULL if the budget or the machine has no memory for them.
 * Free them with nd_budget_free(). */
gpointer nd_budget_alloc (NdBudget *budget, gsize n) G_GNUC_MALLOC;

/* Changes the size from @from to @to bytes, of which the caller writes the new
 * ones before it reads them. NULL if that fails; @memory is then as it was. */
gpointer nd_budget_grow (NdBudget *budget, gpointer memory, gsize from,
    gsize to);

/* @n: the bytes that it has. */
void nd_budget_free (NdBudget *budget, gpointer memory, gsize n);

/* Makes *@memory, which has *@have bytes, at least @n bytes large, without
 * keeping its content: for a buffer that is used again. */
gboolean nd_budget_reuse (NdBudget *budget, gpointer memory, gsize *have,
    gsize n);

/* Counts bytes that somebody else allocates. FALSE if they exceed the budget;
 * nothing is counted then. */
gboolean nd_budget_take (NdBudget *budget, gsize n);

/* Bytes that are left. */
gsize nd_budget_left (const NdBudget *budget);

/* Returns FALSE with ND_ERROR_MEMORY: a sentence with the file @path, the bytes
 * that were refused, and the setting. */
gboolean nd_budget_refuse (const NdBudget *budget, const gchar *path,
    GError **error);

G_END_DECLS
