/* Streams of OpenIGTLink messages for fuzzing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

/* Appends a valid stream of messages of this version, 1 to 3. */
void fuzz_openigtlink_seed (guint version, GByteArray *stream);
