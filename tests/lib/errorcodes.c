/* The codes that core/ has, for a test that knows only the public header.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"

extern const gint nd_test_codes[];
const gint nd_test_codes[] = { ND_ERROR_SETTINGS, ND_ERROR_NOT_FOUND,
  ND_ERROR_OPEN_READ, ND_ERROR_READ, ND_ERROR_OPEN_WRITE, ND_ERROR_WRITE,
  ND_ERROR_MEMORY, ND_ERROR_FORMAT, ND_ERROR_INIT, ND_ERROR_CANCELLED,
  ND_ERROR_FAILED, ND_ERROR_DISK_FULL };
