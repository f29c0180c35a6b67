/* Trials: how long a method takes for a job on the device at hand.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndbackend.h"

G_BEGIN_DECLS

/* Whether a back end can be tried: its work runs on a device that is named. */
gboolean nd_trial_possible (const NdBackend * backend);

/* Seconds for one push and one respond on volumes of zeros in the device's
 * memory, from the cache or measured now; infinite where the ring cannot be
 * made. */
gdouble nd_trial_seconds (const NdBackend * backend, gint device_id,
    const NdJob * job, NdMethod method);

G_END_DECLS
