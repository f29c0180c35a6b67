/* The window of a random job, which moves on as those of streams do: volumes
 * are pushed without a response, replaced or repeated, responses are given
 * twice or with another scale, streams begin and end.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tests/methods/outputs.h"

/* The work of a step before the window has its next slots, in this order. */
typedef struct
{
  gboolean responds; /* to the slots before the step */
  guint scale;       /* output_scale () of that response */
  gboolean begins;   /* an output, to the next slots */
  gint pushed;       /* the slot that is pushed, or -1 */
  gint volume; /* its volume, or -1 if the volume of slot @from is repeated */
  guint from;
} Step;

typedef struct
{
  const Case *c;
  GRand *r;
  guint n;
  gint *order;       /* the slots, the oldest first */
  guint *volume;     /* in each slot */
  gint pushed;       /* the slot that was pushed last */
  gint replaced;     /* a slot that the next step pushes again, or -1 */
  gboolean is_quiet; /* the next step gives no response */
  guint before;      /* positions before the first volume of a stream */
  guint after;       /* positions after the last volume */
  gint *slots;       /* those of a response */
} Window;

/* All windows of a case make the same steps. At first slot i
 * has volume i. */
void window_init (Window *window, const Case *c);
void window_clear (Window *window);

Step window_step (Window *window);
