/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"

/* Not G_DEFINE_QUARK, in which threads write a variable without a lock. */
GQuark
nd_error_quark (void)
{
  return g_quark_from_static_string ("nd-error-quark");
}
