/* NdBackend's combine.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndbackend.h"

G_BEGIN_DECLS

void nd_cpu_combine (const NdJob * job, const gfloat * responses,
    NdSampleType type, const NdScale * scale, const NdSamples * out);

G_END_DECLS
