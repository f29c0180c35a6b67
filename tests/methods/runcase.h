/* Runs random jobs: volumes go to a plan, in windows that move on as those of
 * streams do, and responses come back.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/plan.h"
#include "tests/methods/randomcase.h"

/* Returns c->outputs outputs of @bytes, with guard bands around each. The job
 * of @plan and @volumes can differ from those of the case in type and samples.
 * @apart: the plan's devices take volumes in turn. If @begun, the output is
 * begun before the last volume is pushed; it is then set to whether the method
 * could do so. */
guint8 *case_run (const Case *c, NdPlan *plan, const guint8 *volumes,
    gboolean apart, gsize *bytes, gboolean *begun);
