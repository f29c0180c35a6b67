/* The CPU back end.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndbackend.h"

G_BEGIN_DECLS

extern const NdBackend nd_cpu_backend;

G_END_DECLS
