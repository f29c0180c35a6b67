/* Included before all other headers, because the headers of GLib 2.74 and later
 * use the attribute __noinline__, which CUDA 12.0 defines as a macro.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#pragma push_macro("__noinline__")
#undef __noinline__
#include <glib.h>
#pragma pop_macro("__noinline__")
