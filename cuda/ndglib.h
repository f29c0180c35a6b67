/* Included before all else: headers of GLib from 2.74 on ask for an attribute
 * __noinline__, which CUDA 12.0 makes a macro.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#pragma push_macro("__noinline__")
#undef __noinline__
#include <glib.h>
#pragma pop_macro("__noinline__")
