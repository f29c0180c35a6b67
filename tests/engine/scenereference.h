/* Scenes in double precision: each value on each ray, without skipping space
 * and without an early end. This is the definition of view/scene.h.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "view/scene.h"

G_BEGIN_DECLS

/* Draws as NdSceneFuncs.draw of view/scene.h does. */
void nd_reference_draw (const NdSceneJob *job, gconstpointer volume,
    const NdPanel *panels, guint n, const NdLook *look, guint8 *pixels,
    gsize stride);

G_END_DECLS
