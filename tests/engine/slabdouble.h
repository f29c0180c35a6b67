/* A test double of devices with little memory, over the CPU back end. Work that
 * is enqueued runs when an event that was recorded later is synchronized, and
 * not before: code that does not wait reads other data. Several devices may be
 * used by several threads at once, as those of a driver.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/slabs.h"

G_BEGIN_DECLS

typedef struct
{
  gint blocks;      /* of memory that are in use */
  gint fail_at;     /* the number, from 0, of the allocation that fails; -1 */
  gboolean fail_on; /* those after it fail too */
  gint allocated;   /* allocations so far */
  gsize uploaded;   /* samples along the axis of slabs, those shared left out */

  gint devices;         /* of the machine */
  gdouble slowness[8];  /* of each device: a factor of its cost; 0: 1 */
  gint fails;           /* the device that fails, or -1 */
  gint fails_after;     /* works that it does before */
  gint works[8];        /* pushes and responses that each device has done */
  gint waiting[8];      /* works that each device has not done yet */
  gboolean pageable;    /* all memory */
  gint memory_fails_on; /* the device whose allocations fail, or -1 */
} SlabDouble;

extern SlabDouble slab_double;

/* Adds the back end "double". */
void slab_double_register (void);

G_END_DECLS
