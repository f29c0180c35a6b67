/* Events of a back end that only enqueues its work.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _NdRing NdRing;
typedef struct _NdEvent NdEvent; /* each back end defines its own */

/* Seconds of a device's work: uploading volumes, filtering, and downloading
 * responses. */
typedef struct
{
  gdouble upload;
  gdouble compute;
  gdouble download;
} NdTimes;

typedef struct
{
  /* An event after all work that is enqueued on @ring so far. */
  NdEvent *(*record) (NdRing *ring, GError **error);

  /* Blocks the caller until that work is done. @times receives the time that
   * the work since the previous event of the ring took. */
  gboolean (*synchronize) (NdEvent *event, NdTimes *times, GError **error);

  /* Work that is enqueued on @ring from now on starts after @event. Does not
   * block the caller. */
  gboolean (*wait) (NdRing *ring, NdEvent *event, GError **error);

  void (*destroy) (NdEvent *event);
} NdEventFuncs;

G_END_DECLS
