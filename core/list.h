/* An array that grows within a budget: unlike a GArray it does not end the
 * process without memory. g_array_index() reads its elements.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/budget.h"

G_BEGIN_DECLS

typedef struct
{
  guint8 *data;
  guint len;
  gboolean failed; /* an element could not be added */
  gsize element;   /* bytes */
  gsize capacity;  /* elements */
  NdBudget *budget;
} NdList;

/* An empty list of elements of @element bytes. @budget must outlive the list.
 * One thread at a time. */
NdList *nd_list_new (NdBudget *budget, gsize element);
void nd_list_free (NdList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdList, nd_list_free)

/* FALSE without memory; the list is then as it was, and failed. */
gboolean nd_list_append (NdList *list, gconstpointer elements, guint n);
#define nd_list_add(list, value) nd_list_append (list, &(value), 1)

/* New elements are 0. */
gboolean nd_list_set_size (NdList *list, gsize n);

G_END_DECLS
