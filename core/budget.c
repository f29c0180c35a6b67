/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/budget.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/written.h"

static guint64 default_most; /* 0: a quarter of the memory */

void
nd_budget_set_default (guint64 most)
{
  default_most = most;
}

void
nd_budget_init (NdBudget *budget, guint64 most)
{
  most = most > 0 ? most : default_most;
  budget->most = most > 0 ? MIN (most, G_MAXSIZE) : nd_usable_memory () / 4;
  budget->used = budget->refused = 0;
}

static void
note_refused (NdBudget *budget, gsize n)
{
  if (budget)
    __atomic_compare_exchange_n (&budget->refused, &(gsize){ 0 }, MAX (n, 1),
        FALSE, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void
give (NdBudget *budget, gsize n)
{
  if (budget)
    __atomic_sub_fetch (&budget->used, n, __ATOMIC_RELAXED);
}

gboolean
nd_budget_take (NdBudget *budget, gsize n)
{
  if (!budget)
    return TRUE;
  if (n <= budget->most
      && __atomic_add_fetch (&budget->used, n, __ATOMIC_RELAXED)
          <= budget->most)
    return TRUE;
  if (n <= budget->most)
    give (budget, n);
  note_refused (budget, n);
  return FALSE;
}

gsize
nd_budget_left (const NdBudget *budget)
{
  const gsize used =
      budget ? __atomic_load_n (&budget->used, __ATOMIC_RELAXED) : 0;

  return budget ? budget->most - MIN (used, budget->most) : G_MAXSIZE;
}

gpointer
nd_budget_alloc (NdBudget *budget, gsize n)
{
  gpointer memory;

  if (!nd_budget_take (budget, n))
    return NULL;
  memory = g_try_malloc0 (MAX (n, 1));
  if (memory) {
    nd_unwritten (memory, n);
    return memory;
  }
  give (budget, n);
  note_refused (budget, n);
  return NULL;
}

gpointer
nd_budget_grow (NdBudget *budget, gpointer memory, gsize from, gsize to)
{
  guint8 *grown;

  if (to > from && !nd_budget_take (budget, to - from))
    return NULL;
  grown = g_try_realloc (memory, MAX (to, 1));
  if (!grown) {
    give (budget, to > from ? to - from : 0);
    note_refused (budget, to);
    return NULL;
  }
  if (to > from)
    nd_unwritten (grown + from, to - from);
  else
    give (budget, from - to);
  return grown;
}

void
nd_budget_free (NdBudget *budget, gpointer memory, gsize n)
{
  if (memory)
    give (budget, n);
  g_free (memory);
}

gboolean
nd_budget_reuse (NdBudget *budget, gpointer memory, gsize *have, gsize n)
{
  gpointer *buffer = memory;

  if (*buffer && *have >= n) {
    nd_unwritten (*buffer, n);
    return TRUE;
  }
  nd_budget_free (budget, *buffer, *have);
  *have = n;
  *buffer = nd_budget_alloc (budget, n);
  return *buffer != NULL;
}

gboolean
nd_budget_refuse (const NdBudget *budget, const gchar *path, GError **error)
{
  const gsize left = nd_budget_left (budget);

  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
      "\"%s\" needs %" G_GSIZE_FORMAT " bytes of memory more, %s: max-memory "
      "is %" G_GSIZE_FORMAT " bytes, raise it if you trust the file",
      path, budget->refused,
      budget->refused > left ? "which exceeds its budget"
                             : "which the machine does not have",
      budget->most);
  return FALSE;
}
