/* The CPU back end.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

G_BEGIN_DECLS

extern const NdBackend nd_cpu_backend;

G_END_DECLS
