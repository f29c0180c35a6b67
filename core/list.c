/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/list.h"

#include "core/memory.h"

#include <string.h>

#define FIRST 16

NdList *
nd_list_new (NdBudget *budget, gsize element)
{
  NdList *list = g_new0 (NdList, 1);

  list->budget = budget;
  list->element = element;
  return list;
}

void
nd_list_free (NdList *list)
{
  nd_budget_free (list->budget, list->data, list->capacity * list->element);
  g_free (list);
}

static gboolean
reserve (NdList *list, gsize n)
{
  gsize capacity = list->capacity;
  gpointer data;

  if (n <= capacity)
    return TRUE;
  capacity = MAX (n, MAX (FIRST, capacity + capacity / 2));
  data = n > G_MAXUINT ? NULL
                       : nd_budget_grow (list->budget, list->data,
                             list->capacity * list->element,
                             nd_size_mul (capacity, list->element, 1));
  if (!data) {
    list->failed = TRUE;
    return FALSE;
  }
  list->data = data;
  list->capacity = capacity;
  return TRUE;
}

gboolean
nd_list_append (NdList *list, gconstpointer elements, guint n)
{
  if (n == 0 || !reserve (list, (gsize) list->len + n))
    return n == 0;
  memcpy (list->data + list->len * list->element, elements, n * list->element);
  list->len += n;
  return TRUE;
}

gboolean
nd_list_set_size (NdList *list, gsize n)
{
  if (!reserve (list, n))
    return FALSE;
  if (n > list->len)
    memset (list->data + list->len * list->element, 0,
        (n - list->len) * list->element);
  list->len = n;
  return TRUE;
}
