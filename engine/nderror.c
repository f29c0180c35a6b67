/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "nderror.h"

G_DEFINE_QUARK (nd_error_quark, nd_error);
