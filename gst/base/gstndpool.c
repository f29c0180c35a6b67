/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndpool.h"

gboolean
gst_nd_query_set_pool (GstQuery *query, gsize size)
{
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstAllocator) allocator = NULL;
  GstAllocationParams params;
  guint min = 0, max = 0, pool_size = 0;
  GstStructure *config;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &pool_size, &min,
        &max);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
  else
    gst_allocation_params_init (&params);
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  if (!caps || size > G_MAXUINT)
    return TRUE;
  if (pool && pool_size != size)
    gst_clear_object (&pool);
  if (!pool) {
    pool = gst_buffer_pool_new ();
    min = max = 0;
  }
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  gst_buffer_pool_config_set_allocator (config, allocator, &params);
  if (!gst_buffer_pool_set_config (pool, config))
    return FALSE;
  gst_query_add_allocation_pool (query, pool, size, min, max);
  return TRUE;
}
