/* The headers that most files include: compiled once a room (-Dkernels=host).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib.h>
#include <math.h>
#include <string.h>
