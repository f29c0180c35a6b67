/* Cancellation of a long computation: a flag that another thread sets.
 * Functions that take a `const gint *cancelled` read it many times a second,
 * and return ND_ERROR_CANCELLED once it is not 0. NULL: the computation is
 * never cancelled.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/error.h"

G_BEGIN_DECLS

static inline gboolean
nd_is_cancelled (const gint *cancelled)
{
  return cancelled != NULL && g_atomic_int_get (cancelled) != 0;
}

/* TRUE, with an error, if the computation is cancelled. */
static inline gboolean
nd_set_error_if_cancelled (const gint *cancelled, GError **error)
{
  if (!nd_is_cancelled (cancelled))
    return FALSE;
  g_set_error_literal (error, ND_ERROR, ND_ERROR_CANCELLED,
      "The computation was cancelled: start it again");
  return TRUE;
}

G_END_DECLS
