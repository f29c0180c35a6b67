/* Scenes on the CPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "view/scene.h"

G_BEGIN_DECLS

extern const NdSceneFuncs nd_cpu_scenes;

G_END_DECLS
