/* Declarations that the files of the test double of devices share.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

#include <gmodule.h>

G_BEGIN_DECLS

/* Atomic: blocks of memory, pinned or of the device, and algorithms. */
extern gint device_double_n_blocks;

/* FALSE if the device is lost. */
gboolean device_double_is_well (GError **error);

/* The device is lost and stays so. */
G_MODULE_EXPORT void device_double_lose (void);

extern const NdAlgorithmFuncs device_double_algorithms;
extern const NdRendererFuncs device_double_renderer;
const NdSceneFuncs *device_double_scenes (void);

G_END_DECLS
