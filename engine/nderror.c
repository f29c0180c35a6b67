/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "nderror.h"

/* G_DEFINE_QUARK keeps it in a variable that threads write without a lock. */
GQuark
nd_error_quark (void)
{
  return g_quark_from_static_string ("nd-error-quark");
}
